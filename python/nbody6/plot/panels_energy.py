"""Energy: how well it is conserved, and where it went, by channel."""

import numpy as np

from ..run import CHANNELS
from .advice import advice
from .axes import legend, log_scale, power_label, time_axis
from .colours import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED
from .style import Panel, figure, number

MARKS = (("merger", "mergers", RED, "*"), ("chain_formed", "chains", PURPLE, "|"), ("escape", "escapers", ORANGE, "v"),
         ("energy_jump", "jumps of the error", INK, "x"))


def mark_events(axes, report):
    """Events as marks along the lower edge, a row for each kind."""
    low = 0.03
    for kind, label, colour, marker in MARKS:
        times = sorted({event["t"] for event in report.run.events if event["event"] == kind})
        if times:
            axes.scatter(report.times(times)[0], np.full(len(times), low), 22, color=colour, marker=marker,
                         transform=axes.get_xaxis_transform(), label=label, zorder=3, linewidths=1)
            low += 0.06


def error(report):
    log = report.log
    if log is None:
        return None
    accumulated, interval = report.error_columns
    t, _ = report.times(log["t"])
    drawn, axes = figure()
    for column, name, style in ((interval, "of each interval", dict(color=ORANGE, lw=0.8, marker="s", ms=2)),
                                (accumulated, "accumulated", dict(color=BLUE, marker="o", ms=2.5))):
        if column in log:
            value = np.abs(log[column])
            good = np.isfinite(value) & (value > 0)
            if good.any():
                axes.plot(t[good], value[good], label=name, **style)
    if not axes.lines:
        return None
    log_scale(axes, 2)
    time_axis(axes, report)
    axes.set_ylabel("|ΔE / E|")
    legend(axes)
    values = np.abs(log[accumulated][np.isfinite(log[accumulated])])
    largest = advice(log, accumulated)
    return Panel("energy-error", "Energy error", drawn,
                 "Error of the total energy, relative to that of the cluster as a set of bodies. Now %s, at most %s. "
                 "Normal: each interval well below QE, the sum growing like a random walk; a jump is one encounter, a "
                 "steady slope an error of every step.%s" %
                 (number(log[accumulated][-1], 3), number(values.max(), 3),
                  " Where it is largest, %s." % largest if largest else ""))


def force_error(report):
    """Errors of accelerations by a tree, in runs of nbody6-collisionless that have one."""
    log = report.log
    if log is None or "force_err_99" not in log:
        return None
    t, _ = report.times(log["t"])
    drawn, axes = figure()
    for column, name, style in (("force_err_max", "the largest", dict(color=ORANGE, lw=0.8, marker="s", ms=2)),
                                ("force_err_99", "99 of 100 are below", dict(color=BLUE, marker="o", ms=2.5)),
                                ("force_err_50", "half are below", dict(color=GREEN, ls="--"))):
        value = log[column]
        axes.plot(t, np.where(value > 0, value, np.nan), label=name, **style)
    log_scale(axes, 2)
    time_axis(axes, report)
    axes.set_ylabel("|Δa| / |a|")
    legend(axes)
    return Panel("force-error", "Error of the forces", drawn,
                 "Accelerations by the tree against sums in double, of 1024 bodies at each adjust: 99 of 100 are now wrong "
                 "by less than %s. Normal: that is below FORCE_ERROR of the input, and the largest is below twenty times "
                 "it." % number(log["force_err_99"][-1], 3))


