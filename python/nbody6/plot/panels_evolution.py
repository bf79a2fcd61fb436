"""How the cluster changes: radii, core, mass, virial ratio, escapers."""

import numpy as np

from ..tables import has_galaxy, lagrangian_columns
from .report import GROUP_FRACTIONS
from .style import (BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SERIES, SKY, Panel, figure, few_ticks, log_scale,
                    number, plain)

LAGRANGIAN_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.5, 0.7, 0.9)


def positive(values):
    return np.where(values > 0, values, np.nan)


def label_ends(axes, labels):
    """Name each line beside its right end, moved apart where lines come close: (y, text, colour)."""
    axes.figure.canvas.draw()
    height = axes.transAxes.inverted().transform(axes.transData.transform([(0, y) for y, _, _ in labels]))[:, 1]
    at, lowest = {}, -1.0
    for k in np.argsort(height):
        at[k] = max(height[k], lowest + 0.062)
        lowest = at[k]
    excess = max(0.0, lowest - 1.0)
    for k, (_, text, colour) in enumerate(labels):
        axes.annotate(text, (1.01, at[k] - excess), xycoords="axes fraction", va="center", fontsize=8, color=colour)


def radii(report):
    """Lagrangian radii of all stars."""
    log = report.log
    columns = lagrangian_columns(log) if log is not None else {}
    shown = [f for f in LAGRANGIAN_SHOWN if f in columns] or sorted(columns)
    factor, (t, label) = report.scale.factor("length"), report.times(log["t"] if log is not None else [])
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
    axes.set_xlabel(label)
    axes.margins(x=0.02)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", ncol=2)
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
    t, label = report.times(history["t"])
    factor, mass = report.scale.factor("length"), report.scale.factor("mass")
    limits = [0.0, *(limit * mass for limit in history["limits"])]
    drawn, axes = figure()
    half = GROUP_FRACTIONS.index(0.5)
    for k, colour in zip(range(len(limits) - 1), (SKY, ORANGE, RED)):
        name = "%.3g to %.3g" % (limits[k], limits[k + 1]) if k else "to %.3g" % limits[1]
        axes.plot(t, positive(history["radii"][:, k, half]) * factor, color=colour, lw=2, label=name)
        axes.plot(t, positive(history["radii"][:, k, 0]) * factor, color=colour, lw=1, ls="--")
    log_scale(axes, 0.5)
    axes.legend(title="mass [%s]" % report.scale.label("mass"), title_fontsize=8, loc="best")
    axes.set_xlabel(label)
    axes.set_ylabel("radius [%s]" % report.scale.label("length"))
    ratio = history["radii"][:, -1, half] / history["radii"][:, 0, half]
    text = ("Radii that hold a half (full) and a tenth (dashed) of the mass of the lightest, middle and heaviest "
            "third of "
            "the stars. Half-mass radius of the heaviest over that of the lightest: %.2f, at the start %.2f. Normal: "
            "it "
            "falls, because heavy stars sink to the centre; equal radii at the start if nothing was segregated." % (
                ratio[-1], ratio[0]))
    return Panel("mass-groups", "Radii by mass", drawn, text)


def core(report):
    """Core radius and density."""
    log = report.log
    if log is None or "rho_core" not in log or not (log["rho_core"] > 0).any() or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    rho = positive(log["rho_core"]) * report.scale.factor("mass/length^3")
    drawn, axes = figure()
    axes.plot(t, rho, color=PURPLE)
    log_scale(axes, 1)
    axes.set_xlabel(label)
    axes.set_ylabel("density [%s]" % report.scale.label("mass/length^3").replace("^3", "³"))
    text = "Mass density in the core. It was highest at t = %.4g%s. Normal: it waves by factors of a few from row to " \
           "row, " \
        "because few stars make the core; a steady rise by orders of magnitude is core collapse." % (
            t[np.nanargmax(rho)], " Myr" if report.time_myr else "")
    return Panel("core", "Density of the core", drawn, text)


