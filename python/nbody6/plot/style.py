"""How figures look: colours which the page turns into those of its dark or light scheme, and figures small enough to be
read on a phone. No figure belongs to pyplot, so that the backend of a notebook stays what it is."""

import contextlib
import contextvars
import functools
import io

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from . import svg
from .colours import GREY, GRID, INK

WIDTH, HEIGHT = 4.7, 3.1  # inches: 338 points, about the width of a phone
STYLE = {"font.size": 9, "axes.edgecolor": GREY, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
         "ytick.color": INK, "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.grid": True, "grid.color": GRID,
         "grid.linewidth": 0.7, "axes.axisbelow": True, "axes.linewidth": 0.8, "legend.frameon": False,
         "legend.fontsize": 8, "lines.linewidth": 1.4, "mathtext.default": "regular", "svg.fonttype": "none",
         "axes.formatter.useoffset": False,
         "font.family": "sans-serif", "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}
STARS_AS_VECTORS = 4000  # above, dots are drawn as an image within the figure


# A part of another figure, in place of a figure for each panel
_place = contextvars.ContextVar("place", default=None)


@contextlib.contextmanager
def into(part):
    """Panels that are drawn within go into this part of a figure."""
    token = _place.set(part)
    try:
        yield
    finally:
        _place.reset(token)


def figure(width=WIDTH, height=HEIGHT, rows=1, columns=1, **options):
    """A figure with one pair of axes, or an array of them; to be drawn, and written, within `styled`."""
    part = _place.get()
    if part is not None:
        return part, part.subplots(rows, columns, **options)
    drawn = Figure(figsize=(width, height), dpi=160, layout="tight")
    FigureCanvasAgg(drawn)
    drawn.get_layout_engine().set(pad=0.5, h_pad=0.8)
    return drawn, drawn.subplots(rows, columns, **options)


def styled(function):
    """The function draws in this style, and leaves that of the caller alone."""
    @functools.wraps(function)
    def within(*arguments, **options):
        with matplotlib.rc_context(STYLE):
            return function(*arguments, **options)
    return within


def plain(text):
    """A user's text for a figure: literal dollars, which matplotlib takes for mathematics, and question marks in place
    of unprintable characters (file names may be any bytes)."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("$", r"\$")


def to_svg(drawn, label, salt):
    """The figure as text of an SVG that takes its colours from the page.   label: for screen readers; salt: begins the
    ids in it, letters and digits that no other figure of the page has"""
    out = io.StringIO()
    drawn.get_layout_engine().execute(drawn)
    drawn.set_layout_engine("none")
    with matplotlib.rc_context({"svg.hashsalt": salt}):  # savefig would draw once more, for the layout
        FigureCanvasSVG(drawn).print_svg(out, metadata={"Date": None, "Creator": None})
    return svg.for_page(out.getvalue(), label, salt)


def forget_dots(drawn):
    """Takes what was drawn out of a figure that is written: dots of many stars take memory. Figure.clear() makes all
    axes anew as well, which is a fifth of the time of a page."""
    for axes in drawn.axes:
        for artist in (*axes.collections, *axes.lines, *axes.images):
            artist.remove()


def number(value, digits=4):
    """So many significant digits, powers of ten where they read better, which no line breaks; for text, not for
    figures."""
    if value is None or not np.isfinite(value):
        return "-"
    if 10**digits <= abs(value) < 1e6:
        return "%.0f" % value
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return "%.*g" % (digits, value)
    mantissa, exponent = ("%.*e" % (min(digits, 3) - 1, value)).split("e")
    return '<span class="n">%s × 10<sup>%d</sup></span>' % (mantissa, int(exponent))


def count(n, one, many=None):
    """A number and what it counts: "1 binary", "no binaries", "3 binaries"."""
    return "%s %s" % (n or "no", one if n == 1 else many or one + "s")


class Panel:
    """A figure of the page: a short name for links, a title, the drawn figure, and a sentence that says what it shows
    and what is normal (HTML). `has_units` is False if no unit of the page makes a difference."""

    def __init__(self, name, title, drawn, sentence, has_units=True):
        self.name, self.title, self.figure, self.sentence = name, title, drawn, sentence
        self.has_units = has_units

    def svg(self, salt=""):
        """The figure as SVG; within `styled`.   salt: tells it from one of the same name on the page"""
        return to_svg(self.figure, self.title, "".join(c for c in self.name + salt if c.isalnum()))
