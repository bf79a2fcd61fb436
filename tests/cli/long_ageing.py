#!/usr/bin/env python3
"""Stars that age in whole lives of clusters: one that dissolves in a galaxy, across kills; remnants that stay and leave at
LEVEL A, B and C, beside what their kicks and the potential say at once. NB6_STARS: another number of stars."""

import json
import math
import os
import sys
import unittest

import h5py
import numpy as np

from run_support import BUILD, RunTest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
os.environ["NB6_BUILD"] = BUILD

import nbody6  # noqa: E402

STARS = int(os.environ.get("NB6_STARS", 0))

# 2000 Kroupa stars 1 kpc from a point mass of 1e10 Msun: they are gone within a few hundred Myr.
DISSOLVES = """\
&INNBODY6 KSTART=1 /
&ININPUT N=%d NRAND=3 RBAR=1.2 DTADJ=1 DELTAT=4 TCRIT=2000 NCRIT=50 QE=1e-3 KZ(14)=2 KZ(19)=3 KZ(20)=6 KZ(23)=2 LEVEL='C' /
&INDATA BODY1=100 BODYN=0.08 ZMET=0.02 /
&INXTRNL0 GMG=1e10 RG0=1 /
"""

# Stars that were born 45 Myr ago: those above 8 Msun collapse at t = 0, where the first snapshot has them.
KICKED = """\
&INNBODY6 KSTART=1 /
&ININPUT N=%d NRAND=5 RBAR=0.15 DTADJ=1 DELTAT=5 TCRIT=10 QE=1e-2 KZ(19)=3 KZ(20)=6 KZ(23)=2 LEVEL='%s' /
&INSSE DISP=20 /
&INDATA BODY1=100 BODYN=0.08 ZMET=0.001 EPOCH0=-45 /
"""


class LongAgeing(RunTest):
    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def test_dissolution(self):
        """Energy with its channel closes to 1e-5 until 50 stars are left; kills change no bit."""
        self.write("a.inp", DISSOLVES % (STARS or 2000))
        self.run_command("a.inp", "--quiet")
        run = nbody6.Run(self.path("a"))
        log = run.log
        left = int(log["n"][0]) - len(run.escapers)
        print("%d stars at t = %g (%g Myr): de_rel %.1e, mass lost by stars %.3f" % (
            left, log["t"][-1], log["t_myr"][-1], log["de_rel"][-1], -log["mass_stars"][-1]))
        self.assertLessEqual(left, 50)
        self.assertLess(np.abs(log["de_rel"]).max(), 1e-5)
        self.assertGreater(self.kill_and_resume(20, interval="1"), 0)
        self.assert_same_run("a", "b")

    def test_remnants_that_stay(self):
        """At each level: those that are bound in the first snapshot are there later, but for two sigma."""
        for level in "ABC":
            self.write("a.inp", KICKED % (STARS or 10000, level))
            self.run_command("a.inp", "--quiet", "--overwrite")
            with open(self.path("a.events.jsonl")) as file:
                events = [json.loads(line) for line in file]
            born = {e["name"] for e in events if e["event"] == "remnant" and e["type"] in (13, 14) and e["t"] == 0}
            with h5py.File(self.path("a.snap.00000.h5")) as file:
                stars = file["PartType4"]
                energy = 0.5 * (stars["Velocities"][:]**2).sum(axis=1) + stars["Potential"][:]
                expected = {int(n) for n, e in zip(stars["ParticleIDs"][:], energy) if n in born and e < 0}
            with h5py.File(self.path("a.snap.00002.h5")) as file:
                kept = born & set(file["PartType4/ParticleIDs"][:].tolist())
            part = len(expected) / len(born)
            sigma = math.sqrt(len(born) * max(part * (1 - part), 1 / len(born)))
            print("LEVEL %s: of %d remnants %d stay, %d are bound at birth (two sigma: %.1f)" % (
                level, len(born), len(kept), len(expected), 2 * sigma))
            self.assertGreaterEqual(len(born), 10)
            self.assertLessEqual(abs(len(kept) - len(expected)), 2 * sigma)


if __name__ == "__main__":
    unittest.main()
