"""This library, or one of changed sources at NBODY6_LIBRARY, for tests/cli/long_stellar_oracles.py. Jobs and answers
are those of oracle_cosmic.py; flags are options of stellar.Model."""

import json
import os
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "python"))

from nbody6 import library, stellar  # noqa: E402

# A library of changed sources has no other functions.
library.FUNCTIONS = {name: what for name, what in library.FUNCTIONS.items() if name.startswith("stellar_")}


def row_of(view):
    return [float(view[name]) for name in ("type", "time_myr", "mass", "luminosity", "radius")]


def star(model, mass, end):
    moving = model.birth(mass)
    begins = [row_of(model.evolve(moving, 0)[0][0])]
    for _, event in model.evolve(model.birth(mass), end)[1]:
        view = model.evolve(moving, float(event["time_myr"]))[0][0]
        begins.append(row_of(view)[:1] + [float(event["time_myr"]), float(event["mass_after"])] + row_of(view)[3:])
    view = model.evolve(moving, end)[0][0]
    return {"begins": begins, "end": row_of(view)}


def main():
    found = []
    for options, z, masses, ends in json.load(sys.stdin):
        model = stellar.Model(z=z, **options)
        found.append([star(model, mass, end) for mass, end in zip(masses, ends)])
        model.close()
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
