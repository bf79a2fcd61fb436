#!/usr/bin/env python3
"""Tests that need other programs or the network: yt and pynbody of PyPI load snapshots with their units, clustertools,
astropy and limepy take and give stars as they are, `pip install .` works from a clone in an empty virtual environment,
and Chromium shows the page at three widths with nothing cut."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from run_support import BUILD, NBODY6, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INPUT = """\
&INNBODY6 KSTART=1 /
&ININPUT N=200 NRAND=4 DTADJ=0.25 DELTAT=0.5 TCRIT=2 QE=1e-2 RBAR=2.5 KZ(8)=1 KZ(14)=1 KZ(20)=6 KZ(23)=2 /
&INDATA NBIN0=40 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.01 ECC0=-1 RANGE=100 /
"""
# A plain load, against what the file says. Solar masses and parsecs of the packages differ in the fifth digit.
LOAD = """\
import sys
import h5py, numpy as np
path = sys.argv[1]
with h5py.File(path) as file:
    own = file["nbody6"].attrs
    x = file["PartType4/Coordinates"][...] * own["length_pc"]
    v = file["PartType4/Velocities"][...] * own["velocity_kms"]
    mass = file["PartType4/Masses"][...] * own["mass_msun"]
    t = own["t_myr"]
def same(found, expected):
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected, rtol=1e-4)
"""
YT = LOAD + """
import yt
data = yt.load(path)
stars = data.all_data()
order = np.argsort(np.asarray(stars["PartType4", "particle_index"]))
same(stars["PartType4", "particle_position"].to("pc")[order], x)
same(stars["PartType4", "particle_velocity"].to("km/s")[order], v)
same(stars["PartType4", "particle_mass"].to("Msun")[order], mass)
same(data.current_time.to("Myr"), t)
"""
PYNBODY = LOAD + """
import warnings, pynbody
warnings.simplefilter("error")
snapshot = pynbody.load(path)
same(snapshot.star["pos"].in_units("pc"), x)
same(snapshot.star["vel"].in_units("km s**-1"), v)
same(snapshot.star["mass"].in_units("Msol"), mass)
same(snapshot.properties["time"].in_units("Myr"), t)
"""
# Exporters of the package in the same environment
EXPORT = """
import sys; sys.path.insert(0, %r)
import nbody6
stars = nbody6.read_snapshot(path)
same(nbody6.export.to_pynbody(stars)["pos"].in_units("pc"), x)
found = nbody6.export.to_yt(stars).all_data()["io", "particle_position_x"].to("pc")
same(np.sort(found), np.sort(x[:, 0]))
""" % os.path.join(SOURCE, "python")
# clustertools computes from what it gets, astropy's constants hold between the units, and quantities come back.
TOOLS = LOAD + """
import sys; sys.path.insert(0, %r)
import astropy.constants, astropy.units as u, nbody6
stars = nbody6.read_snapshot(path)
units = stars.unit_system
cluster = nbody6.export.to_clustertools(stars)
cluster.analyze()
same(cluster.rm, stars.lagrangian_radii([0.5])[0] * units.length_pc)
same(cluster.mtot, mass.sum())
same([cluster.tphys, cluster.zmbar, cluster.rbar], [t, units.mass_msun, units.length_pc])
cluster.to_nbody()
np.testing.assert_allclose(cluster.x, stars.x[:, 0] - stars.centre[0], atol=1e-12)
np.testing.assert_allclose(cluster.m.sum(), stars.mass.sum(), rtol=1e-12)
found = stars.quantity("x"), stars.quantity("v"), stars.quantity("mass")
for got, wanted, unit in zip(found, (x, v, mass), (u.AU, u.m / u.s, u.kg)):
    same(got.to_value(unit), wanted * got.unit.to(unit))
potential = astropy.constants.G * found[2].sum() / (units.length_pc * u.pc)
same((potential / (units.velocity_kms * u.km / u.s)**2).to_value(1), stars.mass.sum())
back = nbody6.initial.from_physical(found[2].to("kg"), found[0].to("AU"), found[1].to("m/s"), length_pc=units.length_pc)
np.testing.assert_allclose(back.x, stars.x, rtol=1e-12)
np.testing.assert_allclose(back.v * back.unit_system.velocity_kms, stars.v * units.velocity_kms, rtol=1e-12)
try:
    nbody6.initial.from_physical(found[0], found[0], found[1])
    raise SystemExit("lengths were taken for masses")
except nbody6.UnitError:
    pass
""" % os.path.join(SOURCE, "python")
# A King model in both kinds of units: its half-mass radius, mass and virial ratio are those that were asked for. 4000
# stars know the radius to 2 percent and the ratio to 1 percent; the bounds are three times that.
LIMEPY = """
import sys; sys.path.insert(0, %r)
import limepy, nbody6
for wanted, units in ((dict(M=1e3, rh=3), "pc"), (dict(M=1, rv=1, G=1), "nbody")):
    stars = nbody6.initial.limepy(limepy.sample(limepy.limepy(5, 1, **wanted), N=4000, seed=3))
    assert len(stars) == 4000
    energy = nbody6.Simulation(stars).energy
    assert abs(energy["virial_ratio"] - 0.5) < 0.015, energy
    if units == "pc":
        assert abs(stars.unit_system.mass_msun / 1e3 - 1) < 1e-9, stars.unit_system
        radius = stars.lagrangian_radii([0.5])[0] * stars.unit_system.length_pc
        assert abs(radius / 3 - 1) < 0.06, radius
    else:
        assert abs(energy["total"] + 0.25) < 1e-9, energy
