"""Snapshots of PeTar, NBODY6++GPU and AMUSE as DATA: the stars that they hold, names of what is not read or missing."""

import gzip
import os
import random
import struct
import subprocess
import unittest

from run_support import NBODY6, RunTest, damage, test_seeds

try:
    import h5py
    import numpy

    import foreign_snapshots as foreign
except ImportError:
    h5py = None


@unittest.skipIf(h5py is None, "h5py and numpy are not there")
class ForeignSnapshotsTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write("m.inp", "&ININPUT N=60 NRAND=5 RBAR=1.5 ZMBAR=0.6 / &INDATA ALPHAS=2.3 BODY1=5 BODYN=0.2 /\n")
        self.run_command("--init-only", "--out", "m", "m.inp")
        self.nbody = numpy.loadtxt(self.path("m.dat10"))
        with h5py.File(self.path("m.init.h5")) as file:
            unit = dict(file["nbody6"].attrs)
        self.physical = self.nbody * ([unit["mass_msun"]] + 3 * [unit["length_pc"]] + 3 * [unit["velocity_kms"]])

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def read_stars(self, data, model="", more="RBAR=1.5"):
        """The rows that a file is read as, in N-body units, and names."""
        self.write("t.inp", "&ININPUT %s /\n&INMODEL DATA='%s' %s /\n" % (more, data, model))
        self.run_command("--init-only", "--overwrite", "--quiet", "t.inp")
        with h5py.File(self.path("t.init.h5")) as file:
            group = file["PartType4"]
            return numpy.column_stack([group["Masses"][:], group["Coordinates"][:], group["Velocities"][:]]), \
                list(group["ParticleIDs"][:])

    def check(self, data, model="", more="RBAR=1.5", code=0):
        self.write("t.inp", "&ININPUT %s /\n&INMODEL DATA='%s' %s /\n" % (more, data, model))
        text = self.run_command("--check", "t.inp", code=code)
        if code:
            self.assertEqual(text.count("nbody6: "), 1, text)
        return text

    def refuse(self, data, fragments, model="", more=""):
        text = self.check(data, model, more, code=2)
        for fragment in fragments:
            self.assertIn(fragment, text)

    def assert_stars(self, data, wanted, model="", rtol=1e-12, more="RBAR=1.5"):
        rows, names = self.read_stars(data, model, more)
        numpy.testing.assert_allclose(rows, wanted, rtol=rtol, atol=rtol)
        return names

    def test_own_snapshots(self):
        """Their units are right whatever their virial ratio is, as of a cluster with tidal tails."""
        self.assertNotIn("virial ratio Q =", self.check("m.init.h5"))
        with h5py.File(self.path("m.init.h5"), "a") as file:
            file["PartType4"]["Velocities"][:] *= 5
        text = self.check("m.init.h5")
        self.assertRegex(text, r"virial ratio Q +12\.5, as it is")
        self.assertNotIn("virial ratio Q =", text)
        numpy.savetxt(self.path("t.dat"), self.nbody * [1, 1, 1, 1, 5, 5, 5])
        self.assertIn("virial ratio Q = 12.5", self.check("t.dat"))  # of a table it is warned of

    # ---- PeTar

    def test_petar(self):
        """Text, gzip and binary files, with and without stellar evolution and a centre: the same stars."""
        petar = self.physical / ([1] * 4 + [0.97779222167] * 3)  # km/s in pc/Myr
        for stellar in (False, True):
            for centre in (None, [1e3, 2e3, 3e3, 10, 220, 5]):
                for binary in (False, True):
                    foreign.write_petar(self.path("data.3"), petar, binary, stellar, centre)
                    with self.subTest(stellar=stellar, centre=centre, binary=binary):
                        self.assert_stars("data.3", self.nbody, "UNITS='Msun pc pc/Myr'", 1e-10)
                        text = self.check("data.3", "UNITS='Msun pc pc/Myr'")
                        self.assertIn("from a snapshot of PeTar (%s)" % ("binary" if binary else "text"), text)
                        self.assertIn("Msun, pc, pc/Myr, as UNITS says", text)
                        self.assertIn("not read: the centre in the header, binary states, radii" if centre else
                                      "not read: binary states, radii", text)
                        self.assertIn("of t = 2.5 there", text)
                        self.refuse("data.3", ["'Msun pc pc/Myr'", "PeTar with its option -u 1"])
        foreign.write_petar(self.path("data.3"), petar)
        with open(self.path("data.3"), "rb") as file, gzip.open(self.path("data.gz"), "wb") as packed:
            packed.write(file.read())
        self.assert_stars("data.gz", self.nbody, "UNITS='Msun pc pc/Myr'", 1e-10)
        foreign.write_petar(self.path("data.0"), self.nbody, binary=True)  # with -u 0: masses that add up to 1
        self.assert_stars("data.0", self.nbody)
        self.assert_stars("data.0", self.nbody[:40], "UNITS='nbody'", more="N=40")

    def test_petar_faults(self):
        for binary in (False, True):
            foreign.write_petar(self.path("p"), self.nbody, binary)
            self.refuse("p", ["KEEP: of snapshots of PeTar"], "KEEP='id'")
            self.refuse("p", ["60 stars, but N = 61"], more="N=61")
            rows = self.nbody.copy()
            rows[7, 2] = numpy.nan if binary else 1e300
            foreign.write_petar(self.path("p"), rows, binary)
            self.refuse("p", ["y of star 8 is"])
            rows[7] = rows[6]
            foreign.write_petar(self.path("p"), rows, binary)
            self.refuse("p", ["star 8 is at the same place"])
        foreign.write_petar(self.path("p"), self.nbody, n=61)
        self.refuse("p", ["a snapshot of PeTar with N = 61 in its first line, but with 60 rows"])
        foreign.write_petar(self.path("p"), self.nbody, n=59)
        self.refuse("p", ["p:61: one row too many"])
        foreign.write_petar(self.path("p"), self.nbody)
        with open(self.path("p"), "a") as file:
            file.seek(0, 2)
        with open(self.path("p")) as file:
            lines = file.read().splitlines()
        lines[5] = lines[5][:100]
        self.write("p", "\n".join(lines) + "\n")
        self.refuse("p", ["p:6: no row of 17 numbers or more, in a snapshot of PeTar"])

    # ---- NBODY6++GPU

    def test_step(self):
        """Single precision: 24 bits. In N-body units, and in physical ones."""
        names = [3 * k + 7 for k in range(60)]
        for rows, words in ((self.nbody, "N-body units, as the file says"),
                            (self.physical, "Msun, pc, km/s, as the file says")):
            with h5py.File(self.path("snap.40_1.h5part"), "w") as file:
                foreign.write_step(file, 0, rows, names, time=1.0)
            self.assertEqual(self.assert_stars("snap.40_1.h5part", self.nbody, rtol=2e-6), names)
            text = self.check("snap.40_1.h5part")
            self.assertIn("from a snapshot of NBODY6++GPU, Step#0", text)
            self.assertRegex(text, "units of the data +" + words)
            self.assertIn("of t = 1 there", text)
            self.assertIn("not read: forces", text)

    def test_steps(self):
        """The step with most stars, the last of them; the others hold active stars alone. COLUMNS names another one."""
        with h5py.File(self.path("s.h5"), "w") as file:
            for step in range(12):
                rows = self.nbody.copy()
                rows[:, 1] += step
                n = 60 if step % 5 == 0 else 20 + step
                foreign.write_step(file, step, rows[:n], range(1, n + 1), time=step)
        self.assertIn("Step#10;", self.check("s.h5"))
        self.assertIn("Step#11;", self.check("s.h5", "COLUMNS='Step#11' UNITS='nbody'"))
        self.refuse("s.h5", ["without stars in Step#12"], "COLUMNS='Step#12'")
        self.refuse("s.h5", ["no columns that COLUMNS could name"], "COLUMNS='1 2 3 4 5 6 7'")
        self.refuse("s.h5", ["KEEP: of snapshots of NBODY6++GPU"], "KEEP='031 KW'")
        with h5py.File(self.path("s.h5"), "a") as file:
            del file["Step#10"]["005 V2"]
        self.refuse("s.h5", ['Step#10 has no dataset "005 V2"'])

    def test_step_with_binaries(self):
        """Members of a hard binary, which single precision has lost at its place, come from their relative motion; centres
        of mass among the stars are left out."""
        rows = self.nbody.copy()
        pairs = [(0, 1), (2, 3), (10, 11)]
        for (i, j), a in zip(pairs, (1e-6, 1e-3, 1e-2)):
            speed = ((rows[i, 0] + rows[j, 0]) / a) ** 0.5
            rows[j, 1:] = rows[i, 1:] + [a, 0, 0, 0, speed, 0]
        for centres in (False, True):
            with h5py.File(self.path("b.h5"), "w") as file:
                foreign.write_step(file, 0, rows, range(1, 61), pairs=pairs, centres=centres)
            found, names = self.read_stars("b.h5", "UNITS='nbody'")
            self.assertEqual(names, list(range(1, 61)))
            numpy.testing.assert_allclose(found, rows, rtol=2e-6, atol=3e-5)  # 24 bits of speeds up to 170
            for i, j in pairs:  # of the separation, not of the place
                numpy.testing.assert_allclose((found[i] - found[j])[[1, 5]], (rows[i] - rows[j])[[1, 5]], rtol=1e-5)
            self.assertIn("in them 3 binaries", self.check("b.h5", "UNITS='nbody'"))
        with h5py.File(self.path("b.h5"), "w") as file:  # relative places in AU: those of the stars stay
            foreign.write_step(file, 0, rows, range(1, 61), pairs=pairs, rel_unit=206264.8)
        found = self.read_stars("b.h5", "UNITS='nbody'")[0]
        numpy.testing.assert_allclose(found[12:], rows[12:], rtol=2e-6, atol=2e-6)
        with h5py.File(self.path("b.h5"), "w") as file:
            foreign.write_step(file, 0, rows, range(1, 61), pairs=pairs, members=False)
        self.refuse("b.h5", ['star 1 of "161 Bin Name1" is not among the stars', "before 2021"])

    def test_other_files_of_nbody6(self):
        """Outputs that are not read are called by their names."""
        record = struct.pack("=iiiiii", 16, 60, 1, 1, 20, 16)
        with open(self.path("conf.3_0"), "wb") as file:
            file.write(record + struct.pack("=i80si", 80, b"", 80))
        self.refuse("conf.3_0", ["is a binary file of Fortran, as conf.3"])
        self.write("single.40_0", " ## N_STAR          60  Time[NB]   0.0\n" + " 0.0 0.0 0.0\n" * 30)
        self.refuse("single.40_0", ["the text output single.40_T of NBODY6++GPU", "snap.40_T.h5part"])

    # ---- AMUSE

    def test_amuse(self):
        """Both versions, three systems of units; the last set of a history."""
        old = [self.nbody + 1]
        for version in (1, 2):
            for units, rows in (("si", self.physical), ("astro", self.physical), ("nbody", self.nbody)):
                with self.subTest(version=version, units=units):
                    foreign.write_amuse(self.path("a.hdf5"), {None: old + [rows]}, units, version, more=("radius", "age"))
                    self.assert_stars("a.hdf5", self.nbody, rtol=1e-9)
                    text = self.check("a.hdf5")
                    self.assertIn("from a file of AMUSE", text)
                    names = {"si": "kg, m, m/s", "astro": "Msun, pc, km/s", "nbody": "N-body units"}
                    self.assertIn("%s, as the file says" % names[units], text)
                    self.assertIn("not read: age, radius", text)
        foreign.write_amuse(self.path("a.hdf5"), {None: [self.physical]}, "none")
        self.refuse("a.hdf5", ["neither the file nor the input says what they are in"])
        self.assert_stars("a.hdf5", self.nbody, "UNITS='astro'", rtol=1e-9)

    def test_amuse_sets(self):
        foreign.write_amuse(self.path("a.hdf5"), {"gas": [self.physical * 2], "stars": [self.physical]})
        self.refuse("a.hdf5", ["with the sets gas, stars: say which are the stars", "COLUMNS='"])
        self.assert_stars("a.hdf5", self.nbody, "COLUMNS='stars'", rtol=1e-9)
        self.refuse("a.hdf5", ["without a set of particles of the name dust"], "COLUMNS='dust'")
        self.refuse("a.hdf5", ["KEEP: of files of AMUSE"], "KEEP='radius' COLUMNS='stars'")
        foreign.write_amuse(self.path("a.hdf5"), {None: [self.physical]}, absent=("vy",))
        self.refuse("a.hdf5", ["of AMUSE, have no attribute vy"])
        with h5py.File(self.path("a.hdf5"), "w") as file:
            file.create_group("AMUSE_INF")
        self.refuse("a.hdf5", ["a file of AMUSE without a set of particles"])

    def test_amuse_units(self):
        """Texts that are no unit of their quantity are refused by the name of the attribute, whatever they are."""
        length, second = foreign.base("S.I.", "length"), foreign.base("S.I.", "time")
        for text in (second, "(%s * %s)" % (length, length), "", "(" * 5000, "(-1.0 * %s)" % length, length + ")", "1e3",
                     "system.get('S.I.').base('length", "system.get('cgs').base('length')", "nan * " + length, length + " + 1",
                     "(2.0 * %s)" % foreign.base("nbody", "length"), "__import__('os').system('touch made')"):
            foreign.write_amuse(self.path("a.hdf5"), {None: [self.physical]})
            with h5py.File(self.path("a.hdf5"), "a") as file:
                file["data/0000000001/attributes/y"].attrs["units"] = text
            self.refuse("a.hdf5", ["the unit of the column 'y' is not known" if text else "units are given"])
        for text in ("%r * %s" % (foreign.PC_M, length), "(%s*%r)" % (length, foreign.PC_M),
                     "((%s**2.0) * %r) / %s" % (length, foreign.PC_M, length),
                     'system.get("S.I.").base("length") * 30856775814913673.0'):
            foreign.write_amuse(self.path("a.hdf5"), {None: [self.physical]})
            with h5py.File(self.path("a.hdf5"), "a") as file:
                attributes = file["data/0000000001/attributes"]
                attributes["y"][:] = self.physical[:, 2]
                attributes["y"].attrs["units"] = text
            self.assert_stars("a.hdf5", self.nbody, rtol=1e-9)

    def test_damaged(self):
        """Bytes changed, removed and added: read or refused with one message."""
        rng = random.Random(5)
        foreign.write_amuse(self.path("0"), {None: [self.physical]})
        with h5py.File(self.path("1"), "w") as file:
            foreign.write_step(file, 0, self.nbody, range(1, 61), pairs=[(0, 1)])
        foreign.write_petar(self.path("2"), self.nbody, binary=True)
        foreign.write_petar(self.path("3"), self.nbody)
        refused = 0
        for case in range(test_seeds(60, 300)):
            data = bytearray(self.read(str(case % 4)))
            damage(rng, data)
            with open(self.path("d"), "wb") as file:
                file.write(data)
            self.write("t.inp", "&INMODEL DATA='d' UNITS='scaled' /\n")
            done = subprocess.run([NBODY6, "--check", "t.inp"], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
            self.assertIn(done.returncode, (0, 2), done.stderr)
            messages = [line for line in done.stderr.splitlines() if line.startswith(b"nbody6: ")]
            self.assertEqual(len(messages), done.returncode // 2, done.stderr)
            refused += len(messages)
        self.assertGreater(refused, 10)


if __name__ == "__main__":
    unittest.main()
