"""Regular forces by a tree in runs of nbody6 (FORCE_ERROR of &INRUN): energy, on devices beside that of direct sums,
bits, and what is refused. Fewer stars than here have direct sums."""

import csv
import json
import os
import unittest

import numpy as np

from run_support import RunTest

STARS = 60000
ON_DEVICES = 6500
END = 0.00390625

# No star's step is longer than this run, so that all end one together. A model that is read is not scaled, and
# scaling would take two thirds of the time of a run.
TABLE = """\
&ININPUT N={n} DTADJ={end} DELTAT={end} TCRIT={end} SMAX={end} QE=1e-2 NNBOPT=10 KZ(22)=2 /
&INMODEL DATA='stars.dat' /
&INRUN FORCE_ERROR=1e-4 FCHECK=1 /
"""

TREE = "/ &INRUN FORCE_ERROR=1e-4"  # the input ends the group


class RegularTreeTest(RunTest):
    def write(self, name, more="", tcrit=END, n=STARS):
        self.write_input(name, n=n, dtadj=END, deltat=END, tcrit=tcrit, more=more)

    def write_stars(self):
        """A Plummer model, with normal velocities of its dispersion at each place."""
        rng = np.random.default_rng(3)
        r = 1 / np.sqrt((rng.random(STARS) * 0.99)**(-2 / 3) - 1)
        x = rng.normal(size=(STARS, 3))
        x *= (r / np.linalg.norm(x, axis=1))[:, None]
        v = rng.normal(size=(STARS, 3)) * np.sqrt(1 / (6 * np.sqrt(1 + r**2)))[:, None]
        np.savetxt(self.path("stars.dat"), np.column_stack([np.full(STARS, 1 / STARS), x, v]), fmt="%.10g")

    def last_row(self, name):
        with open(self.path(name + ".log.csv")) as log:
            return list(csv.DictReader(log))[-1]

    def test_a_run_by_tree(self):
        """The energy error is small; threads, and a resume on the way, do not change a bit. Checks of
        forces have no list that differs."""
        self.write_stars()
        for name in ("tree.inp", "other.inp"):
            with open(self.path(name), "w") as file:
                file.write(TABLE.format(n=STARS, end=END))
        self.run_command("tree.inp")
        self.stop_next("other")
        self.run_command("other.inp", env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.run_command("--resume", "other.ckpt.h5")
        tree = self.last_row("tree")
        self.assertGreater(int(tree["calls_by_tree"]), 1)  # the first forces, and those of a block of steps
        # Forces are off by 1e-5 of themselves, at random: their work in such a time is less than 1e-8 of the energy.
        # Measured 1.4e-11.
        self.assertLess(abs(float(tree["de_rel"])), 1e-8)
        self.assert_same_run("tree", "other")
        with open(self.path("tree.events.jsonl")) as file:
            checks = [event for event in map(json.loads, file) if event["event"] == "tree_check"]
        self.assertEqual(len(checks), 2)
        for check in checks:
            self.assertEqual((check["targets"], check["lists"]), (1024, 0))
            # twice what gpunb/tree.h says of all targets: few have larger groups, and a sample of them scatters
            self.assertTrue(0 < check["acc_median"] < 1e-4 / 8 and check["acc_99"] < 2e-4)
            self.assertTrue(0 < check["jerk_median"] < 30e-4 / 8 and check["jerk_99"] < 60e-4)
        # Forces by tree, the first ones included, count for less than direct sums do.
        self.assertLess(int(tree["pairs_reg"]), (STARS + int(tree["steps_reg"])) * STARS)

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
