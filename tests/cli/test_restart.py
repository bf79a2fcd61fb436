#!/usr/bin/python3
"""Runs that go on with other parameters: by --resume with an input, by KSTART = 2 to 5 of namelists, and by the restarts
of NBODY6. Each change is reported, others are refused, and a run without changes keeps its bits."""

import os
import random
import re
import subprocess
import time
import unittest

from run_support import NBODY6, RunTest

MORE = "KZ(16)=1 RBAR=1 ZMBAR=0.5 KZ(14)=1 KZ(23)=1"

# As NBODY6 writes it: KSTART TCOMP; DTADJ DELTAT TADJ TNEXT TCRIT QE J KZ(J); ETAI ETAR ETAU DTMIN RMIN NCRIT.
POSITIONAL = "5 100.0\n0.125 0.25 0 0 2.0 2e-3 23 2\n0.01 0.015 0.1 0 0 20\n"
NAMELIST = "&INNBODY6 KSTART=%d TCOMP=6000 /\n&ININPUT DTADJ=0.125 DELTAT=0.25 TCRIT=2.0 QE=2e-3 KZ(23)=2\n" \
           "ETAI=0.01 ETAR=0.015 ETAU=0.1 NCRIT=20 /\n"
TOLD = ["TCOMP 0 -> 6000", "NCRIT 0 -> 20", "ETAI 0.02 -> 0.01", "ETAR 0.02 -> 0.015", "DTADJ 0.25 -> 0.125",
        "DELTAT 0.5 -> 0.25", "TCRIT 1 -> 2", "QE 0.01 -> 0.002", "KZ(23) 1 -> 2", "ETAU 0.2 -> 0.1"]

# (input, fragments of the message); "%" is the name of the checkpoint
REFUSED = [
    ("&ININPUT N=50 /", ["c.inp:1: N: cannot become 50 in a run that has 100", "stars"]),
    ("&ININPUT NRAND=4 /", ["NRAND: cannot become 4", "stars"]),
    ("&ININPUT RBAR=2 /", ["RBAR: cannot become 2", "units"]),
    ("&ININPUT RS0=0.3 /", ["RS0: cannot become 0.3", "rest on it"]),
    ("&ININPUT KZ(5)=0 /", ["KZ(5): cannot become 0 in a run that has 1", "stars"]),
    ("&ININPUT KZ(14)=0 /", ["KZ(14): cannot become 0 in a run that has 1", "galaxy"]),
    ("&ININPUT KZ(20)=6 /", ["KZ(20): cannot become 6", "stars"]),
    ("&ININPUT KZ(22)=2 /", ["KZ(22): cannot become 2", "stars"]),
    ("&ININPUT KZ(39)=2 /", ["KZ(39): cannot become 2 in a run that has 0", "rest on it"]),
    ("&ININPUT KZ(19)=3 /", ["KZ(19): cannot become 3 in a run that has 0", "stars"]),
    ("&ININPUT RMIN=0 /\n&INRUN DTFIXI=0.25 /", ["DTFIXI: cannot become 0.25"]),
    ("&INDATA BODY1=20 /", ["BODY1: cannot become 20 in a run that has 10", "stars"]),
    ("&INSCALE Q=0.4 /", ["Q: cannot become 0.4", "stars"]),
    ("&INMODEL MODEL='king' W0=5 /", ["MODEL: cannot become king", "stars"]),
    ("&INRUN PREC='double' /", ["PREC: cannot become double", "rest on it"]),
    ("&INRUN RSTAR=1e-3 /", ["RSTAR: cannot become 0.001"]),
    ("&INRUN DEVICE='ref' /", ["DEVICE: cannot become ref", "command line"]),
    ("&INRUN NNBMAX=5 /", ["NNBMAX: the longest neighbour list, 5"]),
    ("&ININPUT NNBOPT=200 /", ["NNBOPT: with 99 or more all stars would be neighbours", "give less"]),
    ("&ININPUT ETAI=0.2 /", ["c.inp:1: ETAI: 0.2 is out of range"]),
    ("&ININPUT ETAX=0.2 /", ["c.inp:1: ETAX: unknown variable", "did you mean"]),
    ("&ININPUT TCRIT=0.5 /", ["TCRIT = 0.5: c.ckpt.h5 is at t = 1 already"]),
    ("&INNBODY6 KSTART=6 /", ["KSTART=6", "no new run"]),
    ("3 100.\n0.1 0.1 1.5 0 5 0 0 0\n", ["c.inp:2: TADJ", "1.5 cannot be chosen", "give 0"]),
    ("3 100.\n0.1 0.1 0 2 5 0 0 0\n", ["c.inp:2: TNEXT", "2 cannot be chosen"]),
    ("3 100.\n0.1 0.1 0 0 5 0 51 0\n", ["c.inp:2: J: 51 is no number of an option"]),
    ("3 100.\n0.1 0.1 0 0 5 0 23 x\n", ["c.inp:2: KZ(J): x is no value of an option"]),
    ("3 100.\n0.1 0.1 0 0 5 0 14 2\n", ["KZ(14): cannot become 2", "galaxy"]),
    ("3 100.\n0.1 0.1 0 0 5\n", ["QE (value 6 of 8): the file ends"]),
    ("4 100.\n0.1 0.1 0 0 0 0\n", ["c.inp:2: ETAI (value 1 of 6): 0.1 is out of range"]),
    ("5 100.\n0 0 0 0 0 0 0 0\n", ["ETAI (value 1 of 6): the file ends"]),
]

