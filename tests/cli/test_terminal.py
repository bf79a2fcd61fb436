"""Output of a run on a terminal, emulated by the module pty, and output with `--quiet`."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unittest

from run_support import NBODY6, RunTest

LIVE = re.compile(r"\r\x1b\[K([^\r\n]+)")  # the live line as it is written: from the first place, over what was there


class Screen:
    """A terminal with a run on it."""

    def __init__(self, folder, width, *arguments):
        self.master, terminal = pty.openpty()
        self.resize(width)
        self.process = subprocess.Popen([NBODY6, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=terminal,
                                        stderr=subprocess.STDOUT)
        os.close(terminal)
        self.text = ""

    def resize(self, width):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))

    def read(self):
        """@return False when the run has closed the terminal"""
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # how a pty says that the other side is closed
            piece = b""
        self.text += piece.decode()
        return bool(piece)

    def read_until(self, enough, seconds=60):
        deadline = time.monotonic() + seconds
        while not enough(self.text) and time.monotonic() < deadline:
            if select.select([self.master], [], [], 1)[0] and not self.read():
                break

    def read_to_end(self):
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait(timeout=60)


def live_lines(text):
    return [line for line in LIVE.findall(text) if line.startswith("t = ")]


def as_shown(text):
    """Lines as they stand on the terminal in the end, if none was broken."""
    return [line.split("\r\x1b[K")[-1] for line in text.replace("\r\n", "\n").split("\n")]


class TerminalTest(RunTest):
    def test_table_and_live_line(self):
        """A row for each adjust, and the live line below, never within the table."""
        self.write_input(n=300, tcrit=1.5, dtadj=0.125)
        screen = Screen(self.folder, 120, "a.inp")
        self.assertEqual(screen.read_to_end(), 0)
        shown = as_shown(screen.text)
        rows = [line for line in shown if re.match(r" +[0-9.]+ +[0-9.]+ +[0-9.]+ ", line)]
        self.assertEqual([float(row.split()[0]) for row in rows], [0.125 * k for k in range(13)])
        self.assertEqual({len(row.split()) for row in rows}, {10})
        live = live_lines(screen.text)
        self.assertGreater(len(live), 0)
        for line in live:
            self.assertRegex(line, r"^t = [0-9.e+-]+ of 1.5  [0-9.]+ %  [0-9.e+]+ /(h|min)  .*left  dE/E .*N 300$")
        times = [float(row or line) for row, line in re.findall(r"(?:\n|\x1b\[K) +([0-9.]+) |t = ([0-9.e+-]+) of",
                                                                screen.text[:screen.text.index("done: ")])]
        self.assertEqual(len(times), len(rows) + len(live))
        self.assertEqual(times, sorted(times))  # the line is never behind the row above it
        self.assertFalse([line for line in shown if line.startswith("t = ")])  # all of them were written over
        self.assertTrue(any(line.startswith("done") for line in shown))

    def test_width_is_followed(self):
        """Nothing that is drawn is wider than the terminal is then: 60 places, then 30."""
        self.write_input(n=300, tcrit=1e5, dtadj=0.25)
        screen = Screen(self.folder, 60, "a.inp")
        screen.read_until(lambda text: len(live_lines(text)) > 1 and len(re.findall(r"\n +[0-9.]+ +[0-9]", text)) > 1)
        wide = screen.text
        screen.resize(30)
        # one row with its line may have been composed for the old width
        screen.read_until(lambda text: len(live_lines(text[len(wide):])) > 2)
        before = len(screen.text)
        screen.read_until(lambda text: len(live_lines(text[before:])) > 2 and
                          len(re.findall(r"\n +[0-9.]+ +[0-9]", text[before:])) > 2)
        with open(self.path("a.STOP"), "w"):
            pass
        narrow = screen.text[before:]
        self.assertEqual(screen.read_to_end(), 0)
        for text, width in ((wide, 60), (narrow, 30)):
            lines = [line for line in text.replace("\r\n", "\n").split("\n")
                     if re.match(r" +(T|[0-9.]+) +(T\[Myr\]|[0-9.]+)( |$)", line)]
            self.assertTrue(lines and all(len(line) <= width for line in lines), (width, lines))
            live = live_lines(text)
            self.assertTrue(live and all(len(line) < width for line in live), (width, live))
        self.assertTrue(any("left" in line and "%" in line for line in live_lines(wide)))
        self.assertTrue(all(re.match(r"t = [0-9.e+-]+ of 1e\+05", line) for line in live_lines(narrow)))
        self.assertIn("T[Myr]", narrow)  # the columns that are left have a header of their own

    def test_quiet(self):
        self.write_input(n=64, tcrit=0.5)
        screen = Screen(self.folder, 80, "a.inp", "--quiet")
        self.assertEqual((screen.read_to_end(), screen.text), (0, ""))
        self.stop_next("a")
        for arguments in (("a.inp", "--overwrite"), ("--resume", "a.ckpt.h5"), ("--resume", "a.ckpt.h5"),
                          ("--init-only", "a.inp")):
            self.assertEqual(self.run_command(*arguments, "--quiet"), "", arguments)

    def test_quiet_tells_what_is_wrong(self):
        self.write_input(n=64, tcrit=0.5, qe=1e-12)
        done = subprocess.run([NBODY6, "a.inp", "--quiet"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        lines = done.stderr.splitlines()
        self.assertEqual([line.split(": ")[0] for line in lines], ["nbody6", "nbody6"])
        self.assertIn("warning: the energy error up to t = 0.25", lines[0])
        self.assertIn("above 5 QE", lines[1])


if __name__ == "__main__":
    unittest.main()
