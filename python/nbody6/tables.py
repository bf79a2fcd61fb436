"""Tables that a run writes row by row: NAME.log.csv and NAME.esc.csv, also while it goes on."""

import numpy as np

from . import shown
from .errors import ReadError
from .names import Names, not_found

FIRST = ("t", "t_myr", "n", "mass", "e_total", "de_cluster", "de_rel", "virial_ratio", "r_core", "r_half", "n_pair",
         "wall_s")  # columns that a notebook shows


class Table:
    """Columns by name: table["t"] is an array, table.units["t"] its unit; `comments` are lines that begin with #. A
    name that no column has is a KeyError with the nearest one."""

    def __init__(self, columns, units, comments=()):
        self.columns, self.units, self.comments = columns, Names(units, "column"), list(comments)

    def __getitem__(self, name):
        try:
            return self.columns[name]
        except KeyError:
            raise not_found(name, self.columns, "column") from None

    def __contains__(self, name):
        return name in self.columns

    def __len__(self):
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self):
        names = list(self.columns)
        return "<Table: %d rows, %d columns: %s%s>" % (len(self), len(names), ", ".join(map(shown.cut, names[:8])),
                                                       ", ..." if len(names) > 8 else "")

    def _repr_html_(self):
        names = [name for name in FIRST if name in self.columns] or list(self.columns)
        names = names[:shown.MOST_COLUMNS]
        more = len(self.columns) - len(names)
        note = "%d rows" % len(self) + (", and %d more columns: table.columns has all names" % more if more else "")
        return shown.rows_html(names, self.units, self.columns, len(self), note)

    def with_prefix(self, prefix, suffix=""):
        """Columns prefix...suffix as {what is between: array}, in the order of the file."""
        return {name[len(prefix):len(name) - len(suffix)]: values for name, values in self.columns.items()
                if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)}

    def comment(self, key):
        """The text after `# key: ` in the first such line, or None."""
        start = "# %s: " % key
        return next((line[len(start):] for line in self.comments if line.startswith(start)), None)

    def nearest(self, t):
        """Row whose time is nearest to t; None: the table is empty."""
        return int(np.argmin(np.abs(self["t"] - t))) if len(self) else None


def to_number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def read_lines(path):
    """Complete lines; the text after the last newline is incomplete."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        raise ReadError("%s: there is no such file" % path) from None
    except OSError as error:
        raise ReadError("%s: %s" % (path, error.strerror)) from None


def read_table(path):
    """Reads a log or a table of escapers.   Raises ReadError."""
    names, units, rows, comments = None, [], [], []
    for line in read_lines(path):
        line = line.strip()
        if line.startswith("# units:"):
            units = [unit.strip() for unit in line[len("# units:"):].split(",")]
        elif line.startswith("#"):
            comments.append(line)
        elif line and names is None:
            names = [name.strip() for name in line.split(",")]
        elif line:
            values = line.split(",")
            if len(values) == len(names):
                rows.append([to_number(value) for value in values])
    if names is None:
        raise ReadError("%s: the file has no header line yet" % path)
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return Table({name: table[:, i] for i, name in enumerate(names)}, dict(zip(names, units)), comments)


def energy_columns(log):
    """Names of the accumulated energy error and of that of each interval: relative to the energy of the cluster, or, in
    a log that does not have it, to the total energy."""
    return ("de_cluster", "de_cluster_interval") if "de_cluster" in log else ("de_rel", "de_rel_interval")


def lagrangian_columns(log):
    """{mass fraction: radii}, from columns such as r_lagr_0.5."""
    return {float(fraction): radii for fraction, radii in log.with_prefix("r_lagr_").items()}


def stage_seconds(log):
    """{stage: wall-clock seconds so far} from columns such as stage_regular_s."""
    if log is None or len(log) == 0:
        return {}
    return {stage: float(np.nan_to_num(seconds[-1])) for stage, seconds in log.with_prefix("stage_", "_s").items()}


def has_galaxy(log):
    """Whether the run has a galaxy. Without one, the tidal radius only defines which stars count as lost."""
    return "e_tide" not in log or bool(np.any(log["e_tide"] != 0))
