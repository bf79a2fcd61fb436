"""A run in which two bodies alone are moved says so: one event, one line on standard error, after the same block with
each engine, with any number of threads and across a checkpoint."""

import json
import math
import os
import re
import subprocess
import unittest

from run_support import NBODY6, RunTest

# Two stars on a circle of period 8.5e-8, in steps of 2^-31, and others far away with steps longer than the run.
HALF = 2.25e-6
SPEED = 0.5 * math.sqrt(0.5 / (2 * HALF))
PAIR = [(0.25, 0.5 - HALF, 0.1, 0, 0, -SPEED, 0.1), (0.25, 0.5 + HALF, 0.1, 0, 0, SPEED, 0.1)]
OTHERS = [(0.25, -0.7, 0.3, 0.2, 0.1, -0.3, 0), (0.25, -0.3, -0.5, -0.2, -0.1, 0.2, -0.2)]
T_END = 2**-13  # 262144 blocks; the event is at 1.08e-4, 100000 blocks after the last step of another star


class StuckTest(RunTest):
    def write(self, stars, tcrit=T_END, more="KZ(16)=0"):
        with open(self.path("stars.dat"), "w") as file:
            file.writelines(" ".join("%.17g" % x for x in star) + "\n" for star in stars)
        with open(self.path("a.inp"), "w") as file:
            file.write("&ININPUT DTADJ=%r DELTAT=%r TCRIT=%r QE=1 KZ(22)=2 %s /\n&INMODEL DATA='stars.dat' /\n"
                       % (2**-14, T_END, tcrit, more))

    def run_apart(self, *arguments, threads=1):
        """Standard error of a run."""
        done = subprocess.run([NBODY6, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("blocks in a row", done.stdout)
        return done.stderr

    def told(self):
        """Lines of the events `stuck`."""
        with open(self.path("a.events.jsonl")) as file:
            return [line for line in file if '"event": "stuck"' in line]

    def test_told_once(self):
        self.write(PAIR + OTHERS)
        first = {}
        for engine, threads in (("host", 1), ("host", 2), ("emulated", 2)):
            with self.subTest(engine=engine, threads=threads):
                said = self.run_apart("a.inp", "--overwrite", "--engine", engine, threads=threads)
                self.assertEqual(len(said.splitlines()), 1, said)
                self.assertTrue(said.startswith("nbody6: warning: up to t = "), said)
                for words in ("100000 blocks in a row", " star 1 (step 4.66e-10", " star 2 (step 4.66e-10",
                              "rounding error up to", "KZ(16)=1"):
                    self.assertIn(words, said)
                lines = self.told()
                self.assertEqual(len(lines), 1)
                event = json.loads(lines[0])
                self.assertEqual(event["names"], [1, 2])
                self.assertEqual(event["blocks"], 100000)
                self.assertEqual(["%.15g" % step for step in event["steps"]], ["%.15g" % 2**-31] * 2)
                # Their change in a step, a twentieth of a turn's radian, is far above rounding in double.
                for change, noise in zip(event["change"], event["noise"]):
                    self.assertGreater(change, 1e6 * noise)
                first.setdefault("t", event["t"])
                self.assertEqual(event["t"], first["t"])  # the same block: all have steps of 2^-31
                self.assertEqual(lines, first.setdefault(engine, lines))

    def test_across_a_checkpoint(self):
        self.write(PAIR + OTHERS)
        for engine in ("host", "emulated"):
            with self.subTest(engine):
                self.write(PAIR + OTHERS)
                self.run_apart("a.inp", "--overwrite", "--quiet", "--engine", engine)
                whole = self.told()
                self.assertEqual(len(whole), 1)
                self.write(PAIR + OTHERS, T_END / 2)
                self.assertEqual(self.run_apart("a.inp", "--overwrite", "--quiet", "--engine", engine), "")
                self.assertEqual(self.told(), [])
                with open(self.path("on.inp"), "w") as file:
                    file.write("&ININPUT TCRIT=%r /\n" % T_END)
                said = self.run_apart("--resume", "a.ckpt.h5", "on.inp", "--quiet")
                self.assertEqual(said.count("blocks in a row"), 1)
                self.assertEqual(self.told(), whole)

    def test_nobody_waits(self):
        """Two stars alone, in 262144 blocks, and two that are regularized among others: no event."""
        for stars, more in ((PAIR, "KZ(16)=0"), (PAIR + OTHERS, "KZ(16)=0 RMIN=1e-4 DTMIN=1e-6")):
            for engine in ("host", "emulated"):
                with self.subTest(stars=len(stars), engine=engine):
                    self.write(stars, more=more)
                    self.assertEqual(self.run_apart("a.inp", "--overwrite", "--engine", engine), "")
                    self.assertEqual(self.told(), [])
                    steps = self.log_without_timings()[-1][self.log_without_timings()[0].index("steps_irr")]
                    self.assertEqual(int(steps) > 400000, len(stars) == 2)

    def test_documented(self):
        with open("docs/output.md") as file:
            text = re.search(r"^\* `stuck`: (.*?)\n(?:\*|\n)", file.read(), re.M | re.S).group(1)
        for field in ("names", "blocks", "steps", "acc", "change", "noise"):
            self.assertIn("`%s`" % field, text)


if __name__ == "__main__":
    unittest.main()
