"""The cluster at the time of the last snapshot, from three sides, and tracks of few bodies."""

import itertools

import numpy as np
from matplotlib.collections import LineCollection

from .. import structure
from ..tables import has_galaxy
from .axes import few_ticks, legend, log_scale, time_axis
from .colours import BLUE, DASHES, GREY, MASS_MAP, ORANGE, RED, SERIES
from .style import STARS_AS_VECTORS, Panel, count, figure, number

SIDES = ((0, 1, "face-on"), (0, 2, "from the side"), (1, 2, "from the front"))
ROUND = np.array([np.cos(np.linspace(0, 2 * np.pi, 97)), np.sin(np.linspace(0, 2 * np.pi, 97))])


def circles(report):
    """{label: (radius, colour, style)} in N-body units at the time of the snapshot."""
    row = report.log.nearest(report.snapshot.t) if report.log is not None else None
    if row is None or report.few:
        return {}
    columns = (("core", "r_core", RED, "-"), ("half-mass", "r_half", ORANGE, "-."), ("tidal", "r_tide", GREY, "--"))
    return {label: (float(report.log[column][row]), colour, style) for label, column, colour, style in columns
            if column in report.log and report.log[column][row] > 0
            and (column != "r_tide" or has_galaxy(report.log))}


def mass_classes(mass):
    """Class of each star, from 0 for light ones to len(MASS_MAP) - 1 in equal steps of log mass, and the limits of the
    classes; None, None: all masses are the same, to half of them."""
    positive = mass[mass > 0]
    if not len(positive) or positive.max() <= 1.5 * positive.min():
        return None, None
    limits = np.geomspace(positive.min(), positive.max(), len(MASS_MAP) + 1)
    return np.clip(np.searchsorted(limits, mass, "right") - 1, 0, len(MASS_MAP) - 1), limits


def star_sizes(n, kind=None):
    """Areas of dots: smaller where there are many, larger for heavier classes."""
    size = float(np.clip(4000 / max(n, 1), 0.5, 9))
    return size if kind is None else size * (0.55 + (kind / (len(MASS_MAP) - 1))**2 * 7)


def dots(axes, mass, x, y, scale=None):
    """Stars as dots, heavy ones larger, darker and above light ones.   scale: report.Scale of masses in the legend"""
    n, image = len(mass), len(mass) > STARS_AS_VECTORS
    kind, limits = mass_classes(mass)
    if kind is None:
        axes.scatter(x, y, star_sizes(n), color=BLUE, linewidths=0, rasterized=image)
        return
    for k in range(len(MASS_MAP)):
        axes.scatter(x[kind == k], y[kind == k], star_sizes(n, k), color=MASS_MAP[k], linewidths=0, rasterized=image)
    if scale is not None:
        form = "%.2g " + scale.label("mass") if scale.unit == "physical" else "m = %.2g"
        for k in range(0, len(MASS_MAP), 2):
            middle = np.sqrt(limits[k] * limits[k + 1]) * scale.factor("mass")
            axes.scatter([], [], max(6, star_sizes(n, k)), color=MASS_MAP[k], linewidths=0, label=form % middle)


