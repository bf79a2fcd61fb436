"""The data of the page, read once: the run, its last snapshot, and a time series from its snapshots."""

import copy
import functools
import itertools
import os

import numpy as np

from .. import galaxy, structure
from ..errors import ReadError
from ..orbits import find_systems
from ..snapshot import read_snapshot
from ..tables import energy_columns
from . import star_types
from .tracks import tracks

MOST_SNAPSHOTS = 60  # looked at for what changes with time; evenly chosen from more
MOST_STARS = 30000  # up to here systems are searched in every snapshot that is looked at
FEW_BODIES = 12  # up to here, tracks are drawn instead of dots
GROUP_FRACTIONS = (0.1, 0.5, 0.9)


class Scale:
    """Units of what is drawn now: pc, km/s, Msun and Myr where the run states them, else N-body units. `choices`: those
    that the page shows, of which `unit` is the present one."""

    def __init__(self, units):
        physical = units is not None and units.stated
        self.choices = ("physical", "nbody") if physical else ("nbody",)
        self.unit = self.choices[0]
        self.units = units

    def factor(self, dimension):
        return self.units.factor(dimension, self.unit) if self.unit == "physical" else 1.0

    def orbits(self):
        """Factor and label of semi-major axes: AU, or N-body units."""
        return (self.units.factor("length", "AU"), "AU") if self.unit == "physical" else (1.0, "N-body")

    def label(self, dimension):
        return self.units.label(dimension) if self.unit == "physical" else "N-body"


