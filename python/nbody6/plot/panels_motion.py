"""The cluster as a whole: relaxation times that have passed, drift of its centre and angular momentum, and its orbit in
the galaxy."""

import numpy as np

from ..structure import relaxation_time
from .axes import few_ticks, legend, log_scale, time_axis
from .colours import BLUE, GREY, INK, ORANGE, RED
from .style import Panel, figure, number

FEWEST = 50  # stars of which a relaxation time is told
LOOKS = {"centre of mass": (BLUE, "-"), "density centre": (ORANGE, "--")}


def relaxations(report):
    """Half-mass relaxation time at each row of the log, in N-body units, and the relaxation times that have passed
    since the start, as arrays; None, None: not known."""
    log = report.log
    if log is None or any(name not in log for name in ("n", "mass", "r_half")):
        return None, None
    if not (log["n"] >= FEWEST).all() or not (log["r_half"] > 0).all() or not (log["mass"] > 0).all():
        return None, None
    time = relaxation_time(log["n"], log["mass"], log["r_half"])
    rate = 1 / time
    return time, np.concatenate([[0.0], np.cumsum(np.diff(log["t"]) * 0.5 * (rate[1:] + rate[:-1]))])


def relaxation(report):
    time, passed = relaxations(report)
    if time is None or len(time) < 2:
        return None
    t, _ = report.times(report.log["t"])
    now, unit = report.times(time[-1])
    drawn, axes = figure()
    axes.plot(t, passed, color=BLUE)
    axes.set_ylim(bottom=0)
    time_axis(axes, report)
    axes.set_ylabel("relaxation times passed")
    return Panel("relaxation", "Relaxation times", drawn,
                 "Half-mass relaxation times (Spitzer 1987, with ln 0.11 N) that have passed: %s. One takes %s %s now. "
                 "Normal: nearly a straight line; a cluster of equal masses collapses after some 15, one with a wide "
                 "range of masses much sooner." % (number(passed[-1], 3), number(float(now), 3),
                                                         unit[unit.index("[") + 1:-1]))


def _columns(log, names):
    return np.stack([log[name] for name in names], axis=1) if all(name in log for name in names) else None


def drift(report):
    log = report.log
    if log is None or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    factor = report.scale.factor("length")
    centres = {"centre of mass": _columns(log, ("cm_x", "cm_y", "cm_z")),
               "density centre": _columns(log, ("r_density_x", "r_density_y", "r_density_z"))}
    momentum = _columns(log, ("lx", "ly", "lz"))
    if centres["centre of mass"] is None or momentum is None or "r_half" not in log or not log["r_half"][0] > 0:
        return None
    drawn, (above, below) = figure(height=4.2, rows=2, sharex=True)
    largest = {}
    for name, x in centres.items():
        if x is None:
            continue
        moved = np.sqrt(((x - x[0])**2).sum(axis=1)) * factor
        largest[name] = moved.max()
        above.plot(t[1:], np.where(moved[1:] > 0, moved[1:], np.nan), color=LOOKS[name][0], ls=LOOKS[name][1],
                   label=name)
    mass = log["mass"][0]
    change = np.sqrt(((momentum - momentum[0])**2).sum(axis=1)) / (mass * np.sqrt(mass * log["r_half"][0]))
    below.plot(t[1:], np.where(change[1:] > 0, change[1:], np.nan), color=INK)
    for axes in (above, below):
        if any(np.isfinite(line.get_ydata()).any() for line in axes.lines):
            log_scale(axes, 1)
    legend(above)
    above.set_ylabel("moved [%s]" % report.scale.label("length"))
    below.set_ylabel("|L − L₀| / M √(G M rₕ)")
    time_axis(above, report, label=False)
    time_axis(below, report)
    return Panel("drift", "Drift of the centre and of L", drawn,
                 "Above: way of the centre of mass and of the density centre since the start, at most %s and %s %s. "
                 "Below: change of the angular momentum, at most %s. Normal: without a galaxy and escapers the centre "
                 "of mass and L move by the errors of the integration alone; the density centre wanders by a part of "
                 "the core radius."
                 % (number(largest["centre of mass"], 2), number(largest.get("density centre"), 2),
                    report.scale.label("length"), number(change.max(), 2)))


def orbit(report):
    """The orbit in the galaxy."""
    path = report.galactic_orbit
    if path is None or len(path[0]) < 2:
        return None
    _, x, v = path
    flat = np.abs(x[:, 2]).max() < 1e-6 * np.abs(x).max() and np.abs(v[:, 2]).max() < 1e-6 * np.abs(v).max()
    drawn, pair = figure(height=4.3 if flat else 3.1, columns=1 if flat else 2)
    plane = np.sqrt(x[:, 0]**2 + x[:, 1]**2)
    width = 1.08 * plane.max()
    for axes, i, j, labels in zip(np.ravel(pair), (x[:, 0], plane), (x[:, 1], x[:, 2]),
                                  (("x [kpc]", "y [kpc]"), ("distance in the plane [kpc]", "z [kpc]"))):
        axes.plot(i, j, color=BLUE, lw=1.1)
        axes.plot(i[0], j[0], "o", mfc="none", color=RED, ms=6, label="start")
        axes.plot(i[-1], j[-1], "o", color=RED, ms=6, label="now")
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
    first = np.ravel(pair)[0]
    first.plot(0, 0, "+", color=GREY, ms=9, label="centre")
    first.set_xlim(-width, width)
    first.set_ylim(-width, width)
    for axes in np.ravel(pair):
        few_ticks(axes, 5 if flat else 4, 5)
        axes.set_aspect("equal", adjustable="box" if axes is first else "datalim")
    legend(first)
    r = np.sqrt((x**2).sum(axis=1))
    return Panel("galactic-orbit", "The orbit in the galaxy", drawn,
                 "The way of the cluster, from the field that the input describes: between %s and %s kpc from the "
                 "centre, now at %s kpc. Normal: a rosette, or a ring if it began with the circular velocity; the "
                 "tidal radius is that of the innermost point."
                 % (number(r.min(), 3), number(r.max(), 3), number(r[-1], 3)), has_units=False)
