"""Columns of a data file that stay with the stars: types, radii and others, from tables, fort.12 and snapshots, through a
run, its checkpoints, escapers and mergers; radii that act."""

import os
import subprocess
import unittest

from run_support import NBODY6, RunTest
from test_positional import MCLUSTER_6

try:
    import h5py
    import numpy
except ImportError:
    h5py = None

# The head that McLuster with stellar evolution writes, and what becomes of its columns.
HEAD = ("#Mass_[Msun]\tx_[pc]\t\t\ty_[pc]\t\t\tz_[pc]\t\t\tvx_[km/s]\t\tvy_[km/s]\t\tvz_[km/s]\t\tMass(t=0)_[Msun]\tkw\t"
        "epoch1_[Myr]\tspin\t\tR_[Rsun]\tL_[Lsun]\tepoch_[Myr]\tZ\t\tM_V_[mag]\tV_[mag]\t\tB-V_[mag]\tT_eff_[K]\t"
        "dV_[mag]\td(B-V)")
KEPT = {"InitialStellarMass": "Msun", "StellarType": "1", "StellarEpoch": "Myr", "StellarSpin": "1/yr",
        "StellarRadius": "Rsun", "StellarLuminosity": "Lsun", "BirthEpoch": "Myr", "Metallicity": "1",
        "EffectiveTemperature": "K"}
N = 60


