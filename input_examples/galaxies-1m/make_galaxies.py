"""Two disc galaxies on a parabolic orbit about each other, as a table that nbody6-collisionless reads.

usage: python3 make_galaxies.py [N [SEPARATION [PERICENTRE]]] > galaxies.dat

N bodies in all (1000000) of equal masses, half of them in each galaxy: a fifth in an exponential disc, the others in a
Plummer sphere as halo. They are at SEPARATION (3) of each other, on an orbit that would bring two points of their masses
to PERICENTRE (0.3). The first disc lies in the plane of the orbit and turns with it, the second is inclined by 60 degrees.
G = 1 and the total mass is 1. The galaxies are near equilibrium: the halo has the dispersion of its Jeans equation, the
disc the circular speed with a dispersion of a fifth of it.
"""

import sys

import numpy as np

MASS, HALO, HALO_SCALE = 0.5, 0.8, 0.3  # of a galaxy: mass, share of the halo, scale length of that
DISC_SCALE, DISC_HEIGHT = 0.1, 0.02  # exponential in the plane, sech^2 across it
DISPERSION = 0.2  # of a disc, over its circular speed
INCLINATION = np.radians(60)


def mass_within(r):
    """Of a galaxy; that of the disc as if it were a sphere."""
    halo = HALO * (1 + (HALO_SCALE / r)**2)**-1.5
    s = r / DISC_SCALE
    return MASS * (halo + (1 - HALO) * (1 - (1 + s) * np.exp(-s)))


def in_all_directions(rng, length):
    v = rng.normal(size=(len(length), 3))
    return v * (length / np.linalg.norm(v, axis=1))[:, None]


def dispersion(r):
    """Of the halo in one direction: rho sigma^2 is the integral of rho M/r^2 from r outwards."""
    grid = np.geomspace(1e-4, 30, 4000) * HALO_SCALE
    rho = (1 + (grid / HALO_SCALE)**2)**-2.5
    f = rho * mass_within(grid) / grid**2
    slices = 0.5 * (f[1:] + f[:-1]) * np.diff(grid)
    outside = np.append(np.cumsum(slices[::-1])[::-1], 0)
    return np.interp(r, grid, np.sqrt(outside / rho))


def halo(rng, n):
    """Plummer's sphere within 10 scale lengths."""
    share = rng.uniform(1e-10, (1 + 0.1**2)**-1.5, n)
    r = HALO_SCALE / np.sqrt(share**(-2 / 3) - 1)
    speed = rng.normal(size=(n, 3)) * dispersion(r)[:, None]
    most = 0.95 * np.sqrt(2 * MASS / np.hypot(r, HALO_SCALE))
    size = np.linalg.norm(speed, axis=1)
    return in_all_directions(rng, r), speed * np.minimum(1, most / size)[:, None]


def disc(rng, n):
    """R is the sum of two exponential numbers: its density is R exp(-R)."""
    r = DISC_SCALE * rng.exponential(size=(n, 2)).sum(axis=1)
    angle, z = rng.uniform(0, 2 * np.pi, n), DISC_HEIGHT * np.arctanh(rng.uniform(-0.999, 0.999, n))
    speed = np.sqrt(mass_within(r) / r)
    surface = MASS * (1 - HALO) * np.exp(-r / DISC_SCALE) / (2 * np.pi * DISC_SCALE**2)
    out, around = DISPERSION * speed * rng.normal(size=n), speed * (1 + DISPERSION / 2**0.5 * rng.normal(size=n))
    across = np.sqrt(np.pi * surface * DISC_HEIGHT) * rng.normal(size=n)
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack((r * c, r * s, z)), np.column_stack((out * c - around * s, out * s + around * c, across))


def galaxy(rng, n, inclination):
    in_disc = n - round(HALO * n)
    x, v = (np.concatenate(parts) for parts in zip(halo(rng, n - in_disc), disc(rng, in_disc)))
    c, s = np.cos(inclination), np.sin(inclination)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return (x - x.mean(axis=0)) @ turn.T, (v - v.mean(axis=0)) @ turn.T


def main(n=1000000, separation=3.0, pericentre=0.3):
    """Relative speed sqrt(2/d), of which sqrt(2 p)/d goes sideways: v of a parabola with G and total mass 1."""
    sideways = np.sqrt(2 * pericentre) / separation
    inward = np.sqrt(2 / separation - sideways**2)
    rng = np.random.default_rng(1)
    for side, inclination in ((1, 0), (-1, INCLINATION)):
        x, v = galaxy(rng, n // 2, inclination)
        x += side / 2 * np.array((separation, 0, 0))
        v += side / 2 * np.array((-inward, sideways, 0))
        np.savetxt(sys.stdout, np.column_stack((np.full(n // 2, 1 / n), x, v)), "%.9g")


if __name__ == "__main__":
    main(*[kind(word) for kind, word in zip((int, float, float), sys.argv[1:])])
