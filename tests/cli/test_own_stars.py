"""Stars of one's own: tables with heads and units, CSV, gzip, HDF5; units that are stated, found or refused; binaries."""

import gzip
import os
import random
import subprocess
import unittest

from run_support import NBODY6, RunTest, damage, test_seeds

try:
    import h5py
    import numpy
except ImportError:
    h5py = None

QUANTITIES = ["Masses", "Coordinates", "Velocities", "ParticleIDs"]
TIMES = "TCRIT=0.5 DTADJ=0.25 DELTAT=0.25"


@unittest.skipIf(h5py is None, "h5py and numpy are not there")
class OwnStarsTest(RunTest):
    def make_cluster(self, more="", n=60, groups=""):
        """A cluster in a file of ours and as a table, in N-body units; returns its stars and its units."""
        self.write("m.inp", "&ININPUT N=%d NRAND=5 RBAR=1.5 ZMBAR=0.6 %s %s /\n%s" % (n, TIMES, more, groups))
        self.run_command("--init-only", "--out", "m", "m.inp")
        with h5py.File(self.path("m.init.h5")) as file:
            stars = {name: file["PartType4"][name][:] for name in QUANTITIES}
            return stars, dict(file["nbody6"].attrs)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def physical(self, stars, units):
        """Rows m x y z vx vy vz in Msun, pc, km/s."""
        return numpy.column_stack([stars["Masses"] * units["mass_msun"], stars["Coordinates"] * units["length_pc"],
                                   stars["Velocities"] * units["velocity_kms"]])

    def run_data(self, data, model="", more="", name="d"):
        """A run from a data file; returns its snapshots as lists of arrays."""
        self.write(name + ".inp", "&ININPUT %s %s /\n&INMODEL DATA='%s' %s /\n" % (TIMES, more, data, model))
        self.run_command("--overwrite", name + ".inp")
        return self.snapshots(name)

    def snapshots(self, name):
        found = []
        for k in range(3):
            with h5py.File(self.path("%s.snap.%05d.h5" % (name, k))) as file:
                found.append({q: file["PartType4"][q][:] for q in QUANTITIES})
        return found

    def refuse(self, data, fragments, model="", more=""):
        self.write("bad.inp", "&ININPUT %s %s /\n&INMODEL DATA='%s' %s /\n" % (TIMES, more, data, model))
        text = self.run_command("bad.inp", code=2)
        for fragment in fragments:
            self.assertIn(fragment, text)
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("nbody6:")]), 1, text)
        return text

    def assert_same(self, a, b):
        for one, other in zip(a, b):
            for name in QUANTITIES:
                self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    # ---- the same stars in every form

    def test_nbody_units(self):
        self.make_cluster()
        self.run_command("m.inp")
        made = self.snapshots("m")
        with open(self.path("m.dat10")) as file:
            rows = file.read()
        with gzip.open(self.path("m.dat10.gz"), "wt") as file:
            file.write(rows)
        self.write("head.csv", "vz,vy,vx,z,y,x,m,id,kind\n" + "".join(
            ",".join(line.split()[::-1]) + ',%d,"a star, or so"\n' % (k + 1) for k, line in enumerate(rows.splitlines())))
        self.write("numbered.dat", "".join("9.9 text %s 1\n" % line for line in rows.splitlines()))
        units = "RBAR=1.5 ZMBAR=0.6"
        for data, model, more in (("m.dat10", "", units), ("m.dat10", "UNITS='nbody'", units),
                                  ("m.dat10", "", units + " KZ(22)=2"), ("m.dat10.gz", "", units),
                                  ("head.csv", "", units), ("head.csv", "COLUMNS='m x y z vx vy vz id'", units),
                                  ("numbered.dat", "COLUMNS='3,4,5,6,7,8,9'", units), ("m.init.h5", "", ""),
                                  ("m.init.h5", "UNITS='nbody' COLUMNS='PartType4'", ""),
                                  ("m.snap.00000.h5", "", "")):
            with self.subTest(data=data, model=model, more=more):
                self.assert_same(made, self.run_data(data, model, more))
        with h5py.File(self.path("m.snap.00000.h5")) as a, h5py.File(self.path("d.snap.00000.h5")) as b:
            for name in ("rbar_pc", "zmbar_msun", "mass_msun"):
                self.assertEqual(a["nbody6"].attrs[name], b["nbody6"].attrs[name])

    def test_physical_units(self):
        """Two roundings there and two back: within 4 units in the last place."""
        stars, units = self.make_cluster("KZ(20)=6", groups="&INDATA BODY1=20 BODYN=0.1 /\n")
        row = self.physical(stars, units)
        names = "mass x y z vx vy vz".split()
        self.write("plain.dat", "".join(" ".join(map(repr, map(float, r))) + "\n" for r in row))
        self.write("head.dat", "#Mass_[Msun] x_[pc] y_[pc] z_[pc] vx_[km/s] vy_[km/s] vz_[km/s] Mass(t=0)_[Msun] kw\n" + "".join(
            " ".join(map(repr, map(float, r))) + " 1.0 1\n" for r in row))
        self.write("suffix.csv", "star,mass_msun,x_pc,y_pc,z_pc,vx_kms,vy_kms,vz_kms\n" + "".join(
            "s," + ",".join(map(repr, map(float, r))) + "\n" for r in row))
        self.write("lines.txt", "# " + ", ".join(names) + "\n# Msun, pc, pc, pc, km/s, km/s, km/s\n" + "".join(
            " ".join(map(repr, map(float, r))) + "\n" for r in row))
        self.write("t.ecsv", "# %ECSV 1.0\n# ---\n# datatype:\n" + "".join(
            "# - {name: %s, unit: %s, datatype: float64}\n" % (name, unit)
            for name, unit in zip(names, ["solMass"] + 3 * ["pc"] + 3 * ["km / s"])) + " ".join(names) + "\n" + "".join(
            " ".join(map(repr, map(float, r))) + "\n" for r in row))
        self.write("mixed.csv", "m [Msun],x [kpc],y [pc],z [AU],vx [m s^-1],vy [km/s],vz [pc/Myr]\n" + "".join(
            ",".join(repr(float(q)) for q in r / [1, 1e3, 1, numpy.pi / 648000, 1e-3, 1, 0.97779222167]) + "\n" for r in row))
        for data, model, ulps in (("plain.dat", "UNITS='astro'", 4), ("plain.dat", "UNITS='Msun pc km/s'", 4),
                                  ("head.dat", "", 4), ("head.dat", "UNITS='astro'", 4), ("suffix.csv", "", 4),
                                  ("lines.txt", "", 4), ("t.ecsv", "", 4),
                                  # a factor of 11 digits for pc/Myr; all others are as exact as the rest
                                  ("mixed.csv", "", 1e6)):
            with self.subTest(data=data, model=model):
                first = self.run_data(data, model, "RBAR=1.5")[0]
                for name in QUANTITIES[:3]:
                    error = numpy.abs(first[name] - stars[name]) / numpy.spacing(numpy.abs(stars[name]))
                    self.assertLessEqual(error.max(), ulps, name)
        # KZ(22) = 10 says the same as UNITS='astro'
        self.assert_same(self.run_data("plain.dat", "UNITS='astro'", "RBAR=1.5"),
                         self.run_data("plain.dat", "", "RBAR=1.5 KZ(22)=10"))

    def test_gadget(self):
        """Units of the file, its only kind of particles or the one that is named, one mass for all of them."""
        stars, units = self.make_cluster()
        row = self.physical(stars, units)
        with h5py.File(self.path("g.h5"), "w") as file:
            header = file.create_group("Header").attrs
            header["MassTable"] = [0, row[0, 0] / 1e10, 0, 0, 0, 0]
            header["Time"], header["NumPart_ThisFile"] = 0.0, [0, len(row), 0, 0, 0, 0]
            group = file.create_group("PartType1")
            group["Coordinates"], group["Velocities"] = row[:, 1:4] * 1e-3, row[:, 4:]
            group["ParticleIDs"] = numpy.arange(len(row))  # from 0: no names of ours
        self.refuse("g.h5", ["neither the file nor the input says what they are in"])
        text = self.check("g.h5", "UNITS='gadget'", "RBAR=1.5")
        self.assertIn("ids are not used", text)
        with h5py.File(self.path("g.h5"), "a") as file:
            group = file.create_group("Units").attrs
            group["UnitLength_in_cm"], group["UnitMass_in_g"] = 3.0856775814913673e21, 1.988409870698051e43
            group["UnitVelocity_in_cm_per_s"] = 1e5
        for model in ("", "UNITS='gadget'"):
            first = self.run_data("g.h5", model, "RBAR=1.5")[0]
            for name in QUANTITIES[:3]:  # G of the file's solar mass is that of ours to 1e-6
                numpy.testing.assert_allclose(first[name], stars[name], rtol=1e-6, atol=1e-9)
        with h5py.File(self.path("g.h5"), "a") as file:
            file.copy("PartType1", "PartType4")
            file["PartType4"]["Masses"] = row[:, 0] / 1e10
            file["Header"].attrs["NumPart_ThisFile"] = [0, len(row), 0, 0, len(row), 0]
        self.refuse("g.h5", ["PartType1 and PartType4 have particles", "COLUMNS"])
        self.assertIn("60 stars from a HDF5 in the GADGET layout", self.check("g.h5", "COLUMNS='PartType4'"))

    def check(self, data, model="", more=""):
        self.write("c.inp", "&ININPUT %s %s /\n&INMODEL DATA='%s' %s /\n" % (TIMES, more, data, model))
        return self.run_command("--check", "c.inp")

    # ---- refusals

    def test_units_are_not_guessed(self):
        stars, units = self.make_cluster(n=540)
        row = self.physical(stars, units)
        self.assertAlmostEqual(row[:, 0].sum(), 324, 6)
        self.write("t.dat", "".join(" ".join(map(repr, map(float, r))) + "\n" for r in row))
        text = self.refuse("t.dat", ["the masses add up to 324", "as N-body units:   mass 324", "as Msun, pc, km/s: mass 324 Msun",
                                     "UNITS='astro'", "'nbody'"])
        # of a Plummer model in equilibrium: 0.5 by the half-mass radius within ten percent
        virial = float(text.split("km/s: virial ratio about ")[1].split()[0])
        self.assertTrue(0.4 < virial < 0.6, text)
        self.run_data("t.dat", "UNITS='nbody'", "RMIN=1e-3 DTMIN=1e-5 QE=1e9")
        self.write("h.dat", "# m [Msun] x [furlong] y [pc] z [pc] vx [km/s] vy [km/s] vz [km/s]\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n")
        self.refuse("h.dat", ["x [furlong]", "not known", "kpc"])
        self.write("h.dat", "# m [Msun] x [pc] y [pc] z [pc] vx vy vz\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n")
        self.refuse("h.dat", ["units are given for some of the columns"])
        self.write("h.dat", "# m [Msun] x [pc] y [pc] z [pc] vx [km/s] vy [km/s] vz [km/s]\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n")
        self.refuse("h.dat", ["says that it is in physical units", "UNITS='astro'"], "UNITS='nbody'")
        self.refuse("h.dat", ["different units for x"], "UNITS='Msun kpc km/s'")
        self.refuse("m.init.h5", ["says that it is in N-body units"], "UNITS='astro'")

    def test_contradictions(self):
        self.make_cluster()
        data = "m.dat10"
        self.refuse(data, ["bad.inp:2: UNITS: 'astro' is what KZ(22)=10 says, but KZ(22) is 2 (line 1)"], "UNITS='astro'",
                    "KZ(22)=2")
        self.refuse(data, ["bad.inp:2: UNITS: 'parsec' is no valid value", "'astro'"], "UNITS='parsec'")
        self.refuse(data, ["COLUMNS: 3 names; give seven"], "COLUMNS='m x y'")
        self.refuse(data, ["COLUMNS: x occurs twice"], "COLUMNS='m x x z vx vy vz'")
        self.refuse(data, ["names and numbers are mixed"], "COLUMNS='m 2 3 4 5 6 7'")
        self.refuse(data, ["no line before the first row has all the columns"], "COLUMNS='a b c d e f g'")
        self.refuse(data, ["7 columns, but COLUMNS wants one of number 9"], "COLUMNS='1 2 3 4 5 6 9'")
        self.refuse("m.init.h5", ["COLUMNS", "PartType4"], "COLUMNS='1 2 3 4 5 6 7'")
        self.refuse("m.init.h5", ["no stars in the GADGET layout in group PartType1"], "COLUMNS='PartType1'")
        self.write("bad.inp", "&INMODEL UNITS='astro' /\n")
        self.assertIn("UNITS: belongs to a data file", self.run_command("bad.inp", code=2))
        self.write("t.dat", "m,x,y,z,vx,vy,vz,m\n1,0,0,0,0,0,0,1\n1,1,0,0,0,0,0,1\n")
        self.refuse("t.dat", ["more than one column may be mass", "COLUMNS"])
        self.write("t.dat", "id,m,x,y,z,vx,vy,vz\n1,.5,0,0,0,0,0,0\n1,.5,1,0,0,0,0,0\n")
        self.assertIn("ids are not used", self.check("t.dat"))
        self.refuse("t.dat", ["two stars have the id 1"], "COLUMNS='m x y z vx vy vz id'")

    def test_other_files(self):
        self.make_cluster()
        self.run_command("m.inp")
        self.refuse("m.ckpt.h5", ["--resume"])
        with open(self.path("m.dat10"), "rb") as file:
            whole = gzip.compress(file.read())
        for name, data, words in (("t.gz", whole[:-200], "damaged or cut off"), ("t.xz", b"\xfd7zXZ\0", "compressed with xz"),
                                  ("t.xlsx", b"PK\x03\x04", "save as CSV"), ("t.fits", b"SIMPLE  =  T", "FITS")):
            with open(self.path(name), "wb") as file:
                file.write(data)
            self.refuse(name, [name, words])
        with open(self.path("m.init.h5"), "rb") as file:
            data = file.read()
        with open(self.path("cut.h5"), "wb") as file:
            file.write(data[:len(data) // 2])
        self.refuse("cut.h5", ["cut.h5", "damaged"])

    def test_stars_given_as_input(self):
        """A file of stars given as the input is refused, and the message shows the input to write."""
        self.make_cluster()
        self.run_command("m.inp")
        with open(self.path("m.dat10")) as file:
            rows = file.read()
        self.write("t.csv", "m,x,y,z,vx,vy,vz\n" + rows.replace(" ", ","))
        with gzip.open(self.path("t.gz"), "wt") as file:
            file.write(rows)
        self.write("long.csv", "m,x,y,z,vx,vy,vz\n" + rows * 200)
        for name in ("m.dat10", "t.csv", "t.gz", "long.csv", "m.init.h5"):
            self.assertIn("&INMODEL DATA='", self.run_command(name, code=2))
        self.assertIn("--resume", self.run_command("m.ckpt.h5", code=2))

    def test_chain_command(self):
        """nbody6-chain reads the same files, in units in which G = 1."""
        chain = os.path.join(os.path.dirname(NBODY6), "nbody6-chain")
        head = "id,z,y,x,vx,vy,vz,mass%s\n7,0,0,1,0,.5,0,1\n8,0,0,-1,0,-.5,0,1\n9,0,3,0,.1,0,0,1\n"
        for unit, code in (("", 0), (" [Msun]", 2)):
            self.write("t.csv", head % unit)
            done = subprocess.run([chain, "--tcrit", "0.1", "t.csv"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, code, done.stdout)
        self.assertIn("G = 1", done.stdout)

    def test_damaged_hdf5(self):
        """Bytes of a HDF5 file changed, removed and added: read or refused with one message."""
        self.make_cluster(n=20)
        rng, refused = random.Random(9), 0
        with open(self.path("m.init.h5"), "rb") as file:
            good = file.read()
        self.write("c.inp", "&INMODEL DATA='t.h5' /\n")
        for _ in range(test_seeds(70, 200)):
            data = bytearray(good)
            damage(rng, data)
            with open(self.path("t.h5"), "wb") as file:
                file.write(data)
            # HDF5 itself may lose memory over such a file
            environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
            done = subprocess.run([NBODY6, "--check", "c.inp"], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            messages = [line for line in done.stderr.splitlines() if line.startswith(b"nbody6: ")]
            self.assertEqual(len(messages), done.returncode // 2, done.stderr)
            refused += len(messages)
        self.assertGreater(refused, 20)

    # ---- what is in them

    def test_length_unit(self):
        """Without RBAR the virial radius, so that the energy is about -1/4."""
        stars, units = self.make_cluster(n=1000)
        row = self.physical(stars, units)
        self.write("t.csv", "m[Msun],x[pc],y[pc],z[pc],vx[km/s],vy[km/s],vz[km/s]\n" + "".join(
            ",".join(map(repr, map(float, r))) + "\n" for r in row))
        self.run_data("t.csv")
        with open(self.path("d.log.csv")) as file:
            table = [line.split(",") for line in file if not line.startswith("#")]
        energy = float(table[1][table[0].index("e_total")])
        with h5py.File(self.path("d.snap.00000.h5")) as file:
            rbar = file["nbody6"].attrs["rbar_pc"]
        # the half-mass radius of 1000 stars is that of the model to some percent
        self.assertTrue(abs(rbar / 1.5 - 1) < 0.1, rbar)
        self.assertTrue(abs(energy / -0.25 - 1) < 0.1, energy)

    def test_binaries_and_triples(self):
        """Found at any place in the table, reported, and regularized."""
        rng = random.Random(4)
        self.make_cluster(n=200)
        with open(self.path("m.dat10")) as file:
            stars = [[float(word) for word in line.split()] for line in file]
        stars = [star for star in stars if sum(q * q for q in star[1:4]) < 4]
        n_binary, n_triple = 9, 3
        rows = stars[n_binary + n_triple:]

        def pair(star, a, share):
            """Two stars on a circular orbit about the star's place."""
            v = (star[0] / a) ** 0.5
            one, two = list(star), list(star)
            one[0], two[0] = star[0] * share, star[0] * (1 - share)
            one[1] += a * (1 - share)
            two[1] -= a * share
            one[5] += v * (1 - share)
            two[5] -= v * share
            return [one, two]

        for k, star in enumerate(stars[:n_binary]):
            rows += pair(star, 1e-4 * (k + 1), 0.6)
        for star in stars[n_binary:n_binary + n_triple]:
            outer = pair(star, 3e-3, 0.7)
            rows += pair(outer[0], 1e-4, 0.5) + [outer[1]]
        rng.shuffle(rows)
        self.write("t.dat", "".join(" ".join(map(repr, row)) + "\n" for row in rows))
        self.write("d.inp", "&ININPUT %s /\n&INMODEL DATA='t.dat' /\n" % TIMES)
        words = "in them %d binaries, %d triples, semi-major axes of two stars from 0.0001 to 0.0009" % (n_binary, n_triple)
        self.assertIn(words, self.run_command("--check", "d.inp"))
        text = self.run_command("d.inp")
        self.assertIn(words, text)
        self.assertIn("regularized from the start: %d\n" % (n_binary + n_triple), text)

    def test_no_binaries(self):
        self.make_cluster(n=300)
        self.assertIn("no binaries in them", self.check("m.dat10"))

    # ---- layouts of other codes: KZ(22) = 3, 4, 7, 8; new masses: KZ(22) = 9

    @staticmethod
    def tree(rows):
        return "%d\n3\n0.0\n" % len(rows) + "".join(r[0] + "\n" for r in rows) + "".join(
            "%s %s %s\n" % tuple(r[1:4]) for r in rows) + "".join("%s %s %s\n" % tuple(r[4:7]) for r in rows)

    @staticmethod
    def particle(index, body, inside=""):
        return "(Particle\n%s(Log\n)Log\n(Dynamics\n  m  =  %s\n  r  =  %s %s %s\n  v  =  %s %s %s\n)Dynamics\n%s)Particle\n" % (
            "  i = %d\n" % index if index else "  N = 60\n", *body, inside)

    def test_layouts(self):
        self.make_cluster()
        with open(self.path("m.dat10")) as file:
            rows = [line.split() for line in file]
        root = ["1", "0", "0", "0", "0", "0", "0"]
        self.write("t.dat", self.tree(rows))
        self.write("s.dat", self.particle(0, root, "".join(self.particle(k + 1, r) for k, r in enumerate(rows))))
        self.write("d.dat", "".join(" ".join(r) + "\n" for r in rows))
        for table, tree, starlab, more in ((2, 3, 4, ""), (6, 7, 8, "")):
            as_table = self.run_data("d.dat", "", "KZ(22)=%d" % table)
            self.assert_same(as_table, self.run_data("t.dat", "", "N=7 KZ(22)=%d" % tree))
            self.assert_same(as_table, self.run_data("s.dat", "", "KZ(22)=%d" % starlab))

    def test_starlab_tree(self):
        """A binary as a particle of two: places are relative to it, and those of the outermost count for nothing.
        Quarters are exact in every sum."""
        single = ["0.5", "-1.25", "0", "0.5", "0", "-0.25", "0"]
        centre, parts = ["0.5", "1.25", "0", "-0.5", "0", "0.25", "0"], (["0.25", "0.125", "0", "0", "0", "1", "0"],
                                                                       ["0.25", "-0.125", "0", "0", "0", "-1", "0"])
        pair = self.particle(9, centre, "".join(self.particle(k + 1, b) for k, b in enumerate(parts)))
        self.write("s.dat", self.particle(0, ["1", "7", "7", "7", "7", "7", "7"], self.particle(3, single) + pair))
        self.write("d.dat", "id m x y z vx vy vz\n3 %s\n1 0.25 1.375 0 -0.5 0 1.25 0\n2 0.25 1.125 0 -0.5 0 -0.75 0\n" %
                   " ".join(single))
        self.assert_same(self.run_data("d.dat", "", "KZ(22)=2"), self.run_data("s.dat", "", "KZ(22)=4"))

    def test_new_masses(self):
        """Places of the file in its order up to one factor, masses of the mass function, in Msun."""
        stars, _ = self.make_cluster()
        self.write("n.inp", "&ININPUT N=60 %s KZ(22)=9 KZ(20)=6 NRAND=3 / &INDATA BODY1=20 BODYN=0.1 /\n"
                   "&INMODEL DATA='m.dat10' /" % TIMES)
        self.run_command("--init-only", "--out", "n", "n.inp")
        with h5py.File(self.path("n.init.h5")) as file:
            mass, x, units = (file["PartType4/Masses"][:], file["PartType4/Coordinates"][:], dict(file["nbody6"].attrs))
        msun = mass * units["mass_msun"]
        self.assertTrue(0.1 <= msun.min() < 0.2 and 0.5 < msun.max() <= 20 and abs(mass.sum() - 1) < 1e-14)
        ratio = (x[1:] - x[0]) / (stars["Coordinates"][1:] - stars["Coordinates"][0])
        self.assertLess(abs(ratio / ratio[0, 0] - 1).max(), 1e-9) # differences of numbers of order 1: 1e-16 over 1e-6

    def test_bad_layouts(self):
        good = ["0.5 1 0 0 0 0.5 0".split(), "0.5 -1 0 0 0 -0.5 0".split()]
        tree, root = self.tree(good), ["1", "0", "0", "0", "0", "0", "0"]
        starlab = self.particle(0, root, "".join(self.particle(k + 1, r) for k, r in enumerate(good)))
        for kz, text, fragments in (
                (3, tree[:-5], ["bad.dat:9: fewer than the 3 numbers of a line vx, and so on"]),
                (3, "\n".join(tree.split("\n")[:8]), ["bad.dat: the file ends after line 8, before the velocities"]),
                (3, tree.replace("3\n", "2\n", 1), ["number of dimensions; it is 2"]),
                (3, tree.replace("2\n", "2.5\n", 1), ["number of stars; 2.5 is none"]),
                (3, tree.replace("0.5\n", "0.5 1\n", 1), ["bad.dat:4: more than the 1 number of a line mass"]),
                (3, tree.replace("0.5\n", "-0.5\n", 1), ["bad.dat:4: the mass -0.5 is negative"]),
                (3, tree.replace("-1 0 0", "1 0 0"), ["star 2 is at the same place"]),
                (3, "2000000000\n3\n0\n1\n", ["the file ends after line 4, before the masses"]),
                (4, tree, ["bad.dat:1: a Starlab file begins with '(Particle'"]),
                (4, starlab[:-20], ["the file ends within a particle"]),
                (4, starlab.replace("  r  =  1 0 0\n", ""), ["bad.dat:10: this particle has no r"]),
                (4, starlab.replace("r  =  1 0 0", "r  =  1 0 x"), ["bad.dat:16: column 3 (z): 'x' is not a number"]),
                (8, self.particle(0, root), ["one star only"]),
                (4, "(Particle\n" * 300, ["bad.dat:257: particles stand more than 256 deep"])):
            self.write("bad.dat", text)
            with self.subTest(fragments=fragments):
                self.refuse("bad.dat", fragments, "", "KZ(22)=%d" % kz)
        self.write("bad.dat", tree)
        self.refuse("bad.dat", ["COLUMNS", "no table"], "COLUMNS='1 2 3 4 5 6 7'", "KZ(22)=3")
        self.refuse("bad.dat", ["UNITS: 'astro' is what KZ(22)=10 says"], "UNITS='astro'", "KZ(22)=4")


if __name__ == "__main__":
    unittest.main()
