"""How the cluster changes: radii, core, mass, virial ratio, escapers."""

import numpy as np

from ..tables import has_galaxy, lagrangian_columns
from .report import GROUP_FRACTIONS
from .axes import few_ticks, label_ends, legend, log_scale, time_axis
from .colours import BLUE, GREEN, GREY, MASS_MAP, PURPLE, RED
from .style import Panel, figure, number

LAGRANGIAN_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.5, 0.7, 0.9)


def positive(values):
    return np.where(values > 0, values, np.nan)


def radii(report):
    """Lagrangian radii of all stars."""
    log = report.log
    columns = lagrangian_columns(log) if log is not None else {}
    shown = [f for f in LAGRANGIAN_SHOWN if f in columns] or sorted(columns)
    factor, (t, _) = report.scale.factor("length"), report.times(log["t"] if log is not None else [])
    drawn, axes = figure()
    labels = []
    for fraction in shown:
        radius = positive(columns[fraction]) * factor
        if np.isfinite(radius).any():
            strong = abs(fraction - 0.5) < 1e-9
            axes.plot(t, radius, color=BLUE, lw=2.2 if strong else 1.1, alpha=1 if strong else 0.75,
                      marker="o" if len(t) == 1 else None)
            labels.append((radius[np.isfinite(radius)][-1], "%g %%" % (100 * fraction), BLUE))
    if not labels:
        return None
    for column, name, style in (("r_core", "core", "--"), ("r_tide", "tidal", ":")):
        if column in log and (log[column] > 0).any() and (column != "r_tide" or has_galaxy(log)):
            axes.plot(t, positive(log[column]) * factor, style, color=RED, lw=1.5, label=name)
    log_scale(axes, 0.5)
    axes.set_ylabel("radius [%s]" % report.scale.label("length"))
    time_axis(axes, report)
    legend(axes)
    label_ends(axes, labels)
    half = lagrangian_columns(log).get(0.5)
    text = "Radii about the density centre that hold these parts of the mass, and the core radius."
    if half is not None and len(half) > 1:
        text += " The half-mass radius went from %s to %s %s." % (
            number(half[0] * factor, 3), number(half[-1] * factor, 3), report.scale.label("length"))
    text += " Normal: the inner radii shrink slowly and wave as binaries form and eject stars, the outer ones grow."
    return Panel("radii", "Lagrangian radii", drawn, text)


