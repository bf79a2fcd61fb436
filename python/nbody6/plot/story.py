"""The run in sentences: the cluster, its physics, its accuracy, the fate of its binaries."""

import numpy as np

from .advice import advice
from .panels_binaries import FEWEST
from .style import count, number

MODELS = ("a uniform sphere", "a Plummer model", "a King model")
MASSES = ("equal masses", "a power law", "Kroupa (2001) masses", "Miller and Scalo masses",
          "Kroupa, Tout and Gilmore (1993) masses", "Eggleton masses", "Eggleton masses")
GALAXIES = ("", "on a circular orbit in the solar neighbourhood", "on a circular orbit about a point mass",
            "on an orbit in a galaxy", "within a sphere of gas", "on an orbit in the Milky Way")


def _pick(words, k):
    return words[int(k)] if k is not None and 0 <= int(k) < len(words) else ""


def what(report):
    """The cluster and its integration, in sentences."""
    p = report.parameters
    stars = int(report.log["n"][0]) if report.log is not None and "n" in report.log else len(report.snapshot)
    text = "%d stars" % stars
    kind = p.get("model.kind")
    if kind is not None:
        text += ", " + _pick(MODELS, kind) if kind < 3 else " from a file"
        if kind == 2:
            text += " with W0 = %g" % p["model.king_w0"]
        if kind < 3 and p.get("model.imf") is not None:
            text += ", " + _pick(MASSES, p["model.imf"])
    if p.get("binaries.wanted") and p.get("binaries.n"):
        text += ", %d primordial binaries" % p["binaries.n"]
    if p.get("tide.kind"):
        text += ", " + _pick(GALAXIES, p["tide.kind"])
        if p["tide.kind"] == 3 and p.get("tide.gas_mass"):
            text += ", within a sphere of gas"
        if p["tide.kind"] >= 3 and p.get("tide.gas_mass") and p.get("tide.gas_rate"):
            text += " that leaves"
    elif "tide.kind" in p:
        text += ", isolated"
    text += "; from t\u00a0=\u00a00 to %g" % report.t_now
    if report.time_myr:
        text += " (%.4g Myr)" % (report.t_now * report.time_myr)
    end = p.get("run.t_crit")
    if end is not None and report.t_now < end * (1 - 1e-9) and end < 8e6:
        text += " of %g" % end
    return text + (". It is still going." if report.run.is_going else ".")


def physics(report):
    """The active physics, as far as the files say it."""
    p = report.parameters
    if "pair.systems" not in p:
        return ""
    parts = ["close pairs are regularized" if p.get("pair.adjust") or p.get("pair.r_min") else
             "there is no regularization"]
    if p.get("pair.systems") and parts[0].startswith("close"):
        systems = [name for name, on in (("chains", p.get("pair.chains")),
                                         ("frozen hierarchies", p.get("pair.hierarchies"))) if on]
        if systems:
            parts.append("encounters of more stars are " + " or ".join(systems))
    parts.append("stars collide" if p.get("pair.r_star") else "stars are points")
    parts.append("escapers are removed" if p.get("escape") else "escapers stay in the run")
    parts.append("steps by ETAI = %g and ETAR = %g" % (p["integration.eta_irr"], p["integration.eta_reg"]))
    parts.append("stars age by LEVEL='%s'" % "AABC"[int(p.get("stellar.level") or 0)] if p.get("stellar.evolve") else
                 "no stellar evolution")
    text = "; ".join(parts) + "."
    changed = ["; changed: " + line for line in p.get("changed", [])]
    return text[0].upper() + text[1:-1] + "".join(changed) + "."


def quality(report):
    """How good it is: (grade in a word, sentence)."""
    log = report.log
    if log is None or report.error_columns[0] not in log or len(log) < 2:
        return "unknown", "There are no rows of the log yet that would tell of the energy error."
    values = np.abs(log[report.error_columns[0]])
    worst = np.nanmax(values)
    tolerance = report.parameters.get("run.energy_tol")
    interval = np.nanmax(np.abs(log[report.error_columns[1]])) if report.error_columns[1] in log else np.nan
    jumps = sum(event["event"] == "energy_jump" for event in report.run.events)
    text = "The energy is conserved to %s over the whole run; the worst interval has %s" % (number(worst, 2),
                                                                                          number(interval, 2))
    text += " (QE asks for %g)." % tolerance if tolerance else "."
    text += " %s exceeded QE." % count(jumps, "interval") if jumps else ""
    grade = "good" if worst < 1e-4 else "fair" if worst < 1e-2 else "poor"
    verdict = {"good": "That is good: relaxation changes single stars far more.",
               "fair": "That is fair: good for statistics of the cluster, less for the fate of single systems.",
               "poor": "That is poor; %s." % (advice(log, report.error_columns[0]) or
                                              "the log does not tell where it was made")}
    return grade, text if report.few else text + " " + verdict[grade]


def few_orbits(report, binaries):
    """Binaries one by one, where they are too few for a picture."""
    factor, unit = report.scale.orbits()
    return "".join(" Stars %d and %d: semi-major axis %s %s, eccentricity %.3f, binding energy %s kT." % (
        *names, number(binaries.a[k] * factor, 3), unit, binaries.e[k], number(binaries.kt[k], 3))
        for k, names in enumerate(binaries.names))


def of_binaries(report, binaries):
    """Numbers, hardness, encounters and escapers."""
    if binaries is None:
        return ""
    history = report.history
    hard = int((binaries.kt > 1).sum()) if len(binaries) else 0
    text = "At t = %g there %s %s" % (report.snapshot.t, "is" if len(binaries) == 1 else "are",
                                      count(len(binaries), "binary", "binaries"))
    if len(history.get("t", ())) > 1:
        text += ", %s at the start" % (history["binaries"][0] or "none")
    text += "; %s hard." % (count(hard, "is", "are") if hard else "none is") if len(binaries) else "."
    if len(binaries):
        text += few_orbits(report, binaries) if len(binaries) < FEWEST else \
            " The hardest, stars %d and %d, has a binding energy of %s kT." % (*binaries.names[0],
                                                                              number(binaries.kt[0], 3))
        if binaries.first:
            kept, other, new = (binaries.count(kind) for kind in ("first", "exchange", "new"))
            text += " Of the pairs of the start %s together still, %s another companion, %s new." % (
                count(kept, "is", "are"), count(other, "star has", "stars have"), count(new, "pair is", "pairs are"))
    if binaries.multiples:
        names = "; ".join(" ".join("%d" % k for k in stars) for stars in binaries.multiples[:4])
        text += " Triples or larger systems: %d (stars %s%s)." % (len(binaries.multiples), names,
                                                                 ", ..." if len(binaries.multiples) > 4 else "")
    met = report.run.encounters
    if met:
        exchanges = sum(c["outcome"] == "exchange" for c in met)
        text += " %s of three and more stars, %s with an exchange." % (count(len(met), "strong encounter"),
                                                                       exchanges or "none")
    if report.escaped:
        text += " %s escaped." % count(report.escaped, "star")
    return text
