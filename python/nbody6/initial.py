"""Stars to begin with: from tables, limepy and McLuster, or as libnbody6 makes them. All return Stars in N-body
units."""

import numpy as np

from . import structure
from .errors import ReadError, UnitError
from .stars import Stars
from .units import PC_KM, Units

G_PC_KMS2_MSUN = 4.300917270038e-3  # from GM_sun of IAU 2015 B3, as in nbody6/input/units.c
MYR_S = 1e6 * 365.25 * 86400


def units_from(length_pc, mass_msun):
    """Units with G = 1, from a length and the mass of all stars."""
    velocity = np.sqrt(G_PC_KMS2_MSUN * mass_msun / length_pc)
    return Units(length_pc, mass_msun, velocity, length_pc * PC_KM / velocity / MYR_S)


def from_physical(mass_msun, x_pc, v_kms, name=None, length_pc=None):
    """Stars from Msun, pc and km/s, or from astropy quantities of these kinds.   Raises UnitError, ValueError.

    length_pc: the N-body unit of length; None: 1/0.77 of the half-mass radius about the median place, as for a file of
    stars. The mass of all stars is the unit of mass.
    """
    mass, x, v = (_plain(values, unit) for values, unit in ((mass_msun, "Msun"), (x_pc, "pc"), (v_kms, "km/s")))
    if mass.ndim != 1 or not len(mass) or not (mass > 0).any():
        raise ValueError("masses: a list of numbers, not all of which are 0")
    if length_pc is None:
        r = np.sqrt(((x - structure.median_centre(x, mass))**2).sum(axis=1))
        length_pc = structure.lagrangian_radii(r, mass, [0.5])[0] / 0.77
    units = units_from(length_pc, mass.sum())
    return Stars(mass / units.mass_msun, x / units.length_pc, v / units.velocity_kms, name, units=units)


def _plain(values, unit):
    """Numbers in a unit, of a Quantity or of numbers that are in it already."""
    if hasattr(values, "to_value"):
        try:
            return np.asarray(values.to_value(unit), dtype=float)
        except ValueError as error:  # what astropy's error for units is as well
            raise UnitError(str(error)) from None
    return np.asarray(values, dtype=float)


def scaled(stars, virial_ratio=0.5):
    """The same stars centred, with total mass 1, total energy -1/4 and T/|U| = virial_ratio (Heggie & Mathieu 1986), by
    O(n^2) sums."""
    mass = stars.mass / stars.mass.sum()
    x = stars.x - np.average(stars.x, axis=0, weights=mass)
    v = stars.v - np.average(stars.v, axis=0, weights=mass)
    potential = -sum(float((mass[i] * mass[i + 1:] / np.sqrt(((x[i + 1:] - x[i])**2).sum(axis=1))).sum())
                     for i in range(len(mass) - 1))
    kinetic = 0.5 * float((mass * (v**2).sum(axis=1)).sum())
    if not 0 < virial_ratio < 1:
        raise ValueError("virial_ratio = %g: between 0 and 1, so that the cluster is bound" % virial_ratio)
    target = -0.25 / (1 - virial_ratio)  # potential energy with E = -1/4
    x = x * (potential / target)
    v = v * np.sqrt(virial_ratio * -target / kinetic) if kinetic > 0 else v
    return Stars(mass, x, v, stars.name)


def table(path, physical=False, length_pc=None):
    """A table of seven columns m x y z vx vy vz without names, as dat.10 of NBODY6: N-body units, or physical: Msun,
    pc, km/s. (Files with names, units, ids and gzip: Simulation(DATA=...) of docs/stars.md reads them.)"""
    try:
        rows = np.loadtxt(path, dtype=float, comments=("#", "!"), ndmin=2)
    except (OSError, ValueError) as error:
        raise ReadError("%s: not a table of seven columns: %s" % (path, error)) from None
    if rows.shape[1] < 7:
        raise ReadError("%s: %d columns, where mass, position and velocity are 7" % (path, rows.shape[1]))
    if physical:
        return from_physical(rows[:, 0], rows[:, 1:4], rows[:, 4:7], length_pc=length_pc)
    return Stars(rows[:, 0], rows[:, 1:4], rows[:, 4:7])


def mcluster(path, length_pc=None):
    """Reads the stars that McLuster writes: the table NAME.txt with units in its first line (`#Mass_[Msun] x_[pc]
    ...`), or dat.10 in N-body units, which has no such line. Both have the components of binaries."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            first = file.readline()
    except OSError as error:
        raise ReadError("%s: %s" % (path, error.strerror)) from None
    if first.startswith("#") and "[Msun]" in first and "[pc]" in first and "[km/s]" in first:
        return table(path, True, length_pc)
    if first.startswith("#") and "[" in first:
        raise ReadError("%s: its first line names other units than Msun, pc and km/s: %s" % (path, first.strip()))
    return table(path)


def limepy(sample):
    """Stars of limepy.sample(model) of the package `astro-limepy` of PyPI (1.3.0 needs scipy < 1.12). A model with G = 1 is scaled to N-body units; others
    have Msun, pc, km/s, as with M=..., rh=... and limepy's own G."""
    x = np.stack([sample.x, sample.y, sample.z], axis=1)
    v = np.stack([sample.vx, sample.vy, sample.vz], axis=1)
    if sample.mod.G == 1:
        return scaled(Stars(sample.m, x, v))
    if abs(sample.mod.G / G_PC_KMS2_MSUN - 1) > 1e-2:
        raise ValueError("the model has G = %g: neither 1 nor that of Msun, pc and km/s" % sample.mod.G)
    return from_physical(sample.m, x, v)


def model(**variables):
    """Stars that the input variables describe, as the command makes them: model(N=1000, KZ={5: 1}, NRAND=4)."""
    from .simulation import Simulation
    with Simulation.from_model(**variables) as sim:
        return sim.stars


def plummer(n, seed=1, **variables):
    """A Plummer (1911) sphere of n stars in virial equilibrium."""
    return model(N=n, NRAND=seed, **_with_options(variables, {5: 1}))


def king(n, w0=6.0, seed=1, **variables):
    """A King (1966) model of central potential w0."""
    return model(N=n, NRAND=seed, MODEL="king", W0=w0, **variables)


def _with_options(variables, options):
    return dict(variables, KZ={**options, **(variables.get("KZ") or {})})
