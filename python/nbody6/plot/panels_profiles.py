"""Profiles of the cluster at the time of the last snapshot: density, mass, velocities, and its masses."""

import numpy as np

from .. import structure
from ..models import King, Plummer
from .axes import legend, log_axis_x, log_scale
from .colours import BLUE, GREY, INK, ORANGE, RED
from .style import Panel, figure, number

FEWEST = 60  # stars of which profiles are made
MOST_SHELLS = 40
PLUMMER, KING = 1, 2  # model.kind
EDGES = np.geomspace(0.02, 40, 200)  # half-mass radii for which the curve of a model is drawn


def shell_size(stars):
    return max(10, min(len(stars) // 12, 400), len(stars) // MOST_SHELLS)


def is_too_small(report):
    stars = report.snapshot
    return stars is None or len(stars) < FEWEST or not stars.lagrangian_radii([0.5])[0] > 0


def model_of(report):
    """The model that the run began with, or, where it had stars of a file, a Plummer sphere to compare with: an object
    of models.py, its half-mass radius (N-body units), and its name."""
    p = report.parameters
    at_start = report.log is not None and "r_half" in report.log and report.log["r_half"][0] > 0 and report.t_start == 0
    kind = p.get("model.kind")
    if at_start and kind in (PLUMMER, KING):
        try:
            model = King(p["model.king_w0"]) if kind == KING else Plummer()
            return model, report.log["r_half"][0], model.name + " at the start"
        except (KeyError, ValueError):
            pass
    radius = report.snapshot.lagrangian_radii([0.5])[0]
    return Plummer(), radius, "Plummer model of the same half-mass radius"


def axis_labels(axes, report, quantity, dimension):
    axes.set_xlabel("distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("%s [%s]" % (quantity, report.scale.label(dimension).replace("^2", "²").replace("^3", "³")))


def density(report):
    if is_too_small(report):
        return None
    stars, shell = report.snapshot, shell_size(report.snapshot)
    length, factor = report.scale.factor("length"), report.scale.factor("mass/length^3")
    radius, rho, _, error = stars.density_profile(shell)
    model, half, name = model_of(report)
    drawn, axes = figure()
    axes.errorbar(radius * length, rho * factor, rho * factor * error, fmt="o-", ms=3, lw=1, color=BLUE, label="stars")
    curve = model.density(EDGES) * stars.mass.sum() / half**3
    shown = (EDGES * half > 0.5 * radius.min()) & (EDGES * half < 1.5 * radius.max()) & (curve > 0.1 * rho.min())
    axes.plot(EDGES[shown] * half * length, curve[shown] * factor, color=INK, ls="--", lw=1.2, label=name)
    log_scale(axes, 1)
    log_axis_x(axes)
    legend(axes)
    axis_labels(axes, report, "density", "mass/length^3")
    return Panel("density", "Density", drawn,
                 "Mass density in shells of %d stars about the density centre, with one standard deviation, and the %s "
                 "(dashed). Normal: close to the curve at first; in time the core becomes denser and the halo wider."
                 % (shell, name))


def cumulative(report):
    if is_too_small(report):
        return None
    stars, length = report.snapshot, report.scale.factor("length")
    model, half, name = model_of(report)
    order = np.argsort(stars.r, kind="stable")
    r, inside = stars.r[order], np.cumsum(stars.mass[order])
    if not inside[-1] > 0:
        return None
    which = np.unique(np.geomspace(1, len(r), 400).round().astype(int)) - 1
    drawn, axes = figure()
    axes.plot(r[which] * length, 100 * inside[which] / inside[-1], color=BLUE, label="stars")
    curve = (EDGES * half > r[which[0]]) & (EDGES * half < 1.3 * r[-1])
    axes.plot(EDGES[curve] * half * length, 100 * model.mass(EDGES[curve]), color=INK, ls="--", lw=1.2, label=name)
    log_axis_x(axes)
    axes.set_ylim(0, 103)
    legend(axes)
    axes.set_xlabel("distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("mass inside [%]")
    half_now = r[np.searchsorted(inside, 0.5 * inside[-1])]
    return Panel("cumulative-mass", "Mass within a radius", drawn,
                 "Part of the mass within a distance of the density centre, and that of the %s (dashed). Half of the "
                 "mass is within %s %s. Normal: the curve flattens as heavy stars sink and light ones go outwards."
                 % (name, number(half_now * length, 3), report.scale.label("length")))


def two_sides(report, profile, axes):
    """Draws a profile as seen along two axes: profile(axis) -> radius, value, error, for an errorbar."""
    for axis, colour, style in ((2, BLUE, "o-"), (0, ORANGE, "s--")):
        axes.errorbar(*profile(axis), fmt=style, ms=3, lw=1, color=colour, label="along %s" % "xyz"[axis])


def surface_density(report):
    if is_too_small(report):
        return None
    stars, shell = report.snapshot, shell_size(report.snapshot)
    length, factor = report.scale.factor("length"), report.scale.factor("mass/length^2")

    def profile(axis):
        radius, rho, _, error = stars.density_profile(shell, axis=axis)
        return radius * length, rho * factor, rho * factor * error

    drawn, axes = figure()
    two_sides(report, profile, axes)
    log_scale(axes, 1)
    log_axis_x(axes)
    legend(axes)
    axis_labels(axes, report, "surface density", "mass/length^2")
    axes.set_xlabel("projected distance [%s]" % report.scale.label("length"))
    return Panel("surface-density", "Surface density", drawn,
                 "Mass for each area in rings of %d stars, seen from two sides; bars are one standard deviation. "
                 "Normal: flat inside the core, falling outside, the same from both sides within the bars." % shell)


def dispersion(report):
    if is_too_small(report) or not report.snapshot.v.any():
        return None
    systems = report.with_centres_of_mass
    shell = shell_size(systems)
    length, speed = report.scale.factor("length"), report.scale.factor("velocity")

    def profile(axis):
        radius, sigma, error = systems.dispersion_profile(shell, axis=axis)
        return radius * length, sigma * speed, error * speed

    drawn, axes = figure()
    two_sides(report, profile, axes)
    log_axis_x(axes)
    axes.set_ylim(bottom=0)
    legend(axes)
    axes.set_xlabel("projected distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("velocity dispersion [%s]" % report.scale.label("velocity"))
    return Panel("dispersion", "Velocity dispersion", drawn,
                 "Spread of velocities along two lines of sight in rings of %d bodies; regularized pairs count as one "
                 "body, others are resolved. Normal: highest in the centre, falling outwards; stars that leave make a "
                 "rise at the edge, a close pair that is resolved lifts one point far above the rest." % shell)


def anisotropy(report):
    if is_too_small(report) or not report.snapshot.v.any():
        return None
    systems = report.with_centres_of_mass
    shell = max(20, shell_size(systems))
    radius, beta, error = systems.anisotropy_profile(shell)
    if not len(radius):
        return None
    drawn, axes = figure()
    axes.axhline(0, color=GREY, lw=1)
    axes.errorbar(radius * report.scale.factor("length"), beta, error, fmt="o-", ms=3, lw=1, color=BLUE)
    log_axis_x(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(max(min(low, -1), -3), 1.05)
    axes.set_xlabel("distance [%s]" % report.scale.label("length"))
    axes.set_ylabel("β = 1 − σₜ² / 2σᵣ²")
    return Panel("anisotropy", "Anisotropy", drawn,
                 "Radial against tangential spread of velocities in shells of %d bodies, with one standard deviation: "
                 "0 is isotropic, 1 has radial orbits alone, negative values have more circular ones. Normal: 0 "
                 "within the bars at first; radial (above 0) in the halo as encounters in the core send stars "
                 "outwards; below 0 at the edge of a cluster that a tidal field strips." % shell)


def masses(report):
    if is_too_small(report):
        return None
    stars = report.snapshot
    mass = stars.mass[stars.mass > 0]
    if len(mass) == 0 or mass.max() < 1.5 * mass.min():
        return None
    factor = report.scale.factor("mass")
    drawn, axes = figure()
    inside = stars[stars.r <= stars.lagrangian_radii([0.5])[0]]
    for some, colour, style, label in ((stars, BLUE, "o-", "all"), (inside, RED, "s--", "inside the half-mass radius")):
        edges, number_of, error = structure.mass_function(some.mass)
        middle = np.sqrt(edges[1:] * edges[:-1]) * factor
        good = number_of > 0
        axes.errorbar(middle[good], number_of[good], error[good], fmt=style, ms=3, lw=1, color=colour, label=label)
    log_scale(axes, 1)
    log_axis_x(axes)
    legend(axes)
    axes.set_xlabel("mass [%s]" % report.scale.label("mass"))
    axes.set_ylabel("dN / dlog₁₀ m")
    ratio, error = report.segregation
    return Panel("masses", "Mass function", drawn,
                 "Stars for each decade of mass. Mass segregation ratio Λ of the heaviest 20 (Allison et al. 2009): "
                 "%.2f ± %.2f; 1: they lie like the others; above 1: closer together. Normal: the shape of the "
                 "initial mass function; inside, fewer light stars as the cluster ages." % (ratio, error))
