"""Stars that age in runs of the command: files, runs from their snapshots, kills, columns of data files, what is refused."""

import json
import os
import sys
import time
import unittest

from run_support import BUILD, RunTest, test_seeds

try:
    import h5py
    import numpy
except ImportError:
    h5py = None
try:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
    os.environ["NB6_BUILD"] = BUILD
    import matplotlib
    import nbody6
    from nbody6.plot import catalogue, story, style
    from nbody6.plot.report import Report
except ImportError:
    matplotlib = None

# A cluster so dense that stars touch: 8 to 100 Msun, born 8 Myr ago, the heaviest of which are remnants by now.
DENSE = """\
&ININPUT N=50 NRAND=4 RBAR=5e-5 DTADJ=0.25 DELTAT=0.5 TCRIT=2 QE=1e-2 KZ(19)=3 KZ(20)=6 KZ(22)=0 KZ(27)=-1 LEVEL='A' {more} /
&INCOLL FCTORCL=0.25 /
&INDATA BODY1=100 BODYN=8 ZMET=0.02 EPOCH0=-8 /
"""

# 100 stars of 0.5 to 60 Msun: a unit is 3.5 Myr, and two of them collapse at 19 Myr.
INPUT = """\
&ININPUT N=100 NRAND=11 RBAR=2 DTADJ=0.5 DELTAT=1 TCRIT={tcrit} QE=1e-2 KZ(19)=3 KZ(20)=6 KZ(23)=2 KZ(25)=2 LEVEL='{level}' {more} /
&INSSE DISP=100 /
&INDATA BODY1=60 BODYN=0.5 ZMET=0.01 EPOCH0={epoch} /
{groups}
"""


