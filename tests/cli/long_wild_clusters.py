#!/usr/bin/env python3
"""Three hundred clusters of wild_clusters.py, each with ten minutes. Prints a row for each, the quantiles of their energy
errors and a table of them by kind of set-up. Fails for an exit status other than 0, or 2 for a reason that is listed; for a
run that does not come to its end; and if the largest error of a run has a median of 1e-6 or more, is above 1e-4 in more than
one percent, or above 1e-3 in any. Those of 100 systems and more run once more with the emulated engine.

usage: long_wild_clusters.py [LAST [SECONDS [ENGINE]]]      ENGINE: only those of 100 systems and more, with it"""

import math
import sys
import tempfile

import wild_clusters
from run_support import NBODY6

LAST = 300
LIMIT_S = 600
LARGE = 100  # systems

KINDS = [
    ("fewer than 10 systems", lambda c: c.systems_drawn < 10),
    ("10 to 99", lambda c: 10 <= c.systems_drawn < 100),
    ("100 to 2000", lambda c: c.systems_drawn >= 100),
    ("made by the program", lambda c: c.shape == "made"),
    ("discs and rings", lambda c: c.shape in ("disc", "ring")),
    ("subclusters", lambda c: c.shape == "clumps"),
    ("cold", lambda c: c.q < 0.2),
    ("heavy bodies", lambda c: c.heavy > 0),
    ("binaries", lambda c: c.binaries > 0),
    ("triples and quadruples", lambda c: c.multiples > 0),
    ("radii", lambda c: c.radius > 0),
    ("isolated", lambda c: c.galaxy == 0),
    ("KZ(14) = 1, 2", lambda c: c.galaxy in (1, 2)),
    ("KZ(14) = 3", lambda c: c.galaxy == 3),
    ("KZ(14) = 4", lambda c: c.galaxy == 4),
    ("KZ(14) = 5", lambda c: c.galaxy == 5),
    ("ETAI below 0.01", lambda c: c.eta < 0.01),
    ("NNBMAX", lambda c: c.longest_list > 0),
]


def quantiles(errors):
    errors = sorted(errors)
    return errors[len(errors) // 2], errors[int(0.99 * len(errors))], errors[-1]


def print_kinds(results):
    print("| set-up | clusters | median | 99 percent below | worst |\n|---|---|---|---|---|")
    for name, belongs in KINDS:
        errors = [result.worst for result in results if result.finished and belongs(result.cluster)]
        if errors:
            print("| %s | %d | %.1e | %.1e | %.1e |" % ((name, len(errors)) + quantiles(errors)))


def run_all(seeds, limit, engine):
    """How many fail of these, as rows, quantiles and a table on standard output say."""
    results, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            result = wild_clusters.run(NBODY6, folder, seed, limit, ["--engine", engine])
            refused = wild_clusters.is_refused(result)
            sound = refused or (result.code == 0 and result.finished and math.isfinite(result.worst) and result.worst < 1e-3)
            bad += not sound
            print("%s %s" % ("ok" if sound else "FAILED", result.row()), flush=True)
            if not refused:
                results.append(result)
    ended = [result.worst for result in results if result.finished]
    if not ended:
        print("FAILED %s engine: none came to its end" % engine)
        return bad + 1
    median, most, worst = quantiles(ended)
    sound = median < 1e-6 and most < 1e-4
    print("%s %s engine: %d of %d came to their end; largest energy error of each: median %.1e, 99 %% below %.1e, worst "
          "%.1e" % ("ok" if sound else "FAILED", engine, len(ended), len(results), median, most, worst))
    print_kinds(results)
    return bad + (not sound)


def main():
    last = int(sys.argv[1]) if len(sys.argv) > 1 else LAST
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else LIMIT_S
    large = [seed for seed in range(1, last + 1) if wild_clusters.Cluster(seed).systems_drawn >= LARGE]
    if sys.argv[3:]:
        return 1 if run_all(large, limit, sys.argv[3]) else 0
    bad = run_all(range(1, last + 1), limit, "host")
    if large:
        bad += run_all(large, limit, "emulated")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
