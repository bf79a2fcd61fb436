"""Memory that is not there: one message and one exit code in every program, whatever it was for. Some allocations of each
kind of run fail here; long_memory.py lets each one fail."""

import unittest

from failing_memory import CASES, OWN, MemoryTest

MIB = 1 << 20


class SomeAllocationsTest(MemoryTest):
    def test_some_allocations_fail(self):
        """Evenly over each kind of run, the first and the last one included."""
        for case in CASES:
            n = self.count_allocations(case)
            self.assertGreater(n, 10)
            samples = 12 if case == "run" else 3
            without = [self.check_failure(case, (n - 1) * k // (samples - 1)) for k in range(samples)]
            self.assertIn(False, without, "no allocation failed in " + case)

    def test_limit_on_the_address_space(self):
        """From less than the libraries need to enough. Messages of the loader and of the runtimes of
        OpenMP and Fortran are not checked."""
        codes = []
        for size in (40, 48, 64, 80, 100, 2000):
            done = self.run_case(["nbody6", "--quiet", "--overwrite", *OWN, "a.inp"], address_space=size * MIB)
            with self.subTest(size=size):
                if done.returncode == 6:
                    self.assertIn("nbody6: not enough memory: ", done.stderr)
                elif done.returncode:
                    self.assertRegex(done.stderr, "error while loading shared libraries|libgomp: |Memory allocation failed")
                    self.assertIn(done.returncode, (1, 127))
            codes.append(done.returncode)
        self.assertIn(6, codes)
        self.assertEqual(codes[-1], 0)


if __name__ == "__main__":
    unittest.main()
