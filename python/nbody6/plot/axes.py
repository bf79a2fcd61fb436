"""Axes of figures: scales, ticks, labels, and legends that stand outside the data."""

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

LEGEND_CHARACTERS = 72  # of a line of a legend, with 5 for each line or mark in it
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(exponent):
    return "10" + str(exponent).translate(SUPERSCRIPT)


def short(value, _=None):
    """A number beside a logarithmic axis: 0.02, 500, 5×10⁻⁸."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return "%g" % value
    mantissa, exponent = ("%.3e" % value).split("e")
    return ("" if float(mantissa) == 1 else "%g×" % float(mantissa)) + power_of_ten(int(exponent))


def log_scale(axes, minimum_decades=1.0):
    """A logarithmic y axis that shows at least so many decades and labels them sensibly; a linear one for numbers of
    which none is above 0."""
    if not axes.dataLim.y1 > 0:
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < low * 10**minimum_decades:
        middle = np.sqrt(low * high)
        axes.set_ylim(middle * 10**(-minimum_decades / 2), middle * 10**(minimum_decades / 2))
    low, high = axes.get_ylim()
    if high / low < 2e3:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(short))
    axes.yaxis.set_minor_locator(NullLocator())


def log_axis_x(axes):
    if not axes.dataLim.x1 > 0:
        return
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high / low < 1e3:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 60 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.xaxis.set_minor_locator(NullLocator())


def few_ticks(axes, x=6, y=6):
    axes.xaxis.set_major_locator(MaxNLocator(x, steps=(1, 2, 5, 10)))
    axes.yaxis.set_major_locator(MaxNLocator(y, steps=(1, 2, 5, 10)))


def whole_numbers(axes):
    """A y axis of counts: from 0, whole numbers alone."""
    axes.set_ylim(0, max(1.0, 1.08 * axes.dataLim.y1))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10), integer=True))


def power_label(axes, quantity, unit):
    """Label a linear y axis; a power of ten that its numbers share goes into the label: E - E0 [10^-7 N-body]."""
    largest = max(abs(y) for y in axes.get_ylim())
    exponent = int(np.floor(np.log10(largest))) if largest > 0 else 0
    if -3 < exponent < 5:
        axes.set_ylabel("%s [%s]" % (quantity, unit))
        return
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "%g" % float("%.6g" % (y / 10.0**exponent))))
    axes.set_ylabel("%s [%s]" % (quantity, " ".join(part for part in (power_of_ten(exponent), unit) if part != "1")))


def time_axis(axes, report, label=True):
    """An x axis from the start of the run to now, also where what is drawn begins later."""
    (begin, end), text = report.times([report.t_start, report.t_now])
    if end > begin:
        axes.set_xlim(begin - 0.015 * (end - begin), end + 0.015 * (end - begin))
    if label:
        axes.set_xlabel(text)


def legend(axes, **options):
    """All that has a label, above the axes, where it hides no data, in as many columns as there is room for."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    columns = max([k for k in range(1, len(labels) + 1)
                   if k * (5 + max(map(len, labels))) <= LEGEND_CHARACTERS], default=1)
    axes.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=columns, borderaxespad=0.2,
                columnspacing=1.4, **options)


def label_ends(axes, labels):
    """Name each line beside its right end, moved apart where lines come close: (y, text, colour)."""
    axes.get_ylim()  # settles the limits, which the transformation needs
    height = axes.transAxes.inverted().transform(axes.transData.transform([(0, y) for y, _, _ in labels]))[:, 1]
    at, lowest = {}, -1.0
    for k in np.argsort(height):
        at[k] = max(height[k], lowest + 0.062)
        lowest = at[k]
    excess = max(0.0, lowest - 1.0)
    for k, (_, text, colour) in enumerate(labels):
        axes.annotate(text, (1.01, at[k] - excess), xycoords="axes fraction", va="center", fontsize=8, color=colour)
