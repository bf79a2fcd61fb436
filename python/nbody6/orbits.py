"""Two bodies: elements of an orbit, and the bound systems in a set of stars. N-body units, G = 1."""

import numpy as np

from . import shown
from .structure import neighbour_distances


def elements(mass, dx, dv):
    """Semi-major axis (negative: unbound), eccentricity, energy of the relative motion.

    mass: [n][2]; dx, dv: [n][3] relative position and velocity.   Returns a, e, energy, each [n]
    """
    total, reduced = mass.sum(axis=1), mass.prod(axis=1) / np.maximum(mass.sum(axis=1), 1e-300)
    r, v2 = np.sqrt((dx**2).sum(axis=1)), (dv**2).sum(axis=1)
    h = 0.5 * v2 - total / r
    with np.errstate(divide="ignore"):
        a = -0.5 * total / h
    momentum2 = (np.cross(dx, dv)**2).sum(axis=1)
    e = np.sqrt(np.maximum(0.0, 1 + 2 * h * momentum2 / total**2))
    return a, e, h * reduced


def period(a, total_mass):
    """2 pi (a^3/M)^(1/2); infinite if unbound."""
    with np.errstate(invalid="ignore"):
        return np.where(a > 0, 2 * np.pi * np.sqrt(np.abs(a)**3 / total_mass), np.inf)


class Systems:
    """Bound systems of two members, a row for each, arrays in N-body units: `stars` (a list of names for each
    of the two members), a, e, energy, period, mass [n][2], x, v of the centre of mass."""

    def __init__(self, stars, mass, x, v, dx, dv):
        self.stars, self.mass, self.x, self.v, self.dx, self.dv = stars, mass, x, v, dx, dv
        self.a, self.e, self.energy = elements(mass, dx, dv)
        self.period = period(self.a, mass.sum(axis=1))

    def __len__(self):
        return len(self.mass)

    def __repr__(self):
        return "<Systems: %d bound systems of two members>" % len(self)

    def _repr_html_(self):
        columns = {"a": self.a, "e": self.e, "energy": self.energy, "period": self.period, "stars": self.multiplicity}
        return shown.rows_html(list(columns), {}, columns, len(self), "%d bound systems, N-body units" % len(self))

    @property
    def multiplicity(self):
        """Stars in each: 2 for binaries, 3 for triples: [n]."""
        return np.array([len(a) + len(b) for a, b in self.stars], dtype=int)


def _mutual_pairs(mass, x, v, widest):
    """Bodies that are each other's nearest, bound, and at most `widest` of the distance of the third body apart at
    apocentre: [pairs][2]."""
    if len(x) < 3:
        candidates = np.array([[0, 1]] if len(x) == 2 else []).reshape(-1, 2).astype(int)
        third = np.full(len(candidates), np.inf)
    else:
        distance, index = neighbour_distances(x, 2)
        i = np.arange(len(x))
        j = index[:, 0]
        mutual = (j[j] == i) & (i < j)
        candidates = np.stack([i[mutual], j[mutual]], axis=1)
        third = np.minimum(distance[candidates[:, 0], 1], distance[candidates[:, 1], 1])
    if len(candidates) == 0:
        return candidates
    i, j = candidates.T
    good = (mass[i] > 0) & (mass[j] > 0)
    candidates, third = candidates[good], third[good]
    i, j = candidates.T
    a, e, energy = elements(np.stack([mass[i], mass[j]], axis=1), x[i] - x[j], v[i] - v[j])
    return candidates[(energy < 0) & (a * (1 + e) < widest * third)]


def find_systems(name, mass, x, v, widest=0.25, levels=3):
    """Bound systems from positions and velocities alone: binaries are pairs of stars that are each other's nearest,
    bound, and at apocentre no wider than `widest` of the distance to the third; a binary then counts as one body, so
    that triples and quadruples are found as well, up to `levels` deep.

    Returns (systems that are part of no other, all others: the binaries inside them) as two Systems.
    """
    stars = [[int(k)] for k in name]
    mass, x, v = np.array(mass, dtype=float), np.array(x, dtype=float), np.array(v, dtype=float)
    found, inside = [], set()
    number = [None] * len(stars)  # of the system that a body is
    for _ in range(levels):
        pairs = _mutual_pairs(mass, x, v, widest)
        if len(pairs) == 0:
            break
        keep = np.ones(len(mass), dtype=bool)
        for i, j in pairs:
            m = mass[i] + mass[j]
            row = (stars[i], stars[j]), (mass[i], mass[j]), (mass[i] * x[i] + mass[j] * x[j]) / m, \
                (mass[i] * v[i] + mass[j] * v[j]) / m, x[i] - x[j], v[i] - v[j]
            inside.update(k for k in (number[i], number[j]) if k is not None)
            stars[i], mass[i], x[i], v[i] = stars[i] + stars[j], m, row[2], row[3]
            number[i] = len(found)
            found.append(row)
            keep[j] = False
        stars = [s for s, k in zip(stars, keep) if k]
        number = [s for s, k in zip(number, keep) if k]
        mass, x, v = mass[keep], x[keep], v[keep]

    def systems(which):
        rows = [found[k] for k in which]
        if not rows:
            return Systems([], *(np.zeros((0, width)) for width in (2, 3, 3, 3, 3)))
        return Systems([row[0] for row in rows], *(np.array([row[k] for row in rows]) for k in range(1, 6)))

    return systems([k for k in range(len(found)) if k not in inside]), systems(sorted(inside))
