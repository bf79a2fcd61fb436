"""Wrong units are caught: --check and the start of every run say how the stars were understood, and warn, with the units
that are likely, where they are far from equilibrium or of a size that no cluster has."""

import math
import os
import random
import re
import subprocess
import unittest

from run_support import BUILD, NBODY6, RunTest, test_size

G = 4.30091e-3  # pc (km/s)^2 / Msun
FACTORS = {"pc": 1, "kpc": 1e-3, "AU": 206264.806}


def sphere(n, mass, r_half, q, seed=3):
    """Rows m x y z vx vy vz of a homogeneous sphere of equal stars in Msun, pc, km/s, with T = q |U|, U of the smooth
    sphere."""
    rng = random.Random(seed)
    radius = r_half / 0.5 ** (1 / 3)
    speed = math.sqrt(2 * q * 0.6 * G * n * mass / radius)

    def direction(length):
        z, phi = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
        s = math.sqrt(1 - z * z)
        return [length * s * math.cos(phi), length * s * math.sin(phi), length * z]

    return [[mass, *direction(radius * rng.random() ** (1 / 3)), *direction(speed)] for _ in range(n)]


class UnitsTest(RunTest):
    def write(self, name, rows, factors=(1, 1, 1), head=""):
        """A table; rows are divided by the units that it is to be in."""
        with open(self.path(name), "w") as file:
            file.write(head)
            for m, *rest in rows:
                values = [m / factors[0]] + [x / factors[1] for x in rest[:3]] + [v / factors[2] for v in rest[3:]]
                file.write(" ".join("%.12g" % value for value in values) + "\n")

    def check(self, model, more="", command=NBODY6):
        with open(self.path("c.inp"), "w") as file:
            file.write("&INMODEL %s /\n%s\n" % (model, more))
        done = subprocess.run([command, "--check", "c.inp"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def warnings(self, text):
        return text.split("\n  warnings ")[1].strip()

    def value(self, text, label):
        return float(re.search(r"\n  %s +([\d.e+-]+)" % label, text).group(1))

    def test_right_units(self):
        """Numbers of a cluster that is known: 400 stars of 0.5 Msun, 2 pc, in equilibrium."""
        self.write("t.dat", sphere(400, 0.5, 2, 0.5))
        text = self.check("DATA='t.dat' UNITS='astro'")
        self.assertEqual(self.warnings(text), "none")
        self.assertIn("Msun, pc, km/s, as UNITS says", text)
        self.assertAlmostEqual(self.value(text, "virial ratio Q"), 0.5, delta=0.05)
        physical = {name: float(re.search(r"\n  %s +\S+ +(\S+) (?:pc|Myr|Msun)" % name, text).group(1)) for name in
                    ("total mass", "half-mass radius", "crossing time", "half-mass relaxation time")}
        self.assertAlmostEqual(physical["total mass"], 200, delta=1e-3)
        self.assertAlmostEqual(physical["half-mass radius"], 2, delta=0.2)
        radius = 2 / 0.5 ** (1 / 3)  # U = -0.6 G M^2/R, t_cr = G M^(5/2)/|U|^(3/2), pc/(km/s) = 0.9778 Myr
        self.assertAlmostEqual(physical["crossing time"], 0.9778 * math.sqrt(radius ** 3 / (0.6 ** 3 * G * 200)),
                               delta=0.1 * physical["crossing time"])
        r_half = physical["half-mass radius"]
        t_relax = 0.9778 * 0.138 * 400 * math.sqrt(r_half ** 3 / (G * 200)) / math.log(44)
        self.assertAlmostEqual(physical["half-mass relaxation time"] / t_relax, 1, delta=1e-3)

    def test_start_of_a_run(self):
        """The same numbers before the table of a run, whose first row has the same Q and radius; the warning too, on
        standard error if the run is quiet."""
        self.write("t.dat", sphere(200, 0.5, 2, 0.5))
        for units, warned in (("astro", False), ("Msun kpc km/s", True)):
            with open(self.path("r.inp"), "w") as file:
                file.write("&ININPUT TCRIT=0.015625 DTADJ=0.015625 /\n&INMODEL DATA='t.dat' UNITS='%s' /\n" % units)
            done = subprocess.run([NBODY6, "--overwrite", "r.inp"], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            before, table = done.stdout.split("          T      T[Myr]")
            line = re.search(r"^stars: N = 200, total mass 1 \(100 Msun\), half-mass radius (\S+) \((\S+) pc\), virial "
                             r"ratio Q = ([^,]+), crossing time \S+ \(\S+ Myr\), half-mass relaxation time", before, re.M)
            row = table.splitlines()[1].split()
            self.assertAlmostEqual(float(line.group(3)) / float(row[2]), 1, delta=0.01)
            self.assertAlmostEqual(float(line.group(1)) / float(row[8]), 1, delta=0.001)
            self.assertEqual("warning: virial ratio Q = " in before, warned, before)
            done = subprocess.run([NBODY6, "--quiet", "--overwrite", "r.inp"], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.stdout, "")
            self.assertEqual("UNITS='Msun pc km/s' Q would be 0." in done.stderr, warned, done.stderr)

    def test_resumed_run(self):
        """A run that goes on says it of its stars as they are then, and has the same bits as one that was not stopped."""
        with open(self.path("r.inp"), "w") as file:
            file.write("&ININPUT N=100 TCRIT=1 DTADJ=0.5 DELTAT=0.5 KZ(23)=1 /\n&INMODEL MODEL='plummer' /\n")
        self.run_command("--quiet", "--out", "a", "r.inp")
        self.run_command("--quiet", "--out", "b", "r.inp", "--tcrit", "0.5")
        text = self.run_command("--resume", "b", "--tcrit", "1")
        found = re.search(r"^stars: N = 100, total mass 1 \(100 Msun\), half-mass radius (\S+) .*Q = (\S+),", text, re.M)
        with open(self.path("b.log.csv")) as file:
            rows = [line.strip().split(",") for line in file if line[0] != "#"]
        row = dict(zip(rows[0], rows[2]))
        self.assertEqual(float(row["t"]), 0.5)
        self.assertAlmostEqual(float(found.group(1)) / float(row["r_half"]), 1, delta=1e-3)
        self.assertAlmostEqual(float(found.group(2)) / float(row["virial_ratio"]), 1, delta=0.02)
        self.assert_same_run("a", "b")
        self.assertNotIn("stars: N", self.run_command("--resume", "b", "--tcrit", "1.5", "--quiet"))

    def test_likely_units(self):
        """Each table is read in wrong units; the warning names the right ones, and with them there is none."""
        rows = sphere(300, 0.5, 2, 0.5)
        total, v_unit = 150, math.sqrt(G * 150 / 2)
        for right, wrong in (("Msun pc km/s", "Msun kpc km/s"), ("Msun kpc km/s", "astro"), ("Msun AU km/s", "astro"),
                             ("Msun pc m/s", "astro"), ("1e10 Msun kpc km/s", "astro"), ("Msun pc km/s", "nbody"),
                             ("Msun AU km/s", "nbody"), ("Msun pc km/s", "gadget"),
                             ("nbody", "astro")):
            found = re.match(r"((?:\S+ )?\S+) (\S+) (\S+)$", right)
            mass, length, velocity = found.groups() if found else [""] * 3
            factors = ({"Msun": 1, "1e10 Msun": 1e10, "kg": 1 / 1.98841e30}[mass], 1 / FACTORS[length],
                       {"km/s": 1, "m/s": 1e-3}[velocity]) if mass else (total, 2, v_unit)
            self.write("t.dat", rows, factors)
            with self.subTest(right=right, wrong=wrong):
                text = self.warnings(self.check("DATA='t.dat' UNITS='%s'" % wrong))
                self.assertRegex(text, r"UNITS='%s' Q would be 0\.(49|5)" % re.escape(right))
                self.assertIn("&INMODEL if", text)
                self.assertEqual(self.warnings(self.check("DATA='t.dat' UNITS='%s'" % right)), "none")

    def test_how_units_were_given(self):
        """By UNITS, KZ(22) or the file: --check says which they were, and the remedy fits."""
        rows = sphere(100, 0.5, 2, 0.5)
        self.write("t.dat", rows)
        text = self.check("DATA='t.dat'", "&ININPUT KZ(22)=10 /")
        self.assertIn("Msun, pc, km/s, as KZ(22) says", text)
        text = self.check("DATA='t.dat'", "&ININPUT KZ(22)=2 /")
        self.assertIn("N-body units, as KZ(22) says", text)
        self.assertIn("give that in &INMODEL in place of KZ(22) if", self.warnings(text))
        self.write("h.dat", rows, head="# mass_msun x_kpc y_kpc z_kpc vx_kms vy_kms vz_kms\n")
        text = self.check("DATA='h.dat'")
        self.assertIn("Msun, kpc, km/s, as the file says", text)
        self.assertIn("in 'Msun pc km/s' Q would be 0.49: if they are in these, correct the units in the file",
                      self.warnings(text))
        self.write("n.dat", rows, (50, 2, math.sqrt(G * 50 / 2)))
        text = self.check("DATA='n.dat'")
        self.assertIn("N-body units, as nothing else is said", text)
        self.assertEqual(self.warnings(text), "none")
        self.assertIn("any units, as UNITS says; scaled to N-body units", self.check("DATA='t.dat' UNITS='scaled'"))

    def test_factors(self):
        """Units with factors mean the same cluster, in UNITS and in a head."""
        rows = sphere(100, 0.5, 2, 0.5)
        self.write("t.dat", rows)
        plain = self.check("DATA='t.dat' UNITS='astro'").split("virial ratio")[1]
        self.write("f.dat", rows, (232533, 1e3, 1))
        text = self.check("DATA='f.dat' UNITS='232533 Msun kpc km/s'")
        self.assertIn("232533 Msun, kpc, km/s, as UNITS says", text)
        self.assertEqual(text.split("virial ratio")[1], plain)
        for units in ("2.32533e5 Msun, 1 kpc, 1 km/s", "232533*Msun 1e3pc 1000 m/s"):
            self.assertEqual(self.check("DATA='f.dat' UNITS='%s'" % units).split("virial ratio")[1], plain)
        self.write("h.dat", rows, (1e10, 1e3, 1),
                   "mass [1e10 Msun], x [kpc], y [kpc], z [kpc], vx [km/s], vy [km/s], vz [km/s]\n".replace(",", " "))
        text = self.check("DATA='h.dat'")
        self.assertIn("1e10 Msun, kpc, km/s, as the file says", text)
        self.assertEqual(text.split("virial ratio")[1], plain)
        for units, why in (("0 Msun kpc km/s", "give"), ("232533 kpc km/s", "give"), ("1e Msun kpc km/s", "give"),
                           ("Msun 5 kpc", "the unit of velocity is missing; give"), ("furlong", "give"),
                           ("2 Msun", "the unit of length is missing; give"),
                           ("Msun km/s kpc", "'km/s' is no unit of length; give"),
                           ("Msun 3 furlong km/s", "'3 furlong' is no unit of length; give"),
                           ("Msun pc km/s Myr", "there are more than three units; give")):
            with open(self.path("c.inp"), "w") as file:
                file.write("&INMODEL DATA='f.dat' UNITS='%s' /\n" % units)
            text = self.run_command("--check", "c.inp", code=2)
            self.assertIn("c.inp:1: UNITS: '%s' is no valid value; %s" % (units, why), text)
            self.assertIn("'232533 Msun kpc km/s'", text)

    def test_no_warning(self):
        """A cold start has a name; where the input sets Q, for few bodies, and in gas, nothing is said."""
        for q, name in ((0, "0, a cold start: all at rest"), (0.01, ", a cold start")):
            self.write("t.dat", sphere(100, 0.5, 2, q))
            text = self.check("DATA='t.dat' UNITS='astro'")
            self.assertIn(name, text)
            self.assertEqual(self.warnings(text), "none")
        for n, units, more in ((100, "scaled", ""), (15, "astro", ""),
                               (100, "astro", "&ININPUT KZ(14)=4 /\n&INXTRNL0 MP=20 AP2=1 /")):
            self.write("t.dat", sphere(n, 0.5, 2, 9))
            self.assertNotIn("virial ratio Q =", self.check("DATA='t.dat' UNITS='%s'" % units, more).split("memory")[1])
        self.write("t.dat", sphere(16, 0.5, 2, 9))
        self.assertIn("virial ratio Q = ", self.check("DATA='t.dat' UNITS='astro'").split("memory")[1])
        self.assertNotIn("warnings  ", self.check("MODEL='plummer'", "&ININPUT N=4 / &INSCALE Q=5 /"))
        self.assertEqual(self.warnings(self.check("MODEL='plummer'", "&ININPUT N=400 / &INSCALE Q=5 /")), "none")

    def test_sizes(self):
        """Of models that are made too: RBAR and ZMBAR."""
        for variables, fragments in (("RBAR=8500", ["half-mass radius is 6", "so large: check RBAR"]),
                                     ("RBAR=1e-4", ["so small: check RBAR"]),
                                     ("ZMBAR=2000", ["mean mass of the stars is 2e+03 Msun", "check ZMBAR"])):
            text = self.warnings(self.check("MODEL='plummer'", "&ININPUT N=200 %s /" % variables))
            self.assertEqual(len(text.splitlines()), 1, text)
            for fragment in fragments:
                self.assertIn(fragment, text)

    def test_planets(self):
        """A star with bodies on circular orbits is no star cluster, and its size is none of one."""
        rng = random.Random(2)
        rows = [[1.0, 0, 0, 0, 0, 0, 0]]
        for k in range(40):
            radius, phase = (5 + k) / FACTORS["AU"], rng.uniform(0, 2 * math.pi)
            speed = math.sqrt(G / radius)
            rows.append([1e-6, radius * math.cos(phase), radius * math.sin(phase), 0, -speed * math.sin(phase),
                         speed * math.cos(phase), 0])
        self.write("t.dat", rows, (1, 1 / FACTORS["AU"], 1))
        text = self.check("DATA='t.dat' UNITS='Msun AU km/s'")
        self.assertAlmostEqual(self.value(text, "virial ratio Q"), 0.5, delta=0.01)
        self.assertNotIn("no star cluster", text)
        self.assertIn("virial ratio Q = ", self.check("DATA='t.dat' UNITS='astro'"))

    def test_galaxy(self):
        """Places and lengths of the galaxy in pc; the same in kpc have no warning."""
        gas = "MP=0.1 AP2=1"
        for kz, variables, name in (
            (2, "GMG=1e11 RG0=8500", "RG0 = 8500 kpc"),
            (3, "VCIRC=220 RCIRC=8.5 RG=8500,0,0 VG=0,220,0 " + gas, "RG = 8500 kpc"),
            (3, "VCIRC=220 RCIRC=8500 RG=8.5,0,0 VG=0,220,0 " + gas, "RCIRC = 8500 kpc"),
            (5, "RG=8500,0,0 VG=0,220,0", "RG = 8500 kpc"),
        ):
            text = self.check("MODEL='plummer'", "&ININPUT N=200 KZ(14)=%d / &INXTRNL0 %s /" % (kz, variables))
            with self.subTest(variables=variables):
                self.assertIn(name, self.warnings(text))
                self.assertIn("give 8.5 if it was meant in pc", self.warnings(text))
            right = variables.replace("8500", "8.5")
            text = self.check("MODEL='plummer'", "&ININPUT N=200 KZ(14)=%d / &INXTRNL0 %s /" % (kz, right))
            self.assertEqual(self.warnings(text), "none")

    def test_sample(self):
        """Above 20000 stars Q comes from a sample, with its error, which holds."""
        n = test_size(25000, 21000)
        self.write("t.dat", sphere(n, 0.5, 4, 0.5))
        text = self.check("DATA='t.dat' UNITS='astro'")
        q, error = re.search(r"virial ratio Q +(\S+) \+- (\S+), by a sample of 10000 stars", text).groups()
        self.assertLess(float(error), 0.005)
        self.assertLess(abs(float(q) - 0.5), 4 * float(error) + 0.003)  # the sphere itself scatters by 0.2 percent
        text = self.check("DATA='t.dat' UNITS='Msun kpc km/s'")
        self.assertIn("UNITS='Msun pc km/s' Q would be 0.5", self.warnings(text))

    def test_collisionless(self):
        """The other program says the same."""
        self.write("t.dat", sphere(200, 0.5, 2, 0.5))
        command = os.path.join(BUILD, "nbody6-collisionless")
        more = "&INCOLLISIONLESS SOFTENING=0.1 DT=0.0625 / &ININPUT TCRIT=0.0625 DTADJ=0.0625 /"
        text = self.check("DATA='t.dat' UNITS='Msun kpc km/s'", more, command)
        self.assertIn("Msun, kpc, km/s, as UNITS says", text)
        self.assertIn("stars: N = 200, total mass 1 (100 Msun)", text)
        self.assertIn("warning: virial ratio Q = ", text)
        done = subprocess.run([command, "--overwrite", "c.inp"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0)
        before = done.stdout.split("          T      T[Myr]")[0]
        self.assertIn("stars: N = 200, total mass 1 (100 Msun)", before)
        self.assertIn("with UNITS='Msun pc km/s' Q would be 0.49", before)
        self.assertNotIn("warning: virial", self.check("DATA='t.dat' UNITS='astro'", more, command))
        done = subprocess.run([command, "--resume", "c", "--tcrit", "0.125"], cwd=self.folder, stdout=subprocess.PIPE,
                              text=True)
        self.assertIn("stars: N = 200, total mass 1 (100 Msun)", done.stdout)


if __name__ == "__main__":
    unittest.main()
