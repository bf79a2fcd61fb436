"""The page: one HTML file with all in it, for a phone and for a desk, dark and light."""

import html

from . import panels_binaries, panels_cluster, panels_energy, panels_evolution, panels_integrator, story, tables
from .style import TOKENS, styled

LIGHT = ";".join("--%s:%s" % (name, colour) for colour, (name, _) in TOKENS.items())
DARK = ";".join("--%s:%s" % token for token in TOKENS.values())
CSS = """
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--line:#e1e4e8;%s}
@media(prefers-color-scheme:dark){:root{--page:#14171c;--card:#1d2128;--line:#333943;%s}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif;color:var(--ink);background:var(--page);margin:0}
main{max-width:1360px;margin:0 auto;padding:16px}
h1{margin:4px 0;font-size:26px;overflow-wrap:anywhere} h2{font-size:20px;margin:28px 0 10px}
h3{font-size:16px;margin:0 0 6px} p{margin:0 0 10px} a{color:var(--blue)}
nav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:8px 0 0}
.grey,figcaption,footer{color:var(--grey)}
.card,figure{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px;margin:0;min-width:0}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%%,370px),1fr));gap:14px;align-items:start}
figure svg{width:100%%;height:auto;display:block;max-width:620px;margin:0 auto}
figcaption{font-size:13.5px;margin-top:6px}
.facts{columns:260px;column-gap:32px}
.facts div{break-inside:avoid;display:flex;gap:12px;justify-content:space-between;border-bottom:1px solid var(--line);
padding:3px 0} .facts span:first-child{color:var(--grey)} 
.facts span:last-child{text-align:right;overflow-wrap:anywhere}
.card{margin:0 0 14px} .grid{margin:0 0 14px}
.good{color:var(--green)} .fair{color:var(--orange)} .poor{color:var(--red)} .unknown{color:var(--grey)}
.scroll{overflow-x:auto;margin:0 0 14px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
td,th{padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
details{margin:14px 0} summary{cursor:pointer;font-weight:600} footer{margin:24px 0 8px;font-size:13px}
""" % (LIGHT, DARK)


def figure_html(panel):
    return '<figure id="%s"><h3>%s</h3>%s<figcaption>%s</figcaption></figure>' % (
        html.escape(panel.name), html.escape(panel.title), panel.svg, panel.sentence)


def grid(panels):
    shown = [panel for panel in panels if panel is not None]
    return '<div class="grid">%s</div>' % "".join(map(figure_html, shown)) if shown else ""


def section(name, title, *parts):
    """A part of the page, or nothing if it has no content."""
    content = "".join(part for part in parts if part)
    return (name, title, content) if content else None


def card(title, content):
    return '<div class="card"><h3>%s</h3>%s</div>' % (title, content) if content else ""


def overview(report):
    grade, text = story.quality(report)
    facts = "".join("<div><span>%s</span><span>%s</span></div>" % (html.escape(a), html.escape(b))
                    for a, b in tables.facts(report))
    parts = ["<p>%s</p>" % html.escape(story.what(report)), "<p>%s</p>" % html.escape(story.physics(report)),
             '<p><b class="%s">%s.</b> %s</p>' % (grade, grade.capitalize(), text)]
    return '<div class="card">%s<div class="facts">%s</div></div>' % (
        "".join(p for p in parts if p != "<p></p>"), facts)


def document(title, subtitle, sections, refresh=None):
    """The whole text.   refresh: seconds after which a browser loads it again"""
    sections = [s for s in sections if s]
    links = "".join('<a href="#%s">%s</a>' % (name, html.escape(text)) for name, text, _ in sections)
    body = "".join('<section id="%s"><h2>%s</h2>%s</section>' % (name, html.escape(text), content)
                   for name, text, content in sections)
    again = '<meta http-equiv="refresh" content="%d">' % refresh if refresh else ""
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">%s'
    '<link rel="icon" href="data:,"><title>%s</title><style>%s</style></head><body><main>'
    '<h1>%s</h1><p class="grey">%s</p><nav>%s</nav>%s<footer>made by nbody6-plot</footer></main></body></html>\n' %
     (again, html.escape(title), CSS, html.escape(title), html.escape(subtitle), links, body))


@styled
def make_page(report, title=None, refresh=None):
    """The page of one run, as text."""
    steps = [("the cluster", lambda: panels_cluster.views(report) + panels_cluster.paths(report)
              + [panel(report) for panel in panels_cluster.ALL]),
             ("its evolution", lambda: [] if report.few else [panel(report) for panel in panels_evolution.ALL]),
             ("binaries", lambda: panels_binaries.panels(report)),
             ("energy", lambda: [panel(report) for panel in panels_energy.ALL]),
             ("the integrator", lambda: [panel(report) for panel in panels_integrator.ALL])]
    drawn = {}
    for done, (name, draw) in enumerate(steps):
        report.tell("drawing " + name, done, len(steps))
        drawn[name] = draw()
    report.tell("drawing", len(steps), len(steps))
    binaries, pictures = drawn["binaries"]
    told = story.of_binaries(report, binaries)
    met, left = tables.encounters(report), tables.escapers(report)
    sections = [
        section("overview", "Overview", overview(report)),
        section("cluster", "The bodies" if report.few else "The cluster", grid(drawn["the cluster"])),
        section("evolution", "Evolution", grid(drawn["its evolution"])),
        section("binaries", "Binaries and encounters", '<p>%s</p>' % told if told else "", grid(pictures),
                card("The hardest binaries", tables.hardest(report, binaries)), card("Strong encounters", met),
                card("Mergers", tables.mergers(report)), card("Who left", left)),
        section("energy", "Energy", grid(drawn["energy"])),
        section("integrator", "The integrator", grid(drawn["the integrator"]),
                '<details class="card"><summary>Adjust times</summary>%s</details>' % tables.log_rows(report)
                if report.log is not None else "")]
    units = "pc, km/s, Msun, Myr where the axes say so, else N-body units" if report.scale.unit == "physical" else \
        "N-body units"
    return document(title or report.run.title, "%s; %s" % (report.run.name, units), sections, refresh)
