"""The files of a run, read as its readers do: GADGET-HDF5 snapshots, the log as CSV, events as JSON, the terminal."""

import csv
import json
import os
import re
import unittest

import h5py
import numpy as np

from run_support import RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# cgs: parsec (IAU 2015), solar mass (nominal GM and G of CODATA 2018)
PC, MSUN, G = 3.0856775814913673e18, 1.98841e33, 6.67430e-8


class GadgetReader:
    """Reads a snapshot by the rules of the GADGET-HDF5 format alone."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            header = dict(file["Header"].attrs)
            assert header["NumFilesPerSnapshot"] == 1
            count = header["NumPart_ThisFile"].astype(np.uint64)
            high = header["NumPart_Total_HighWord"].astype(np.uint64)
            total = header["NumPart_Total"].astype(np.uint64) + (high << 32)
            assert count.shape == total.shape == header["MassTable"].shape == (6,)
            assert (count == total).all()
            self.header, self.units = header, dict(file["Units"].attrs)
            self.blocks, self.attributes = {}, {}
            for kind in range(6):
                name = "PartType%d" % kind
                assert (name in file) == (count[kind] > 0), name
                if count[kind]:
                    for block, data in file[name].items():
                        assert len(data) == count[kind], block
                        self.blocks[block] = data[...]
                        self.attributes[block] = dict(data.attrs)
            if "Masses" not in self.blocks:
                self.blocks["Masses"] = np.full(count.sum(), header["MassTable"][count > 0][0])


class SnapshotTest(RunTest):
    def setUp(self):
        super().setUp()
        self.write_input(n=64, tcrit=1, more="RBAR=2 ZMBAR=0.5")
        self.run_command("a.inp", "--quiet")

    def test_header(self):
        snapshot = GadgetReader(self.snapshots()[-1])
        header = snapshot.header
        self.assertEqual(list(header["NumPart_ThisFile"]), [0, 0, 0, 0, 64, 0])
        self.assertEqual(header["NumPart_ThisFile"].dtype, np.uint32)
        self.assertEqual(list(header["MassTable"]), [0] * 6)
        for name in ("Time", "Redshift", "BoxSize", "HubbleParam", "Omega0", "OmegaLambda"):
            self.assertIsInstance(header[name], float, name)
        for name in ("Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback"):
            self.assertEqual(header[name], 0)
        self.assertEqual((header["Time"], header["HubbleParam"], header["OmegaLambda"]), (1.0, 1.0, 0.0))

    def test_blocks(self):
        blocks = GadgetReader(self.snapshots()[-1]).blocks
        for name, shape in (("Coordinates", (64, 3)), ("Velocities", (64, 3)), ("Masses", (64,)), ("Potential", (64,)),
                            ("Acceleration", (64, 3)), ("NeighbourRadius", (64,)), ("TimeStepIrregular", (64,)),
                            ("TimeStepRegular", (64,))):
            self.assertEqual(blocks[name].shape, shape, name)
            self.assertEqual(blocks[name].dtype, np.float64, name)
            self.assertTrue(np.isfinite(blocks[name]).all(), name)
        self.assertEqual(sorted(blocks["ParticleIDs"]), list(range(1, 65)))
        self.assertEqual(blocks["ParticleIDs"].dtype.kind, "u")
        for name in ("TimeStepIrregular", "TimeStepRegular"):
            self.assertTrue((np.frexp(blocks[name])[0] == 0.5).all(), name)  # powers of two
        self.assertTrue((blocks["TimeStepRegular"] >= blocks["TimeStepIrregular"]).all())

    def test_potential_and_acceleration_are_those_of_the_stars(self):
        blocks = GadgetReader(self.snapshots()[0]).blocks
        x, mass = blocks["Coordinates"], blocks["Masses"]
        r = x[None] - x[:, None]
        distance = np.sqrt((r**2).sum(-1))
        np.fill_diagonal(distance, np.inf)
        # potential: float pair sums with double accumulation are accepted, 1e-10 is the bound of the driver
        np.testing.assert_allclose(blocks["Potential"], -(mass / distance).sum(1), rtol=1e-9)
        acc = (mass[None, :, None] * r / distance[..., None]**3).sum(1)
        # forces come from single-precision kernels
        np.testing.assert_allclose(blocks["Acceleration"], acc, rtol=1e-4, atol=1e-4 * np.abs(acc).max())

    def test_units(self):
        snapshot = GadgetReader(self.snapshots()[-1])
        length, mass = snapshot.units["UnitLength_in_cm"], snapshot.units["UnitMass_in_g"]
        velocity, time = snapshot.units["UnitVelocity_in_cm_per_s"], snapshot.units["UnitTime_in_s"]
        # five digits: those of the constants above
        self.assertAlmostEqual(length / (2 * PC), 1, delta=1e-5)
        with h5py.File(self.snapshots()[-1]) as file:  # the mean mass is that of the stars drawn, not ZMBAR
            self.assertAlmostEqual(mass / (file["nbody6"].attrs["zmbar_msun"] * 64 * MSUN), 1, delta=1e-5)
        self.assertAlmostEqual(G * mass / (length * velocity**2), 1, delta=1e-12)  # G = 1; rounding
        self.assertAlmostEqual(time * velocity / length, 1, delta=1e-12)
        cgs = {"length": length, "mass": mass, "velocity": velocity, "time": time, "1": 1, "velocity^2": velocity**2,
               "velocity/time": velocity / time, "velocity/time^2": velocity / time**2}
        for name, attributes in snapshot.attributes.items():
            self.assertIn("description", attributes, name)
            unit = attributes["unit"].decode()
            self.assertAlmostEqual(attributes["CGSConversionFactor"] / cgs[unit], 1, delta=1e-12, msg=name)
            self.assertEqual((attributes["h-scale-exponent"], attributes["aexp-scale-exponent"]), (0, 0))

    def test_no_clock_host_or_name_inside(self):
        self.run_command("a.inp", "--quiet", "--out", "another-name")
        for mine, other in zip(self.snapshots("a"), self.snapshots("another-name")):
            with open(mine, "rb") as a, open(other, "rb") as b:
                self.assertTrue(a.read() == b.read())

    def test_names(self):
        self.assertEqual([os.path.basename(path) for path in self.snapshots()],
                         ["a.snap.00000.h5", "a.snap.00001.h5", "a.snap.00002.h5"])

    def test_no_snapshots(self):
        self.write_input("none.inp", n=64, tcrit=1, more="KZ(3)=0")
        self.run_command("none.inp", "--quiet")
        self.assertEqual(self.snapshots("none"), [])
        self.assertTrue(os.path.exists(self.path("none.ckpt.h5")))


class LogTest(RunTest):
    def test_columns(self):
        self.write_input(n=64, tcrit=2, dtadj=0.5, more="KZ(16)=0")  # a pair is a point to those far from it
        self.run_command("a.inp", "--quiet")
        log = np.genfromtxt(self.path("a.log.csv"), delimiter=",", names=True, deletechars="")
        np.testing.assert_array_equal(log["t"], [0, 0.5, 1, 1.5, 2])
        # 15 digits of numbers of order one
        np.testing.assert_allclose(log["e_total"], log["e_kin"] + log["e_pot"] + log["e_tide"] + log["e_bind"],
                                   atol=1e-14)
        np.testing.assert_allclose(log["de_rel"], (log["e_total"] - log["e_expected"]) / 0.25, atol=1e-13)
        np.testing.assert_allclose(log["de_cluster"], log["de_rel"], atol=1e-13)  # no binaries: T = |T + U| = 1/4
        self.assertAlmostEqual(log["e_total"][0], -0.25, delta=1e-10)
        self.assertTrue((np.diff(log["steps_irr"]) > 0).all())
        self.assertTrue((np.diff(log["wall_s"]) > 0).all())
        self.assertTrue((log["r_lagr_0.1"] < log["r_lagr_0.5"]).all())
        self.assertEqual(log["steps_irr"][0], 0)
        snapshot = GadgetReader(self.snapshots()[-1]).blocks
        energy = 0.5 * (snapshot["Masses"] * ((snapshot["Velocities"]**2).sum(1) + snapshot["Potential"])).sum()
        self.assertAlmostEqual(energy, log["e_total"][-1], delta=1e-12)  # sums of 64 terms of order 0.01

    def test_header_lines(self):
        self.write_input(n=64, tcrit=0.25)
        self.run_command("a.inp", "--quiet")
        with open(self.path("a.log.csv")) as file:
            names, units, run, engine, *rows = file.read().splitlines()
        self.assertTrue(units.startswith("# units: "))
        self.assertRegex(run, r"^# run: [0-9a-f]{16}$")
        self.assertEqual(engine, "# engine: host")
        self.assertEqual(len(names.split(",")), len(units[len("# units: "):].split(",")))
        self.assertEqual({len(row) for row in csv.reader(rows)}, {len(names.split(","))})

    def test_every_column_is_documented(self):
        self.write_input(n=64, tcrit=0.25)
        self.run_command("a.inp", "--quiet")
        with open(self.path("a.log.csv")) as file:
            names = file.readline().strip().split(",")
            units = file.readline()[len("# units: "):].strip().split(",")
        with open(os.path.join(SOURCE, "docs", "output.md")) as file:
            text = file.read()
        for name, unit in zip(names, units):
            if name.startswith("r_lagr_"):
                name = "r_lagr_0.001` ... `r_lagr_1"
            self.assertIn("| `%s` | %s |" % (name, unit), text)

    def test_energies_of_earlier_sessions_go_on(self):
        self.write_input(n=64, tcrit=1)
        self.stop_next("a")
        self.run_command("a.inp", "--quiet")
        self.run_command("--resume", "a.ckpt.h5", "--quiet")
        log = np.genfromtxt(self.path("a.log.csv"), delimiter=",", names=True)
        self.assertTrue((np.diff(log["wall_s"]) > 0).all())


class EventsTest(RunTest):
    def test_escapers(self):
        self.write_input(n=100, tcrit=2, more="RBAR=5 ZMBAR=0.5 KZ(14)=1 KZ(23)=2")
        self.run_command("a.inp", "--quiet")
        log = np.genfromtxt(self.path("a.log.csv"), delimiter=",", names=True)
        with open(self.path("a.events.jsonl")) as file:
            events = [json.loads(line) for line in file]
        escapes = [event for event in events if event["event"] == "escape"]
        self.assertGreater(len(escapes), 0)
        self.assertEqual(log["n"][-1], 100 - len([e for e in escapes if e["t"] < 2]))
        names = [event["name"] for event in escapes]
        self.assertEqual(len(set(names)), len(names))
        table = np.atleast_1d(np.genfromtxt(self.path("a.esc.csv"), delimiter=",", names=True))
        self.assertEqual(list(table["name"]), names)
        for event, row in zip(escapes, table):
            self.assertEqual([row["x"], row["y"], row["z"]], event["x"])
            self.assertEqual(row["energy"], event["energy"])
        left = GadgetReader(self.snapshots()[-1]).blocks["ParticleIDs"]
        self.assertFalse(set(left) & {e["name"] for e in escapes if e["t"] < 2})

    def test_force_check(self):
        self.write_input(n=64, tcrit=0.5)
        text = self.run_command("a.inp", "--force-check")
        with open(self.path("a.events.jsonl")) as file:
            events = [json.loads(line) for line in file]
        checks = [event for event in events if event["event"] == "force_check"]
        self.assertEqual(len(checks), 3)
        for event in checks:
            self.assertTrue(0 <= event["acc_median"] <= event["acc_max"] < 0.1)
        self.assertIn("against a direct sum", text)


class ScreenTest(RunTest):
    def test_table(self):
        self.write_input(n=64, tcrit=6)
        lines = self.run_command("a.inp").splitlines()
        headers = [line for line in lines if line.split()[:2] == ["T", "T[Myr]"]]
        self.assertEqual(len(headers), 2)  # 25 rows, a header every 20
        self.assertEqual(len([line for line in lines if re.match(r" +[0-9.]+ +[0-9.]+ +0\.", line)]), 25)
        text = "\n".join(lines)
        for word in ("done", "dE/E", "wall time", "a.log.csv", "a.ckpt.h5"):
            self.assertIn(word, text)

    def test_reader_of_stdout_that_goes_away(self):
        """A pipe that closes must not kill a run that has days to go."""
        self.write_input(n=64, tcrit=2)
        process = self.start_command("a.inp")
        process.stdout.readline()
        process.stdout.close()
        self.assertIn(process.wait(timeout=60), (0, 4))  # 4: said at the end, when everything is written
        self.assertEqual(len(self.snapshots()), 5)


if __name__ == "__main__":
    unittest.main()
