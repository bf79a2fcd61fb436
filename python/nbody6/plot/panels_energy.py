"""Energy: how well it is conserved, and where it went, by channel."""

import numpy as np

from ..run import CHANNELS
from .advice import advice
from .style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, Panel, figure, log_scale, number

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
    t, label = report.times(log["t"])
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
    axes.set_xlabel(label)
    axes.set_ylabel("|ΔE / E|")
    axes.legend(loc="lower right", ncol=2)
    values = np.abs(log[accumulated][np.isfinite(log[accumulated])])
    largest = advice(log, accumulated)
    return Panel("energy-error", "Energy error", drawn,
                 "Error of the total energy, relative to that of the cluster as a set of bodies. Now %s, at most %s. "
                 "Normal: each interval well below QE, the sum growing like a random walk; a jump is one encounter, a "
                 "steady slope an error of every step.%s" %
                 (number(log[accumulated][-1], 3), number(values.max(), 3),
                  " Where it is largest, %s." % largest if largest else ""))


def budget(report):
    """Where the energy went: physics."""
    log = report.log
    if log is None or "e_total" not in log or "e_bind" not in log or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    drawn, axes = figure(height=3.5)
    axes.plot(t, log["e_total"], color=INK, lw=2, label="total")
    axes.plot(t, log["e_total"] - log["e_bind"], color=BLUE, label="single stars and centres of mass")
    if log["e_bind"].any():
        axes.plot(t, log["e_bind"], color=RED, label="regularized pairs and chains")
    for column, name, colour in (("e_escaped", "taken by escapers", ORANGE), ("e_merged", "taken by mergers", PURPLE),
                                 ("e_galaxy", "work of the external field", GREEN)):
        if column in log and log[column].any():
            axes.plot(t, log[column], color=colour, ls="--", label=name)
    low, high = axes.get_ylim()
    axes.set_ylim(low - 0.2 * (high - low), high + 0.02 * (high - low))
    mark_events(axes, report)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    axes.set_xlabel(label)
    axes.set_ylabel("energy [N-body]")
    return Panel("energy-budget", "Where the energy is", drawn,
                 "The total energy, its part in the cluster and that inside pairs and chains, with what escapers and "
                 "mergers "
                 "took away; marks along the lower edge are events. Normal: the total changes only where somebody "
                 "leaves "
                 "or merges%s; pairs give energy to the cluster as they harden, and their line jumps by what a pair "
                 "holds "
                 "when it begins or ends to be regularized." % (", and by the work of the external field"
                                                                if field_work_so_far(log) else ""))


def field_work_so_far(log):
    """Work of an external field that depends on time, as the terminal tells it, or None: there is no such field."""
    known = log is not None and "e_galaxy" in log and log["e_galaxy"].any()
    return log["e_galaxy"][-1] if known else None


def field_work(report):
    """What an external field that depends on time has done: physics, which the energy error leaves out."""
    log = report.log
    work = field_work_so_far(log)
    if work is None or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    drawn, axes = figure()
    axes.plot(t, log["e_galaxy"], color=GREEN, lw=2, label="work so far")
    if "e_tide" in log:
        axes.plot(t, log["e_tide"], color=BLUE, label="energy of the stars in the field")
    axes.axhline(0, color=GREY, lw=1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    axes.set_xlabel(label)
    axes.set_ylabel("energy [N-body]")
    return Panel("field-work", "Work of the external field", drawn,
                 "The field of the galaxy or of the gas depends on time, so that it does work: %s so far, with a total "
                 "energy of %s at the start. It is physics and no error, and the energy error leaves it out. Normal: in "
                 "a galaxy it swings with each pericentre, by more the more stars are far out; where gas leaves it "
                 "rises until the gas has gone." % (number(work), number(log["e_total"][0])))


def channels(report):
    """The errors by channel."""
    log = report.log
    errors = [(column, text) for column, text, physics in CHANNELS if not physics and log is not None and column in log
              and np.abs(log[column]).max() > 0]
    if not errors or len(log) < 2:
        return None
    t, label = report.times(log["t"])
    drawn, axes = figure(height=3.5)
    colours = {"e_pairs": BLUE, "e_chains": RED, "e_hierarchies": GREEN, "e_integration": GREY}
    for column, _ in errors:
        value = np.abs(log[column])
        axes.plot(t, np.where(value > 0, value, np.nan), color=colours[column], label=column[2:])
    log_scale(axes, 2)
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high)**0.25, high)
    mark_events(axes, report)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    axes.set_xlabel(label)
    axes.set_ylabel("|energy| [N-body]")
    largest = max(errors, key=lambda e: abs(log[e[0]][-1]))
    return Panel("energy-channels", "Errors by channel", drawn,
                 "What each source has added to the energy so far, in the books that the program keeps. The largest "
                 "now is "
                 "%s. Normal: that of the integration; if pairs or chains lead by far, encounters are what limits this "
                 "run." % largest[1].replace("error of ", "that of "))


ALL = (error, budget, field_work, channels)
