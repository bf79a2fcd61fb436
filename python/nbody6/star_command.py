"""Single stars that age, from the fits of Hurley, Pols & Tout (2000): a row for each phase of a star of MASS solar
masses, and a Hertzsprung-Russell diagram.

Columns: mass at birth [Msun], age [Myr], type, mass [Msun], luminosity [Lsun], radius [Rsun], temperature [K], core
and core of carbon and oxygen [Msun], wind [Msun/Myr]; comments say what a type is, and tell of supernovae and kicks.

--set takes the options of &INSSE (NSFLAG, PSFLAG, ECFLAG, MDFLAG, BHFLAG, KMECH, WDFLAG, BHSPINFL and their numbers),
by number or in words: --set NSFLAG=rapid. docs/algorithms/stellar.md lists them.
"""

import argparse
import sys

import numpy as np

from . import stellar
from .errors import SimulationError

COLUMNS = ("time_myr", "type", "mass", "luminosity", "radius", "temperature_k", "core_mass", "co_core_mass", "wind")


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(prog="nbody6-star", description=__doc__,
                                     usage="%(prog)s [options] MASS [MASS ...]",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mass", metavar="MASS", nargs="+", type=float, 
                        help="at birth, 0.08 to 150; above 100 the fits are extrapolated")
    parser.add_argument("-z", "--metallicity", metavar="Z", type=float, default=0.02,
                        help="0.0001 to 0.03 (default 0.02)")
    parser.add_argument("-l", "--level", choices="ABC", default="A", help="defaults of &INSSE (default A)")
    parser.add_argument("-s", "--set", metavar="NAME=VALUE", action="append", default=[],
                        help="an option of &INSSE")
    parser.add_argument("--seed", type=int, default=1, help="of kicks and spins (default 1)")
    parser.add_argument("-e", "--end", metavar="T", type=float, default=15000.0,
                        help="age at the end (default 15000 Myr)")
    parser.add_argument("-t", "--times", metavar="T,T,...", help="rows at these ages in place of phases")
    parser.add_argument("-a", "--all", action="store_true",
                        help="a row whenever mass or radius have changed, by 1e-3 or 5 percent")
    parser.add_argument("--helium", action="store_true", help="naked helium stars")
    parser.add_argument("-p", "--plot", metavar="FILE",
                        help="draw a Hertzsprung-Russell diagram: FILE.png, .pdf, .svg")
    options = parser.parse_args(arguments)
    options.times = read_times(parser, options)
    for text in options.set:
        if "=" not in text:
            parser.error("--set %s: give NAME=VALUE" % text)
    if not options.end >= 0:
        parser.error("--end %g: an age is at least 0" % options.end)
    return options


def read_times(parser, options):
    if options.times is None:
        return None
    try:
        times = [float(text) for text in options.times.split(",")]
    except ValueError:
        parser.error("--times %s: give numbers with commas between" % options.times)
    if sorted(times) != times or not times[0] >= 0:
        parser.error("--times %s: give ages in ascending order, from 0 on" % options.times)
    return times


def tell(event, file):
    """A comment on an event that is no mere change of type."""
    kind = int(event["kind"])
    if kind == 0 or (kind == 1 and not np.any(event["kick_kms"])):
        return
    file.write("# %.6g Myr: %s, %.6g -> %.6g Msun, fallback %.4g, kick %.4g km/s\n" % (
        event["time_myr"], stellar.KINDS[kind], event["mass_before"], event["mass_after"], event["fallback"],
        np.linalg.norm(event["kick_kms"])))


def rows_of(model, name, options):
    """The rows to print for a star, and its events.   :param name: its number in the list of masses"""
    mass = options.mass[name]
    star = model.birth(mass, name=name, helium=options.helium)
    if options.times is not None:
        seen, events = [], []
        for time in options.times:
            view, happened = model.evolve(star, time)
            seen.append(view[0])
            events += [event for _, event in happened]
        return np.array(seen, stellar.VIEW), events
    track, events = model.track(mass, options.end, options.helium, name)
    if not options.all:
        changes = np.flatnonzero(np.diff(track["type"], prepend=-1))
        track = track[np.union1d(changes, [len(track) - 1])]
    return track, events


def print_star(mass, rows, events, file):
    waiting = list(events)
    for row in rows:
        while waiting and waiting[0]["time_myr"] <= row["time_myr"]:
            tell(waiting.pop(0), file)
        file.write("%-8.6g " % mass + " ".join(
            "%2d" % row[name] if name == "type" else "%-12.7g" % row[name] for name in COLUMNS)
            + "  # %s\n" % stellar.type_text(row["type"]))


def drawing(model, options):
    """Tracks with the cooling of white dwarfs."""
    from .plot import hr_diagram  # matplotlib takes its time
    tracks = []
    for mass in options.mass:
        track, _ = model.track(mass, options.end, options.helium)
        if stellar.FIRST_REMNANT <= track["type"][-1] < 13:
            star = model.birth(mass, helium=options.helium)
            cool = [model.evolve(star, time)[0][0] for time in hr_diagram.cooling_times(track, options.end)]
            track = np.concatenate([track[:-1], np.array(cool, stellar.VIEW)])
        tracks.append(("%g" % mass, track))
    hr_diagram.draw(tracks, "stars of Z = %g" % options.metallicity, options.plot)


def main(arguments=None, file=sys.stdout):
    options = parse_arguments(arguments)
    try:
        model = stellar.Model(options.metallicity, options.level, options.seed,
                              **dict(text.split("=", 1) for text in options.set))
        file.write("# mass_0   " + " ".join(COLUMNS) + "\n")
        for name, mass in enumerate(options.mass):
            if mass > stellar.MASS_FITTED:
                file.write("# %g Msun: the fits are extrapolated above %g\n" % (mass, stellar.MASS_FITTED))
            print_star(mass, *rows_of(model, name, options), file)
        if options.plot:
            drawing(model, options)
    except SimulationError as error:
        print("nbody6-star: %s" % error, file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print("nbody6-star: cannot write %s: %s" % (options.plot, error), file=sys.stderr)
        return 4
    return 0
