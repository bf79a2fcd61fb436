"""Pictures for a notebook: the figures of the page, one or several in one figure of matplotlib."""

import io

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..names import not_found
from . import catalogue, style
from .report import Report

OF_A_RUN = ("radii", "energy-error", "stars", "virial")  # if nothing else is asked for
OF_STARS = ("view-xy", "view-xz", "density", "cumulative-mass")
COLUMNS = 2
INCHES = 3.6  # of height for each row


class Picture(Figure):
    """A figure of matplotlib that a notebook shows where it stands alone; `savefig` writes it, `axes` are to be
    changed. It belongs to no window and leaves the backend of the notebook alone."""

    def _repr_png_(self):
        out = io.BytesIO()
        self.savefig(out, format="png")
        return out.getvalue()


class Alone:
    """Stars that belong to no run, in place of one."""

    name = title = "stars"
    log, snapshots, events, encounters, parameters, is_going = None, (), (), (), {}, False

    def __init__(self, stars):
        units = stars.unit_system
        self.time_myr = units.time_myr if units is not None and units.stated else None

    def _set_centre(self, snapshot):
        pass


def _draw(report, names, unit):
    known = catalogue.ALL
    for name in names:
        if name not in known:
            raise not_found(name, known, "picture")
    if unit is not None:
        if unit not in report.scale.choices:
            raise ValueError("unit = %r: %s" % (unit, " or ".join(map(repr, report.scale.choices))))
        report.scale.unit = unit
    with matplotlib.rc_context({**style.STYLE, "figure.facecolor": "white", "savefig.facecolor": "white"}):
        there = [name for name in names if known[name](report) is not None]
        if not there:
            raise ValueError("nothing to draw yet: %s" % ", ".join(names))
        columns = min(COLUMNS, len(there))
        rows = -(-len(there) // columns)
        picture = Picture(figsize=(style.WIDTH * columns, INCHES * rows), dpi=110, layout="constrained")
        FigureCanvasAgg(picture)
        parts = picture.subfigures(rows, columns, squeeze=False).ravel()
        for part, name in zip(parts, there):
            with style.into(part):
                panel = known[name](report)
            part.suptitle(panel.title, fontsize=10)
        picture.canvas.draw()  # within the style
    return picture


def of_run(run, names, unit):
    """The Picture of a run.   Raises KeyError: a name that no picture has; ValueError; ReadError"""
    return _draw(Report(run), names or OF_A_RUN, unit)


def of_stars(stars, names, unit):
    """The Picture of stars at one time."""
    return _draw(Report(Alone(stars), stars=stars), names or OF_STARS, unit)
