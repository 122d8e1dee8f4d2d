"""stopped.py SIGNAL[,SIGNAL] OUT INPUT [--loopback] - run OUT, send `cleave run` the
signals once its ranks run, and print how that ends."""

import os
import signal
import sys

import ranks

signals, out, data, *flags = sys.argv[1:]
run = ranks.start(out, data, *flags)
rank = os.path.realpath(f"{out}/rank-0")
if ranks.wait_for(lambda: run.pid if flags else ranks.find(rank)) is None:
    run.kill()
    sys.exit("the ranks did not run")
for name in signals.split(","):
    run.send_signal(getattr(signal, "SIG" + name))
print(run.communicate(timeout=60)[1], end="")
print("exit code", run.returncode)
