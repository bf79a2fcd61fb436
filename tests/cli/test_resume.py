"""Resuming: after any kind of stop a resumed run writes the files of an uninterrupted one, byte by byte."""

import os
import random
import resource
import shutil
import signal
import subprocess
import unittest

from run_support import NBODY6, RunTest, test_seeds

# A cluster larger than its tidal radius loses stars at once: all that a run can write is written.
EVERYTHING = "RBAR=5 ZMBAR=0.5 KZ(14)=1 KZ(23)=2"


class KillTest(RunTest):
    def test_kills(self):
        most = test_seeds(8, 20)
        random.seed(20)
        self.write_input(n=150, tcrit=4, dtadj=0.125, deltat=0.25, more=EVERYTHING)
        self.run_command("a.inp", "--quiet")
        kills = 0
        while kills < most:  # a fast machine ends the run before it is killed often enough: then again
            for name in os.listdir(self.folder):
                if name.startswith("b."):
                    os.unlink(self.path(name))
            kills += self.kill_and_resume(most - kills)
            self.assert_same_run("a", "b")


class StopTest(RunTest):
    def stop_and_resume(self, stop, **options):
        self.write_input(n=120, tcrit=3, dtadj=0.125, deltat=0.25, more=EVERYTHING)
        self.run_command("a.inp", "--quiet")
        process = self.start_command("a.inp", "--out", "b")
        self.wait_for_row(process, 0.5)
        stop(process)
        process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 0)
        self.run_command("--resume", "b.ckpt.h5", **options)
        self.assert_same_run("a", "b")
        self.assertGreater(len(self.read("a.esc.csv").splitlines()), 3)  # or less was tested than meant

    def test_signal(self):
        self.stop_and_resume(lambda process: process.send_signal(signal.SIGTERM))

    def test_signals_of_batch_systems(self):
        """The message names each signal, and the run goes on from a checkpoint, with the exit code of a run that
        stops."""
        for number in signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2:
            with self.subTest(signal=number.name):
                self.write_input(n=20, tcrit=1e4, dtadj=0.25)
                process = self.start_command("a.inp", "--overwrite")
                self.wait_for_row(process, 0.25)
                process.send_signal(number)
                text = process.stdout.read()
                self.assertEqual(process.wait(timeout=60), 0, text)
                self.assertIn("stopped: %s came; continue with nbody6 --resume a.ckpt.h5" % number.name, text)
                self.assertTrue(os.path.exists(self.path("a.ckpt.h5")))

    def test_limit_of_processor_time(self):
        """The kernel repeats SIGXCPU every second; a softened run ends as others do."""
        program = NBODY6 + "-collisionless"
        with open(self.path("s.inp"), "w") as file:
            file.write("&ININPUT N=100 DTADJ=1 DELTAT=100 TCRIT=100000 QE=1e9 /\n"
                       "&INCOLLISIONLESS SOFTENING=0.1 DT=0.0625 /\n")
        done = subprocess.run([program, "s.inp"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 20)))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("stopped: SIGXCPU came", done.stdout)
        self.assertTrue(os.path.exists(self.path("s.ckpt.h5")))

    def test_ignored_signals_stay_ignored(self):
        self.write_input(n=20, tcrit=4, dtadj=0.25)
        for number in signal.SIGINT, signal.SIGUSR1:
            process = self.start_command("a.inp", "--overwrite",
                                         preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN))
            self.wait_for_row(process, 0.25)
            process.send_signal(number)
            self.assertIn("done: the end of the run is reached", process.stdout.read())
            self.assertEqual(process.wait(timeout=60), 0)

    def test_stop_file(self):
        def touch(process):
            with open(self.path("STOP"), "w"):
                pass
        self.stop_and_resume(touch)

    def test_with_another_number_of_threads(self):
        self.stop_and_resume(lambda process: process.send_signal(signal.SIGINT),
                             env=dict(os.environ, OMP_NUM_THREADS="3"))

    def test_wall_limit_counts_for_one_session(self):
        self.write_input(n=120, tcrit=1, more=EVERYTHING)
        self.run_command("a.inp", "--quiet")
        self.run_command("a.inp", "--out", "b", "--wall-limit", "1e-9")
        for _ in range(3):
            self.run_command("--resume", "b.ckpt.h5", "--wall-limit", "1e-9")
        self.run_command("--resume", "b.ckpt.h5", "--wall-limit", "1000")
        self.assert_same_run("a", "b")


