"""The tables of the page, as HTML."""

import html
import os

import numpy as np

from .panels_motion import relaxations
from .style import count, number

MOST_ROWS = 24  # of a table; the rest is counted
MOST_NAMES = 6
ENERGY = "energy"  # whichever of the columns of the energy error there is
ROW_COLUMNS = (("t", "t", "%g"), ("n", "N", "%d"), (ENERGY, "ΔE/E", "%.2e"), ("virial_ratio", "Q", "%.4f"),
               ("r_core", "r core", "%.4f"), ("r_half", "r half-mass", "%.4f"), ("n_pair", "pairs", "%d"),
               ("nnb_mean", "neighbours", "%.1f"), ("wall_s", "wall time [s]", "%.1f"))


def known(value):
    """A number of an event; NaN for one that was not finite."""
    return np.nan if value is None else float(value)


def table(heads, rows):
    """Cells are HTML."""
    head = "".join("<th>%s</th>" % cell for cell in heads)
    body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % cell for cell in row) for row in rows)
    return '<div class="scroll"><table><thead><tr>%s</tr></thead><tbody>%s</tbody></table></div>' % (head, body)


def names_of(names):
    shown = ", ".join("%d" % name for name in names[:MOST_NAMES])
    return shown + (" and %d more" % (len(names) - MOST_NAMES) if len(names) > MOST_NAMES else "")


def pairs_of(pairs):
    return " ".join("(%d %d)" % tuple(names) for names in pairs) or "-"


def log_rows(report):
    """Rows of the log, thinned out if there are many."""
    log = report.log
    if log is None:
        return ""
    columns = [(report.error_columns[0] if c[0] == ENERGY else c[0],) + c[1:] for c in ROW_COLUMNS]
    columns = [c for c in columns if c[0] in log]
    factors = {name: report.scale.factor("length") for name in ("r_core", "r_half")}
    which = np.unique(np.linspace(0, len(log) - 1, min(MOST_ROWS, len(log))).round().astype(int))
    rows = [[form % (log[name][i] * factors.get(name, 1)) if np.isfinite(log[name][i]) else "-"
             for name, _, form in columns] for i in which]
    unit = report.scale.label("length")
    return table([html.escape(label) + (" [%s]" % unit if name in factors else "") for name, label, _ in columns], rows)


def time_cell(report, t):
    return "%.4g (%.6g)" % (t * report.time_myr, t) if report.time_myr else "%.6g" % t


def time_head(report):
    return "Myr (t)" if report.time_myr else "t"


def energy_cell(report, value):
    return number(known(value) * report.scale.factor("mass velocity^2"), 3)


def energy_head(report):
    return "energy [%s]" % report.scale.label("mass velocity^2").replace("^2", "²")


def encounters(report):
    """Encounters of chains, first those that changed something."""
    met = report.run.encounters
    if not met:
        return ""
    rank = {"exchange": 0, "one more pair": 1, "no pair left": 2, "a pair was broken": 2, "goes on": 3, "same pair": 4}
    shown = sorted(met, key=lambda c: (rank[c["outcome"]], -c["most"], np.nan_to_num(known(c["binding"]))))[:MOST_ROWS]
    rows = [[time_cell(report, c["t"]), names_of(c["names"]), pairs_of(c["pairs_before"]), pairs_of(c["pairs_after"]),
             c["outcome"], "%.3g" % (c["t_end"] - c["t"]) if c["t_end"] is not None else "goes on",
             number(c["binding"], 3)] for c in sorted(shown, key=lambda c: c["t"])]
    text = "<p>%s of three and more stars%s: %s.</p>" % (
        count(len(met), "strong encounter"), "; the table has those that changed most" if len(met) > len(shown) else "",
        ", ".join("%d × %s" % (sum(c["outcome"] == o for c in met), o) for o in sorted({c["outcome"] for c in met},
                                                                                      key=rank.get)))
    heads = [time_head(report), "stars", "pairs before", "pairs after", "outcome", "lasted [N-body]",
             energy_head(report)]
    return text + table(heads, rows)


def mergers(report):
    merged = [e for e in report.run.events if e["event"] == "merger"]
    if not merged:
        return ""
    factor, label = report.scale.factor("mass"), report.scale.label("mass")
    rows = [[time_cell(report, e["t"]), names_of(e["names"]), number(known(e["mass"]) * factor, 3),
             number(known(e["mass_gone"]) * factor, 3), energy_cell(report, e["energy"])] for e in merged[:MOST_ROWS]]
    return "<p>%s; the first of the two stars goes on.</p>" % count(len(merged), "collision") + table(
        [time_head(report), "stars", "mass now [%s]" % label, "of it new [%s]" % label, energy_head(report)],
        rows)


