"""The run that files belong to: its id in all of them, files of another run refused, one writer for a name."""

import fcntl
import json
import os
import re
import shutil
import socket
import unittest

import h5py

from run_support import RunTest

EVERYTHING = "RBAR=5 ZMBAR=0.5 KZ(14)=1 KZ(23)=2"


class IdTest(RunTest):
    def two_runs(self):
        """Runs a and b of two seeds, stopped at the beginning and resumed once."""
        self.write_input("a.inp", n=60, tcrit=1, more=EVERYTHING)
        with open(self.path("a.inp")) as file:
            text = file.read().replace("NRAND=3", "NRAND=4")
        with open(self.path("b.inp"), "w") as file:
            file.write(text)
        for name in "ab":
            self.stop_next(name)
            self.run_command(name + ".inp", "--quiet")
            self.run_command("--resume", name + ".ckpt.h5", "--tcrit", "0.5", "--quiet")

    def ids(self, name):
        """File and id of all that a run wrote."""
        found = {}
        for ending in (".log.csv", ".esc.csv"):
            with open(self.path(name + ending)) as file:
                found[name + ending] = re.fullmatch("# run: ([0-9a-f]{16})", file.read().splitlines()[2]).group(1)
        with open(self.path(name + ".events.jsonl")) as file:
            first = json.loads(file.readline())
        self.assertEqual((first["t"], first["event"]), (0, "run"))
        found[name + ".events.jsonl"] = first["id"]
        for path in self.snapshots(name) + [self.path(name + ".ckpt.h5"), self.path(name + ".ckpt.prev.h5")]:
            with h5py.File(path) as file:
                found[os.path.basename(path)] = file["nbody6"].attrs["run"].decode()
        return found

    def everything(self):
        return {name: self.read(name) for name in os.listdir(self.folder)}

    def assert_refused(self, *texts, checkpoint="a.ckpt.h5", options=()):
        """Exit code 2, these texts, and nothing has changed."""
        before = self.everything()
        text = self.run_command("--resume", checkpoint, "--tcrit", "1", *options, code=2)
        for expected in texts + ("nothing was changed",):
            self.assertIn(expected, text)
        self.assertEqual(before, self.everything())

    def test_one_id_in_all_files_of_a_run(self):
        self.two_runs()
        a, b = self.ids("a"), self.ids("b")
        self.assertEqual(len(a), 7)
        self.assertEqual(len(set(a.values())), 1)
        self.assertEqual(len(set(b.values())), 1)
        self.assertNotEqual(set(a.values()), set(b.values()))

    def test_depends_on_what_is_computed_only(self):
        self.two_runs()
        a = self.ids("a")["a.log.csv"]
        self.write_input("c.inp", n=60, tcrit=0.25, more=EVERYTHING + " KZ(2)=1")
        self.run_command("c.inp", "--quiet", "--threads", "2")
        self.assertEqual(self.ids("c")["c.log.csv"], a)
        for more in ("ETAU=0.1", "GMIN=1e-5", "KZ(16)=0"):
            self.write_input("d.inp", n=60, tcrit=0.25, more=EVERYTHING + " " + more)
            self.run_command("d.inp", "--quiet", "--overwrite")
            self.assertNotEqual(self.ids("d")["d.log.csv"], a, more)
        self.run_command("c.inp", "--quiet", "--overwrite", "--irr-backend", "ref")
        self.assertNotEqual(self.ids("c")["c.log.csv"], a)

    def test_checkpoint_of_another_run_in_place(self):
        self.two_runs()
        a, b = self.ids("a")["a.log.csv"], self.ids("b")["b.log.csv"]
        shutil.copy(self.path("b.ckpt.h5"), self.path("a.ckpt.h5"))
        self.assert_refused("a.log.csv belongs to run " + a, "a.ckpt.h5 to run " + b, "--out NAME")
        self.assert_refused("a.ckpt.h5 belongs to run " + b, checkpoint="a.ckpt.prev.h5")

    def test_each_file_of_another_run(self):
        self.two_runs()
        for ending in (".log.csv", ".esc.csv", ".events.jsonl", ".snap.00001.h5", ".ckpt.prev.h5"):
            with self.subTest(ending):
                mine = self.read("a" + ending)
                shutil.copy(self.path("b" + ending), self.path("a" + ending))
                self.assert_refused("a%s belongs to run " % ending)
                with open(self.path("a" + ending), "wb") as file:
                    file.write(mine)
        shutil.copy(self.path("b.ckpt.h5"), self.path("a.fault.h5"))
        self.assert_refused("a.fault.h5 belongs to run ")
        os.unlink(self.path("a.fault.h5"))
        self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1")

    def test_snapshot_beyond_the_checkpoint(self):
        self.two_runs()
        shutil.copy(self.path("b.snap.00001.h5"), self.path("a.snap.00031.h5"))
        self.assert_refused("a.snap.00031.h5 belongs to run ")

    def test_files_of_no_run(self):
        self.two_runs()
        for ending, text in ((".log.csv", b"t,n\n# units: time,1\n0,60\n"),
                             (".events.jsonl", b'{"t": 0, "event": "x"}\n')):
            with self.subTest(ending):
                mine = self.read("a" + ending)
                with open(self.path("a" + ending), "wb") as file:
                    file.write(text)
                self.assert_refused("a%s belongs to no run that is known" % ending)
                with open(self.path("a" + ending), "wb") as file:
                    file.write(mine)
        with open(self.path("a.snap.00031.h5"), "wb") as file:
            file.write(b"no HDF5 at all")
        self.assert_refused("a.snap.00031.h5", "move that file away")

    def test_under_the_name_of_another_run(self):
        self.two_runs()
        self.assert_refused("b.log.csv belongs to run ", options=("--out", "b"))

    def test_files_that_are_gone_or_empty(self):
        self.two_runs()
        os.unlink(self.path("a.log.csv"))
        with open(self.path("a.events.jsonl"), "w"):
            pass
        os.unlink(self.path("a.ckpt.prev.h5"))
        self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1", "--quiet")
        with open(self.path("a.events.jsonl")) as file:
            self.assertEqual(json.loads(file.readline())["event"], "run")
        self.assertIn("# run: ", self.read("a.log.csv").decode())