class Report:
    """run: a Run; which: path of the snapshot to show, or None for the last one; tell(text, done, of): for a progress
    bar; stars: to be shown in place of a snapshot.

    snapshot: or None; earlier: for few bodies all snapshots before it; scale; history: a dict of arrays over the
    snapshots that were looked at, which are read when it is asked for; notes: what was skipped.   Raises ReadError:
    nothing can be drawn yet.
    """

    def __init__(self, run, which=None, tell=lambda text, done, of: None, stars=None):
        self.run, self.notes, self.tell, self.binaries = run, [], tell, None
        self.log = run.log if run.log is not None and len(run.log) else None
        if stars is not None:
            self.snapshot = stars
        elif which:
            self.snapshot = read_snapshot(which)
        else:
            self.snapshot, self.notes = run.last_snapshot()
        if self.snapshot is None and self.log is None:
            raise ReadError("%s: the run has written nothing that could be drawn yet" % run.name)
        if self.snapshot is not None and self.snapshot.v is None:
            self.snapshot = copy.copy(self.snapshot)
            self.snapshot.v = np.zeros_like(self.snapshot.x)
        self.scale = Scale(self.snapshot.unit_system if self.snapshot is not None else None)
        self.few = stars is None and self.snapshot is not None and len(self.snapshot) <= FEW_BODIES
        self.earlier = self._read_earlier() if self.few else []

    @functools.cached_property
    def history(self):
        return {} if self.few else self._look_through()

    @staticmethod
    def scale_of(run):
        """Units of a run's pictures, without a report."""
        snapshot, _ = run.last_snapshot()
        return Scale(snapshot.unit_system if snapshot is not None else None)

    # ---- numbers that several parts show

    @property
    def n_now(self):
        """Stars now. A row of the log, like the table on the terminal, still counts stars that leave at its time; the
        last line of the terminal, the snapshot and this page do not."""
        if self.log is None:
            return self.snapshot.n
        t = self.log["t"][-1]
        if self.snapshot is not None and self.snapshot.t == t:
            return self.snapshot.n
        left = sum(1 for event in self.run.events if event["event"] == "escape" and abs(event["t"] - t) < 1e-9)
        return int(self.log["n"][-1]) - left if "n" in self.log else None

    @property
    def t_start(self):
        """Time at which the run begins, as far as its files say it."""
        if self.log is not None:
            return self.log["t"][0]
        return self.history["t"][0] if self.history else self.earlier[0].t if self.earlier else self.snapshot.t

    @property
    def t_now(self):
        return self.log["t"][-1] if self.log is not None else self.snapshot.t

    @property
    def time_myr(self):
        return self.run.time_myr if self.scale.unit == "physical" else None

    def times(self, t):
        """Times for an axis, and its label."""
        if self.time_myr:
            return np.asarray(t) * self.time_myr, "time [Myr]"
        return np.asarray(t), "time [N-body]"

    @property
    def error_columns(self):
        return energy_columns(self.log)

    @property
    def escaped(self):
        """Stars that have escaped."""
        return sum(event["event"] == "escape" for event in self.run.events)

    @functools.cached_property
    def parameters(self):
        return self.run.parameters

    # ---- what takes its time, and is drawn in both units

    @functools.cached_property
    def systems(self):
        """Those of the snapshot that are part of no other, and all others."""
        return self.snapshot.systems()

    @functools.cached_property
    def with_centres_of_mass(self):
        """The snapshot with each regularized system as one body."""
        if not hasattr(self.snapshot, "with_centres_of_mass"):
            return self.snapshot
        systems = self.snapshot.with_centres_of_mass()
        systems.centre = self.snapshot.centre
        return systems

    @functools.cached_property
    def segregation(self):
        """Mass segregation ratio of the heaviest 20 stars, and its error."""
        return self.snapshot.mass_segregation_ratio(min(20, len(self.snapshot) // 4), 100)

    @functools.cached_property
    def tracks(self):
        """Paths of few bodies from the first snapshot to this one: tracks.tracks."""
        return tracks([*self.earlier, self.snapshot])

    @functools.cached_property
    def galactic_orbit(self):
        """galaxy.orbit of the cluster up to now, or None."""
        myr = self.run.time_myr
        return galaxy.orbit(self.parameters, self.t_now * myr) if myr and self.t_now > 0 else None

    @functools.cached_property
    def hard_limit_now(self):
        return self.hard_limit(self.snapshot)

    # ---- snapshots

    def _paths(self):
        paths = list(self.run.snapshots)
        if self.snapshot is not None:
            here = os.path.abspath(getattr(self.snapshot, "path", ""))
            names = [os.path.abspath(path) for path in paths]
            paths = paths[:names.index(here)] if here in names else []
        return paths

    def _read(self, paths):
        for done, path in enumerate(paths):
            self.tell("reading snapshots", done, len(paths))
            try:
                yield self._centred(read_snapshot(path))
            except ReadError as error:
                self.notes.append(str(error))
        if paths:
            self.tell("reading snapshots", len(paths), len(paths))

    def _centred(self, snapshot):
        self.run._set_centre(snapshot)
        return snapshot

    def _read_earlier(self):
        return [s for s in self._read(self._paths()) if s.v is not None]

    def _look_through(self):
        if self.snapshot is None:
            return {}
        paths = self._paths()
        if len(paths) > MOST_SNAPSHOTS:
            paths = [paths[k] for k in np.linspace(0, len(paths) - 1, MOST_SNAPSHOTS).round().astype(int)]
        history = {"t": [], "radii": [], "binaries": [], "multiples": [], "binding": [], "soft": [], "pairs": [], "types": []}
        limits = None
        for snapshot in itertools.chain(self._read(paths), [self.snapshot]):
            if limits is None:
                groups = structure.mass_groups(snapshot.mass)
                limits = [snapshot.mass[group].max() for group in groups]
            self._add(history, snapshot, limits)
            del snapshot  # of many stars: before the next one is read
        history["limits"] = limits
        return {key: value if key in ("limits", "pairs") else np.array(value) for key, value in history.items()}

    def _add(self, history, snapshot, limits):
        r, lower, radii = snapshot.r, -1.0, []
        for upper in limits:
            inside = (snapshot.mass > lower) & (snapshot.mass <= upper)
            radii.append(structure.lagrangian_radii(r[inside], snapshot.mass[inside], GROUP_FRACTIONS))
            lower = upper
        history["t"].append(snapshot.t)
        history["radii"].append(radii)
        history["types"].append(star_types.mass_and_number(snapshot))
        if len(snapshot) > MOST_STARS or not snapshot.v.any():
            pairs = getattr(snapshot, "pairs", None)
            bound = pairs.energy[pairs.energy < 0] if pairs is not None else np.zeros(0)
            values = (len(bound), 0, bound.sum(), 0, [])
        else:
            outer, inner = find_systems(snapshot.name, snapshot.mass, snapshot.x, snapshot.v)
            energy = np.concatenate([outer.energy, inner.energy])
            stars = [sorted(a + b) for s in (outer, inner) for a, b in s.stars if len(a) == len(b) == 1]
            values = (len(stars), int((outer.multiplicity > 2).sum()), energy.sum(),
                      int((-energy < self.hard_limit(snapshot)).sum()), stars)
        for key, value in zip(("binaries", "multiples", "binding", "soft", "pairs"), values):
            history[key].append(value)

    @staticmethod
    def hard_limit(stars):
        """Binding energy of a pair above which it is hard: the mean mass of a system times the square of the velocity
        dispersion of one component in the inner half of the mass, of the centres of mass (1 kT)."""
        systems = stars.with_centres_of_mass() if hasattr(stars, "with_centres_of_mass") else stars
        systems.centre = stars.centre
        inner = systems.r <= structure.lagrangian_radii(systems.r, systems.mass, [0.5])[0]
        v = systems.v[inner] - structure.mean(systems.v[inner], systems.mass[inner])
        deviation = np.median(np.abs(v)) / 0.6745  # an unrecognised close pair does not count much
        return float(np.mean(systems.mass) * deviation**2)
