"""Toys (tests/toys) are additions as CONTRIBUTING.md describes them: a file, and a line in a list. The program with
them is made by `make tests` from the sources as they are; here it reads the toy's variable, moves stars in the toy's
potential, and writes the toy's column."""

import glob
import math
import os
import random
import subprocess
import unittest

import h5py
import numpy as np

from run_support import BUILD, NBODY6, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WITH_TOYS = os.path.join(BUILD, "tests", "toys", "nbody6-toys")
LISTS = {"gpunb/backends.def": "backend.line", "nbody6/input/potentials.def": "potential.line", "nbody6/analysis/columns.def": "column.line",
         "nbody6/fewbody/kinds.def": "kind.line", "nbody6/input/input_table.c": "variable.line"}

INPUT = """\
&INNBODY6 KSTART=1 /
&ININPUT N={n} DTADJ=0.25 DELTAT=0.25 TCRIT={tcrit} QE=1 ETAI=0.005 ETAR=0.005 SMAX=0.015625 KZ(14)=10 KZ(22)=2 KZ(40)=1
 {more} /
&INMODEL DATA='stars.dat' /
&INRUN {toy} /
"""


def read(*names):
    with open(os.path.join(*names)) as file:
        return file.read()


class ToysTest(RunTest):
    def run_toys(self, *arguments, code=0, program=WITH_TOYS, environment=None):
        done = subprocess.run([program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, env=environment)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def write(self, stars, toy="", tcrit=2, more="KZ(16)=0"):
        with open(self.path("stars.dat"), "w") as file:
            file.writelines(" ".join("%.17g" % value for value in star) + "\n" for star in stars)
        with open(self.path("a.inp"), "w") as file:
            file.write(INPUT.format(n=len(stars), toy=toy, tcrit=tcrit, more=more))

    def log(self):
        return np.genfromtxt(self.path("a.log.csv"), delimiter=",", names=True)

    def rows(self, name):
        """The log without timings and without what tells runs apart, which is in comments."""
        return [row for row in self.log_without_timings(name) if not row[0].startswith("#")]

    def last_stars(self):
        """Masses and places by the numbers of the stars, and the time."""
        with h5py.File(self.snapshots()[-1], "r") as file:
            stars = file["PartType4"]
            order = np.argsort(stars["ParticleIDs"][()])
            return stars["Masses"][()][order], stars["Coordinates"][()][order], file["nbody6"].attrs["t"]

    def circle(self, k):
        """Two stars of mass 1/2 opposite each other at a distance of 1 from the centre: their angular velocity is
        (k + 1/8)^(1/2), of the field k r^3 and of the other's pull of m/4."""
        v = math.sqrt(k + 0.125)
        return v, [(0.5, 1, 0, 0, 0, v, 0), (0.5, -1, 0, 0, 0, -v, 0)]

    def test_a_line_in_each_list_and_no_other_change(self):
        for name, line in LISTS.items():
            before, after = read(SOURCE, name).splitlines(), read(BUILD, "tests", "toys", name).splitlines()
            added = read(SOURCE, "tests", "toys", line).splitlines()
            self.assertEqual(len(added), 1)
            at = after.index(added[0])
            self.assertEqual(after[:at] + after[at + 1:], before)
        self.assertEqual(len(glob.glob(os.path.join(SOURCE, "tests", "toys", "*.c"))), 4)

    def test_variable_in_the_help(self):
        text = self.run_toys("--help-input", "TOYK")
        self.assertIn("[real; N-body; default 1; 0 <= TOYK <= 100]", text)
        self.assertIn("10       a toy: quartic potential (TOYK)", self.run_toys("--help-input", "KZ(14)"))
        self.run_toys("--help-input", "TOYK", code=2, program=NBODY6)

    def test_variable_out_of_range(self):
        _, stars = self.circle(1)
        self.write(stars, "TOYK=101")
        text = self.run_toys("--check", "a.inp", code=2)
        self.assertIn("a.inp:5: TOYK: 101 is out of range; give a value >= 0 and <= 100", text)
        self.write(stars, "TOYK=0")  # in the range, and of no use to the potential, which says so
        self.assertIn("give TOYK > 0", self.run_toys("--check", "a.inp", code=2))
        self.assertIn("give TOYK > 0", self.run_toys("a.inp", code=2))
        self.write(stars, "TOYK=3")
        self.assertIn("a toy of strength 3", self.run_toys("--check", "a.inp"))

    def test_orbits_in_the_potential(self):
        for toy, k in (("", 1), ("TOYK=4", 4)):
            with self.subTest(k=k):
                omega, stars = self.circle(k)
                self.write(stars, toy)
                self.run_toys("a.inp", "--quiet", "--overwrite")
                _, x, _ = self.last_stars()
                angle = 2 * omega
                # Some 100 steps of fourth order in a turn leave 1e-7 to 1e-6 of the phase after 1.3 turns.
                np.testing.assert_allclose(x[0], [math.cos(angle), math.sin(angle), 0], atol=1e-5)
                log = self.log()
                self.assertLess(abs(log["de_cluster"]).max(), 1e-7)
                np.testing.assert_allclose(log["e_tide"], k / 4, rtol=1e-5)

    def test_potential_that_no_device_engine_supports(self):
        random.seed(3)
        stars = [(5e-4, *(random.gauss(0, 0.5) for _ in range(6))) for _ in range(2000)]
        self.write(stars)
        environment = {name: value for name, value in os.environ.items() if name not in ("GPUNB_BACKEND", "GPU_LIST")}
        reason = r"engine +auto: host \((the device engine has no such galaxy|this program was built without CUDA)\)"
        self.assertRegex(self.run_toys("--check", "a.inp", environment=environment), reason)
        # An engine that is asked for hands the blocks over to the host: the bits are those of the host engine.
        v, stars = self.circle(1)
        self.write(stars, tcrit=0.5)
        self.run_toys("a.inp", "--quiet", "--engine", "emulated")
        self.run_toys("a.inp", "--quiet", "--engine", "host", "--out", "b")
        self.assertEqual(self.rows("a"), self.rows("b"))
        self.assertIn("# engine: emulated", read(self.path("a.log.csv")))

    def test_column(self):
        stars = [(0.5, 1, 0, 0, 0, 0.5, 0), (0.25, -1, 0.5, 0, 0, 0, 0.2), (0.25, 0, 0.3, 1.5, 0.3, 0, 0)]
        self.write(stars)
        self.run_toys("a.inp", "--quiet")
        names, units = read(self.path("a.log.csv")).splitlines()[:2]
        at = names.split(",").index("toy_inertia")
        self.assertEqual(units[len("# units: "):].split(",")[at], "mass length^2")
        self.assertEqual(names.split(",")[at - 1], "escapers")  # where its line stands in the list
        log, (m, x, t) = self.log(), self.last_stars()
        self.assertEqual(t, log["t"][-1])
        # The log has 15 digits. There are no pairs here, so that bodies are stars.
        self.assertAlmostEqual(log["toy_inertia"][-1], (m[:, None] * x**2).sum(), delta=1e-13)
        first = sum(s[0] * (s[1]**2 + s[2]**2 + s[3]**2) for s in stars)
        self.assertAlmostEqual(log["toy_inertia"][0], first, delta=1e-13)

    def test_a_regularized_pair_in_the_potential(self):
        # The field, which is no linear one, acts on the relative motion of a pair from where its centre is. In 110
        # orbits its tide, 3 k a^3/m = 2e-5, shifts the stars by 1.4e-2 of their distance. The centre moves as a point,
        # without what the field changes over the pair (a^2/4 of it); by that, and by errors of the direct integration,
        # which has no pair, the two ways differ by 2e-4.
        a, found = 0.02, []
        v, inner = 1.0, math.sqrt(1 / a)
        stars = [(0.5, 1 + a / 2, 0, 0, 0, v + inner / 2, 0.1), (0.5, 1 - a / 2, 0, 0, 0, v - inner / 2, 0.1)]
        for more, pairs in (("KZ(16)=0", 0), ("KZ(16)=0 RMIN=0.2 DTMIN=0.01", 1)):
            self.write(stars, more=more)
            self.run_toys("a.inp", "--quiet", "--overwrite")
            m, x, _ = self.last_stars()
            found.append(x[0] - x[1])
            log = self.log()
            self.assertEqual(log["n_pair"][-1], pairs)
            # The energy in the field is that of the stars, however it is put together; rounding alone is between.
            self.assertAlmostEqual(log["e_tide"][-1], (m * (x**2).sum(axis=1)**2).sum() / 4, delta=1e-12)
            # The work of what the centre lacks, a^2/4 of the field's, is up to 1e-4; without a pair there is none.
            self.assertLess(abs(log["e_total"] - log["e_total"][0]).max(), 1e-5 if pairs else 1e-7)
        self.assertLess(np.linalg.norm(found[1] - found[0]), 1e-3 * a)

    def test_runs_with_other_values_are_other_runs(self):
        ids = []
        for toy in ("TOYK=4", "TOYK=4", "TOYK=5"):
            self.write(self.circle(4)[1], toy, tcrit=0.25)
            self.run_toys("a.inp", "--quiet", "--overwrite")
            ids.append(read(self.path("a.log.csv")).splitlines()[2])
        self.assertTrue(ids[0].startswith("# run: "))
        self.assertEqual(ids[0], ids[1])
        self.assertNotEqual(ids[0], ids[2])

    def test_checkpoint_with_a_variable_that_is_unknown(self):
        self.write([(0.5, 1, 0, 0, 0, 0.5, 0), (0.5, -1, 0, 0, 0, -0.5, 0)], tcrit=0.25, more="KZ(14)=0 KZ(16)=0")
        self.run_toys("a.inp", "--quiet")
        text = self.run_toys("--resume", "a.ckpt.h5", "--tcrit", "0.5", code=4, program=NBODY6)
        self.assertIn("the input variable INRUN.TOYK is unknown to this program", text)

    def test_kind_of_a_system(self):
        # A star of the same mass at five times the size of a pair turns and widens its orbit; a deaf one stays as it is.
        a, found = 0.02, []
        # Device engines do not support the kind, so that they ask the host in each of its steps.
        for share, engine in ((0.75, "host"), (0.75, "emulated"), (0.7, "host"), (0.7, "emulated")):
            v, apart = math.sqrt(0.2 / a), 5 * a
            outer = math.sqrt(0.4 / apart)
            stars = [(0.2 * share, a * (1 - share), 0, 0, 0, v * (1 - share) + outer / 2, 0),
                     (0.2 * (1 - share), -a * share, 0, 0, 0, -v * share + outer / 2, 0),
                     (0.2, apart, 0, 0, 0, -outer / 2, 0.1), (0.4, 5, 0, 0, 0, 0.3, 0)]
            self.write(stars, tcrit=0.25, more="KZ(16)=0 RMIN=0.04 DTMIN=0.001 KZ(15)=0 KZ(14)=0")
            self.run_toys("a.inp", "--quiet", "--overwrite", "--engine", engine)
            with h5py.File(self.snapshots()[-1], "r") as file:
                self.assertEqual(len(file["Pairs/SemiMajorAxis"]), 1)
                found.append(file["Pairs/SemiMajorAxis"][0])
        for deaf, other in ((found[0], found[2]), (found[1], found[3])):
            self.assertAlmostEqual(deaf / a, 1, delta=1e-12)  # rounding alone
            self.assertGreater(abs(other / a - 1), 1e-4)

    def test_backend_passes_the_conformance_suite(self):
        for suite, only in (("test_gpunb", "test_against*"), ("test_gpunb", "test_potential"),
                            ("test_gpunb_contract", "*"), ("test_gpunb_predict", "*")):
            text = self.run_toys("toy", only, program=os.path.join(BUILD, "tests", "toys", suite))
            self.assertRegex(text, r"test\(s\) run")
            self.assertNotIn("0 test(s) run", text)

    def test_backend_in_a_run(self):
        # Forces on a target are those of `ref`, bit for bit; potentials are summed in another order, in double.
        random.seed(5)
        stars = [(1 / 64, *(random.gauss(0, 0.5) for _ in range(6))) for _ in range(64)]
        self.write(stars, tcrit=0.25, more="KZ(14)=0 KZ(16)=0")
        self.assertRegex(self.run_toys("--list-devices"), r"\n  toy +a toy: backwards, in double")
        found = []
        for device in ("ref", "toy"):
            self.run_toys("a.inp", "--quiet", "--overwrite", "--device", device)
            found.append((self.last_stars()[1], self.log()["e_total"]))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-13)

    def test_checkpoints_hold_the_variable(self):
        _, stars = self.circle(4)
        self.write(stars, "TOYK=4", tcrit=1)
        self.run_toys("a.inp", "--quiet", "--out", "whole")
        self.write(stars, "TOYK=4", tcrit=0.5)
        self.run_toys("a.inp", "--quiet")
        self.run_toys("--resume", "a.ckpt.h5", "--tcrit", "1", "--quiet")
        self.assertEqual(self.log_without_timings("a"), self.log_without_timings("whole"))
        with h5py.File(self.path("a.ckpt.h5"), "r") as file:
            self.assertEqual(file["config_numbers"].attrs["INRUN.TOYK"], 4)
        text = self.run_toys("--resume", "a.ckpt.h5", "--tcrit", "2", code=4, program=NBODY6)
        self.assertIn("external potential of number 10", text)


if __name__ == "__main__":
    unittest.main()
