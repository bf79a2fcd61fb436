"""Binaries: their orbits, how hard they are, how many there are."""

import numpy as np

from .axes import legend, log_axis_x, log_scale, time_axis, whole_numbers
from .colours import BLUE, GREEN, GREY, ORANGE, RED
from .report import MOST_STARS
from .style import Panel, figure, number

FEWEST = 3  # binaries that make a picture; fewer are told in a sentence


class Binaries:
    """Bound pairs of two stars in the snapshot that is shown, and what has become of those of the first one: a, e,
    energy (N-body, negative), names [n][2], mass [n][2], kt (binding energies in units of `limit`), origin [n]:
    "first", "exchange", "new"."""

    def __init__(self, report):
        outer, inner = report.systems
        rows = [(s.a[k], s.e[k], s.energy[k], sorted((a[0], b[0])), s.mass[k]) for s in (outer, inner)
                for k, (a, b) in enumerate(s.stars) if len(a) == len(b) == 1]
        rows.sort(key=lambda row: row[2])
        self.a, self.e, self.energy = (np.array([row[k] for row in rows]) for k in range(3))
        self.names = [row[3] for row in rows]
        self.mass = np.array([row[4] for row in rows]).reshape(len(rows), 2)
        self.limit = report.hard_limit_now
        self.kt = -self.energy / self.limit
        self.multiples = [a + b for a, b in outer.stars if len(a + b) > 2]
        pairs = report.history.get("pairs") or [[]]
        self.first = [list(names) for names in pairs[0]] if len(pairs) > 1 else []
        members = {name for names in self.first for name in names}
        self.origin = np.array(["first" if names in self.first else "exchange" if members & set(names) else "new"
                                for names in self.names], dtype="U8")

    def __len__(self):
        return len(self.a)

    def count(self, origin):
        return int((self.origin == origin).sum())


ORIGINS = (("first", BLUE, "o", "", "as at the start"), ("exchange", ORANGE, "^", "///", "with another companion"),
           ("new", RED, "s", "xxx", "new"))


def of(report):
    """The Binaries of a report; None: nothing is known of them. They are looked for once."""
    if report.snapshot is None or report.few or not report.snapshot.v.any() or len(report.snapshot) > MOST_STARS:
        return None
    if report.binaries is None:
        report.binaries = Binaries(report)
    return report.binaries


def enough(report):
    """Binaries for a picture, or None: fewer are told by story.of_binaries in a sentence."""
    binaries = of(report)
    return binaries if binaries is not None and len(binaries) >= FEWEST else None


def orbits(report):
    binaries = enough(report)
    if binaries is None:
        return None
    factor, label = report.scale.orbits()
    drawn, axes = figure(height=3.6)
    for origin, colour, marker, _, name in ORIGINS:
        which = binaries.origin == origin
        if which.any():
            axes.scatter(binaries.a[which] * factor, binaries.e[which], 16, color=colour, marker=marker, linewidths=0,
                         label=name)
    product = binaries.mass.prod(axis=1).mean()
    hard = product / (2 * binaries.limit) * factor
    log_axis_x(axes)
    axes.axvline(hard, color=GREY, lw=1, ls="--")
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel("semi-major axis [%s]" % label)
    axes.set_ylabel("eccentricity")
    legend(axes)
    return Panel("orbits", "Orbits of the binaries", drawn,
                 "Each dot is a bound pair of stars at t = %g. The dashed line, at %s %s, is where a pair of mean "
                 "mass has a binding energy of 1 kT. Normal: left of it binaries are safe, right of it encounters "
                 "break them in time; with thermal eccentricities more dots are high than low." % (
                     report.snapshot.t, number(hard, 3), label))


def hardness(report):
    binaries = enough(report)
    if binaries is None:
        return None
    drawn, axes = figure()
    edges = np.geomspace(max(binaries.kt.min(), 1e-3) * 0.9, binaries.kt.max() * 1.1, 19)
    bottom = np.zeros(len(edges) - 1)
    for origin, colour, _, hatch, name in ORIGINS:
        counts, _ = np.histogram(binaries.kt[binaries.origin == origin], edges)
        if counts.any():
            full = counts > 0
            axes.bar(edges[:-1][full], counts[full], np.diff(edges)[full], bottom[full], align="edge", label=name,
                     lw=0.8, **(dict(color="none", edgecolor=colour, hatch=hatch) if hatch else dict(color=colour)))
            bottom += counts
    whole_numbers(axes)
    log_axis_x(axes)
    axes.axvline(1, color=GREY, lw=1, ls="--")
    axes.set_xlabel("binding energy [kT]")
    axes.set_ylabel("binaries")
    legend(axes)
    hard = int((binaries.kt > 1).sum())
    names = binaries.names[0]
    return Panel("hardness", "How hard they are", drawn,
                 "%d of %d binaries are hard (above 1 kT = %s N-body units: mean mass times the square of the "
                 "dispersion in one direction). The hardest are stars %d and %d with %s kT. Normal (Heggie 1975): "
                 "hard ones get harder, soft ones break."
                 % (hard, len(binaries), number(binaries.limit, 3), names[0], names[1],
                                              number(binaries.kt[0], 3)), has_units=False)


def are_followed(report):
    """Whether there were enough binaries in the snapshots for a picture."""
    history = report.history
    return of(report) is not None and len(history.get("t", ())) > 1 and history["binaries"].max() >= FEWEST


def numbers(report):
    if not are_followed(report):
        return None
    history, binaries = report.history, of(report)
    t, _ = report.times(history["t"])
    drawn, axes = figure()
    axes.step(t, history["binaries"], where="post", color=BLUE, label="binaries")
    axes.step(t, history["binaries"] - history["soft"], where="post", color=RED, ls="--", label="hard")
    if history["multiples"].any():
        axes.step(t, history["multiples"], where="post", color=GREEN, ls="-.", label="triples and larger")
    whole_numbers(axes)
    legend(axes)
    time_axis(axes, report)
    axes.set_ylabel("number")
    return Panel("binary-numbers", "Numbers of binaries", drawn,
                 "Bound pairs, each other's nearest and well apart from the third star: from %d to %d. Pairs of the "
                 "start: %d, with a new companion: %d, of single stars: %d. Normal: wide ones are lost in the first "
                 "crossing times, hard ones stay, a few are made in the core." % (
                     history["binaries"][0], history["binaries"][-1], binaries.count("first"),
                     binaries.count("exchange"), binaries.count("new")))


def binding(report):
    history = report.history
    if not are_followed(report) or not history["binding"].any():
        return None
    t, _ = report.times(history["t"])
    drawn, axes = figure()
    factor, unit = report.scale.factor("mass velocity^2"), report.scale.label("mass velocity^2").replace("^2", "²")
    axes.plot(t, -history["binding"] * factor, color=BLUE)
    log_scale(axes, 0.5)
    time_axis(axes, report)
    axes.set_ylabel("|energy| [%s]" % unit)
    return Panel("binding", "Energy in binaries", drawn,
                 "Binding energy of all binaries together, from %s to %s %s, where the cluster as a whole has about "
                 "%s. Normal: it rises as hard binaries harden, which heats the cluster, and falls by steps as one is "
                 "ejected or merges." % (*(number(abs(history["binding"][k]) * factor, 3) for k in (0, -1)), unit,
                                         number(0.25 * factor, 3)))
