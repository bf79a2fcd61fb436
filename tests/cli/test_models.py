"""Curves of models, anisotropy and the orbit in the galaxy, which the page draws beside the stars."""

import os
import sys
import unittest

import numpy as np

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "python"))

from nbody6 import galaxy, structure  # noqa: E402
from nbody6.models import King, Plummer  # noqa: E402


class ModelTest(unittest.TestCase):
    def test_unit_mass_within_and_half_of_it_within_one(self):
        r = np.geomspace(1e-4, 1e4, 20001)
        for model in (Plummer(), King(1), King(6), King(12)):
            self.assertAlmostEqual(float(model.mass(1.0)), 0.5, places=9)
            inside = np.concatenate([[0], np.cumsum(np.diff(r) * 0.5 * (
                (r**2 * model.density(r))[1:] + (r**2 * model.density(r))[:-1]))]) * 4 * np.pi
            # The trapezoidal rule with 2500 points a decade; the table of a King model has 4000 rows.
            self.assertLess(np.abs(inside - model.mass(r)).max(), 2e-4)

    def test_concentrations_of_king_models(self):
        """log10 of the tidal radius in core radii: King (1966), figure 2, to the two digits that are in use since."""
        for w0, concentration in ((3, 0.67), (5, 1.03), (6, 1.25), (7, 1.53), (9, 2.12), (12, 2.74)):
            edge = King(w0)._integrate(float(w0))[0][-1]
            self.assertAlmostEqual(np.log10(edge), concentration, delta=0.01)

    def test_refused(self):
        for w0 in (0, 17, float("nan")):
            with self.assertRaisesRegex(ValueError, "W0"):
                King(w0)


class AnisotropyTest(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(3)
        self.x, self.v = random.normal(size=(2, 40000, 3))
        self.unit = self.x / np.sqrt((self.x**2).sum(axis=1))[:, None]

    def test_isotropic(self):
        radius, beta, error = structure.anisotropy_profile(self.x, self.v, 2000)
        self.assertEqual(len(radius), 20)
        self.assertLess(np.abs(beta / error).max(), 4)  # standard deviations, of twenty shells
        self.assertAlmostEqual((beta / error).std(), 1, delta=0.5)

    def test_radial_and_known(self):
        along = (self.v * self.unit).sum(axis=1)[:, None] * self.unit
        np.testing.assert_allclose(structure.anisotropy_profile(self.x, along, 2000)[1], 1, atol=1e-12)
        beta, error = structure.anisotropy_profile(self.x, 2 * along + (self.v - along), 2000)[1:]
        self.assertLess(np.abs((beta - 0.75) / error).max(), 4)


class GalaxyTest(unittest.TestCase):
    def test_kepler(self):
        """After a period it is back, and its pericentre is where it has to be."""
        mass, apocentre, e = 1e11, 8.0, 0.6
        parameters = {"tide.kind": 3, "tide.galaxy_mass_msun": mass, "tide.position_kpc": [apocentre, e, 0.0],
                      "tide.velocity_kms": [0.0, 0.0, 0.0]}
        a = apocentre / (1 + e)
        period = 2 * np.pi * np.sqrt(a**3 / (galaxy.G * mass)) / galaxy.KPC_IN_MYR
        t, x, v = galaxy.orbit(parameters, period)
        self.assertEqual(t[-1], period)
        # The method is of fourth order, with steps of a twentieth of the time scale.
        np.testing.assert_allclose(x[-1], [apocentre, 0, 0], atol=1e-3 * apocentre)
        self.assertAlmostEqual(np.sqrt((x**2).sum(axis=1)).min(), a * (1 - e), delta=1e-3)
        energy = 0.5 * (v**2).sum(axis=1) - galaxy.G * mass / np.sqrt((x**2).sum(axis=1))
        self.assertLess(np.abs(energy / energy[0] - 1).max(), 1e-3)

    def test_circular_velocities(self):
        """220 km/s at 8 kpc of the Milky Way, with the shares of its parts; VCIRC at RCIRC of a galaxy with a halo."""
        x = np.array([8.0, 0, 0])
        parts = np.array([-8 * field(x)[0] for field in galaxy.milky_way()])
        np.testing.assert_allclose(parts / 220**2, (0.05, 0.6, 0.35), rtol=1e-12)
        fields = galaxy.parts({"tide.kind": 3, "tide.disk_mass_msun": 5e10, "tide.disk_length_kpc": 4.0,
                               "tide.disk_height_kpc": 0.5, "tide.bulge_mass_msun": 1e10, "tide.bulge_length_kpc": 0.5,
                               "tide.bulge_slope": 1.0, "tide.halo_velocity_kms": 220.0, "tide.halo_radius_kpc": 8.5})
        x = np.array([8.5, 0, 0])
        self.assertAlmostEqual(np.sqrt(-8.5 * sum(field(x)[0] for field in fields)), 220, places=9)

    def test_a_circle_stays_one(self):
        parameters = {"tide.kind": 5, "tide.position_kpc": [8.0, 0.0, 0.0], "tide.velocity_kms": [0.0, 220.0, 0.0]}
        _, x, _ = galaxy.orbit(parameters, 500.0)
        np.testing.assert_allclose(np.sqrt((x**2).sum(axis=1)), 8, rtol=1e-6)

    def test_circle_about_a_point_mass(self):
        """KZ(14) = 2: the angle is that of the circular velocity."""
        parameters = {"tide.kind": 2, "tide.galaxy_mass_msun": 8e10, "tide.galaxy_distance_kpc": 8.0,
                      "tide.position_kpc": [0.0, 0.0, 0.0], "tide.velocity_kms": [0.0, 0.0, 0.0],
                      "tide.disk_mass_msun": 1e11}  # a disk does not count there
        _, x, _ = galaxy.orbit(parameters, 100.0)
        # Fourth order: 4.2e-6 with steps of a twentieth of the time scale, a sixteenth of that with half of them.
        np.testing.assert_allclose(np.sqrt((x**2).sum(axis=1)), 8, rtol=1e-5)
        angle = np.sqrt(galaxy.G * 8e10 / 8) * galaxy.KPC_IN_MYR * 100 / 8
        self.assertAlmostEqual(np.arctan2(x[-1][1], x[-1][0]) % (2 * np.pi), angle % (2 * np.pi), places=4)

    def test_none(self):
        for parameters in ({}, {"tide.kind": 0}, {"tide.kind": 1, "tide.position_kpc": [0.0, 0.0, 0.0]}):
            self.assertIsNone(galaxy.orbit(parameters, 10.0))


class FractionTest(unittest.TestCase):
    def test_percents_are_refused(self):
        r, mass = np.arange(1.0, 11.0), np.ones(10)
        np.testing.assert_array_equal(structure.lagrangian_radii(r, mass, (0.1, 0.5, 1)), (1, 5, 10))
        with self.assertRaisesRegex(ValueError, "from 0 to 1, and 50 is not: 50 percent is 0.5"):
            structure.lagrangian_radii(r, mass, (0.1, 50))
        for wrong in (-0.1, 1.1, float("nan")):
            with self.assertRaisesRegex(ValueError, "from 0 to 1"):
                structure.lagrangian_radii(r, mass, [wrong])


if __name__ == "__main__":
    unittest.main()