class LockTest(RunTest):
    def running(self):
        self.write_input(n=60, tcrit=1e5, more="KZ(3)=0")
        process = self.start_command("a.inp")
        self.wait_for_row(process, 0.5)
        return process

    def end(self, process, code=0):
        if code == 0:
            process.terminate()
        else:
            process.kill()
        process.stdout.read()
        self.assertEqual(process.wait(timeout=60), code)

    def test_second_run_of_a_name(self):
        process = self.running()
        expected = "process %d on %s writes" % (process.pid, socket.gethostname())
        for arguments in (("a.inp",), ("a.inp", "--overwrite"), ("--resume", "a.ckpt.h5"), ("a.inp", "--out", "./a")):
            text = self.run_command(*arguments, code=2)
            self.assertIn("a.lock: " + expected, text)
            self.assertIn("--out NAME", text)
        self.run_command("a.inp", "--out", "b", "--tcrit", "0.5", "--quiet")
        self.run_command("--resume", "a.ckpt.h5", "--out", "c", "--tcrit", "0.5", "--quiet")
        self.end(process)
        self.assertEqual([name for name in os.listdir(self.folder) if "lock" in name], [])

    def test_killed(self):
        process = self.running()
        self.end(process, -9)
        self.assertTrue(os.path.exists(self.path("a.lock")))
        self.stop_next("a")
        self.run_command("--resume", "a.ckpt.h5", "--quiet")
        self.assertFalse(os.path.exists(self.path("a.lock")))

    def test_stale_file_and_foreign_holder(self):
        self.write_input(tcrit=0.25)
        with open(self.path("a.lock"), "w") as file:
            file.write("process %d on %s\n" % (os.getpid(), socket.gethostname()))
        self.run_command("a.inp", "--quiet")  # that this process lives does not matter
        with open(self.path("a.lock"), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = self.run_command("a.inp", "--overwrite", code=2)  # one without a process number
            self.assertIn("a.lock: another process writes", text)
        self.run_command("a.inp", "--quiet", "--overwrite")

    def test_refused_run_leaves_no_lock(self):
        self.write_input(tcrit=0.25)
        self.run_command("a.inp", "--quiet")
        self.run_command("a.inp", code=2)
        self.run_command("--resume", "a.ckpt.h5")
        self.assertFalse(os.path.exists(self.path("a.lock")))


if __name__ == "__main__":
    unittest.main()
