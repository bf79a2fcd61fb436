"""The Hertzsprung-Russell diagram of single stars that age."""

import numpy as np

from . import style
from .axes import legend
from .colours import GREY
from .star_types import BRIGHT, GROUPS
from .style import figure, styled

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2", "#9498a0")
FAINTEST, SMALLEST = 1e-5, 1e-4  # neutron stars and black holes are not drawn


def cooling_times(track, end_myr):
    """Ages at which to draw a white dwarf that cools: it is born at the last change of type of its track."""
    born = track["time_myr"][np.flatnonzero(np.diff(track["type"], prepend=-1))[-1]]
    return born + np.geomspace(0.01, max(end_myr - born, 0.02), 60)


@styled
def draw(tracks, title, path):
    """:param tracks: list of (label, array of VIEW)   :param path: picture to write, by its ending"""
    drawn, axes = figure(5.2, 4.6)
    for label, track in tracks:
        shown = (track["luminosity"] > FAINTEST) & (track["radius"] > SMALLEST)
        heat, light, kinds = (track[name][shown] for name in ("temperature_k", "luminosity", "type"))
        axes.plot(heat, light, color=GREY, linewidth=0.5, alpha=0.6, zorder=1)
        for (_, types), colour in zip(GROUPS[:BRIGHT], COLOURS):
            part = np.isin(kinds, types)
            axes.plot(np.where(part, heat, np.nan), np.where(part, light, np.nan), ".-", color=colour, markersize=2.5,
                      linewidth=1.2, zorder=2)
        if len(heat):
            axes.annotate(style.plain(label), (heat[0], light[0]), xytext=(-4, -2), textcoords="offset points",
                          fontsize=7, ha="right", va="top")
    for (name, _), colour in zip(GROUPS[:BRIGHT], COLOURS):
        axes.plot([], [], ".-", color=colour, label=name)
    axes.set(xscale="log", yscale="log", xlabel="effective temperature [K]", ylabel="luminosity [$L_\\odot$]")
    axes.text(0.98, 0.03, style.plain(title), transform=axes.transAxes, ha="right", fontsize=8)
    axes.invert_xaxis()
    legend(axes)
    drawn.savefig(path, facecolor="white")
