#!/usr/bin/env python3
"""Plots of what bench/model_tree prints: a roofline of each kernel (Yokota & Barba 2012, Comput. Sci. Eng. 14, 30,
figure 1), and times by the size of groups and by rates of hypothetical machines (Iwasawa et al. 2020, PASJ 72, 13,
figures 8 to 10), where the output has them.

    build/bench/model_tree > model.txt; bench/plot_model.py model.txt model.svg

The roof is the lower one of the rate of arithmetic and operations a byte times the rate of memory; dashed, without fused
multiply-adds. Filled marks are the rates of the nominal costs of each kernel, open ones the roof at its operations a
byte. On a processor that other programs use, give model_tree flops=F and bandwidth=B, or the roof is too low."""
import argparse
import re
import sys

import numpy as np


class Failed(Exception):
    """The text lacks what is to be plotted."""


def lines_after(text, begin):
    """The lines from the one that begins so on, or None."""
    at = text.find("\n" + begin)
    return None if at < 0 else text[at + 1:].splitlines()


def read_roofline(text):
    """Rates of the machine in GFlop/s and GB/s, whose nominal costs, rows (kernel, operations a byte, most GFlop/s, nominal
    GFlop/s), and the measured rate with the number of bodies."""
    rates = re.search(r"^rates: ([\d.]+) TFlop/s, ([\d.]+) GB/s", text, re.M)
    lines = lines_after(text, "roofline:")
    if not rates or not lines:
        raise Failed("no roofline: this is not the output of bench/model_tree")
    rows = []
    for line in lines[2:]:
        if line.startswith("measured"):
            break
        numbers = line.split()[-5:]
        rows.append((line[:26].strip(), float(numbers[2]), float(numbers[3]), float(numbers[4])))
    measured = re.search(r"^measured, (\d+) bodies: ([\d.]+) GFlop/s", text, re.M)
    if not rows or not measured:
        raise Failed("the roofline is cut short")
    return {"peak": 1e3 * float(rates.group(1)), "bytes": float(rates.group(2)), "rows": rows,
            "machine": re.search(r"\((.*)\)", lines[0]).group(1),
            "bodies": int(measured.group(1)), "measured": float(measured.group(2))}


def read_steps(text):
    """Sizes of groups, and for the program of the paper and for this one names with milliseconds; None: not there."""
    lines = lines_after(text, "figures 8 and 9")
    if not lines:
        return None
    sizes, parts, part = None, ({}, {}), 0
    for line in lines[1:]:
        if line.startswith("figure 10"):
            break
        if line.startswith("This program"):
            part = 1
            continue
        values = [float(word) for word in line[24:].split()]
        if sizes is None:
            sizes = values
        else:
            parts[part][" ".join(line[:24].split())] = values
    return {"sizes": sizes, "paper": parts[0], "ours": parts[1]}


def read_plane(text):
    """Rates of memory, rates of the link, and times [link][memory], all over those of the reference; None: not there."""
    lines = lines_after(text, "figure 10")
    if not lines:
        return None
    memory = [float(word) for word in lines[1].split()]
    rows = np.array([[float(word) for word in line.split()] for line in lines[2:2 + len(memory)]])
    return {"memory": memory, "link": rows[:, 0], "times": rows[:, 1:]}


def draw_roofline(axes, model):
    x = np.logspace(-1, np.log10(3 * max(row[1] for row in model["rows"])), 200)
    for share, style, label in ((1, "-", "roof"), (0.5, "--", "no fused multiply-add")):
        axes.loglog(x, np.minimum(share * model["peak"], x * model["bytes"]), "k" + style, lw=1, label=label)
    for k, (name, a_byte, most, nominal) in enumerate(model["rows"]):
        colour = "C%d" % (k % 10)
        axes.loglog([a_byte], [nominal], "s" if "region" in name else "o" if "cell" in name else "D", color=colour,
                    label=name, ms=5)
        axes.loglog([a_byte], [most], "o", color=colour, mfc="none", ms=5)
    axes.axhline(model["measured"], color="grey", lw=0.8, ls=":", label="all kernels, %d bodies" % model["bodies"])
    axes.set(xlabel="operations a byte", ylabel="GFlop/s", title="Roofline, %s" % model["machine"])
    axes.legend(fontsize=6, loc="upper left", bbox_to_anchor=(1.02, 1))


def draw_steps(axes, sizes, curves, title):
    for name, values in curves.items():
        axes.loglog(sizes, values, "o-", ms=3, lw=1, label=name)
    axes.set(xlabel="bodies of a group", ylabel="ms a step", title=title)
    axes.legend(fontsize=6)


def draw_plane(axes, plane):
    lines = axes.contour(plane["memory"], plane["link"], plane["times"], levels=[0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4],
                         colors="k", linewidths=0.8)
    axes.clabel(lines, fontsize=6)
    axes.set(xscale="log", yscale="log", xlabel="rate of host memory", ylabel="rate of the link",
             title="Time over that of the reference (figure 10)")


def draw(text):
    """A figure of matplotlib with all plots that the text has."""
    from matplotlib.figure import Figure  # takes its time: what is wrong with the text is told before
    model, steps, plane = read_roofline(text), read_steps(text), read_plane(text)
    plots = [(draw_roofline, (model,))]
    if steps:
        paper = steps["paper"]
        reference = {name: values for name, values in paper.items() if name.startswith("reference")}
        others = {name: values for name, values in paper.items() if name not in reference}
        plots += [(draw_steps, (steps["sizes"], reference, "The program of the paper (figure 8)")),
                  (draw_steps, (steps["sizes"], others, "On other machines (figure 9)")),
                  (draw_steps, (steps["sizes"], steps["ours"], "This program"))]
    if plane:
        plots.append((draw_plane, (plane,)))
    columns = min(len(plots), 3)
    figure = Figure(figsize=(4.6 * columns, 3.6 * -(-len(plots) // columns)), layout="constrained")
    for k, (function, arguments) in enumerate(plots):
        function(figure.add_subplot(-(-len(plots) // columns), columns, k + 1), *arguments)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="what bench/model_tree has printed; -: standard input")
    parser.add_argument("picture", help="the file to write, by its ending: .svg, .png, .pdf")
    arguments = parser.parse_args()
    try:
        if arguments.text == "-":
            text = sys.stdin.read()
        else:
            with open(arguments.text, encoding="utf-8") as file:
                text = file.read()
        draw(text).savefig(arguments.picture, dpi=150)
    except (OSError, ValueError, Failed) as error:
        print("plot_model.py: %s" % error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
