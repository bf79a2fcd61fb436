"""How figures look: colours that colour-blind readers can tell apart (Okabe and Ito 2008), which the page turns into
those of its dark or light scheme, and figures small enough to be read on a phone."""

import functools
import io
import re

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402

BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
SKY, PURPLE, YELLOW = "#56b4e9", "#cc79a7", "#f0e442"
INK, GREY, GRID = "#222222", "#777777", "#e6e6e6"
# Each colour has a name in the style sheet of the page: (light, dark).
TOKENS = {
    BLUE: ("blue", "#4aa8e0"), ORANGE: ("orange", "#f0b429"), GREEN: ("green", "#2cc79a"), RED: ("red", "#f4803c"),
    SKY: ("sky", "#7cc8f0"), PURPLE: ("purple", "#dd9cc0"), YELLOW: ("yellow", "#f0e442"), INK: ("ink", "#e4e6ea"),
    GREY: ("grey", "#9aa0a8"), GRID: ("grid", "#363b44")}
SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
WIDTH, HEIGHT = 4.7, 3.1  # inches: 338 points, about the width of a phone
STYLE = {"font.size": 9, "axes.edgecolor": GREY, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
         "ytick.color": INK, "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.grid": True, "grid.color": GRID,
         "grid.linewidth": 0.7, "axes.axisbelow": True, "axes.linewidth": 0.8, "legend.frameon": False,
         "legend.fontsize": 8, "lines.linewidth": 1.4, "mathtext.default": "regular", "svg.fonttype": "none",
         # room for the label of a power of ten at the very end of an axis
         "figure.constrained_layout.h_pad": 0.13,
         "font.family": "sans-serif", "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}
STARS_AS_VECTORS = 1500  # above, dots are drawn as an image within the figure


def figure(width=WIDTH, height=HEIGHT):
    """A figure with one pair of axes; to be drawn, and written, within `styled`."""
    return plt.subplots(figsize=(width, height), layout="constrained")


def styled(function):
    """The function draws in this style, and leaves that of the caller alone."""
    @functools.wraps(function)
    def within(*arguments, **options):
        with plt.rc_context(STYLE):
            return function(*arguments, **options)
    return within


def plain(text):
    """Somebody's text for a figure: as it stands, where matplotlib takes what is between dollars for mathematics, and
    with a question mark for what is no character (file names may be any bytes)."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("$", r"\$")


def to_svg(drawn, label):
    """The figure as text of an SVG that takes its colours from the page, and closes it.   label: for screen readers"""
    out = io.StringIO()
    with plt.rc_context({"svg.hashsalt": label}):
        drawn.savefig(out, format="svg", dpi=160, metadata={"Date": None, "Creator": None})
    plt.close(drawn)
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda m: "var(--%s)" % TOKENS[m.group()][0] if m.group() in TOKENS else m.group(),
                  text)
    text = re.sub(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img" aria-label="%s" '
                  r'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
                  % label.replace("\\", "").replace('"', "&quot;"), text, count=1)
    salt = "".join(c for c in label if c.isalnum())
    text = re.sub(r'\bid="([^"]+)"', lambda m: 'id="%s-%s"' % (salt, m.group(1)), text)
    text = re.sub(r'(href="#|url\(#)', lambda m: m.group(1) + salt + "-", text)
    return re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui,sans-serif", text)


def number(value, digits=4):
    """So many significant digits, powers of ten where they read better; for text, not for figures."""
    if value is None or not np.isfinite(value):
        return "-"
    if 10**digits <= abs(value) < 1e6:
        return "%.0f" % value
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return "%.*g" % (digits, value)
    mantissa, exponent = ("%.*e" % (min(digits, 3) - 1, value)).split("e")
    return "%s × 10<sup>%d</sup>" % (mantissa, int(exponent))


def count(n, one, many=None):
    """A number and what it counts: "1 binary", "no binaries", "3 binaries"."""
    return "%s %s" % (n or "no", one if n == 1 else many or one + "s")


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
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "%g" % y))
    axes.yaxis.set_minor_formatter(NullFormatter())


def log_axis_x(axes):
    if not axes.dataLim.x1 > 0:
        return
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high / low < 1e3:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 60 else (1,)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: "%g" % x))
    axes.xaxis.set_minor_formatter(NullFormatter())


def few_ticks(axes, x=6, y=6):
    axes.xaxis.set_major_locator(MaxNLocator(x, steps=(1, 2, 5, 10)))
    axes.yaxis.set_major_locator(MaxNLocator(y, steps=(1, 2, 5, 10)))


class Panel:
    """A figure of the page: a short name for links, a title, an SVG, and a sentence that says what it shows and what is
    normal (HTML). `wide`: takes the room of two."""

    def __init__(self, name, title, drawn, sentence, wide=False):
        self.name, self.title, self.sentence, self.wide = name, title, sentence, wide
        self.svg = to_svg(drawn, title)
