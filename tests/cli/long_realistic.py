#!/usr/bin/env python3
"""Three hundred realistic clusters (realistic.py), each with ten minutes. Prints a row for each, the quantiles of their
energy errors and a table of them by kind of set-up; fails for an exit status other than 0, for what is not a number, and if
the median is not below 1e-6 or less than 95 percent are below 1e-5.

usage: long_realistic.py [LAST [SECONDS]]"""

import math
import sys
import tempfile

import realistic
from run_support import NBODY6

LAST = 300
LIMIT_S = 600


KINDS = [
    ("fewer than 10 systems", lambda c: c.systems_drawn < 10),
    ("10 to 29", lambda c: 10 <= c.systems_drawn < 30),
    ("30 to 99", lambda c: 30 <= c.systems_drawn < 100),
    ("100 to 300", lambda c: c.systems_drawn >= 100),
    ("equal masses", lambda c: c.masses == "equal"),
    ("Kroupa", lambda c: c.masses == "kroupa"),
    ("Salpeter", lambda c: c.masses == "salpeter"),
    ("no binaries", lambda c: c.binaries == 0),
    ("binaries", lambda c: c.binaries > 0),
    ("triples and quadruples", lambda c: c.multiples > 0),
    ("isolated", lambda c: c.galaxy == 0),
    ("KZ(14) = 1", lambda c: c.galaxy == 1),
    ("KZ(14) = 2", lambda c: c.galaxy == 2),
    ("escapers removed in a galaxy", lambda c: c.galaxy > 0 and c.escape > 0),
    ("stars with radii", lambda c: c.radius > 0),
    ("ETAI above 0.02", lambda c: c.eta > 0.02),
]


def quantiles(errors):
    errors = sorted(errors)
    return errors[len(errors) // 2], errors[int(0.95 * len(errors))], errors[-1]


def print_kinds(results):
    print("| set-up | clusters | median | 95 percent below | worst |\n|---|---|---|---|---|")
    for name, belongs in KINDS:
        errors = [result.worst for result in results if result.finished and belongs(result.cluster)]
        if errors:
            print("| %s | %d | %.1e | %.1e | %.1e |" % ((name, len(errors)) + quantiles(errors)))


def main():
    last = int(sys.argv[1]) if len(sys.argv) > 1 else LAST
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else LIMIT_S
    results, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, last + 1):
            result = realistic.run(NBODY6, folder, seed, limit)
            sound = result.code == 0 and math.isfinite(result.worst)
            bad += not sound
            print("%s %s" % ("ok" if sound else "FAILED", result.row()), flush=True)
            results.append(result)
    ended = [result.worst for result in results if result.finished]
    median, most, worst = quantiles(ended)
    print("%d of %d came to their end in time; largest energy error of each: median %.1e, 95 %% below %.1e, worst %.1e" % (
        len(ended), len(results), median, most, worst))
    print_kinds(results)
    return 1 if bad or not (median < 1e-6 and most < 1e-5) else 0


if __name__ == "__main__":
    sys.exit(main())