def budget(report):
    """Change of the energy since the start: physics."""
    log = report.log
    if log is None or "e_total" not in log or "e_bind" not in log or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    factor, unit = report.scale.factor("mass velocity^2"), report.scale.label("mass velocity^2")
    unit = unit.replace("^2", "²")

    def change(values):
        return (values - values[0]) * factor

    drawn, axes = figure(height=3.5)
    axes.axhline(0, color=GREY, lw=0.8)
    axes.plot(t, change(log["e_total"]), color=INK, lw=2, label="total")
    if log["e_bind"].any():
        axes.plot(t, change(log["e_total"] - log["e_bind"]), color=BLUE, ls=(0, (5, 2)),
                  label="single stars and centres of mass")
        axes.plot(t, change(log["e_bind"]), color=RED, ls="-.", label="regularized pairs and chains")
    for column, name, colour, style in (("e_escaped", "taken by escapers", ORANGE, "--"),
                                        ("e_merged", "taken by mergers", PURPLE, (0, (2, 1))),
                                        ("e_galaxy", "work of the external field", GREEN, (0, (1, 1)))):
        if column in log and log[column].any():
            axes.plot(t, log[column] * factor, color=colour, ls=style, label=name)
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.2 * (high - low), high + 0.02 * (high - low))
    mark_events(axes, report)
    legend(axes)
    time_axis(axes, report)
    power_label(axes, "E − E₀", unit)
    return Panel("energy-budget", "Where the energy went", drawn,
                 "Change of the energy since the start, when it was %s %s: of all, of the cluster and of the motion "
                 "inside pairs and chains, with what escapers and mergers took away; marks along the lower edge are "
                 "events. Normal: the total changes only where a star escapes or merges%s; pairs give energy to the "
                 "cluster as they harden, and their line jumps by the energy of a pair when its regularization begins "
                 "or ends."
                 % (number(log["e_total"][0] * factor), unit,
                    ", and by the work of the external field" if field_work_so_far(log) else ""))


def field_work_so_far(log):
    """Work of an external field that depends on time, as the terminal tells it, or None: there is no such field."""
    known = log is not None and "e_galaxy" in log and log["e_galaxy"].any()
    return log["e_galaxy"][-1] if known else None


def field_work(report):
    """Work of an external field that depends on time: physics, which the energy error leaves out."""
    log = report.log
    work = field_work_so_far(log)
    if work is None or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    factor, unit = report.scale.factor("mass velocity^2"), report.scale.label("mass velocity^2").replace("^2", "²")
    drawn, axes = figure()
    axes.plot(t, log["e_galaxy"] * factor, color=GREEN, lw=2, label="work so far")
    if "e_tide" in log:
        axes.plot(t, log["e_tide"] * factor, color=BLUE, ls="--", label="energy of the stars in the field")
    axes.axhline(0, color=GREY, lw=1)
    legend(axes)
    time_axis(axes, report)
    power_label(axes, "energy", unit)
    return Panel("field-work", "Work of the external field", drawn,
                 "The field of the galaxy or of the gas depends on time, so that it does work: %s so far, with a "
                 "total energy of %s at the start, in %s. It is physics and no error, and the energy error leaves it "
                 "out. Normal: in a galaxy it swings with each pericentre, by more the more stars are far out; where "
                 "gas leaves it rises until the gas has gone."
                 % (number(work * factor), number(log["e_total"][0] * factor), unit))


def channels(report):
    """The errors by channel."""
    log = report.log
    errors = [(column, text) for column, text, physics in CHANNELS if not physics and log is not None and column in log
              and np.abs(log[column]).max() > 0]
    if not errors or len(log) < 2:
        return None
    t, _ = report.times(log["t"])
    factor, unit = report.scale.factor("mass velocity^2"), report.scale.label("mass velocity^2").replace("^2", "²")
    drawn, axes = figure(height=3.5)
    looks = {"e_pairs": (BLUE, "--"), "e_chains": (RED, "-."), "e_hierarchies": (GREEN, ":"),
             "e_integration": (INK, "-")}
    for column, _ in errors:
        value = np.abs(log[column]) * factor
        axes.plot(t, np.where(value > 0, value, np.nan), color=looks[column][0], ls=looks[column][1],
                  marker="." if len(t) < 40 else None, ms=4, label=column[2:])
    log_scale(axes, 2)
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high)**0.25, high)
    mark_events(axes, report)
    legend(axes)
    time_axis(axes, report)
    axes.set_ylabel("|energy| [%s]" % unit)
    largest = max(errors, key=lambda e: abs(log[e[0]][-1]))
    return Panel("energy-channels", "Errors by channel", drawn,
                 "Energy that each source has added so far, by the ledger of the program. The largest now is "
                 "%s. Normal: that of the integration; if pairs or chains lead by far, encounters are what limits this "
                 "run." % largest[1].replace("error of ", "that of "))
