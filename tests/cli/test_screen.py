"""Standard streams that are closed, full or left: no file of a run is touched, and lost output is reported."""

import os
import subprocess
import time
import unittest

from run_support import BUILD, NBODY6, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLLISIONLESS = os.path.join(BUILD, "nbody6-collisionless")
CHAIN = os.path.join(BUILD, "nbody6-chain")
SOFTENED = "&INCOLLISIONLESS SOFTENING=0.1 DT=0.125 /\n"
FULL = "standard output cannot be written: No space left on device"


class ScreenTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write_input(n=20, tcrit=1)
        with open(self.path("s.inp"), "w") as file:
            file.write("&ININPUT N=50 DTADJ=0.25 DELTAT=0.5 TCRIT=1 QE=1e-2 /\n" + SOFTENED)

    def run_closed(self, closed, program, *arguments):
        """With these standard streams closed, and a pipe for the others."""
        def close():
            for number in closed:
                os.close(number)
        return subprocess.run([program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, preexec_fn=close)

    def run_full(self, program, *arguments):
        with open("/dev/full", "w") as full:
            return subprocess.run([program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)

    def test_closed(self):
        """The file that a run opens first does not become its screen."""
        self.run_command("a.inp", "--quiet")
        for closed in (0, 1), (1,), (0, 1, 2), (0, 2), (2,):
            with self.subTest(closed=closed):
                done = self.run_closed(closed, NBODY6, "a.inp", "--out", "b", "--overwrite")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assert_same_run("a", "b")
                for name in os.listdir(self.folder):
                    if name.startswith("b."):
                        self.assertNotIn(b"done: the end", self.read(name), name)

    def test_closed_collisionless(self):
        self.assertEqual(self.run_closed((0, 1), COLLISIONLESS, "s.inp").returncode, 0)
        text = self.read("s.log.csv").decode()
        self.assertTrue(text.startswith("t,"), text[:80])
        self.assertNotIn("done: the end", text)

    def test_closed_where_it_is_the_product(self):
        table = os.path.join(SOURCE, "input_examples", "pythagorean", "dat.10")
        for command in ((NBODY6, "--check", "a.inp"), (COLLISIONLESS, "--check", "s.inp"), (CHAIN, "--tcrit=1", table)):
            with self.subTest(command=command):
                done = self.run_closed((1,), *command)
                self.assertEqual(done.returncode, 4)
                self.assertIn("standard output cannot be written", done.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_full_where_it_is_the_product(self):
        self.run_command("a.inp", "--quiet")
        table = os.path.join(SOURCE, "input_examples", "pythagorean", "dat.10")
        for command in ((NBODY6, "--check", "a.inp"), (NBODY6, "--to-namelist", "a.inp"), (NBODY6, "--help-input"),
                        (NBODY6, "--help-input", "N"), (NBODY6, "--status", "."), (NBODY6, "--list-devices"),
                        (NBODY6, "--help"), (NBODY6, "--version"), (COLLISIONLESS, "--check", "s.inp"),
                        (COLLISIONLESS, "--help"), (CHAIN, "--help"), (CHAIN, "--tcrit", "1", table)):
            with self.subTest(command=command):
                done = self.run_full(*command)
                self.assertEqual((done.returncode, done.stderr), (4, "%s: %s\n" % (os.path.basename(command[0]), FULL)))

    def test_reader_that_leaves(self):
        self.run_command("a.inp", "--quiet")
        for arguments, text in ((("--help-input",), "nbody6: standard output cannot be written: Broken pipe\n"),
                                (("a.inp", "--out", "b"), "nbody6: warning: standard output cannot be written: Broken")):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([NBODY6, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=write,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (4, 1))
            self.assertTrue(done.stderr.startswith(text), done.stderr)
        self.assert_same_run("a", "b")

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_run_goes_on(self):
        """One warning for all rows and notes."""
        self.run_command("a.inp", "--quiet")
        done = self.run_full(NBODY6, "a.inp", "--out", "b")
        self.assertEqual(done.returncode, 4)
        self.assertIn("nbody6: warning: " + FULL, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assert_same_run("a", "b")
        self.assertEqual(self.run_full(NBODY6, "a.inp", "--out", "c", "--quiet").returncode, 0)
        done = self.run_full(COLLISIONLESS, "s.inp")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (4, 1))
        self.assertIn("nbody6-collisionless: warning: " + FULL, done.stderr)
        self.assertIn("finished", self.run_command("--status", "s"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_other_failures_keep_their_code(self):
        self.write_input(n=20, tcrit=1, qe=1e-12)
        self.assertEqual(self.run_full(NBODY6, "a.inp").returncode, 3)


class MovedTest(RunTest):
    def test_removed(self):
        """Each is reported once, and the run goes on in the file that had the name."""
        self.write_input(n=20, tcrit=100, dtadj=0.25)
        process = self.start_command("a.inp")
        self.wait_for_row(process, 0.25)
        os.unlink(self.path("a.log.csv"))
        os.rename(self.path("a.events.jsonl"), self.path("elsewhere"))
        text = ""
        while text.count("removed or renamed") < 2:
            line = process.stdout.readline()
            self.assertTrue(line, text)
            text += line
        for _ in range(20):
            text += process.stdout.readline()
        self.stop_next("a")
        text += process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 0, text)
        self.assertEqual(text.count("warning: a.log.csv was removed or renamed"), 1)
        self.assertEqual(text.count("warning: a.events.jsonl was removed or renamed"), 1)
        self.assertIn("stopped: a file a.STOP was found", text)

    def test_quiet_and_collisionless(self):
        with open(self.path("s.inp"), "w") as file:
            file.write("&ININPUT N=50 DTADJ=0.125 DELTAT=200 TCRIT=200 QE=1e9 /\n" + SOFTENED)
        process = subprocess.Popen([COLLISIONLESS, "s.inp", "--quiet"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not os.path.exists(self.path("s.log.csv")):
            time.sleep(0.01)
        os.rename(self.path("s.log.csv"), self.path("elsewhere"))
        text = ""
        while "removed or renamed" not in text:
            line = process.stderr.readline()
            self.assertTrue(line, text)
            text += line
        self.stop_next("s")
        text += process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(text.count("warning: s.log.csv was removed or renamed"), 1)


if __name__ == "__main__":
    unittest.main()
