#!/usr/bin/env python3
"""Clusters with everything at once, drawn at random by fixed seeds (realistic.py): each runs to its end with an energy
error of the size that its step factors make. The reference backends are used: their bits are the same on any
processor."""

import statistics
import tempfile
import unittest

import realistic
from run_support import NBODY6, test_seeds, test_size

# The first seeds that take less than about two seconds; long_realistic.py runs all.
SEEDS = [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 23, 27, 28, 30, 31, 32, 33, 34, 35, 36]
SEEDS = SEEDS[:test_seeds(test_size(16, 5), len(SEEDS))]
ARGUMENTS = ["--device", "ref", "--irr-backend", "ref"]


class RealisticTest(unittest.TestCase):
    def test_clusters(self):
        with tempfile.TemporaryDirectory() as folder:
            results = [realistic.run(NBODY6, folder, seed, 120, ARGUMENTS) for seed in SEEDS]
        for result in results:
            print(result.row())
            self.assertEqual(result.code, 0, "%s\n%s" % (result.row(), result.text))
            self.assertTrue(result.finished, result.row())
            # A quarter of this is the largest of the first 66 seeds.
            self.assertLess(result.worst, 5e-5, result.row())
        # Measured: 4e-7, with ETAI between 0.01 and 0.03; the goal of all is 1e-6. Few do not ask for it.
        if len(SEEDS) > 10:
            self.assertLess(statistics.median(result.worst for result in results), 1e-6)


if __name__ == "__main__":
    unittest.main()