class ExtendTest(RunTest):
    def test_later_end(self):
        self.write_input("a.inp", n=100, tcrit=2, dtadj=0.25, deltat=0.5, more=EVERYTHING)
        self.write_input("b.inp", n=100, tcrit=1, dtadj=0.25, deltat=0.5, more=EVERYTHING)
        self.run_command("a.inp", "--quiet")
        self.run_command("b.inp", "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "--tcrit", "2")
        self.assert_same_run("a", "b")

    def test_end_between_two_adjusts(self):
        """A last adjust out of turn must not change what follows."""
        self.write_input("a.inp", n=100, tcrit=2, dtadj=0.25, deltat=0.5)
        self.write_input("b.inp", n=100, tcrit=1.1, dtadj=0.25, deltat=0.5)
        self.run_command("a.inp", "--quiet")
        self.run_command("b.inp", "--quiet")
        self.run_command("--resume", "b.ckpt.h5", "--tcrit", "2")
        rows = [row for row in self.log_without_timings("b") if row[0] != "1.1"]
        self.assertEqual(rows, self.log_without_timings("a"))

    def test_nothing_left_to_do(self):
        self.write_input(tcrit=0.5)
        self.run_command("a.inp")
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        text = self.run_command("--resume", "a.ckpt.h5")
        self.assertIn("--tcrit", text)
        text = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "0.25", code=2)
        self.assertIn("0.25", text)
        text = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1e300", code=2)
        self.assertIn("--tcrit: 1e+300 is out of range; the latest time is 8e+06", text)
        self.assertEqual(before, {name: self.read(name) for name in os.listdir(self.folder)})


class PlaceTest(RunTest):
    def stopped_run(self):
        self.write_input(n=60, tcrit=1)
        self.run_command("a.inp", "--quiet")
        self.stop_next("b")
        self.run_command("a.inp", "--out", "b", "--quiet")

    def test_files_stay_beside_the_checkpoint(self):
        self.stopped_run()
        os.mkdir(self.path("elsewhere"))
        self.run_command("--resume", "../b.ckpt.h5", folder=self.path("elsewhere"))
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        self.assert_same_run("a", "b")

    def test_moved_and_renamed(self):
        self.stopped_run()
        for name in os.listdir(self.folder):
            if name.startswith("b."):
                os.rename(self.path(name), self.path("c" + name[1:]))
        self.run_command("--resume", "c.ckpt.h5")
        self.assert_same_run("a", "c")

    def test_under_a_new_name(self):
        self.stopped_run()
        before = self.read("b.ckpt.h5")
        text = self.run_command("--resume", "b.ckpt.h5", "--out", "c")
        self.assertIn("c.log.csv has 0 bytes", text)
        self.assertEqual(self.read("a.snap.00002.h5"), self.read("c.snap.00002.h5"))
        self.assertEqual(self.read("b.ckpt.h5"), before)