# (input, what --check shows): KSTART > 1 as NBODY6++GPU means it, values that are the run's own, the restarts of NBODY6
SHOWN = [
    ("&INNBODY6 KSTART=2 /\n&ININPUT TCRIT=1 N=7 RBAR=9 /", "continues to t = 2; changes:\n  TCRIT    1 -> 2\n"),
    ("&INNBODY6 KSTART=4 /\n&ININPUT TCRIT=4 /", "continues to t = 4; changes:\n  TCRIT    1 -> 4\n"),
    ("&ININPUT N=100 NRAND=3 DTADJ=0.25 KZ(14)=1 KZ(5)=1 / &INDATA ALPHAS=2.35 BODY1=10 / &INRUN DEVICE='auto' /",
     "continues to t = 1; nothing changes\n"),
    ("&INRUN CHAIN='ar' / &ININPUT KZ(26)=0 KZ(7)=2 KZ(2)=1 /",
     "changes:\n  KZ(2)    0 -> 1\n  KZ(7)    0 -> 2\n  KZ(26)   2 -> 0\n  CHAIN    auto -> ar\n"),
    ("2 10.0\n", "changes:\n  TCOMP    0 -> 600\n"),
    ("2 0 1e6 40 40 640\n", "continues to t = 1; nothing changes\n"),
    ("3 0\n0 0 0 0 5.0 0 0 0\n", "changes:\n  TCRIT    1 -> 5\n"),
    ("3 0 0 40 40 10 0\n0 0 0 0 5.0 0 0 0 0\n", "changes:\n  TCRIT    1 -> 5\n"),
    ("4 0\n0.015 0 0 1e-4 2e-3 30\n",
     "changes:\n  NCRIT    0 -> 30\n  ETAI     0.02 -> 0.015\n  DTMIN    0 -> 0.0001\n  RMIN     0 -> 0.002\n"),
    ("3 0\n0 0 0 0 0 0 23 4\n", "changes:\n  KZ(23)   1 -> 2\n"),  # KZ(23) = 4 of NBODY6 is 2 here
]