""" % os.path.join(SOURCE, "python")
# Text that leaves its figure, and anything that is wider than the window
CUT = """<script>addEventListener("load",()=>{const cut=[],w=innerWidth;
if(document.documentElement.scrollWidth>w)cut.push("page "+document.documentElement.scrollWidth+" > "+w);
document.querySelectorAll("figure svg").forEach(s=>{const r=s.getBoundingClientRect();
s.querySelectorAll("text").forEach(t=>{const b=t.getBoundingClientRect();
if(b.width&&(b.left<r.left-2||b.right>r.right+2||b.top<r.top-2||b.bottom>r.bottom+2))
cut.push(s.getAttribute("aria-label")+": "+t.textContent.replace(/\\s+/g," "))})});
parent.postMessage("CUT["+cut.join("; ")+"] WIDTH["+w+"] FIGURES["
+document.querySelectorAll("figure svg").length+"]","*")})
</script>"""
# A window of Chromium is 500 pixels wide at least: the page is shown in a frame, which says what it found
FRAME = """<!DOCTYPE html><script>addEventListener("message",e=>{document.title=e.data})</script>
<iframe src="b.html" style="border:0;width:%dpx;height:3000px"></iframe>"""


class PackagesTest(RunTest):
    def setUp(self):
        super().setUp()
        with open(self.path("a.inp"), "w") as file:
            file.write(INPUT)
        subprocess.run([NBODY6, "a.inp"], cwd=self.folder, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True)

    def environment(self, *packages):
        """Python of a new virtual environment with these packages of PyPI."""
        python = self.path("env", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", self.path("env")], stdout=subprocess.DEVNULL, check=False)
        if not os.path.exists(python):
            self.skipTest("packages of PyPI: this Python makes no virtual environments")
        done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            self.skipTest("packages of PyPI: pip cannot fetch %s: %s" % (" ".join(packages),
                                                                       done.stdout.strip().splitlines()[-1]))
        return python

    def test_yt_and_pynbody_know_the_units(self):
        python = self.environment("yt", "pynbody", "h5py")
        for name, program in (("yt", YT), ("pynbody", PYNBODY), ("exporters", LOAD + EXPORT)):
            with self.subTest(package=name):
                done = subprocess.run([python, "-c", program, self.path("a.snap.00004.h5")], cwd=self.folder,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)

    def check_program(self, python, program):
        done = subprocess.run([python, "-c", program, self.path("a.snap.00004.h5")], cwd=self.folder,
                              env=dict(os.environ, NB6_BUILD=BUILD), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_clustertools_and_astropy(self):
        self.check_program(self.environment("clustertools", "astropy", "h5py"), TOOLS)

    def test_limepy(self):
        self.check_program(self.environment("astro-limepy", "numpy<2", "scipy<1.12", "h5py"), LIMEPY)

    def test_pip_install_from_a_clone(self):
        python = self.environment("numpy", "h5py", "matplotlib")
        clone = self.path("clone")
        subprocess.run(["git", "clone", "-q", SOURCE, clone], check=True)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("NB6_", "NBODY6_", "MAKE"))}
        done = subprocess.run([python, "-m", "pip", "install", "-q", clone], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = subprocess.run([python, "-c", "import nbody6; nbody6.Simulation.from_model(N=50).integrate(1)"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = subprocess.run([self.path("env", "bin", "nbody6-plot"), "a"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.stdout, "a.html\n")


class BrowserTest(PackagesTest):
    test_yt_and_pynbody_know_the_units = test_pip_install_from_a_clone = None
    test_clustertools_and_astropy = test_limepy = None

    def test_page_in_a_browser(self):
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not browser:
            self.skipTest("the page in a browser: there is no chromium")
        plot = os.path.join(SOURCE, "tools", "nbody6-plot")
        subprocess.run([sys.executable, plot, "a"], cwd=self.folder, stdout=subprocess.DEVNULL, check=True)
        with open(self.path("a.html"), encoding="utf-8") as file:
            text = file.read()
        with open(self.path("b.html"), "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", CUT + "</body>"))
        for width in (390, 820, 1400):
            with open(self.path("c.html"), "w") as file:
                file.write(FRAME % width)
            done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                   "--enable-logging=stderr", "--user-data-dir=" + self.path("browser"), "--dump-dom",
                                   "--window-size=1500,1000", "file://" + self.path("c.html")],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
            found = re.search(r"<title>CUT\[(.*?)\] WIDTH\[(\d+)\] FIGURES\[(\d+)\]</title>", done.stdout, re.S)
            self.assertTrue(found, done.stderr[-2000:])
            with self.subTest(width=width):
                self.assertEqual((found.group(1), int(found.group(2))), ("", width))
                self.assertEqual(int(found.group(3)), text.count("<figure"))
                self.assertNotIn("CONSOLE", done.stderr)


if __name__ == "__main__":
    print("build: " + BUILD)
    unittest.main()