def escapers(report):
    left = [e for e in report.run.events if e["event"] == "escape"]
    if not left:
        return ""
    together = {}
    for event in report.run.events:
        if event["event"] == "pair_ended" and event["reason"] == "escaped":
            together.update({event["names"][0]: event["names"][1], event["names"][1]: event["names"][0]})
    speed = {e["name"]: float(np.sqrt(sum(known(c)**2 for c in e["v"]))) for e in left}
    fastest = sorted(left, key=lambda e: -np.nan_to_num(speed[e["name"]]))[:MOST_ROWS]
    factor, v_factor = report.scale.factor("mass"), report.scale.factor("velocity")
    rows = [[time_cell(report, e["t"]), "%d" % e["name"], number(known(e["mass"]) * factor, 3),
             number(speed[e["name"]] * v_factor, 3), "%d" % together[e["name"]] if e["name"] in together else "-"]
            for e in sorted(fastest, key=lambda e: e["t"])]
    pairs = len([e for e in left if e["name"] in together]) // 2
    text = "<p>%s escaped%s%s.</p>" % (count(len(left), "star"),
                                    ", %d of them as %s" % (2 * pairs, count(pairs, "pair")) if pairs else "",
                                    "; the table has the fastest" if len(left) > len(fastest) else "")
    return text + table([time_head(report), "star", "mass [%s]" % report.scale.label("mass"),
                         "speed [%s]" % report.scale.label("velocity"), "with star"], rows)


def hardest(report, binaries):
    if binaries is None or len(binaries) == 0:
        return ""
    factor, label = report.scale.orbits()
    mass = report.scale.factor("mass")
    words = {"first": "as at the start", "exchange": "another companion", "new": "new"}
    rows = [["%d" % names[0], "%d" % names[1], " + ".join(number(m * mass, 3) for m in binaries.mass[k]),
             number(binaries.a[k] * factor, 3), "%.3f" % binaries.e[k], number(binaries.kt[k], 3),
             words[binaries.origin[k]]] for k, names in enumerate(binaries.names[:12])]
    return table(["star", "star", "masses [%s]" % report.scale.label("mass"), "a [%s]" % label, "e", "energy [kT]",
                  "origin"], rows)


def facts(report):
    """Pairs of a name and a value (HTML), for the overview."""
    log, out = report.log, []
    parameters = report.parameters

    def add(name, value):
        if value not in (None, ""):
            out.append((name, value))

    def column(name, label, form=number, which=-1, factor=1.0, unit=""):
        if log is not None and name in log and np.isfinite(log[name][which]) and log[name][which] != 0:
            value = log[name][which] * factor
            add(label, (form(value) if callable(form) else form % value) + unit)

    length = report.scale.factor("length")
    unit = " " + report.scale.label("length")
    column("n", "stars at the start", "%d", 0)
    add("stars now", "%d" % report.n_now if report.n_now is not None else None)
    myr = " (%.4g Myr)" % (report.t_now * report.time_myr) if report.time_myr else ""
    add("time reached", "%g" % report.t_now + myr)
    if log is not None and report.error_columns[0] in log:
        values = log[report.error_columns[0]]
        good = values[np.isfinite(values)]
        add("energy error ΔE/E now", number(values[-1], 3))
        add("largest |ΔE/E|", number(np.abs(good).max(), 3) if len(good) else None)
    passed = relaxations(report)[1]
    add("relaxation times t/t<sub>rh</sub>", number(passed[-1], 3) if passed is not None and passed[-1] > 0 else None)
    column("e_galaxy", "work of the external field", factor=report.scale.factor("mass velocity^2"),
           unit=" " + report.scale.label("mass velocity^2").replace("^2", "²"))
    column("virial_ratio", "virial ratio T/|U|")
    if not report.few:
        column("r_core", "core radius", factor=length, unit=unit)
        column("r_half", "half-mass radius", factor=length, unit=unit)
    column("nnb_mean", "mean neighbour number")
    for name, label in (("steps_irr", "irregular steps"), ("steps_reg", "regular steps"), ("blocks", "block steps")):
        column(name, label, "%d")
    for name, label in (("pairs_formed", "pairs regularized"), ("chains_formed", "chains"), ("mergers", "mergers"),
                        ("supernovae", "supernovae"), ("remnants", "remnants born")):
        column(name, label, "%d")
    add("escapers", "%d" % report.escaped if report.escaped else None)
    column("wall_s", "wall time [s]", "%.1f")
    if log is not None and "steps_irr" in log and "wall_s" in log and log["wall_s"][-1] > 0:
        add("irregular steps per second", number(log["steps_irr"][-1] / log["wall_s"][-1], 3))
    if report.scale.unit == "physical":
        units = report.scale.units
        add("N-body units", "%.4g pc, %.4g Msun, %.4g km/s, %.4g Myr" % (units.length_pc, units.mass_msun,
                                                                        units.velocity_kms, units.time_myr))
    for name in ("engine", "run"):
        add(name, html.escape(str(parameters.get(name, ""))))
    if report.snapshot is not None:
        add("snapshot shown", "%s (t\u00a0=\u00a0%g)" % (
            html.escape(os.path.basename(report.snapshot.path)), report.snapshot.t))
    return out
