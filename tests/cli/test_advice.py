"""`nbody6 --check` as an adviser: active physics in one block, memory and wall time, warnings where they belong."""

import re
import unittest

from run_support import RunTest

LABELS = ["gravity", "regularization of pairs", "slow-down", "three and more stars", "collisions", "galaxy", "escapers",
          "stellar evolution"]


class AdviceTest(RunTest):
    def check(self, text):
        with open(self.path("c.inp"), "w") as file:
            file.write(text)
        return self.run_command("--check", "c.inp")

    def warnings(self, text):
        return self.check(text).split("\n  warnings ")[1].strip()

    def test_physics_in_one_block(self):
        blocks = self.check("&ININPUT N=100 /").split("\n\n")
        block = [block for block in blocks if block.startswith("  gravity")][0]
        self.assertEqual([line[2:28].strip() for line in block.splitlines()], LABELS)
        block = self.check("&ININPUT N=100 KZ(14)=1 KZ(15)=0 KZ(16)=1 KZ(23)=3 KZ(26)=0 / &INRUN RSTAR=1e-7 /")
        for words in (r"slow-down +off", r"three and more stars +no search", r"collisions +of stars of radius RSTAR = 1e-07",
                      r"galaxy +.*solar", r"escapers +removed beyond one tidal radius, and written"):
            self.assertRegex(block, words)
        block = self.check("&ININPUT N=100 KZ(16)=0 /")
        self.assertRegex(block, r"regularization of pairs +none")
        self.assertNotIn("slow-down", block)

    def test_end_at_the_start(self):
        self.assertIn("NCRIT = 100: there are only 100 stars", self.warnings("&ININPUT N=100 NCRIT=100 /"))
        self.assertEqual(self.warnings("&ININPUT N=100 NCRIT=99 /"), "none")

    def test_cost(self):
        """The predicted number of steps is that of the run, to a third; the time grows as steps and pairs do."""
        text = "&ININPUT N=%d TCRIT=%g DTADJ=0.5 DELTAT=1 ETAI=%g ETAR=0.02 KZ(3)=0 /"
        said = [self.cost(text % (n, t, eta)) for n, t, eta in
                ((1000, 1, 0.02), (1000, 2, 0.02), (1000, 1, 0.005), (100000, 1, 0.02))]
        for k in range(3):
            self.assertAlmostEqual(said[1][k] / said[0][k], 2, delta=0.2)  # two digits are printed
        self.assertAlmostEqual(said[2][0] / said[0][0], 2, delta=0.2)
        self.assertGreater(said[3][2] / said[0][2], 1000)
        for n in (500, 2000):
            steps = self.cost(text % (n, 1, 0.02))[:2]
            self.run_command("--quiet", "--overwrite", "c.inp")
            with open(self.path("c.log.csv")) as file:
                rows = [line.strip().split(",") for line in file if not line.startswith("#")]
            for name, wanted in zip(("steps_irr", "steps_reg"), steps):
                self.assertLess(abs(wanted / float(rows[-1][rows[0].index(name)]) - 1), 0.33, "%s of %d" % (name, n))

    def test_short_steps(self):
        """All stars make the longest step, and the time goes with their number; so it is said, of a run that goes on too."""
        text = "&ININPUT N=200 TCRIT=0.125 DTADJ=0.125 DELTAT=1 SMAX=%s KZ(3)=0 /"
        said = self.cost(text % "1.0e-3")
        self.run_command("--quiet", "c.inp")
        with open(self.path("c.log.csv")) as file:
            rows = [line.strip().split(",") for line in file if not line.startswith("#")]
        for name, wanted in zip(("steps_irr", "steps_reg"), said):
            self.assertLess(abs(wanted / float(rows[-1][rows[0].index(name)]) - 1), 0.33, name)
        self.assertAlmostEqual(self.cost(text % "1.0e-6")[2] / said[2], 1024, delta=103)  # two digits are printed
        with open(self.path("r.inp"), "w") as file:
            file.write("&INNBODY6 KSTART=3 /\n&ININPUT TCRIT=0.12501 SMAX=1.0e-6 /\n")
        text = self.run_command("--resume", "c.ckpt.h5", "r.inp")
        self.assertIn("warning: SMAX = 9.54e-07 is 8.9e-05 of the mean step", text)
        self.assertIn("at nominal costs", text)

    def test_binaries_cost_time(self):
        """Those that are made, and the same found in data, at 6 ms each in a unit of time and a thread."""
        text = "&ININPUT N=300 KZ(8)=1 TCRIT=100 /\n&INDATA NBIN0=%d /\n&INBINPOP SEMI0=0.0005 RANGE=5 /"
        few, many = self.cost(text % 0)[2], self.cost(text % 90)[2]
        self.run_command("--init-only", "--out", "m", "c.inp")
        found = self.cost("&ININPUT TCRIT=100 / &INMODEL DATA='m.init.h5' /")[2]
        self.assertEqual(found, many)
        self.assertIn("for 90 binaries", self.check("&ININPUT TCRIT=100 / &INMODEL DATA='m.init.h5' /"))
        self.assertGreater(many, 4 * few) # 54 s and some 3 with a thread; both go with their number

    def cost(self, text):
        """Irregular and regular steps, seconds."""
        found = re.search(r"wall time +about ([\d.e+-]+) (s|min|h|days) .*: ([\d.e+-]+) irregular and ([\d.e+-]+) regular",
                          self.check(text))
        unit = {"s": 1, "min": 60, "h": 3600, "days": 86400}[found.group(2)]
        return float(found.group(3)), float(found.group(4)), float(found.group(1)) * unit

    def test_no_warnings(self):
        self.assertEqual(self.warnings("&ININPUT N=500 /"), "none")
        self.assertEqual(self.warnings("&ININPUT N=500 KZ(14)=1 /"), "none")
        self.assertEqual(self.warnings("&ININPUT N=500 KZ(8)=1 / &INDATA NBIN0=50 / &INBINPOP SEMI0=0.001 /"), "none")

    def test_warnings(self):
        for text, fragments in (
            # 500 stars of 1 Msun, r_t of some 11 pc
            ("&ININPUT N=500 KZ(14)=1 RBAR=10 /", ["half-mass radius", "of the tidal radius", "smaller RBAR"]),
            ("&ININPUT N=500 KZ(8)=1 / &INDATA NBIN0=50 / &INBINPOP SEMI0=0.1 /",
             ["widest of NBIN0 = 50 binaries has a = 0.1,", "soft", "SEMI0"]),
            ("&ININPUT N=30000 KZ(8)=1 / &INDATA NBIN0=50 / &INBINPOP SEMI0=0.1 /", ["widest of NBIN0 = 50", "soft"]),
            ("&ININPUT N=500 KZ(16)=0 RMIN=0.2 DTMIN=1e-3 /", ["RMIN = 0.2 is larger than the core needs"]),
            ("&ININPUT N=500 KZ(16)=0 RMIN=1e-5 DTMIN=1e-8 /", ["RMIN = 1e-05 is smaller than the core needs"]),
            ("&ININPUT N=500 DTADJ=10 /", ["DTADJ = 10 is 3", "crossing times"]),
            ("&ININPUT N=500 DTADJ=0.001 /", ["DTADJ = 0.001 is 0.0003", "sums over all pairs"]),
            ("&ININPUT N=500 SMAX=1e-6 /", ["SMAX = 9.54e-07 is 0.00012 of the mean step", "ETAI and ETAR"]),
        ):
            with self.subTest(text=text):
                warnings = self.warnings(text)
                for fragment in fragments:
                    self.assertIn(fragment, warnings)
                self.assertEqual(len(warnings.splitlines()), 1, warnings)

    def test_size(self):
        self.check("&ININPUT N=200 /")
        self.run_command("--init-only", "--out", "m", "c.inp")
        with open(self.path("m.dat10")) as file:
            rows = [[float(word) for word in line.split()] for line in file]
        with open(self.path("t.dat"), "w") as file:
            for m, x, y, z, *v in rows:
                file.write(" ".join(map(repr, (m, 20 * x, 20 * y, 20 * z, *v))) + "\n")
        self.assertIn("length units, and intervals", self.warnings("&INMODEL DATA='t.dat' /"))

    def test_both(self):
        text = self.warnings("&ININPUT N=500 KZ(14)=1 RBAR=10 DTADJ=10 /")
        self.assertEqual(len(text.splitlines()), 2, text)

    def test_few_stars(self):
        with open(self.path("t.dat"), "w") as file:
            file.write("0.5 0 0 0 0 0.5 0\n0.5 1 0 0 0 -.5 0\n")
        self.assertNotIn("warnings", self.check("&INMODEL DATA='t.dat' /"))


if __name__ == "__main__":
    unittest.main()
