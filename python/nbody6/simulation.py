"""A cluster that is integrated from Python, by libnbody6."""

import ctypes
import json
import os
import signal
import threading

import numpy as np

from . import library, shown
from .errors import SimulationError
from .handle import SimulationHandle, is_forked
from .names import Names
from .snapshot import UNIT_NAMES
from .stars import Stars
from .tables import Table, to_number
from .units import Units

NEWS_EVENT, NEWS_ROW, NEWS_OUTPUT, NEWS_POLL = range(4)  # enum nb6_script_news
LATEST = 8e6  # NB6_T_MAX of config.h
ENERGY_NAMES = ("kinetic", "potential", "tidal", "total", "binding", "virial_ratio", "lx", "ly", "lz", "cm_x", "cm_y",
                "cm_z", "cm_vx", "cm_vy", "cm_vz", "mass")
SLOW, SUDDEN = range(2)  # enum nb6_mass_change
PAIR_NAMES = ("a", "e", "period", "binding", "gamma", "mass_1", "mass_2", "t_formed")


def as_text(value):
    """A value as it would stand in a namelist."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def as_bytes(text):
    """Bytes for the library, whose texts end at the first zero byte."""
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError("a zero byte within a text: %r" % (text,))
    return data


def as_names(names):
    """Names of stars: integers, also if an array of doubles has them.   Raises ValueError"""
    given = np.asarray(names)
    if given.dtype.kind == "f" and (np.abs(given) < 2**53).all() and (given == np.rint(given)).all():
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise ValueError("the names of stars are integers")
    return np.ascontiguousarray(given, dtype=np.int64)


class _Interrupt:
    """Notes Ctrl-C while it is entered: Python would raise within the call of the library, and lose the exception. On
    exit the former handler gets the signal."""

    def __enter__(self):
        self.noted, self.handler = None, None
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.getsignal(signal.SIGINT)
            if callable(self.handler):
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number, frame):
        self.noted = number, frame

    def __exit__(self, *_):
        if callable(self.handler):
            signal.signal(signal.SIGINT, self.handler)
            if self.noted:
                self.handler(*self.noted)


class Simulation:
    """A cluster: Simulation(stars, **variables), Simulation.from_input(path), .from_model(**variables) or
    .restore(checkpoint). Variables are those of the input, with their names there: ETAI=0.02, DTADJ=0.5; options are
    KZ={16: 1, 23: 2}.

        >>> sim = Simulation.from_model(N=50, NRAND=3, DTADJ=0.25)
        >>> sim.integrate(0.5).t, sim.n
        (0.5, 50)
        >>> sim.log["t"].tolist()
        [0.0, 0.25, 0.5]

    on_event(event), on_row(row), on_output(sim) are called as things happen; event and row are dicts with the names of
    NAME.events.jsonl and NAME.log.csv. An exception in one of them, or Ctrl-C, ends `integrate` at the next state from
    which the run can continue, and is raised there; the next `integrate` continues with the same bits. A callback may
    ask for anything and write files; it can neither integrate nor close. One thread uses a simulation at a time.
    """

    def __init__(self, stars=None, on_event=None, on_row=None, on_output=None, KZ=None, **variables):
        self._handle, self._is_integrating = SimulationHandle(), False
        self.on_event, self.on_row, self.on_output = on_event, on_row, on_output
        self.events, self._rows, self._pending, self._interrupt = [], [], None, None
        self._names, self._units = library.log_columns()
        self._listener = library.LISTENER(self._hear)  # kept as long as the library may call it
        with self._handle as script:
            library.library().nb6_script_listen(script, self._listener, None)
        self._set(variables, KZ)
        if stars is not None:
            self._set_bodies(stars)

    @classmethod
    def from_input(cls, path, **options):
        """The simulation that `nbody6 path` would integrate: the same stars, settings and bits. It searches for the
        file of stars as the command does."""
        sim = cls(**{k: v for k, v in options.items() if k.startswith("on_")})
        with sim._handle as script:
            sim._call("nb6_input_read", as_bytes(path), None, library.library().nb6_script_config(script))
        variables = {k: v for k, v in options.items() if not k.startswith("on_") and k != "KZ"}
        sim._set(variables, options.get("KZ"), keep_end=True)
        sim._call_script("nb6_script_make")
        return sim

    @classmethod
    def from_model(cls, **variables):
        """A model that the variables describe: N, NRAND, W0, ALPHAS, NBIN0, ... (docs/input.md)."""
        sim = cls(**variables)
        sim._call_script("nb6_script_make")
        return sim

    @classmethod
    def restore(cls, path, **listeners):
        """The simulation of a checkpoint of the command, or of write_checkpoint; it continues bit for bit."""
        sim = cls(**listeners)
        sim._call_script("nb6_script_restore", as_bytes(path))
        return sim

    def _set(self, variables, options, keep_end=False):
        if not keep_end and "TCRIT" not in variables:
            variables = dict(variables, TCRIT=LATEST)
        named = [*variables.items(), *(("KZ(%d)" % number, value) for number, value in (options or {}).items())]
        with self._handle as script:
            config = library.library().nb6_script_config(script)
            for name, value in named:
                self._call("nb6_input_set", config, as_bytes(name), as_bytes(as_text(value)))

    @staticmethod
    def _arrays_of(stars):
        """Number, names, masses, places and velocities."""
        mass = np.ascontiguousarray(stars.mass, dtype=float)
        n = mass.shape[0] if mass.ndim else 0
        if stars.v is None:
            raise ValueError("the stars have no velocities")
        name = as_names(stars.name)
        x, v = (np.ascontiguousarray(a, dtype=float) for a in (stars.x, stars.v))
        for label, array, shape in (("mass", mass, (n,)), ("x", x, (n, 3)), ("v", v, (n, 3)), ("name", name, (n,))):
            if array.shape != shape:
                raise ValueError("%s has the shape %s; for %d masses it is %s" % (label, array.shape, n, shape))
        return n, name, mass, x, v

    def _set_bodies(self, stars):
        n, *arrays = self._arrays_of(stars)
        self._call_script("nb6_script_set_bodies", n, *map(library.pointer, arrays))

    def _state(self):
        """Names and values; what cannot be asked now, as of a simulation that is closed, is left out."""
        def ask(what):
            try:
                return what()
            except Exception:
                return None

        n, t = ask(lambda: self.n), ask(lambda: self.t)
        return [("stars", n), ("time", None if t is None else "t = %g" % t), ("engine", ask(lambda: self.engine)),
                ("rows of the log", len(self._rows)), ("events", len(self.events))]

    def __repr__(self):
        state = {name: value for name, value in self._state() if value is not None}
        return "<Simulation: %s>" % ("%d stars at %s, engine %s" % (
            state["stars"], state["time"], state.get("engine", "?")) if "stars" in state and "time" in state else
            "no stars, or closed")

    def _repr_html_(self):
        return shown.facts_html("Simulation", self._state())

    def close(self):
        """Frees the memory; the simulation cannot be used any more.   Raises RuntimeError: it is integrating"""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter ends, and what close needs is gone
            pass

    def __reduce_ex__(self, protocol):
        raise TypeError("a simulation is not copied or pickled: write_checkpoint, and restore that where it is wanted")

    # ---- calls of the library

    @staticmethod
    def _call(name, *arguments):
        try:
            library.call(name, *arguments)
        except SimulationError as error:
            if is_forked() and error.status in library.DEVICE_STATUSES:
                raise SimulationError(error.status, "%s (a GPU is not there in a child that was made by fork: "
                                      "multiprocessing.set_start_method('spawn'))" % error) from None
            raise

    def _call_script(self, name, *arguments):
        with self._handle as script:
            self._call(name, script, *arguments)

    def _call_sim(self, name, *arguments):
        with self._handle as script:
            self._call(name, self._sim_of(script), *arguments)

    def _ask_sim(self, name):
        """The result of a function that cannot fail, called on the simulation."""
        with self._handle as script:
            return getattr(library.library(), name)(self._sim_of(script))

    @staticmethod
    def _sim_of(script):
        sim = library.library().nb6_script_sim(script)
        if not sim:
            raise ValueError("the simulation has no stars: give it some, or from_model, from_input, restore")
        return sim

    # ---- news from the library

    def _hear(self, _context, news, text):
        """The library calls it. An exception must not pass through it: it is kept, and the run is asked to stop."""
        try:
            self._take(news, text)
            self._handle.check_process()  # a callback may have made a child, which comes back here as well
        except BaseException as error:
            if self._pending is None:
                self._pending = error
        return 1 if self._wants_stop() else 0

    def _wants_stop(self):
        return self._pending is not None or bool(self._interrupt and self._interrupt.noted)

    def _take(self, news, text):
        if news == NEWS_EVENT:
            event = json.loads(text.decode())
            self.events.append(event)
            if self.on_event:
                self.on_event(event)
        elif news == NEWS_ROW:
            self._rows.append([to_number(value) for value in text.decode().split(",")])
            if self.on_row:
                self.on_row(dict(zip(self._names, self._rows[-1])))
        elif news == NEWS_OUTPUT and self.on_output:
            self.on_output(self)

    # ---- what it does

    def integrate(self, t):
        """Advance to N-body time t (absolute; rounded to 2^-40). Returns the simulation.

        Raises SimulationError (the state is that before the failure), the exception of a callback, or that of Ctrl-C.
        """
        with self._handle as script:
            if self._is_integrating:
                raise RuntimeError("integrate: the simulation is integrating: not within a callback")
            sim, t, self._is_integrating = self._sim_of(script), float(t), True
            try:
                self._evolve(sim, t)
            finally:
                self._is_integrating = False
        return self

    def _evolve(self, sim, t):
        with _Interrupt() as self._interrupt:
            try:
                self._call("nb6_evolve", sim, t)
                while library.library().nb6_stopped(sim) and not self._wants_stop():
                    self._call("nb6_evolve", sim, t)  # the wish came with the last event of an earlier call
            finally:
                pending, self._pending = self._pending, None
                if pending is not None:
                    raise pending

    def run(self):
        """Integrate to TCRIT."""
        with self._handle as script:
            return self.integrate(library.library().nb6_script_end(script))

    # ---- changes, between calls of integrate

    def _change(self, name, *arguments):
        """An exception of on_event comes when the change is done."""
        with self._handle:
            if self._is_integrating:
                raise RuntimeError("the simulation is integrating: stars do not change within a callback")
            try:
                self._call_sim(name, *arguments)
            finally:
                pending, self._pending = self._pending, None
            if pending is not None:
                raise pending
        return self

    def add_stars(self, stars, name=None):
        """Stars come: a Stars in N-body units. name: of no star that is there; None: numbers above all earlier ones."""
        n, _, *arrays = self._arrays_of(stars)
        names = None if name is None else as_names(name)
        if names is not None and names.shape != (n,):
            raise ValueError("%d stars have as many names, not the shape %s" % (n, names.shape))
        return self._change("nb6_add_bodies", n, library.pointer(names), *map(library.pointer, arrays))

    def remove_stars(self, name):
        """Stars with these names go."""
        names = np.atleast_1d(as_names(name))
        return self._change("nb6_remove_bodies", names.size, library.pointer(names))

    def set_masses(self, name, mass, v=None, sudden=False):
        """Stars with these names get new masses (nb6_set_masses): slowly, as by winds, while their pairs widen; or
        suddenly, and then also new velocities v [n, 3], as by kicks.

            >>> sim = Simulation.from_model(N=50, NRAND=3)
            >>> first = sim.stars.name[:2]
            >>> sim.set_masses(first, [0.01, 0.015]).stars.mass[:2].tolist()
            [0.01, 0.015]
        """
        names, masses = np.atleast_1d(as_names(name)), np.atleast_1d(np.ascontiguousarray(mass, dtype=float))
        velocities = None if v is None else np.ascontiguousarray(v, dtype=float).reshape(-1, 3)
        if names.ndim != 1 or masses.shape != names.shape or (v is not None and len(velocities) != names.size):
            raise ValueError("%d names have as many masses, and velocities of three numbers each" % names.size)
        return self._change("nb6_set_masses", names.size, library.pointer(names), library.pointer(masses),
                            library.pointer(velocities), SUDDEN if sudden else SLOW)

    def field(self, x):
        """Of all stars, now, at points x [n, 3], members of pairs one by one: {potential [n], acc [n, 3]}; and, apart,
        of the galaxy on a body at rest: galaxy_potential, galaxy_acc.

            >>> sim = Simulation.from_model(N=50, NRAND=3)
            >>> far = sim.field([[1000, 0, 0]])
            >>> round(float(far["potential"][0]), 6), round(float(far["acc"][0, 0]), 9)
            (-0.001, -1e-06)
        """
        points = np.ascontiguousarray(x, dtype=float).reshape(-1, 3)
        n = len(points)
        found = {"potential": np.empty(n), "acc": np.empty((n, 3)), "galaxy_potential": np.empty(n),
                 "galaxy_acc": np.empty((n, 3))}
        self._call_sim("nb6_get_field", n, library.pointer(points), *map(library.pointer, found.values()))
        return Names(found, "quantity of the field")

    def write_snapshot(self, path):
        """A snapshot, as the command writes them."""
        self._call_script("nb6_script_snapshot", as_bytes(path))

    def write_checkpoint(self, path):
        """The state, from which Simulation.restore or nbody6 --resume continues bit for bit."""
        self._call_sim("nb6_checkpoint", as_bytes(path))

    # ---- what it says

    @property
    def t(self):
        return self._ask_sim("nb6_time_now")

    @property
    def n(self):
        return self._ask_sim("nb6_count")

    @property
    def id(self):
        """Of the run: 16 hexadecimal digits, "" if it has none."""
        with self._handle as script:
            return library.library().nb6_script_id(script).decode()

    @property
    def engine(self):
        return self._ask_sim("nb6_engine_name").decode()

    @property
    def units(self):
        values = (ctypes.c_double * 4)()
        with self._handle as script:
            library.library().nb6_script_units(script, values)
        known = dict(zip(UNIT_NAMES, values))
        # RBAR = 1 and ZMBAR = 1, the defaults, say nothing of the cluster.
        stars = self._rows[0][self._names.index("n")] if self._rows else self.n
        stated = known["length_pc"] != 1 or abs(known["mass_msun"] - stars) > 1e-9 * stars
        return Units(stated=stated, **known)

    @property
    def stars(self):
        """All stars now, pairs resolved."""
        n = self.n
        name, mass, x, v = np.empty(n, dtype=np.int64), np.empty(n), np.empty((n, 3)), np.empty((n, 3))
        self._call_sim("nb6_get_bodies", n, *map(library.pointer, (name, mass, x, v)))
        return Stars(mass, x, v, name, self.t, self.units)

    @property
    def energy(self):
        """Energies and integrals now (O(N^2)): {name: value}."""
        values = (ctypes.c_double * library.ENERGY_VALUES)()
        self._call_sim("nb6_get_energy", values)
        return Names(zip(ENERGY_NAMES, values), "energy")

    @property
    def pairs(self):
        """Regularized pairs now: a list of dicts with names, a, e, period, binding, gamma, mass_1, mass_2, t_formed."""
        count, capacity = ctypes.c_int64(), 0
        while True:
            names = np.empty((capacity, 2), dtype=np.int64)
            values = np.empty((capacity, library.PAIR_VALUES))
            self._call_script("nb6_script_pairs", capacity, ctypes.byref(count), library.pointer(names),
                              library.pointer(values))
            if count.value <= capacity:
                break
            capacity = count.value
        return [dict(zip(PAIR_NAMES, row), names=pair) for pair, row in
                zip(names[:count.value].tolist(), values[:count.value].tolist())]

    @property
    def log(self):
        """The rows so far, as a Table like that of Run.log."""
        rows = np.array(self._rows, dtype=float).reshape(len(self._rows), len(self._names))
        return Table({name: rows[:, k] for k, name in enumerate(self._names)}, dict(zip(self._names, self._units)))
