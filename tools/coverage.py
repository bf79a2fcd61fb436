#!/usr/bin/env python3
"""Lines of the sources that the tests execute, by folder, and the files with most lines that they do not.

usage: coverage.py BUILD    a build whose objects were compiled with --coverage, after its tests (make coverage)"""

import collections
import os
import re
import subprocess
import sys

FOLDERS = ("common", "gpunb", "gpuirr", "regularization", "stellar", "nbody6")


def counts(build):
    """Lines run and lines of each source: {path: (run, all)}."""
    found = {}
    for folder, _, names in os.walk(os.path.join(build, "obj")):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            text = subprocess.run(["gcov", "-n", "-o", folder, os.path.join(folder, name)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, check=True).stdout
            for path, share, lines in re.findall(r"File '([^']+)'\nLines executed:([0-9.]+)% of (\d+)", text):
                path = os.path.normpath(path)
                if path.endswith(".c") and path.split(os.sep)[0] in FOLDERS:
                    run = round(float(share) / 100 * int(lines))
                    found[path] = max(found.get(path, (0, 0)), (run, int(lines)))
    return found


def main():
    found = counts(sys.argv[1])
    sums = collections.defaultdict(lambda: [0, 0])
    for path, (run, lines) in found.items():
        for folder in {os.path.dirname(path), path.split(os.sep)[0]}:
            sums[folder][0] += run
            sums[folder][1] += lines
    for folder in sorted(sums):
        print("%-24s %5.1f %% of %d lines" % (folder, 100 * sums[folder][0] / sums[folder][1], sums[folder][1]))
    print("most lines left out:")
    for path, (run, lines) in sorted(found.items(), key=lambda item: item[1][0] - item[1][1])[:15]:
        print("  %-40s %4d of %d" % (path, lines - run, lines))


if __name__ == "__main__":
    main()
