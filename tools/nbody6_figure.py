"""The page of pictures that nbody6-plot makes of a run. Colours are those of Okabe and Ito, and viridis and cividis,
which colour-blind readers can tell apart; every axis names its quantity and unit."""

import itertools

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from nbody6_reader import energy_columns  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW = "#56B4E9", "#CC79A7", "#F0E442"
INK, GREY = "#222222", "#777777"
BODY_COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
STAGE_COLOURS = {"irregular": BLUE, "regular": RED, "predict": SKY, "correct": GREEN, "schedule": YELLOW,
                 "commit": PURPLE, "adjust": ORANGE, "output": GREY}
STYLE = {"font.size": 9, "axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left",
         "axes.edgecolor": "#888888", "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
         "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.7, "axes.axisbelow": True,
         "axes.linewidth": 0.8,
         "legend.frameon": False, "legend.fontsize": 8, "lines.linewidth": 1.4, "figure.facecolor": "white",
         "mathtext.default": "regular"}
LAGRANGIAN_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
FEW_BODIES = 12  # up to here, tracks are drawn instead of dots


def say_missing(axes, text):
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=9, wrap=True)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)


def number(value):
    """4 significant digits, powers of ten where they read better."""
    if not np.isfinite(value):
        return "-"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return "%.4g" % value
    mantissa, exponent = ("%.2e" % value).split("e")
    return r"%s × 10$^{%d}$" % (mantissa, int(exponent))


def time_axis(axes, time_myr, label=True):
    axes.set_xlabel("time [N-body]" if label else "")
    axes.margins(x=0.02)
    if time_myr:
        top = axes.secondary_xaxis("top", functions=(lambda t: t * time_myr, lambda t: t / time_myr))
        top.set_xlabel("time [Myr]", fontsize=8, color=GREY)
        top.tick_params(labelsize=8, colors=GREY)
        top.xaxis.set_major_locator(MaxNLocator(6))


