"""Starts the ranks of OUT as torchrun does, by variables of the environment.

torchrun.py OUT N PORT ARGS...    exits with the largest exit code
"""

import os
import subprocess
import sys

out, size, port = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ranks = [
    subprocess.Popen(
        [out + "/launch", *sys.argv[4:]],
        env=dict(os.environ, RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank),
                 LOCAL_WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=port),
    )
    for rank in range(size)
]
sys.exit(max(rank.wait() for rank in ranks))
