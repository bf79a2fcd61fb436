"""An SVG of matplotlib made fit for the page: colours by name, ids of its own, and as few bytes as dots need."""

import base64
import io
import re

from PIL import Image

from .colours import TOKENS

PALETTE = 96  # colours of an image of many stars

NUMBER = re.compile(r"-?\d+\.\d{2}\d+")
USE = r'<use xlink:href="#(\w+)" x="([-\d.]+)" y="([-\d.]+)" style="fill: ([^";]+)"/>\s*'
CIRCLE = re.compile(r'<path id="(\w+)" d="M 0 ([\d.]+) \n(?:C [-\d. ]+\n){8}z\n"/>')


def _rounded(match):
    return NUMBER.sub(lambda number: "%g" % round(float(number.group()), 2), match.group())


def _dots(run, radii):
    """A run of circles of one size and colour as one path of points with round ends; others as they are, in a group."""
    uses = re.findall(USE, run)
    name, colour = uses[0][0], uses[0][3]
    places = [(round(float(x), 1), round(float(y), 1)) for _, x, y, _ in uses]
    if name in radii:
        return '<path d="%s" style="fill: none; stroke: %s; stroke-width: %g; stroke-linecap: round"/>' % (
            "".join("M%g %gh0" % place for place in places), colour, 2 * radii[name])
    return '<g style="fill: %s">%s</g>' % (colour, "".join('<use xlink:href="#%s" x="%g" y="%g"/>' % (name, x, y)
                                                          for x, y in places))


def compact(text):
    """Coordinates with two decimals, and dots as paths."""
    text = re.sub(r' d="[^"]*"', _rounded, text)
    radii = {name: float(radius) for name, radius in CIRCLE.findall(text)}
    return re.sub(r"(?:%s)(?:<use xlink:href=\"#\1\" x=\"[-\d.]+\" y=\"[-\d.]+\" style=\"fill: \4\"/>\s*)*" % USE,
                  lambda run: _dots(run.group(), radii), text)


def _smaller_image(match):
    """An image of many stars with a palette, if that takes fewer bytes."""
    given = re.sub(r"\s", "", match.group(1))
    image, out = Image.open(io.BytesIO(base64.b64decode(given))).convert("RGBA"), io.BytesIO()
    image.quantize(PALETTE, method=Image.Quantize.FASTOCTREE).save(out, "PNG", compress_level=6)
    made = base64.b64encode(out.getvalue()).decode()
    return "data:image/png;base64," + min(given, made, key=len)


def for_page(text, label, salt):
    """The SVG of a file as one of a page.   label: for screen readers; salt: begins the ids in it"""
    text = text[text.index("<svg"):]
    text = compact(re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S))
    text = re.sub(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)", _smaller_image, text)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda m: "var(--%s)" % TOKENS[m.group()][0] if m.group() in TOKENS else m.group(),
                  text)
    text = re.sub(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img" aria-label="%s" '
                  r'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
                  % label.replace("\\", "").replace('"', "&quot;"), text, count=1)
    text = re.sub(r'\bid="([^"]+)"', lambda m: 'id="%s-%s"' % (salt, m.group(1)), text)
    text = re.sub(r'(href="#|url\(#)', lambda m: m.group(1) + salt + "-", text)
    return re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui,sans-serif", text)
