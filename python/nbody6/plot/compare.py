"""Several runs in the same figures."""

import html

from ..tables import energy_columns
from . import page
from .panels_evolution import overlay
from .style import number, styled
from .tables import table


def _error(report):
    return energy_columns(report.log)[0]


@styled
def make_page(reports, title=None):
    """The page that compares runs, as text."""
    physical = all(report.scale.unit == "physical" for report in reports)
    if not physical:
        for report in reports:
            report.scale.unit = "nbody"
    length, density = reports[0].scale.label("length"), reports[0].scale.label("mass/length^3").replace("^3", "³")
    rows = [
        ("r_half", "Half-mass radius", "radius [%s]" % length, True, "length",
         "Normal for runs that differ only in their random numbers: apart by some percent."),
        ("r_lagr_0.1", "Radius of a tenth of the mass", "radius [%s]" % length, True, "length",
         "Normal: the inner radius scatters more than that of half the mass."),
        ("r_core", "Core radius", "radius [%s]" % length, True, "length",
         "Normal: it waves by tens of percent in each run; compare means."),
        ("rho_core", "Density of the core", "density [%s]" % density, True, "mass/length^3",
         "Normal: factors of a few from row to row."),
        ("n", "Stars", "stars", False, None, "Normal: the same within the square root of the number of those who "
                                             "left."),
        ("virial_ratio", "Virial ratio", "Q = T / |U|", False, None, "Normal: near 0.5 in all after some crossing "
            "times."),
        ("e_bind", "Energy in regularized systems", "energy [N-body]", False, None,
         "Normal: steps of single encounters, at other times in each run."),
        (_error, "Energy error", "|ΔE / E|", True, None, "Normal: a factor of ten between runs of the same settings."),
        ("wall_s", "Wall-clock time", "time [s]", False, None, "Normal: nearly straight lines.")]
    panels = []
    for done, (column, name, label, log_axis, factor, normal) in enumerate(rows):
        reports[0].tell("drawing", done, len(rows))
        text = "%s of each run. %s" % (name, normal)
        panels.append(overlay(reports, column, name, label, log_axis, text, "compare-%d" % done, factor))
    reports[0].tell("drawing", len(rows), len(rows))
    sections = [page.section("overview", "Overview", '<div class="card">%s</div>' % _summary(reports)),
                page.section("compared", "Compared", page.grid(panels))]
    names = ", ".join(report.run.name for report in reports)
    return page.document(title or " and ".join(r.run.title for r in reports), names, sections)


def _summary(reports):
    heads = ["run", "stars", "now", "t", "ΔE/E", "largest |ΔE/E|", "escapers", "wall time [s]"]
    rows = []
    for report in reports:
        log, column = report.log, _error(report) if report.log is not None else None
        known = log is not None and column in log
        rows.append([html.escape(report.run.title), "%d" % log["n"][0] if log is not None else "-", "%d" % report.n_now,
                     "%g" % report.t_now, number(log[column][-1], 3) if known else "-",
                     number(abs(log[column]).max(), 3) if known else "-",
                     "%d" % sum(e["event"] == "escape" for e in report.run.events),
                     "%.1f" % log["wall_s"][-1] if log is not None and "wall_s" in log else "-"])
    return table(heads, rows)
