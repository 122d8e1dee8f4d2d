#!/usr/bin/env python3
"""check.py - run the tests with lit and close with one line of counts.

usage: check.py [--build DIR] [PATH...]     PATH: folders or files of test/

The last line is "N passed, N failed, N skipped": cases of lit files and of
GoogleTest programs alike. Exit code 0 only if nothing failed and something ran.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_PER_TEST = 600
OUTCOME = {
    "PASS": "passed",
    "FLAKYPASS": "passed",
    "XFAIL": "passed",
    "UNSUPPORTED": "skipped",
    "SKIPPED": "skipped",
    "EXCLUDED": "skipped",
}


def main():
    parser = argparse.ArgumentParser(usage="check.py [--build DIR] [PATH...]")
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("paths", nargs="*", default=[HERE])
    args = parser.parse_args()

    build = os.path.abspath(args.build)
    results = os.path.join(build, "test-results.json")
    if os.path.exists(results):
        os.remove(results)
    lit = [os.path.join(os.path.dirname(sys.executable), "lit"), "-sv"]
    lit += ["--timeout", str(SECONDS_PER_TEST)]
    lit += ["--param", f"build={build}", "--output", results]
    status = subprocess.call(lit + args.paths, stdin=subprocess.DEVNULL)
    if not os.path.exists(results):
        sys.exit(f"check: lit stopped with exit code {status} before it ran a test")

    with open(results) as file:
        tests = json.load(file)["tests"]
    count = collections.Counter(OUTCOME.get(t["code"], "failed") for t in tests)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    sys.exit(status or count["failed"] > 0 or count["passed"] == 0)


if __name__ == "__main__":
    main()
