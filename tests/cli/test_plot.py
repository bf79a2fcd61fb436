"""nbody6-plot on files of known content, on files of a run that is still going, on real runs, and on what is no run."""

import contextlib
import html.parser
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import urllib.request

import h5py
import numpy as np
from PIL import Image

from run_support import test_seeds

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
sys.path.insert(0, os.path.join(SOURCE, "python"))

import nbody6  # noqa: E402
from nbody6 import tables  # noqa: E402
from nbody6.plot import advice, command, movie, panels_energy, panels_integrator, story, tracks  # noqa: E402
from nbody6.plot.report import Report  # noqa: E402

PLOT = os.path.join(SOURCE, "tools", "nbody6-plot")
FRACTIONS = (0.01, 0.1, 0.5, 0.9)
STAGES = ("predict", "irregular", "regular", "output")


def plot_command(*arguments):
    """As a user calls it."""
    return subprocess.run([sys.executable, PLOT, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300)


def plot(*arguments):
    """Run the command in this process: an interpreter that imports matplotlib takes longer than most pages. An
    exception that the command lets out is one of the test."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = command.main(list(arguments))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


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


def short_films():
    """Films of two seconds while this is entered; test_film.py counts the pictures of whole ones."""
    return unittest.mock.patch.object(movie, "LEAST_S", 2)


class Page(html.parser.HTMLParser):
    """Checks that a page is whole: tags close, ids are unique, what is referred to is there and in the file itself."""

    VOID = {"meta", "link", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.used, self.figures, self.figure = [], [], [], [], None
        self.feed(text)
        assert not self.open, "not closed: %s" % self.open
        assert len(self.ids) == len(set(self.ids)), "an id occurs twice"
        missing = set(self.used) - set(self.ids)
        assert not missing, "nothing has these ids: %s" % sorted(missing)[:3]

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src") and value and not value.startswith("data:"):
                assert value.startswith("#"), "the page is not self-contained: %s" % value
                self.used.append(value[1:])
            self.used += re.findall(r"url\(#([^)]+)\)", value or "")
        if tag == "figure":
            self.figure = {"svg": 0, "sentence": ""}
            self.figures.append(self.figure)
        if tag == "svg" and self.figure is not None:
            self.figure["svg"] += 1

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, "</%s> within %s" % (tag, self.open[-3:])
        self.open.pop()
        if tag == "figure":
            self.figure = None

    def handle_data(self, data):
        if self.figure is not None and "figcaption" in self.open:
            self.figure["sentence"] += data


class PlotTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, "run")

    def assert_page(self, done, prefix=None):
        prefix = prefix or self.name
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [prefix + ".html"])
        with open(prefix + ".html", encoding="utf-8") as file:
            text = file.read()
        for figure in Page(text).figures:
            self.assertIn(figure["svg"], (1, 2))  # in each unit
            self.assertRegex(figure["sentence"], r"Normal")
        return text

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
        text = self.assert_page(plot_command(self.name))
        self.assertIn("run.snap.00001.h5 (t\u00a0=\u00a010)", text)
        self.assertIn("1.00e-06", text)  # de_rel of the last row
        self.assertGreater(len(Page(text).figures), 8)

    def test_last_line_and_last_snapshot_being_written(self):
        write_log(self.name + ".log.csv", 4, tail="4,100,77")
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 100)
        with open(self.name + ".snap.00000.h5", "rb") as whole, open(self.name + ".snap.00001.h5", "wb") as part:
            part.write(whole.read()[:2000])
        done = plot(self.name)
        text = self.assert_page(done)
        self.assertIn("run.snap.00000.h5", text)
        self.assertIn("run.snap.00001.h5", done.stderr)
        self.assertEqual(len(tables.read_table(self.name + ".log.csv")), 4)

    def test_parts_of_a_run(self):
        """One snapshot, or a log with no, one or some rows, is enough."""
        for snapshot, rows in test_seeds(((100, None), (None, 1), (50, 0)), ((100, None), (None, 3), (None, 1), (50, 0))):
            with self.subTest(snapshot=snapshot, rows=rows):
                for path in os.listdir(self.folder):
                    os.unlink(os.path.join(self.folder, path))
                if snapshot:
                    write_snapshot(self.name + ".snap.00000.h5", 0.0, snapshot)
                if rows is not None:
                    write_log(self.name + ".log.csv", rows)
                self.assert_page(plot(self.name))

    def test_two_and_three_bodies(self):
        for n in (2, 3):
            with self.subTest(n=n):
                for k in range(3):
                    write_snapshot(self.name + ".snap.%05d.h5" % k, 0.5 * k, n, seed=k)
                self.assertIn("Tracks", self.assert_page(plot(self.name)))

    def test_name_of_any_file_own_prefix_and_several_runs(self):
        write_log(self.name + ".log.csv", 3)
        write_log(self.name + "2.log.csv", 5)
        other = os.path.join(self.folder, "other")
        done = plot(self.name + ".log.csv", self.name + "2", "-o", other, "-t", "A <title> & more")
        text = self.assert_page(done, other)
        self.assertIn("A &lt;title&gt; &amp; more", text)
        self.assertIn("<td>run2</td>", text)

    def test_what_is_wrong_is_said(self):
        open(self.name + "0.log.csv", "w").close()
        write_log(self.name + ".log.csv", 3)
        self.assert_refused(plot_command(os.path.join(self.folder, "absent")), "absent.log.csv", "run")
        self.assert_refused(plot(os.path.join(self.folder, "no", "such")), "no folder")
        self.assert_refused(plot(self.name + "0"), "run0.log.csv", "header")
        self.assert_refused(plot(self.name, "-s", self.name + ".h5"), "run.h5", "no such file")
        self.assert_refused(plot(self.name, "-o", os.path.join(self.folder, "no", "page")), "cannot write")
        self.assert_refused(plot(self.name, "--movie"), "no snapshots", "KZ(3)=1")
        self.assert_refused(plot(self.name, self.name, "--live"), "--live takes one run")

    def test_columns_are_found(self):
        write_log(self.name + ".log.csv", 5)
        log = tables.read_table(self.name + ".log.csv")
        self.assertEqual(sorted(tables.lagrangian_columns(log)), sorted(FRACTIONS))
        self.assertEqual(tables.stage_seconds(log), {"predict": 4, "irregular": 12, "regular": 20, "output": 4})
        np.testing.assert_array_equal(log["t"], np.arange(5))
        self.assertEqual(log.units["r_half"], "1")

    @short_films()
    def test_film(self):
        for k in range(3):
            write_snapshot(self.name + ".snap.%05d.h5" % k, 0.5 * k, 30, seed=k)
        kinds = [("gif", b"GIF8")] + ([("mp4", b"ftyp")] if shutil.which("ffmpeg") else [])
        for kind, mark in kinds:
            path = self.name + "." + kind
            # With no name of a film it is of the last kind; the name of the run is not taken for it.
            done = plot(*(("--movie", self.name) if kind == kinds[-1][0] else (self.name, "--movie", path)))
            self.assertEqual((done.returncode, done.stdout), (0, path + "\n"), done.stderr)
            with open(path, "rb") as file:
                self.assertIn(mark, file.read(12))
        with Image.open(self.name + ".gif") as film:
            self.assertEqual((film.size, film.n_frames), ((movie.SIZE, movie.SIZE), movie.LEAST_S * movie.GIF_RATE))
        self.assertIn("required: NAME", plot("--movie", path).stderr)
        self.assert_refused(plot(self.name, "--movie", self.name + ".avi"), ".mp4", ".gif")
        if len(kinds) == 1:
            self.skipTest("the film as MP4: there is no ffmpeg")

    def test_live_page_follows_the_run(self):
        write_log(self.name + ".log.csv", 3)
        process = subprocess.Popen([sys.executable, PLOT, "--live", self.name], stdout=subprocess.PIPE, text=True)
        try:
            address = process.stdout.readline().split()[0]
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/$")
            for rows in (3, 6):
                write_log(self.name + ".log.csv", rows)
                with urllib.request.urlopen(address, timeout=100) as answer:
                    text = answer.read().decode()
                self.assertIn('http-equiv="refresh"', text)
                self.assertIn("%.2e" % (1e-7 * (rows - 1)), text)
        finally:
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(30), 0)
            process.stdout.close()


class TracksTest(unittest.TestCase):
    def test_polynomials_have_the_values_of_both_ends(self):
        def at(t):
            x = np.array([[t**5 - t, t**4, 2 * t**3]])
            return x, np.array([[5 * t**4 - 1, 4 * t**3, 6 * t**2]]), np.array([[20 * t**3, 12 * t**2, 12 * t]])

        (xa, va, aa), (xb, vb, ab) = at(0.0), at(0.75)
        t, path = tracks.between(np.ones(1), (xa, xb, va, vb, aa, ab), 0.75, points=7)
        for k, time in enumerate(t):
            # Exact but for rounding of numbers of order one.
            np.testing.assert_allclose(path[:, k], at(time)[0], atol=1e-14)

    def test_a_pericentre_between_snapshots_is_no_spike(self):
        """Two bodies on an orbit of e = 0.99: half a period lies between the snapshots, with the pericentre."""
        mass, a, e = np.array([0.5, 0.5]), 0.5, 0.99
        period = 2 * np.pi * a**1.5
        far, speed = a * (1 + e), np.sqrt((1 - e) / (1 + e) / a)
        # a quarter of a period before and after the pericentre, from apocentre, by the same orbit
        t, path = tracks.integrate(mass, np.array([[far / 2, 0, 0], [-far / 2, 0, 0]]),
                                   np.array([[0, speed / 2, 0], [0, -speed / 2, 0]]), period)
        distance = np.sqrt(((path[0] - path[1])**2).sum(axis=1))
        # The method is of fourth order with some 300 steps a revolution: 1e-4 of the pericentre is what it gives.
        self.assertLess(abs(distance.min() / (a * (1 - e)) - 1), 1e-3)
        self.assertLess(distance.max(), far * (1 + 1e-6))
        self.assertLess(np.abs(path[:, -1] - path[:, 0]).max(), 1e-3)


class AdviceTest(unittest.TestCase):
    """Advice against the energy error concerns its largest part alone, as that of the program."""

    PARTS = ("e_pairs", "e_chains", "e_hierarchies", "e_integration")

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def texts(self, parts, size=0.1):
        """The verdict, and the text under the picture, of a log of three rows with these parts of an error."""
        names = ("t", "n", "de_cluster", "de_cluster_interval") + tuple(parts)
        with open(os.path.join(self.folder, "a.log.csv"), "w") as file:
            file.write(",".join(names) + "\n# units: " + ",".join(["1"] * len(names)) + "\n")
            for k, share in enumerate((0, 1, 0.5)):  # largest in the middle row
                values = [k, 100, size * share, size * share] + [parts[name][k] for name in parts]
                file.write(",".join("%.9g" % v for v in values) + "\n")
        report = Report(nbody6.Run(os.path.join(self.folder, "a")))
        return story.quality(report)[1], panels_energy.error(report).sentence

    def test_largest_part_of_the_largest_error(self):
        words = {"e_pairs": "smaller GMIN", "e_chains": "smaller GMIN", "e_hierarchies": "KZ(30) = -1",
                 "e_integration": "smaller ETAI and ETAR"}
        for largest in self.PARTS:
            # At the end another part leads.
            parts = {name: (0, -0.09 if name == largest else 0.01, 0.001 if name == largest else 0.05)
                     for name in self.PARTS}
            for text in self.texts(parts):
                with self.subTest(largest, text=text[:20]):
                    self.assertIn("its largest part is %s: " % largest, text)
                    self.assertIn(words[largest], text)
                    self.assertEqual("ETAI" in text, largest == "e_integration")

    def test_as_the_program_says_it(self):
        with open(os.path.join(SOURCE, "nbody6", "state", "energy_ledger.c")) as file:
            said = re.sub(r'"\s*"', "", file.read())
        for column, words in advice.ADVICE.items():
            self.assertRegex(said, 'its largest part is %s[,:] %s"' % (column, re.escape(words)))

    def test_old_log_and_small_error(self):
        verdict, caption = self.texts({})
        self.assertIn("does not tell where it was made", verdict)
        self.assertNotIn("ETAI", verdict + caption)
        self.assertNotIn("ETAI", self.texts({name: (0, 0, 0) for name in self.PARTS})[1])
        self.assertNotIn("ETAI", self.texts({name: (0, 1e-9, 1e-9) for name in self.PARTS}, 1e-8)[0])


class StuckTest(unittest.TestCase):
    def test_who_alone_was_moved(self):
        def said(*events):
            return panels_integrator.stuck(types.SimpleNamespace(run=types.SimpleNamespace(events=list(events))))

        self.assertEqual(said({"event": "busy", "t": 1}), "")
        event = {"event": "stuck", "t": 0.5, "names": [3, 7], "blocks": 100000}
        self.assertIn("Up to t = 0.5, 100000 blocks in a row have moved nobody but stars 3 and 7 (", said(event))
        self.assertIn("nobody but star 4 (", said(event, dict(event, names=[4])))


class RealRunTest(unittest.TestCase):
    """The names that the program writes are those that the page knows; page and terminal agree."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        with open(os.path.join(cls.folder, "real.inp"), "w") as file:
            # Binaries, a tidal field, and escapers at the very last row.
            file.write("&INNBODY6 KSTART=1 /\n&ININPUT N=120 NRAND=5 DTADJ=0.5 DELTAT=0.5 TCRIT=2 QE=1e-2 RBAR=3 "
                       "KZ(8)=1\n"
                       "KZ(14)=1 KZ(20)=6 KZ(23)=2 /\n&INDATA NBIN0=20 BODY1=10 BODYN=0.1 /\n&INSCALE Q=0.9 /\n"
                       "&INBINPOP SEMI0=0.005 ECC0=-1 RANGE=50 /\n")
        done = subprocess.run([os.path.join(BUILD, "nbody6"), "real.inp"], cwd=cls.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
        cls.said, cls.run_files = done.stdout, nbody6.Run(os.path.join(cls.folder, "real"))
        cls.plotted = plot_command(os.path.join(cls.folder, "real"))

    def page_of_the_run(self):
        self.assertEqual((self.plotted.returncode, self.plotted.stderr), (0, ""))
        with open(os.path.join(self.folder, "real.html"), encoding="utf-8") as file:
            return file.read()

    def test_every_part_of_a_real_run_is_drawn(self):
        snapshot, skipped = self.run_files.last_snapshot()
        self.assertEqual((skipped, snapshot.t, self.run_files.log["t"][-1]), ([], 2.0, 2.0))
        for column in ("n", "de_rel", "de_rel_interval", "r_core", "r_half", "nnb_mean", "steps_irr", "wall_s"):
            self.assertIn(column, self.run_files.log)
        self.assertEqual(len(self.run_files.lagrangian_radii()), 18)
        self.assertIn("irregular", self.run_files.stage_seconds())
        text = self.page_of_the_run()
        page = Page(text)
        for name in ("overview", "cluster", "scene", "evolution", "binaries", "energy", "integrator", "density",
                     "cumulative-mass", "surface-density", "dispersion", "anisotropy", "radii", "mass-groups",
                     "relaxation", "drift", "orbits", "hardness", "energy-budget", "energy-channels", "steps",
                     "neighbours", "wall-time"):
            self.assertIn(name, page.ids)
        self.assertIn("[pc]", text)
        self.assertIn(" escaped.", text)
        self.assertNotIn(" left.", text)

    def test_work_of_a_field_on_page_and_terminal(self):
        """A cluster in gas that leaves: the channel has its figure and its sentence, and both have the same number."""
        with open(os.path.join(self.folder, "gas.inp"), "w") as file:
            file.write("&ININPUT N=80 NRAND=3 DTADJ=0.25 DELTAT=1 TCRIT=2 QE=1 KZ(14)=4 /\n"
                       "&INXTRNL0 MP=2 AP2=0.6 MPDOT=2 TDELAY=0.5 /\n")
        done = subprocess.run([os.path.join(BUILD, "nbody6"), "gas.inp"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        told = re.search(r"work of the external field so far: (\S+), ", done.stdout).group(1)
        self.assertEqual(plot(os.path.join(self.folder, "gas")).returncode, 0)
        with open(os.path.join(self.folder, "gas.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("field-work", Page(text).ids)
        self.assertIn("does work: %s so far" % told, text)
        self.assertIn("within a sphere of gas that leaves", text)
        self.assertEqual("%.4g" % nbody6.Run(os.path.join(self.folder, "gas")).energy()["e_galaxy"][-1], told)
        # No such field, no such figure.
        self.assertNotIn("external field", self.said)
        self.assertNotIn("external field", self.page_of_the_run())

    def test_page_and_terminal_count_the_same_stars(self):
        last = int(re.search(r"N = (\d+), (?:\d+ escaped)?", self.said.splitlines()[[
            k for k, line in enumerate(self.said.splitlines()) if line.startswith("done")][0] + 1]).group(1))
        self.assertGreater(len([e for e in self.run_files.events if e["event"] == "escape"]), 0)
        self.assertEqual(Report(self.run_files).n_now, last)


if __name__ == "__main__":
    unittest.main()
