"""The page: one HTML file with all in it. Figures and tables that have units are in it once for each unit that the run
states; a switch without a script shows one of them."""

import html
import itertools

from . import catalogue, panels_binaries, panels_cluster, scene, story, tables
from .page_style import CSS
from .scene_script import SCRIPT
from .style import forget_dots, styled

UNIT_LABELS = {"physical": "pc, Msun, km/s, Myr", "nbody": "N-body units"}


# ---- units

def in_units(scales, make):
    """HTML of make() in each unit of the page, once if it is the same in all.   scales: report.Scale, of each run"""
    choices, texts = scales[0].choices, []
    for unit in choices:
        for scale in scales:
            scale.unit = unit
        texts.append(make())
    for scale in scales:
        scale.unit = choices[0]
    if all(text == texts[0] for text in texts):
        return texts[0]
    return "".join('<div class="in-%s">%s</div>' % pair for pair in zip(choices, texts))


def switch(choices):
    if len(choices) < 2:
        return ""
    return '<span class="units">Units: </span>' + "".join(
        '<input type="radio" name="units" id="show-%s" value="%s"%s/><label for="show-%s">%s</label> ' % (
            unit, unit, " checked" if unit == choices[0] else "", unit, UNIT_LABELS[unit]) for unit in choices)


class Drawings:
    """Panels that draw() makes, in each unit: one figure of HTML for each."""

    def __init__(self, scales, draw):
        variants = {}
        for unit in scales[0].choices:
            for scale in scales:
                scale.unit = unit
            for panel in draw():
                if panel is not None and (panel.has_units or unit == scales[0].choices[0]):
                    variants.setdefault(panel.name, []).append(
                        (unit, panel, "%s<figcaption>%s</figcaption>" % (panel.svg(unit), panel.sentence)))
                    forget_dots(panel.figure)
        for scale in scales:
            scale.unit = scale.choices[0]
        self.figures = [self._merged(name, drawn) for name, drawn in variants.items()]

    @staticmethod
    def _merged(name, drawn):
        """One figure, whose content stands in it once if no unit makes a difference (the ids in an SVG apart)."""
        plain = [text.replace(name_of_ids(panel, unit), "") for unit, panel, text in drawn]
        content = drawn[0][2] if len(set(plain)) == 1 else "".join(
            '<div class="in-%s">%s</div>' % (unit, text) for unit, _, text in drawn)
        panel = drawn[0][1]
        return '<figure id="%s"><h3>%s</h3>%s</figure>' % (html.escape(name), html.escape(panel.title), content)

    def grid(self):
        return '<div class="grid">%s</div>' % "".join(self.figures) if self.figures else ""


def name_of_ids(panel, unit):
    return "".join(c for c in panel.name + unit if c.isalnum())


# ---- parts

def section(name, title, *parts):
    """A part of the page, or nothing if it has no content."""
    content = "".join(part for part in parts if part)
    return (name, title, content) if content else None


def card(title, content):
    return '<div class="card"><h3>%s</h3>%s</div>' % (title, content) if content else ""


def overview(report):
    grade, text = story.quality(report)
    facts = in_units([report.scale], lambda: '<div class="facts">%s</div>' % "".join(
        "<div><span>%s</span><span>%s</span></div>" % pair for pair in tables.facts(report)))
    parts = ["<p>%s</p>" % html.escape(story.what(report)), "<p>%s</p>" % html.escape(story.physics(report)),
             '<p><b class="%s">%s.</b> %s</p>' % (grade, grade.capitalize(), text)]
    return '<div class="card">%s%s</div>' % ("".join(p for p in parts if p != "<p></p>"), facts)


def document(title, subtitle, sections, refresh=None, choices=("nbody",)):
    """The whole text.   refresh: seconds after which a browser loads it again; choices: units that it has"""
    sections = [s for s in sections if s]
    links = "".join('<a href="#%s">%s</a>' % (name, html.escape(text)) for name, text, _ in sections)
    body = "".join('<section id="%s"><h2>%s</h2>%s</section>' % (name, html.escape(text), content)
                   for name, text, content in sections)
    again = '<meta http-equiv="refresh" content="%d">' % refresh if refresh else ""
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">%s'
    '<link rel="icon" href="data:,"><title>%s</title><style>%s</style></head><body><main>'
    '<h1>%s</h1><p class="grey">%s</p>%s<nav>%s</nav>%s<footer>made by nbody6-plot</footer></main>'
    '<script>%s</script></body></html>\n' %
     (again, html.escape(title), CSS, html.escape(title), html.escape(subtitle), switch(choices), links, body, SCRIPT))


def parts_of(report):
    """(name of a step, function that draws its panels in the present unit)"""
    def draw(pictures):
        return lambda: (picture(report) for picture in pictures.values())

    evolution = {} if report.few else catalogue.EVOLUTION
    return [("the cluster", lambda: itertools.chain(draw(catalogue.VIEWS)(), panels_cluster.paths(report))),
            ("profiles", draw(catalogue.PROFILES)), ("its evolution", draw(evolution)),
            ("stars that age", draw(catalogue.STARS)),
            ("binaries", draw(catalogue.BINARIES)), ("energy", draw(catalogue.ENERGY)),
            ("the integrator", draw(catalogue.INTEGRATOR))]


@styled
def make_page(report, title=None, refresh=None):
    """The page of one run, as text."""
    drawn, steps, scales = {}, parts_of(report), [report.scale]
    for done, (name, draw) in enumerate(steps):
        report.tell("drawing " + name, done, len(steps))
        drawn[name] = Drawings(scales, draw).grid()
    turning = scene.scene_html(report, lambda make: in_units(scales, make))
    report.tell("drawing", len(steps), len(steps))
    binaries = panels_binaries.of(report)

    def told(make):
        return in_units(scales, make)

    def titled(name, make):
        return told(lambda: card(name, make(report)))

    sentence = told(lambda: "<p>%s</p>" % text if (text := story.of_binaries(report, binaries)) else "")
    cards = "".join((titled("The hardest binaries", lambda r: tables.hardest(r, binaries)),
                     titled("Mergers", tables.mergers), titled("Escapers", tables.escapers),
                     titled("Strong encounters", tables.encounters)))
    sections = [
        section("overview", "Overview", overview(report)),
        section("cluster", "The bodies" if report.few else "The cluster", turning, drawn["the cluster"],
                drawn["profiles"]),
        section("evolution", "Evolution", drawn["its evolution"]),
        section("ageing", "Stars that age", drawn["stars that age"]),
        section("binaries", "Binaries and encounters", sentence, drawn["binaries"],
                '<div class="cards">%s</div>' % cards if cards else ""),
        section("energy", "Energy", drawn["energy"]),
        section("integrator", "The integrator", drawn["the integrator"],
                '<details class="card"><summary>Adjust times</summary>%s</details>' % told(
                    lambda: tables.log_rows(report)) if report.log is not None else "")]
    units = " or ".join(UNIT_LABELS[unit] for unit in report.scale.choices)
    return document(title or report.run.title, "%s; %s" % (report.run.name, units), sections, refresh,
                    report.scale.choices)