@unittest.skipIf(h5py is None, "h5py and numpy are not there")
class Properties(RunTest):
    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def cluster(self):
        """A cluster of ours: its rows in N-body units."""
        self.write("m.inp", "&ININPUT N=%d KZ(20)=6 / &INDATA BODY1=20 BODYN=0.1 /" % N)
        self.run_command("--init-only", "--overwrite", "--quiet", "m.inp")
        return numpy.loadtxt(self.path("m.dat10"))

    def values(self):
        """Columns behind the seven, as HEAD has them, different for each star."""
        k = numpy.arange(N)
        return numpy.column_stack([1.5 + k, k % 15, -0.25 * k, 1e3 * k, 0.5 + 0.125 * k, 2.0**(k % 20), 0 * k - 3, 0.02 + 0 * k,
                                   k, k + 0.5, k - 0.5, 4000 + k, k, k])

    def table(self, name="X.txt", head=HEAD, mass=40.0):
        rows = self.cluster() * ([mass] + 6 * [0.5])
        self.write(name, head + "\n" + "".join(
            "\t".join(map(repr, map(float, row))) + "\n" for row in numpy.column_stack([rows, self.values()])))

    def run_data(self, name, data, more="", groups="", end="0.5", code=0):
        self.write(name + ".inp", "&ININPUT TCRIT=%s DTADJ=0.25 DELTAT=0.25 %s /\n&INMODEL DATA='%s' %s /\n" % (
            end, more, data, groups))
        return self.run_command("--overwrite", name + ".inp", code=code)

    def kept(self, path):
        """Names of the stars, and what is kept with them: values and units."""
        with h5py.File(path) as file:
            group = file["PartType4"]
            found = {key: (group[key][:], group[key].attrs["unit"].decode()) for key in group if "kept" in group[key].attrs}
            return group["ParticleIDs"][:], found

    def assert_kept(self, path, columns, at=lambda name: name - 1):
        """A snapshot has these columns, and of each star what its line had."""
        names, found = self.kept(path)
        self.assertEqual({key: unit for key, (_, unit) in found.items()}, {key: unit for key, (_, unit) in columns.items()})
        for key, (values, _) in found.items():
            numpy.testing.assert_array_equal(values, columns[key][0][at(names)], key)
        return len(names)

    def columns(self, names=tuple(KEPT), places=(0, 1, 2, 3, 4, 5, 6, 7, 11)):
        values = self.values()
        return {key: (values[:, place], KEPT[key]) for key, place in zip(names, places)}

    def test_mcluster_table(self):
        """All that is known stays, from t = 0 to the end, in the model alone, and in a run from a snapshot."""
        self.table()
        text = self.run_data("a", "X.txt")
        self.write("a.inp", "&INMODEL DATA='X.txt' /")
        text = self.run_command("--check", "a.inp")
        self.assertIn("5 columns are not used; kept with them: InitialStellarMass (Msun), StellarType", text)
        self.run_command("--init-only", "a.inp")
        for path in self.snapshots() + [self.path("a.init.h5")]:
            self.assertEqual(self.assert_kept(path, self.columns()), N)
        self.run_data("b", "a.snap.00001.h5")
        for path in self.snapshots("b"):
            self.assert_kept(path, self.columns())

    def test_keep(self):
        """KEEP says which: also others, by their names; all; none. The dynamics do not know of it."""
        self.table()
        values = self.values()
        self.run_data("plain", "X.txt", groups="KEEP='none'")
        self.assert_kept(self.snapshots("plain")[-1], {})
        for name, keep, wanted in (("some", "KEEP='B-V, kw'", {"StellarType": (values[:, 1], "1"), "B-V": (values[:, 10], "mag")}),
                                   ("one", "KEEP='stellarradius'", {"StellarRadius": (values[:, 4], "Rsun")}),
                                   ("all", "KEEP='all'", dict(self.columns(), **{
                                       key: (values[:, place], unit) for key, place, unit in (
                                           ("M_V", 8, "mag"), ("V", 9, "mag"), ("B-V", 10, "mag"), ("dV", 12, "mag"),
                                           ("d", 13, "B-V"))}))):
            with self.subTest(name):
                self.run_data(name, "X.txt", groups=keep)
                self.assert_kept(self.snapshots(name)[-1], wanted)
                self.assertEqual(self.log_without_timings(name)[5:], self.log_without_timings("plain")[5:])
        for keep, fragment in (("KEEP='colour'", "KEEP: no line before the first row names a column colour"),
                               ("KEEP='a,,b'", "KEEP: nothing before a comma")):
            self.assertIn(fragment, self.run_data("bad", "X.txt", groups=keep, code=2))
        self.write("words.csv", "m,x,y,z,vx,vy,vz,type,note\n" + "".join(
            ",".join(map(repr, map(float, row))) + ",MS,good\n" for row in self.cluster()))
        self.run_data("words", "words.csv")
        self.assert_kept(self.snapshots("words")[-1], {})
        self.assertIn("words.csv:2: column 9 (note): 'good' is not a number",
                      self.run_data("words", "words.csv", groups="KEEP='note'", code=2))

    def test_units(self):
        """Radii and masses come in the units of snapshots; CSV with empty fields; units in a line, in the name, in ECSV."""
        rows = self.cluster()
        radius = 1 + numpy.arange(N)
        def table(name, head, more):
            self.write(name, head + "\n" + "".join(",".join(map(repr, map(float, row))) + more % r + "\n" for row, r in zip(rows, radius)))
        seven = "m,x,y,z,vx,vy,vz"
        for name, head, more, unit, factor in (
                ("km.csv", seven + ",radius [km]", ",%d", "Rsun", 1 / 695700), ("suffix.csv", seven + ",radius_rsun", ",%d", "Rsun", 1),
                ("bare.csv", seven + ",radius", ",%d", "length", 1), ("other.csv", seven + ",radius [furlong]", ",%d", "furlong", 1),
                ("lines.csv", seven + ",radius\nnbody,nbody,nbody,nbody,nbody,nbody,nbody,[Rsun]", ",%d", "Rsun", 1),
                ("t.ecsv", "# %ECSV 1.0\n# - {name: radius, unit: Rsun, datatype: float64}\n" + seven + ",radius", ",%d", "Rsun", 1)):
            with self.subTest(name):
                table(name, head, more)
                self.run_data("a", name, end="0.25")
                _, found = self.kept(self.snapshots()[-1])
                values, said = found["StellarRadius"]
                self.assertEqual(said, unit)
                numpy.testing.assert_allclose(values, radius * factor, rtol=1e-12)  # two roundings and the size of a parsec
        table("holes.csv", seven + ",kw,id", ",,%d")
        self.run_data("a", "holes.csv", end="0.25")
        self.assertTrue(numpy.isnan(self.kept(self.snapshots()[-1])[1]["StellarType"][0]).all())

    def stellar_files(self, numbers=5, first="", reverse=False):
        rows, values = self.cluster(), self.values()
        lines = ["%.8f %.0f %.8f %.8f %.8f%s\n" % (row[0] * 40, v[1], v[0], v[2], v[3], " 0.125" * (numbers - 5))
                 for row, v in zip(rows, values)]
        os.makedirs(self.path("x"), exist_ok=True)
        self.write("x/X.fort.12", first + "".join(lines[::-1] if reverse else lines))
        self.write("x/X.fort.10", "".join(" ".join(map(repr, map(float, row))) + "\n" for row in rows))
        self.write("x/X.input", MCLUSTER_6.format(n=N, nnb=30, kz8=0, kz12=2, kz14=0, kz22=4, nbin=0))

    def test_mcluster_with_stellar_parameters(self):
        """X.input with KZ(12) = 2 reads X.fort.12 beside it; the namelist made of it names the file."""
        self.stellar_files()
        wanted = self.columns(("StellarType", "InitialStellarMass", "StellarEpoch", "StellarSpin"), (1, 0, 2, 3))
        text = self.run_command("--dynamics-only", "--out", "a", "x/X.input")
        self.assertIn("stellar parameters are read from x/X.fort.12", text)
        made = subprocess.run([NBODY6, "--to-namelist", "--dynamics-only", "x/X.input"], cwd=self.folder, capture_output=True,
                              text=True, timeout=60).stdout
        self.assertIn("STELLAR='x/X.fort.12'", made)
        self.write("b.inp", made)
        self.run_command("--out", "b", "b.inp")
        self.assert_same_run("a", "b")
        self.assert_kept(self.snapshots()[-1], wanted)
        self.stellar_files(6, "1.0 2 3.0 4.0 5.0\n")
        self.run_command("--out", "c", "b.inp")
        wanted["CoreMass"] = (numpy.full(N, 0.125), "Msun")
        self.assert_kept(self.snapshots("c")[-1], wanted)

    def test_wrong_stellar_parameters(self):
        self.stellar_files(reverse=True)
        check = lambda: self.run_command("--check", "--dynamics-only", "x/X.input", code=2)
        self.assertIn("it is of other stars, or in another order", check())
        self.stellar_files()
        good = self.read("x", "X.fort.12").decode()
        for text, fragment in ((good.replace("40", "4o", 1), "no number"), (good + "1 1 1 1 1\n", "more lines than the 60 stars"),
                               (good[:good.rindex("\n", 0, -1) + 1], "59 lines, but the data file has 60"),
                               (good.replace(" ", " 1 1 1 ", 1), "more than six numbers"), ("1 2 3\n", "3 numbers")):
            self.write("x/X.fort.12", text)
            self.assertIn("x/X.fort.12", check())
            self.assertIn(fragment, check())
        self.stellar_files()
        self.assertIn("perhaps of stellar parameters as fort.12, and no input", self.run_command("x/X.fort.12", code=2))
        os.remove(self.path("x", "X.fort.12"))
        self.assertIn("STELLAR: data file fort.12: No such file", check())

    def test_escapers_and_resumed_runs(self):
        """Stars that leave take theirs along; a run that was interrupted goes on with the same bytes."""
        self.table()
        more, galaxy = "KZ(14)=2 KZ(23)=2 QE=0.1", " / &INXTRNL0 GMG=1E10 RG0=0.3"
        self.run_data("a", "X.txt", more, galaxy, end="2")
        left = self.assert_kept(self.snapshots()[-1], self.columns())
        self.assertLess(left, N)
        self.run_data("b", "X.txt", more, galaxy, end="1")
        self.run_command("--resume", "b.ckpt.h5", "--tcrit", "2")
        self.assert_same_run("a", "b")

    def test_collisionless(self):
        """nbody6-collisionless carries them too; it has no collisions."""
        self.table()
        text = "&ININPUT TCRIT=0.5 DTADJ=0.25 DELTAT=0.25 QE=1 /\n&INMODEL DATA='X.txt' %s /\n&INCOLLISIONLESS SOFTENING=0.1 DT=0.03125 /\n"
        self.write("a.inp", text % "")
        self.write("b.inp", (text % "").replace("TCRIT=0.5", "TCRIT=0.25"))
        self.write("c.inp", text % "RADII='collide'")

        def run(*arguments, code=0):
            done = subprocess.run([NBODY6 + "-collisionless", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertEqual(done.returncode, code, done.stdout)
            return done.stdout
        run("a.inp")
        run("b.inp")
        run("--resume", "b.ckpt.h5", "--tcrit", "0.5")
        for one, other in zip(self.snapshots("a"), self.snapshots("b")):
            self.assert_kept(one, self.columns())
            self.assertEqual(self.read(one), self.read(other))
        self.assertIn("RADII='collide': nbody6-collisionless has no collisions", run("c.inp", code=2))

    def test_radii_that_act(self):
        """RADII = 'collide' with equal radii is RSTAR; a star without a radius collides with none; a star keeps its own
        in a merger."""
        rows = self.cluster()
        write = lambda name, radii: self.write(name, "m x y z vx vy vz kw radius\n" + "".join(
            " ".join(map(repr, map(float, row))) + " %d %r\n" % (k + 1, r) for k, (row, r) in enumerate(zip(rows, radii))))
        write("equal.dat", N * [1e-2])
        self.run_data("a", "equal.dat", groups="RADII='collide'")
        self.run_data("b", "equal.dat", groups="/ &INRUN RSTAR=1e-2")
        self.run_data("c", "equal.dat")
        columns = {"StellarType": (1.0 + numpy.arange(N), "1"), "StellarRadius": (numpy.full(N, 1e-2), "length")}
        self.assertEqual(self.log_without_timings("a")[5:], self.log_without_timings("b")[5:])
        left = self.assert_kept(self.snapshots("a")[-1], columns)
        self.assertLess(left, N)
        self.assertEqual(self.assert_kept(self.snapshots("c")[-1], columns), N)
        names = lambda: [line for line in self.read("d.events.jsonl").decode().splitlines() if '"merger"' in line]
        write("half.dat", [1e-2 * (k % 2) for k in range(N)])
        self.run_data("d", "half.dat", groups="RADII='collide'", end="0.25")
        self.write("e.inp", self.read("d.inp").decode().replace("0.25 DTADJ", "0.5 DTADJ"))
        self.run_command("e.inp")
        self.run_command("--resume", "d.ckpt.h5", "--tcrit", "0.5")
        self.assert_same_run("d", "e")
        self.assertGreater(len(names()), 0)
        self.write("f.inp", "&INMODEL RADII='keep' /")
        self.assertIn("RADII: cannot become", self.run_command("--resume", "d.ckpt.h5", "f.inp", "--tcrit", "1", code=2))
        self.run_command("--resume", "d.ckpt.h5", "d.inp", "--tcrit", "1")

    def test_new_masses(self):
        """KZ(22) = 9: columns that belong to the masses of the file are dropped with them; those named by KEEP stay."""
        self.table()
        groups = "%s / &INDATA BODY1=10 BODYN=0.1"
        self.run_data("a", "X.txt", "KZ(22)=9 KZ(20)=6", groups % "", end="0.25")
        self.assert_kept(self.snapshots()[-1], {})
        self.run_data("b", "X.txt", "KZ(22)=9 KZ(20)=6", groups % "KEEP='spin'", end="0.25")
        self.assert_kept(self.snapshots("b")[-1], self.columns(("StellarSpin",), (3,)))
        for variable in ("RADII='collide'", "STELLAR='X.txt'"):
            said = self.run_data("c", "X.txt", "KZ(22)=9 KZ(20)=6", groups % variable, code=2)
            self.assertIn(variable.split("=")[0] + ": ", said)
        self.write("tree.dat", "2\n3\n0\n.5\n.5\n1 0 0\n-1 0 0\n0 .5 0\n0 -.5 0\n")
        self.assertIn("KEEP: tree.dat is no table", self.run_data("d", "tree.dat", "KZ(22)=3", "KEEP='kw'", code=2))

    def test_radii_refused(self):
        self.table("no.txt", HEAD.replace("R_[Rsun]", "R_[mm]"))
        for data, groups, fragment in (("no.txt", "RADII='collide'", "RADII: no.txt has no column of radii"),
                                       ("no.txt", "RADII='merge'", "'keep', 'collide'"),
                                       ("no.txt", "RADII='collide' / &INRUN RSTAR=1e-3", "remove RSTAR")):
            self.assertIn(fragment, self.run_data("a", data, groups=groups, code=2))
        self.write("made.inp", "&INMODEL RADII='collide' /")
        self.assertIn("RADII: belongs to a data file", self.run_command("made.inp", code=2))


if __name__ == "__main__":
    unittest.main()
