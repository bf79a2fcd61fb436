"""`nbody6 --status` reports the state of runs, and how to go on; its advice works."""

import os
import shlex
import signal
import subprocess
import time
import unittest

from run_support import NBODY6, RunTest


class StatusTest(RunTest):
    def status(self, *where, **options):
        return self.run_command("--status", *where, **options)

    def advised(self, text):
        """The command in the last line of advice."""
        line = [line for line in text.splitlines() if "--resume" in line][-1]
        return shlex.split(line.split(": nbody6 ", 1)[1])

    def start_long(self):
        """A run that goes on until it is stopped, with a checkpoint behind it and rows after that."""
        self.write_input("long.inp", n=64, tcrit=1e5, dtadj=0.125)
        process = self.start_command("long.inp", "--checkpoint-interval", "0.1")
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path("long.ckpt.prev.h5")) and time.monotonic() < deadline:
            process.stdout.readline()
        return process

    def test_finished(self):
        self.write_input(n=64, tcrit=0.5)
        self.run_command("a.inp", "--quiet")
        text = self.status()
        self.assertRegex(text, r"\Aa: finished at t = 0\.5 of 0\.5 \(1\.\d+ Myr\), N = 64, dE/E = \S+ at t = 0\.5\n")
        self.assertEqual(self.status(self.folder), text.replace("a.ckpt", self.path("a.ckpt")).replace(
            "a: finished", self.path("a") + ": finished"))
        command = self.advised(self.status("a"))
        self.assertEqual(command[-2:], ["--tcrit", "T"])
        self.run_command(*command[:-1], "0.75", "--quiet")
        self.assertIn("finished at t = 0.75 of 0.75", self.status("a"))

    def test_stopped(self):
        self.write_input(n=64, tcrit=0.5)
        self.stop_next("a")
        self.run_command("a.inp", "--quiet")
        text = self.status()
        self.assertRegex(text, r"\Aa: stopped at t = \S+ of 0\.5")
        self.run_command(*self.advised(text), "--quiet")
        self.assertIn("a: finished", self.status())

    def test_stopped_by_ncrit(self):
        self.write_input(n=64, tcrit=0.5, more="NCRIT=64")
        self.run_command("a.inp", "--quiet")
        self.assertIn("N has fallen to NCRIT = 64", self.status())

    def test_running_then_killed(self):
        process = self.start_long()
        text = self.status()
        self.assertRegex(text, r"\Along: running, process %d on \S+, at t = " % process.pid)
        self.assertIn("touch long.STOP", text)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        text = self.status()
        self.assertRegex(text, r"\Along: failed at t = ")
        self.assertIn("process %d on " % process.pid, text)
        self.assertIn("ended without a word", text)
        os.truncate(self.path("long.ckpt.h5"), 100)
        text = self.status()
        self.assertIn("long.ckpt.h5: truncated", text)
        self.stop_next("long")
        self.run_command(*self.advised(text), "--quiet")
        self.assertIn("long: stopped at t = ", self.status())

    def test_energy(self):
        self.write_input(n=64, tcrit=0.5, qe=1e-12)
        self.run_command("a.inp", "--quiet", code=3)
        text = self.status()
        self.assertRegex(text, r"\Aa: failed at t = 0\.25 of 0\.5")
        self.assertRegex(text, r"the interval up to t = 0\.25, \S+, is above 5 QE = 5e-12")
        self.assertIn("1 interval with an energy error above QE", text)
        with open(self.path("b.inp"), "w") as file:
            file.write("&ININPUT QE=1 /\n")
        self.run_command(*self.advised(text), "b.inp", "--quiet")
        self.assertIn("a: finished", self.status())

    def test_no_checkpoint(self):
        self.write_input(n=64, tcrit=0.5)
        self.run_command("a.inp", "--quiet")
        os.remove(self.path("a.ckpt.h5"))
        os.remove(self.path("a.ckpt.prev.h5"))
        text = self.status()
        self.assertIn("a: failed at t = 0.5", text)
        self.assertIn("begins anew", text)

    def test_several_runs_in_order(self):
        self.write_input(n=64, tcrit=0.25)
        for name in ("c", "b"):
            self.run_command("a.inp", "--quiet", "--out", name)
        with open(self.path("other.lock"), "w") as file:
            file.write("of a package manager\n")
        with open(self.path("other.log.csv"), "w") as file:
            file.write("t,x\n1,2\n")
        heads = [line for line in self.status().splitlines() if not line.startswith(" ")]
        self.assertEqual([line.split(":")[0] for line in heads], ["b", "c"])

    def test_nothing_is_changed(self):
        self.write_input(n=64, tcrit=0.25)
        self.run_command("a.inp", "--quiet")
        before = {name: os.stat(self.path(name)) for name in os.listdir(self.folder)}
        self.status()
        after = {name: os.stat(self.path(name)) for name in os.listdir(self.folder)}
        self.assertEqual({name: (s.st_mtime_ns, s.st_size) for name, s in before.items()},
                         {name: (s.st_mtime_ns, s.st_size) for name, s in after.items()})

    def test_no_run(self):
        for arguments, words in (((), "no run in this folder"), (("nowhere",), "no such folder"),
                                 (("a", "b"), "one folder")):
            with self.subTest(arguments):
                done = subprocess.run([NBODY6, "--status", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
