"""A set of stars and its analysis. Arrays are in N-body units; `get` and `quantity` convert them."""

import numpy as np

from . import orbits, shown, structure
from .errors import UnitError
from .names import Names
from .units import Units

# The arrays of a set of stars: what they measure (units.DIMENSIONS)
FIELDS = {"name": "number", "mass": "mass", "x": "length", "v": "velocity", "acc": "velocity/time",
          "jerk": "velocity/time^2", "pot": "velocity^2", "dt_irr": "time", "dt_reg": "time", "nnb": "number",
          "r_nb": "length"}


class Stars:
    """n bodies at one time: name [n], mass [n], x [n][3], v [n][3], and, None if not known, pot [n], acc [n][3],
    jerk [n][3], dt_irr, dt_reg, r_nb, nnb [n]. `properties` has the columns that a run has kept with its stars (types,
    radii, ...), arrays [n] by name as they were read, NaN where nothing is known, and `property_units` their units.

        >>> import numpy as np
        >>> stars = Stars(mass=[0.5, 0.5], x=[[1, 0, 0], [-1, 0, 0]], v=np.zeros((2, 3)))
        >>> stars.n, stars.r.tolist()
        (2, [1.0, 1.0])
        >>> stars.get("x", "pc")
        Traceback (most recent call last):
            ...
        nbody6.errors.UnitError: the units of these stars are not known: only N-body units
    """

    def __init__(self, mass, x, v=None, name=None, t=0.0, units=None, centre=None, properties=None,
                 property_units=None, **others):
        self.mass = np.asarray(mass, dtype=float)
        self.x = np.asarray(x, dtype=float)
        n = len(self.mass)
        self.v = None if v is None else np.asarray(v, dtype=float)
        self.name = np.arange(1, n + 1) if name is None else np.asarray(name)
        for label, array, shape in (("x", self.x, (n, 3)), ("v", self.v, (n, 3)), ("name", self.name, (n,))):
            if array is not None and array.shape != shape:
                raise ValueError("%s has the shape %s; for %d masses it is %s" % (label, array.shape, n, shape))
        unknown = set(others) - set(FIELDS)
        if unknown:
            raise TypeError("no such array of stars: %s" % ", ".join(sorted(unknown)))
        for field in FIELDS:
            if field not in ("name", "mass", "x", "v"):
                setattr(self, field, others.get(field))
        self.t, self.unit_system, self._centre = float(t), units, centre
        self.properties = Names(properties or {}, "column of these stars")
        self.property_units = Names(property_units or {}, "column of these stars")

    def __len__(self):
        return len(self.mass)

    def _time(self):
        units = self.unit_system
        return "t = %g" % self.t + (" (%.4g Myr)" % (self.t * units.time_myr) if units and units.stated else "")

    def __repr__(self):
        return "<%s: %d stars at %s>" % (type(self).__name__, len(self), self._time())

    def _facts(self):
        """Names and values for a notebook."""
        mass, units = self.mass.sum(), self.unit_system
        stated = units is not None and units.stated
        known = [name for name in FIELDS if getattr(self, name) is not None]
        return [("stars", len(self)), ("time", self._time()),
                ("mass", shown.number(mass) + (" (%.4g Msun)" % (mass * units.mass_msun) if stated else "")),
                ("arrays", ", ".join(known)), ("columns", ", ".join(self.properties) or None),
                ("units", "%.4g pc, %.4g Msun, %.4g km/s, %.4g Myr" % (
                    units.length_pc, units.mass_msun, units.velocity_kms, units.time_myr) if stated else "N-body")]

    def _repr_html_(self):
        return shown.facts_html(type(self).__name__, self._facts())

    def plot(self, *names, unit=None):
        """Pictures of the stars as a figure of matplotlib: two projections, density and mass within a radius, or those
        named, as "view-yz", "surface-density", "dispersion", "anisotropy", "masses".   unit: "physical" or "nbody";
        None: physical where the units are stated.   Raises KeyError (with the nearest name), ValueError."""
        from .plot import picture
        return picture.of_stars(self, names, unit)

    @property
    def n(self):
        """Stars; one that merged into another and waits for its removal has no mass and does not count."""
        return int((self.mass > 0).sum()) if (self.mass > 0).any() else len(self.mass)

    def __getitem__(self, which):
        """Some of the stars: an index array, a mask or a slice."""
        others = {field: getattr(self, field)[which] for field in FIELDS
                  if field not in ("name", "mass", "x", "v") and getattr(self, field) is not None}
        v = None if self.v is None else self.v[which]
        return Stars(self.mass[which], self.x[which], v, self.name[which], self.t, self.unit_system, self._centre,
                     {key: column[which] for key, column in self.properties.items()}, self.property_units, **others)

    def get(self, field, unit="physical"):
        """An array in other units: get("x", "pc"), get("mass", "Msun"), get("pot"): (km/s)^2.   Raises UnitError."""
        if field not in FIELDS:
            raise UnitError("%s: no array of stars; there are %s" % (field, ", ".join(FIELDS)))
        if unit == "nbody":
            return getattr(self, field)
        if self.unit_system is None:
            raise UnitError("the units of these stars are not known: only N-body units")
        return getattr(self, field) * self.unit_system.factor(FIELDS[field], unit)

    def quantity(self, field):
        """An array as astropy Quantity, in pc, Msun, km/s, Myr.   Raises ImportError, UnitError."""
        self.get(field)
        return Units.quantity(self.unit_system, getattr(self, field), FIELDS[field])

    # ---- where they are

    @property
    def centre(self):
        """Density centre [3]: the one that was given, else from sixth neighbours."""
        if self._centre is None:
            self._centre = structure.density_centre(self.x, self.mass)
        return self._centre

    @centre.setter
    def centre(self, value):
        self._centre = np.asarray(value, dtype=float)

    @property
    def r(self):
        """Distances from the centre [n]."""
        return structure.lengths(self.x - self.centre)

    @property
    def mean_velocity(self):
        """Of the inner half of the mass [3]."""
        r, inner = self.r, slice(None)
        if self.n >= 20:
            inner = r <= structure.lagrangian_radii(r, self.mass, [0.5])[0]
        return structure.mean(self.v[inner], self.mass[inner])

    # ---- radii and profiles

    def lagrangian_radii(self, fractions=(0.1, 0.5, 0.9), groups=1):
        """Radii that hold fractions of the mass: [fractions], or, for groups > 1, of each group of stars of equal
        number from light to heavy: [groups][fractions]."""
        r = self.r
        if groups == 1:
            return structure.lagrangian_radii(r, self.mass, fractions)
        order = np.array_split(np.argsort(self.mass, kind="stable"), groups)
        return np.array([structure.lagrangian_radii(r[k], self.mass[k], fractions) for k in order])

    def density_profile(self, per_shell=50, axis=None):
        """structure.density_profile about the centre; axis 0, 1, 2: surface density seen along it."""
        return structure.density_profile(self._distance(axis), self.mass, per_shell, axis is not None)

    def dispersion_profile(self, per_shell=50, axis=None):
        """structure.dispersion_profile; axis 0, 1, 2: along it, over projected distance."""
        v = self.v - self.mean_velocity
        return structure.dispersion_profile(self._distance(axis), v if axis is None else v[:, axis], per_shell)

    def anisotropy_profile(self, per_shell=50):
        """structure.anisotropy_profile about the centre and its motion."""
        return structure.anisotropy_profile(self.x - self.centre, self.v - self.mean_velocity, per_shell)

    def _distance(self, axis):
        d = self.x - self.centre
        if axis is not None:
            d = np.delete(d, axis, axis=1)
        return structure.lengths(d)

    def mass_function(self, bins=12):
        """structure.mass_function: edges, dN/dlog10 m, standard deviation."""
        return structure.mass_function(self.mass, bins)

    def mass_segregation_ratio(self, n_massive=20, samples=200, seed=1, axis=None):
        """structure.mass_segregation_ratio in space, or as seen along an axis: Lambda, standard deviation."""
        x = self.x if axis is None else np.delete(self.x, axis, axis=1)
        return structure.mass_segregation_ratio(x, self.mass, n_massive, samples, seed)

    def bound(self):
        """Stars of negative energy against the mean motion of those that are bound (found in rounds), with the
        potential of all stars in the snapshot; of a close pair both or none. Needs pot.   Raises ValueError."""
        if self.pot is None or self.v is None:
            raise ValueError("the potential of the stars is not known: a snapshot of a run has it")
        outer, inner = orbits.find_systems(self.name, self.mass, self.x, self.v)
        own, v = np.zeros(len(self.mass)), self.v.copy()
        place = {int(name): k for k, name in enumerate(self.name)}
        for systems in (outer, inner):  # inside a system neither its attraction nor its orbit counts
            for k, (first, second) in enumerate(systems.stars):
                members = [[place[name] for name in first], [place[name] for name in second]]
                if systems is outer:
                    v[members[0] + members[1]] = systems.v[k]
                distance = np.sqrt((systems.dx[k]**2).sum())
                own[members[0]] -= systems.mass[k][1] / distance
                own[members[1]] -= systems.mass[k][0] / distance
        inside = np.ones(len(self.mass), dtype=bool)
        for _ in range(20):
            if not inside.any() or self.mass[inside].sum() <= 0:
                break
            mean = np.average(v[inside], axis=0, weights=self.mass[inside])
            now = 0.5 * ((v - mean)**2).sum(axis=1) + self.pot - own < 0
            if (now == inside).all():
                break
            inside = now
        return self[inside]

    def systems(self, widest=0.25):
        """Binaries, triples, ... found from positions and velocities: orbits.find_systems."""
        return orbits.find_systems(self.name, self.mass, self.x, self.v, widest)
