"""exits.py CODE COMMAND... - run a command; succeed only if its exit code is CODE."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exits: found exit code {code}, expected {sys.argv[1]}")
