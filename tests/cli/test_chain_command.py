"""nbody6-chain: the table that it prints, what it says about energies and hierarchy, and what it refuses."""

import os
import re
import subprocess
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.path.join(BUILD, "nbody6-chain")
PYTHAGOREAN = os.path.join(SOURCE, "input_examples", "pythagorean", "dat.10")


class ChainCommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_command(self, *arguments, code=0):
        done = subprocess.run([COMMAND, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def write(self, text, name="bodies.dat"):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)
        return name

    @staticmethod
    def rows(text):
        return [[float(word) for word in line.split()] for line in text.splitlines() if not line.startswith("#")]

    def test_pythagorean_to_t_60(self):
        for method in ("chain", "ar"):
            with self.subTest(method=method):
                text = self.run_command("--tcrit", "60", "--tolerance=1e-15", "--method", method, PYTHAGOREAN)
                rows = self.rows(text)
                self.assertEqual([len(row) for row in rows], [7, 7, 7])
                # tests/physics/test_chain_pythagorean.c says where the bound comes from.
                for row, should in zip(rows, ((3, 0.743807500118, 1.939947951095), (4, 0.264010334686, -0.731624394870),
                                              (5, -0.657492767820, -0.578669254761))):
                    self.assertEqual(row[0], should[0])
                    self.assertLess(max(abs(row[1] - should[1]), abs(row[2] - should[2])), 1e-6)
                self.assertLess(abs(float(re.search(r"relative (\S+)", text).group(1))), 1e-12)
                self.assertIn("bodies 2 and 3: 4.138248", text)
                self.assertIn("# hierarchy: 1 (2 3)", text)
                # 15 digits
                self.assertRegex(text.splitlines()[-1], r"^5\.00000000000000e\+00 -6\.\d{14}e-01 ")

    def test_what_it_prints_it_reads(self):
        # The same frame and columns: half way and on is the whole way, to the 15 digits in between, which t = 10 to 20
        # magnifies by some hundreds.
        first = self.run_command("--tcrit", "10", PYTHAGOREAN)
        self.write(first, "half.dat")
        there = self.rows(self.run_command("--tcrit", "10", "half.dat"))
        whole = self.rows(self.run_command("--tcrit", "20", PYTHAGOREAN))
        worst = max(abs(a - b) for p, q in zip(there, whole) for a, b in zip(p, q))
        self.assertLess(worst, 1e-10)

    def test_the_frame_is_that_of_the_table(self):
        self.write("1 1000.5 0 0 0.25 1 0\n1 999.5 0 0 0.25 -1 0\n")
        rows = self.rows(self.run_command("--tcrit", "8", "bodies.dat"))
        self.assertAlmostEqual(0.5 * (rows[0][1] + rows[1][1]), 1002, places=10)
        self.assertAlmostEqual(0.5 * (rows[0][4] + rows[1][4]), 0.25, places=14)

    def test_hierarchy_is_judged(self):
        self.write("1 0.5 0 0 0 0.7071067811865476 0\n1 -0.5 0 0 0 -0.7071067811865476 0\n0.5 0 50 0 -0.2 0 0\n")
        text = self.run_command("--tcrit", "1", "bodies.dat")
        self.assertIn("# hierarchy: (3 (1 2))", text.replace("((1 2) 3)", "(3 (1 2))"))
        self.assertIn("stable", text)

    def test_bodies_that_touch_merge(self):
        self.write("1 0.75 0 0 0 0.4 0\n1 -0.75 0 0 0 -0.4 0\n0.5 0 40 0 0.1 0 0\n")
        text = self.run_command("--tcrit", "10", "--radius", "0.3", "bodies.dat")
        self.assertRegex(text, r"# merger at t = .*; body 1 stays|# merger at t = .*; body 2 stays")
        rows = self.rows(text)
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[0][0], 2)
        self.assertIn("lost in mergers", text)
        text = self.run_command("--tcrit", "1e3", "--radius", "30", "bodies.dat")
        self.assertIn("it ends here", text)

    def test_post_newtonian_and_slow_down(self):
        self.write("1 0.5 0 0 0 0.7 0\n1 -0.5 0 0 0 -0.7 0\n")
        text = self.run_command("--tcrit", "20", "--pn", "1,2,2.5", "--c-light", "50", "bodies.dat")
        self.assertIn("with 1PN and 2PN terms", text)
        self.write("1 0.5 0 0 0 0.7 0\n1 -0.5 0 0 0 -0.7 0\n1 300 0 0 0 0.05 0\n")
        text = self.run_command("--tcrit", "100", "--slow", "1e-4", "bodies.dat")
        self.assertLess(abs(float(re.search(r"relative (\S+)", text).group(1))), 1e-10)

    def test_masses_over_decades(self):
        # Each took more than 20 s, or failed, when the method was always the KS chain and errors of rounding were taken
        # for ones of truncation. Steps are bounded, not time: some tens are needed, thousands by the KS chain.
        for name, time in (("masses_5_decades", "0.5"), ("light_body_of_8", "0.1"), ("two_heavy_of_8", "0.1")):
            for tolerance in ("1e-15", "1e-14", "1e-6"):
                for method, steps in (("auto", 100), ("ar", 100), ("chain", 1000)):
                    with self.subTest(name=name, tolerance=tolerance, method=method):
                        text = self.run_command("--tcrit", time, "--tolerance", tolerance, "--method", method, "--max-steps",
                                                str(steps), os.path.join(SOURCE, "tests", "data", name + ".dat"))
                        self.assertIn("method %s," % ("ar" if method == "auto" else method), text)
                        # Rounding leaves 2.5e-11 a step; a tolerance of 1e-6 asks for no more than that.
                        error = abs(float(re.search(r"relative (\S+)", text).group(1)))
                        self.assertLess(error, 1e-4 if tolerance == "1e-6" else 1e-10)
        self.assertRegex(text, r"method chain")

    def test_tolerance_below_rounding_is_told(self):
        table = os.path.join(SOURCE, "tests", "data", "masses_5_decades.dat")
        text = self.run_command("--tcrit", "0.5", "--tolerance", "1e-15", "--method", "chain", table)
        self.assertRegex(text, r"# the tolerance 1e-15 is below rounding here: \d+ of \d+ steps did not reach it, "
                               r"and have errors up to \d\.\de-1\d")
        self.assertNotIn("below rounding", self.run_command("--tcrit", "10", PYTHAGOREAN))

    def test_steps_are_bounded(self):
        words = self.run_command("--tcrit", "60", "--max-steps", "20", PYTHAGOREAN, code=2)
        self.assertIn("after 20 steps it is at t = ", words)
        self.assertIn("--max-steps", words)
        self.assertIn("--max-steps", self.run_command("--tcrit", "1", "--max-steps", "1.5", PYTHAGOREAN, code=2))
        self.run_command("--tcrit", "10", "--max-steps", "0", PYTHAGOREAN)

    def test_errors_say_what_to_do(self):
        self.write("1 0 0 0 0 0 0\n0 1 0 0 0 0 0\n", "massless.dat")
        self.write("".join("1 %d 0 0 0 0 0\n" % k for k in range(17)), "many.dat")
        self.write("1 0 0 0 0 0 0\n", "one.dat")
        for arguments, words in ((("a.dat",), "--tcrit"),
                                 (("--tcrit", "1", "one.dat"), "one.dat: one body only"),
                                 (("--tcrit", "1"), "no table"),
                                 (("--tcrit", "1", "a.dat"), "a.dat"), (("--tcrit", "-1", PYTHAGOREAN), "--tcrit"),
                                 (("--tcrit", "1", "--method", "rk4", PYTHAGOREAN), "auto, chain and ar"),
                                 (("--tcrit", "1", "--pn", "1", PYTHAGOREAN), "--c-light"),
                                 (("--tcrit", "1", "--pn", "3", PYTHAGOREAN), "--pn"),
                                 (("--tcrit", "1", "massless.dat"), "mass"), (("--tcrit", "1", "many.dat"), "16"),
                                 (("--tcrit", "1", "--fast", PYTHAGOREAN), "--fast"), (("--tcrit",), "missing"),
                                 (("--tcrit", "1", "x", "y"), "one table")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.run_command(*arguments, code=2))

    def test_help_and_version(self):
        text = self.run_command("--help")
        self.assertIn("usage: nbody6-chain", text)
        self.assertRegex(self.run_command("--version"), r"^nbody6-chain \d")
        with open(os.path.join(SOURCE, "docs", "man", "nbody6-chain.1")) as file:
            page = file.read().replace("\\-", "-")
        for option in re.findall(r"^  (--[a-z-]+)", text, re.M):
            self.assertIn(option, page)


if __name__ == "__main__":
    unittest.main()
