"""killed_rank.py OUT INPUT - run OUT, kill rank 1 once it runs, and print how that ends."""

import os
import signal
import sys

import ranks

out, data = sys.argv[1:]
run = ranks.start(out, data)
pid = ranks.wait_for(lambda: ranks.find(os.path.realpath(f"{out}/rank-1")))
if pid is None:
    run.kill()
    sys.exit("rank 1 did not run")
os.kill(pid, signal.SIGKILL)
print(run.communicate(timeout=60)[1], end="")
print("exit code", run.returncode)
