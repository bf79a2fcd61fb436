"""The package nbody6 of Python: the examples in its documents run, a run driven from Python has the bits of the
command, results have known answers, data exported to other programs are read back, and it can be installed."""

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import zipfile

import numpy as np

import hard_inputs
from run_support import BUILD, NBODY6, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(SOURCE, "python")
sys.path.insert(0, PACKAGE)
os.environ["NB6_BUILD"] = BUILD

import nbody6  # noqa: E402
from nbody6 import export, initial, orbits, structure  # noqa: E402

BINARIES = """\
&INNBODY6 KSTART=1 /
&ININPUT N=100 NRAND=4 DTADJ=0.25 DELTAT=0.25 TCRIT=1 QE=1e-2 RBAR=2 KZ(8)=1 KZ(14)=1 KZ(20)=6 KZ(23)=2 /
&INDATA NBIN0=20 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.01 ECC0=-1 RANGE=100 /
"""


def sphere(n, seed=1):
    """A homogeneous sphere of radius 1 of equal masses."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3))
    x *= (random.uniform(size=n)**(1 / 3) / np.sqrt((x**2).sum(axis=1)))[:, None]
    return nbody6.Stars(np.full(n, 1 / n), x, random.normal(size=(n, 3)), centre=np.zeros(3))


class DocumentsTest(RunTest):
    def test_examples_of_the_modules(self):
        count = 0
        for module in pkgutil.walk_packages(nbody6.__path__, "nbody6."):
            result = doctest.testmod(importlib.import_module(module.name), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
            self.assertEqual(result.failed, 0, module.name)
            count += result.attempted
        self.assertGreater(count, 8)

    def test_readme_runs(self):
        """All blocks of the README one after the other, beside a run named `cluster`."""
        with open(self.path("cluster.inp"), "w") as file:
            file.write(BINARIES)
        self.assertEqual(subprocess.run([NBODY6, "cluster.inp"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL).returncode, 0)
        with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 3)
        with open(self.path("readme.py"), "w") as file:
            file.write("\n".join(blocks))
        done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "readme.py"], cwd=self.folder,
                              env=dict(os.environ, PYTHONPATH=PACKAGE), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_version_is_that_of_the_program(self):
        with open(os.path.join(SOURCE, "nbody6", "run", "nbody6.h")) as file:
            self.assertIn('#define NB6_VERSION "%s"' % nbody6.__version__, file.read())


class SimulationTest(RunTest):
    def setUp(self):
        super().setUp()
        with open(self.path("a.inp"), "w") as file:
            file.write(BINARIES)

    def run_command(self):
        done = subprocess.run([NBODY6, "a.inp"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return nbody6.Run(self.path("a"))

    def test_same_bits_as_the_command(self):
        """Also in pieces: snapshots byte by byte, events and rows as they were written."""
        run, paths = self.run_command(), []

        def on_output(sim):
            paths.append(self.path("p.snap.%05d.h5" % len(paths)))
            sim.write_snapshot(paths[-1])

        sim = nbody6.Simulation.from_input(self.path("a.inp"), on_output=on_output)
        sim.integrate(0.3).integrate(0.75).run()
        self.assertEqual((len(paths), sim.t), (len(run.snapshots), 1.0))
        for mine, theirs in zip(paths, run.snapshots):
            with open(mine, "rb") as a, open(theirs, "rb") as b:
                self.assertTrue(a.read() == b.read(), mine)
        self.assertEqual(sim.events, run.events[1:])
        self.assertGreater(len(sim.events), 20)
        self.assertEqual(sim.id, run.parameters["run"])
        for column in ("t", "n", "e_total", "r_half", "e_integration"):
            np.testing.assert_array_equal(sim.log[column], run.log[column])
        last = run.snapshot(-1)
        np.testing.assert_array_equal(sim.stars.x, last.x)
        self.assertEqual(sim.units.length_pc, last.unit_system.length_pc)
        pairs = sim.pairs
        self.assertEqual([p["names"] for p in pairs], last.pairs.names.tolist())
        np.testing.assert_array_equal([p["a"] for p in pairs], last.pairs.a)
        # The energies are those of the last row but for the order of sums of some hundred terms.
        self.assertLess(abs(sim.energy["mass"] / last.mass.sum() - 1), 1e-14)

    def test_stars_and_masses_change(self):
        events = []
        sim = nbody6.Simulation.from_model(N=60, NRAND=2, DTADJ=0.25, KZ={14: 4}, MP=0.5, AP2=1,
                                           on_event=events.append).integrate(0.1)
        before, energy = sim.stars, sim.energy["total"]
        sim.set_masses(before.name, 0.9 * before.mass)
        sim.set_masses([7, 3], [0.002, 0.001], v=[[0.1, 0, 0], [0, 0, 0.2]], sudden=True)
        after = sim.stars
        np.testing.assert_array_equal(after.x, before.x)
        np.testing.assert_array_equal(after.mass[[6, 2]], [0.002, 0.001])
        np.testing.assert_array_equal(after.v[[6, 2]], [[0.1, 0, 0], [0, 0, 0.2]])
        self.assertEqual([e["stars"] for e in events if e["event"] == "masses_changed"], [60, 2])
        booked = sum(e["energy"] for e in events if e["event"] == "masses_changed")
        self.assertLess(abs(sim.energy["total"] - energy - booked), 1e-13)  # rounding of sums over 60 stars
        sim.add_stars(nbody6.Stars([0.01], [[2, 0, 0]], [[0, 0.3, 0]])).remove_stars([5, 6])
        self.assertEqual((sim.n, int(sim.stars.name.max())), (59, 61))
        field, stars = sim.field([[0.3, 0, 0], [0, 2, 1]]), sim.stars
        apart = stars.x[None] - np.array([[0.3, 0, 0], [0, 2, 1]])[:, None]
        r = np.sqrt((apart**2).sum(axis=2))
        np.testing.assert_allclose(field["potential"], -(stars.mass / r).sum(axis=1), rtol=1e-13)
        np.testing.assert_allclose(field["acc"], (stars.mass[:, None] / r[..., None]**3 * apart).sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(field["galaxy_potential"], [-0.5 / np.sqrt(1.09), -0.5 / np.sqrt(6)], rtol=1e-13)
        np.testing.assert_allclose(field["galaxy_acc"][0], [-0.15 / 1.09**1.5, 0, 0], rtol=1e-13, atol=1e-300)
        sim.integrate(0.25)
        self.assertLess(abs(sim.log["de_cluster"][-1]), 1e-5)
        for mistake, words in ((lambda: sim.set_masses(1, -1), "negative"), (lambda: sim.set_masses(99, 1), "no star 99"),
                               (lambda: sim.field([[np.nan, 0, 0]]), "point 1"),
                               (lambda: sim.set_masses(1, 1, v=[[0, 0, 0]]), "suddenly")):
            with self.assertRaisesRegex(nbody6.SimulationError, words):
                mistake()
        with self.assertRaisesRegex(ValueError, "2 names have as many masses"):
            sim.set_masses([1, 2], [1])

    def test_restored_from_the_command(self):
        run = self.run_command()
        sim = nbody6.Simulation.restore(self.path("a.ckpt.h5"))
        self.assertEqual((sim.t, sim.id), (1.0, run.parameters["run"]))
        np.testing.assert_array_equal(sim.stars.v, run.snapshot(-1).v)
        sim.integrate(1.1).write_checkpoint(self.path("b.ckpt.h5"))
        again = nbody6.Simulation.restore(self.path("b.ckpt.h5")).integrate(1.3)
        np.testing.assert_array_equal(again.stars.x, sim.integrate(1.3).stars.x)

    def test_what_a_callback_raises_stops_the_run_and_nothing_is_lost(self):
        seen = []

        def on_event(event):
            seen.append(event)
            if len(seen) == 30:
                raise RuntimeError("enough")

        sim = nbody6.Simulation.from_input(self.path("a.inp"), on_event=on_event)
        with self.assertRaisesRegex(RuntimeError, "enough"):
            sim.run()
        self.assertLess(sim.t, 1.0)
        self.assertEqual(sim.run().events, nbody6.Simulation.from_input(self.path("a.inp")).run().events)

    def test_interrupt_from_the_keyboard(self):
        """The state is whole when KeyboardInterrupt comes, and goes on with the same bits."""
        sim = nbody6.Simulation.from_model(N=1500, NRAND=2, DTADJ=1)
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            sim.integrate(1000)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        t = sim.t + 0.01
        np.testing.assert_array_equal(sim.integrate(t).stars.x,
                                      nbody6.Simulation.from_model(N=1500, NRAND=2, DTADJ=1).integrate(t).stars.x)

    def test_stars_of_the_caller(self):
        """Two bodies on a circular orbit: after a period they are where they were."""
        stars = nbody6.Stars([0.5, 0.5], [[0.5, 0, 0], [-0.5, 0, 0]], [[0, 0.5, 0], [0, -0.5, 0]], name=[7, 9])
        with nbody6.Simulation(stars, ETAI=0.001, ETAR=0.001, SMAX=0.0625, KZ={16: 0}) as sim:
            after = sim.integrate(2 * np.pi).stars
            self.assertEqual(after.name.tolist(), [7, 9])
            # The period is rounded to 2^-40; with these steps the orbit is good to 1e-8.
            self.assertLess(np.abs(after.x - stars.x).max(), 1e-6)
        with self.assertRaisesRegex(ValueError, "closed"):
            sim.integrate(7)

    def test_what_is_wrong_is_said(self):
        for variables, text in (({"ETA": 0.1}, "ETA"), ({"N": 1}, "out of range"), ({"ETAI": -1}, "ETAI")):
            with self.assertRaisesRegex(nbody6.SimulationError, text):
                nbody6.Simulation.from_model(**variables)
        with self.assertRaisesRegex(nbody6.SimulationError, "there is no|No such|cannot") as raised:
            nbody6.Simulation.restore(self.path("none.ckpt.h5"))
        self.assertEqual(raised.exception.status, 8)  # NBC_FILE
        with self.assertRaisesRegex(ValueError, "no stars"):
            nbody6.Simulation().integrate(1)
        with self.assertRaisesRegex(ValueError, "x has the shape"):
            nbody6.Stars([1, 1], [[0, 0, 0]], [[0, 0, 0]])
        sim = nbody6.Simulation.from_model(N=20)
        with self.assertRaisesRegex(nbody6.SimulationError, "before the present"):
            sim.integrate(1).integrate(0.5)
        done = subprocess.run([sys.executable, "-c", "import nbody6; nbody6.Simulation()"], stderr=subprocess.PIPE,
                              env=dict(os.environ, PYTHONPATH=PACKAGE, NBODY6_LIBRARY=self.path("no.so")), text=True)
        self.assertIn("no.so: there is no such file", done.stderr)


class StructureTest(unittest.TestCase):
    """Sets of stars with known properties. Bounds are three to five standard deviations of the samples."""

    def test_homogeneous_sphere(self):
        stars = sphere(20000)
        np.testing.assert_allclose(stars.lagrangian_radii((0.1, 0.5, 1)), [0.1**(1 / 3), 0.5**(1 / 3), 1], rtol=0.02)
        radius, rho, number, error = stars.density_profile(2000)
        self.assertLess(np.abs(rho / (3 / (4 * np.pi)) - 1).max(), 5 * error.max())
        np.testing.assert_allclose(number, 20000 * rho)
        _, sigma, error = stars.dispersion_profile(2000)
        self.assertLess((np.abs(sigma - 1) / error).max(), 4)
        radius, rho, _, error = stars.density_profile(2000, axis=2)  # surface density 3/(2 pi) sqrt(1 - R^2)
        inner = radius < 0.8
        self.assertLess(np.abs(rho / (1.5 / np.pi * np.sqrt(1 - radius**2)) - 1)[inner].max(), 0.15)
        self.assertLess(np.linalg.norm(structure.density_centre(stars.x + [1, 2, 3], stars.mass) - [1, 2, 3]), 0.05)

    def test_neighbours_with_and_without_scipy(self):
        x = sphere(300).x
        distance, index = structure.neighbour_distances(x, 6)
        hidden = sys.modules.get("scipy.spatial")
        sys.modules["scipy.spatial"] = None
        try:
            plain, plain_index = structure.neighbour_distances(x, 6)
        finally:
            del sys.modules["scipy.spatial"]
            if hidden is not None:
                sys.modules["scipy.spatial"] = hidden
        np.testing.assert_allclose(plain, distance, rtol=1e-12)
        np.testing.assert_array_equal(plain_index, index)

    def test_segregation(self):
        stars = sphere(2000)
        stars.mass[:20] = 1.0
        ratio, error = stars.mass_segregation_ratio()
        self.assertLess(abs(ratio - 1), 4 * error)
        stars.x[:20] *= 0.2
        self.assertGreater(stars.mass_segregation_ratio()[0], 3)
        self.assertAlmostEqual(structure.spanning_tree_length(np.array([[0, 0], [3, 0], [1, 0], [1, 1.0]])), 4)

    def test_mass_function(self):
        edges, number, error = structure.mass_function(np.geomspace(0.1, 10, 2001), bins=4)
        np.testing.assert_allclose(number, 1000, rtol=5e-3)  # 2001 stars over two decades
        self.assertEqual(len(edges), 5)
        with self.assertRaisesRegex(ValueError, "same mass"):
            structure.mass_function(np.ones(5))

    def test_orbits(self):
        mass = np.array([[0.6, 0.4]])
        a, e, energy = orbits.elements(mass, np.array([[1.5, 0, 0]]), np.array([[0, np.sqrt(0.5 / 1.5), 0]]))
        np.testing.assert_allclose([a[0], e[0], energy[0]], [1.0, 0.5, -0.12],
                                   rtol=1e-12)  # apocentre of a = 1, e = 1/2
        self.assertAlmostEqual(orbits.period(a, 1.0)[0], 2 * np.pi)

    def test_systems(self):
        """A triple and a binary among single stars are found as such."""
        stars = sphere(50)
        stars.v *= 0.3
        for k, (of, distance) in enumerate(((0, 1e-4), (0, 3e-3), (10, 1e-4))):
            m = stars.mass[of] * (2 if k == 1 else 1) + stars.mass[of]
            stars.x[of + 1 + k] = stars.x[of] + [distance, 0, 0]
            stars.v[of + 1 + k] = stars.v[of] + [0, np.sqrt(m / distance), 0]
        outer, inner = stars.systems()
        self.assertEqual(sorted(len(a + b) for a, b in outer.stars), [2, 3])
        self.assertEqual([sorted(a + b) for a, b in inner.stars], [[1, 2]])


class SnapshotTest(RunTest):
    def test_units_are_checked(self):
        with open(self.path("a.inp"), "w") as file:
            file.write(BINARIES.replace("TCRIT=1", "TCRIT=0.25"))
        subprocess.run([NBODY6, "a.inp"], cwd=self.folder, stdout=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=True)
        stars = nbody6.Run(self.path("a")).snapshot(0.25)
        self.assertEqual(stars.t, 0.25)
        np.testing.assert_allclose(stars.get("x", "pc"), 2 * stars.x)
        np.testing.assert_allclose(stars.get("x", "kpc"), 2e-3 * stars.x)
        speed = stars.unit_system.velocity_kms
        np.testing.assert_allclose(stars.get("pot"), speed**2 * stars.pot)
        for field, unit in (("x", "Msun"), ("mass", "pc"), ("pot", "km/s"), ("colour", "pc")):
            with self.assertRaises(nbody6.UnitError):
                stars.get(field, unit)
        bound = stars.bound()
        self.assertTrue(0.9 * stars.n < bound.n <= stars.n)
        self.check_exports(stars)

    def check_exports(self, stars):
        export.to_nbody6pp(stars, self.path("conf.3_0"), log_row={"r_core": 0.25})
        header, back = export.from_nbody6pp(self.path("conf.3_0"))
        self.assertEqual((header["t"], header["r_core"], back.name.tolist()), (0.25, 0.25, stars.name.tolist()))
        # Single precision: half of 2^-23.
        for field in ("mass", "x", "v", "pot"):
            np.testing.assert_allclose(getattr(back, field), getattr(stars, field), rtol=6e-8, atol=1e-30)
        with open(self.path("conf.3_0"), "rb") as file:  # as scripts read it, number by number
            data = file.read()
        self.assertEqual(np.frombuffer(data, "<i4", 6).tolist(), [16, len(stars), 0, 1, 20, 16])
        self.assertAlmostEqual(np.frombuffer(data, "<f4", 1, 4 * 7 + 4 * 20)[0], stars.mass[0], places=8)
        with open(self.path("conf.3_0"), "wb") as file:
            file.write(data[:-5])
        with self.assertRaises(nbody6.ReadError):
            export.from_nbody6pp(self.path("conf.3_0"))
        export.to_nbody6pp_text(stars, self.path("text"))
        np.testing.assert_allclose(np.loadtxt(self.path("text"))[:, 1:5], np.column_stack([
            stars.get("mass", "Msun"), stars.get("x", "pc")]), rtol=1e-11)
        export.to_table(stars, self.path("dat.10"))
        np.testing.assert_array_equal(initial.table(self.path("dat.10")).x, stars.x)  # 17 digits are exact
        export.to_table(stars, self.path("mcluster.txt"), physical=True)
        again = initial.mcluster(self.path("mcluster.txt"), length_pc=stars.unit_system.length_pc)
        # The unit of mass is then that of the stars, which is 1; roundings of a few operations.
        np.testing.assert_allclose(again.x, stars.x, rtol=1e-14)
        np.testing.assert_allclose(again.v, stars.v, rtol=1e-7)  # G of both to 12 digits, mass to 1e-8
        columns = export.arrays(stars)
        np.testing.assert_allclose(columns["x"], 2 * (stars.x[:, 0] - stars.centre[0]))
        self.assertEqual(columns["units"], "pckms")

    def test_centres_of_mass_of_pairs_triples_and_quadruples(self):
        for count in (3, 4):
            with open(self.path("a.inp"), "w") as file:
                file.write(hard_inputs.STARS.format(dtadj=0.125, deltat=0.25, tcrit=1, more="KZ(14)=1"))
            stars = hard_inputs.systems(6, 6, count)
            np.savetxt(self.path("stars.dat"), stars, fmt="%.17g")
            subprocess.run([NBODY6, "--overwrite", "a.inp"], cwd=self.folder, stdout=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL, check=True)
            snapshot = nbody6.Run(self.path("a")).snapshot(-1)
            systems = snapshot.with_centres_of_mass()
            self.assertGreater(len(snapshot.pairs), 6)  # pairs within pairs
            self.assertEqual(len(systems), len(snapshot) - len(snapshot.pairs))
            self.assertAlmostEqual(systems.mass.sum(), snapshot.mass.sum(), places=12)
            for field in ("x", "v"):
                np.testing.assert_allclose((systems.mass[:, None] * getattr(systems, field)).sum(axis=0),
                                           (snapshot.mass[:, None] * getattr(snapshot, field)).sum(axis=0), atol=1e-9)


class InitialTest(unittest.TestCase):
    def test_models_are_those_of_the_library(self):
        stars = initial.plummer(200, seed=5)
        self.assertEqual((len(stars), round(float(stars.mass.sum()), 12)), (200, 1.0))
        scaled = initial.scaled(nbody6.Stars(3 * stars.mass, 7 * stars.x + 1, stars.v - 2))
        # The library brings a model to E = -1/4 and Q = 1/2 as well; sums of 200 terms.
        np.testing.assert_allclose(scaled.x, stars.x, atol=1e-10)
        np.testing.assert_allclose(scaled.v, stars.v, atol=1e-10)
        self.assertEqual(len(initial.king(100, w0=3)), 100)

    def test_physical_units(self):
        stars = initial.from_physical([1.0, 1.0], [[1, 0, 0], [-1, 0, 0]], [[0, 0.1, 0], [0, -0.1, 0]], length_pc=2)
        units = stars.unit_system
        self.assertEqual((units.length_pc, units.mass_msun), (2.0, 2.0))
        # G M / R = V^2 with the G of the program
        self.assertAlmostEqual(units.velocity_kms, np.sqrt(4.30091727e-3), places=9)
        self.assertAlmostEqual(units.time_myr * units.velocity_kms / units.length_pc, 0.9777922217, places=8)

    def test_limepy_samples(self):
        class Sample:  # the attributes of limepy.sample
            class mod:
                G = 0.004302
            m, vx, vy, vz = np.full(3, 5.0), np.ones(3), np.zeros(3), np.zeros(3)
            x, y, z = np.arange(3.0), np.zeros(3), np.zeros(3)

        self.assertAlmostEqual(initial.limepy(Sample).unit_system.mass_msun, 15)
        Sample.mod.G = 7.0
        with self.assertRaisesRegex(ValueError, "G = 7"):
            initial.limepy(Sample)


class InstallTest(RunTest):
    def test_wheel_from_a_clone(self):
        """pip builds a wheel with the library inside; unpacked, it works where the sources are not."""
        try:
            import setuptools  # noqa: F401
            import wheel  # noqa: F401
        except ImportError as missing:
            self.skipTest("a wheel: %s is not installed" % missing.name)
        clone = self.path("clone")
        left_out = shutil.ignore_patterns("build", ".git", "tests", "docs", "gpunb", "gpuirr")
        shutil.copytree(SOURCE, clone, ignore=left_out)
        library = os.path.join(BUILD, "lib", "libnbody6.so.0")
        done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q", "-w",
                               self.folder, clone], env=dict(os.environ, NBODY6_LIBRARY=library),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "No module named pip" in done.stdout:
            self.skipTest("a wheel: this Python has no pip")
        self.assertEqual(done.returncode, 0, done.stdout)
        path = [name for name in os.listdir(self.folder) if name.endswith(".whl")][0]
        self.assertRegex(path, r"^nbody6-%s-py3-none-linux_\w+\.whl$" % re.escape(nbody6.__version__))
        with zipfile.ZipFile(self.path(path)) as archive:
            archive.extractall(self.path("site"))
        environment = dict(os.environ, PYTHONPATH=self.path("site"))
        environment.pop("NB6_BUILD")
        program = "import nbody6, nbody6.plot.command; print(nbody6.Simulation.from_model(N=20).integrate(0.125).t, " \
            "nbody6.library.library()._name)"
        done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.stdout.split(), ["0.125", self.path("site", "nbody6", "libnbody6.so.0")], done.stdout)


if __name__ == "__main__":
    unittest.main()
