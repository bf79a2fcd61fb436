"""Stars that age: the Hertzsprung-Russell diagram, mass by type, remnants that the cluster kept and lost."""

import numpy as np

from ..errors import ReadError
from .axes import legend, log_axis_x, log_scale, time_axis, whole_numbers
from .colours import GREY
from .star_types import BRIGHT, GROUPS, LOOKS, REMNANTS, columns_of
from .style import STARS_AS_VECTORS, Panel, count, figure, number

SIZES = (5, 10, 12, 12, 12, 7)  # areas of dots, of the groups of the diagram
LARGE = 3  # times these, where stars are few
MANY = 1000


def diagram(report):
    """The Hertzsprung-Russell diagram of the snapshot."""
    stars = report.snapshot
    columns = None if stars is None else columns_of(stars, "StellarType", "StellarLuminosity", "EffectiveTemperature")
    if columns is None:
        return None
    kind, light, heat = columns
    bright = np.isin(kind, np.concatenate([types for _, types in GROUPS[:BRIGHT]])) & (light > 0) & (heat > 0)
    if not bright.any():
        return None
    drawn, axes = figure(height=4.0)
    image, scale = bright.sum() > STARS_AS_VECTORS, LARGE if bright.sum() < MANY else 1
    for (name, types), (colour, mark), size in zip(GROUPS, LOOKS, SIZES):
        which = bright & np.isin(kind, types)
        if which.any():
            axes.scatter(heat[which], light[which], scale * size, color=colour, marker=mark, linewidths=0,
                         rasterized=image, label="%s: %d" % (name, which.sum()))
    log_scale(axes, 2)
    log_axis_x(axes)
    axes.invert_xaxis()
    axes.set_xlabel("effective temperature [K]")
    axes.set_ylabel("luminosity [Lsun]")
    legend(axes)
    dark = [count(int(np.isin(kind, types).sum()), name[:-1]) for name, types in GROUPS[BRIGHT:]]
    text = "The stars at t = %g by temperature and luminosity, with their numbers; not shown: %s." % (
        stars.t, " and ".join(dark))
    hot = heat[bright & np.isin(kind, GROUPS[0][1])]
    if len(hot):
        text += " The hottest star of the main sequence has %s K." % number(hot.max(), 3)
    text += " Normal: a main sequence whose upper end burns down with time, giants at the upper right, white dwarfs " \
        "that cool at the lower left."
    return Panel("hr-diagram", "Hertzsprung-Russell diagram", drawn, text, has_units=False)


def _history(report):
    """Times of the snapshots with types, and what they have: [snapshots][2][groups]; None, None: there are too few."""
    history = report.history
    if not history:
        return None, None
    known = np.isfinite(history["types"][:, 0, 0])
    return (history["t"][known], history["types"][known]) if known.sum() > 1 else (None, None)


def mass_by_type(report):
    """Mass in stars of each group at the times of the snapshots, and what stars have lost."""
    at, found = _history(report)
    if at is None:
        return None
    (t, _), factor = report.times(at), report.scale.factor("mass")
    drawn, axes = figure(height=3.5)
    for k, ((name, _), (colour, mark)) in enumerate(zip(GROUPS, LOOKS)):
        mass = found[:, 0, k] * factor
        if mass.any():
            axes.plot(t, np.where(mass > 0, mass, np.nan), color=colour, marker=mark, ms=3.5,
                      markevery=max(1, len(t) // 12), label=name)
    log = report.log
    lost = -log["mass_stars"] * factor if log is not None and "mass_stars" in log else np.zeros(1)
    if (lost > 0).any():
        axes.plot(report.times(log["t"])[0], np.where(lost > 0, lost, np.nan), color=GREY, ls="--",
                  label="lost by winds and supernovae")
    log_scale(axes, 1)
    time_axis(axes, report)
    axes.set_ylabel("mass [%s]" % report.scale.label("mass"))
    legend(axes)
    total = found[:, 0].sum(axis=1)
    dead = found[-1, 0, REMNANTS].sum() / total[-1] if total[-1] > 0 else 0.0
    return Panel("mass-by-type", "Mass by type", drawn,
                 "Mass of the stars in the cluster by their types, from the snapshots. Remnants are %s of it now. "
                 "Normal: the main sequence loses mass at a falling rate; black holes and neutron stars are born within "
                 "some 40 Myr and may leave by their kicks, white dwarfs from then on." % (
                     "%.3g %%" % (100 * dead) if dead > 0 else "nothing"))


def _lost(report):
    """Times and types of the escapers; None: there is no table that tells them."""
    try:
        table = report.run.escapers
    except ReadError:
        return None  # it has no rows yet
    return None if table is None or "type" not in table else (table["t"], table["type"])


def remnants(report):
    """White dwarfs, neutron stars and black holes that the cluster has kept, and those that escaped."""
    at, found = _history(report)
    if at is None:
        return None
    gone = _lost(report)
    drawn, axes = figure()
    told = []
    for k in REMNANTS:
        (name, types), (colour, mark) = GROUPS[k], LOOKS[k]
        kept, times = found[:, 1, k], np.sort(gone[0][np.isin(gone[1], types)]) if gone is not None else np.zeros(0)
        if not kept.any() and not len(times):
            continue
        axes.plot(report.times(at)[0], kept, color=colour, marker=mark, ms=3.5, markevery=max(1, len(at) // 12),
                  drawstyle="steps-post", label=name + " kept")
        if len(times):
            axes.plot(report.times(np.concatenate([[report.t_start], times, [report.t_now]]))[0],
                      [*range(len(times) + 1), len(times)], color=colour, ls="--", drawstyle="steps-post",
                      label=name + " lost")
        told.append("%s: %d kept%s" % (name, kept[-1], ", %d lost" % len(times) if gone is not None else ""))
    if not told:
        return None
    whole_numbers(axes)
    time_axis(axes, report)
    axes.set_ylabel("number")
    legend(axes)
    text = "Remnants in the snapshots (full), and those that have escaped (dashed). %s." % "; ".join(told)
    if gone is None:
        text += " The input asks for no table of escapers (KZ(23)=2), which would tell those that escaped."
    return Panel("remnants", "Remnants kept and lost", drawn, text + " Normal: most neutron stars leave soon after they "
                 "are born if their kicks are faster than the escape speed; white dwarfs stay as long as other stars.")
