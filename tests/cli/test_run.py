"""How a run goes and ends: threads, signals, STOP files, limits, the end at TCRIT, exit codes."""

import os
import re
import signal
import subprocess
import time
import unittest

import h5py
import numpy as np

from run_support import NBODY6, RunTest


class EndTest(RunTest):
    def times(self, name="a"):
        return np.atleast_1d(np.genfromtxt(self.path(name + ".log.csv"), delimiter=",", names=True)["t"])

    def test_ends_at_tcrit_exactly(self):
        self.write_input(tcrit=1.1, dtadj=0.25, deltat=0.5)
        self.run_command("a.inp")
        self.assertEqual(list(self.times()), [0, 0.25, 0.5, 0.75, 1.0, 1.1])
        with h5py.File(self.snapshots()[-1]) as file:
            # times are multiples of 2^-40
            self.assertLessEqual(abs(file["Header"].attrs["Time"] - 1.1), 2**-41)

    def test_intervals_that_are_no_powers_of_two(self):
        self.write_input(tcrit=1, dtadj=0.1, deltat=0.3)
        self.run_command("a.inp")
        # the log has 15 digits and times are rounded to 2^-40
        np.testing.assert_allclose(self.times(), np.arange(11) * 0.1, rtol=0, atol=2**-40)
        times = []
        for path in self.snapshots():
            with h5py.File(path) as file:
                times.append(file["Header"].attrs["Time"])
        np.testing.assert_allclose(times, [0, 0.3, 0.6, 0.9, 1.0], rtol=0, atol=2**-40)

    def test_end_in_myr(self):
        self.write_input(tcrit=50, more="RBAR=1 ZMBAR=0.5")
        with open(self.path("a.inp")) as file:
            text = file.read().replace("KSTART=1", "KSTART=1 TCRTP0=0.9")
        with open(self.path("a.inp"), "w") as file:
            file.write(text)
        self.run_command("a.inp")
        with h5py.File(self.snapshots()[-1]) as file:
            # rounding of the time to 2^-40 units
            self.assertAlmostEqual(file["nbody6"].attrs["t_myr"], 0.9, delta=1e-10)

    def test_every_nfix_th_output(self):
        self.write_input(tcrit=2.25, deltat=0.25, more="NFIX=4")
        self.run_command("a.inp")
        times = []
        for path in self.snapshots():
            with h5py.File(path) as file:
                times.append(float(file["Header"].attrs["Time"]))
        self.assertEqual(times, [0, 1, 2, 2.25])

    def test_ncrit(self):
        self.write_input(more="NCRIT=100")
        text = self.run_command("a.inp")
        self.assertIn("NCRIT = 100", text)
        self.assertEqual(list(self.times()), [0])

    def test_wall_limit(self):
        self.write_input(tcrit=1000)
        text = self.run_command("a.inp", "--wall-limit", "0.5")
        self.assertIn("wall-clock limit", text)
        self.assertIn("nbody6 --resume a.ckpt.h5", text)

    def test_energy_tolerance(self):
        self.write_input(qe=1e-13)
        text = self.run_command("a.inp", code=3)
        self.assertIn("a.fault.h5", text)
        self.assertRegex(text, r"relative energy error .* QE")
        self.assertTrue(os.path.exists(self.path("a.fault.h5")))
        with open(self.path("a.events.jsonl")) as file:
            self.assertIn('"energy_jump"', file.read())

    def test_energy_tolerance_again(self):
        """The fault file has the state before the adjust: a run resumed from it repeats the adjust, and writes it
        once."""
        self.write_input(qe=1e-13)
        self.run_command("a.inp", code=3)
        events = self.read("a.events.jsonl")
        text = self.run_command("--resume", "a.fault.h5", code=3)
        self.assertRegex(text, r"relative energy error .* QE")
        self.assertEqual(self.read("a.events.jsonl"), events)
        self.assertEqual(list(self.times()), [0, 0.25])


class ThreadsTest(RunTest):
    def test_same_bytes_with_1_2_4_threads(self):
        # enough stars that all parallel loops have work for each thread
        self.write_input(n=600, tcrit=0.5, deltat=0.25)
        for threads in ("1", "2", "4"):
            self.run_command("a.inp", "--quiet", "--out", "t" + threads, env=dict(os.environ, OMP_NUM_THREADS=threads))
        self.assert_same_run("t1", "t2")
        self.assert_same_run("t1", "t4")

    def test_seed_matters(self):
        self.write_input(n=50, tcrit=0.5)
        self.run_command("a.inp")
        with open(self.path("a.inp")) as file:
            text = file.read().replace("NRAND=3", "NRAND=4")
        with open(self.path("b.inp"), "w") as file:
            file.write(text)
        self.run_command("b.inp")
        self.assertNotEqual(self.read("a.snap.00000.h5"), self.read("b.snap.00000.h5"))