def view(report, i, j, side):
    """A projection on axes i and j."""
    stars = report.snapshot
    if stars is None or report.few:
        return None
    factor, rings = report.scale.factor("length"), circles(report)
    d, r = (stars.x - stars.centre) * factor, stars.r * factor
    width = min(1.1 * r.max(), 2.2 * np.quantile(r, 0.85)) or 1.0
    drawn, axes = figure(height=4.5)
    dots(axes, stars.mass, d[:, i], d[:, j], report.scale)
    for label, (radius, colour, style) in rings.items():
        if radius * factor < 1.4 * width:
            axes.plot(*(radius * factor * ROUND), color=colour, ls=style, lw=1.6, zorder=5, label="%s radius" % label)
    axes.set_xlim(-width, width)
    axes.set_ylim(-width, width)
    axes.set_aspect("equal")
    few_ticks(axes, 5, 5)
    axes.set_xlabel("%s [%s]" % ("xyz"[i], report.scale.label("length")))
    axes.set_ylabel("%s [%s]" % ("xyz"[j], report.scale.label("length")))
    legend(axes)
    outside = int(((np.abs(d[:, i]) > width) | (np.abs(d[:, j]) > width)).sum())
    text = "The stars at t = %g, %s (%s-%s), about the density centre." % (stars.t, side, "xyz"[i], "xyz"[j])
    text += " Heavy stars are larger and stand out." if mass_classes(stars.mass)[0] is not None else ""
    text += " %s outside the frame." % count(outside, "is", "are") if outside else ""
    text += " Normal: round, densest in the middle." if not rings.get("tidal") else \
        " Normal: round and densest in the middle; with a galaxy tails along x and y grow outside the tidal radius."
    return Panel("view-" + "xyz"[i] + "xyz"[j], "The cluster %s" % side, drawn, text)


# ---- few bodies

def paths(report):
    """Tracks from three sides, and distances."""
    stars = report.snapshot
    if stars is None or not report.few or not report.earlier:
        return []
    path, t, names = report.tracks
    panels, factor = [], report.scale.factor("length")
    centre = structure.mean(stars.x, stars.mass)
    d = (path - centre) * factor
    flat = [k for k in range(3) if np.abs(d[:, :, k]).max() < 1e-9 * np.abs(d).max()]
    order = [names.index(name) for name in stars.name.tolist() if name in names]
    for i, j, side in SIDES[:1] if 2 in flat else SIDES:
        drawn, axes = figure(height=4.3)
        axes.add_collection(LineCollection(d[:, :, (i, j)], lw=0.9, alpha=0.85,
                                           colors=[SERIES[k % len(SERIES)] for k in range(len(d))]))
        axes.scatter(d[order, -1, i], d[order, -1, j], 10 + 70 * (stars.mass / stars.mass.max())**(2 / 3), zorder=4,
                     c=[SERIES[k % len(SERIES)] for k in order])
        for k in order:
            axes.annotate("%d" % names[k], d[k, -1, (i, j)], xytext=(6, 6), textcoords="offset points", fontsize=8)
        axes.autoscale()
        axes.margins(0.06)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("%s [%s]" % ("xyz"[i], report.scale.label("length")))
        axes.set_ylabel("%s [%s]" % ("xyz"[j], report.scale.label("length")))
        panels.append(Panel("tracks-%d%d" % (i, j), "Tracks %s" % side, drawn,
                            "Paths of the %d bodies from t = %g to %g, the dots at the end. Between snapshots they are "
                            "polynomials, or integrated where bodies come close. Normal: smooth curves."
                            % (len(path), t[0], t[-1])))
    if len(path) <= 4:
        panels.append(distances(report, d, t, names))
    return panels


def distances(report, d, t, names):
    drawn, axes = figure()
    nearest = (np.inf, None, None)
    times, _ = report.times(t)
    for k, (i, j) in enumerate(itertools.combinations(range(len(d)), 2)):
        distance = np.sqrt(((d[i] - d[j])**2).sum(axis=1))
        axes.plot(times, distance, color=SERIES[k % len(SERIES)], lw=1.1, ls=DASHES[k % len(DASHES)],
                  label="%s – %s" % (names[i], names[j]))
        at = int(np.argmin(distance))
        nearest = min(nearest, (distance[at], t[at], (names[i], names[j])), key=lambda x: x[0])
    log_scale(axes, 1)
    legend(axes)
    time_axis(axes, report)
    axes.set_ylabel("distance [%s]" % report.scale.label("length"))
    return Panel("distances", "Distances", drawn,
                 "Distances between the bodies along the tracks. Closest: %s of %s and %s at t = %.6g. Normal: the "
                 "distance in a bound pair goes up and down between two values."
                 % (number(nearest[0], 3), nearest[2][0], nearest[2][1], nearest[1]))

