#!/usr/bin/env python3
"""tidy.py - check the C++ files with clang-tidy (.clang-tidy says for what).

usage: tidy.py [PATH...]      PATH: files or folders; default: all that is compiled

Configures build/tidy, without precompiled headers so that each file stands alone,
and builds the generated headers there. JOBS=N checks N files at once.
"""

import concurrent.futures
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build/tidy")


def call(*command):
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(result.stdout)
    return result.stdout


def prepare():
    """Configures the build tree and makes the headers that TableGen writes."""
    call("cmake", "--preset", "tidy")
    targets = call("ninja", "-C", BUILD, "-t", "targets", "all").splitlines()
    headers = [t.split(":")[0] for t in targets if t.endswith(".inc: CUSTOM_COMMAND")]
    call("ninja", "-C", BUILD, *headers)


def sources(paths):
    with open(os.path.join(BUILD, "compile_commands.json")) as file:
        compiled = {entry["file"] for entry in json.load(file)}
    wanted = tuple(os.path.abspath(p) for p in paths) or (ROOT,)
    return sorted(f for f in compiled if f.startswith(wanted) and not f.startswith(BUILD))


def check(source):
    command = ["clang-tidy-19", "--quiet", "-p", BUILD, source]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return source, result.returncode, result.stdout or result.stderr


def main():
    prepare()
    files = sources(sys.argv[1:])
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for number, (source, status, output) in enumerate(pool.map(check, files), 1):
            print(f"[{number}/{len(files)}] {os.path.relpath(source, ROOT)}", flush=True)
            if status:
                faulty += 1
                print(output, flush=True)
    print(f"tidy: {len(files)} files, {faulty} with findings")
    sys.exit(faulty > 0)


if __name__ == "__main__":
    main()
