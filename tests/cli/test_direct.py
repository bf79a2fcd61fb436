#!/usr/bin/python3
"""Small clusters with galaxies, gas and mergers, star by star against an integration that shares no code with nbody6."""

import sys
import tempfile
import unittest

import direct
from run_support import NBODY6, test_seeds

# All: one of each kind of field but one, and two stars that others turn round far from each other; long_direct.py has
# thirty.
SEEDS = test_seeds((1, 4), (1, 2, 3, 4, 25))


def check(results, case):
    """Places are within 1e-6 while the direct integration is sure of them to 1e-10, which is long enough to say something."""
    for result in results:
        print(result.row(), flush=True)
    for result in results:
        with case.subTest(seed=result.cluster.seed):
            case.assertEqual(result.code, 0, "%s\n%s" % (result.row(), result.text))
            case.assertEqual(result.wrong, [], result.row())
            case.assertLess(result.worst, 1e-6, result.row())
    long_ones = [result for result in results if result.until >= 0.25]
    case.assertGreaterEqual(len(long_ones), len(results) // 2)


class DirectTest(unittest.TestCase):
    def test_places(self):
        with tempfile.TemporaryDirectory() as folder:
            integrator = direct.compile_integrator(folder)
            check([direct.run(NBODY6, integrator, folder, seed) for seed in SEEDS], self)


if __name__ == "__main__":
    sys.exit(unittest.main())
