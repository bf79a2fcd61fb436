"""The page as a reader sees it: units by a switch, figures without what misleads, colours, rows, the scene."""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import h5py
import matplotlib
import numpy as np

from run_support import run_for_class
from test_plot import Page, plot, write_log, write_snapshot

import nbody6
from nbody6.plot import axes as axis_tools
from nbody6.plot import (catalogue, colours, compare, page, panels_binaries, panels_energy, panels_evolution,
                         panels_motion, panels_profiles, scene, story, style)
from nbody6.plot.page_style import CSS
from nbody6.plot.report import Report

INPUT = """&INNBODY6 KSTART=1 /
&ININPUT N=140 NRAND=5 DTADJ=0.25 DELTAT=0.5 TCRIT=2 QE=1e-2 RBAR=3 KZ(8)=1 KZ(14)=1 KZ(20)=6 KZ(23)=2 /
&INDATA NBIN0=20 BODY1=10 BODYN=0.1 /
&INSCALE Q=0.9 /
&INBINPOP SEMI0=0.005 ECC0=-1 RANGE=50 /
"""


def luminance(colour):
    part = np.array([int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055)**2.4) @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    """Of WCAG 2.1."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class ColourTest(unittest.TestCase):
    def test_contrast_in_both_schemes(self):
        for light, (name, dark) in colours.TOKENS.items():
            if name == "grid":  # lines that nothing depends on
                continue
            for background in (colours.PAGE, colours.CARD):
                with self.subTest(name, background=background):
                    self.assertGreaterEqual(contrast(light, background[0]), 4.5)
                    self.assertGreaterEqual(contrast(dark, background[1]), 4.5)

    def test_the_map_survives_a_grey_print(self):
        """Equal steps of lightness, in one direction."""
        for colour_map, sign in ((colours.MASS_MAP, -1), (colours.MASS_MAP_DARK, 1)):
            y = np.array([luminance(colour) for colour in colour_map])
            steps = sign * np.diff(116 * np.cbrt(y) - 16)
            self.assertLess(np.abs(steps / steps.mean() - 1).max(), 0.12)  # colours are rounded to 8 bits

    def test_every_colour_of_a_figure_is_one_of_the_page(self):
        for colour in (*colours.SERIES, colours.INK, *colours.MASS_MAP):
            self.assertIn("--%s:" % colours.TOKENS[colour][0], CSS)


def selects(selector, k, n):
    """Whether a selector of the grid takes figure k of n, from 1."""
    before = re.fullmatch(r"(.*)~figure", selector)
    if before:
        return any(selects(before.group(1), j, n) for j in range(1, k))
    for name, argument in re.findall(r":([\w-]+)(?:\(([^)]*)\))?", selector):
        place = n - k + 1 if "last" in name else k
        if name == "only-child" and n != 1 or name == "last-child" and k != n:
            return False
        if argument and name.startswith("nth"):
            step, first = (int(part) for part in re.fullmatch(r"(?:(\d)n\+)?(\d)", argument.replace("odd", "2n+1"))
                           .groups("0"))
            if not (place == first if step == 0 else place >= first and (place - first) % step == 0):
                return False
    return True


class RowTest(unittest.TestCase):
    def rows_are_full(self, rules, columns, width):
        for n in range(1, 14):
            row = 0
            for k in range(1, n + 1):
                span = width
                for selectors, value in rules:
                    if any(selects(s.replace(".grid>figure", ""), k, n) for s in selectors):
                        span = value
                row += span
                self.assertLessEqual(row, columns, "%d of %d" % (k, n))
                row %= columns
            self.assertEqual(row, 0, "the last row of %d figures" % n)

    def test_rows_of_cards_are_full(self):
        for columns, first in ((6, "min-width:1140px"), (2, "max-width:1139px")):
            block = CSS[CSS.index(first):]
            block = block[:re.search(r"\n(?=#scene|@media)", block).start()]
            rules = [(selectors.strip().split(","), int(span) if span else columns) for selectors, span in re.findall(
                r"((?:\.grid>[^{},]+,?)+)\{grid-column:(?:span (\d)|1/-1)\}", block)]
            self.assertGreater(len(rules), 0)
            self.rows_are_full(rules, columns, 1)


class ReportTest(unittest.TestCase):
    """A run with binaries, a tide and escapers."""

    @classmethod
    def setUpClass(cls):
        run_for_class(cls, INPUT)
        cls.name = os.path.join(cls.folder, "real")
        cls.report = Report(nbody6.Run(cls.name))
        with matplotlib.rc_context(style.STYLE):
            cls.panels = [panel for _, draw in page.parts_of(cls.report) for panel in draw() if panel is not None]
        assert plot(cls.name).returncode == 0
        with open(cls.name + ".html", encoding="utf-8") as file:
            cls.text = file.read()

    def panel(self, name):
        return next(panel for panel in self.panels if panel.name == name)

    def test_units_by_a_switch_without_a_script(self):
        text = re.sub(r"<script.*?</script>", "", self.text, flags=re.S)
        Page(text)
        for unit, other in (("physical", "nbody"), ("nbody", "physical")):
            self.assertIn('id="show-%s"' % unit, text)
            self.assertRegex(CSS, r"#show-%s:checked~section \.in-%s" % (unit, other))
        figure = re.search(r'<figure id="radii">.*?</figure>', text, re.S).group()
        physical, nbody = figure.split('<div class="in-nbody">')
        self.assertIn("radius [pc]", physical)
        self.assertIn("time [Myr]", physical)
        self.assertIn("radius [N-body]", nbody)
        self.assertIn("time [N-body]", nbody)
        facts = re.findall(r"half-mass radius</span><span>([\d.]+) (\S+)</span>", text)
        self.assertEqual([unit for _, unit in facts], ["pc", "N-body"])
        length = self.report.snapshot.unit_system.length_pc
        self.assertAlmostEqual(float(facts[0][0]) / float(facts[1][0]), length, delta=2e-3 * length)

    def test_what_has_no_units_is_there_once(self):
        figure = re.search(r'<figure id="steps">.*?</figure>', self.text, re.S).group()
        self.assertEqual(figure.count("<svg"), 1)
        self.assertNotIn("in-nbody", figure)

    def test_size(self):
        self.assertLess(len(self.text.encode()), 3 << 20)

    def test_legends_hide_no_data(self):
        seen = 0
        for panel in self.panels:
            drawn = panel.figure
            for axes in drawn.axes:
                if axes.get_legend():
                    seen += 1
                    box, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
                    self.assertGreaterEqual(legend.y0, box.y1 - 1, panel.name)
        self.assertGreater(seen, 10)

    def test_no_axis_has_an_offset(self):
        for panel in self.panels:
            panel.figure.canvas.draw()
            for axes in panel.figure.axes:
                for axis in (axes.xaxis, axes.yaxis):
                    self.assertEqual(axis.get_offset_text().get_text(), "", panel.name)

    def test_time_begins_with_the_run(self):
        with matplotlib.rc_context(style.STYLE):
            drawn = panels_evolution.escapers(self.report).figure
        end = self.report.t_now * self.report.time_myr
        low, high = drawn.axes[0].get_xlim()
        self.assertGreater(min(event["t"] for event in self.report.run.events if event["event"] == "escape"), 0.2)
        self.assertLess(abs(low), 0.02 * end)
        self.assertLess(abs(high / end - 1), 0.02)

    def test_exponents_do_not_break(self):
        self.assertIn("× 10<sup>", self.text)
        self.assertEqual(len(re.findall(r'<span class="n">[-\d.]+ × 10<sup>-?\d+</sup></span>', self.text)),
                         self.text.count("10<sup>"))
        self.assertIn(".n{white-space:nowrap}", CSS)

    def test_change_of_the_energy(self):
        axes = self.panel("energy-budget").figure.axes[0]
        self.assertTrue(axes.get_ylabel().startswith("E − E₀ ["), axes.get_ylabel())
        total = next(line for line in axes.lines if line.get_label() == "total")
        factor = self.report.snapshot.unit_system.factor("mass velocity^2", "physical")
        log = self.report.log
        np.testing.assert_allclose(total.get_ydata(), (log["e_total"] - log["e_total"][0]) * factor)

    def test_relaxation_times(self):
        """At constant numbers the time passed over the relaxation time; 0.138 N rh^1.5 / ln(0.11 N) of N = 1000."""
        self.assertAlmostEqual(float(nbody6.structure.relaxation_time(1000, 1.0, 0.8)),
                               0.138 * 1000 * 0.8**1.5 / np.log(110), places=9)
        time, passed = panels_motion.relaxations(self.report)
        t = self.report.log["t"]
        self.assertTrue(t[-1] / time.max() <= passed[-1] <= t[-1] / time.min())

    def test_scene(self):
        data = json.loads(re.search(r'<script type="application/json" id="scene-data">(.*?)</script>', self.text,
                                    re.S).group(1))
        stars = self.report.snapshot
        places = np.frombuffer(base64.b64decode(data["places"]), "<i2").reshape(-1, 3) / data["one"]
        kind = np.frombuffer(base64.b64decode(data["kind"]), "u1")
        self.assertEqual((len(places), len(kind)), (data["n"], data["n"]))
        shown = scene.Scene(self.report)
        order = np.argsort(stars.mass, kind="stable")
        d = ((stars.x - stars.centre) / shown.width)[order]
        d = d[np.abs(d).max(axis=1) < 3.9]
        self.assertLess(np.abs(places - d).max(), 1 / data["one"])
        self.assertTrue((np.diff(kind.astype(int)) >= 0).all())  # heavy ones come last, above the others
        length = self.report.snapshot.unit_system.length_pc
        for unit, factor in (("physical", length), ("nbody", 1.0)):
            part, label = data["axes"][unit]
            self.assertAlmostEqual(part * shown.width * factor, float(label.split()[0]), places=9)
        self.assertRegex(self.text, r'<div class="still"><div class="in-physical"><svg')  # where there is no script

    def test_script_of_the_page(self):
        script = re.search(r"<script>(.*?)</script>", self.text, re.S).group(1)
        for word in ("prefers-reduced-motion", "ArrowLeft", "pointermove", "keydown"):
            self.assertIn(word, script)
        self.assertNotRegex(script, r"https?:|import\s|fetch\(|XMLHttpRequest")
        if not shutil.which("node"):
            self.skipTest("the syntax of the script: there is no node")
        done = subprocess.run(["node", "--check", "-"], input=script, text=True, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class OneBinaryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, "run")

    def report(self, binaries):
        """A cluster of 30 wide stars at rest and so many circular binaries."""
        for k in range(2):
            write_snapshot(self.name + ".snap.%05d.h5" % k, float(k), 30 + 2 * binaries)
            with h5py.File(self.name + ".snap.%05d.h5" % k, "r+") as file:
                stars = file["PartType4"]
                x, v, mass = stars["Coordinates"][...] * 50, stars["Velocities"][...] * 0.2, stars["Masses"][...]
                for b in range(binaries):
                    i, j = 30 + 2 * b, 31 + 2 * b
                    x[j] = x[i] + (0.01, 0, 0)
                    v[j] = v[i] + (0, np.sqrt(2 * mass[0] / 0.01), 0)
                stars["Coordinates"][...], stars["Velocities"][...] = x, v
        return Report(nbody6.Run(self.name))

    def test_few_binaries_are_a_sentence(self):
        report = self.report(1)
        with matplotlib.rc_context(style.STYLE):
            binaries, panels = panels_binaries.of(report), [draw(report) for draw in catalogue.BINARIES.values()]
        self.assertEqual((len(binaries), [panel for panel in panels if panel]), (1, []))
        text = story.of_binaries(report, binaries)
        self.assertIn("there is 1 binary", text)
        self.assertIn("Stars 31 and 32: semi-major axis 0.01 N-body, eccentricity 0.000", html.unescape(text))

    def test_many_binaries_are_counted_by_whole_numbers(self):
        report = self.report(6)
        with matplotlib.rc_context(style.STYLE):
            panels = {name: draw(report) for name, draw in catalogue.BINARIES.items()}
        self.assertIn("hardness", panels)
        for name in ("hardness", "binary-numbers"):
            axes = panels[name].figure.axes[0]
            ticks = axes.get_yticks()
            np.testing.assert_array_equal(ticks, np.rint(ticks))
        line = panels["binary-numbers"].figure.axes[0].lines[0]
        self.assertEqual(line.get_drawstyle(), "steps-post")


class AgeingTest(unittest.TestCase):
    """Snapshots of 60 stars with types that are known, a log and a table of escapers."""

    TYPES = ([0] * 20 + [1] * 40, [0] * 20 + [1] * 30 + [3, 4, 5, 10, 11, 12, 13, 13, 14, 15])
    WITH_PLACES = 56  # of the last snapshot: all but neutron stars, a black hole and what is gone

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, "run")
        for k, kinds in enumerate(self.TYPES):
            path = self.name + ".snap.%05d.h5" % k
            write_snapshot(path, 2.0 * k, 60)
            kinds = np.array(kinds)
            heat = np.linspace(3000, 30000, 60)
            with h5py.File(path, "r+") as file:
                for name, values in (("StellarType", kinds), ("StellarAge", 0 * kinds + 7.0 * k),
                                     ("StellarLuminosity", np.where(kinds < 14, (heat / 5772)**4, 0)),
                                     ("EffectiveTemperature", np.where(kinds < 14, heat, 0))):
                    file["PartType4"][name] = values.astype(float)
                    file["PartType4"][name].attrs["kept"] = 1
                file["PartType4/Masses"][...] = np.where(kinds == 15, 0, 0.01)
        write_log(self.name + ".log.csv", 3)

    def panels(self):
        report = Report(nbody6.Run(self.name))
        report.log.columns["mass_stars"] = np.array([0, -0.02, -0.05])
        with matplotlib.rc_context(style.STYLE):
            return {name: draw(report) for name, draw in catalogue.STARS.items()}

    def test_diagram(self):
        panel = self.panels()["hr-diagram"]
        axes = panel.figure.axes[0]
        self.assertGreater(*axes.get_xlim())  # hot stars stand at the left
        places = np.concatenate([dots.get_offsets() for dots in axes.collections])
        self.assertEqual(len(places), self.WITH_PLACES)
        np.testing.assert_allclose(places[:, 1], (places[:, 0] / 5772)**4)
        labels = [dots.get_label() for dots in axes.collections]
        self.assertEqual(labels, ["main sequence: 50", "giants: 2", "core helium burning: 1", "white dwarfs: 3"])
        self.assertIn("2 neutron stars and 1 black hole", panel.sentence)
        marks = {tuple(map(tuple, dots.get_paths()[0].vertices.round(3))) for dots in axes.collections}
        self.assertEqual(len(marks), len(labels))  # colour alone tells nothing

    def test_mass_by_type(self):
        axes = self.panels()["mass-by-type"].figure.axes[0]
        lines = {line.get_label(): line for line in axes.lines}
        np.testing.assert_allclose(lines["main sequence"].get_ydata(), [0.6, 0.5])
        np.testing.assert_allclose(lines["neutron stars"].get_ydata(), [np.nan, 0.02])
        np.testing.assert_allclose(lines["lost by winds and supernovae"].get_ydata(), [np.nan, 0.02, 0.05])
        self.assertNotIn("helium stars", lines)

    def test_remnants(self):
        panel = self.panels()["remnants"]
        self.assertIn("neutron stars: 2 kept;", panel.sentence)
        self.assertIn("KZ(23)=2", panel.sentence)
        with open(self.name + ".esc.csv", "w") as file:
            file.write("t,name,type\n# units: 1,1,1\n0.5,70,13\n0.5,71,1\n1.5,72,13\n1.75,73,11\n")
        panel = self.panels()["remnants"]
        lines = {line.get_label(): line for line in panel.figure.axes[0].lines}
        self.assertEqual(lines["neutron stars kept"].get_ydata().tolist(), [0, 2])
        np.testing.assert_array_equal(lines["neutron stars lost"].get_xdata(), [0, 0.5, 1.5, 2])
        np.testing.assert_array_equal(lines["neutron stars lost"].get_ydata(), [0, 1, 2, 2])
        self.assertNotIn("black holes lost", lines)
        self.assertIn("white dwarfs: 3 kept, 1 lost; neutron stars: 2 kept, 2 lost; black holes: 1 kept, 0 lost",
                      panel.sentence)

    def test_page(self):
        self.assertEqual(plot(self.name).returncode, 0)
        with open(self.name + ".html", encoding="utf-8") as file:
            text = file.read()
        Page(text)
        self.assertIn('<section id="ageing"', text)
        self.assertEqual(text.count('<figure id="hr-diagram">'), 1)

    def test_columns_of_a_file_do_not_age(self):
        for k in range(2):
            with h5py.File(self.name + ".snap.%05d.h5" % k, "r+") as file:
                del file["PartType4/StellarAge"]
        self.assertEqual([name for name, panel in self.panels().items() if panel], ["hr-diagram"])


class ComparedTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def lines(self, column, kind, factor=1.0):
        paths = [os.path.join(self.folder, name) for name in "ab"]
        for path in paths:
            write_log(path + ".log.csv", 5)
        reports = [Report(nbody6.Run(path)) for path in paths]
        reports[1].log.columns[column] = reports[1].log[column] * factor
        quantity = next(q for q in compare.QUANTITIES if q[0] == column)
        self.assertEqual(quantity[5], kind)
        with matplotlib.rc_context(style.STYLE):
            return compare.overlay(reports, 0, *quantity)

    def test_runs_that_agree(self):
        panel = self.lines("r_half", compare.RELATIVE)
        self.assertIn("no difference", panel.sentence)
        first, second = panel.figure.axes[0].lines
        self.assertGreater(first.get_linewidth(), 2 * second.get_linewidth())  # the other one is seen above it
        self.assertNotEqual(first.get_linestyle(), second.get_linestyle())

    def test_panel_of_differences(self):
        panel = self.lines("r_half", compare.RELATIVE, 1.25)
        below = panel.figure.axes[1]
        np.testing.assert_allclose(below.lines[0].get_ydata(), 25)
        self.assertEqual(below.get_ylabel(), "difference [%]")
        self.assertIn("at most 25\u00a0%", panel.sentence)
        panel = self.lines("n", compare.ABSOLUTE, 0.5)
        np.testing.assert_allclose(panel.figure.axes[1].lines[0].get_ydata(), -50)
        self.assertEqual(panel.figure.axes[0].lines[0].get_drawstyle(), "steps-post")


class AxisTest(unittest.TestCase):
    def test_powers_go_into_the_label(self):
        with matplotlib.rc_context(style.STYLE):
            _, axes = style.figure()
            axes.plot([0, 1], [0, 3e-7])
            axis_tools.power_label(axes, "E − E₀", "N-body")
            axes.figure.canvas.draw()
        self.assertEqual(axes.get_ylabel(), "E − E₀ [10⁻⁷ N-body]")
        labels = [label.get_text() for label in axes.get_yticklabels()]
        self.assertIn("3", labels)
        self.assertEqual([axis_tools.short(value) for value in (5e-8, 1e-7, 0.02, 500, 2e6)],
                         ["5×10⁻⁸", "10⁻⁷", "0.02", "500", "2×10⁶"])

    def test_budget_of_single_stars(self):
        """A total that changes by 1e-7 of itself is drawn as that change."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "a.log.csv"), "w") as file:
            file.write("t,n,e_total,e_bind\n# units: 1,1,1,1\n")
            for k in range(5):
                file.write("%d,100,%.17g,0\n" % (k, -0.25 + 1e-7 * k))
        with matplotlib.rc_context(style.STYLE):
            axes = panels_energy.budget(Report(nbody6.Run(os.path.join(folder, "a")))).figure.axes[0]
        self.assertEqual(axes.get_ylabel(), "E − E₀ [10⁻⁷ N-body]")
        labelled = [line for line in axes.lines if not line.get_label().startswith("_")]
        self.assertEqual([line.get_label() for line in labelled], ["total"])  # nothing that would lie on it


class ProfileTest(unittest.TestCase):
    def test_model_at_the_start(self):
        """Its half-mass radius is that of the start, of the King model that the input asks for."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        name = os.path.join(folder, "run")
        write_log(name + ".log.csv", 3)
        write_snapshot(name + ".snap.00000.h5", 0.0, 100)
        report = Report(nbody6.Run(name))
        self.assertIn("of the same half-mass radius", panels_profiles.model_of(report)[2])
        report.parameters.update({"model.kind": 2, "model.king_w0": 3.0})
        model, half, text = panels_profiles.model_of(report)
        self.assertEqual((half, text), (0.8, "King model, W0 = 3 at the start"))
        self.assertAlmostEqual(float(model.mass(1.0)), 0.5, places=9)


if __name__ == "__main__":
    unittest.main()
