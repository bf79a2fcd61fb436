"""The files of one run, also while it goes on."""

import glob
import os
import re

import h5py
import numpy as np

from . import events as event_tools
from . import shown
from .errors import ReadError
from .names import Names
from .snapshot import read_snapshot
from .tables import energy_columns, lagrangian_columns, read_table, stage_seconds

ENDINGS = r"\.(log\.csv|events\.jsonl|esc\.csv|snap\.\d+\.h5|init\.h5|ckpt(\.prev)?\.h5|lock|inp)$"
UNITS_OF_RUN = ("version", "rbar_pc", "zmbar_msun", "length_pc", "mass_msun", "velocity_kms", "time_myr", "tide")
# Channels of the books of energy (docs/output.md): column of the log, what it is, 1 for physics and 0 for an error.
CHANNELS = (("e_escaped", "taken by escapers", 1), ("e_merged", "taken by mergers", 1),
            ("e_galaxy", "work of a galaxy or of gas", 1),
            ("e_stars", "masses that changed, and kicks", 1),
            ("e_pairs", "error of pairs that form and end", 0), ("e_chains", "error of chains that form and end", 0),
            ("e_hierarchies", "error of hierarchies that form and end", 0),
            ("e_integration", "error of the integration", 0))


class Run:
    """Run("out/plummer-1k"): NAME, with or without a folder, or any of the run's files.

    log: a Table (log["t"], log.units["r_half"]); events: dicts; escapers: a Table or None; snapshots: paths, in order
    of time; snapshot(k): one of them; pairs(k): its regularized pairs; energy(): the books by channel; parameters.
    Missing parts are None or empty, as long as there is a log or a snapshot.   Raises ReadError.
    """

    def __init__(self, name):
        self.name = re.sub(ENDINGS, "", os.fspath(name))
        self.title = os.path.basename(self.name)
        self.refresh()
        if self.log is None and not self.snapshots:
            raise ReadError(self._nothing_found())

    def refresh(self):
        """Reads again what the run has written in the meantime."""
        self.snapshots = sorted(glob.glob(glob.escape(self.name) + ".snap.*.h5"))
        if not self.snapshots and os.path.exists(self.name + ".init.h5"):
            self.snapshots = [self.name + ".init.h5"]
        self.log_path = self.name + ".log.csv"
        self.log = read_table(self.log_path) if os.path.exists(self.log_path) else None
        self._events = self._escapers = None

    # ---- in a notebook

    def _state(self):
        """Names and values, from what is in memory."""
        log, rows = self.log, len(self.log) if self.log is not None else 0
        error = self.energy_error
        return [("stars", int(log["n"][-1]) if rows and "n" in log else None),
                ("time", "t = %g to %g" % (log["t"][0], log["t"][-1]) if rows else None),
                ("energy error", "%.2e" % error[-1] if rows and error is not None else None),
                ("rows of the log", rows), ("snapshots", len(self.snapshots))]

    def __repr__(self):
        forms = {"stars": "%s stars", "time": "%s", "rows of the log": "%s rows of the log",
                 "snapshots": "%s snapshots"}
        return "<Run %s: %s>" % (shown.cut(self.name), ", ".join(
            forms.get(name, name + " %s") % value for name, value in self._state() if value is not None))

    def _repr_html_(self):
        return shown.facts_html("Run " + self.name, self._state())

    def plot(self, *names, unit=None):
        """Pictures of the run as a figure of matplotlib: radii, energy error, stars and virial ratio, or those named:
        see docs/notebook.md for all names.   unit: "physical" or "nbody"; None: physical where the run states units.
        Raises KeyError (with the nearest name), ValueError, ReadError."""
        from .plot import picture
        return picture.of_run(self, names, unit)

    def _nothing_found(self):
        folder = os.path.dirname(self.name) or "."
        if not os.path.isdir(folder):
            return "%s: there is no folder %s" % (self.name, folder)
        others = sorted(f[:-len(".log.csv")] for f in os.listdir(folder) if f.endswith(".log.csv"))
        hint = "The runs there are: " + ", ".join(others[:8]) if others else "No run has written its files there"
        return "found neither %s.log.csv nor %s.snap.*.h5. %s." % (self.name, self.name, hint)

    @property
    def events(self):
        """All events, [] if there is no file."""
        if self._events is None:
            self._events = event_tools.read_events_if_any(self.name + ".events.jsonl")
        return self._events

    @property
    def escapers(self):
        """Table of escapers (KZ(23)), or None."""
        if self._escapers is None and os.path.exists(self.name + ".esc.csv"):
            self._escapers = read_table(self.name + ".esc.csv")
        return self._escapers

    @property
    def encounters(self):
        """events.encounters of this run."""
        return event_tools.encounters(self.events)

    @property
    def is_going(self):
        """Whether a process writes these files now: one holds the lock, or, where the system does not list locks, there
        is a lock file. (Trying the lock could stop a run from starting at that moment.)"""
        path = self.name + ".lock"
        try:
            inode = os.stat(path).st_ino
            with open("/proc/locks") as file:
                locks = [line.split() for line in file]
        except FileNotFoundError:
            return os.path.exists(path)
        except OSError:
            return True
        return any("FLOCK" in words and any(w.endswith(":%d" % inode) for w in words) for words in locks) or not locks

    # ---- snapshots

    def snapshot(self, which=-1):
        """Snapshot number `which`, from 0, or from the end if negative; a float: the one nearest to that time. Its
        centre is the density centre of the log, if there is a row of its time.   Raises IndexError, ReadError."""
        if isinstance(which, float):
            times = self.snapshot_times()
            which = int(np.argmin(np.abs(times - which)))
        snapshot = read_snapshot(self.snapshots[which])
        self._set_centre(snapshot)
        return snapshot

    def _set_centre(self, snapshot):
        row = self.log.nearest(snapshot.t) if self.log is not None else None
        names = ("r_density_x", "r_density_y", "r_density_z")
        if row is None or not all(name in self.log for name in names) or snapshot.n < 20:
            return
        centre = np.array([self.log[name][row] for name in names])
        if np.isfinite(centre).all() and abs(self.log["t"][row] - snapshot.t) < 1e-9:
            snapshot.centre = centre

    def snapshot_times(self):
        """Times of all snapshots [n]; NaN for one that cannot be read."""
        times = []
        for path in self.snapshots:
            try:
                with h5py.File(path, "r") as file:
                    times.append(float(np.ravel(file["Header"].attrs["Time"])[0]))
            except (OSError, KeyError, AttributeError, IndexError, TypeError, ValueError):
                times.append(np.nan)
        return np.array(times)

    def last_snapshot(self):
        """The newest readable snapshot (the last one may be incomplete), or None; and the errors of those skipped."""
        skipped = []
        for k in range(len(self.snapshots) - 1, -1, -1):
            try:
                return self.snapshot(k), skipped
            except ReadError as error:
                skipped.append(str(error))
        return None, skipped

    def pairs(self, which=-1):
        """Regularized pairs of a snapshot: snapshot.Pairs."""
        return self.snapshot(which).pairs

    # ---- what was computed, and how well

    def energy(self):
        """The books: {column: energy that it has added to the total so far, [rows]}; escapers and mergers count the
        energy that they took. total = the first total less escaped and merged, plus the work of a field, masses that
        changed, and errors."""
        known = self.log.columns if self.log is not None else {}
        return Names({column: known[column] for column, _, _ in CHANNELS if column in known}, "channel of the energy")

    @property
    def energy_error(self):
        """Accumulated energy error at each row of the log, relative to the energy of the cluster; None: not there."""
        column = energy_columns(self.log)[0] if self.log is not None else None
        return self.log[column] if column and column in self.log else None

    def lagrangian_radii(self):
        """{mass fraction: radii [rows]} from the log."""
        return {} if self.log is None else lagrangian_columns(self.log)

    def stage_seconds(self):
        return stage_seconds(self.log)

    @property
    def parameters(self):
        """Input values of the run, as far as its files have them: {name: value}. The names of the checkpoint
        (nbody6/input/config.h), if there is one, as "integration.eta_irr"; `run`, `engine`, `version`, `changed`."""
        known = {}
        path = self.name + ".ckpt.h5"
        if os.path.exists(path):
            try:
                with h5py.File(path, "r") as file:
                    for group in (g for g in file if g == "config" or g.startswith("config_")):
                        prefix = group[len("config_"):] + "." if group != "config" else ""
                        for key, value in file[group].attrs.items():
                            known[prefix + key] = value.decode() if isinstance(value, bytes) else value.tolist()
            except (OSError, AttributeError, KeyError, RuntimeError, ValueError):
                pass  # one is being put in place, or is of another program: the other files say enough
        if self.snapshots:
            try:
                with h5py.File(self.snapshots[0], "r") as file:
                    attributes = file["nbody6"].attrs if "nbody6" in file else {}
                    known.update({k: v.decode() if isinstance(v, bytes) else np.ravel(v)[0].item()
                                  for k, v in attributes.items() if k in UNITS_OF_RUN and np.size(v) == 1})
            except (OSError, AttributeError, KeyError, RuntimeError, ValueError):
                pass
        if self.log is not None:
            known.update({key: self.log.comment(key) for key in ("run", "engine") if self.log.comment(key)})
            known["changed"] = [line[len("# changed: "):]
                                         for line in self.log.comments if line.startswith("# changed: ")]
        return Names(known, "parameter")

    @property
    def time_myr(self):
        """Myr in an N-body unit of time, or None."""
        if self.log is not None and "t_myr" in self.log:
            known = self.log["t"] > 0
            if known.any():
                return float(self.log["t_myr"][known][0] / self.log["t"][known][0])
        value = self.parameters.get("time_myr")
        return float(value) if value else None
