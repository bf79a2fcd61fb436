"""Several runs in the same figures: each quantity, and below it how far each run is from the first one."""

import html

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..tables import energy_columns
from . import page
from .axes import legend, log_scale, power_label
from .colours import DASHES, SERIES
from .style import Panel, count, figure, number, plain, styled
from .tables import table

RELATIVE, ABSOLUTE = "relative", "absolute"
# column of the log or "error", title, axis, unit or dimension, logarithmic, kind of difference, and a normal run
QUANTITIES = (
    ("r_half", "Half-mass radius", "radius", "length", True, RELATIVE,
     "Normal for runs that differ only in their random numbers: apart by some percent."),
    ("r_lagr_0.1", "Radius of a tenth of the mass", "radius", "length", True, RELATIVE,
     "Normal: the inner radius scatters more than that of half the mass."),
    ("r_core", "Core radius", "radius", "length", True, RELATIVE,
     "Normal: it waves by tens of percent in each run; compare means."),
    ("rho_core", "Density of the core", "density", "mass/length^3", True, RELATIVE,
     "Normal: factors of a few from row to row."),
    ("n", "Stars", "stars", None, False, ABSOLUTE,
     "Normal: the same within the square root of the number of escapers."),
    ("virial_ratio", "Virial ratio", "Q = T / |U|", None, False, ABSOLUTE,
     "Normal: near 0.5 in all after some crossing times."),
    ("e_bind", "Energy in regularized systems", "energy", "mass velocity^2", False, ABSOLUTE,
     "Normal: steps of single encounters, at other times in each run."),
    ("error", "Energy error", "|ΔE / E|", None, True, ABSOLUTE,
     "Normal: a factor of ten between runs of the same settings."),
    ("wall_s", "Wall-clock time", "time", "s", False, RELATIVE, "Normal: nearly straight lines."))


class Line:
    """A quantity of one run: t (N-body units), values; None: the run has no such column."""

    def __init__(self, report, column, factor):
        column = energy_columns(report.log)[0] if column == "error" and report.log is not None else column
        known = report.log is not None and column in report.log
        self.t = report.log["t"] if known else np.zeros(0)
        self.values = report.log[column] * factor if known else np.zeros(0)

    def difference(self, first, kind):
        """From the first run at the times of this one, as far as both go: t, difference (in percent: relative)."""
        if not len(first.t) or not len(self.t):
            return np.zeros(0), np.zeros(0)
        both = (self.t >= first.t[0]) & (self.t <= first.t[-1])
        t, values = self.t[both], self.values[both]
        other = np.interp(t, first.t, first.values)
        if kind == ABSOLUTE:
            return t, values - other
        with np.errstate(divide="ignore", invalid="ignore"):
            return t, np.where(other != 0, 100 * (values / other - 1), np.nan)


def _unit(report, dimension):
    """Factor and label."""
    if dimension in (None, "s"):
        return 1.0, dimension or ""
    return report.scale.factor(dimension), report.scale.label(dimension).replace("^2", "²").replace("^3", "³")


def _look(k):
    """The first run is broad and the others are narrow above it, so that lines which coincide are seen."""
    return dict(color=SERIES[k % len(SERIES)], ls=DASHES[k % len(DASHES)], lw=3.2 if k == 0 else 1.4)


def overlay(reports, number_of, column, title, axis, dimension, log_axis, kind, normal):
    """Lines of all runs above, differences from the first one below."""
    lines = [Line(report, column, _unit(report, dimension)[0]) for report in reports]
    if not any(line.values.any() for line in lines):
        return None
    if column == "error":
        for line in lines:
            line.values = np.abs(line.values)
    drawn, (above, below) = figure(height=4.4, rows=2, sharex=True, gridspec_kw={"height_ratios": (2, 1)})
    largest, label = 0.0, "time"
    for k, (report, line) in enumerate(zip(reports, lines)):
        t, label = report.times(line.t)
        shown = np.where(line.values > 0, line.values, np.nan) if log_axis else line.values
        steps = "steps-post" if column == "n" else "default"
        above.plot(t, shown, label=plain(report.run.title), drawstyle=steps, **_look(k))
        if k and len(line.t):
            apart = line.difference(lines[0], kind)
            below.plot(report.times(apart[0])[0], apart[1], **_look(k))
            good = apart[1][np.isfinite(apart[1])]
            largest = max(largest, np.abs(good).max() if len(good) else 0.0)
    if column == "n":
        above.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10), integer=True))
    if log_axis and np.isfinite(np.concatenate([line.get_ydata() for line in above.lines])).any():
        log_scale(above, 0.5)
    below.axhline(0, color=SERIES[0], lw=3.2 if largest == 0 else 1.2)
    if largest == 0:
        below.set_ylim(-1, 1)
        below.set_yticks([0])
    unit = _unit(reports[0], dimension)[1]
    above.set_ylabel("%s [%s]" % (axis, unit) if unit else axis)
    below.set_xlabel(label)
    power_label(below, "difference", "%" if kind == RELATIVE else unit or "1")
    if not below.get_ylabel().split("[")[-1].strip("1]"):
        below.set_ylabel("difference")
    legend(above)
    apart = "no difference" if largest == 0 else "at most %s%s" % (
        number(largest, 2), "\u00a0%" if kind == RELATIVE else " " + unit if unit else "")
    text = "%s of each run; below, the difference from the first run: %s. %s" % (title, apart, normal)
    return Panel("compare-%d" % number_of, title, drawn, text)


@styled
def make_page(reports, title=None):
    """The page that compares runs, as text."""
    scales = [report.scale for report in reports]
    if not all(scale.choices == scales[0].choices for scale in scales):
        for scale in scales:
            scale.choices, scale.unit = ("nbody",), "nbody"

    def draw():
        for k, quantity in enumerate(QUANTITIES):
            reports[0].tell("drawing", k, len(QUANTITIES))
            yield overlay(reports, k, *quantity)

    figures = page.Drawings(scales, draw).grid()
    reports[0].tell("drawing", len(QUANTITIES), len(QUANTITIES))
    sections = [page.section("overview", "Overview", '<div class="card">%s</div>' % _summary(reports)),
                page.section("compared", "Compared", figures)]
    names = ", ".join(report.run.name for report in reports)
    return page.document(title or " and ".join(r.run.title for r in reports), "%s: %s" % (
        count(len(reports), "run"), names), sections, choices=scales[0].choices)


def _summary(reports):
    heads = ["run", "stars", "now", "t", "ΔE/E", "largest |ΔE/E|", "escapers", "wall time [s]"]
    rows = []
    for report in reports:
        log = report.log
        column = energy_columns(log)[0] if log is not None else None
        known = log is not None and column in log
        rows.append([html.escape(report.run.title), "%d" % log["n"][0] if log is not None else "-", "%d" % report.n_now,
                     "%g" % report.t_now, number(log[column][-1], 3) if known else "-",
                     number(abs(log[column]).max(), 3) if known else "-", "%d" % report.escaped,
                     "%.1f" % log["wall_s"][-1] if log is not None and "wall_s" in log else "-"])
    return table(heads, rows)
