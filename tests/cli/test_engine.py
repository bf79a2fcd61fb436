"""Engines on the command line: who is asked for, who answers, and runs that go on with the same or another one."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from run_support import RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMULATED = ("--quiet", "--engine", "emulated")


class EngineTest(RunTest):
    def engine_of(self, name):
        return self.read(name + ".log.csv").decode().splitlines()[3]

    def energy(self, name):
        lines = [line for line in self.read(name + ".log.csv").decode().splitlines() if not line.startswith("#")]
        return float(lines[-1].split(",")[lines[0].split(",").index("de_cluster")])

    def test_a_device_that_is_not_there(self):
        self.write_input(n=64)
        if not re.search(r"cuda .*not available", self.run_command("--list-devices")):
            self.skipTest("there is a GPU on this machine")
        text = self.run_command("a.inp", "--engine", "device", code=5)
        self.assertIn("--engine host", text)
        self.assertNotIn("--device cpu does", text)

    def test_unknown_engine(self):
        self.write_input(n=64)
        self.assertIn("host", self.run_command("a.inp", "--engine", "wrong", code=2))  # which there are

    def test_who_is_asked_is_said(self):
        self.write_input(n=64, tcrit=0.25)
        self.assertRegex(self.run_command("a.inp", "--check"), r"engine +host\n")
        self.assertRegex(self.run_command("a.inp", "--check", "--engine", "auto"), r"engine +auto: host\n")
        with open(self.path("a.inp"), "a") as file:
            file.write("&INRUN ENGINE='emulated' /\n")
        self.assertRegex(self.run_command("a.inp", "--check"), r"engine +emulated\n")
        self.assertIn("emulated engine", self.run_command("a.inp"))
        self.assertEqual(self.engine_of("a"), "# engine: emulated")
        self.run_command("a.inp", "--engine", "host", "--out", "b")
        self.assertEqual(self.engine_of("b"), "# engine: host")

    def test_killed_and_resumed(self):
        random.seed(4)
        self.write_input(n=300, tcrit=2, dtadj=0.125, deltat=0.25)
        self.run_command("a.inp", *EMULATED)
        events = [json.loads(line)["event"] for line in self.read("a.events.jsonl").splitlines()]
        self.assertIn("pair_formed", events)  # or the state has never moved
        for k in range(5):
            first = ["a.inp", "--out", "b"] if k == 0 else ["--resume", "b.ckpt.h5"]
            process = self.start_command(*first, *EMULATED, "--checkpoint-interval", "0.01")
            self.wait_for_checkpoint(process, "b")
            process.send_signal(signal.SIGKILL if k % 2 else signal.SIGTERM)
            process.stdout.read()
            self.assertIn(process.wait(timeout=60), (0, -signal.SIGKILL))
        self.run_command("--resume", "b.ckpt.h5", "--quiet")
        self.assert_same_run("a", "b")

    def wait_for_checkpoint(self, process, name):
        path = self.path(name + ".ckpt.h5")
        before = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
        while process.poll() is None and (not os.path.exists(path) or os.stat(path).st_mtime_ns == before):
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.1))

    def test_the_other_engine_goes_on(self):
        self.write_input(n=200, tcrit=2)
        for name, first, then in (("b", "emulated", "host"), ("c", "host", "emulated")):
            self.run_command("a.inp", "--quiet", "--out", name, "--engine", first, "--tcrit", "0.6")
            text = self.run_command("--resume", name + ".ckpt.h5", "--engine", then, "--tcrit", "2")
            self.assertIn("with the %s engine the last bits differ" % then, text)
            # Either engine alone loses less than that here.
            self.assertLess(abs(self.energy(name)), 1e-5)


class HeaderTest(unittest.TestCase):
    def test_stages_are_c_plus_plus_too(self):
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if not compiler:
            self.skipTest("C++ compiler: not there")
        headers = ["nbody6/step/" + name for name in sorted(os.listdir(os.path.join(SOURCE, "nbody6", "step")))
                   if re.match(r"dev_(?!image).*\.h$", name)]
        self.assertGreater(len(headers), 4)
        text = "".join('#include "%s"\n' % name for name in headers)
        options = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I" + SOURCE, "-x", "c++", "-"]
        done = subprocess.run([compiler] + options, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
