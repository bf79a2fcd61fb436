#!/usr/bin/python3
"""Positional input of NBODY6 and of NBODY6++ before 2023: public samples run, as themselves and as the namelists that
--to-namelist makes of them; translations are noted; errors name file, line, variable and position."""

import glob
import os
import re
import shutil
import subprocess
import unittest

from run_support import NBODY6, RunTest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "tests", "data", "positional")

# Reasons why a sample is refused, beside stellar evolution, which --dynamics-only turns off. A sample that runs is not
# in this list, and has its row in docs/validation.md.
REFUSED = {}
NEED_DATA = {"nbody6pp_data": 200, "nbody6pp_point_mass": 210}

GOOD = """\
1 10.0
100 1 10 7 40 1
0.02 0.03 0.3 0.5 1.0 2.0 2.0D-04 1.5 0.6
0 0 1 0 1 0 0 0 0 0
0 0 0 0 1 1 0 0 0 0
0 0 0 0 0 2 0 0 0 1
0 0 0 0 0 0 0 0 0 2
0 0 0 0 0 0 0 0 0 0
2.0E-05 0.001 0.2 1.0 1.0E-06 0.001
2.3 10.0 0.1 0 0 0.002 0.0 5.0
0.5 0.0 0.0 0.0 0.25
"""
LINES = GOOD.splitlines()


def changed(line, text):
    """GOOD with one line, counted from 1, replaced."""
    return "\n".join(LINES[: line - 1] + [text] + LINES[line:]) + "\n"


# (what, text, fragments of the message)
BAD = [
    ("value out of range", changed(3, "0.5 0.03 0.3 0.5 1.0 2.0 2e-4 1 1"), ["a.inp:3: ETAI (value 1 of 9): 0.5 is out"]),
    ("value out of range later", changed(3, "0.02 0.03 0.3 0 1.0 2.0 2e-4 1 1"), ["a.inp:3: DTADJ (value 4 of 9): 0 is"]),
    ("no end", changed(3, "0.02 0.03 0.3 0.5 1.0 0.0 2e-4 1 1"), ["a.inp:3: TCRIT (value 6 of 9): 0 is"]),
    ("real for an integer", changed(2, "100.5 1 10 7 40 1"), ["a.inp:2: N (value 1 of 6): 100.5", "an integer"]),
    ("text for a number", changed(9, "2e-5 small 0.2 1 1e-6 1e-3"), ["a.inp:9: RMIN (value 2 of 6): small"]),
    ("NaN", changed(9, "2e-5 1e-3 NaN 1 1e-6 1e-3"), ["a.inp:9: ETAU (value 3 of 6): NaN", "finite"]),
    ("overflow", changed(10, "2.3 1e999 0.1 0 0 0.002 0.0 5.0"), ["a.inp:10: BODY1 (value 2 of 8)", "too large"]),
    ("on the second line", changed(9, "2e-5\n1e-3 0.2 1 x 1e-3"), ["a.inp:10: GMIN (value 5 of 6): x"]),
    ("after repeats", changed(3, "2*0.02 0.3 2*-1 2.0 2e-4 1 1"), ["a.inp:3: DTADJ (value 4 of 9): -1"]),
    ("after null values", changed(3, ",,,0.5,,-2.0/"), ["a.inp:3: TCRIT (value 6 of 9): -2"]),
    ("option that is no number", changed(5, "0 0 a 0 1 1 0 0 0 0"), ["a.inp:5: KZ(13) (value 13 of 50): a is"]),
    ("option without such a value", changed(6, "0 -5 0 0 0 2 0 0 0 1"), ["a.inp:6: KZ(22) (value 22 of 50): -5"]),
    ("40 options", "\n".join(LINES[:7] + LINES[8:]), ["a.inp:8: KZ(41) (value 41 of 50): 2.0E-05", "ten zeros"]),
    ("repeat count of zero", changed(3, "0*0.02 0.03"), ["a.inp:3", "repeat count"]),
    ("the file ends", "\n".join(LINES[:10]), ["a.inp", "Q (value 1 of 5)", "the file ends"]),
    ("the file ends within a record", "\n".join(LINES[:8]) + "\n2e-5 1e-3", ["ETAU (value 3 of 6)", "the file ends"]),
    ("a table in place of an input", "0.1 0 0 0 0 0 0\n0.1 1 0 0 0 0 0\n", ["a.inp:1", "table of stars", "DATA='a.inp'"]),
    ("a table of unit masses", "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n", ["a.inp:1", "table of stars"]),
    ("no NHI0", changed(10, "2.3 10.0 0.1 0 0.002 0.0 5.0"), ["a.inp:10: NHI0 (value 5 of 8): 0.002", "add a 0"]),
    ("bodies that are added", changed(6, "0 0 0 2 0 2 0 0 0 1") + "1 6*0\n1 6*1\n", ["a.inp:6", "KZ(24)=2", "added"]),
    ("black holes that are added", changed(5, "2 9*0") + "0 0 5 5\n1 6*0\n", ["a.inp:5", "KZ(11)=2", "black holes"]),
    ("post-Newtonian terms", changed(5, "-1 9*0"), ["a.inp:5", "KZ(11)=-1", "--dynamics-only"]),
    ("galaxy without mass", changed(5, "3*0 3 6*0") + "9*0\n6*1\n4*0\n", ["GMG", "a galaxy (KZ(14) = 3) needs"]),
    ("disk without height", changed(5, "3*0 3 6*0") + "1e9 1e9 4 0 0 0/\n6*1\n4*0\n", ["a.inp:12: B (value 4 of 9)"]),
    ("gas without length", changed(5, "3*0 4 6*0") + "1 0 0 0\n", ["a.inp:12: AP2 (value 2 of 4)"]),
    ("galaxy without its records", changed(5, "3*0 3 6*0") + "9*1\n6*1\n", ["MP (value 1 of 4)", "the file ends"]),
]

