"""The cluster at the time of the last snapshot: from three sides, its profiles and its masses; tracks of few bodies."""

import itertools

import numpy as np
from matplotlib.collections import LineCollection

from .. import structure
from ..tables import has_galaxy
from .style import (BLUE, GREY, ORANGE, RED, SERIES, STARS_AS_VECTORS, Panel, figure, few_ticks, log_axis_x,
                    log_scale, number, plt)
from .tracks import tracks

SIDES = ((0, 1, "face-on"), (0, 2, "from the side"), (1, 2, "from the front"))


def circles(report):
    """{label: (radius, colour, style)} in N-body units at the time of the snapshot."""
    row = report.log.nearest(report.snapshot.t) if report.log is not None else None
    if row is None or report.few:
        return {}
    columns = (("core", "r_core", RED, "-"), ("half-mass", "r_half", ORANGE, "-"), ("tidal", "r_tide", GREY, "--"))
    return {label: (float(report.log[column][row]), colour, style) for label, column, colour, style in columns
            if column in report.log and report.log[column][row] > 0
            and (column != "r_tide" or has_galaxy(report.log))}


def _dots(axes, stars, x, y):
    """Light stars below heavy ones, which are larger and of another colour."""
    n = len(stars)
    heavy = np.zeros(n, dtype=bool)
    positive = stars.mass[stars.mass > 0]
    if len(positive) and positive.max() > 1.5 * positive.min():
        heavy[np.argsort(-stars.mass, kind="stable")[:max(1, min(n // 20, 500))]] = True
    image = n > STARS_AS_VECTORS
    size = float(np.clip(3000 / n, 0.4, 9))
    axes.scatter(x[~heavy], y[~heavy], size, color=BLUE, linewidths=0, alpha=float(np.clip(2500 / n, 0.25, 0.8)),
                 rasterized=image)
    if heavy.any():
        relative = stars.mass[heavy] / stars.mass.max()
        axes.scatter(x[heavy], y[heavy], size * (1 + 8 * relative**0.5), color=ORANGE, linewidths=0, alpha=0.95,
                     rasterized=image, label="heaviest %d %%" % round(100 * heavy.mean()))


def views(report):
    """Three projections."""
    stars = report.snapshot
    if stars is None or report.few:
        return []
    factor, rings = report.scale.factor("length"), circles(report)
    d, r = (stars.x - stars.centre) * factor, stars.r * factor
    width = min(1.1 * r.max(), 2.2 * np.quantile(r, 0.85)) or 1.0
    panels = []
    for i, j, side in SIDES:
        drawn, axes = figure(height=4.3)
        _dots(axes, stars, d[:, i], d[:, j])
        for label, (radius, colour, style) in rings.items():
            if radius * factor < 1.4 * width:
                axes.add_patch(plt.Circle((0, 0), radius * factor, fill=False, color=colour, ls=style, lw=1.4, zorder=5,
                                          label="%s radius" % label))
        axes.set_xlim(-width, width)
        axes.set_ylim(-width, width)
        axes.set_aspect("equal")
        few_ticks(axes, 5, 5)
        axes.set_xlabel("%s [%s]" % ("xyz"[i], report.scale.label("length")))
        axes.set_ylabel("%s [%s]" % ("xyz"[j], report.scale.label("length")))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncol=2)
        outside = int(((np.abs(d[:, i]) > width) | (np.abs(d[:, j]) > width)).sum())
        text = "The stars at t = %g, %s (%s-%s), about the density centre." % (stars.t, side, "xyz"[i], "xyz"[j])
        text += " %d are outside the frame." % outside if outside else ""
        text += " Normal: round, densest in the middle." if not rings.get("tidal") else \
            " Normal: round and densest in the middle; with a galaxy tails along x and y grow outside the tidal radius."
        panels.append(Panel("view-" + "xyz"[i] + "xyz"[j], "The cluster %s" % side, drawn, text))
    return panels


def surface_density(report):
    stars = report.snapshot
    if stars is None or len(stars) < 60:
        return None
    drawn, axes = figure()
    shell = max(10, min(len(stars) // 12, 400))
    factor, density = report.scale.factor("length"), report.scale.factor("mass/length^2")
    for axis, colour in ((2, BLUE), (0, ORANGE)):
        radius, rho, _, error = stars.density_profile(shell, axis=axis)
        axes.errorbar(radius * factor, rho * density, rho * density * error, fmt="o-", ms=3, lw=1, color=colour,
                      label="along %s" % "xyz"[axis])
    axes.legend(loc="lower left")
    log_scale(axes, 1)
    log_axis_x(axes)
    axes.set_xlabel("projected distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("surface density [%s]" % report.scale.label("mass/length^2").replace("^2", "²"))
    return Panel("surface-density", "Surface density", drawn,
                 "Mass for each area in rings of %d stars, seen from two sides; bars are one standard deviation. "
                 "Normal: "
                 "flat inside the core, falling outside, the same from both sides within the bars." % shell)


def dispersion(report):
    stars = report.snapshot
    if stars is None or len(stars) < 60 or not stars.v.any():
        return None
    systems = stars.with_centres_of_mass()
    systems.centre = stars.centre
    shell = max(10, min(len(systems) // 12, 400))
    length, speed = report.scale.factor("length"), report.scale.factor("velocity")
    drawn, axes = figure()
    for axis, colour in ((2, BLUE), (0, ORANGE)):
        radius, sigma, error = systems.dispersion_profile(shell, axis=axis)
        axes.errorbar(radius * length, sigma * speed, error * speed, fmt="o-", ms=3, lw=1, color=colour,
                      label="along %s" % "xyz"[axis])
    log_axis_x(axes)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower left")
    axes.set_xlabel("projected distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("velocity dispersion [%s]" % report.scale.label("velocity"))
    return Panel("dispersion", "Velocity dispersion", drawn,
                 "Spread of velocities along two lines of sight in rings of %d bodies; regularized pairs count as one "
                 "body, others are resolved. Normal: highest in the centre, falling outwards; a rise at the edge is "
                 "made "
                 "by stars that leave; a point far above the rest by a close pair that is resolved." % shell)


def masses(report):
    stars = report.snapshot
    if stars is None or len(stars) < 60:
        return None
    mass = stars.mass[stars.mass > 0]
    if len(mass) == 0 or mass.max() < 1.5 * mass.min():
        return None
    factor = report.scale.factor("mass")
    drawn, axes = figure()
    inside = stars[stars.r <= stars.lagrangian_radii([0.5])[0]]
    for some, colour, label in ((stars, BLUE, "all"), (inside, RED, "inside the half-mass radius")):
        edges, number_of, error = structure.mass_function(some.mass)
        middle = np.sqrt(edges[1:] * edges[:-1]) * factor
        good = number_of > 0
        axes.errorbar(middle[good], number_of[good], error[good], fmt="o-", ms=3, lw=1, color=colour, label=label)
    log_scale(axes, 1)
    log_axis_x(axes)
    axes.legend(loc="lower left")
    axes.set_xlabel("mass [%s]" % report.scale.label("mass"))
    axes.set_ylabel("dN / dlog₁₀ m")
    text = "Stars for each decade of mass."
    if len(stars) > 60:
        ratio, error = stars.mass_segregation_ratio(min(20, len(stars) // 4), 100)
        text += " Mass segregation ratio Λ of the heaviest 20 (Allison et al. 2009): %.2f ± %.2f; 1: they lie like " \
                "the " \
            "others; above 1: closer together." % (ratio, error)
    text += " Normal: the shape of the initial mass function; inside, fewer light stars as the cluster ages."
    return Panel("masses", "Mass function", drawn, text)


# ---- few bodies

def paths(report):
    """Tracks from three sides, and distances."""
    stars = report.snapshot
    if stars is None or not report.few or not report.earlier:
        return []
    path, t, names = tracks([*report.earlier, stars])
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
        axes.autoscale()
        axes.margins(0.06)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("%s [%s]" % ("xyz"[i], report.scale.label("length")))
        axes.set_ylabel("%s [%s]" % ("xyz"[j], report.scale.label("length")))
        panels.append(Panel("tracks-%d%d" % (i, j), "Tracks %s" % side, drawn,
                            "Paths of the %d bodies from t = %g to %g, the dots at the end. Between snapshots they are "
                            "polynomials, or integrated where bodies come close. Normal: smooth curves."
                            % (len(path), t[0], t[-1]), wide=2 in flat))
    if len(path) <= 4:
        panels.append(distances(report, d, t, names))
    return panels


def distances(report, d, t, names):
    drawn, axes = figure()
    nearest = (np.inf, None, None)
    times, label = report.times(t)
    for k, (i, j) in enumerate(itertools.combinations(range(len(d)), 2)):
        distance = np.sqrt(((d[i] - d[j])**2).sum(axis=1))
        axes.plot(times, distance, color=SERIES[k % len(SERIES)], lw=1.1, label="%s – %s" % (names[i], names[j]))
        at = int(np.argmin(distance))
        nearest = min(nearest, (distance[at], t[at], (names[i], names[j])), key=lambda x: x[0])
    log_scale(axes, 1)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncol=3)
    axes.set_xlabel(label)
    axes.set_ylabel("distance [%s]" % report.scale.label("length"))
    return Panel("distances", "Distances", drawn,
                 "Distances between the bodies along the tracks. Closest: %s of %s and %s at t = %.6g. Normal: "
                 "whatever "
                 "the orbits ask for; a bound pair goes up and down between two values."
                 % (number(nearest[0], 3), nearest[2][0], nearest[2][1], nearest[1]))


ALL = (surface_density, dispersion, masses)
