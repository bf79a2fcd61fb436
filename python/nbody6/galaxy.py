"""The orbit of a cluster in its galaxy (KZ(14) = 2, 3, 5), from the parameters of the run: the same potential as in
nbody6/galaxy, in kpc, km/s and Myr."""

import math

import numpy as np

from .initial import G_PC_KMS2_MSUN, MYR_S
from .units import PC_KM

G = 1e-3 * G_PC_KMS2_MSUN  # kpc (km/s)^2 / Msun
KPC_IN_MYR = MYR_S / (1e3 * PC_KM)  # kpc that 1 km/s goes in a Myr
CIRCLE, GALAXY, MILKY_WAY = 2, 3, 5  # tide.kind
ACCURACY = 0.05  # part of the time scale of the force that a step takes
MOST_STEPS = 60000
# The Milky Way of Bovy 2015, ApJS 216, 29 (docs/algorithms/galaxy.md): share of the force at R_SUN of each part.
R_SUN, V_SUN = 8.0, 220.0
BULGE_SLOPE, BULGE_CUT = 1.8, 1.9
DISK = (3.0, 0.28)
HALO_LENGTH = 16.0


def point_mass(mass):
    return lambda x: -G * mass / np.sqrt(x @ x)**3 * x


def bulge(mass, length, slope):
    """Dehnen (1993)."""
    def acceleration(x):
        r = np.sqrt(x @ x)
        return -G * mass * (r / (r + length))**-slope / (r + length)**3 * x
    return acceleration


def disk(mass, length, height):
    """Miyamoto & Nagai (1975)."""
    def acceleration(x):
        s = np.sqrt(x[2]**2 + height**2)
        cube = (x[0]**2 + x[1]**2 + (length + s)**2)**1.5
        return -G * mass / cube * np.array([x[0], x[1], x[2] * (length + s) / s])
    return acceleration


def halo(velocity, core2):
    """Logarithmic."""
    return lambda x: -velocity**2 / (x @ x + core2) * x


def sphere(mass_within):
    return lambda x: -G * mass_within(np.sqrt(x @ x)) / np.sqrt(x @ x)**3 * x


def _cut_bulge_mass(r):
    """Of density r^-1.8 exp(-(r/1.9)^2), without a factor: a series of the incomplete gamma function."""
    a, u = 0.5 * (3 - BULGE_SLOPE), (r / BULGE_CUT)**2
    if u > 30:
        return math.gamma(a)
    term = total = 1 / a
    for k in range(1, 200):
        term *= u / (a + k)
        total += term
    return u**a * math.exp(-u) * total


def _with_share(shape, share):
    """shape(factor): a field; the factor with which it has this share of the circular velocity at the Sun."""
    v2 = -R_SUN * shape(1.0)(np.array([R_SUN, 0.0, 0.0]))[0]
    return shape(share * V_SUN**2 / v2)


def milky_way():
    """Fields of bulge, disk and halo."""
    return [_with_share(lambda m: sphere(lambda r: m * _cut_bulge_mass(r)), 0.05),
            _with_share(lambda m: disk(m, *DISK), 0.6),
            _with_share(lambda m: sphere(lambda r: m * (math.log1p(r / HALO_LENGTH) - r / (r + HALO_LENGTH))), 0.35)]


def parts(parameters):
    """Fields that the parameters of a run (Run.parameters) describe, as functions x [3] in kpc -> (km/s)^2/kpc [3]."""
    if parameters.get("tide.kind") == MILKY_WAY:
        return milky_way()

    def p(name):
        return parameters.get("tide." + name, 0.0)

    fields = []
    if p("galaxy_mass_msun") > 0:
        fields.append(point_mass(p("galaxy_mass_msun")))
    if parameters.get("tide.kind") == CIRCLE:
        return fields
    if p("bulge_mass_msun") > 0:
        fields.append(bulge(p("bulge_mass_msun"), p("bulge_length_kpc"), p("bulge_slope")))
    if p("disk_mass_msun") > 0:
        fields.append(disk(p("disk_mass_msun"), p("disk_length_kpc"), p("disk_height_kpc")))
    if p("halo_velocity_kms") > 0:  # its share at RCIRC is what the others leave of VCIRC^2
        v2, r = p("halo_velocity_kms")**2, p("halo_radius_kpc")
        others = -r * sum(field(np.array([r, 0.0, 0.0]))[0] for field in fields)
        if v2 > others:
            fields.append(halo(p("halo_velocity_kms"), r * r * others / (v2 - others)))
    return fields


def begin(parameters):
    """Position [3] in kpc and velocity [3] in km/s at the start. About a point mass alone the input gives the apocentre
    and the eccentricity in their place (nbody6/input/config_tide.c); a circle begins on the x axis."""
    if parameters["tide.kind"] == CIRCLE:
        mass, r = (parameters["tide." + name] for name in ("galaxy_mass_msun", "galaxy_distance_kpc"))
        return np.array([r, 0.0, 0.0]), np.array([0.0, np.sqrt(G * mass / r), 0.0])
    x, v = (np.array(parameters["tide." + name], dtype=float) for name in ("position_kpc", "velocity_kms"))
    alone = not any(parameters.get("tide." + name, 0) > 0
                    for name in ("disk_mass_msun", "halo_velocity_kms", "bulge_mass_msun"))
    if parameters["tide.kind"] == GALAXY and alone and v[2] == 0:
        speed = np.sqrt(G * parameters["tide.galaxy_mass_msun"] / x[0] * (1 - x[1]))
        return np.array([x[0], 0.0, 0.0]), np.array([0.0, speed, 0.0])
    return x, v


def integrate(fields, x, v, t_myr):
    """The orbit from time 0 to t_myr, or to where it has taken MOST_STEPS: times [m], positions
    [m][3], velocities [m][3], by leapfrog steps of fourth order (Yoshida 1990) that are short where the force changes
    fast."""
    cube = 2**(1 / 3)
    outer = 1 / (2 - cube)
    weights = (outer, -cube * outer, outer)

    def acceleration(x):
        return sum(field(x) for field in fields)

    rows, t = [(0.0, x, v)], 0.0
    while t < t_myr and len(rows) < MOST_STEPS:
        a = acceleration(x)
        scale = (x @ x / max(a @ a, 1e-300))**0.25
        h = min(ACCURACY * scale / KPC_IN_MYR, t_myr - t)
        for weight in weights:
            step = weight * h * KPC_IN_MYR
            x = x + step / 2 * v
            v = v + step * acceleration(x)
            x = x + step / 2 * v
        t = t + h if t_myr - t > h else t_myr
        rows.append((t, x, v))
    return tuple(np.array(column) for column in zip(*rows))


def orbit(parameters, t_myr):
    """The orbit of the cluster up to t_myr as `integrate` has it; None: it has none, or the input does not say where it
    is, as in the solar neighbourhood (KZ(14) = 1)."""
    if parameters.get("tide.kind") not in (CIRCLE, GALAXY, MILKY_WAY) or "tide.position_kpc" not in parameters:
        return None
    fields, (x, v) = parts(parameters), begin(parameters)
    if not fields or not x.any():
        return None
    return integrate(fields, x, v, t_myr)
