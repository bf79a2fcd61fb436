"""Single stars that age: masses, radii, luminosities, types and remnants at any age (docs/algorithms/stellar.md).

    >>> model = Model(z=0.02, level="B", nsflag="rapid")
    >>> stars = model.birth([1, 5, 20])          # a structured array, which evolve moves in place
    >>> seen, events = model.evolve(stars, 100)  # at 100 Myr; events: (number of the star, what happened)
    >>> seen["mass"].round(2).tolist(), [type_text(kind) for kind in seen["type"]]
    ([1.0, 4.99, 1.71], ['main sequence', 'main sequence', 'neutron star'])
    >>> track, _ = model.track(5)                # one star, as often as it changes
    >>> float(track["radius"].max().round())
    1064.0
    >>> model.close()

Solar masses, radii and luminosities, Myr, km/s. Options are those of &INSSE, as numbers or words.
"""

import ctypes

import numpy as np

from . import library
from .handle import Handle

CHOICES = ("nsflag", "psflag", "ecflag", "mdflag", "bhflag", "kmech", "wdflag", "bhspinfl")
NUMBERS = ("mch", "mxns0", "mxns1", "nwind", "hewind", "flbv", "disp", "ecsig", "wdsig1", "wdsig2", "wdkmax")
EVENTS_MOST = 16  # STELLAR_EVENTS_MOST of stellar/stellar.h
MASS_FITTED = 100.0  # STELLAR_MASS_FITTED
FIRST_REMNANT = 10  # STELLAR_HE_WD
GONE = 15  # STELLAR_NONE
KINDS = ("change", "white dwarf", "supernova", "electron capture", "pair instability", "disruption")


class Options(ctypes.Structure):
    """struct stellar_options of stellar/stellar.h."""
    _fields_ = [(name, ctypes.c_int32) for name in CHOICES] + [(name, ctypes.c_double) for name in NUMBERS] + [
        ("nrand", ctypes.c_int64)]


def _record(integers, names, doubles, vectors=()):
    fields = [(name, np.int32) for name in integers] + [(name, np.int64) for name in names]
    fields += [(name, np.float64) for name in doubles] + [(name, np.float64, 3) for name in vectors]
    return np.dtype(fields, align=True)


# Structs of stellar/stellar.h
STAR = _record(("type", "n_event"), ("name",),
               ("z", "time_myr", "age_myr", "mass_track", "mass", "core_mass", "co_core_mass", "spin", "step_myr"))
VIEW = _record(("type", "phase_ends"), (),
               ("time_myr", "mass", "luminosity", "radius", "temperature_k", "core_mass", "co_core_mass", "wind",
                "spin", "ask_again_myr"))
EVENT = _record(("kind", "type_before", "type_after", "number"), (),
                ("time_myr", "mass_before", "mass_after", "fallback"), ("kick_kms",))
EVENTS = np.dtype([("n", np.int32), ("event", EVENT, EVENTS_MOST)], align=True)


def type_text(number):
    """The meaning of a type, in words."""
    text = library.library().stellar_type_text(int(number))
    return text.decode() if text else "type %d, which is none" % number


def _address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class _ModelHandle(Handle):
    kind = "model"

    def create(self, z, options):
        made = ctypes.c_void_p()
        library.call("stellar_create", z, ctypes.byref(options), ctypes.byref(made))
        return made.value

    def free(self, pointer):
        library.library().stellar_free(pointer)