class RestartTest(RunTest):
    def begin(self, *names, tcrit=1):
        """The same run under several names, which has come to its end."""
        for name in names:
            self.write_input(name + ".inp", tcrit=tcrit, more=MORE)
            self.run_command(name + ".inp", "--quiet")

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def changes_in(self, name):
        text = self.read(name + ".log.csv").decode()
        return re.findall(r"^# changed: (.*) from t = 1$", text, re.M)

    def rows(self, name):
        return [row for row in self.log_without_timings(name) if not row[0].startswith("#")]

    def test_changes_by_four_ways(self):
        """They are reported in the log and on stdout, act, and give the same bits by whichever way they are
        requested."""
        self.begin("a", "b", "c", "d")
        ways = {"a": ["--resume", "a.ckpt.h5", self.write("changes.inp", NAMELIST % 1)],
                "b": [self.write("b.inp", NAMELIST % 4)],
                "c": ["--out", "c", self.write("rs", POSITIONAL)],
                "d": ["--resume", "d.ckpt.h5", "rs"]}
        for name, arguments in ways.items():
            text = self.run_command(*arguments)
            self.assertEqual(self.changes_in(name), TOLD)
            for change in TOLD:
                self.assertIn("changed: " + change + "\n", text)
            self.assertEqual(self.rows(name), self.rows("a"))
            self.assertEqual([self.read(s) for s in self.snapshots(name)], [self.read(s) for s in self.snapshots("a")])
        times = [float(row[0]) for row in self.rows("a")[1:]]
        self.assertEqual(times, [0.25 * k for k in range(5)] + [1 + 0.125 * k for k in range(1, 9)])
        self.assertEqual(len(self.snapshots("a")), 7)  # t = 0, 0.5, 1, then each 0.25
        self.assertTrue(os.path.exists(self.path("a.esc.csv")))

    def test_smaller_steps(self):
        """A quarter of ETAI and ETAR halves all steps but those that are as long as can be: twice as many, within 20
        percent, which is what two different paths of 100 stars may differ by."""
        for name in "ab":
            self.write_input(name + ".inp", tcrit=1, more="KZ(16)=0")  # no pairs: their criteria depend on ETAI
            self.run_command(name + ".inp", "--quiet")
        self.run_command("--resume", "a.ckpt.h5", "--tcrit", "3", "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "--tcrit", "3", "--quiet",
                         self.write("smaller", "&ININPUT ETAI=0.005 ETAR=0.005 /"))
        steps = []
        for name in "ab":
            rows = self.rows(name)
            at = [rows[0].index(column) for column in ("steps_irr", "steps_reg")]
            steps.append([int(rows[-1][k]) - int(rows[5][k]) for k in at])
        for before, after in zip(*steps):
            self.assertGreater(after, 1.6 * before)
            self.assertLess(after, 2.4 * before)

    def test_nothing_changes(self):
        """An input that sets what the run has, or nothing, keeps the bits and adds no line to the log."""
        self.write_input("a.inp", tcrit=2, more=MORE)
        self.run_command("a.inp", "--quiet")
        for name, text in (("b", "&ININPUT /"), ("c", None)):
            self.write_input(name + ".inp", tcrit=2, more=MORE)
            self.stop_next(name)
            self.run_command(name + ".inp", "--quiet")
            self.run_command("--resume", name + ".ckpt.h5", self.write("empty", text) if text else name + ".inp", "--quiet")
            self.assert_same_run("a", name)

    def test_interrupted(self):
        """A run with changes that is stopped and resumed, with another number of threads, has the bits of one that is
        not: its first checkpoint has the changes."""
        self.begin("a", "b")
        changes = self.write("changes.inp", NAMELIST % 1)
        self.run_command("--resume", "a.ckpt.h5", changes, "--quiet")
        self.stop_next("b")
        self.run_command("--resume", "b.ckpt.h5", changes, "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "--quiet", "--threads", "3")
        self.assert_same_run("a", "b")

    def test_shown(self):
        self.begin("c")
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        for text, shown in SHOWN:
            with self.subTest(text):
                kstart = not text.startswith("&ININPUT") and not text.startswith("&INRUN")
                self.write("c.inp", text if kstart else "&INNBODY6 KSTART=3 / " + text)
                done = subprocess.run([NBODY6, "--check", "c.inp"], cwd=self.folder, capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.startswith("c.ckpt.h5, t = 1, "))
                end = "  it has reached its end; --tcrit T takes it further\n"
                self.assertTrue(done.stdout.endswith(shown) or done.stdout.endswith(shown + end), done.stdout)
        del before["c.inp"]
        self.assertEqual(before, {name: self.read(name) for name in before})
        self.assertEqual(len(os.listdir(self.folder)), len(before) + 1)

    def test_refused(self):
        self.begin("c")
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        self.assertGreater(len(REFUSED), 25)
        for text, fragments in REFUSED:
            with self.subTest(text):
                self.write("c.inp", text)
                message = self.run_command("--resume", "c.ckpt.h5", "c.inp", code=2)
                self.assertEqual(message.count("nbody6: "), 1, message)
                for fragment in fragments:
                    self.assertIn(fragment, message)
        del before["c.inp"]
        self.assertEqual(before, {name: self.read(name) for name in before})

    def test_units_of_equal_masses(self):
        """ZMBAR is a unit where the stars have equal masses; a mass function has a mean of its own."""
        self.write("a.inp", "&ININPUT N=50 ZMBAR=0.6 TCRIT=0.5 DTADJ=0.25 / &INDATA ALPHAS=1 /")
        self.run_command("a.inp", "--quiet")
        message = self.run_command("--resume", "a.ckpt.h5", self.write("c", "&ININPUT\nZMBAR=3 /"), code=2)
        self.assertIn("c:2: ZMBAR: cannot become 3 in a run that has 0.6: everything the run has written", message)

    def test_reasons_of_members_that_become_zero(self):
        """RMIN and DTMIN may be set, and changed, but a run cannot forget them."""
        self.write_input("a.inp", tcrit=0.5, more="RMIN=1e-3 DTMIN=1e-4 KZ(16)=0")
        self.run_command("a.inp", "--quiet")
        message = self.run_command("--resume", "a.ckpt.h5", self.write("c", "&ININPUT RMIN=0 TCRIT=1 /"), code=2)
        self.assertIn("RMIN: cannot become 0", message)
        self.run_command("--resume", "a.ckpt.h5", self.write("c", "&ININPUT RMIN=2e-3 TCRIT=1 /"), "--quiet")
        rows = self.rows("a")
        at = rows[0].index("r_min")
        self.assertEqual([float(rows[1][at]), float(rows[-1][at])], [1e-3, 2e-3])

    def test_which_checkpoint(self):
        """That of the name; else the only one; else the reader has to say."""
        self.write("rs", "3 0\n0 0 0 0 2.0 0 0 0\n")
        message = self.run_command("rs", code=2)
        self.assertIn("there is no rs.ckpt.h5 nor another one", message)
        self.assertIn("nbody6 --resume NAME.ckpt.h5 rs", message)
        self.begin("a")
        self.assertIn("the run of a.ckpt.h5 continues", self.run_command("rs", "--check"))
        self.begin("b")
        message = self.run_command("rs", code=2)
        self.assertIn("several others: ", message)
        self.assertIn("b.ckpt.h5", message)
        self.assertIn("the run of b.ckpt.h5 continues", self.run_command("rs", "--out", "b", "--check"))
        self.assertIn("KSTART > 1", self.run_command("rs", "--init-only", code=2))
        with open(self.path("rs")) as rs:
            done = subprocess.run([NBODY6, "--out", "a", "--quiet"], cwd=self.folder, stdin=rs, capture_output=True,
                                  text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.changes_in("a"), ["TCRIT 1 -> 2"])

    def test_to_namelist(self):
        """The namelist that is made of a restart asks for the same changes."""
        self.begin("a", "b")
        self.write("rs", POSITIONAL)
        done = subprocess.run([NBODY6, "--to-namelist", "rs"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.write("made", done.stdout)
        self.run_command("--resume", "a.ckpt.h5", "rs", "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "made", "--quiet")
        self.assert_same_run("a", "b")

    def test_command_line_stands_above(self):
        self.begin("a")
        self.run_command("--resume", "a.ckpt.h5", self.write("c", "&ININPUT TCRIT=5 /"), "--tcrit", "1.5", "--quiet")
        self.assertEqual(float(self.rows("a")[-1][0]), 1.5)


class RetryTest(RunTest):
    """KZ(2) > 1: an interval with an energy error above 5 QE is repeated with smaller steps."""

    def write_run(self, name, qe, kz2=2):
        with open(self.path(name + ".inp"), "w") as file:
            file.write("&ININPUT N=300 NRAND=2 ETAI=0.08 ETAR=0.08 DTADJ=0.25 DELTAT=0.125 TCRIT=1.5 NNBOPT=15 KZ(16)=0 "
                       "KZ(2)=%d QE=%.17g /" % (kz2, qe))

    def errors(self, name):
        """Errors of the intervals but the first, relative to the energy of the cluster."""
        rows = [row for row in self.log_without_timings(name) if not row[0].startswith("#")]
        at = rows[0].index("de_cluster_interval")
        return [abs(float(row[at])) for row in rows[2:]]

    def told(self, name):
        return [line for line in self.read(name + ".log.csv").decode().splitlines()
                if line.startswith("# again") or line.startswith("# changed")]

    def tolerance(self):
        """Two thirds of the largest error of a run are too small a tolerance, and enough for half of ETAI, with which
        a scheme of fourth order has a quarter of the error."""
        self.write_run("free", 1)
        self.run_command("free.inp", "--quiet")
        return 2 / 3 * max(self.errors("free")) / 5

    def test_goes_back(self):
        qe = self.tolerance()
        self.write_run("a", qe)
        text = self.run_command("a.inp", "--quiet")
        told = self.told("a")
        self.assertRegex(told[0], r"^# again: from t = [0-9.]+, energy error up to t = [0-9.]+$")
        back, failed = (float(t) for t in re.findall(r"t = ([0-9.]+)", told[0]))
        self.assertEqual(failed, back + 0.25)
        self.assertEqual(told[1], "# changed: ETAI 0.08 -> 0.04 from t = %.12g" % back)
        self.assertEqual(told[2], "# changed: ETAR 0.08 -> 0.04 from t = %.12g" % back)
        self.assertIn("back to t = %.12g, try 1 of 2" % back, text)
        self.assertLess(max(self.errors("a")), 5 * qe)
        times = [row[0] for row in self.log_without_timings("a") if not row[0].startswith("#")][1:]
        self.assertEqual([float(t) for t in times], [0.25 * k for k in range(7)])
        self.assertEqual(len(self.snapshots("a")), 13)
        self.assertFalse(os.path.exists(self.path("a.retry.h5")))
        self.write_run("b", qe, 1)
        self.assertIn("energy tolerance exceeded", self.run_command("b.inp", code=3))
        self.assertFalse(os.path.exists(self.path("b.retry.h5")))

    def test_same_bits_across_a_checkpoint(self):
        """Stopped at the first opportunity, and killed at random moments, the run goes back in the same way."""
        qe = self.tolerance()
        self.write_run("a", qe)
        self.run_command("a.inp", "--quiet")
        self.assertTrue(self.told("a"))
        self.write_run("b", qe)
        self.stop_next("b")
        self.run_command("b.inp", "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "--quiet", "--threads", "3")
        self.assert_same_run("a", "b")
        random.seed(1)
        self.write_run("c", qe)
        for _ in range(40):
            resumed = os.path.exists(self.path("c.ckpt.h5"))
            process = self.start_command(*(["--resume", "c.ckpt.h5"] if resumed else ["c.inp", "--overwrite"]), "--quiet",
                                         "--checkpoint-interval", "0.02")
            time.sleep(random.uniform(0.02, 0.2))
            process.kill()
            process.stdout.read()
            if process.wait(timeout=120) == 0:
                break
        else:
            self.run_command("--resume", "c.ckpt.h5", "--quiet")
        self.assert_same_run("a", "c")

    def test_ends_after_two_tries(self):
        self.write_run("a", 1e-15)
        message = self.run_command("a.inp", "--quiet", code=3)
        self.assertIn("try 2 of 2", message)
        self.assertNotIn("try 3", message)
        self.assertEqual(self.told("a"), ["# again: from t = 0, energy error up to t = 0.25",
                                          "# changed: ETAI 0.08 -> 0.02 from t = 0", "# changed: ETAR 0.08 -> 0.02 from t = 0"])
        self.assertTrue(os.path.exists(self.path("a.fault.h5")))

    def test_without_the_state(self):
        """If the state after the last adjust is gone, or is that of another run, a run ends as with KZ(2) = 1."""
        self.write_run("other", 1)
        self.stop_next("other")
        self.run_command("other.inp", "--quiet")
        for name in "ab":
            self.write_run(name, 1e-15)
            self.stop_next(name)
            self.run_command(name + ".inp", "--quiet")
        os.unlink(self.path("a.retry.h5"))
        os.replace(self.path("other.retry.h5"), self.path("b.retry.h5"))
        for name in "ab":
            message = self.run_command("--resume", name + ".ckpt.h5", "--quiet", code=3)
            self.assertNotIn("try", message.replace("retry.h5", ""))
            self.assertEqual(self.told(name), [])


if __name__ == "__main__":
    unittest.main()
