"""Messages of a run are true: the angular momentum of all stars, the end that applies, the number of stars that are
left, and advice about the largest part of the energy error."""

import os
import re
import subprocess
import sys
import unittest

import numpy as np

import hard_inputs as hard
from run_support import BUILD, RunTest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python"))
os.environ["NB6_BUILD"] = BUILD

import nbody6  # noqa: E402

FIFTY = "N=50, RBAR=1, ZMBAR=0.5 DTADJ=1"
BINARIES = """\
&ININPUT N=80 NRAND=4 DTADJ=0.25 DELTAT=0.25 TCRIT=0.5 QE=1 RBAR=2 KZ(8)=1 KZ(18)=2 KZ(14)=%d KZ(20)=6 KZ(23)=%d %s /
&INDATA NBIN0=20 NHI0=4 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.01 RANGE=50 /
&INHIPOP SEMI0=0.001 RANGE=5 /
"""
FIELDS = {2: hard.GALAXY, 4: "&INXTRNL0 MP=0.5 AP2=1 /\n"}


def momentum(stars):
    """Sum over the stars, and that of the sizes of its terms."""
    terms = stars.mass[:, None] * np.cross(stars.x, stars.v)
    return terms.sum(axis=0), np.abs(terms).sum()


class AngularMomentumTest(RunTest):
    def same(self, told, stars):
        """To 1e-10 of the terms: the stars of a pair of a = 1e-4 are where they are to 1e-12 of it."""
        wanted, size = momentum(stars)
        self.assertLess(np.abs(np.array(told) - wanted).max(), 1e-10 * size)

    def rows(self, name):
        run = nbody6.Run(self.path(name))
        log, seen = run.log, 0
        for snapshot in map(nbody6.read_snapshot, run.snapshots):
            at = np.argmin(np.abs(log["t"] - snapshot.t))
            if log["t"][at] == snapshot.t and log["n"][at] == snapshot.n:  # else stars were removed in between
                self.same([log[name][at] for name in ("lx", "ly", "lz")], snapshot)
                seen += 1
        return log, seen

    def test_log(self):
        """Pairs and triples, isolated, in rotating frames and in gas, with both engines."""
        for tide, escape in (0, 0), (1, 0), (2, 0), (4, 2):
            for engine in ("host", "emulated"):
                with self.subTest(tide=tide, engine=engine):
                    with open(self.path("b.inp"), "w") as file:
                        file.write(BINARIES % (tide, escape, "KZ(30)=0") + FIELDS.get(tide, ""))
                    self.run_command("b.inp", "--overwrite", "--quiet", "--engine", engine)
                    log, seen = self.rows("b")
                    self.assertGreater(seen, 1)
                    self.assertGreater(log["n_pair"][0], 15)
                    self.assertGreater(log["n_hierarchy"].max(), 0)

    def test_systems(self):
        """Triples that collide and make chains, and systems that leave."""
        with open(self.path("stars.dat"), "w") as file:
            for row in hard.systems(12, 5):
                file.write(" ".join(map(repr, map(float, row))) + "\n")
        with open(self.path("a.inp"), "w") as file:
            file.write(hard.STARS.format(dtadj=0.125, deltat=0.125, tcrit=1,
                                         more="RBAR=1 ZMBAR=0.5 KZ(14)=2 KZ(23)=3").replace("a.dat", "stars.dat")
                       + hard.GALAXY + "&INRUN RSTAR=7e-4 /\n")
        self.run_command("a.inp", "--quiet")
        log, seen = self.rows("a")
        self.assertGreater(seen, 2)
        self.assertGreater(log["mergers"][-1] + log["chains_formed"][-1], 0)

    def test_python(self):
        with open(self.path("b.inp"), "w") as file:
            file.write(BINARIES % (0, 0, ""))
        with nbody6.Simulation.from_input(self.path("b.inp")) as sim:
            sim.integrate(0.3)
            energy = sim.energy
            self.assertGreater(len(sim.pairs), 10)
            self.same([energy["lx"], energy["ly"], energy["lz"]], sim.stars)