def log_scale(axes, minimum_decades=1.0):
    """A logarithmic y axis that shows at least so many decades and labels them sensibly."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < low * 10**minimum_decades:
        middle = np.sqrt(low * high)
        axes.set_ylim(middle * 10**(-minimum_decades / 2), middle * 10**(minimum_decades / 2))
    axes.yaxis.set_minor_formatter(NullFormatter())


def draw_energy(axes, log, time_myr):
    axes.set_title("Energy error")
    if log is None or len(log) == 0 or energy_columns(log)[0] not in log:
        return say_missing(axes, "no rows in the log yet")
    t = log["t"]
    accumulated, interval = energy_columns(log)
    drawn = False
    for column, label, style in ((accumulated, "accumulated", dict(color=BLUE, marker="o", ms=3.2)),
                                 (interval, "of each interval",
                                  dict(color=ORANGE, marker="s", ms=2.6, lw=0.7, alpha=0.9))):
        if column not in log:
            continue
        value = np.abs(log[column])
        good = np.isfinite(value) & (value > 0)
        if good.any():
            axes.plot(t[good], value[good], label=label, **style)
            drawn = True
    if not drawn:
        return say_missing(axes, "no energy error yet\n(t = %g)" % t[-1])
    log_scale(axes, 2)
    axes.set_ylabel(r"|$\Delta$E / E|")
    axes.legend(loc="best", ncol=2)
    time_axis(axes, time_myr)


def lagrangian_columns(log):
    """{mass fraction: radii}, from columns such as r_lagr_0.5."""
    return {float(fraction): radii for fraction, radii in log.with_prefix("r_lagr_").items()}


def has_galaxy(log):
    """Without a galaxy, the tidal radius is only a distance at which stars are called lost."""
    return "e_tide" not in log or bool(np.any(log["e_tide"] != 0))


def draw_separations(axes, snapshots, time_myr):
    """Distances between few bodies, along their tracks."""
    axes.set_title("Distances between the bodies")
    path, t, names = tracks(snapshots)
    for k, (i, j) in enumerate(itertools.combinations(range(len(path)), 2)):
        distance = np.sqrt(((path[i] - path[j])**2).sum(axis=1))
        axes.plot(t, distance, color=BODY_COLOURS[k % len(BODY_COLOURS)], lw=1.1,
                  label="%d - %d" % (names[i], names[j]))
    log_scale(axes, 1)
    axes.set_ylabel("distance [N-body]")
    axes.set_ylim(top=2.2 * axes.get_ylim()[1])  # room for the legend
    axes.legend(loc="upper right", ncol=6)
    time_axis(axes, time_myr)


def draw_radii(axes, log, time_myr):
    axes.set_title("Lagrangian and core radii")
    columns = lagrangian_columns(log) if log is not None and len(log) else {}
    if not columns:
        return say_missing(axes, "no rows in the log yet")
    t = log["t"]
    shown = [f for f in columns if any(abs(f - s) < 1e-9 for s in LAGRANGIAN_SHOWN)]
    marker = dict(marker="o", ms=3) if len(t) < 40 else {}
    labels = []
    for i, fraction in enumerate(shown):
        radius = np.where(columns[fraction] > 0, columns[fraction], np.nan)
        if np.isfinite(radius).any():
            colour = plt.cm.viridis(0.9 - 0.85 * i / max(len(shown) - 1, 1))
            axes.plot(t, radius, color=colour, lw=2.2 if abs(fraction - 0.5) < 1e-9 else 1.2, **marker)
            labels.append((radius[np.isfinite(radius)][-1], "%g %%" % (100 * fraction), colour))
    for column, label, style in (("r_core", "core", "--"), ("r_tide", "tidal", ":")):
        if column in log and (log[column] > 0).any() and (column != "r_tide" or has_galaxy(log)):
            axes.plot(t, np.where(log[column] > 0, log[column], np.nan), style, color=RED, lw=1.6, label=label)
    if not labels:
        return say_missing(axes, "no radii in the log yet")
    log_scale(axes, 0.5)
    axes.set_ylabel("radius [N-body]")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda r, _: "%g" % r))
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high)**0.09, high)  # room for the legend
    time_axis(axes, time_myr)
    axes.legend(loc="lower left", ncol=2)
    place_labels(axes, labels)


def place_labels(axes, labels):
    """Name each line beside its right end, moved apart where lines come close."""
    figure = axes.figure
    figure.canvas.draw()
    height = axes.transAxes.inverted().transform(axes.transData.transform([(0, y) for y, _, _ in labels]))[:, 1]
    order = np.argsort(height)
    at, lowest = {}, -1.0
    for k in order:
        at[k] = max(height[k], lowest + 0.047)
        lowest = at[k]
    excess = max(0.0, lowest - 1.0)
    for k, (_, text, colour) in enumerate(labels):
        axes.annotate(text, (1.01, at[k] - excess), xycoords="axes fraction", va="center", fontsize=7.5, color=colour)


def draw_steps(axes, snapshot):
    axes.set_title("Time-steps")
    series = [(name, values, colour) for name, values, colour in
              (("irregular", getattr(snapshot, "dt_irr", None), BLUE),
               ("regular", getattr(snapshot, "dt_reg", None), RED))
              if values is not None and (values > 0).any()]
    if not series:
        return say_missing(axes, "no snapshot with steps yet")
    levels = [np.rint(np.log2(values[values > 0])).astype(int) for _, values, _ in series]
    low, high = min(l.min() for l in levels), max(l.max() for l in levels)
    edges = np.arange(low - 0.5, high + 1.5)
    for (name, _, colour), level in zip(series, levels):
        counts, _ = np.histogram(level, edges)
        axes.stairs(counts, edges, color=colour, lw=1.4, fill=False)
        axes.stairs(counts, edges, color=colour, alpha=0.28, fill=True, label=name)
    if max(np.histogram(l, edges)[0].max() for l in levels) > 50:
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(0, 6 * axes.get_ylim()[1])  # room for the legend
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "%g" % y))
    else:
        axes.set_ylim(top=1.25 * axes.get_ylim()[1])
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    every = max(1, (high - low) // 8 + 1)
    axes.set_xticks(range(low, high + 1, every))
    axes.set_xlim(low - 1, high + 1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda k, _: r"$2^{%d}$" % k))
    axes.set_xlabel("step [N-body time]")
    axes.set_ylabel("stars")
    axes.legend(loc="upper left", ncol=2)


def draw_neighbours(axes, snapshot):
    axes.set_title("Neighbour numbers")
    count = getattr(snapshot, "nnb", None)
    if count is None or len(count) == 0:
        return say_missing(axes, "no snapshot with neighbour numbers yet")
    width = max(1, int(np.ceil((count.max() - count.min() + 1) / 40)))
    edges = np.arange(count.min(), count.max() + width + 1, width) - 0.5
    axes.hist(count, edges, color=GREEN, alpha=0.75, edgecolor="white", linewidth=0.4)
    margin = max(width, 0.02 * (edges[-1] - edges[0]))
    axes.set_xlim(edges[0] - margin, edges[-1] + margin)
    axes.set_ylim(top=1.12 * axes.get_ylim()[1])
    mean = float(np.mean(count))
    axes.axvline(mean, color=INK, lw=1.2, ls="--")
    axes.annotate("mean %.4g" % mean, (mean, 0.97), xycoords=("data", "axes fraction"), xytext=(5, 0),
                  textcoords="offset points", va="top", fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_xlabel("neighbours of a star")
    axes.set_ylabel("stars")


def stage_seconds(log):
    """{stage: wall-clock seconds so far} from columns such as stage_regular_s."""
    if log is None or len(log) == 0:
        return {}
    return {stage: float(np.nan_to_num(seconds[-1])) for stage, seconds in log.with_prefix("stage_", "_s").items()}


def draw_wall_time(axes, log):
    axes.set_title("Where the wall time went")
    stages = {name: seconds for name, seconds in stage_seconds(log).items() if seconds > 0}
    total = sum(stages.values())
    if total <= 0:
        return say_missing(axes, "no timings in the log yet")
    names = sorted(stages, key=stages.get)
    bars = axes.barh(range(len(names)), [stages[n] for n in names], height=0.72,
                     color=[STAGE_COLOURS.get(n, GREY) for n in names])
    for bar, name in zip(bars, names):
        axes.annotate("%.0f %%" % (100 * stages[name] / total), (bar.get_width(), bar.get_y() + bar.get_height() / 2),
                      xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names)
    axes.set_xlim(0, 1.18 * max(stages.values()))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("wall-clock time [s], %s s in all" % ("%.3g" % total))


def tracks(snapshots, points=48):
    """Paths [n][steps][3] of the bodies that all snapshots have, their times [steps], and their names.

    Between snapshots: the polynomial of fifth degree (third, without accelerations) that has their values at both ends.
    """
    names = sorted(set.intersection(*(set(s.name.tolist()) for s in snapshots)))
    index = [[s.name.tolist().index(name) for name in names] for s in snapshots]
    s = np.linspace(0, 1, points, endpoint=False)[None, :, None]
    path, times = [], []
    for a, b, ia, ib in zip(snapshots[:-1], snapshots[1:], index[:-1], index[1:]):
        h = b.t - a.t
        xa, xb, va, vb = (q[:, None, :] for q in (a.x[ia], b.x[ib], a.v[ia] * h, b.v[ib] * h))
        step = (1 + 2 * s) * (1 - s)**2 * xa + s * (1 - s)**2 * va + s**2 * (3 - 2 * s) * xb + s**2 * (s - 1) * vb
        if a.acc is not None and b.acc is not None:
            # Second derivatives of the cubic at both ends are what is missing.
            da = (a.acc[ia] * h * h)[:, None, :] - (6 * (xb - xa) - 4 * va - 2 * vb)
            db = (b.acc[ib] * h * h)[:, None, :] - (-6 * (xb - xa) + 2 * va + 4 * vb)
            step = step + s**2 * (1 - s)**3 * da / 2 + s**3 * (1 - s)**2 * db / 2
        path.append(step)
        times.append(a.t + h * s[0, :, 0])
    path.append(snapshots[-1].x[index[-1]][:, None, :])
    times.append(np.array([snapshots[-1].t]))
    return np.concatenate(path, axis=1), np.concatenate(times), names


def view_of(snapshot, log):
    """Centre and half-width of the pictures, and circles {label: radius} to draw: core, half mass, tidal."""
    x, mass = snapshot.x, snapshot.mass
    weight = mass if mass.sum() > 0 else np.ones(len(mass))
    centre = np.average(x, axis=0, weights=weight)
    circles = {}
    row = nearest_row(log, snapshot.t)
    if row is not None:
        named = [log[c][row] for c in ("r_density_x", "r_density_y", "r_density_z") if c in log]
        if len(named) == 3 and np.isfinite(named).all() and snapshot.n > FEW_BODIES:
            centre = np.array(named)
        circles = {label: float(log[column][row]) for label, column in
                   (("core radius", "r_core"), ("half-mass radius", "r_half"), ("tidal radius", "r_tide"))
                   if column in log and log[column][row] > 0 and (column != "r_tide" or has_galaxy(log))}
    distance = np.sqrt(((x - centre)**2).sum(axis=1))
    width = 1.15 * distance.max() if snapshot.n <= FEW_BODIES else min(1.1 * distance.max(),
                                                                        2.2 * np.quantile(distance, 0.85))
    return centre, max(width, 1e-12), circles


def nearest_row(log, t):
    if log is None or len(log) == 0:
        return None
    return int(np.argmin(np.abs(log["t"] - t)))


def mass_range(mass):
    positive = mass[mass > 0]
    return (positive.min(), positive.max()) if len(positive) else (1.0, 1.0)


def draw_views(figure, grid, snapshot, log, earlier):
    """The cluster from three sides."""
    if snapshot is None:
        axes = figure.add_subplot(grid[:])
        axes.set_title("The cluster")
        return say_missing(axes, "no snapshot yet: they are written with KZ(3)=1 at each output time")
    centre, width, circles = view_of(snapshot, log)
    low, high = mass_range(snapshot.mass)
    spread = high > 1.5 * low and snapshot.n > FEW_BODIES
    few = snapshot.n <= FEW_BODIES
    paths = tracks(earlier + [snapshot])[0] if few and earlier else None
    if paths is not None:
        width = max(width, 1.08 * np.abs(paths - centre).max())
    views = ((0, 1, "face-on: x-y"), (0, 2, "from the side: x-z"), (1, 2, "from the front: y-z"))
    for k, (i, j, title) in enumerate(views):
        axes = figure.add_subplot(grid[k])
        draw_view(axes, snapshot, centre, width, (i, j), circles, spread)
        if paths is not None:
            lines = LineCollection(paths[:, :, (i, j)] - centre[[i, j]], lw=0.9, alpha=0.8, zorder=2,
                                   colors=[BODY_COLOURS[n % len(BODY_COLOURS)] for n in range(len(paths))])
            axes.add_collection(lines)
        axes.set_title(title)


def draw_view(axes, snapshot, centre, width, plane, circles, spread):
    i, j = plane
    x, y = (snapshot.x - centre)[:, i], (snapshot.x - centre)[:, j]
    n = snapshot.n
    inside = (np.abs(x) <= width) & (np.abs(y) <= width)
    if n <= FEW_BODIES:
        size = 90 * (snapshot.mass / max(snapshot.mass.max(), 1e-300))**(2 / 3) + 6
        axes.scatter(x, y, size, c=[BODY_COLOURS[k % len(BODY_COLOURS)] for k in np.argsort(np.argsort(snapshot.name))]
                     if snapshot.name is not None else BLUE, zorder=4,
                     edgecolors="white", linewidths=0.8)
    elif spread:
        low, high = mass_range(snapshot.mass)
        order = np.argsort(snapshot.mass)
        relative = np.log(np.maximum(snapshot.mass[order], low) / low) / np.log(high / low)
        size = np.clip(4000 / n, 0.5, 8) * (0.5 + 7 * relative**2)
        axes.scatter(x[order], y[order], size, c=relative, cmap="cividis_r", vmin=-0.15, vmax=1.0, linewidths=0,
                     alpha=0.9, zorder=3)
    else:
        axes.scatter(x, y, np.clip(3500 / n, 0.25, 6), color="#123a5e", alpha=float(np.clip(8000 / n, 0.15, 0.7)),
                     linewidths=0, zorder=3)
    styles = (("core radius", RED, "-"), ("half-mass radius", ORANGE, "-"), ("tidal radius", GREY, "--"))
    for label, colour, line in styles if n > FEW_BODIES else ():
        if label in circles and circles[label] < 1.4 * width:
            axes.add_patch(plt.Circle((0, 0), circles[label], fill=False, color=colour, ls=line, lw=1.4, zorder=5,
                                      label=label))
    axes.set_xlim(-width, width)
    axes.set_ylim(-width, width)
    axes.set_aspect("equal")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("%s [N-body]" % "xyz"[i])
    axes.set_ylabel("%s [N-body]" % "xyz"[j], labelpad=1)
    if (~inside).any():
        axes.annotate("%d outside the frame" % (~inside).sum(), (0.02, 0.02), xycoords="axes fraction", fontsize=7,
                      color=GREY)


def headline(run, snapshot):
    """What the page is about, in a line of text."""
    log = run.log
    parts = []
    t = log["t"][-1] if log is not None and len(log) else (snapshot.t if snapshot is not None else None)
    if log is not None and len(log) and "n" in log:
        parts.append("N = %d" % log["n"][-1])
    elif snapshot is not None:
        parts.append("N = %d" % snapshot.n)
    if t is not None:
        parts.append("t = %g" % t)
    if log is not None and len(log) and energy_columns(log)[0] in log:
        parts.append(r"$\Delta$E/E = " + number(log[energy_columns(log)[0]][-1]))
    if log is not None and len(log) and "wall_s" in log:
        parts.append("wall time %.3g s" % log["wall_s"][-1])
    return "     ".join(parts)


def make_page(run, snapshot, earlier, time_myr, path):
    """Draws the page and writes it as PNG.

    earlier: snapshots before the last one, used for the tracks of few bodies; time_myr: N-body time unit or None.
    """
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(13, 13.2), dpi=120)
        rows = figure.add_gridspec(3, 1, height_ratios=(1.0, 0.85, 1.25), hspace=0.33, left=0.062, right=0.957,
                                   top=0.905, bottom=0.05)
        first = rows[0].subgridspec(1, 2, wspace=0.17)
        second = rows[1].subgridspec(1, 3, wspace=0.28)
        third = rows[2].subgridspec(1, 3, wspace=0.2)
        figure.text(0.062, 0.966, run.title, fontsize=19, fontweight="bold", va="center")
        figure.text(0.957, 0.966, headline(run, snapshot), fontsize=10.5, color="#444444", va="center", ha="right")
        draw_energy(figure.add_subplot(first[0]), run.log, time_myr)
        if earlier and snapshot.n <= 4:
            draw_separations(figure.add_subplot(first[1]), earlier + [snapshot], time_myr)
        else:
            draw_radii(figure.add_subplot(first[1]), run.log, time_myr)
        draw_steps(figure.add_subplot(second[0]), snapshot)
        draw_neighbours(figure.add_subplot(second[1]), snapshot)
        draw_wall_time(figure.add_subplot(second[2]), run.log)
        draw_views(figure, third, snapshot, run.log, earlier)
        if snapshot is not None:
            legend_of_views(figure, snapshot)
        figure.savefig(path, metadata={"Software": "nbody6-plot"})
        plt.close(figure)


def legend_of_views(figure, snapshot):
    """One line under the pictures: their time, and the circles."""
    views = figure.axes[-3:]
    handles, labels = views[0].get_legend_handles_labels()
    if handles:
        lines = [plt.Line2D([], [], color=h.get_edgecolor(), ls=h.get_linestyle(), lw=1.4) for h in handles]
        figure.legend(lines, labels, loc="lower right", ncol=3, bbox_to_anchor=(0.96, 0.005), fontsize=8.5)
    low, high = mass_range(snapshot.mass)
    text = "the cluster at t = %g" % snapshot.t
    if high > 1.5 * low and snapshot.n > FEW_BODIES:
        text += ";  darker and larger: more massive (m from %.3g to %.3g, N-body)" % (low, high)
    figure.text(0.062, 0.016, text, fontsize=8.5, color=GREY, va="center")