# (what, text, fragments of the notes, rows of --check)
TRANSLATED = [
    ("plain", GOOD, ["positional input of NBODY6:", "TCOMP=600 seconds", "NNBMAX=40 with KZ(40)=2 of NBODY6 is NNBOPT=8"],
     [r"neighbours NNBOPT +8\b", r"end TCRIT +2 ", r"largest time-step SMAX +0.25 ", r"length unit RBAR +1 +1.5 pc"]),
    ("free control of neighbours", changed(7, "10*0"), [], [r"neighbours NNBOPT +auto|neighbours NNBOPT +0"]),
    ("half of the longest list", changed(7, "9*0 1"), ["NNBOPT=20"], [r"neighbours NNBOPT +20\b"]),
    ("older NBODY6, without SMAX", changed(11, "0.5 0.0 0.0 0.0"), [], [r"largest time-step SMAX +1 "]),
    ("D exponents, commas, comments, blank lines",
     changed(3, "\n0.02D0,0.03d0, 3.0D-1 , .5\n\n 1 2. 2-4 ! two words\n+1.5 0.6E+0 ETAI, ETAR, ..."),
     ["lines 4 to 7 are one record"], [r"energy tolerance QE +0.0002", r"energy checks DTADJ +0.5 "]),
    ("no unit", changed(3, "0.02 0.03 0.3 0.5 1.0 2.0 2e-4 0 0"), ["RBAR=0 stands for 1", "ZMBAR=0 stands for 1"],
     [r"length unit RBAR +1 +1 pc"]),
    ("tail", changed(6, "0 0 3 0 0 2 0 0 0 1"), ["KZ(23)=3 of NBODY6 is KZ(23)=2"], [r"escapers +removed"]),
    ("Kozai", changed(8, "0 1 8*0"), ["KZ(42)=1 of NBODY6 is KZ(42)=0"], []),
    ("equal masses", changed(10, "1.0 10.0 0.1 0 0 0 0 0").replace("0 0 0 0 1 1 0 0 0 0", "4*0 1 1 3*0 6"),
     ["KZ(20)=6 has no effect"], [r"masses +equal"]),
    ("Eggleton's masses", changed(5, "0 0 0 0 1 1 0 0 0 3"), ["KZ(20)=3 is KZ(20)=-3"], [r"masses +Eggleton as in NBODY6 "]),
    ("Kroupa's masses", changed(5, "0 0 0 0 1 1 0 0 0 7").replace("2.3 10.0 0.1", "2.3 120.0 0.001"),
     ["BODY1=120 is 100", "BODYN=0.001 is 0.01"], [r"masses +Kroupa 2001 from 0.01 to 100 Msun"]),
    ("numbers left over", GOOD + "20000.0 2 0\n", ["numbers after line 11 are not read"], []),
    ("null values", changed(3, "0.02,,,0.5,2*,/ 7"), [], [r"step factors ETAI, ETAR +0.02, 0.02", r"end TCRIT +10 "]),
    ("no options", "\n".join(LINES[:3] + ["/"] + LINES[8:]), [], [r"model +uniform sphere", r"snapshots +none"]),
    ("options on one line", "\n".join(LINES[:3] + ["4*0 1 45*0"] + LINES[8:]), [], [r"model +Plummer model"]),
    ("binaries of equal stars", changed(4, "0 0 1 0 1 0 0 1 0 0").replace("0.1 0 0 0.002", "0.1 20 0 0.002") +
     "0.001 -1.0 1.0 100.0 1 0 0\n", ["N=100 counts stars", "N=80"], [r"stars N +100\b", r"NBIN0 +20\b"]),
    ("binaries with periods", changed(4, "0 0 1 0 1 0 0 4 0 0").replace("0.1 0 0 0.002", "0.1 20 0 0.002") +
     "0.001 -1.0 0.5 100.0 0 0 0\n", ["KZ(42)=4: periods of Kroupa 1995"], [r"stars N +120\b"]),
]