class DamageTest(RunTest):
    def two_checkpoints(self):
        """A run b that stopped twice, so that it has two different checkpoints; a is the uninterrupted one."""
        self.write_input(n=60, tcrit=1)
        self.run_command("a.inp", "--quiet")
        self.stop_next("b")
        self.run_command("a.inp", "--out", "b", "--quiet")
        self.stop_next("b")
        self.run_command("--resume", "b.ckpt.h5", "--quiet")
        self.assertNotEqual(self.read("b.ckpt.h5"), self.read("b.ckpt.prev.h5"))

    def resume_from_previous(self):
        text = self.run_command("--resume", "b.ckpt.h5", code=4)
        self.assertIn("resume from b.ckpt.prev.h5 instead", text)
        self.run_command("--resume", "b.ckpt.prev.h5")
        self.assert_same_run("a", "b")
        self.run_command("--resume", "b.ckpt.h5")  # a good one again

    def test_truncated(self):
        self.two_checkpoints()
        os.truncate(self.path("b.ckpt.h5"), os.path.getsize(self.path("b.ckpt.h5")) // 2)
        self.resume_from_previous()

    def test_corrupted(self):
        self.two_checkpoints()
        data = bytearray(self.read("b.ckpt.h5"))
        data[len(data) // 2] ^= 1
        with open(self.path("b.ckpt.h5"), "wb") as file:
            file.write(data)
        self.resume_from_previous()

    def test_missing(self):
        self.two_checkpoints()
        os.unlink(self.path("b.ckpt.h5"))
        self.resume_from_previous()

    def test_not_a_checkpoint(self):
        self.write_input(tcrit=0.5)
        self.run_command("a.inp", "--quiet")
        self.assertIn("snapshot", self.run_command("--resume", "a.snap.00000.h5", code=4))
        self.assertIn("not a checkpoint", self.run_command("--resume", "a.log.csv", code=4))
        self.assertIn("not a checkpoint", self.run_command("--resume", "a.inp", code=4))  # which is shorter than a seal
        self.assertIn("not a regular file", self.run_command("--resume", ".", code=4))
        self.assertIn("No such file", self.run_command("--resume", "nothing.ckpt.h5", code=4))


class DiskTest(RunTest):
    def limited(self, bytes_):
        """A file may not grow beyond this length, as on a full disk."""
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, resource.RLIM_INFINITY))

    def test_no_room_for_a_checkpoint(self):
        self.write_input(n=100, tcrit=1)
        self.run_command("a.inp", "--quiet")
        self.stop_next("b")
        self.run_command("a.inp", "--out", "b", "--quiet")
        good = self.read("b.ckpt.h5")
        self.assertGreater(len(good), os.path.getsize(self.path("a.snap.00000.h5")))
        text = self.run_command("--resume", "b.ckpt.h5", code=4, preexec_fn=self.limited(len(good) - 3000))
        self.assertIn("b.ckpt.h5: cannot write: File too large", text)
        self.assertIn("can be resumed", text)
        self.assertEqual(self.read("b.ckpt.h5"), good)
        self.assertFalse([name for name in os.listdir(self.folder) if ".tmp" in name])
        self.run_command("--resume", "b.ckpt.h5")
        self.assert_same_run("a", "b")

    def test_no_room_for_a_snapshot_or_a_row(self):
        self.write_input(n=100, tcrit=1, more="KZ(16)=0")  # no events before the first row
        self.run_command("a.inp", "--quiet")
        self.stop_next("b")
        self.run_command("a.inp", "--out", "b", "--quiet")
        for bytes_, name in ((20000, "b.snap.00001.h5"), (2500, "b.log.csv")):
            text = self.run_command("--resume", "b.ckpt.h5", code=4, preexec_fn=self.limited(bytes_))
            self.assertIn(name + ": cannot write: File too large", text)
            self.assertIn("the checkpoint b.ckpt.h5 of t = 0 can be resumed", text)
        self.run_command("--resume", "b.ckpt.h5")
        self.assert_same_run("a", "b")

    def test_full_disk(self):
        """A real file system that fills up; needs the right to mount one."""
        disk = self.path("disk")
        os.mkdir(disk)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk],
                                               stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("cannot mount a small file system")
        try:
            self.write_input(n=100, tcrit=4, deltat=0.25, dtadj=0.25)
            text = self.run_command("a.inp", "--quiet", "--out", "disk/b", code=4)
            self.assertIn("No space left on device", text)
            self.assertIn("disk/b.ckpt.h5", text)
            self.assertFalse([name for name in os.listdir(disk) if ".tmp" in name])
            self.run_command("a.inp", "--quiet")
            for name in os.listdir(disk):
                shutil.copy(os.path.join(disk, name), self.path(name))
            self.run_command("--resume", "b.ckpt.h5")
            self.assert_same_run("a", "b")
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    unittest.main()
