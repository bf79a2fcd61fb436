"""Random clusters, realistic and unusual ones, stopped by the wall-clock limit at random moments and resumed, up to six
times each: every checkpoint that a run has left is taken. NB6_SEEDS=FIRST-LAST: other seeds."""

import os
import random
import shutil
import subprocess
import tempfile
import unittest

import realistic
import wild_clusters
from run_support import NBODY6

FIRST, LAST = (int(number) for number in os.environ.get("NB6_SEEDS", "1-130").split("-"))
LIMITS = (0.01, 0.03, 0.1, 0.3, 0.5)  # seconds
RESUMES = 6
MOST = 400  # systems of the wild ones


class StopsTest(unittest.TestCase):
    def session(self, *arguments):
        """Returns whether the run goes on.   A run that stops with an energy error, or with a refused input, does
        not."""
        done = subprocess.run([NBODY6, *arguments, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=self.folder, timeout=300)
        self.assertNotIn("content is not what", done.stdout)
        self.assertIn(done.returncode, (0, 2, 3), done.stdout)
        return done.returncode == 0

    def stop_and_go(self, path, draw, engine):
        base, sessions = os.path.splitext(path)[0], 1
        goes_on = self.session(path, "--overwrite", "--out", base, "--engine", engine, "--wall-limit",
                               str(draw.choice(LIMITS)))
        while goes_on and sessions <= RESUMES:
            goes_on = self.session("--resume", base + ".ckpt.h5", "--out", base, "--wall-limit", str(draw.choice(LIMITS)))
            sessions += 1
        return sessions

    def test_checkpoints_are_taken(self):
        sessions = 0
        for seed in range(FIRST, LAST + 1):
            draw = random.Random(seed)
            for kind in ("wild", "realistic"):
                self.folder = tempfile.mkdtemp(prefix="nb6_stops_")
                self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
                if kind == "wild":
                    path = wild_clusters.Cluster(seed, MOST).write(os.path.join(self.folder, "w"))
                else:
                    path = realistic.write_input(NBODY6, self.folder, realistic.Cluster(seed))
                with self.subTest(kind=kind, seed=seed):
                    sessions += self.stop_and_go(path, draw, ("host", "emulated")[seed % 2])
                shutil.rmtree(self.folder)
        print("%d sessions" % sessions)
        self.assertGreater(sessions, 3 * (LAST - FIRST + 1))


if __name__ == "__main__":
    unittest.main()
