"""one_error.py CODE ARGS... - run cleave and print its error, which must be one line.

Fails unless the exit code is CODE and standard error is exactly one line that starts
with `cleave: error:`, besides notes.
"""

import subprocess
import sys

run = subprocess.run(["cleave", *sys.argv[2:]], capture_output=True, text=True, restore_signals=False)
lines = [line for line in run.stderr.splitlines() if not line.startswith("cleave: note: ")]
print(run.stderr, end="")
if run.returncode != int(sys.argv[1]):
    sys.exit(f"exit code {run.returncode}")
if len(lines) != 1 or not lines[0].startswith("cleave: error: "):
    sys.exit("not one line of error")