class Model:
    """Fits at a metallicity, and choices.   Raises SimulationError for what cannot be."""

    def __init__(self, z=0.02, level="A", seed=1, **options):
        self.z, self.options = float(z), Options()
        library.call("stellar_options_level", str(level).encode()[:1] or b" ", ctypes.byref(self.options))
        for name, value in {**options, "nrand": seed}.items():
            library.call("stellar_options_set", ctypes.byref(self.options), name.encode(), str(value).encode())
        self._handle = _ModelHandle(self.z, self.options)

    def close(self):
        """Frees the model; nothing if that is done."""
        self._handle.close()

    def birth(self, mass, time_myr=0.0, name=None, helium=False):
        """Stars of masses at zero age.
        :param name: integers on which their random numbers depend (default: 0, 1, ...)
        :param helium: they are naked helium stars
        :return: array of STAR"""
        mass = np.atleast_1d(np.asarray(mass, dtype=float))
        names = np.arange(len(mass)) if name is None else np.broadcast_to(name, mass.shape)
        stars = np.zeros(mass.shape, STAR)
        call = "stellar_birth_helium" if helium else "stellar_birth"
        with self._handle as pointer:
            for i in range(len(mass)):
                library.call(call, pointer, int(names[i]), mass[i], float(time_myr), _address(stars[i:i + 1]))
        return stars

    def evolve(self, stars, time_myr):
        """Stars at a time. They are moved to the last points of their grids.
        :return: array of VIEW; list of (index of a star, EVENT) in order of the stars, and of time for each"""
        self._check(stars)
        seen, happened = np.zeros(len(stars), VIEW), np.zeros(len(stars), EVENTS)
        with self._handle as pointer:
            library.call("stellar_evolve_all", pointer, len(stars), _address(stars), float(time_myr), _address(seen),
                         _address(happened))
        return seen, self._events(happened)

    def set_mass(self, stars, index, time_myr, mass):
        """A mass that changes from outside; the other arguments and the result are those of evolve, for one star."""
        self._check(stars)
        index = range(len(stars))[index]
        seen, happened = np.zeros(1, VIEW), np.zeros(1, EVENTS)
        with self._handle as pointer:
            library.call("stellar_set_mass", pointer, _address(stars[index:index + 1]), float(time_myr), float(mass),
                         _address(seen), _address(happened))
        return seen, [(index, event) for _, event in self._events(happened)]

    def merge(self, stars, index, other, time_myr, kept=0.5):
        """Star `index` becomes one with star `other` of the same array, of which nothing is left; the result is that
        of set_mass.
        :param kept: part of a star that a neutron star or black hole takes (FCTORCL of &INCOLL)"""
        self._check(stars)
        index, other = range(len(stars))[index], range(len(stars))[other]
        if index == other:
            raise ValueError("star %d cannot merge with itself" % index)
        seen, happened = np.zeros(1, VIEW), np.zeros(1, EVENTS)
        with self._handle as pointer:
            library.call("stellar_merge", pointer, _address(stars[index:index + 1]), pointer,
                         _address(stars[other:other + 1]), float(time_myr), float(kept),
                         _address(stars[index:index + 1]), _address(seen), _address(happened))
        gone = stars[other:other + 1]
        for name in ("mass", "mass_track", "core_mass", "co_core_mass", "age_myr", "step_myr", "spin"):
            gone[name] = 0
        gone["type"], gone["time_myr"] = GONE, time_myr
        return seen, [(index, event) for _, event in self._events(happened)]

    def track(self, mass, end_myr=15000.0, helium=False, name=0):
        """One star from zero age to a time, whenever its mass has changed by 1e-3 or its radius by 5 percent, and at
        each change of its type.
        :return: array of VIEW; list of EVENT"""
        star = self.birth(mass, name=name, helium=helium)
        time, views, events = 0.0, [], []
        while True:
            seen, happened = self.evolve(star, time)
            views.append(seen[0])
            events += [event for _, event in happened]
            if time >= end_myr:
                return np.array(views, VIEW), events
            time = min(end_myr, float(seen["ask_again_myr"][0]))

    @staticmethod
    def _events(happened):
        return [(i, happened[i]["event"][k]) for i in np.flatnonzero(happened["n"]) for k in range(happened[i]["n"])]

    @staticmethod
    def _check(stars):
        if not (isinstance(stars, np.ndarray) and stars.dtype == STAR and stars.ndim == 1
                and stars.flags.c_contiguous and stars.flags.writeable):
            raise ValueError("stars: give an array that Model.birth has made")
