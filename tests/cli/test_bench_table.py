"""bench/bench_table.py in a tiny form: rows, ratios and errors of two builds by turns. Times are shown, never judged."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from run_support import BUILD

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "bench_table.py")
FLOAT = re.compile(r"\d+\.\d+(e-\d+)?$")


def bench_table(*arguments, code=0):
    done = subprocess.run([sys.executable, SCRIPT, "--build", BUILD, "--to", "0.125", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError("bench_table.py %s: %s%s" % (" ".join(arguments), done.stdout, done.stderr))
    return done.stdout if code == 0 else done.stderr


def cells(text):
    """The table as lists of words: titles, then rows."""
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()]
    return lines[0], lines[2:]


class BenchTableTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.other = os.path.join(folder.name, "before")
        os.mkdir(self.other)
        os.symlink(os.path.join(BUILD, "nbody6"), os.path.join(self.other, "nbody6"))

    def check(self, text, titles, names):
        found, rows = cells(text)
        self.assertEqual(found, titles)
        self.assertEqual([row[:2] for row in rows], names)
        for row in rows:
            self.assertEqual(len(row), len(titles))
        return rows

    def test_rows_for_each_number_of_threads_with_ratios(self):
        rows = self.check(bench_table("--rows", "40,binaries", "--threads", "1,2", "--runs", "2", "--no-plain",
                                      "--against", self.other, "--isa", "baseline"),
                          ["stars", "threads", "seconds", "CPU s", "before, seconds", "ratio", "CPU ratio"],
                          [["40", "1"], ["40", "2"], ["binaries", "1"], ["binaries", "2"]])
        for row in rows:
            for cell in row[2:]:
                self.assertRegex(cell, FLOAT)
                self.assertGreater(float(cell), 0)

    def test_errors_of_the_same_program_are_the_same(self):
        rows = self.check(bench_table("--rows", "40,1k", "--errors", "--seeds", "3", "--against", self.other),
                          ["stars", "seeds", "median dE/E", "range", "before", "ratio"], [["40", "3"], ["1k", "3"]])
        for row in rows:
            self.assertGreater(float(row[2]), 0)
            self.assertEqual(row[4], row[2])
            self.assertEqual(row[5], "1.00")

    def test_the_plain_loop_stands_beside_the_runs(self):
        if not os.path.exists(os.path.join(BUILD, "bench", "bench_gpunb")):
            self.assertIn("bench_gpunb", bench_table("--rows", "40", "--runs", "1", "--isa", "baseline", code=1))
            return
        row, = self.check(bench_table("--rows", "40", "--runs", "1", "--isa", "baseline"),
                          ["stars", "threads", "seconds", "CPU s", "plain loop, G/s", "work"], [["40", "2"]])
        self.assertGreater(float(row[4]), 0)
        self.assertGreater(float(row[5]), 0)

    def test_a_run_that_fails_is_shown(self):
        self.assertIn("N: 1 is out of range", bench_table("--rows", "1", "--runs", "1", "--no-plain", code=1))

    def test_a_build_is_not_compared_with_itself(self):
        self.assertIn("names the build itself", bench_table("--against", BUILD, code=2))


if __name__ == "__main__":
    unittest.main()
