#!/usr/bin/python3
"""Thirty small clusters with galaxies, gas and mergers, as test_direct.py has four."""

import tempfile
import unittest

import direct
import test_direct
from run_support import NBODY6


class LongDirectTest(unittest.TestCase):
    def test_places(self):
        with tempfile.TemporaryDirectory() as folder:
            integrator = direct.compile_integrator(folder)
            results = [direct.run(NBODY6, integrator, folder, seed) for seed in range(1, 31)]
            test_direct.check(results, self)
            self.assertGreater(sum(len(result.mergers) for result in results), 5)  # mergers


if __name__ == "__main__":
    unittest.main()