# Inputs that McLuster writes beside a table of stars: for NBODY6++, and for NBODY6. Its times and scales are zeros
# here.
MCLUSTER_PP = """\
1 5000000.0 0.0000000000000000 40 40 0
{n} 1 10 12345 {nnb} 1 10
0.02 0.02 0.10000000 0.50000000 0.50000000 1.00000000 0.001000 0.8437450000000000 0.5936880000000000
0 2 1 0 1 0 5 {kz8} 3 2
0 {kz12} 0 {kz14} 2 0 0 0 0 6
0 {kz22} 2 0 1 2 1 0 0 1
1 0 3 2 1 0 0 2 0 0
0 0 0 0 0 2 -3 0 0 0
0.000032 0.001000 0.2 1.0 0.000001 0.001 0.125
2.350000 100.00000000 0.08000000 {nbin} 0 0.02000000 0.00000000 100.00000000
0.50 0.0 0.0 0.00000
"""
MCLUSTER_6 = """\
1 5000000.0 0
{n} 1 10 12345 {nnb} 1
0.02 0.02 0.10000000 0.50000000 0.50000000 1.00000000 1.0E-03 0.84374500 0.59368800
2 2 1 0 1 0 2 0 0 2
0 {kz12} 0 {kz14} 2 0 0 0 0 3
0 {kz22} 2 0 1 2 0 1 0 1
0 0 0 2 1 0 0 2 0 3
0 0 0 0 0 0 0 0 0 0
1.0E-5 1.0E-4 0.2 1.0 1.0E-06 0.001
2.350000 100.00000000 0.08000000 {nbin} 0 0.02000000 0.00000000 100.00000000
0.50 0.0 0.0 0.00000 0.125
"""


