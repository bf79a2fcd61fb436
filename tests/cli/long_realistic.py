#!/usr/bin/env python3
"""Three hundred realistic clusters (realistic.py), each with ten minutes. Prints a row for each, the quantiles of their
energy errors and a table of them by kind of set-up; fails for an exit status other than 0, for what is not a number, and if
the median is not below 1e-6 or less than 95 percent are below 1e-5. Those of 100 systems and more run once more with the
emulated engine, and a tenth of them with the device engine where there is a GPU.

usage: long_realistic.py [LAST [SECONDS [ENGINE]]]      ENGINE: emulated or device; only those of 100 systems and more"""

import math
import re
import subprocess
import sys
import tempfile

import realistic
from run_support import NBODY6

LAST = 300
LIMIT_S = 600
LARGE = 100  # systems


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


def run_all(seeds, limit, arguments=()):
    """Results, of which each has a row on standard output, and how many are not sound."""
    results, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            result = realistic.run(NBODY6, folder, seed, limit, arguments)
            sound = result.code == 0 and math.isfinite(result.worst)
            bad += not sound
            print("%s %s" % ("ok" if sound else "FAILED", result.row()), flush=True)
            results.append(result)
    return results, bad


def summary(what, results):
    """Median and the error that 95 percent stay below; says so."""
    ended = [result.worst for result in results if result.finished]
    if not ended:
        print("%s: none came to its end in time" % what)
        return math.inf, math.inf
    median, most, worst = quantiles(ended)
    print("%s: %d of %d came to their end in time; largest energy error of each: median %.1e, 95 %% below %.1e, worst "
          "%.1e" % (what, len(ended), len(results), median, most, worst))
    return median, most


def as_host(engine, host, limit):
    """1 if the large ones of the clusters that the host engine has run fail with another engine, or have larger errors.
    Medians of fifty errors that scatter by a factor of four differ by a factor of 1.4 by chance."""
    large = [result for result in host if result.cluster.systems_drawn >= LARGE]
    large = large[::10] if engine == "device" else large
    results, bad = run_all([result.cluster.seed for result in large], limit, ["--engine", engine])
    median, _ = summary("%s engine" % engine, results)
    expected, _ = summary("host engine, the same clusters", large)
    return 1 if bad or median > (2 if len(large) > 20 else 4) * expected else 0


def has_device_engine():
    done = subprocess.run([NBODY6, "--list-devices"], stdout=subprocess.PIPE, text=True, check=True)
    return not re.search(r"^  cuda .*not available", done.stdout, re.MULTILINE)


def main():
    last = int(sys.argv[1]) if len(sys.argv) > 1 else LAST
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else LIMIT_S
    engines = sys.argv[3:] or ["emulated"] + (["device"] if has_device_engine() else [])
    seeds = range(1, last + 1)
    if sys.argv[3:]:
        seeds = [seed for seed in seeds if realistic.Cluster(seed).systems_drawn >= LARGE]
    host, bad = run_all(seeds, limit)
    median, most = summary("host engine", host)
    print_kinds(host)
    failed = bad or (not sys.argv[3:] and not (median < 1e-6 and most < 1e-5))
    for engine in engines:
        failed |= as_host(engine, host, limit)
    if "device" not in engines:
        print("# the device engine is left out here")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
