"""Python in a notebook: what things show, pictures, names that are not there, and the notebook of examples/."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
os.environ["NB6_BUILD"] = BUILD
sys.path.insert(0, os.path.join(SOURCE, "python"))

from run_support import run_for_class  # noqa: E402

import nbody6  # noqa: E402
from nbody6 import names  # noqa: E402
from nbody6.plot import catalogue, report  # noqa: E402

NOTEBOOK = os.path.join(SOURCE, "examples", "notebook", "first_cluster.ipynb")
INPUT = """&INNBODY6 KSTART=1 /
&ININPUT N=140 NRAND=5 DTADJ=0.25 DELTAT=0.5 TCRIT=1 QE=1e-2 RBAR=3 KZ(8)=1 KZ(20)=6 /
&INDATA NBIN0=20 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.005 ECC0=-1 RANGE=50 /
"""
LONGEST = 2048  # bytes of a repr
PNG = b"\x89PNG"


class ShownTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run_for_class(cls, INPUT)
        cls.run_ = nbody6.Run(os.path.join(cls.folder, "real"))
        cls.stars = cls.run_.snapshot(-1)
        cls.sim = nbody6.Simulation.from_model(N=40, NRAND=2, DTADJ=0.25).integrate(0.25)

    def things(self):
        outer, inner = self.stars.systems()
        return {"run": self.run_, "snapshot": self.stars, "stars": self.sim.stars, "some": self.stars[:3],
                "pairs": self.stars.pairs, "log": self.run_.log, "simulation": self.sim, "its log": self.sim.log,
                "systems": outer, "inner": inner, "units": self.stars.unit_system}

    def test_no_file_is_read(self):
        def refuse(*arguments, **_):
            raise AssertionError("a file is opened: %r" % (arguments,))

        things = self.things()
        with mock.patch("builtins.open", refuse), mock.patch("h5py.File", refuse), mock.patch("os.stat", refuse):
            for name, thing in things.items():
                with self.subTest(name):
                    text = repr(thing)
                    self.assertLess(len(text.encode()), LONGEST)
                    self.assertNotIn(" object at 0x", text)
                    if name != "units":
                        self.assertRegex(thing._repr_html_(), r"^<div>.*<table>.*</table>.*</div>$")

    def test_what_they_say(self):
        self.assertRegex(repr(self.run_), r"^<Run \S+real: 160 stars, t = 0 to 1, energy error -?\S+e-\d\d, 5 rows of "
                                          r"the log, 3 snapshots>$")
        self.assertRegex(repr(self.stars), r"^<Snapshot \S+: 160 stars at t = 1 \([\d.]+ Myr\), \d+ regularized "
                                           r"pairs>$")
        self.assertEqual(repr(self.sim), "<Simulation: 40 stars at t = 0.25, engine %s>" % self.sim.engine)
        self.assertIn("5 rows, and", self.run_.log._repr_html_())
        self.assertIn("r_half", self.run_.log._repr_html_())

    def test_long_and_odd_names(self):
        for name in ("x" * 4000, "<b>&\n\udcff", "a" * 500):
            run = nbody6.Run.__new__(nbody6.Run)
            run.name, run.log, run.snapshots = name, None, []
            self.assertLess(len(repr(run).encode()), LONGEST)
            self.assertNotIn("<b>&\n", run._repr_html_())
            self.assertNotIn("\n", repr(run))
        wide = nbody6.Table({"column_%d" % k + "y" * 300: np.zeros(1000) for k in range(400)}, {})
        self.assertLess(len(repr(wide).encode()), LONGEST)
        self.assertLess(len(wide._repr_html_()), 100000)

    def test_simulation_that_is_closed_or_integrates(self):
        said = []
        sim = nbody6.Simulation.from_model(N=20, NRAND=2, DTADJ=0.25, on_row=lambda row: said.append(repr(sim)))
        sim.integrate(0.25)
        sim.close()
        self.assertEqual(repr(sim), "<Simulation: no stars, or closed>")
        self.assertTrue(said and all(text.startswith("<Simulation: 20 stars at t = ") for text in said), said)
        self.assertEqual(repr(nbody6.Simulation()), "<Simulation: no stars, or closed>")
        self.assertIn("<table>", nbody6.Simulation()._repr_html_())

    def test_pictures(self):
        for picture, count in ((self.run_.plot(), 4), (self.stars.plot(), 4), (self.sim.stars.plot("view-xy"), 1),
                               (self.run_.plot("energy-budget", "drift"), 3)):
            self.assertEqual(picture._repr_png_()[:4], PNG)
            self.assertEqual(len(picture.axes), count)
        self.assertEqual(self.run_.plot("radii").axes[0].get_ylabel(), "radius [pc]")
        self.assertEqual(self.run_.plot("radii", unit="nbody").axes[0].get_ylabel(), "radius [N-body]")
        path = os.path.join(self.folder, "radii.png")
        self.run_.plot("radii").savefig(path)
        self.assertGreater(os.path.getsize(path), 1000)

    def test_stars_without_units(self):
        """RBAR = 1 and ZMBAR = 1 are no units."""
        self.assertEqual(self.sim.stars.plot("view-xy").axes[0].get_xlabel(), "x [N-body]")
        self.assertFalse(self.sim.units.stated)
        other = nbody6.Simulation.from_model(N=40, NRAND=2, ZMBAR=0.5)
        self.assertTrue(other.units.stated)
        with self.assertRaisesRegex(ValueError, "unit = 'physical': 'nbody'"):
            self.sim.stars.plot("view-xy", unit="physical")

    def test_two_stars_and_some_without_velocities(self):
        stars = nbody6.Stars([0.5, 0.5], [[1, 0, 0], [-1, 0, 0]])
        self.assertEqual(stars.plot("view-xy")._repr_png_()[:4], PNG)
        self.assertIsNone(stars.v)  # the picture has not touched it
        with self.assertRaisesRegex(ValueError, "nothing to draw yet: dispersion"):
            stars.plot("dispersion")

    def test_pictures_leave_matplotlib_alone(self):
        code = ("import sys; sys.path.insert(0, %r)\n"
                "import matplotlib; before = dict.copy(matplotlib.rcParams)\n"
                "import nbody6; picture = nbody6.Run(%r).plot()\n"
                "assert picture._repr_png_()[:4] == b'\\x89PNG'\n"
                "assert dict.copy(matplotlib.rcParams) == before\n"
                "assert 'matplotlib.pyplot' not in sys.modules\n") % (
                    os.path.join(SOURCE, "python"), os.path.join(self.folder, "real"))
        done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_names_of_pictures_are_those_of_the_page(self):
        self.assertGreater(len(catalogue.ALL), 25)
        shown, drawn = report.Report(self.run_), 0
        for name, draw in catalogue.ALL.items():
            panel = draw(shown)
            if panel is not None:
                drawn += 1
                self.assertEqual(panel.name, name)
        self.assertGreater(drawn, 18)
        with open(os.path.join(SOURCE, "docs", "notebook.md"), encoding="utf-8") as file:
            text = file.read()
        for name in catalogue.ALL:
            self.assertIn("`%s`" % name, text)

    def test_names_that_are_not_there(self):
        for ask, name, near in ((lambda: self.run_.log["r_haf"], "r_haf", "r_half"),
                                (lambda: self.sim.log["R_HALF"], "R_HALF", "r_half"),
                                (lambda: self.run_.log.units["wal_s"], "wal_s", "wall_s"),
                                (lambda: self.run_.parameters["run.tcrit"], "run.tcrit", "run.t_crit"),
                                (lambda: self.run_.energy()["e_pair"], "e_pair", "e_pairs"),
                                (lambda: self.sim.energy["totl"], "totl", "total"),
                                (lambda: self.stars.units["lenght_pc"], "lenght_pc", "length_pc"),
                                (lambda: self.run_.plot("energyerror"), "energyerror", "energy-error")):
            with self.subTest(name), self.assertRaises(KeyError) as caught:
                ask()
            self.assertRegex(str(caught.exception), r"^%s: no such .*; the nearest name is %s$" % (name, near))
        with self.assertRaises(KeyError) as caught:
            self.run_.log["zzzzzz"]
        self.assertIn("there are t, t_myr, n, ", str(caught.exception))
        self.assertNotIn("zzz", self.run_.log)
        self.assertIsNone(self.run_.parameters.get("zzz"))

    def test_names_are_copied(self):
        import copy
        import pickle
        given = names.Names({"a": 1}, "thing")
        for other in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
            self.assertEqual((other, other.kind), ({"a": 1}, "thing"))
            with self.assertRaisesRegex(KeyError, "no such thing"):
                other["b"]

    def test_fractions_above_one(self):
        for ask in (lambda: self.stars.lagrangian_radii([10, 50, 90]),
                    lambda: self.stars.lagrangian_radii((0.5, 1.5), groups=3)):
            with self.assertRaisesRegex(ValueError, "from 0 to 1"):
                ask()


class NotebookTest(unittest.TestCase):
    def setUp(self):
        with open(NOTEBOOK, encoding="utf-8") as file:
            self.notebook = json.load(file)
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_cell(self, source, space):
        """As a notebook does: the value of the last expression, as it is shown, or None."""
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, NOTEBOOK, "exec"), space)
        if last is None:
            return None
        value = eval(compile(ast.Expression(last.value), NOTEBOOK, "eval"), space)
        for form in ("_repr_png_", "_repr_html_"):
            if hasattr(value, form):
                return getattr(value, form)()
        return None if value is None else repr(value)

    def test_it_is_clean(self):
        self.assertEqual((self.notebook["nbformat"], self.notebook["nbformat_minor"]), (4, 5))
        ids = [cell["id"] for cell in self.notebook["cells"]]
        self.assertEqual(len(ids), len(set(ids)))
        for cell in self.notebook["cells"]:
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
            for line in cell["source"]:
                self.assertLessEqual(len(line.rstrip("\n")), 120)

    def test_its_cells_run(self):
        before, path = os.getcwd(), os.environ["PATH"]
        os.chdir(self.folder)
        os.environ["PATH"] = BUILD + os.pathsep + path
        try:
            space, shown = {"__name__": "__main__"}, []
            for cell in self.notebook["cells"]:
                if cell["cell_type"] == "code":
                    shown.append(self.run_cell("".join(cell["source"]), space))
        finally:
            os.chdir(before)
            os.environ["PATH"] = path
        self.assertGreaterEqual(sum(isinstance(value, bytes) and value[:4] == PNG for value in shown), 5)
        self.assertGreaterEqual(sum(isinstance(value, str) and value.startswith("<div>") for value in shown), 5)
        self.assertEqual(space["sim"].t, 2)
        self.assertLess(abs(space["run"].energy_error[-1]), 1e-3)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "masses.png")))


if __name__ == "__main__":
    unittest.main()
