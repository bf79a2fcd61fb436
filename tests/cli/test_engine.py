"""Engines on the command line: the requested one, the chosen one, and runs that go on with the same or another one."""

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
        self.assertRegex(self.run_command("a.inp", "--check", "--engine", "device"),
                         r"\n  engine +device, which cannot run here: (there is no GPU|this program was built)")
        self.assertRegex(self.run_command("--list-devices"), r"\n  device +all bodies on a GPU: not available: t")

    def test_unknown_engine(self):
        self.write_input(n=64)
        self.assertIn("host", self.run_command("a.inp", "--engine", "wrong", code=2))  # which there are

    def test_who_is_asked_is_said(self):
        self.write_input(n=64, tcrit=0.25)
        reason = r"host \((a device is worth it from 2000 stars on|this program was built without CUDA)\)\n"
        self.assertRegex(self.run_command("a.inp", "--check"), r"engine +auto: " + reason)
        self.assertRegex(self.run_command("a.inp", "--check", "--engine", "host"), r"engine +host\n")
        self.assertRegex(self.run_command("a.inp", "--out", "c"), r"\nengine host: (a device|this program)")
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


class AutoTest(RunTest):
    """Many stars: the engine depends on the machine, and the reason is printed."""

    def test_why_not_the_device(self):
        self.write_input(n=3000)
        environment = {name: value for name, value in os.environ.items() if name not in ("GPUNB_BACKEND", "GPU_LIST")}
        is_here = re.search(r"cuda (?!.*not available)", self.run_command("--list-devices"))
        text = self.run_command("a.inp", "--check", env=environment)
        self.assertRegex(text, r"engine +auto: device \(2000 stars or more, and a GPU\)" if is_here else
                         r"engine +auto: host \((there is no GPU to use here \(.+\)|this program was built without CUDA)\)")
        if "without CUDA" in text:
            return
        text = self.run_command("a.inp", "--check", "--device", "cpu")
        self.assertRegex(text, r"engine +auto: host \(--device asks for cpu\)")
        with open(self.path("a.inp"), "a") as file:
            file.write("&INRUN PREC='double' /\n")
        self.assertRegex(self.run_command("a.inp", "--check"), r"engine +auto: host \(.*double precision")

    def test_the_engine_of_the_checkpoint_goes_on(self):
        self.write_input(n=64, tcrit=0.5)
        self.run_command("a.inp", "--quiet", "--engine", "emulated")
        text = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "0.75", "--engine", "auto")
        self.assertIn("note: the checkpoint was written with the emulated engine; with the host engine", text)
        text = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1")
        self.assertIn("engine host: as in the checkpoint", text)
        self.assertNotIn("note: the checkpoint", text)
        text = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1.25", "--device", "ref")
        self.assertRegex(text, r"\nengine host: (a device is|this program was)")
        engines = [line for line in self.read("a.log.csv").decode().splitlines() if line.startswith("# engine")]
        self.assertEqual(engines, ["# engine: emulated", "# engine: host from t = 0.5"])


class LossTest(RunTest):
    """The emulated engine loses its device when the environment says so."""

    def lose(self, name, call, *arguments, code):
        environment = dict(os.environ, NB6_DEVICE_FAULT="lost:%d" % (call + 1))
        return self.run_command("a.inp", *EMULATED[1:], "--out", name, *arguments, code=code, env=environment)

    def lose_twice(self, stop, host, call):
        """The time from which both ways go on, and what the second one said. How many blocks a call makes follows the
        clock, so that on a busy machine the same call may come at another time."""
        for _ in range(8):
            text = self.lose(stop, call, "--overwrite", code=5)
            self.assertIn("nbody6 --resume %s.ckpt.h5 --engine host continues without it from t = " % stop, text)
            t = re.search("without it from t = (.*)", text).group(1)
            text = self.lose(host, call, "--overwrite", "--on-device-loss", "host", code=0)
            from_t = re.findall(r"does not answer, as was asked for; the run continues from t = (\S+)", text)
            self.assertEqual(len(from_t), 1, text)
            if from_t[0].rstrip(".,;:") == t:
                return t, text
        self.fail("no two runs lost the device at the same time")

    def rows(self, name):
        return [row for row in self.log_without_timings(name) if not row[0].startswith("#")]

    def test_stop_and_host(self):
        self.write_input(n=200, tcrit=1)
        self.run_command("a.inp", *EMULATED)
        for call in (1, 90, 130):  # GPUNB opens its device for the engine in some 65 calls
            stop, host = "s%d" % call, "h%d" % call
            t, text = self.lose_twice(stop, host, call)
            self.assertEqual(t == "0", call == 1)
            self.assertIn("warning: the device is lost", text)
            self.assertIn("# engine: host from t = %s\n" % t, self.read(host + ".log.csv").decode())
            # The run that went on with the host agrees with one from the checkpoint; one with the engine itself lacks
            # nothing.
            shutil.copytree(self.folder, self.path("copy"))
            self.run_command("--resume", stop + ".ckpt.h5", "--quiet", folder=self.path("copy"))
            os.rename(self.path("copy", stop + ".log.csv"), self.path("again.log.csv"))
            shutil.rmtree(self.path("copy"))
            self.assertEqual(self.rows("again"), self.rows("a"))
            self.run_command("--resume", stop + ".ckpt.h5", "--quiet", "--engine", "host")
            self.assertEqual(self.rows(stop), self.rows(host))
            self.assertEqual(len(self.rows(host)), len(self.rows("a")))

    def test_namelist_and_resume(self):
        self.write_input(n=200, tcrit=1)
        with open(self.path("a.inp"), "a") as file:
            file.write("&INRUN DEVLOSS='host' /\n")
        self.assertIn("the run continues", self.lose("b", 5, code=0))
        self.assertIn("'stop', 'host'", self.run_command("a.inp", "--on-device-loss", "wrong", code=2))
        self.lose("c", 5, "--on-device-loss", "stop", code=5)
        environment = dict(os.environ, NB6_DEVICE_FAULT="lost:10")
        text = self.run_command("--resume", "c.ckpt.h5", "--on-device-loss", "host", env=environment)
        self.assertIn("the run continues", text)
        # The host wrote the last checkpoint, and is what goes on.
        self.assertIn("engine host: as in the checkpoint", self.run_command("--resume", "c.ckpt.h5", "--tcrit", "1.5"))


class HeaderTest(unittest.TestCase):
    def test_stages_are_c_plus_plus_too(self):
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if not compiler:
            self.skipTest("C++ compiler: not there")
        folder = "nbody6/engine/stages"
        headers = [folder + "/" + name for name in sorted(os.listdir(os.path.join(SOURCE, folder))) if name.endswith(".h")]
        self.assertGreater(len(headers), 4)
        text = "".join('#include "%s"\n' % name for name in headers)
        options = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I" + SOURCE, "-x", "c++", "-"]
        done = subprocess.run([compiler] + options, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
