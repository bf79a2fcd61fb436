"""Shared by the tests of the nbody6 command: a small cluster, running it, comparing its files."""

import glob
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
SANITIZED = bool(os.environ.get("NB6_SANITIZED"))
NBODY6 = os.path.join(BUILD, "nbody6")

INPUT = """\
&INNBODY6 KSTART=1 /
&ININPUT N={n} NRAND=3 ETAI=0.02 ETAR=0.02 DTADJ={dtadj} DELTAT={deltat} TCRIT={tcrit} QE={qe} NNBOPT=10 {more} /
&INDATA ALPHAS=2.35 BODY1=10.0 BODYN=0.2 /
&INSCALE Q=0.5 /
"""


def test_size(full, sanitized):
    """As in tests/support/test_size.h: the second one for programs with sanitizers, which take some four times as long."""
    return sanitized if SANITIZED else full


def test_seeds(few, all_of_them):
    """As there: `make test` has a few of equal cases, `make test-long` all (tests/run-tests --whole)."""
    return all_of_them if os.environ.get("NB6_WHOLE") else few


def damage(rng, data):
    """Bytes of a file, a bytearray, are changed, removed and added at up to five places."""
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(data))
        if rng.random() < 0.6:
            data[at] = rng.randrange(256)
        elif rng.random() < 0.5:
            del data[at:at + rng.randint(1, 40)]
        else:
            data[at:at] = bytes(rng.randrange(256) for _ in range(8))


def run_for_class(test, text):
    """A run for all tests of a class: test.folder, which goes with it, has real.inp with this text and its files."""
    test.folder = tempfile.mkdtemp()
    test.addClassCleanup(shutil.rmtree, test.folder)
    with open(os.path.join(test.folder, "real.inp"), "w") as file:
        file.write(text)
    done = subprocess.run([NBODY6, "real.inp"], cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


class RunTest(unittest.TestCase):
    """Each test has a folder of its own, which is the working directory of the command."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nb6_cli_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_input(self, name="a.inp", n=100, dtadj=0.25, deltat=0.5, tcrit=2, qe=1e-2, more=""):
        with open(self.path(name), "w") as file:
            file.write(INPUT.format(n=n, dtadj=dtadj, deltat=deltat, tcrit=tcrit, qe=qe, more=more))
        return name

    def run_command(self, *arguments, code=0, folder=None, **options):
        """Runs the command to its end and returns stdout and stderr together."""
        done = subprocess.run([NBODY6, *arguments], cwd=folder or self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **options)
        self.assertEqual(done.returncode, code, "nbody6 %s:\n%s" % (" ".join(arguments), done.stdout))
        return done.stdout

    def start_command(self, *arguments, **options):
        """Starts the command and returns the process."""
        process = subprocess.Popen([NBODY6, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def kill_and_resume(self, kills, *options, interval="0.02", longest=0.25):
        """Kills a run of a.inp, named b, at random moments, and resumes it each time. Returns how often it was killed:
        fewer times than asked for if it came to its end before. `longest`: seconds from a start to a kill."""
        count = 0
        while True:
            arguments = ["a.inp", "--out", "b", "--overwrite"]
            if os.path.exists(self.path("b.ckpt.h5")):
                arguments = ["--resume", "b.ckpt.h5"]
            process = self.start_command(*arguments, "--quiet", "--checkpoint-interval", interval, *options)
            if count < kills:
                time.sleep(random.uniform(0.08 * longest, longest))
                process.kill()
            text = process.stdout.read()
            code = process.wait(timeout=120)
            if code == 0:
                return count
            self.assertEqual(code, -signal.SIGKILL, text)
            count += 1

    def wait_for_row(self, process, t):
        """Reads the table on stdout up to the row of the first adjust time not before t."""
        for line in process.stdout:
            try:
                if float(line.split()[0]) >= t:
                    return
            except (ValueError, IndexError):
                continue
        self.fail("the run ended before t = %g" % t)

    def stop_next(self, name):
        """The next session of this run stops at its first opportunity."""
        with open(self.path(name + ".STOP"), "w"):
            pass

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def snapshots(self, name="a"):
        return sorted(glob.glob(self.path(name + ".snap.*.h5")))

    def log_without_timings(self, name="a"):
        """Rows of the log up to the first column that depends on the clock."""
        lines = self.read(name + ".log.csv").decode().splitlines()
        first = lines[0].split(",").index("ns_per_pair_irr")
        return [line.split(",")[:first] for line in lines]

    def assert_same_run(self, one, other):
        """All that two runs wrote is equal byte by byte, the timings in the log excepted."""
        first, second = self.snapshots(one), self.snapshots(other)
        self.assertGreater(len(first), 1)
        self.assertEqual(len(first), len(second))
        for a, b in zip(first, second):
            with open(a, "rb") as file_a, open(b, "rb") as file_b:
                self.assertTrue(file_a.read() == file_b.read(), "%s and %s differ" % (a, b))
        self.assertEqual(self.log_without_timings(one), self.log_without_timings(other))
        self.assertEqual(self.read(one + ".events.jsonl"), self.read(other + ".events.jsonl"))
        for ending in (".esc.csv",):
            self.assertEqual(os.path.exists(self.path(one + ending)), os.path.exists(self.path(other + ending)))
            if os.path.exists(self.path(one + ending)):
                self.assertEqual(self.read(one + ending), self.read(other + ending))