def radii_by_mass(report):
    """Half-mass radii of light and heavy stars, from the snapshots."""
    history = report.history
    if not history or len(history["limits"]) < 2 or len(history["t"]) < 2:
        return None
    t, _ = report.times(history["t"])
    factor, mass = report.scale.factor("length"), report.scale.factor("mass")
    limits = [0.0, *(limit * mass for limit in history["limits"])]
    drawn, axes = figure()
    half = GROUP_FRACTIONS.index(0.5)
    for k, colour in zip(range(len(limits) - 1), (MASS_MAP[0], MASS_MAP[3], MASS_MAP[6])):
        name = "%.3g to %.3g" % (limits[k], limits[k + 1]) if k else "m to %.3g" % limits[1]
        mark = dict(marker="o^s"[k], ms=3, markevery=max(1, len(t) // 8))
        axes.plot(t, positive(history["radii"][:, k, half]) * factor, color=colour, lw=2, label=name, **mark)
        axes.plot(t, positive(history["radii"][:, k, 0]) * factor, color=colour, lw=1, ls="--", **mark)
    log_scale(axes, 0.5)
    legend(axes)
    time_axis(axes, report)
    axes.set_ylabel("radius [%s]" % report.scale.label("length"))
    ratio = history["radii"][:, -1, half] / history["radii"][:, 0, half]
    text = ("Radii that hold a half (full) and a tenth (dashed) of the mass of the lightest, middle and heaviest third "
            "of the stars, with masses in %s. Half-mass radius of the heaviest over that of the lightest: %.2f, at the "
            "start %.2f. Normal: it falls, because heavy stars sink to the centre; equal radii at the start if nothing "
            "was segregated." % (report.scale.label("mass"), ratio[-1], ratio[0]))
    return Panel("mass-groups", "Radii by mass", drawn, text)


def core(report):
    """Core radius and density."""
    log = report.log
    if log is None or "rho_core" not in log or not (log["rho_core"] > 0).any() or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    rho = positive(log["rho_core"]) * report.scale.factor("mass/length^3")
    drawn, axes = figure()
    axes.plot(t, rho, color=PURPLE)
    log_scale(axes, 1)
    time_axis(axes, report)
    axes.set_ylabel("density [%s]" % report.scale.label("mass/length^3").replace("^3", "³"))
    text = "Mass density in the core. It was highest at t = %.4g%s. Normal: it waves by factors of a few from row to " \
        "row, because few stars make the core; a steady rise by orders of magnitude is core collapse." % (
            t[np.nanargmax(rho)], " Myr" if report.time_myr else "")
    return Panel("core", "Density of the core", drawn, text)


def mass_and_number(report):
    """Stars and mass that remain."""
    log = report.log
    if log is None or "n" not in log or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    drawn, axes = figure()
    axes.step(t, 100 * log["n"] / log["n"][0], where="post", color=BLUE, label="stars")
    if "mass" in log:
        axes.step(t, 100 * log["mass"] / log["mass"][0], where="post", color=RED, label="mass", ls="--")
    legend(axes)
    low = axes.get_ylim()[0]
    axes.set_ylim(min(low, 98.0), 100.5)
    time_axis(axes, report)
    axes.set_ylabel("in the run [%]")
    text = "Stars and mass that are still in the run, of %d stars at the start; now %d." % (log["n"][0], report.n_now)
    escaped = report.escaped
    if escaped:
        text += " %d have escaped. Normal: a cluster in a tidal field loses up to some percent of its stars in a " \
            "relaxation time, light ones first; jumps of many stars at once are not." % escaped
    else:
        text += " None was removed: none went far enough, or the input keeps them (KZ(23)=0). Normal without a galaxy."
    return Panel("stars", "Stars and mass", drawn, text)


def virial(report):
    log = report.log
    if log is None or "virial_ratio" not in log or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    ratio = log["virial_ratio"]
    drawn, axes = figure()
    axes.axhline(0.5, color=GREY, lw=1)
    axes.plot(t, ratio, color=GREEN)
    few_ticks(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.45), max(high, 0.55))
    time_axis(axes, report)
    axes.set_ylabel("Q = T / |U|")
    late = ratio[len(ratio) // 2:]
    text = "Kinetic over potential energy of single stars and centres of mass; mean of the second half: %.3f. " \
        "Normal: within about 0.05 of 0.5, the value of equilibrium, after the first few crossing times." % late.mean()
    if "e_galaxy" in log and log["e_galaxy"].any():
        text += " In gas or in the field of a galaxy it is higher: Q leaves out their potential, which holds stars too."
    elif late.mean() > 0.53:
        text += " Escapers that are not removed yet lift it."
    return Panel("virial", "Virial ratio", drawn, text)


def escapers(report):
    """Escapers: names, times and velocities."""
    left = [e for e in report.run.events if e["event"] == "escape" and None not in (e["mass"], *e["v"])]
    if not left:
        return None
    speed = np.sqrt([sum(c * c for c in e["v"]) for e in left]) * report.scale.factor("velocity")
    mass = np.array([e["mass"] for e in left]) * report.scale.factor("mass")
    t, _ = report.times([e["t"] for e in left])
    drawn, axes = figure()
    axes.scatter(t, speed, 6 + 60 * mass / max(mass.max(), 1e-300), color=RED, linewidths=0)
    log_scale(axes, 1)
    time_axis(axes, report)
    axes.set_ylabel("speed [%s]" % report.scale.label("velocity"))
    text = "Each dot is a star that escaped, with the time at which it was removed and its speed; larger ones are " \
        "more massive. Median speed %s %s, fastest %s. Normal: most drift out slowly; those several times faster " \
        "were ejected by a binary or a strong encounter." % (
            number(np.median(speed), 3), report.scale.label("velocity"), number(speed.max(), 3))
    return Panel("escapers", "Escapers", drawn, text)