def mass_and_number(report):
    """Stars and mass that are left."""
    log = report.log
    if log is None or "n" not in log or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    drawn, axes = figure()
    axes.step(t, 100 * log["n"] / log["n"][0], where="post", color=BLUE, label="stars")
    if "mass" in log:
        axes.step(t, 100 * log["mass"] / log["mass"][0], where="post", color=RED, label="mass", ls="--")
    axes.legend(loc="lower left")
    low = axes.get_ylim()[0]
    axes.set_ylim(min(low, 98.0), 100.5)
    axes.set_xlabel(label)
    axes.set_ylabel("left [%]")
    text = "Stars and mass that are still in the run, of %d stars at the start; now %d." % (log["n"][0], report.n_now)
    left = len([e for e in report.run.events if e["event"] == "escape"])
    if left:
        text += " %d have escaped. Normal: a cluster in a tidal field loses up to some percent of its stars in a " \
            "relaxation time, light ones first; jumps of many stars at once are not." % left
    else:
        text += " None was removed: none went far enough, or the input keeps them (KZ(23)=0). Normal without a galaxy."
    return Panel("stars", "Stars and mass", drawn, text)


def virial(report):
    log = report.log
    if log is None or "virial_ratio" not in log or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    ratio = log["virial_ratio"]
    drawn, axes = figure()
    axes.axhline(0.5, color=GREY, lw=1)
    axes.plot(t, ratio, color=GREEN)
    few_ticks(axes)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.45), max(high, 0.55))
    axes.set_xlabel(label)
    axes.set_ylabel("Q = T / |U|")
    late = ratio[len(ratio) // 2:]
    text = "Kinetic over potential energy of single stars and centres of mass; mean of the second half: %.3f. " \
           "Normal: " \
        "within about 0.05 of 0.5, the value of equilibrium, after the first few crossing times." % late.mean()
    if "e_galaxy" in log and log["e_galaxy"].any():
        text += " In gas or in the field of a galaxy it is higher: Q leaves out their potential, which holds stars too."
    elif late.mean() > 0.53:
        text += " Escapers that are not removed yet lift it."
    return Panel("virial", "Virial ratio", drawn, text)


def escapers(report):
    """Who left, when, and how fast."""
    left = [e for e in report.run.events if e["event"] == "escape" and None not in (e["mass"], *e["v"])]
    if not left:
        return None
    speed = np.sqrt([sum(c * c for c in e["v"]) for e in left]) * report.scale.factor("velocity")
    mass = np.array([e["mass"] for e in left]) * report.scale.factor("mass")
    t, label = report.times([e["t"] for e in left])
    drawn, axes = figure()
    axes.scatter(t, speed, 6 + 60 * mass / max(mass.max(), 1e-300), color=RED, alpha=0.65, linewidths=0)
    log_scale(axes, 1)
    axes.set_xlabel(label)
    axes.set_ylabel("speed [%s]" % report.scale.label("velocity"))
    text = "Each dot is a star that left, with the time at which it was removed and its speed; larger ones are more " \
        "massive. Median speed %s %s, fastest %s. Normal: most drift out slowly; those several times faster were " \
        "ejected by a binary or a strong encounter." % (number(np.median(speed), 3), report.scale.label("velocity"),
                                                       number(speed.max(), 3))
    return Panel("escapers", "Escapers", drawn, text)


def overlay(reports, column, title, ylabel, log_axis, sentence, name, factor=None):
    """One column of the logs of several runs in one figure."""
    drawn, axes = figure()
    for k, report in enumerate(reports):
        which = column(report) if callable(column) else column
        if report.log is None or which not in report.log:
            continue
        values = report.log[which] * (report.scale.factor(factor) if factor else 1)
        t, label = report.times(report.log["t"])
        axes.plot(t, np.abs(positive(np.abs(values))) if log_axis else values, color=SERIES[k % len(SERIES)],
                  ls=("-", "--", ":")[k // len(SERIES) % 3], label=plain(report.run.title))
        axes.set_xlabel(label)
    if not axes.lines:
        return None
    if log_axis:
        log_scale(axes, 0.5)
    axes.set_ylabel(ylabel)
    axes.legend(loc="best")
    return Panel(name, title, drawn, sentence)


ALL = (radii, radii_by_mass, core, mass_and_number, virial, escapers)
