#!/usr/bin/env python3
"""Stars that age in whole lives of clusters: one that dissolves in a galaxy, across kills; remnants that stay and leave
at LEVEL A, B and C, beside what their kicks and the potential say at once. NB6_STARS: another number of stars."""

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
&ININPUT N=%d NRAND=3 RBAR=1.2 DTADJ=1 DELTAT=4 TCRIT=2000 NCRIT=50 QE=1e-3 KZ(14)=2 KZ(19)=3
KZ(20)=6 KZ(23)=2 LEVEL='C' /
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
        """Energy with its channel closes to 1e-5 until 50 stars are left, and to 1e-8 of what kicks brought, which is
        2000 times the energy of the cluster (480, where forces in float have 1e-8; 1.3e-5 in all). Kills change no
        bit."""
        self.write("a.inp", DISSOLVES % (STARS or 2000))
        self.run_command("a.inp", "--quiet")
        run = nbody6.Run(self.path("a"))
        log = run.log
        left = int(log["n"][0]) - len(run.escapers)
        print("%d stars at t = %g (%g Myr): de_rel %.1e, mass lost by stars %.3f" % (
            left, log["t"][-1], log["t_myr"][-1], log["de_rel"][-1], -log["mass_stars"][-1]))
        self.assertLessEqual(left, 50)
        scale = abs(log["e_total"][0])
        self.assertTrue((np.abs(log["de_rel"]) < 1e-5 + 1e-8 * np.abs(log["e_stars"]) / scale).all())
        self.assertGreater(self.kill_and_resume(20, interval="1"), 0)
        self.assert_same_run("a", "b")

    def bound(self, k, names):
        """Those of these stars that are there, and bound, in a snapshot."""
        with h5py.File(self.path("a.snap.%05d.h5" % k)) as file:
            stars = file["PartType4"]
            v = stars["Velocities"][:] - np.median(stars["Velocities"][:], axis=0)
            energy = 0.5 * (v**2).sum(axis=1) + stars["Potential"][:]
            return names & {int(name) for name, e in zip(stars["ParticleIDs"][:], energy) if e < 0}

    def test_remnants_that_stay(self):
        """At each level: as many as are bound where they are born, but for two sigma of their number. Of 10000 stars
        63 are remnants; 20, 19 and 11 are bound at birth, and these 20, 19 and 11 ten units later."""
        for level in "ABC":
            self.write("a.inp", KICKED % (STARS or 10000, level))
            self.run_command("a.inp", "--quiet", "--overwrite")
            with open(self.path("a.events.jsonl")) as file:
                events = [json.loads(line) for line in file]
            born = {e["name"] for e in events if e["event"] == "remnant" and e["type"] in (13, 14) and e["t"] == 0}
            expected, kept = self.bound(0, born), self.bound(2, born)
            part = len(expected) / len(born)
            sigma = math.sqrt(len(born) * max(part * (1 - part), 1 / len(born)))
            print("LEVEL %s: of %d remnants %d stay, %d are bound at birth (two sigma: %.1f)" % (
                level, len(born), len(kept), len(expected), 2 * sigma))
            self.assertGreaterEqual(len(born), 10)
            self.assertLessEqual(abs(len(kept) - len(expected)), 2 * sigma)


if __name__ == "__main__":
    unittest.main()
