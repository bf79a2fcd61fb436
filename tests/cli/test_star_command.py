"""nbody6-star and nbody6.stellar: rows, options, pictures, and what they refuse."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.path.join(SOURCE, "tools", "nbody6-star")
sys.path.insert(0, os.path.join(SOURCE, "python"))

import stellar_programs  # noqa: E402
from nbody6 import SimulationError, stellar  # noqa: E402


class StarCommandTest(unittest.TestCase):
    def run_command(self, *arguments, code=0):
        done = subprocess.run([sys.executable, COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    @staticmethod
    def rows(text):
        return [[float(word) for word in line.split("#")[0].split()] for line in text.splitlines() if line[0] != "#"]

    def test_phases(self):
        text = self.run_command("1", "5")
        rows = self.rows(text)
        self.assertEqual([row[2] for row in rows], [1, 2, 3, 4, 5, 6, 11, 11] * 2)
        # Those of tests/conformance/test_stellar_numbers.c, with its tolerances
        self.assertAlmostEqual(rows[0][4], 0.6977, delta=5e-5)
        self.assertAlmostEqual(rows[1][1], 11003, delta=0.5)
        self.assertEqual(len(set(re.findall(r"kick (\S+) km/s", text))), 2)  # each star has its own kick
        self.assertIn("# carbon-oxygen white dwarf", text)

    def test_times(self):
        rows = self.rows(self.run_command("--times", "0,50,110", "5"))
        self.assertEqual([row[1] for row in rows], [0, 50, 110])
        self.assertEqual([row[2] for row in rows], [1, 1, 4])

    def test_options(self):
        hole = self.rows(self.run_command("25", "-e", "100"))[-1]
        other = self.rows(self.run_command("25", "-e", "100", "--set", "NSFLAG=rapid", "-s", "MXNS1=2"))[-1]
        level = self.rows(self.run_command("25", "-e", "100", "--level", "C"))[-1]
        self.assertEqual({hole[2], other[2], level[2]}, {14.0})
        self.assertEqual(len({hole[3], other[3], level[3]}), 3)
        self.assertIn("# 120 Msun: the fits are extrapolated", self.run_command("120", "-e", "1"))
        helium = self.rows(self.run_command("--helium", "-e", "0", "-t", "0", "2"))[0]
        self.assertEqual(helium[2], 7)

    def test_what_is_refused(self):
        self.assertIn("0 to 4: sse", self.run_command("-s", "NSFLAG=9", "5", code=2))
        self.assertIn("150", self.run_command("151", code=2))
        self.assertIn("0.0001 to 0.03", self.run_command("-z", "0.1", "5", code=2))
        self.assertIn("NAME=VALUE", self.run_command("-s", "NSFLAG", "5", code=2))
        self.assertIn("ascending", self.run_command("-t", "5,1", "5", code=2))
        self.assertIn("cannot write", self.run_command("5", "--plot", "/nowhere/a.png", code=4))

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "hr.png")
            self.run_command("1", "20", "--plot", path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_help_and_man_page_name_the_options(self):
        text = self.run_command("--help")
        with open(os.path.join(SOURCE, "docs", "man", "nbody6-star.1")) as file:
            page = file.read().replace("\\-", "-")
        for option in re.findall(r"--[a-z]+", text):
            self.assertIn(option, page)


class ProgramsTest(unittest.TestCase):
    def test_changes_find_their_places(self):
        """Of sources that were changed, so that long_stellar_oracles.py can compare them."""
        with tempfile.TemporaryDirectory() as folder:
            stellar_programs.copy(folder, stellar_programs.FITS + stellar_programs.WINDS)
            with self.assertRaisesRegex(ValueError, "wind.c has 0 of"):
                stellar_programs.copy(os.path.join(folder, "again"), (("wind.c", "no such text", ""),))


class StellarPackageTest(unittest.TestCase):
    def test_structs_are_those_of_the_header(self):
        with open(os.path.join(SOURCE, "stellar", "stellar.h")) as file:
            header = file.read()
        fields = re.findall(r"^    X\((\w+), \"([A-Z0-9]+)\",", header, re.M)
        self.assertEqual(tuple(name for name, _ in fields), stellar.CHOICES + stellar.NUMBERS)
        for name, record in (("star", stellar.STAR), ("view", stellar.VIEW), ("event", stellar.EVENT)):
            body = re.sub(r"/\*.*?\*/", "", re.search(r"struct stellar_%s \{(.*?)\n\};" % name, header, re.S).group(1),
                          flags=re.S)
            found = [part.split("[")[0].split()[-1] for part in re.split("[;,]", body) if part.strip()]
            self.assertEqual(found, list(record.names))

    def test_arrays(self):
        model = stellar.Model(z=0.01, level="B", nsflag="delayed", seed=3)
        stars = model.birth(np.array([0.5, 1, 5, 30]))
        seen, events = model.evolve(stars, 50)
        self.assertEqual(list(seen["type"]), [0, 1, 1, 14])
        self.assertEqual([index for index, _ in events], sorted(index for index, _ in events))
        self.assertEqual(events[-1][1]["type_after"], 14)
        again, none = model.evolve(stars, 50)
        self.assertEqual(none, [])
        self.assertEqual(again.tobytes(), seen.tobytes())
        heavier, _ = model.set_mass(stars, 1, 60, 1.3)
        self.assertEqual(heavier["mass"][0], 1.3)
        both, events = model.merge(stars, 3, 1, 70, kept=0.25)  # a black hole and a star
        self.assertEqual((both["type"][0], events), (14, []))
        self.assertAlmostEqual(both["mass"][0], seen["mass"][3] + 0.25 * 1.3, places=3)  # its wind takes 1e-8
        left, _ = model.evolve(stars, 80)
        self.assertEqual((left["type"][1], left["mass"][1]), (15, 0))
        self.assertRaises(ValueError, model.merge, stars, 1, 1, 80)
        model.close()

    def test_what_is_refused(self):
        model = stellar.Model()
        for call in (lambda: stellar.Model(z=1), lambda: stellar.Model(level="D"), lambda: stellar.Model(nsflag="slow"),
                     lambda: stellar.Model(colour="red"), lambda: model.birth([np.nan])):
            with self.assertRaises(SimulationError):
                call()
        with self.assertRaises(ValueError):
            model.evolve(np.zeros(3), 5)


if __name__ == "__main__":
    unittest.main()
