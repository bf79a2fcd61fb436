"""Names that are links: no file outside of the run is followed, truncated or removed."""

import os
import socket
import stat
import subprocess
import sys
import unittest

from run_support import BUILD, NBODY6, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLLISIONLESS = os.path.join(BUILD, "nbody6-collisionless")
SOFTENED = "&ININPUT N=50 DTADJ=0.25 DELTAT=0.5 TCRIT=1 QE=1e-2 /\n&INCOLLISIONLESS SOFTENING=0.1 DT=0.125 /\n"
PRECIOUS = b"years of work\n"


class LinkTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write_input(n=20, tcrit=0.5, more="KZ(2)=2 KZ(23)=2 RBAR=1 ZMBAR=0.5 KZ(14)=1")
        with open(self.path("s.inp"), "w") as file:
            file.write(SOFTENED)
        with open(self.path("precious"), "wb") as file:
            file.write(PRECIOUS)

    def link(self, *names):
        for name in names:
            os.symlink("precious", self.path(name))

    def run_softened(self, *arguments, code=0):
        done = subprocess.run([COLLISIONLESS, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_temporary_names(self):
        """Names that could be foreseen lead to a file: it stays, and so do the links."""
        names = ["%s.%s.tmp" % (run, name) for run in "as" for name in
                 ("ckpt.h5", "ckpt.prev.h5", "snap.00000.h5", "snap.00001.h5", "fault.h5", "retry.h5", "init.h5", "dat10")]
        self.link(*names)
        self.run_command("a.inp", "--quiet")
        self.run_command("--resume", "a.ckpt.h5", "--tcrit", "1", "--quiet")
        self.run_command("--init-only", "a.inp", "--quiet")
        self.run_softened("s.inp", "--quiet")
        self.write_input(n=20, tcrit=0.5, qe=1e-12)
        self.run_command("a.inp", "--quiet", "--overwrite", code=3)
        self.assertTrue(os.path.exists(self.path("a.fault.h5")))
        self.assertEqual(self.read("precious"), PRECIOUS)
        for name in names:
            self.assertTrue(os.path.islink(self.path(name)), name)
        self.assertFalse([name for name in os.listdir(self.folder) if ".tmp-" in name])

    def test_lock(self):
        for name in "a.lock", "s.lock":
            self.link(name)
        for text in (self.run_command("a.inp", code=4), self.run_softened("s.inp", code=4)):
            self.assertIn(".lock: is not the lock of a run", text)
        self.assertEqual(self.read("precious"), PRECIOUS)
        os.unlink(self.path("a.lock"))
        os.link(self.path("precious"), self.path("a.lock"))
        self.assertIn("a.lock: is not the lock of a run", self.run_command("a.inp", code=4))
        os.unlink(self.path("a.lock"))
        os.mkfifo(self.path("a.lock"))
        self.assertIn("a.lock: is not the lock of a run", self.run_command("a.inp", code=4))
        self.assertEqual(self.read("precious"), PRECIOUS)
        os.unlink(self.path("a.lock"))
        with open(self.path("a.lock"), "w") as file:  # of a run that was killed
            file.write("process 1 on elsewhere\n")
        self.run_command("a.inp", "--quiet")
        self.assertFalse(os.path.exists(self.path("a.lock")))

    def test_final_names(self):
        """Rows go where a link leads; a file that is written as a whole takes the place of the link."""
        os.mkdir(self.path("scratch"))
        texts = ["a.log.csv", "a.events.jsonl", "a.esc.csv"]
        wholes = ["a.ckpt.h5", "a.ckpt.prev.h5", "a.snap.00000.h5", "a.retry.h5", "a.init.h5", "a.dat10"]
        self.run_command("a.inp", "--quiet", "--out", "b")
        self.stop_next("a")
        self.run_command("a.inp", "--quiet", "--overwrite")
        for name in texts + ["a.ckpt.h5"]:
            os.rename(self.path(name), self.path("scratch", name))
            os.symlink(os.path.join("scratch", name), self.path(name))
        self.link(*[name for name in wholes[1:] if not os.path.exists(self.path(name))])
        first = self.read("a.ckpt.h5")
        self.run_command("--resume", "a.ckpt.h5", "--quiet")
        self.run_command("--init-only", "a.inp", "--quiet", "--overwrite")
        self.assert_same_run("b", "a")
        for name in texts:
            self.assertTrue(os.path.islink(self.path(name)), name)
        for name in ("a.ckpt.h5", "a.init.h5", "a.dat10"):
            self.assertFalse(os.path.islink(self.path(name)), name)
        self.assertEqual(self.read("scratch", "a.ckpt.h5"), first)  # where the link led
        self.write_input("f.inp", n=20, tcrit=0.5, qe=1e-12)
        self.run_command("f.inp", "--quiet", code=3)
        os.unlink(self.path("f.fault.h5"))
        self.link("f.fault.h5", "f.retry.h5")
        self.run_command("--resume", "f.ckpt.h5", "--quiet", code=3)
        self.assertFalse(os.path.islink(self.path("f.fault.h5")))
        self.assertEqual(self.read("precious"), PRECIOUS)

    @staticmethod
    def lead_to_null(path):
        os.symlink("/dev/null", path)

    def test_what_is_no_file(self):
        """Refused with one message before anything is removed or written, without waiting for the end of a pipe."""
        self.run_command("a.inp", "--quiet")
        for name in "a.log.csv", "a.events.jsonl", "a.ckpt.h5", "a.snap.00000.h5":
            os.rename(self.path(name), self.path("kept." + name))
        kept = socket.socket(socket.AF_UNIX)
        self.addCleanup(kept.close)
        for make in (os.mkfifo, os.mkdir, kept.bind, self.lead_to_null):
            for name in "a.log.csv", "a.events.jsonl", "a.ckpt.h5", "a.snap.00000.h5", "a.init.h5", "a.dat10":
                if make == kept.bind and name != "a.ckpt.h5":
                    continue  # a socket can be bound once
                with self.subTest(make=make, name=name):
                    self.refused(make, name)
        self.run_command("a.inp", "--quiet", "--overwrite")

    def refused(self, make, name):
        make(self.path(name))
        before = {other: os.lstat(self.path(other)) for other in os.listdir(self.folder)}
        wanted = ["--init-only"] if "init" in name or "dat10" in name else []
        text = self.run_command(*wanted, "a.inp", "--overwrite", code=4)
        if name == "a.ckpt.h5":
            text += self.run_command("--resume", name, code=4)
            self.run_command("--status", "a")
            self.assertEqual(text.count("not a regular file"), 2)
        self.assertIn(name + ": not a regular file", text)
        after = {other: os.lstat(self.path(other)) for other in os.listdir(self.folder)}
        self.assertEqual({n: (s.st_ino, s.st_mode, s.st_size) for n, s in before.items()},
                         {n: (s.st_ino, s.st_mode, s.st_size) for n, s in after.items()})
        (os.rmdir if make == os.mkdir else os.unlink)(self.path(name))

    def test_resume_beside_a_pipe(self):
        self.stop_next("a")
        self.run_command("a.inp", "--quiet")
        for name in "a.log.csv", "a.events.jsonl":
            os.rename(self.path(name), self.path("moved"))
            os.mkfifo(self.path(name))
            self.assertIn("not a regular file", self.run_command("--resume", "a.ckpt.h5", code=4))
            self.run_command("--status", "a")
            os.rename(self.path("moved"), self.path(name))
        self.run_command("--resume", "a.ckpt.h5", "--quiet")

    def test_what_a_kill_left(self):
        """Temporary files of this run go with its next session; others, and what only looks like them, stay."""
        left = ["a.ckpt.h5.tmp-01234567", "a.ckpt.prev.h5.tmp-abcdefgh", "a.snap.00002.h5.tmp-0a0a0a0a",
                "a.retry.h5.tmp-zzzzzzzz"]
        others = ["a.ckpt.h5.tmp", "a.ckpt.h5.tmp-ABCDEFGH", "a.ckpt.h5.tmp-0123456", "b.ckpt.h5.tmp-01234567",
                  "a.other.tmp-01234567", "a.snap.2.h5.tmp-01234567", "tmp-01234567"]
        for session in (("a.inp",), ("--resume", "a.ckpt.h5", "--tcrit", "1"), ("a.inp", "--overwrite")):
            for name in left + others:
                with open(self.path(name), "w") as file:
                    file.write("something")
            self.link("a.fault.h5.tmp-01234567")
            self.run_command(*session, "--quiet")
            for name in left:
                self.assertFalse(os.path.exists(self.path(name)), name)
            for name in others:
                self.assertEqual(self.read(name), b"something")
            os.unlink(self.path("a.fault.h5.tmp-01234567"))
        self.assertEqual(self.read("precious"), PRECIOUS)

    def test_previous_checkpoint_that_is_the_same_file(self):
        """As a kill between the two steps of a replacement leaves it."""
        self.stop_next("a")
        self.run_command("a.inp", "--quiet")
        if os.path.exists(self.path("a.ckpt.prev.h5")):
            os.unlink(self.path("a.ckpt.prev.h5"))
        os.link(self.path("a.ckpt.h5"), self.path("a.ckpt.prev.h5"))
        self.run_command("--resume", "a.ckpt.h5", "--quiet")
        self.assertFalse([name for name in os.listdir(self.folder) if ".tmp" in name])
        self.run_command("--resume", "a.ckpt.prev.h5", "--quiet")


class PythonFilesTest(RunTest):
    def setUp(self):
        super().setUp()
        sys.path.insert(0, os.path.join(SOURCE, "python"))
        self.addCleanup(sys.path.pop, 0)
        from nbody6 import files
        self.files = files

    def test_rights(self):
        for mask in 0, 0o002, 0o022, 0o077:
            before = os.umask(mask)
            try:
                self.files.write_whole(self.path("page.html"), b"text")
            finally:
                os.umask(before)
            self.assertEqual(stat.S_IMODE(os.stat(self.path("page.html")).st_mode), 0o666 & ~mask)

    def test_links(self):
        with open(self.path("precious"), "wb") as file:
            file.write(PRECIOUS)
        names = iter(["0" * 8, "1" * 8])
        for name in "0" * 8, "film":
            os.symlink("precious", self.path("page.html.tmp-" + name))
        token, self.files.secrets.token_hex = self.files.secrets.token_hex, lambda _: next(names)
        try:
            self.files.write_whole(self.path("page.html"), b"text")
        finally:
            self.files.secrets.token_hex = token
        os.symlink("precious", self.path("link.html"))
        self.files.write_whole(self.path("link.html"), b"text")
        self.assertEqual((self.read("page.html"), self.read("link.html"), self.read("precious")),
                         (b"text", b"text", PRECIOUS))
        self.assertFalse(os.path.islink(self.path("link.html")))
        os.mkfifo(self.path("pipe.html"))
        for name in "pipe.html", ".", "no/such.html":
            with self.assertRaises(OSError):
                self.files.write_whole(self.path(name), b"text")
        with self.assertRaises(ZeroDivisionError):
            with self.files.replacing(self.path("page.html"), ".mp4") as (_, name):
                self.assertTrue(name.endswith(".mp4"))
                raise ZeroDivisionError
        self.assertEqual(self.read("page.html"), b"text")
        self.assertFalse([name for name in os.listdir(self.folder) if ".tmp-1" in name or name.endswith(".mp4")])


if __name__ == "__main__":
    unittest.main()
