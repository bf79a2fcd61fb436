#!/usr/bin/env python3
"""Three hundred realistic clusters (realistic.py), each with ten minutes. Prints a row for each and the quantiles of their
energy errors; fails for an exit status other than 0 and for what is not a number."""

import math
import sys
import tempfile

import realistic
from run_support import NBODY6

LAST = 300
LIMIT_S = 600


def main():
    results, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, LAST + 1):
            result = realistic.run(NBODY6, folder, seed, LIMIT_S)
            sound = result.code == 0 and math.isfinite(result.worst)
            bad += not sound
            print("%s %s" % ("ok" if sound else "FAILED", result.row()), flush=True)
            results.append(result)
    ended = sorted(result.worst for result in results if result.finished)
    print("%d of %d came to their end in time; largest energy error of each: median %.1e, 95 %% below %.1e, worst %.1e" % (
        len(ended), len(results), ended[len(ended) // 2], ended[int(0.95 * len(ended))], ended[-1]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
