"""nbody6-plot on files of known content, on files of a run that is still going, and on what is not a run."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
sys.path.insert(0, os.path.join(SOURCE, "tools"))

import nbody6_figure as figure  # noqa: E402
import nbody6_reader as reader  # noqa: E402

PLOT = os.path.join(SOURCE, "tools", "nbody6-plot")
FRACTIONS = (0.01, 0.1, 0.5, 0.9)
STAGES = ("predict", "irregular", "regular", "output")


def plot(*arguments):
    return subprocess.run([sys.executable, PLOT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)


def write_snapshot(path, t, n, seed=1):
    random = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        file.create_group("Header").attrs["Time"] = t
        stars = file.create_group("PartType4")
        stars["Coordinates"] = random.normal(size=(n, 3))
        stars["Velocities"] = random.normal(size=(n, 3))
        stars["Masses"] = np.full(n, 1.0 / n)
        stars["ParticleIDs"] = np.arange(1, n + 1)
        stars["TimeStepIrregular"] = 2.0**random.integers(-12, -5, n)
        stars["TimeStepRegular"] = 2.0**random.integers(-8, -3, n)
        stars["NeighbourNumber"] = random.poisson(30, n)


def write_log(path, rows, tail=""):
    names = ["t", "n", "de_rel", "de_rel_interval", "r_core", "r_half", "r_tide", "nnb_mean", "wall_s"]
    names += ["r_lagr_%g" % f for f in FRACTIONS] + ["stage_%s_s" % s for s in STAGES]
    with open(path, "w") as file:
        file.write(",".join(names) + "\n# units: " + ",".join(["1"] * len(names)) + "\n")
        for k in range(rows):
            values = [k, 100, 1e-7 * k, 1e-8, 0.3, 0.8, 0, 30, 2.0 * k, 0.1, 0.3, 0.8, 2.0, k, 3 * k, 5 * k, k]
            file.write(",".join("%.9g" % v for v in values) + "\n")
        file.write(tail)


def png_size(path):
    with open(path, "rb") as file:
        head = file.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", "%s is no PNG" % path
    return struct.unpack(">II", head[16:24])


class PlotTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.name = os.path.join(self.folder, "run")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def assert_page(self, done, prefix=None):
        prefix = prefix or self.name
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [prefix + ".png", prefix + ".html"])
        width, height = png_size(prefix + ".png")
        self.assertGreater(min(width, height), 1000)
        with open(prefix + ".html", encoding="utf-8") as file:
            return file.read()

    def assert_refused(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_whole_run(self):
        write_log(self.name + ".log.csv", 11)
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 100)
        write_snapshot(self.name + ".snap.00001.h5", 10.0, 100)
        text = self.assert_page(plot(self.name))
        self.assertIn("run.snap.00001.h5 (t = 10)", text)
        self.assertIn("1.00e-06", text)  # de_rel of the last row
        self.assertIn("data:image/png;base64,", text)

    def test_last_line_and_last_snapshot_being_written(self):
        write_log(self.name + ".log.csv", 4, tail="4,100,77")
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 100)
        with open(self.name + ".snap.00000.h5", "rb") as whole, open(self.name + ".snap.00001.h5", "wb") as part:
            part.write(whole.read()[:2000])
        done = plot(self.name)
        text = self.assert_page(done)
        self.assertIn("run.snap.00000.h5", text)
        self.assertIn("run.snap.00001.h5", done.stderr)
        self.assertEqual(len(reader.read_log(self.name + ".log.csv")), 4)

    def test_one_snapshot_without_log(self):
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 100)
        self.assert_page(plot(self.name))

    def test_log_without_snapshot(self):
        write_log(self.name + ".log.csv", 3)
        self.assert_page(plot(self.name))

    def test_log_with_one_row_and_no_error_yet(self):
        write_log(self.name + ".log.csv", 1)
        self.assert_page(plot(self.name))

    def test_log_with_header_only(self):
        write_log(self.name + ".log.csv", 0)
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 50)
        self.assert_page(plot(self.name))

    def test_two_and_three_bodies(self):
        for n in (2, 3):
            with self.subTest(n=n):
                for k in range(3):
                    write_snapshot(self.name + ".snap.%05d.h5" % k, 0.5 * k, n, seed=k)
                self.assert_page(plot(self.name))

    def test_name_of_any_file_and_own_prefix(self):
        write_log(self.name + ".log.csv", 3)
        other = os.path.join(self.folder, "other")
        self.assert_page(plot(self.name + ".log.csv", "-o", other, "-t", "A <title> & more"), other)
        with open(other + ".html", encoding="utf-8") as file:
            self.assertIn("A &lt;title&gt; &amp; more", file.read())

    def test_missing_run_names_those_there(self):
        write_log(self.name + ".log.csv", 3)
        self.assert_refused(plot(os.path.join(self.folder, "absent")), "absent.log.csv", "run")

    def test_missing_folder(self):
        self.assert_refused(plot(os.path.join(self.folder, "no", "such")), "no folder")

    def test_empty_files(self):
        open(self.name + ".log.csv", "w").close()
        self.assert_refused(plot(self.name), "run.log.csv", "header")

    def test_missing_snapshot_file(self):
        write_log(self.name + ".log.csv", 3)
        self.assert_refused(plot(self.name, "-s", self.name + ".h5"), "run.h5", "no such file")

    def test_cannot_write(self):
        write_log(self.name + ".log.csv", 3)
        self.assert_refused(plot(self.name, "-o", os.path.join(self.folder, "no", "page")), "cannot write")

    def test_columns_are_found(self):
        write_log(self.name + ".log.csv", 5)
        log = reader.read_log(self.name + ".log.csv")
        self.assertEqual(sorted(figure.lagrangian_columns(log)), sorted(FRACTIONS))
        self.assertEqual(figure.stage_seconds(log), {"predict": 4, "irregular": 12, "regular": 20, "output": 4})
        np.testing.assert_array_equal(log["t"], np.arange(5))
        self.assertEqual(log.units["r_half"], "1")

    def test_tracks_pass_through_the_snapshots(self):
        for k in range(3):
            write_snapshot(self.name + ".snap.%05d.h5" % k, 0.5 * k, 2, seed=k)
        snapshots = [reader.read_snapshot(path) for path in reader.Run(self.name).snapshots]
        path, t, names = figure.tracks(snapshots, points=5)
        self.assertEqual(names, [1, 2])
        np.testing.assert_allclose(t[[0, 5, 10]], [0, 0.5, 1.0], atol=1e-15)
        # Interpolation at its own nodes: exact but for rounding.
        np.testing.assert_allclose(path[:, 0], snapshots[0].x, atol=1e-14)
        np.testing.assert_allclose(path[:, 5], snapshots[1].x, atol=1e-14)
        np.testing.assert_allclose(path[:, -1], snapshots[2].x, atol=1e-14)


    def test_tracks_follow_a_polynomial_of_fifth_degree(self):
        def at(t):
            x = np.array([[t**5 - t, t**4, 2 * t**3]])
            return x, np.array([[5 * t**4 - 1, 4 * t**3, 6 * t**2]]), np.array([[20 * t**3, 12 * t**2, 12 * t]])

        snapshots = []
        for k, t in enumerate((0.0, 0.75)):
            path = self.name + ".snap.%05d.h5" % k
            write_snapshot(path, t, 1)
            snapshot = reader.read_snapshot(path)
            snapshot.x, snapshot.v, snapshot.acc = at(t)
            snapshots.append(snapshot)
        path, t, _ = figure.tracks(snapshots, points=7)
        for k, time in enumerate(t):
            # Exact but for rounding of numbers of order one.
            np.testing.assert_allclose(path[:, k], at(time)[0], atol=1e-14)


class RealRunTest(unittest.TestCase):
    """The names that the program writes are those that the reader knows."""

    def test_every_panel_of_a_real_run_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(SOURCE, "input_examples", "plummer-1k", "plummer-1k.inp")
            with open(source) as file:
                text = re.sub(r"N=1000", "N=100", file.read())
            text = re.sub(r"TCRIT=[0-9.]+", "TCRIT=1.0", re.sub(r"DELTAT=[0-9.]+", "DELTAT=0.5", text))
            with open(os.path.join(folder, "real.inp"), "w") as file:
                file.write(text)
            done = subprocess.run([os.path.join(BUILD, "nbody6"), "real.inp"], cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            run = reader.Run(os.path.join(folder, "real"))
            snapshot, skipped = run.last_snapshot()
            self.assertEqual(skipped, [])
            self.assertEqual(run.log["t"][-1], 1.0)
            self.assertEqual(snapshot.t, 1.0)
            for column in ("n", "de_rel", "de_rel_interval", "r_core", "r_half", "nnb_mean", "steps_irr", "wall_s"):
                self.assertIn(column, run.log)
            self.assertEqual(len(figure.lagrangian_columns(run.log)), 18)
            self.assertIn("irregular", figure.stage_seconds(run.log))
            for name in ("name", "v", "dt_irr", "dt_reg", "nnb"):
                self.assertEqual(len(getattr(snapshot, name)), 100, name)
            done = plot(os.path.join(folder, "real"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