class EndTest(RunTest):
    def end(self, text, *arguments):
        """N-body time and Myr that --check gives, and what else it says."""
        with open(self.path("e.inp"), "w") as file:
            file.write(text)
        out = self.run_command("--check", "e.inp", *arguments)
        found = re.search(r"  (end, by TCRTP0|end TCRIT) +(\S+) +(\S+) Myr", out)
        return found.group(1), float(found.group(2)), float(found.group(3)), out

    def test_tcrtp0_alone(self):
        for text in ("&INNBODY6 TCRTP0=100 /\n&ININPUT %s /" % FIFTY,
                     "&ININPUT %s /\n&INNBODY6 TCRTP0=100 /" % FIFTY,
                     "&INNBODY6 TCRTP0=100 /\n&ININPUT %s TCRIT=0 /" % FIFTY,
                     "&INNBODY6 KSTART=1 TCOMP=5 TCRTP0=1d2 /\n&ININPUT %s /" % FIFTY,
                     "&INNBODY6 TCRTP0=100 /\n&ININPUT N=500 RBAR=0.1 ZMBAR=3 /"):
            with self.subTest(text=text):
                what, _, myr, _ = self.end(text)
                self.assertEqual((what, myr), ("end, by TCRTP0", 100))

    def test_both(self):
        what, t, _, out = self.end("&INNBODY6 TCRTP0=100 /\n&ININPUT %s TCRIT=10 /" % FIFTY)
        self.assertEqual((what, t), ("end TCRIT", 10))  # the value of the default, but given
        self.assertIn("the earlier one, TCRIT, is the end", out)
        what, _, myr, out = self.end("&INNBODY6 TCRTP0=1 /\n&ININPUT %s TCRIT=10 /" % FIFTY)
        self.assertEqual((what, myr), ("end, by TCRTP0", 1))
        self.assertIn("the earlier one, TCRTP0, is the end", out)
        self.assertEqual(self.end("&INNBODY6 TCRTP0=100 /\n&ININPUT %s /" % FIFTY, "--tcrit", "10")[:2], ("end TCRIT", 10))
        self.assertEqual(self.end("&ININPUT %s /" % FIFTY)[:2], ("end TCRIT", 10))

    def test_beyond_all_times(self):
        what, t, _, out = self.end("&INNBODY6 TCRTP0=1e12 /\n&ININPUT %s /" % FIFTY)
        self.assertEqual((what, t), ("end TCRIT", 8e6))
        self.assertIn("beyond the latest time", out)


    def run_to_end(self, program="nbody6", group="", **changes):
        with open(self.path("r.inp"), "w") as file:
            file.write("&INNBODY6 TCRTP0=31 /\n&ININPUT N=10, RBAR=1, ZMBAR=0.5 DTADJ=8 DELTAT=8 QE=1e9 SMAX=1 /\n" + group)
        done = subprocess.run([os.path.join(BUILD, program), "r.inp"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)
        return nbody6.Run(self.path("r")).log

    def test_run(self):
        """31 Myr are t = 4.6, but for 10 stars of half a solar mass."""
        self.assertAlmostEqual(self.run_to_end()["t_myr"][-1], 31, delta=1e-4)  # a tick of time is 1e-12 of it

    def test_collisionless(self):
        log = self.run_to_end("nbody6-collisionless", "&INCOLLISIONLESS SOFTENING=0.1 DT=0.03125 /\n")
        self.assertGreater(log["t_myr"][-1], 30.999)
        self.assertLess(log["t_myr"][-1], 31 + 0.03125 * log["t_myr"][-1] / log["t"][-1])

    def test_resume(self):
        """Of a changed input too a TCRIT that is not given does not count; of two that are the earlier one does."""
        with open(self.path("r.inp"), "w") as file:
            file.write("&ININPUT N=10, RBAR=1, ZMBAR=0.5 DTADJ=1 DELTAT=1 TCRIT=0.5 QE=1e9 /\n")
        self.run_command("r.inp", "--quiet")
        myr = nbody6.Run(self.path("r")).time_myr
        with open(self.path("c.inp"), "w") as file:
            file.write("&INNBODY6 KSTART=3 TCRTP0=%r /\n" % (2 * myr))
        self.run_command("--resume", "r.ckpt.h5", "c.inp", "--out", "s")
        self.assertAlmostEqual(nbody6.Run(self.path("s")).log["t"][-1], 2, delta=1e-9)
        with open(self.path("c.inp"), "w") as file:
            file.write("&INNBODY6 KSTART=3 TCRTP0=%r /\n&ININPUT TCRIT=1 /\n" % (2 * myr))
        out = self.run_command("--resume", "r.ckpt.h5", "c.inp")
        self.assertIn("the earlier one, TCRIT, is the end", out)
        self.assertEqual(nbody6.Run(self.path("r")).log["t"][-1], 1)

    def test_python(self):
        with open(self.path("e.inp"), "w") as file:
            file.write("&ININPUT %s /" % FIFTY)
        for sim in (nbody6.Simulation.from_input(self.path("e.inp"), TCRTP0=100),
                    nbody6.Simulation.from_model(N=50, RBAR=1, ZMBAR=0.5, TCRTP0=100)):
            with sim:
                with sim._handle as script:
                    end = nbody6.library.library().nb6_script_end(script)
                self.assertAlmostEqual(end * sim.units.time_myr, 100, delta=1e-9)


class CountTest(RunTest):
    def test_status(self):
        """Stars are removed at the very last row: status, closing line, snapshot and page say how many are left."""
        self.write_input("g.inp", n=100, dtadj=0.25, deltat=0.25, tcrit=0.25, more="RBAR=20 KZ(14)=1 KZ(23)=2")
        out = self.run_command("g.inp")
        run = nbody6.Run(self.path("g"))
        snapshot, _ = run.last_snapshot()
        left = snapshot.n
        self.assertLess(left, run.log["n"][-1])
        self.assertIn(", N = %d, %d escaped" % (left, 100 - left), out)
        self.assertIn(", N = %d, dE/E" % left, self.run_command("--status", "g"))
        os.remove(self.path("g.ckpt.h5"))  # files of a run that goes on, or was killed: rows and events
        self.assertIn(", N = %d, dE/E" % left, self.run_command("--status", "g"))

    def test_ncrit(self):
        """That the last row counts more stars does not hide why the run stopped."""
        self.write_input("g.inp", n=100, dtadj=0.25, deltat=0.25, tcrit=1, more="RBAR=20 KZ(14)=1 KZ(23)=2 NCRIT=99")
        self.run_command("g.inp", "--quiet")
        log = nbody6.Run(self.path("g")).log
        self.assertGreater(log["n"][-1], 99)
        self.assertIn("N has fallen to NCRIT = 99", self.run_command("--status", "g"))


class EnergyAdviceTest(RunTest):
    def test_integration(self):
        self.write_input(n=64, tcrit=0.5, qe=1e-12, more="KZ(16)=0")
        self.check("e_integration: smaller ETAI and ETAR cut it")

    def test_pairs(self):
        """In this cluster pairs form while others are near."""
        self.write_input(n=64, tcrit=0.5, qe=1e-12)
        self.assertNotIn("ETAI", self.check("e_pairs, made where pairs form and end: a smaller GMIN"))

    def check(self, advice):
        out = self.run_command("a.inp", "--quiet", code=3)
        self.assertIn("largest part is " + advice, out)
        parts = {name: abs(nbody6.Run(self.path("a")).log[name][-1])
                 for name in ("e_pairs", "e_chains", "e_hierarchies", "e_integration")}  # of the first interval
        self.assertTrue(advice.startswith(max(parts, key=parts.get)))
        said = self.run_command("--status", "a")
        self.assertIn("largest part is " + advice, said)
        return out + said


class IntervalTest(RunTest):
    """DTADJ_MYR and DTOUT_MYR, beside the DTADJ and DELTAT that samples have."""

    def write(self, group, more="", begin="&INNBODY6 TCRTP0=10.5 /"):
        with open(self.path("r.inp"), "w") as file:
            file.write("%s\n&INRUN %s /\n&ININPUT N=10, RBAR=1, ZMBAR=0.5 DTADJ=8 DELTAT=8 QE=1e9 /\n%s" %
                       (begin, group, more))

    def times(self):
        run = nbody6.Run(self.path("r"))
        return run.log["t_myr"].tolist(), [run.time_myr * t for t in run.snapshot_times()]

    def assert_times(self, rows, snapshots):
        """A tick of time is 1e-12 of a unit of 6.7 Myr; the log has 12 digits or more."""
        for found, expected in zip(self.times(), (rows, snapshots)):
            self.assertEqual(len(found), len(expected), found)
            for one, other in zip(found, expected):
                self.assertAlmostEqual(one, other, delta=1e-9)

    def test_run_and_changes(self):
        self.write("DTADJ_MYR=2 DTOUT_MYR=4")
        out = self.run_command("--check", "r.inp")
        self.assertRegex(out, r"energy checks DTADJ_MYR +\S+ +2 Myr")
        self.assertRegex(out, r"output DTOUT_MYR +\S+ +4 Myr")
        out = self.run_command("r.inp")
        self.assertIn("note: DTADJ has no effect: DTADJ_MYR=2 is given", out)
        rows, snapshots = [0, 2, 4, 6, 8, 10, 10.5], [0, 4, 8, 10.5]
        self.assert_times(rows, snapshots)
        with open(self.path("c.inp"), "w") as file:  # those that the run has
            file.write("&INNBODY6 KSTART=3 TCRTP0=15 /\n&INRUN DTADJ_MYR=2 /\n&ININPUT DTADJ=8 /\n")
        out = self.run_command("--resume", "r.ckpt.h5", "c.inp")
        self.assertNotIn("DTADJ_MYR", out)
        rows, snapshots = rows + [12, 14, 15], snapshots + [12, 15]
        self.assert_times(rows, snapshots)
        with open(self.path("c.inp"), "w") as file:
            file.write("&INNBODY6 KSTART=3 TCRTP0=20 /\n&INRUN DTOUT_MYR=1.5 /\n")
        self.assertIn("DTOUT_MYR 4 -> 1.5", self.run_command("--resume", "r.ckpt.h5", "c.inp"))
        rows, snapshots = rows + [16, 18, 20], snapshots + [16.5, 18, 19.5, 20]
        self.assert_times(rows, snapshots)
        with open(self.path("c.inp"), "w") as file:
            file.write("&INNBODY6 KSTART=3 /\n&ININPUT DTADJ=0.25 TCRIT=3.5 /\n")
        self.assertRegex(self.run_command("--resume", "r.ckpt.h5", "c.inp"), r"DTADJ 0.29\d+ -> 0.25")
        self.assertEqual([t for t in nbody6.Run(self.path("r")).log["t"].tolist() if t > 3], [3.25, 3.5])

    def test_refused(self):
        self.write("DTADJ_MYR=-1")
        self.assertIn("r.inp:2: DTADJ_MYR: -1 is out of range", self.run_command("r.inp", code=2))
        self.write("DTOUT_MYR=1e-12")
        for arguments in (["r.inp"], ["--check", "r.inp"]):
            out = self.run_command(*arguments, code=2)
            self.assertIn("DTOUT_MYR: 1e-12 Myr is no interval of a run whose unit of time is 6.6", out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["r.inp"])
        self.write("DTADJ_MYR=2", "&INCOLLISIONLESS SOFTENING=0.1 DT=0.03125 /\n")
        done = subprocess.run([os.path.join(BUILD, "nbody6-collisionless"), "r.inp"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn("r.inp:2: DTADJ_MYR: nbody6-collisionless has no intervals in Myr", done.stdout)


if __name__ == "__main__":
    unittest.main()
