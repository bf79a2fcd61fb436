"""Types of stars that age, as figures group them."""

import numpy as np

from .colours import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY

# (name, types with the numbers of Hurley, Pols & Tout 2000)
GROUPS = (("main sequence", (0, 1)), ("Hertzsprung gap", (2,)), ("giants", (3, 5, 6)), ("core helium burning", (4,)),
          ("helium stars", (7, 8, 9)), ("white dwarfs", (10, 11, 12)), ("neutron stars", (13,)), ("black holes", (14,)))
BRIGHT = 6  # so many of these groups have a place in a Hertzsprung-Russell diagram
LOOKS = ((BLUE, "o"), (ORANGE, "D"), (RED, "s"), (GREEN, "^"), (PURPLE, "P"), (GREY, "v"), (SKY, "d"), (INK, "p"))
REMNANTS = (5, 6, 7)  # places in GROUPS


def columns_of(stars, *names):
    """Arrays of these columns of stars, or None: a column is not there."""
    if any(name not in stars.properties for name in names):
        return None
    return [stars.properties[name] for name in names]


def are_ageing(stars):
    """Whether the file is of a run whose stars age: others may carry types of a data file along."""
    return columns_of(stars, "StellarType", "StellarAge") is not None


def mass_and_number(stars):
    """Mass, and number, of the stars in each group: [2][len(GROUPS)]; NaN where stars do not age."""
    if not are_ageing(stars):
        return np.full((2, len(GROUPS)), np.nan)
    inside = [np.isin(stars.properties["StellarType"], types) & (stars.mass > 0) for _, types in GROUPS]
    return np.array([[stars.mass[which].sum() for which in inside], [which.sum() for which in inside]])