class Ageing(RunTest):
    def write(self, name, tcrit=6, level="B", epoch=0, more="", groups=""):
        with open(self.path(name), "w") as file:
            file.write(INPUT.format(tcrit=tcrit, level=level, epoch=epoch, more=more, groups=groups))

    def events(self, name, *kinds):
        with open(self.path(name + ".events.jsonl")) as file:
            found = [json.loads(line) for line in file]
        return [event for event in found if event["event"] in kinds]

    def test_run(self):
        """Events, counts at the end, escapers, the same bits for two threads and if the run was killed and resumed."""
        self.write("a.inp")
        text = self.run_command("a.inp")
        supernovae = self.events("a", "supernova")
        remnants = self.events("a", "remnant")
        self.assertGreater(len(supernovae), 1)
        self.assertIn("%d supernovae, %d remnants" % (len(supernovae), len(remnants)), text)
        for event in supernovae:
            self.assertEqual(event["t"] * 32, round(event["t"] * 32))  # on the grid
            self.assertLess(event["mass_msun"], event["mass_before_msun"])
            self.assertIn(event["type"], (13, 14))
        head = self.read("a.esc.csv").decode().splitlines()
        self.assertTrue(head[0].endswith(",v_kms,type,radius_rsun,luminosity_lsun,temperature_k"))
        self.assertTrue(any(row.split(",")[13] in ("13", "14") for row in head[3:]))  # kicks have freed some
        if matplotlib:
            self.check_page(len(remnants))
        self.run_command("--quiet", "--out", "c", "a.inp", env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.assert_same_run("a", "c")
        self.assertGreater(self.kill_and_resume(test_seeds(5, 20)), 0)
        self.assert_same_run("a", "b")

    def check_page(self, born):
        """Snapshots and escapers have all remnants that the events tell of; masses by type are all of the mass."""
        report = Report(nbody6.Run(self.path("a")))
        with matplotlib.rc_context(style.STYLE):
            drawn = {name: draw(report).figure.axes[0] for name, draw in catalogue.STARS.items()}
        self.assertEqual(sum(line.get_ydata()[-1] for line in drawn["remnants"].lines), born)
        now = sum(numpy.nan_to_num(line.get_ydata()[-1]) for line in drawn["mass-by-type"].lines
                  if not line.get_label().startswith("lost"))
        self.assertAlmostEqual(now / (report.snapshot.mass.sum() * report.scale.factor("mass")), 1, places=12)
        self.assertIn("stars age by LEVEL='B'", story.physics(report))

    @unittest.skipIf(h5py is None, "h5py and numpy are not there")
    def test_snapshots(self):
        """Columns of the stars now; a run from a snapshot begins with stars as they are."""
        self.write("a.inp", tcrit=5)
        self.run_command("--quiet", "a.inp")
        with h5py.File(self.path("a.snap.00005.h5")) as file:
            group = file["PartType4"]
            column = {key: group[key][:] for key in group if "kept" in group[key].attrs}
            unit = file["nbody6"].attrs["mass_msun"]
            mass = group["Masses"][:] * unit
            time = file["nbody6"].attrs["t_myr"]
            self.assertEqual(group["StellarRadius"].attrs["unit"], b"Rsun")
        self.assertEqual(sorted(column), ["CoreMass", "EffectiveTemperature", "InitialStellarMass", "Metallicity", "StellarAge",
                                          "StellarLuminosity", "StellarRadius", "StellarType"])
        young = column["StellarType"] < 2
        numpy.testing.assert_allclose(column["InitialStellarMass"][young], mass[young], rtol=2e-3)
        numpy.testing.assert_allclose(column["StellarAge"][young & (mass < 5)], time, rtol=1e-12)
        self.assertEqual((column["StellarType"] == 4).sum(), 2)
        with open(self.path("b.inp"), "w") as file:
            file.write("&ININPUT KZ(19)=3 KZ(25)=2 LEVEL='B' TCRIT=2 DTADJ=1 DELTAT=2 /\n&INDATA ZMET=0.01 /\n"
                       "&INSSE DISP=100 /\n&INMODEL DATA='a.snap.00005.h5' /\n")
        self.run_command("--quiet", "b.inp")
        with h5py.File(self.path("b.snap.00000.h5")) as file:
            for key in ("StellarType", "StellarRadius", "StellarAge", "Metallicity"):
                # a body has up to 5e-4 more mass than its star had already
                numpy.testing.assert_allclose(file["PartType4"][key][:], column[key], rtol=2e-3, atol=1e-9)

    def test_born_before(self):
        """EPOCH0: what stars have become since they were born, they become at t = 0."""
        self.write("a.inp", tcrit=0.5, epoch=-19.1)
        self.run_command("--quiet", "a.inp")
        begin = self.events("a", "supernova")
        self.assertGreater(len(begin), 0)
        self.assertEqual(begin[0]["t"], 0)
        self.assertLess(begin[0]["t_myr"], 0)
        self.assertGreater(begin[0]["t_myr"], -19.1)

    def test_collisions(self):
        """Each merger is followed by a product with the mass of both, or less; all is booked; bits as above."""
        with open(self.path("a.inp"), "w") as file:
            file.write(DENSE.format(more=""))
        text = self.run_command("a.inp")
        mergers, products = self.events("a", "merger"), self.events("a", "product")
        self.assertGreater(len(products), 3)
        self.assertIn("%d collisions of two stars" % len(mergers), text)
        self.assertEqual(sorted(e["names"] for e in mergers), sorted(e["names"] for e in products))
        for event in products:
            merger = next(e for e in mergers if e["names"] == event["names"])
            self.assertTrue(0 <= event["t"] - merger["t"] <= 1 / 32, event)
            mass = list(event["masses_msun"])
            for k in (0, 1):  # a black hole takes a quarter of a star
                if event["types"][1 - k] == 14 and event["types"][k] < 10:
                    mass[k] *= 0.25
            self.assertAlmostEqual(event["mass_msun"] / sum(mass), 1, places=9)
        self.assertTrue(any(14 in e["types"] and min(e["types"]) < 10 for e in products))
        log = self.read("a.log.csv").decode().splitlines()
        column = log[0].split(",").index("de_rel")
        # as in runs with RSTAR: encounters of a few heavy stars, each of which is booked where it takes place
        self.assertLess(max(abs(float(row.split(",")[column])) for row in log if not row.startswith(("t", "#"))), 1e-5)
        begin = time.monotonic()
        self.run_command("--quiet", "--out", "c", "a.inp", env=dict(os.environ, OMP_NUM_THREADS="1"))
        took = time.monotonic() - begin
        self.assert_same_run("a", "c")
        # The run is short: it is killed before it can end
        self.assertGreater(self.kill_and_resume(test_seeds(3, 20), longest=0.6 * took), 0)
        self.assert_same_run("a", "b")

    def table(self, rows, head="mass [Msun] x [pc] y [pc] z [pc] vx [km/s] vy [km/s] vz [km/s] kw m0 [Msun] epoch1 [Myr] epoch [Myr]"):
        with open(self.path("s.txt"), "w") as file:
            names = head.replace(" [", "_[").split()
            file.write(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))

    def check_table(self, rows, *fragments, code=0, more=""):
        self.table(rows)
        with open(self.path("s.inp"), "w") as file:
            file.write("&ININPUT KZ(19)=3 LEVEL='A' TCRIT=0.125 %s /\n&INMODEL DATA='s.txt' /\n" % more)
        text = self.run_command("--overwrite", "s.inp", code=code)
        for fragment in fragments:
            self.assertIn(fragment, text)

    def test_stars_of_a_table(self):
        def rows(*stars):
            return [(m, k, 0.1 * k, 0, 0, 0.1 * k, 0, kind, m0, e1, e) for k, (m, kind, m0, e1, e) in enumerate(stars)]
        well = rows((1, 1, 1, -100, -100), (0.6, 11, 0.6, -50, -3000), (1.4, 13, 1.4, -1, -50), (2, -1, 2, 0, 0), (0.05, 0, 0.05, 0, 0))
        self.check_table(well)
        kept = sorted(name for name in os.listdir(self.folder) if "ckpt" in name)
        self.check_table(rows((1, 16, 1, 0, 0), (1, 1, 1, 0, 0)), "star 1", "type 16", "-1 to 15", code=2)
        self.check_table(rows((1, 1, 1, 0, 0), (200, 1, 200, 0, 0)), "star 2", "200", "at most 150", code=2)
        self.check_table(rows((1, 1, 1, 0, 3), (1, 1, 1, 0, 0)), "star 1", "epoch 3", code=2)
        self.check_table(rows((1, 3, 1, -10, 0), (1, 1, 1, 0, 0)), "star 1, of type 3", "age 10 Myr", code=2)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "ckpt" in name), kept)

    def test_masses_without_a_unit(self):
        with open(self.path("n.txt"), "w") as file:
            file.write("0.5 1 0 0 0 0.3 0\n0.5 -1 0 0 0 -0.3 0\n")
        with open(self.path("n.inp"), "w") as file:
            file.write("&ININPUT KZ(19)=3 LEVEL='A' TCRIT=0.125 /\n&INMODEL DATA='n.txt' /\n")
        self.assertIn("ZMBAR: stars age", self.run_command("n.inp", code=2))


if __name__ == "__main__":
    unittest.main()