class Positional(RunTest):
    def understand(self, text, *arguments, code=0):
        with open(self.path("a.inp"), "w") as file:
            file.write(text)
        done = subprocess.run([NBODY6, *arguments, "a.inp"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def write_data(self, n, name):
        """A Plummer model of n stars as a table."""
        self.write_input("model.inp", n=n)
        self.run_command("--init-only", "--overwrite", "--quiet", "model.inp")
        shutil.copy(self.path("model.dat10"), self.path(name))

    def test_samples(self):
        """Each runs, and the namelist made of it gives the same bits."""
        samples = sorted(glob.glob(os.path.join(SAMPLES, "*.inp")))
        self.assertGreater(len(samples), 10)
        for path in samples:
            name = os.path.basename(path)[:-4]
            with self.subTest(name):
                shutil.copy(path, self.path(name + ".inp"))
                if name in REFUSED:
                    message = self.run_command("--dynamics-only", name + ".inp", code=2)
                    for fragment in REFUSED[name]:
                        self.assertIn(fragment, message)
                    continue
                if name in NEED_DATA:
                    self.write_data(NEED_DATA[name], "dat.10")
                self.run_command("--quiet", "--dynamics-only", "--out", "a", "--overwrite", name + ".inp")
                made = subprocess.run([NBODY6, "--to-namelist", "--dynamics-only", name + ".inp"], cwd=self.folder,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual((made.returncode, made.stderr), (0, ""))
                with open(self.path("b.inp"), "w") as file:
                    file.write(made.stdout)
                self.run_command("--quiet", "--out", "b", "--overwrite", "b.inp")
                self.assertEqual(self.log_without_timings("a"), self.log_without_timings("b"))
                self.assertEqual([self.read(s) for s in self.snapshots("a")], [self.read(s) for s in self.snapshots("b")])

    def test_samples_are_listed(self):
        """Each sample has its row in docs/validation.md, and each row its sample."""
        with open(os.path.join(ROOT, "docs", "validation.md")) as file:
            rows = re.findall(r"^\| (`.*?) \|.*\| runs?(?:: .*)? \|$", file.read(), re.M)
        listed = sorted(name if name.endswith(".inp") else "positional/" + os.path.basename(name) + ".inp"
                        for row in rows for name in re.findall("`(.*?)`", row) if "nbody6" in name)
        data = os.path.join(ROOT, "tests", "data")
        self.assertEqual(listed, sorted(os.path.relpath(path, data) for pattern in ("*.inp", "positional/*.inp")
                                        for path in glob.glob(os.path.join(data, pattern))))

    def test_bad(self):
        self.assertGreater(len(BAD), 20)
        for what, text, fragments in BAD:
            for action in ("--check", "--to-namelist"):
                with self.subTest(what + " " + action):
                    done = self.understand(text, action, code=2)
                    self.assertEqual(done.stdout, "")
                    self.assertEqual(done.stderr.count("nbody6: "), 1, done.stderr)
                    for fragment in fragments:
                        self.assertIn(fragment, done.stderr)

    def test_translated(self):
        for what, text, fragments, rows in TRANSLATED:
            with self.subTest(what):
                done = self.understand(text, "--check")
                for fragment in fragments:
                    self.assertIn(fragment, done.stderr)
                for row in rows:
                    self.assertRegex(done.stdout, row)

    def test_the_same_written_differently(self):
        plain = self.understand(GOOD, "--check").stdout
        for text in (GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, "! from 2009\n" + GOOD, GOOD.replace(" ", ","),
                     "\n".join(l + " words" * (not l.endswith(("0 0", "0 1", "0 2"))) for l in LINES), GOOD.replace("0 0 0 0 0 0 0 0 0 0", "10*0"),
                     GOOD.replace("\n", "\n\n"), GOOD.replace(" ", "\t"), GOOD.replace("1.0E-06", "1.D-6")):
            self.assertEqual(self.understand(text, "--check").stdout, plain, text)

    def test_to_namelist_of_a_namelist(self):
        """A namelist stays one, and translating the result changes nothing."""
        sample = os.path.join(ROOT, "tests", "data", "nbody6pp_sample.inp")
        with open(sample) as file:
            first = self.understand(file.read(), "--to-namelist", "--dynamics-only").stdout
        second = self.understand(first, "--to-namelist").stdout
        groups = re.compile(r"^(&.*?^/$)", re.M | re.S)
        self.assertEqual(groups.findall(first), groups.findall(second))
        self.assertGreater(len(groups.findall(first)), 5)

    def mcluster(self, text, ending, **values):
        """Writes X.input and X.dat.10 or X.fort.10; returns what --check says, and notes."""
        settings = {**dict(n=60, nnb=30, kz8=0, kz12=0, kz14=0, kz22=2, nbin=0), **values}
        os.makedirs(self.path("x"), exist_ok=True)
        with open(self.path("x", "X.input"), "w") as file:
            file.write(text.format(**settings))
        self.write_data(60, "x/X" + ending)
        done = subprocess.run([NBODY6, "--check", "--dynamics-only", "x/X.input"], cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_mcluster(self):
        """X.input finds X.dat.10, X.fort.10, X.input.dat.10 or X.input.fort.10 beside it, also when another cluster's dat.10
        is near."""
        self.write_data(80, "dat.10")
        for text, ending, tables in ((MCLUSTER_PP, ".dat.10", {2: "N-body units", 10: "Msun, pc, km/s"}),
                                     (MCLUSTER_PP, ".input.dat.10", {2: "N-body units"}),
                                     (MCLUSTER_6, ".fort.10", {4: "N-body units", -1: "Msun, pc, km/s"}),
                                     (MCLUSTER_6, ".input.fort.10", {4: "N-body units"})):
            for kz22, units in tables.items():
                for binaries in (0, 5):
                    with self.subTest(ending=ending, kz22=kz22, binaries=binaries):
                        out, notes = self.mcluster(text, ending, kz22=kz22, nbin=binaries, kz8=2 if binaries else 0)
                        self.assertIn("note: the stars are read from x/X" + ending, notes)
                        self.assertRegex(out, r"model +data file x/X\%s\n" % ending)
                        self.assertRegex(out, r"units of the data +%s, as KZ\(22\) says" % units)
                        self.assertRegex(out, r"stars N +60\b")
                        self.assertEqual(bool(re.search(r"primordial binaries NBIN0 +5\b", out)), binaries > 0)
            os.remove(self.path("x", "X" + ending))
        out, notes = self.mcluster(MCLUSTER_PP, ".dat.10", kz12=1, kz14=1)
        self.assertIn("KZ(12)=1", notes)
        self.assertRegex(out, r"galaxy +.*solar")

    def test_mcluster_runs(self):
        """The pair of files, and the namelist with the name of the table, give the same bits."""
        self.mcluster(MCLUSTER_PP, ".dat.10")
        self.run_command("--quiet", "--dynamics-only", "--out", "a", "x/X.input")
        made = subprocess.run([NBODY6, "--to-namelist", "--dynamics-only", "x/X.input"], cwd=self.folder, capture_output=True, text=True,
                              timeout=60)
        self.assertIn("DATA='x/X.dat.10'", made.stdout)
        with open(self.path("b.inp"), "w") as file:
            file.write(made.stdout)
        self.run_command("--quiet", "--out", "b", "b.inp")
        self.assert_same_run("a", "b")

    def test_mcluster_tables(self):
        """Tables in physical units with a head that names units, and with columns of stellar evolution, which are
        kept."""
        self.write_data(60, "plain.txt")
        rows = self.read("plain.txt").decode().splitlines()
        head = "#Mass_[Msun]\tx_[pc]\t\ty_[pc]\t\tz_[pc]\t\tvx_[km/s]\tvy_[km/s]\tvz_[km/s]"
        text = "&ININPUT KZ(22)=%d TCRIT=1 / &INMODEL DATA='%s' /"
        outputs = []
        for name, first, more in (("plain.txt", [], ""), ("X.txt", [head], ""),
                                  ("long.txt", [head + "\tMass(t=0)_[Msun]\tkw\tspin"], "\t0.5 1 0.0"),
                                  ("named.txt", ["# m x y z vx vy vz name"], " star")):
            with open(self.path(name), "w") as file:
                file.write("\n".join(first + [row + more for row in rows]) + "\n")
            outputs.append(self.understand(text % (10, name), "--check").stdout.replace(name, "").split("\n  warnings")[0])
            done = self.understand(text % (2, name), "--check", code=2 if "[" in "".join(first) else 0)
            self.assertEqual("or KZ(22) = 10" in done.stderr, "[" in "".join(first))
        unused = r"; (\d+) columns? (?:is|are) not used"
        for output, source in zip(outputs, ("KZ(22)", "the file", "the file", "KZ(22)")):
            self.assertIn("Msun, pc, km/s, as %s says" % source, output)
        outputs = [output.replace("table with named columns", "table").replace("the file says", "KZ(22) says")
                   for output in outputs]
        self.assertEqual([re.findall(unused, output) for output in outputs], [[], [], [], ["1"]])
        kept = "; kept with them: InitialStellarMass (Msun), StellarType, StellarSpin (1/yr)"
        self.assertIn(kept, outputs[2])
        for output in outputs:
            self.assertEqual(re.sub(unused, "", output.replace(kept, "")), outputs[0])
        with open(self.path("long.txt"), "a") as file:
            file.write("0.5 1 2 3 4 5 6 7\n")
        self.assertIn("long.txt:62: 8 columns, but the head of the table names 10",
                      self.understand(text % (10, "long.txt"), code=2).stderr)

    def test_table_and_input_exchanged(self):
        self.mcluster(MCLUSTER_PP, ".dat.10")
        message = self.run_command("x/X.dat.10", code=2)
        self.assertIn("x/X.dat.10:1: the file is a table of stars", message)
        self.assertIn("NAME.input", message)
        shutil.copy(self.path("x", "X.input"), self.path("x", "X.dat.10"))
        message = self.run_command("--dynamics-only", "x/X.input", code=2)
        self.assertIn("x/X.dat.10:1: 6 columns", message)
        self.assertIn("run it: `nbody6 x/X.dat.10`", message)
        with open(self.path("table.txt"), "w") as file:
            file.write("#Mass_[Msun]\tx_[pc]\ty_[pc]\tz_[pc]\tvx_[km/s]\n0.5 0 0 0 0 0 1\n0.5 1 0 0 0 0 0\n")
        self.assertIn("table.txt:2: the file is a table of stars", self.run_command("table.txt", code=2))

    def test_help(self):
        text = self.run_command("--help-input", "positional")
        for fragment in ("1 KSTART, 2 TCOMP", "5 NNBMAX of &INRUN", "KZ(14) = 3 to 4", "KZ(40)", "fort.10"):
            self.assertIn(fragment, text)


if __name__ == "__main__":
    unittest.main()
