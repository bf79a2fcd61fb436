"""COSTS of &INCOLLISIONLESS: nominal costs by a file, in checkpoints, and what is refused."""

import os
import subprocess
import unittest

from run_support import BUILD, INPUT, RunTest

COMMAND = os.path.join(BUILD, "nbody6-collisionless")
GROUP = "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 FORCE_ERROR=1e-3 %s /\n"
# On the backend portable: terms of order 1 alone are cheap, and direct sums dear, so that a run has another tree, and
# one where it would have none.
COSTS = """# a machine of this test
backend portable
machine a test
processor
direct_start 1000
direct_source 10
pair 100
start 1000 # nanoseconds
source 1
moments 1 1e4 1e4 1e4 1e4 1e4 1e4 1e4
target 1
group 1
test 1
body 1
term 1 1e4 1e4 1e4 1e4 1e4 1e4 1e4
local 1 1e6 1e6 1e6 1e6 1e6 1e6 1e6
field 1
"""


class CostsTest(RunTest):
    def write(self, name="a.inp", more="COSTS='my.costs'", n=500, costs=COSTS):
        with open(self.path("my.costs"), "w") as file:
            file.write(costs)
        with open(self.path(name), "w") as file:
            file.write(INPUT.format(n=n, dtadj=0.25, deltat=0.25, tcrit=0.5, qe=1e-2, more="") + GROUP % more)
        return name

    def softened(self, *arguments, code=0, device="portable"):
        done = subprocess.run([COMMAND, *arguments, "--device", device], cwd=self.folder, stdin=subprocess.DEVNULL,
                              text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, code, "%s:\n%s" % (" ".join(arguments), done.stdout))
        return done.stdout

    def assert_same(self, one, other):
        first, second = self.snapshots(one), self.snapshots(other)
        self.assertGreater(len(first), 1)
        self.assertEqual(len(first), len(second))
        for a, b in zip(first, second):
            self.assertTrue(self.read(a) == self.read(b), "%s and %s differ" % (a, b))

    def test_order_and_choice_follow_from_the_file(self):
        text = self.softened("--check", self.write())
        self.assertIn("forces: tree, FORCE_ERROR = 0.001, order 1,", text)
        self.assertIn("nominal costs: those given, of a test\n", text)
        self.assertNotIn("direct sums cost less", text)
        text = self.softened("--check", self.write(more=""))
        self.assertNotIn("order 1,", text)
        self.assertIn("nominal costs: portable, ", text)
        self.assertIn("direct sums cost less", text)
        text = self.softened("--check", self.write(more="COSTS='my.costs' ORDER=3 LEAF=7 GROUP=99"))
        self.assertIn("order 3, leaf 7, group 99,", text)
        self.assertIn("nominal costs: those given, of a test", self.softened(self.write()))

    def test_resume_without_the_file(self):
        """A checkpoint has the costs: the run goes on with the same bits; those of another file would have others."""
        self.softened(self.write())
        self.write("c.inp", more="")
        self.softened("c.inp")
        self.softened(self.write("b.inp"), "--tcrit", "0.25")
        os.remove(self.path("my.costs"))
        text = self.softened("--resume", "b.ckpt.h5", "--tcrit", "0.5")
        self.assertIn("nominal costs: those given, of a test", text)
        self.assert_same("a", "b")
        # An input that names the file again, or another one, is told that it is not read.
        with open(self.path("more.inp"), "w") as file:
            file.write("&ININPUT TCRIT=0.625 /\n&INCOLLISIONLESS COSTS='other.costs' /\n")
        self.assertIn("COSTS='other.costs' is not used by a continued run, which has the costs of its checkpoint",
                      self.softened("--resume", "b.ckpt.h5", "more.inp"))
        self.assertFalse(self.read(self.snapshots("a")[-1]) == self.read(self.snapshots("c")[-1]))
        # Another backend has costs of its own.
        os.remove(self.path(self.snapshots("b")[-1]))
        self.assertIn("nominal costs: ref, ", self.softened("--resume", "b.ckpt.h5", "--tcrit", "0.75", device="ref"))

    def test_costs_of_the_table_are_kept(self):
        """Those of the backend that the program knows are in the checkpoint as well."""
        self.softened(self.write(more=""))
        self.softened(self.write("b.inp", more=""), "--tcrit", "0.25")
        self.assertIn("nominal costs: ", self.softened("--resume", "b.ckpt.h5", "--tcrit", "0.5"))
        self.assert_same("a", "b")

    def test_beside_the_input(self):
        os.mkdir(self.path("sub"))
        self.write(os.path.join("sub", "a.inp"))
        os.rename(self.path("my.costs"), self.path("sub", "my.costs"))
        self.assertIn("those given, of a test", self.softened("--check", os.path.join("sub", "a.inp")))

    def test_bad_files(self):
        """One message with file and line, and no other file."""
        cases = ((COSTS.replace("group", "groop"), "my.costs, line 12: there is no cost 'groop'"),
                 (COSTS.replace("start 1000 #", "start -1 #"), "my.costs, line 8: start: a number is out of range"),
                 (COSTS.replace("start 1000 #", "start nan #"), "my.costs, line 8: start: a number is out of range"),
                 (COSTS.replace("field 1\n", ""), "my.costs, line 16: the file ends without field"),
                 (COSTS.replace("field 1", "field"), "my.costs, line 17: field: a number is missing; give 1 number of 0 to"),
                 (COSTS.replace("field 1", "field 1 2"), "my.costs, line 17: field: '2' is too much; give 1 number"),
                 (COSTS.replace("moments 1 ", "moments "), "my.costs, line 10: moments: a number is missing; give 8 numbers"),
                 (COSTS + "pair 3\n", "my.costs, line 18: pair is there twice"),
                 (COSTS.replace("pair 100", "pair 0"), "my.costs, line 7: pair: a pair of direct sums costs more than nothing"),
                 (COSTS.replace("a test", "a" * 70), "my.costs, line 3: machine: '%s' is too long" % ("a" * 70)),
                 (COSTS.replace("portable", "avx512"), "my.costs, line 2: backend: the costs are those of avx512, and the run "
                  "has portable"),
                 ("x" * 600, "my.costs, line 1: a line of 600 characters is no line of costs"),
                 (COSTS + "#" * 9000, "my.costs, line 1: COSTS: it is no file of costs"),
                 ("", "my.costs, line 0: the file ends without backend"))
        for costs, word in cases:
            with self.subTest(word=word):
                for option in ([], ["--check"]):
                    text = self.softened(self.write(costs=costs), *option, code=2)
                    self.assertIn(word, text)
                    self.assertEqual(len([line for line in text.splitlines() if not line.startswith("note:")]), 1, text)
        os.remove(self.path("my.costs"))
        self.assertIn("my.costs: COSTS: cannot read: No such file", self.softened("a.inp", code=2))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.inp"])

    def test_without_a_tree(self):
        name = self.write(more="COSTS='my.costs'")
        with open(self.path(name)) as file:
            text = file.read().replace("FORCE_ERROR=1e-3", "")
        with open(self.path(name), "w") as file:
            file.write(text)
        self.assertIn("COSTS: there is no tree to which it applies", self.softened(name, code=2))


if __name__ == "__main__":
    unittest.main()
