"""Regular forces by a tree in runs of nbody6 (FORCE_ERROR of &INRUN): energy beside direct sums, bits, and what is
refused. Fewer stars than here have direct sums."""

import csv
import os
import unittest

from run_support import RunTest

STARS = 65536
ON_DEVICES = 6500
END = 0.00390625

TREE = "/ &INRUN FORCE_ERROR=1e-4"  # the input ends the group


class RegularTreeTest(RunTest):
    def write(self, name, more="", tcrit=END, n=STARS):
        self.write_input(name, n=n, dtadj=END, deltat=END, tcrit=tcrit, more=more)

    def last_row(self, name):
        with open(self.path(name + ".log.csv")) as log:
            return list(csv.DictReader(log))[-1]

    def test_a_run_by_tree(self):
        """The energy error is that of direct sums; threads, and a resume on the way, do not change a bit."""
        self.write("tree.inp", TREE)
        self.write("other.inp", TREE)
        self.write("direct.inp")
        self.run_command("tree.inp")
        self.stop_next("other")
        self.run_command("other.inp", env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.run_command("--resume", "other.ckpt.h5")
        self.run_command("direct.inp")
        tree, direct = self.last_row("tree"), self.last_row("direct")
        self.assertGreater(int(tree["calls_by_tree"]), 0)
        self.assertEqual(int(direct["calls_by_tree"]), 0)
        # Forces are off by 1e-5 of themselves, at random: their work in such a time is less than 1e-8 of the energy.
        self.assertLess(abs(float(tree["de_rel"])), abs(float(direct["de_rel"])) + 1e-8)
        self.assert_same_run("tree", "other")

    def test_engines_on_devices(self):
        """The emulated engine, whose library makes forces by tree from fewer stars on, and the host engine with such a
        device: energies as by direct sums; threads, and a resume on the way, do not change a bit."""
        few = dict(n=ON_DEVICES, tcrit=2 * END)
        self.write("tree.inp", TREE + " ENGINE='emulated'", **few)
        self.write("other.inp", TREE + " ENGINE='emulated'", **few)
        self.write("host.inp", TREE + " ENGINE='host' DEVICE='emulated'", **few)
        self.write("direct.inp", "/ &INRUN ENGINE='emulated'", **few)
        for name in ("tree.inp", "host.inp", "direct.inp"):
            self.run_command(name)
        self.stop_next("other")
        self.run_command("other.inp", env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.run_command("--resume", "other.ckpt.h5")
        for name in ("tree", "host"):
            self.assertGreater(int(self.last_row(name)["calls_by_tree"]), 0)
            self.assertLess(abs(float(self.last_row(name)["de_rel"])), abs(float(self.last_row("direct")["de_rel"])) + 1e-8)
        self.assertEqual(int(self.last_row("direct")["calls_by_tree"]), 0)
        self.assert_same_run("tree", "other")

    def test_too_few_stars(self):
        self.write("few.inp", TREE, n=1000)
        self.assertIn("direct sums: too few stars for a tree", self.run_command("--check", "few.inp"))

    def test_check_says_from_how_many_targets_on(self):
        self.write("tree.inp", TREE)
        self.assertRegex(self.run_command("--check", "tree.inp"),
                         r"regular forces +by a tree from \d+ targets on, FORCE_ERROR = 0.0001")

    def test_what_cannot_be(self):
        for more, words in (("/ &INRUN FORCE_ERROR=1e-9", "give 1e-06 or more, or 0 for direct sums"),
                            ("/ &INRUN FORCE_ERROR=0.5", "FORCE_ERROR"),
                            ("/ &INRUN FORCE_ERROR=1e-4 DEVICE='emulated' PREC='float'", "has no regular forces by a tree")):
            self.write("a.inp", more, n=1000)
            self.assertIn(words, self.run_command("a.inp", "--overwrite", code=2))


if __name__ == "__main__":
    unittest.main()
