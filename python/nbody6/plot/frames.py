"""Places of the stars between their snapshots, for the film: on the curve that a snapshot and the next one tell, or,
where they are too far apart for that, on an arc about the centre."""

import functools

import numpy as np

from ..errors import ReadError
from .tracks import between, polynomials

FEW_BODIES = 12  # whose close encounters are integrated
TURNED = 1.5  # of its distance from the centre: so far a star may go between two snapshots to be drawn on its curve


def motions(snapshot):
    """x, v, acc (or None) of the stars [n][3], where those of a regularized pair have that of its centre of mass,
    because their orbit is shorter than the time between two pictures; and the places of the stars relative to it
    [n][3]."""
    x, v = snapshot.x.copy(), snapshot.v.copy()
    acc = None if snapshot.acc is None else snapshot.acc.copy()
    place = {int(name): k for k, name in enumerate(snapshot.name)}
    for names in snapshot.pairs.names:
        members = [place[int(name)] for name in names if int(name) in place]
        weights = snapshot.mass[members]
        if len(members) == 2 and weights.sum() > 0:
            for array in (x, v) if acc is None else (x, v, acc):
                array[members] = np.average(array[members], axis=0, weights=weights)
    return x, v, acc, snapshot.x - x


def arcs(first, second, v, s):
    """Ways from one place to another about the centre, with distances from it and angles that change evenly, so that a
    cluster whose stars are not followed does not shrink in between: [n][s][3].   first, second: [n][3] from the centre;
    v: where an orbit turns that leads to the other side; s: [s]"""
    ra, rb = (np.sqrt((x**2).sum(axis=1))[:, None] for x in (first, second))
    begin = first / np.maximum(ra, 1e-300)
    end = second / np.maximum(rb, 1e-300)
    along = (begin * end).sum(axis=1)
    across = end - along[:, None] * begin
    angle = np.arctan2(np.sqrt((across**2).sum(axis=1)), along)[:, None, None] * np.asarray(s)[None, :, None]
    v = v - (begin * v).sum(axis=1)[:, None] * begin
    opposite = (across**2).sum(axis=1) < 1e-12  # or the same, where it does not matter
    across[opposite] = v[opposite]
    across /= np.maximum(np.sqrt((across**2).sum(axis=1)), 1e-300)[:, None]
    distance = ((1 - np.asarray(s)) * ra + np.asarray(s) * rb)[:, :, None]
    return distance * (np.cos(angle) * begin[:, None, :] + np.sin(angle) * across[:, None, :])


def curved(ends, h, s, centres):
    """Places at the parts s of the time between two snapshots: [n][s][3]."""
    cubic, quintic = polynomials(ends, h, s)
    best = cubic if quintic is None else quintic
    arc = arcs(ends[0] - centres[0], ends[1] - centres[1], ends[2], s)
    s = np.asarray(s)[None, :, None]
    arc = arc + (1 - s) * centres[0] + s * centres[1]
    speed = np.maximum(np.sqrt((ends[2]**2).sum(axis=1)), np.sqrt((ends[3]**2).sum(axis=1)))
    distance = np.maximum(np.sqrt(((ends[0] - centres[0])**2).sum(axis=1)),
                          np.sqrt(((ends[1] - centres[1])**2).sum(axis=1)))
    return np.where((speed * h < TURNED * distance)[:, None, None], best, arc)


class Interval:
    """Two snapshots and the time between them: places of the stars at any time of it."""

    def __init__(self, first, second):
        self.first, self.second, self.h = first, second, second.t - first.t
        place = {int(name): k for k, name in enumerate(second.name)}
        self.stay = np.array([int(name) in place for name in first.name], dtype=bool)
        self.other = np.array([place[int(name)] for name in first.name[self.stay]], dtype=int)
        self.few = len(first) <= FEW_BODIES and self.stay.all() and len(first) == len(second)
        self.path = None

    @functools.cached_property
    def _ends(self):
        a, b = motions(self.first), motions(self.second)
        acc = (a[2][self.stay], b[2][self.other]) if a[2] is not None and b[2] is not None else (None, None)
        return (a[0][self.stay], b[0][self.other], a[1][self.stay], b[1][self.other], *acc), a[3], b[3][self.other]

    def at(self, s):
        """Places [n][3] about the density centre at the part s of the interval. Stars that leave before its end move
        on straight."""
        centre = (1 - s) * self.first.centre + s * self.second.centre
        if self.few:
            return self._few(s) - centre
        x = self.first.x + self.first.v * (s * self.h)
        if self.stay.any():
            ends, from_first, from_second = self._ends
            x[self.stay] = curved(ends, self.h, [s], (self.first.centre, self.second.centre))[:, 0] \
                + (1 - s) * from_first[self.stay] + s * from_second
        return x - centre

    def _few(self, s):
        if self.path is None:
            a, b = self.first, self.second
            known = a.acc is not None and b.acc is not None
            t, path = between(a.mass, (a.x, b.x[self.other], a.v, b.v[self.other], a.acc if known else None,
                                       b.acc[self.other] if known else None), self.h)
            self.path = np.append(t, self.h), np.concatenate([path, b.x[self.other][:, None, :]], axis=1)
        t, path = self.path
        return np.array([[np.interp(s * self.h, t, path[k, :, axis]) for axis in range(3)] for k in range(len(path))])


def snapshots(run, most):
    """Snapshots of a run in the order of time, at most so many, evenly chosen, those without velocities with v = 0; one
    that cannot be read, as it is being written, is left out."""
    which = np.unique(np.linspace(0, len(run.snapshots) - 1, min(len(run.snapshots), most)).round().astype(int))
    last = None
    for k in which:
        try:
            snapshot = run.snapshot(int(k))
        except ReadError:
            continue
        if snapshot.v is None:
            snapshot.v = np.zeros_like(snapshot.x)
        if last is None or snapshot.t > last:
            last = snapshot.t
            yield snapshot
