"""HDF5 files that others made, or that are damaged: read as they say, or refused with one sentence that says why, by
each program and command that reads them; never a signal."""

import os
import random
import shutil
import subprocess
import unittest

from run_support import BUILD, NBODY6, RunTest, test_seeds

try:
    import h5py
    import numpy
    from mutated_hdf5 import SEAL_BYTES, mutate, raw_places, say_huge, seal_anew, write_gadget
except ImportError:
    h5py = None

COLLISIONLESS = os.path.join(BUILD, "nbody6-collisionless")
INPUT = "&ININPUT TCRIT=0.25 DTADJ=0.25 DELTAT=0.25 %s /\n&INMODEL DATA='%s' %s /\n"
PLUG_IN = 32000  # LZF as h5py registers it: no filter of HDF5 itself


@unittest.skipIf(h5py is None, "h5py and numpy are not there")
class ForeignTest(RunTest):
    def command(self, *command, code=0):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=60)
        self.assertEqual(done.returncode, code, "%s: %s" % (command, done.stdout))
        return done.stdout

    def check(self, data="g.h5", model="", more="", code=0):
        with open(self.path("g.inp"), "w") as file:
            file.write(INPUT % (more, data, model))
        return self.command(NBODY6, "--check", "g.inp", code=code)

    def refuse(self, *fragments, data="g.h5", model="", more=""):
        """Refused with one message, which has all fragments."""
        text = self.check(data, model, more, code=2)
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("nbody6:")]), 1, text)
        for fragment in fragments:
            self.assertIn(fragment, text)

    def refuse_alike(self, *fragments):
        """nbody6-collisionless says the same."""
        self.refuse(*fragments)
        with open(self.path("c.inp"), "w") as file:
            file.write(INPUT % ("", "g.h5", "") + "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 /\n")
        text = self.command(COLLISIONLESS, "c.inp", code=2)
        for fragment in fragments:
            self.assertIn(fragment, text)

    def change(self, name="g.h5"):
        return h5py.File(self.path(name), "a")

    def gadget(self, **options):
        write_gadget(self.path("g.h5"), **options)

    def stars_of(self, data):
        """The program's reaction to a file."""
        with open(self.path("g.inp"), "w") as file:
            file.write(INPUT % ("", data, ""))
        self.command(NBODY6, "--init-only", "--overwrite", "--out", "s", "g.inp")
        with h5py.File(self.path("s.init.h5")) as file:
            return {name: file["PartType4"][name][:] for name in ("Masses", "Coordinates", "Velocities", "ParticleIDs")}

    def assert_same_stars(self, one, other):
        for name in one:
            self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    # ---- what is read

    def test_ways_of_storing(self):
        """Pieces, compression, byte order and the latest format change nothing."""
        self.gadget()
        plain = self.stars_of("g.h5")
        for options in ({"chunk": 24}, {"chunk": 1}, {"chunk": 1000, "maxshape": None},
                        {"chunk": 24, "compression": "gzip", "shuffle": True, "fletcher32": True},
                        {"chunk": 64, "libver": "latest"}, {"libver": "latest"}):
            with self.subTest(options=options):
                if "maxshape" in options:
                    options["chunk"], options["maxshape"] = 64, None
                write_gadget(self.path("h.h5"), **options)
                self.assert_same_stars(plain, self.stars_of("h.h5"))
        with h5py.File(self.path("g.h5")) as old, h5py.File(self.path("h.h5"), "w") as new:
            old.copy("Header", new)
            for name, kind in zip(("Coordinates", "Velocities", "Masses", "ParticleIDs"), (">f8", ">f8", ">f8", ">i2")):
                new["PartType4/" + name] = old["PartType4"][name][:].astype(kind)
        self.assert_same_stars(plain, self.stars_of("h.h5"))
        shutil.move(self.path("h.h5"), self.path("inner.h5"))
        with open(self.path("inner.h5"), "rb") as inner, open(self.path("h.h5"), "wb") as outer:
            outer.write(bytes(2048) + inner.read())
        with h5py.File(self.path("g.h5")) as old, h5py.File(self.path("h.h5"), "w", userblock_size=2048) as new:
            old.copy("Header", new)
            old.copy("PartType4", new)
        self.assert_same_stars(plain, self.stars_of("h.h5"))

    def test_links_within(self):
        """SWIFT gives groups a second name by a soft link."""
        self.gadget()
        plain = self.stars_of("g.h5")
        with self.change() as file:
            file["StarsParticles"] = h5py.SoftLink("/PartType4")
            stars = file["PartType4"]
            stars.move("Masses", "heavy")
            stars["Masses"] = h5py.SoftLink("/PartType4/heavy")
        self.assert_same_stars(plain, self.stars_of("g.h5"))
        self.assertIn("64 stars", self.check(model="COLUMNS='StarsParticles'"))

    def test_swift(self):
        """Seven kinds of particles, and numbers as rows of one."""
        counts = numpy.array([0, 0, 0, 0, 64, 0, 0], dtype="u8")
        self.gadget(header={"NumPart_ThisFile": counts, "NumPart_Total": counts, "NumPart_Total_HighWord": 0 * counts,
                            "MassTable": numpy.zeros(7), "Time": [0.5], "Redshift": [0.0], "NumFilesPerSnapshot": [1],
                            "HubbleParam": None, "Omega0": None})
        self.assertIn("64 stars", self.check())
        with self.change() as file:
            file.create_group("Cosmology").attrs["Cosmological run"] = numpy.array([1], dtype="i4")
        self.refuse("a cosmological snapshot")

    def test_mass_table(self):
        table = numpy.zeros(6)
        table[4] = 0.7
        self.gadget(header={"MassTable": table})
        with self.change() as file:
            del file["PartType4/Masses"]
        self.assertIn("44.8 Msun", self.check())
        with self.change() as file:
            file["Header"].attrs["MassTable"] = table[:3]
        self.refuse("neither Masses nor a MassTable")

    # ---- what its header says

    def split(self, *rows, name="part.%d.hdf5", **header):
        """The stars of g.h5 in several files, so many rows in each."""
        with h5py.File(self.path("g.h5")) as whole:
            first = 0
            for k, n in enumerate(rows):
                with h5py.File(self.path(name % k), "w") as file:
                    whole.copy("Header", file)
                    attributes = file["Header"].attrs
                    attributes["NumPart_ThisFile"] = numpy.array([0, 0, 0, 0, n, 0], dtype="u4")
                    attributes["NumFilesPerSnapshot"] = len(rows)
                    for key, value in header.items():
                        attributes[key] = value
                    for key in whole["PartType4"] if n else ():
                        file["PartType4/" + key] = whole["PartType4"][key][first:first + n]
                first += n

    def test_several_files(self):
        """Whichever of them is named, all are read, also those without stars; pieces of other kinds need no other."""
        self.gadget()
        with self.change() as file:
            file["PartType4/colour"] = numpy.arange(64.0)
        whole = self.stars_of("g.h5")
        self.split(10, 0, 30, 24)
        self.split(0, 64, name="snap_%03d.hdf5.hdf5")
        self.split(1, 63, name="zero.%02d.h5")
        for k in (0, 2, 3):
            self.assert_same_stars(whole, self.stars_of("part.%d.hdf5" % k))
        self.assert_same_stars(whole, self.stars_of("zero.01.h5"))
        self.assert_same_stars(whole, self.stars_of("snap_001.hdf5.hdf5"))  # all of its kind are here
        with open(self.path("k.inp"), "w") as file:
            file.write(INPUT % ("", "part.0.hdf5", "KEEP='colour'"))
        self.command(NBODY6, "--init-only", "--out", "k", "k.inp")
        with h5py.File(self.path("k.init.h5")) as file:
            self.assertEqual(list(file["PartType4/colour"]), list(range(64)))
        self.assertIn("20 stars", self.check("part.0.hdf5", more="N=20"))

    def test_part_of_several_files(self):
        total = numpy.array([0, 0, 0, 0, 128, 0], dtype="u4")
        self.gadget(header={"NumFilesPerSnapshot": 2, "NumPart_Total": total})
        self.refuse_alike("one of 2 files of a snapshot, with 64 of 128 particles of PartType4")
        self.gadget(header={"NumFilesPerSnapshot": 2, "NumPart_Total": None})
        self.refuse("one of 2 files of a snapshot, with 64 particles")
        high = numpy.array([0, 0, 0, 0, 1, 0], dtype="u4")
        self.gadget(header={"NumPart_Total_HighWord": high})
        self.refuse("64 of 4294967360")
        # others of the same snapshot hold other kinds only
        self.gadget(header={"NumFilesPerSnapshot": 2})
        self.assertIn("64 stars", self.check())
        self.split(20, 20, 24)
        os.remove(self.path("part.1.hdf5"))
        self.refuse("one of 3 files of a snapshot, with 20 of 64 particles", "part.1.hdf5 is missing",
                    data="part.0.hdf5")
        self.split(20, 20, 20)
        self.refuse("there are 60 in all of them", data="part.2.hdf5")
        self.split(20, 20, 24)
        with self.change("part.1.hdf5") as file:
            file["Header"].attrs["NumPart_Total"] = total
        self.refuse("part.1.hdf5 belongs to another one", data="part.0.hdf5")
        self.split(20, 20, 24)
        with self.change("part.1.hdf5") as file:
            del file["PartType4/Masses"]
            file["PartType4"].create_dataset("Masses", (20,), dtype="f8")
        self.refuse("part.1.hdf5: Masses is not stored as a whole", data="part.0.hdf5")
        with open(self.path("part.1.hdf5"), "w") as file:
            file.write("no HDF5")
        self.refuse("part.1.hdf5: HDF5 failed to open", data="part.0.hdf5")
        self.gadget()
        self.split(20, 44, NumFilesPerSnapshot=2000000000)
        self.refuse("join them", data="part.0.hdf5")

    def test_rows_unlike_the_header(self):
        for count in (63, 65, 0):
            self.gadget(header={"NumPart_ThisFile": numpy.array([0, 0, 0, 0, count, 0], dtype="i4")})
            self.refuse_alike("64 rows", "NumPart_ThisFile of the header says %d" % count)
        self.gadget()
        for name in ("Masses", "Velocities", "ParticleIDs"):
            self.gadget()
            with self.change() as file:
                values = file["PartType4"][name][:-1]
                del file["PartType4"][name]
                file["PartType4"][name] = values
            self.refuse(name)

    def test_hubble_parameter(self):
        """Without cosmology it may be in the units or not: a note has both readings."""
        for header in ({"HubbleParam": 0.5}, {"HubbleParam": 0.5, "Omega0": None}):
            self.gadget(header=header)
            text = self.check()
            self.assertIn("HubbleParam = 0.5 in a file without cosmology is not used", text)
            mass = float(text.split("is not used: ")[1].split()[0])
            self.assertIn("it would be %.4g Msun, and lengths 2 times as large" % (2 * mass), text)
        self.gadget()
        self.assertNotIn("HubbleParam", self.check())
        self.gadget(header={"HubbleParam": 0.5, "Omega0": 0.3})
        self.refuse("a cosmological snapshot")
        self.gadget(header={"HubbleParam": 0.5, "Omega0": None, "Omega_Matter": 0.3})
        self.refuse("a cosmological snapshot")
        self.gadget(header={"HubbleParam": None, "Omega0": None})
        with self.change() as file:
            parameters = file.create_group("Parameters").attrs
            parameters["HubbleParam"], parameters["Omega0"] = 0.5, 0.3
        self.refuse("a cosmological snapshot")

    def test_gizmo(self):
        """Its names of the units."""
        self.gadget()
        plain = self.stars_of("g.h5")
        units = {"UnitLength_in_cm": None, "UnitMass_in_g": None, "UnitVelocity_in_cm_per_s": None}
        self.gadget(header=units)
        self.refuse("neither the file nor the input says what they are in")
        self.gadget(header=dict(units, UnitLength_In_CGS=3.0856775814913673e18, UnitMass_In_CGS=1.988409870698051e33,
                                UnitVelocity_In_CGS=1e5))
        self.assert_same_stars(plain, self.stars_of("g.h5"))
        self.refuse("the file and UNITS of &INMODEL give different units", model="UNITS='gadget'")

    # ---- what is refused for how it is stored

    def test_texts_and_rows_for_numbers(self):
        """Attributes and datasets of other types and shapes."""
        odd = {"texts": numpy.full(150, b"x" * 400, dtype="S400"), "a text": numpy.bytes_(b"y" * 5000),
               "numbers": numpy.arange(5000.0), "no numbers": h5py.Empty("f8"),
               "a record": numpy.zeros(1, dtype=[("a", "f8", (300,)), ("b", "S300")]),
               "an array": None, "half precision": numpy.float16(1)}
        for name in ("Time", "HubbleParam", "NumPart_ThisFile", "MassTable", "UnitLength_in_cm"):
            for what, value in odd.items():
                with self.subTest(name=name, what=what):
                    self.gadget(header={name: value})
                    with self.change() as file:
                        if name == "MassTable":
                            del file["PartType4/Masses"]
                        if value is None:
                            kind = h5py.h5t.array_create(h5py.h5t.IEEE_F64LE, (400,))
                            one = h5py.h5s.create(h5py.h5s.SCALAR)
                            h5py.h5a.create(file["Header"].id, name.encode(), kind, one).write(numpy.ones(400), kind)
                    self.refuse(name)
        for name in ("Coordinates", "Masses", "ParticleIDs"):
            columns = (3,) if name == "Coordinates" else ()
            for kind in ("S4000", ("f8", (500,)), [("a", "f8"), ("b", "S900")], h5py.string_dtype(),
                         h5py.vlen_dtype("f8"), "f2", "c16", "?"):
                with self.subTest(name=name, kind=kind):
                    self.gadget()
                    with self.change() as file:
                        del file["PartType4"][name]
                        file["PartType4"].create_dataset(name, (64, *columns), dtype=kind, fillvalue=None)
                    self.refuse(name)
        for shape in ((), (64, 1), (64, 2), (8, 8), (64, 1, 1)):
            with self.subTest(shape=shape):
                self.gadget()
                with self.change() as file:
                    del file["PartType4/Masses"]
                    file["PartType4/Masses"] = numpy.ones(shape)
                self.refuse("Masses")

    def test_texts_of_ours(self):
        """A snapshot of ours in which a unit is a row of texts."""
        self.gadget()
        with self.change() as file:
            file["PartType4/colour"] = numpy.ones(64)
            file["PartType4/colour"].attrs["kept"] = 1
            for value in (numpy.full(1000, b"x" * 16, dtype="S16"), numpy.bytes_(b"x" * 3000), 3.0):
                file["PartType4/colour"].attrs["unit"] = value
                file.flush()
                shutil.copy(self.path("g.h5"), self.path("h.h5"))
                self.refuse("attribute unit", data="h.h5")

    def replace(self, name, **how):
        """Another dataset in the place of one; how: options of create_dataset."""
        self.gadget()
        with self.change() as file:
            stars = file["PartType4"]
            shape = stars[name].shape
            del stars[name]
            return stars.create_dataset(name, shape, dtype="f8", **how).name

    def test_values_elsewhere(self):
        """Virtual datasets, external storage, links into other files."""
        self.gadget()
        shutil.copy(self.path("g.h5"), self.path("other.h5"))
        for name in ("Coordinates", "Masses"):
            with self.subTest(name=name):
                self.gadget()
                with self.change() as file:
                    shape = file["PartType4"][name].shape
                    del file["PartType4"][name]
                    layout = h5py.VirtualLayout(shape, "f8")
                    layout[:] = h5py.VirtualSource(self.path("other.h5"), "PartType4/" + name, shape)
                    file["PartType4"].create_virtual_dataset(name, layout)
                self.refuse_alike("%s is virtual" % name)
                self.replace(name, external=[(self.path("raw.bin"), 0, h5py.h5f.UNLIMITED)])
                with open(self.path("raw.bin"), "wb") as file:
                    file.write(numpy.random.default_rng(1).uniform(0.5, 1, 192).tobytes())
                self.refuse_alike("%s has its values in other files" % name)
                self.gadget()
                with self.change() as file:
                    del file["PartType4"][name]
                    file["PartType4"][name] = h5py.ExternalLink("other.h5", "PartType4/" + name)
                self.refuse_alike("%s is a link into another file" % name)
        self.gadget()
        with self.change() as file:
            del file["PartType4"]
            file["PartType4"] = h5py.ExternalLink("other.h5", "PartType4")
        self.refuse("PartType4 is a link into another file")
        with self.change() as file:
            del file["PartType4"]
            file["there"] = h5py.ExternalLink("other.h5", "/")
            file["PartType4"] = h5py.SoftLink("/there/PartType4")
        self.refuse("no stars in the GADGET layout")
        with self.change() as file:
            del file["Header"], file["PartType4"]
            other = h5py.File(self.path("other.h5"), "r")
            other.copy("PartType4", file)
            other.close()
            file["Header"] = h5py.ExternalLink("other.h5", "Header")
        self.refuse("Header is a link into another file")

    def test_filters(self):
        """Filters that HDF5 would load from other files are not loaded; its own ones are used."""
        for name in ("Coordinates", "Masses"):
            self.gadget(chunk=24)
            with self.change() as file:
                values = file["PartType4"][name][:]
                del file["PartType4"][name]
                create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                create.set_chunk((24, *values.shape[1:]))
                create.set_filter(PLUG_IN, h5py.h5z.FLAG_OPTIONAL, ())
                data = h5py.h5d.create(file["PartType4"].id, name.encode(), h5py.h5t.IEEE_F64LE,
                                       h5py.h5s.create_simple(values.shape), create)
                data.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
            self.refuse_alike("%s is compressed by a filter that is no part of HDF5" % name)

    def test_values_missing(self):
        """Rows that were never written: they take no memory, and are no zeros."""
        rows = 60000000
        counts = numpy.array([0, 0, 0, 0, rows, 0], dtype="u4")
        for how in ({}, {"chunks": (1000000, 3)}):
            self.gadget(header={"NumPart_ThisFile": counts, "NumPart_Total": counts})
            with self.change() as file:
                del file["PartType4"]
                for name, columns in (("Coordinates", (3,)), ("Velocities", (3,)), ("Masses", ())):
                    pieces = {"chunks": how["chunks"][:1 + len(columns)]} if how else {}
                    file.create_dataset("PartType4/" + name, (rows, *columns), dtype="f8", **pieces)
            self.refuse_alike("Coordinates is not stored as a whole")
        for name in ("Coordinates", "Velocities", "Masses"):
            self.replace(name)
            self.refuse("%s is not stored as a whole" % name)
            self.replace(name, chunks=(24, 3) if name != "Masses" else (24,))
            with self.change() as file:
                file["PartType4"][name][:30] = 1
            self.refuse("%s is not stored as a whole" % name)

    def test_pieces_too_large(self):
        self.replace("Masses", chunks=(1 << 28,), maxshape=(None,))
        self.refuse("Masses is stored in pieces of more than 1 GiB")

    def test_end_missing(self):
        """A file that was cut, with its length in the superblock made to fit."""
        self.gadget(n=2000)
        data = bytearray(self.read("g.h5"))
        end = len(data) - 3000
        data[40:48] = end.to_bytes(8, "little")
        with open(self.path("g.h5"), "wb") as file:
            file.write(data[:end])
        self.refuse("g.h5")

    # ---- damage that HDF5 itself does not survive

    def make_runs(self):
        self.write_input("a.inp", n=30, tcrit=0.5)
        self.run_command("a.inp")
        with open(self.path("c.inp"), "w") as file:
            file.write("&ININPUT N=30 TCRIT=0.5 DTADJ=0.25 DELTAT=0.5 /\n"
                       "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 /\n")
        self.command(COLLISIONLESS, "c.inp")

    def test_texts_in_a_checkpoint(self):
        """Its heading has rows of texts, and the seal is right."""
        self.make_runs()
        for name, program in (("a", NBODY6), ("c", COLLISIONLESS)):
            whole = self.read(name + ".ckpt.h5")
            for field in ("engine", "run", "gpunb_backend"):
                for value in (numpy.full(300, b"x" * 20, dtype="S20"), numpy.bytes_(b"z" * 2000), numpy.arange(300)):
                    with open(self.path("t.ckpt.h5"), "wb") as file:
                        file.write(whole)
                    with h5py.File(self.path("t.ckpt.h5"), "a") as file:
                        file["nbody6"].attrs[field] = value
                    with open(self.path("t.ckpt.h5"), "rb+") as file:
                        data = seal_anew(file.read())
                        file.seek(0)
                        file.write(data)
                    self.assertIn("find a text of the right length in attribute " + field,
                                  self.command(program, "--resume", "t.ckpt.h5", "--out", "u", code=4))
                    self.assertIn("t: failed", self.command(NBODY6, "--status", "t"))

    def test_crash_of_hdf5(self):
        """An attribute of 1 GiB in the heading, for each command that reads one. It ends HDF5 1.10 by a signal where it
        is read, which other versions may refuse."""
        self.make_runs()
        says = ".*(HDF5 crashed in a trial reading|HDF5 failed|no end in a trial)"
        for name, program in (("a", NBODY6), ("c", COLLISIONLESS)):
            with open(self.path("t.ckpt.h5"), "wb") as file:
                file.write(seal_anew(say_huge(self.read(name + ".ckpt.h5"), "gpunb_backend")))
            text = self.command(program, "--resume", "t.ckpt.h5", "--out", "u", code=4)
            self.assertRegex(text, r"t\.ckpt\.h5: " + says)
            self.assertRegex(self.command(NBODY6, "--status", "t"), says)
        for name, attribute in (("a.snap.00000.h5", "rbar_pc"), ("g.h5", "Redshift"), ("g.h5", "UnitMass_in_g")):
            self.gadget()
            with open(self.path("t.h5"), "wb") as file:
                file.write(say_huge(self.read(name), attribute))
            self.refuse("t.h5: HDF5", data="t.h5")
        with open(self.path("t.h5"), "wb") as file:
            file.write(say_huge(self.read("a.snap.00000.h5"), "run"))
        # one snapshot of many is damaged: which one it is
        for k in (1, 2):
            shutil.copy(self.path("a.snap.00000.h5"), self.path("a.snap.0001%d.h5" % k))
        shutil.copy(self.path("t.h5"), self.path("a.snap.00020.h5"))
        text = self.command(NBODY6, "--resume", "a.ckpt.h5", "--tcrit", "1", code=2)
        self.assertRegex(text, r"it cannot be known to which run a snapshot belongs \(a\.snap\.00020\.h5: " + says)

    def test_changed_bytes(self):
        """Some dozens of files of each kind; test-long has thousands. A file that crashes HDF5 crashes a child process."""
        self.make_runs()
        self.gadget()
        write_gadget(self.path("packed.h5"), chunk=24, compression="gzip")
        rng = random.Random(5)
        with open(self.path("t.inp"), "w") as file:
            file.write(INPUT % ("", "t.h5", "KEEP='all'"))
        for name in ("g.h5", "packed.h5", "a.snap.00000.h5", "a.ckpt.h5", "c.ckpt.h5"):
            sealed = "ckpt" in name
            spared = [(0, SEAL_BYTES)] + raw_places(self.path(name)) if sealed else []
            for _ in range(test_seeds(20, 60)):
                data = mutate(rng, self.read(name), spared)
                with open(self.path("t.ckpt.h5" if sealed else "t.h5"), "wb") as file:
                    file.write(seal_anew(data) if sealed else data)
                done = subprocess.run([NBODY6, "--status", "t"] if sealed else [NBODY6, "--check", "t.inp"],
                                      cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=30)
                self.assertIn(done.returncode, (0, 2), done.stdout)


if __name__ == "__main__":
    unittest.main()
