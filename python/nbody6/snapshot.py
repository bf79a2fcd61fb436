"""NAME.snap.*.h5: all stars at one time, and the regularized pairs."""

import h5py
import numpy as np

from . import shown
from .errors import ReadError
from .names import Names
from .stars import Stars
from .units import Units

DATASETS = {"name": "ParticleIDs", "mass": "Masses", "x": "Coordinates", "v": "Velocities", "acc": "Acceleration",
            "jerk": "Jerk", "pot": "Potential", "dt_irr": "TimeStepIrregular", "dt_reg": "TimeStepRegular",
            "nnb": "NeighbourNumber", "r_nb": "NeighbourRadius"}
PAIR_DATASETS = {"names": "ParticleIDs", "mass": "Masses", "x": "Coordinates", "v": "Velocities",
                 "dx": "RelativeCoordinates", "dv": "RelativeVelocities", "a": "SemiMajorAxis", "e": "Eccentricity",
                 "period": "Period", "energy": "BindingEnergy", "gamma": "Perturbation", "kappa": "SlowDown",
                 "t_formed": "FormationTime"}
UNIT_NAMES = ("length_pc", "mass_msun", "velocity_kms", "time_myr")


def text(value):
    """An attribute as str: h5py gives texts of fixed length as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _numbers(path, group, name, shape):
    """A dataset [n] or [n][width] of numbers.   shape: None: not known   Raises ReadError"""
    data = group[name]
    if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "iuf" or not data.ndim:
        raise ReadError("%s: %s is no array of numbers" % (path, data.name))
    if data.shape != shape:
        raise ReadError("%s: %s has the shape %s, where it is %s" % (path, data.name, data.shape, shape))
    return data[...]


def _finite(path, name, array):
    if not np.isfinite(array).all():
        raise ReadError("%s: %s has numbers that are not finite" % (path, name))
    return array


def _number(path, name, value):
    """A finite number that an attribute has, alone or as the first of an array."""
    values = np.ravel(value)
    if not len(values) or values.dtype.kind not in "iuf" or not np.isfinite(values[0]):
        raise ReadError("%s: the attribute %s is no number" % (path, name))
    return float(values[0])


class Pairs:
    """Regularized pairs, a row for each: names, mass [n][2]; x, v of the centre of mass, dx, dv of the first star seen
    from the second [n][3]; a (negative: unbound), e, period, energy, gamma (perturbation), kappa (slow-down),
    t_formed [n]. N-body units. A name above those of all stars is that of a frozen pair."""

    def __init__(self, path=None, group=None):
        n = None if group is None else len(group[PAIR_DATASETS["a"]])
        for field, dataset in PAIR_DATASETS.items():
            width = 2 if field in ("names", "mass") else 3 if field in ("x", "v", "dx", "dv") else 0
            shape = (n or 0, width) if width else (n or 0,)
            empty = np.zeros(shape, dtype=int if field == "names" else float)
            setattr(self, field, empty if group is None else _numbers(path, group, dataset, shape))

    def __len__(self):
        return len(self.a)

    def __repr__(self):
        return "<Pairs: %d regularized pairs, %d of them bound>" % (len(self), int((self.energy < 0).sum()))

    def _repr_html_(self):
        columns = {"star 1": self.names[:, 0], "star 2": self.names[:, 1],
                   **{name: getattr(self, name)
                      for name in ("a", "e", "period", "energy", "gamma", "kappa", "t_formed")}}
        return shown.rows_html(list(columns), {}, columns, len(self), "%d regularized pairs, N-body units" % len(self))


class Snapshot(Stars):
    """All stars at one time, as the file has them: pairs are resolved. `unit_system` is a Units, `units` the same four
    numbers by name, `attributes` all that /nbody6 says, `pairs` the regularized pairs."""

    def __init__(self, path, file):
        stars = file["PartType4"]
        if DATASETS["x"] not in stars or DATASETS["mass"] not in stars:
            raise ReadError("%s: PartType4 has no Coordinates or no Masses" % path)
        n = stars[DATASETS["mass"]].size
        if n == 0:
            raise ReadError("%s: there are no stars in it" % path)
        arrays = {field: _numbers(path, stars, dataset, (n, 3) if field in ("x", "v", "acc", "jerk") else (n,))
                  for field, dataset in DATASETS.items() if dataset in stars}
        for field in ("mass", "x", "v"):
            _finite(path, DATASETS[field], arrays.get(field, 0.0))
        if (arrays["mass"] < 0).any():
            raise ReadError("%s: Masses has numbers below 0" % path)
        self.attributes = Names(file["nbody6"].attrs if "nbody6" in file else {}, "attribute")
        self.units = Names({name: _number(path, name, self.attributes[name]) for name in UNIT_NAMES
                            if name in self.attributes}, "unit of this snapshot")
        if any(value <= 0 for value in self.units.values()):
            raise ReadError("%s: its units are not above 0: %s" % (path, self.units))
        units = None
        if len(self.units) == len(UNIT_NAMES):
            stated = self.attributes.get("rbar_pc", 0) != 1 or self.attributes.get("zmbar_msun", 0) != 1
            units = Units(stated=stated, **self.units)
        t = _number(path, "Time", file["Header"].attrs["Time"])
        kept = [key for key in stars if "kept" in stars[key].attrs]
        super().__init__(t=t, units=units, properties={key: _numbers(path, stars, key, (n,)) for key in kept},
                         property_units={key: text(stars[key].attrs.get("unit", "")) for key in kept}, **arrays)
        self.path = path
        self.pairs = Pairs(path, file["Pairs"] if "Pairs" in file else None)

    def __repr__(self):
        return "<Snapshot %s: %d stars at %s, %d regularized pairs>" % (
            shown.cut(self.path), len(self), self._time(), len(self.pairs))

    def _facts(self):
        return [("file", self.path), *super()._facts(), ("regularized pairs", len(self.pairs))]

    def with_centres_of_mass(self):
        """The stars as Stars, each regularized pair, triple or quadruple in place of its stars as one body with the
        name of its first star and without what only single stars have (acc, steps, potential). Without pairs they
        have the arrays of the snapshot."""
        if not len(self.pairs):
            return Stars(self.mass, self.x, self.v, self.name, self.t, self.unit_system, self._centre)
        place = {int(name): k for k, name in enumerate(self.name)}
        keep = np.ones(len(self.mass), dtype=bool)
        mass, x, v = self.mass.copy(), self.x.copy(), self.v.copy()
        waiting, done = list(range(len(self.pairs))), {}
        while waiting:
            left = []
            for k in waiting:
                slots = [place[int(name)] if int(name) in place else done.get(self._frozen_member(k, side, done))
                         for side, name in enumerate(self.pairs.names[k])]
                if None in slots:
                    left.append(k)  # a frozen pair in it comes first
                    continue
                keep[slots[1]] = False
                mass[slots[0]] = self.pairs.mass[k].sum()
                x[slots[0]], v[slots[0]] = self.pairs.x[k], self.pairs.v[k]
                done[k] = slots[0]
            if len(left) == len(waiting):
                raise ReadError("%s: /Pairs names a body that is neither a star nor a pair" % self.path)
            waiting = left
        return Stars(mass[keep], x[keep], v[keep], self.name[keep], self.t, self.unit_system, self._centre)

    def _frozen_member(self, k, side, done):
        """The pair, of those that are done, that is a member of pair k: it has the mass and the place; or None."""
        pairs = self.pairs
        other = pairs.mass[k][1 - side] / pairs.mass[k].sum()
        at = pairs.x[k] + (1 - 2 * side) * other * pairs.dx[k]
        same = [j for j in done if abs(pairs.mass[j].sum() / pairs.mass[k][side] - 1) < 1e-9]  # rounding of the sum
        return min(same, key=lambda j: ((pairs.x[j] - at)**2).sum(), default=None)

    @property
    def binaries(self):
        """Regularized pairs that are bound, as a mask of `pairs`."""
        return self.pairs.energy < 0


def read_snapshot(path):
    """Reads a snapshot in GADGET-HDF5 layout whose stars are PartType4.   Raises ReadError."""
    try:
        with h5py.File(path, "r") as file:
            return Snapshot(path, file)
    except FileNotFoundError:
        raise ReadError("%s: there is no such file" % path) from None
    except MemoryError:
        raise ReadError("%s: no memory for its stars" % path) from None
    except (OSError, KeyError, AttributeError, TypeError, ValueError, RuntimeError) as error:  # other objects than named
        raise ReadError("%s: not a complete snapshot (%s)" % (path, error)) from None
