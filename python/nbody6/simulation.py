"""A cluster that is integrated from Python, by libnbody6."""

import ctypes
import json
import os
import signal
import threading

import numpy as np

from . import library
from .snapshot import UNIT_NAMES
from .stars import Stars
from .tables import Table, to_number
from .units import Units

NEWS_EVENT, NEWS_ROW, NEWS_OUTPUT, NEWS_POLL = range(4)  # enum nb6_script_news
LATEST = 8e6  # NB6_T_MAX of config.h
ENERGY_NAMES = ("kinetic", "potential", "tidal", "total", "binding", "virial_ratio", "lx", "ly", "lz", "cm_x", "cm_y",
                "cm_z", "cm_vx", "cm_vy", "cm_vz", "mass")
PAIR_NAMES = ("a", "e", "period", "binding", "gamma", "mass_1", "mass_2", "t_formed")


def as_text(value):
    """A value as it would stand in a namelist."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


class _Interrupt:
    """While it is entered, Ctrl-C is only noted: Python would raise where the library called, and lose it there. On the
    way out the handler that was there before gets it."""

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
    which the run can go on, and is raised there; `integrate` again goes on with the same bits.
    """

    def __init__(self, stars=None, on_event=None, on_row=None, on_output=None, KZ=None, **variables):
        self._script = library.library().nb6_script_create()
        if not self._script:
            raise MemoryError("no memory for a simulation")
        self.on_event, self.on_row, self.on_output = on_event, on_row, on_output
        self.events, self._rows, self._pending, self._interrupt = [], [], None, None
        self._names, self._units = library.log_columns()
        self._listener = library.LISTENER(self._hear)  # kept as long as the library may call it
        library.library().nb6_script_listen(self._script, self._listener, None)
        self._set(variables, KZ)
        if stars is not None:
            self._set_bodies(stars)

    @classmethod
    def from_input(cls, path, **options):
        """What `nbody6 path` would integrate: the same stars, settings and bits. A file of stars that the input names
        is looked for as the command does."""
        sim = cls(**{k: v for k, v in options.items() if k.startswith("on_")})
        config = library.library().nb6_script_config(sim._script)
        library.call("nb6_input_read", os.fsencode(path), None, config)
        variables = {k: v for k, v in options.items() if not k.startswith("on_") and k != "KZ"}
        sim._set(variables, options.get("KZ"), keep_end=True)
        library.call("nb6_script_make", sim._script)
        return sim

    @classmethod
    def from_model(cls, **variables):
        """A model that the variables describe: N, NRAND, W0, ALPHAS, NBIN0, ... (docs/input.md)."""
        sim = cls(**variables)
        library.call("nb6_script_make", sim._script)
        return sim

    @classmethod
    def restore(cls, path, **listeners):
        """What a checkpoint of the command, or of write_checkpoint, holds; goes on bit for bit."""
        sim = cls(**listeners)
        library.call("nb6_script_restore", sim._script, os.fsencode(path))
        return sim

    def _set(self, variables, options, keep_end=False):
        config = library.library().nb6_script_config(self._script)
        if not keep_end and "TCRIT" not in variables:
            variables = dict(variables, TCRIT=LATEST)
        for name, value in variables.items():
            library.call("nb6_input_set", config, name.encode(), as_text(value).encode())
        for number, value in (options or {}).items():
            library.call("nb6_input_set", config, b"KZ(%d)" % number, as_text(value).encode())

    def _set_bodies(self, stars):
        name = np.ascontiguousarray(stars.name, dtype=np.int64)
        mass, x, v = (np.ascontiguousarray(a, dtype=float) for a in (stars.mass, stars.x, stars.v))
        library.call("nb6_script_set_bodies", self._script, len(mass), *map(library.pointer, (name, mass, x, v)))

    def close(self):
        """Gives the memory back; the simulation cannot be used any more."""
        if getattr(self, "_script", None):
            library.library().nb6_script_free(self._script)
            self._script = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    @property
    def _sim(self):
        if not self._script:
            raise ValueError("the simulation is closed")
        sim = library.library().nb6_script_sim(self._script)
        if not sim:
            raise ValueError("the simulation has no stars: give it some, or from_model, from_input, restore")
        return sim

    # ---- news from the library

    def _hear(self, _context, news, text):
        """Called by the library. Nothing may be raised through it: what is, waits, and the run is asked to stop."""
        try:
            self._take(news, text)
        except BaseException as error:
            if self._pending is None:
                self._pending = error
        return 1 if self._pending is not None or (self._interrupt and self._interrupt.noted) else 0

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

        Raises SimulationError (the state is that before what failed), and what a callback raised or Ctrl-C.
        """
        with _Interrupt() as self._interrupt:
            try:
                library.call("nb6_evolve", self._sim, float(t))
            finally:
                pending, self._pending = self._pending, None
                if pending is not None:
                    raise pending
        return self

    def run(self):
        """Integrate to TCRIT."""
        return self.integrate(library.library().nb6_script_end(self._script))

    def write_snapshot(self, path):
        """A snapshot, as the command writes them."""
        library.call("nb6_script_snapshot", self._script, os.fsencode(path))

    def write_checkpoint(self, path):
        """All that is needed to go on bit for bit: Simulation.restore, or nbody6 --resume."""
        library.call("nb6_checkpoint", self._sim, os.fsencode(path))

    # ---- what it says

    @property
    def t(self):
        return library.library().nb6_time_now(self._sim)

    @property
    def n(self):
        return library.library().nb6_count(self._sim)

    @property
    def id(self):
        """Of the run: 16 hexadecimal digits, "" if it has none."""
        return library.library().nb6_script_id(self._script).decode()

    @property
    def engine(self):
        return library.library().nb6_engine_name(self._sim).decode()

    @property
    def units(self):
        values = (ctypes.c_double * 4)()
        library.library().nb6_script_units(self._script, values)
        return Units(**dict(zip(UNIT_NAMES, values)))

    @property
    def stars(self):
        """All stars now, pairs resolved."""
        sim, n = self._sim, self.n
        name, mass, x, v = np.empty(n, dtype=np.int64), np.empty(n), np.empty((n, 3)), np.empty((n, 3))
        library.call("nb6_get_bodies", sim, n, *map(library.pointer, (name, mass, x, v)))
        return Stars(mass, x, v, name, self.t, self.units)

    @property
    def energy(self):
        """Energies and integrals now (O(N^2)): {name: value}."""
        values = (ctypes.c_double * library.ENERGY_VALUES)()
        library.call("nb6_get_energy", self._sim, values)
        return dict(zip(ENERGY_NAMES, values))

    @property
    def pairs(self):
        """Regularized pairs now: a list of dicts with names, a, e, period, binding, gamma, mass_1, mass_2, t_formed."""
        count, capacity = ctypes.c_int64(), 0
        while True:
            names = np.empty((capacity, 2), dtype=np.int64)
            values = np.empty((capacity, library.PAIR_VALUES))
            library.call("nb6_script_pairs", self._script if self._sim else None, capacity, ctypes.byref(count),
                         library.pointer(names), library.pointer(values))
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