class StopTest(RunTest):
    def soft_stop(self, stop):
        """Starts a long run, stops it, and returns what it said."""
        self.write_input(tcrit=10000)
        process = self.start_command("a.inp")
        self.wait_for_row(process, 0.25)
        stop(process)
        text = process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 0, text)
        self.assertIn("nbody6 --resume a.ckpt.h5", text)
        self.assertTrue(os.path.exists(self.path("a.ckpt.h5")))
        return text

    def touch(self, name):
        with open(self.path(name), "w"):
            pass

    def test_signals(self):
        # Under nohup the program would rightly ignore SIGHUP.
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_DFL))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                text = self.soft_stop(lambda process: process.send_signal(number))
                self.assertIn(number.name, text)
                for name in os.listdir(self.folder):
                    os.unlink(self.path(name))

    def test_stop_file(self):
        text = self.soft_stop(lambda process: self.touch("STOP"))
        self.assertIn("STOP was found", text)
        self.assertFalse(os.path.exists(self.path("STOP")))

    def test_stop_file_of_one_run(self):
        text = self.soft_stop(lambda process: self.touch("a.STOP"))
        self.assertIn("a.STOP was found", text)
        self.assertFalse(os.path.exists(self.path("a.STOP")))

    def test_signals_that_come_together_are_one_request(self):
        def stop(process):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
            process.send_signal(signal.SIGTERM)
        self.assertIn("SIGTERM", self.soft_stop(stop))

    def test_under_timeout(self):
        # timeout(1) sends its signal to the command, and to the group that both are in.
        self.write_input(tcrit=10000)
        done = subprocess.run(["timeout", "2", NBODY6, "a.inp"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 124)
        self.assertIn("nbody6 --resume a.ckpt.h5", done.stdout + done.stderr)


class RefusalTest(RunTest):
    def test_files_of_an_earlier_run(self):
        self.write_input(tcrit=0.5)
        self.run_command("a.inp")
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        text = self.run_command("a.inp", code=2)
        self.assertIn("a.log.csv", text)
        self.assertIn("--overwrite", text)
        self.assertEqual(before, {name: self.read(name) for name in os.listdir(self.folder)})
        self.write_input(tcrit=0.25)
        self.run_command("a.inp", "--overwrite")
        self.assertEqual(len(self.snapshots()), 2)
        self.assertEqual(self.read("a.snap.00000.h5"), before["a.snap.00000.h5"])

    def test_no_folder(self):
        self.write_input()
        text = self.run_command("a.inp", "--out", "no/such/a", code=4)
        self.assertIn("no/such", text)
        self.assertEqual(os.listdir(self.folder), ["a.inp"])

    def test_unavailable_device(self):
        regular = self.run_command("--list-devices").split("irregular force")[0]
        missing = re.findall(r"^  (\w+) .*not available", regular, re.M)
        if not missing:
            self.skipTest("all backends are available on this machine")
        self.write_input()
        text = self.run_command("a.inp", "--device", missing[0], code=5)
        self.assertIn(missing[0], text)
        self.assertIn("--device cpu", text)
        self.assertEqual(os.listdir(self.folder), ["a.inp"])


class InitOnlyTest(RunTest):
    def test_snapshot_and_table(self):
        self.write_input(n=50)
        self.run_command("a.inp", "--init-only")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.dat10", "a.init.h5", "a.inp"])
        table = np.loadtxt(self.path("a.dat10"))
        self.assertEqual(table.shape, (50, 7))
        with h5py.File(self.path("a.init.h5")) as file:
            stars = file["PartType4"]
            np.testing.assert_array_equal(stars["Masses"][...], table[:, 0])
            np.testing.assert_array_equal(stars["Coordinates"][...], table[:, 1:4])
            np.testing.assert_array_equal(stars["Velocities"][...], table[:, 4:7])
        text = self.run_command("a.inp", "--init-only", code=2)
        self.assertIn("--overwrite", text)
        self.run_command("a.inp", "--init-only", "--overwrite")

    def test_is_what_a_run_starts_from(self):
        self.write_input(n=50, tcrit=0.25)
        self.run_command("a.inp", "--init-only")
        self.run_command("a.inp")
        with h5py.File(self.path("a.init.h5")) as model, h5py.File(self.path("a.snap.00000.h5")) as start:
            for name in ("Coordinates", "Velocities", "Masses", "ParticleIDs"):
                np.testing.assert_array_equal(model["PartType4"][name][...], start["PartType4"][name][...])


if __name__ == "__main__":
    unittest.main()
