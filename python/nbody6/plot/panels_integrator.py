"""The integrator: steps, neighbours, where the wall time went."""

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, SymmetricalLogLocator

from .axes import SUPERSCRIPT, legend, time_axis, whole_numbers
from .colours import BLUE, GREEN, GREY, INK, RED
from .style import Panel, figure, number


def stuck(report):
    """Bodies that alone were advanced for many blocks, in a sentence; empty: none."""
    told = [event for event in report.run.events if event["event"] == "stuck"]
    if not told:
        return ""
    names = " and ".join("%d" % name for name in told[-1]["names"])
    return " Up to t = %g, %d blocks in a row have moved nobody but %s %s (<code>stuck</code> in the events)." % (
        told[-1]["t"], told[-1]["blocks"], "stars" if len(told[-1]["names"]) > 1 else "star", names)


def steps(report):
    stars = report.snapshot
    series = [(name, values, colour) for name, values, colour in
              (("irregular", getattr(stars, "dt_irr", None), BLUE), ("regular", getattr(stars, "dt_reg", None), RED))
              if values is not None and (values > 0).any()]
    if not series:
        return None
    levels = [np.rint(np.log2(values[values > 0])).astype(int) for _, values, _ in series]
    low, high = min(level.min() for level in levels), max(level.max() for level in levels)
    edges = np.arange(low - 0.5, high + 1.5)
    drawn, axes = figure()
    for (name, _, colour), level in zip(series, levels):
        counts, _ = np.histogram(level, edges)
        axes.stairs(counts, edges, color=colour, lw=1.6, ls="-" if name == "irregular" else "--", fill=False)
        axes.stairs(counts, edges, color=colour, alpha=0.28, fill=True, label=name)
    whole_numbers(axes)
    if max(np.histogram(level, edges)[0].max() for level in levels) > 50:
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=1))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "%g" % y))
    axes.set_xticks(range(low, high + 1, max(1, (high - low) // 8 + 1)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: "2" + str(round(k)).translate(SUPERSCRIPT)))
    axes.set_xlabel("step [N-body time]")
    axes.set_ylabel("stars")
    legend(axes)
    return Panel("steps", "Time-steps", drawn,
                 "Steps of the stars at t = %g; stars in regularized pairs have those of their centre of mass. "
                 "Normal: two humps, regular steps some eight times the irregular ones, with a tail of short steps "
                 "from the core; a star far below all others keeps the run busy.%s"
                 % (stars.t, stuck(report)), has_units=False)


def neighbours(report):
    count = getattr(report.snapshot, "nnb", None)
    if count is None or len(count) == 0 or report.few:
        return None
    width = max(1, int(np.ceil((count.max() - count.min() + 1) / 40)))
    edges = np.arange(count.min(), count.max() + width + 1, width) - 0.5
    drawn, axes = figure()
    axes.hist(count, edges, color=GREEN)
    axes.axvline(float(np.mean(count)), color=INK, lw=1.2, ls="--")
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    whole_numbers(axes)
    axes.set_xlabel("neighbours of a star")
    axes.set_ylabel("stars")
    return Panel("neighbours", "Neighbour numbers", drawn,
                 "Lengths of the neighbour lists; their mean, the dashed line, is %.4g. Normal: one hump about the "
                 "number that NNBOPT asks for (or, with 0, the one that makes least work), fewer at the edge of the "
                 "cluster."
                 % np.mean(count), has_units=False)


def wall_time(report):
    stages = {name: seconds for name, seconds in report.run.stage_seconds().items() if seconds > 0}
    total = sum(stages.values())
    if total <= 0:
        return None
    names = sorted(stages, key=stages.get)
    drawn, axes = figure()
    bars = axes.barh(range(len(names)), [stages[n] for n in names], height=0.72,
                     color=BLUE)
    for bar, name in zip(bars, names):
        axes.annotate("%.0f %%" % (100 * stages[name] / total), (bar.get_width(), bar.get_y() + bar.get_height() / 2),
                      xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names)
    axes.set_xlim(0, 1.18 * max(stages.values()))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("wall-clock time [s]")
    return Panel("wall-time", "Where the wall time went", drawn,
                 "Seconds in each stage of the block step, %s s in all. Normal: regular and irregular forces lead in "
                 "large clusters, pairs where there are many binaries; output leads only in runs of a few bodies."
                 % number(total, 3), has_units=False)


def pace(report):
    """How fast the run goes."""
    log = report.log
    if log is None or "wall_s" not in log or len(log) < 3 or log["wall_s"][-1] <= 0:
        return None
    t, _ = report.times(log["t"])
    drawn, axes = figure()
    axes.plot(t, log["wall_s"], color=BLUE)
    time_axis(axes, report)
    axes.set_ylabel("wall-clock time [s]")
    return Panel("pace", "Pace", drawn,
                 "Wall-clock time against the time of the run. Normal: nearly a straight line; where it turns upward "
                 "the core has become dense, or a close system takes the time (the events have it as "
                 "<code>busy</code>).")
