"""stuck_mpirun.py OUT - run OUT by an mpirun that starts one rank, which ends at once, and
then neither ends nor obeys, as Open MPI's may; print how that ends."""

import os
import subprocess
import sys
import tempfile

MPIRUN = """#!/bin/sh
trap '' TERM
sleep 0.5
exec python3 -c 'import signal; signal.pause()'
"""

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "mpirun")
    with open(path, "w") as file:
        file.write(MPIRUN)
    os.chmod(path, 0o755)
    path = folder + os.pathsep + os.environ["PATH"]
    run = subprocess.run(["cleave", "run", sys.argv[1]], env={**os.environ, "PATH": path},
                         stderr=subprocess.PIPE, text=True, timeout=60)
print(run.stderr, end="")
print("exit code", run.returncode)
