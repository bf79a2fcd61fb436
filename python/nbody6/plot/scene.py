"""The cluster in three dimensions: a picture that turns, of our own few lines of script, and one that stands still
where there is no script."""

import base64
import html
import json

import numpy as np

from .colours import GREY, MASS_MAP, SERIES
from .panels_cluster import dots, mass_classes, star_sizes
from .scene_script import SCRIPT
from .style import figure, styled, to_svg

MOST_STARS = 16000  # in the picture; of more, all heavy ones and some of the light ones
MOST_POINTS = 6000  # of the tracks of few bodies
ONE = 8000  # what the half width is as an integer; what is four times as far is not shown
AZIMUTH, ELEVATION, ELEVATION_FLAT = 35.0, 22.0, 60.0  # degrees, at the start; of what lies in the x-y plane
DISTANCE = 4.0  # of the eye from the centre, in half widths


def nice(length):
    """The largest 1, 2, 5 times a power of ten that is not above a length."""
    power = 10.0**np.floor(np.log10(length))
    return float(max(step * power for step in (1, 2, 5) if step * power <= length * 1.000001))


def pack(values, kind):
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def chosen(mass, d, width):
    """Indices of the stars to show, from light to heavy."""
    inside = np.abs(d).max(axis=1) < 3.9 * width
    order = np.argsort(mass, kind="stable")
    order = order[inside[order]]
    if len(order) <= MOST_STARS:
        return order
    heavy, light = order[-MOST_STARS // 4:], order[:-MOST_STARS // 4]
    which = np.random.default_rng(1).choice(len(light), MOST_STARS - len(heavy), replace=False)
    return np.concatenate([light[np.sort(which)], heavy])


def rotated(d, azimuth, elevation):
    """Right, up, and towards the eye: [n][3]; as in the script."""
    a, e = np.radians(azimuth), np.radians(elevation)
    x, y, z = np.asarray(d, dtype=float).T
    right, away = x * np.cos(a) + y * np.sin(a), -x * np.sin(a) + y * np.cos(a)
    return np.stack([right, z * np.cos(e) + away * np.sin(e), z * np.sin(e) - away * np.cos(e)], axis=1)


def projected(d, width, elevation):
    """Places in the still picture, in half widths: [n][2]."""
    place = rotated(d, AZIMUTH, elevation) / width
    return place[:, :2] * (DISTANCE / (DISTANCE - place[:, 2:]))


class Scene:
    """The part of a report that is shown, in N-body units: d [n][3], mass [n], kind [n] or None, paths (few bodies)
    [n][m][3] or None, width."""

    def __init__(self, report):
        stars = report.snapshot
        self.mass, self.paths, self.elevation = stars.mass, None, ELEVATION
        if report.few:
            path = report.tracks[0] if report.earlier else stars.x[:, None, :]
            centre = np.average(stars.x, axis=0, weights=stars.mass if stars.mass.sum() > 0 else None)
            step = max(1, len(path) * path.shape[1] // MOST_POINTS)
            self.paths = np.concatenate([path[:, :-1:step], path[:, -1:]], axis=1) - centre
            if np.abs(self.paths[:, :, 2]).max() < 1e-3 * np.abs(self.paths).max():
                self.elevation = ELEVATION_FLAT
            self.d, self.mass = self.paths[:, -1], np.ones(len(self.paths))
            self.width = 1.05 * np.abs(self.paths).max() or 1.0
            self.kind = np.arange(len(self.d)) % len(SERIES)
            return
        d, r = stars.x - stars.centre, stars.r
        self.width = min(1.1 * r.max(), 2.2 * np.quantile(r, 0.85)) or 1.0
        which = chosen(stars.mass, d, self.width)
        self.d, self.mass = d[which], stars.mass[which]
        self.kind = mass_classes(stars.mass)[0]
        self.kind = None if self.kind is None else self.kind[which]
        self.shown, self.all = len(which), len(d)

    def data(self, report):
        """For the script: places as integers, classes, sizes, and the length of the axes in each unit."""
        points = self.d if self.paths is None else self.paths.reshape(-1, 3)
        kind = np.zeros(len(self.d)) if self.kind is None else self.kind
        axes = {}
        for unit in report.scale.choices:
            factor = report.scale.units.factor("length", unit) if unit == "physical" else 1.0
            length = nice(0.8 * self.width * factor)
            axes[unit] = [length / factor / self.width, "%g %s" % (length, "pc" if unit == "physical" else "N-body")]
        sizes = np.sqrt(star_sizes(len(self.d), np.arange(len(MASS_MAP)))) * 1.1
        return {"n": len(self.d), "steps": 0 if self.paths is None else self.paths.shape[1], "one": ONE,
                "places": pack(np.clip(np.rint(points / self.width * ONE), -32000, 32000), "<i2"),
                "kind": pack(kind, "u1"), "axes": axes, "distance": DISTANCE, "turn": [AZIMUTH, self.elevation],
                "sizes": [round(float(size), 2) for size in sizes], "one_kind": self.kind is None,
                "lines": self.paths is not None}

    def still(self, report):
        """The picture without a script, as SVG."""
        drawn, axes = figure(5.2, 4.4)
        if self.paths is not None:
            for k, path in enumerate(self.paths):
                axes.plot(*projected(path, self.width, self.elevation).T, color=SERIES[k % len(SERIES)], lw=0.9)
            for k, place in enumerate(projected(self.d, self.width, self.elevation)):
                axes.plot(*place, "o", color=SERIES[k % len(SERIES)], ms=5)
        else:
            dots(axes, self.mass, *projected(self.d, self.width, self.elevation).T)
        length, text = self.data(report)["axes"][report.scale.unit]
        for k, name in enumerate("xyz"):
            end = np.zeros((1, 3))
            end[0, k] = length * self.width
            (x, y), = projected(end, self.width, self.elevation)
            axes.plot([0, x], [0, y], color=GREY, lw=1)
            axes.annotate(name, (1.06 * x, 1.06 * y), ha="center", va="center", fontsize=9)
        axes.text(0.02, 0.02, "axes: " + text, transform=axes.transAxes, fontsize=8)
        axes.set_xlim(-1.25, 1.25)
        axes.set_ylim(-1.05, 1.05)
        axes.set_aspect("equal")
        axes.axis("off")
        return to_svg(drawn, "The cluster in three dimensions", "still" + report.scale.unit)


@styled
def scene_html(report, in_units):
    """The figure, or nothing if there are no stars.   in_units(make): HTML of make() in each unit"""
    stars = report.snapshot
    if stars is None or len(stars) < 2 or not np.ptp(stars.x, axis=0).any():
        return ""
    scene = Scene(report)
    text = "The stars about the density centre at t = %g." % stars.t if not report.few else \
        "Paths of the bodies, the dots at t = %g." % stars.t
    if not report.few and scene.kind is not None:
        text += " Heavy stars are larger and stand out."
    if not report.few and scene.shown < scene.all:
        text += " %d of %d stars are shown." % (scene.shown, scene.all)
    text += " Normal: round, unless a galaxy draws tails." if not report.few else " Normal: smooth curves."
    return ('<figure id="scene"><h3>In three dimensions</h3>'
            '<div class="scene"><div class="still">%s</div></div><figcaption>%s <span class="keys">Drag it, or use the '
            'arrow keys, to turn it; + and − come closer and go away; the space bar lets it turn by itself or stops it.'
            '</span></figcaption>'
            '<script type="application/json" id="scene-data">%s</script></figure>' %
            (in_units(lambda: scene.still(report)), html.escape(text), json.dumps(scene.data(report))))


__all__ = ["SCRIPT", "Scene", "nice", "projected", "rotated", "scene_html"]
