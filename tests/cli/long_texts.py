#!/usr/bin/env python3
"""10^6 mutated texts, input files and files of stars: no signal, none takes 10 s, and none is read as nonsense.
NB6_TEXTS and NB6_SEED: another number and other ones."""

import os
import subprocess
import unittest

from run_support import BUILD

TEXTS, SEED = int(os.environ.get("NB6_TEXTS", 1000000)), os.environ.get("NB6_SEED", "1")
READERS = os.path.join(BUILD, "tests", "unit", "test_fuzz_readers")
SETS = 6  # of seeds, in the program: each has as many


class TextsTest(unittest.TestCase):
    def test_mutated_texts(self):
        environment = dict(os.environ, NB6_MUTATIONS=str(-(-TEXTS // SETS)), NB6_SEED=SEED)
        done = subprocess.run([READERS], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])


if __name__ == "__main__":
    unittest.main()
