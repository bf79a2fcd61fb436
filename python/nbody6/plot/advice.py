"""Remedies for the energy error of a run: those of its largest part, by the columns of the log that have them, as the
program says it where an error ends a run."""

import numpy as np

ADVICE = {
    "e_pairs": "made where pairs form and end: a smaller GMIN, which gives them more perturbers, cuts it",
    "e_chains": "made where chains form, change and end: a smaller GMIN, which gives them more perturbers, cuts it",
    "e_hierarchies": "made where inner pairs are frozen and released: KZ(30) = -1 freezes none",
    "e_integration": "smaller ETAI and ETAR cut it",
}


def largest_part(log, error):
    """Column of the largest part of the error where the column `error` is largest; None: the log has no parts, or no
    error."""
    columns = [column for column in ADVICE if column in log]
    sizes = np.abs(log[error])
    if not columns or not np.isfinite(sizes).any():
        return None
    row = np.nanargmax(sizes)
    largest = max(columns, key=lambda column: abs(log[column][row]))
    return largest if abs(log[largest][row]) > 0 else None


def advice(log, error):
    """The largest part and its remedy, as half a sentence; None: the log does not have the parts."""
    largest = largest_part(log, error)
    return largest and "its largest part is %s: %s" % (largest, ADVICE[largest])
