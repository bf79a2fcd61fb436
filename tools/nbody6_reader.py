"""Reads what a run of nbody6 writes: NAME.log.csv and NAME.snap.*.h5, also while the run is still going.

    import nbody6_reader as nb6
    run = nb6.Run("plummer-1k")
    run.log["t"], run.log["de_rel"]          numpy arrays, one value for each adjust time
    run.log.units["r_half"]                  what the values are measured in
    snapshot = nb6.read_snapshot(run.snapshots[-1])
    snapshot.x                               [n][3], N-body units; snapshot.v, snapshot.mass, ...
"""

import glob
import os
import re

import h5py
import numpy as np


class ReadError(Exception):
    """Something is missing or not readable; the text says what, where and what to do."""


class Log:
    """A NAME.log.csv: log["t"] is a column, log.units["t"] its unit."""

    def __init__(self, columns, units):
        self.columns, self.units = columns, units

    def __getitem__(self, name):
        return self.columns[name]

    def __contains__(self, name):
        return name in self.columns

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def with_prefix(self, prefix, suffix=""):
        """Columns prefix...suffix as {what is between: array}, in the order of the file."""
        return {name[len(prefix):len(name) - len(suffix)]: values for name, values in self.columns.items()
                if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)}


def energy_columns(log):
    """Names of the accumulated energy error and of that of each interval: relative to the energy of the cluster, or, in a
    log that does not have it, to the total energy."""
    return ("de_cluster", "de_cluster_interval") if "de_cluster" in log else ("de_rel", "de_rel_interval")


def _to_number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def read_log(path):
    """Reads a log. A last line that is still being written is left out."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        raise ReadError("%s: there is no such file" % path) from None
    except OSError as error:
        raise ReadError("%s: %s" % (path, error.strerror)) from None
    complete = lines[:-1]  # what follows the last newline is not complete
    names, units, rows = None, [], []
    for line in complete:
        line = line.strip()
        if line.startswith("# units:"):
            units = [unit.strip() for unit in line[len("# units:"):].split(",")]
        elif not line or line.startswith("#"):
            continue
        elif names is None:
            names = [name.strip() for name in line.split(",")]
        else:
            values = line.split(",")
            if len(values) == len(names):
                rows.append([_to_number(value) for value in values])
    if names is None:
        raise ReadError("%s: the file has no header line yet" % path)
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return Log({name: table[:, i] for i, name in enumerate(names)}, dict(zip(names, units)))


class Snapshot:
    """All stars at one time. Arrays that the file does not have are None."""

    def __init__(self, path, file):
        self.path = path
        header = file["Header"].attrs
        self.t = float(np.ravel(header["Time"])[0])
        stars = file["PartType4"]

        def array(name):
            return stars[name][...] if name in stars else None

        self.name = array("ParticleIDs")
        self.mass = array("Masses")
        self.x = array("Coordinates")
        self.v = array("Velocities")
        self.acc = array("Acceleration")
        self.pot = array("Potential")
        self.dt_irr = array("TimeStepIrregular")
        self.dt_reg = array("TimeStepRegular")
        self.nnb = array("NeighbourNumber")
        self.r_nb = array("NeighbourRadius")
        own = file["nbody6"].attrs if "nbody6" in file else {}
        # length_pc, mass_msun, velocity_kms, time_myr: multiply an N-body value by these
        names = ("length_pc", "mass_msun", "velocity_kms", "time_myr")
        self.units = {name: float(own[name]) for name in names if name in own}
        if self.x is None or self.mass is None:
            raise ReadError("%s: PartType4 has no Coordinates or no Masses" % path)

    @property
    def n(self):
        return len(self.mass)


def read_snapshot(path):
    """Reads a snapshot in GADGET-HDF5 layout whose stars are PartType4."""
    try:
        with h5py.File(path, "r") as file:
            return Snapshot(path, file)
    except FileNotFoundError:
        raise ReadError("%s: there is no such file" % path) from None
    except (OSError, KeyError) as error:
        raise ReadError("%s: not a complete snapshot (%s)" % (path, error)) from None


class Run:
    """The files of one run. NAME may be the run's name, with or without a folder, or any of its files."""

    def __init__(self, name):
        endings = r"\.(log\.csv|events\.jsonl|esc\.csv|snap\.\d+\.h5|init\.h5|ckpt(\.prev)?\.h5|lock|inp)$"
        self.name = re.sub(endings, "", name)
        self.snapshots = sorted(glob.glob(glob.escape(self.name) + ".snap.*.h5"))
        if not self.snapshots and os.path.exists(self.name + ".init.h5"):
            self.snapshots = [self.name + ".init.h5"]
        self.log_path = self.name + ".log.csv"
        self.log = read_log(self.log_path) if os.path.exists(self.log_path) else None
        if self.log is None and not self.snapshots:
            raise ReadError(self._nothing_found())

    def _nothing_found(self):
        folder = os.path.dirname(self.name) or "."
        if not os.path.isdir(folder):
            return "%s: there is no folder %s" % (self.name, folder)
        others = sorted(f[:-len(".log.csv")] for f in os.listdir(folder) if f.endswith(".log.csv"))
        hint = "The runs there are: " + ", ".join(others[:8]) if others else "No run has written its files there"
        return "found neither %s.log.csv nor %s.snap.*.h5. %s." % (self.name, self.name, hint)

    def last_snapshot(self):
        """The newest snapshot that can be read (one may be being written), or None, and what was skipped."""
        skipped = []
        for path in reversed(self.snapshots):
            try:
                return read_snapshot(path), skipped
            except ReadError as error:
                skipped.append(str(error))
        return None, skipped
