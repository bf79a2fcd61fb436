#!/usr/bin/env python3
"""Each allocation of each kind of run fails in turn, and the address space is limited in small steps: the program does
without or says so with exit code 6, no signal, no hang; earlier files are whole."""

import os
import subprocess
import unittest

from failing_memory import BUILD, CASES, OWN, MemoryTest

MIB = 1 << 20
EVERY = 25  # of the runs that failed, one in so many is taken up again


class EachAllocationTest(MemoryTest):
    def test_each_allocation_fails(self):
        for case in CASES:
            n = self.count_allocations(case)
            without = 0
            for k in range(n):
                without += self.check_failure(case, k)
                if case == "run" and k % EVERY == 0:
                    self.take_up(k)
            print("%s: %d allocations, %d of which it did without" % (case, n, without), flush=True)

    def take_up(self, k):
        """The checkpoint that is left goes on, if there is one."""
        if os.path.exists(self.path("a.ckpt.h5")):
            done = self.run_case(["nbody6", "--quiet", "--resume", "a.ckpt.h5", *OWN])
            with self.subTest(allocation=k):
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_limits_on_the_address_space(self):
        codes = {}
        for size in range(36, 164, 2):
            done = self.run_case(["nbody6", "--quiet", "--overwrite", *OWN, "a.inp"], address_space=size * MIB)
            codes[done.returncode] = codes.get(done.returncode, 0) + 1
            with self.subTest(size=size):
                self.assertIn(done.returncode, (0, 1, 6, 127), done.stderr)
                self.assertRegex(done.stderr, "^$" if done.returncode == 0 else "not enough memory: " if
                                 done.returncode == 6 else "error while loading shared libraries|libgomp: ")
        print("address space: " + ", ".join("%d runs with exit code %d" % (codes[c], c) for c in sorted(codes)))
        self.assertIn(6, codes)


if __name__ == "__main__":
    print("build: " + BUILD)
    print(subprocess.run(["uname", "-sr"], stdout=subprocess.PIPE, text=True).stdout.strip())
    unittest.main()
