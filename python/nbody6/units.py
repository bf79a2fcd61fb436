"""N-body units and physical ones. Inside files and simulations everything is in N-body units (G = 1); the four numbers
here, pc, Msun, km/s and Myr in one of them, convert it.

    >>> units = Units(length_pc=2.0, mass_msun=500.0, velocity_kms=1.0369, time_myr=1.886)
    >>> float(units.factor("length", "pc")), float(units.factor("length", "kpc"))
    (2.0, 0.002)
    >>> units.factor("mass", "pc")
    Traceback (most recent call last):
        ...
    nbody6.errors.UnitError: pc does not measure mass; known are nbody, Msun, kg, g
"""

from .errors import UnitError

PC_KM = 3.0856775814913673e13  # 648000/pi au of 149597870.7 km: IAU 2015 B2, IAU 2012 B2
MSUN_KG = 1.988409870698051e30  # GM_sun of IAU 2015 B3 over G of CODATA 2018
AU_KM = 149597870.7

# A unit of each dimension in pc, Msun, km/s, Myr.
KNOWN = {
    "length": {"pc": 1.0, "kpc": 1e3, "AU": AU_KM / PC_KM, "km": 1 / PC_KM, "m": 1e-3 / PC_KM, "cm": 1e-5 / PC_KM},
    "mass": {"Msun": 1.0, "kg": 1 / MSUN_KG, "g": 1e-3 / MSUN_KG},
    "velocity": {"km/s": 1.0, "m/s": 1e-3, "cm/s": 1e-5},
    "time": {"Myr": 1.0, "Gyr": 1e3, "yr": 1e-6},
}
# Quantities as powers of length, mass, velocity and time, and the physical unit that they are shown in.
DIMENSIONS = {
    "length": (1, 0, 0, 0), "mass": (0, 1, 0, 0), "velocity": (0, 0, 1, 0), "time": (0, 0, 0, 1),
    "number": (0, 0, 0, 0),
    "velocity^2": (0, 0, 2, 0), "velocity/time": (0, 0, 1, -1), "velocity/time^2": (0, 0, 1, -2),
    "mass velocity^2": (0, 1, 2, 0), "mass/length^3": (-3, 1, 0, 0), "mass/length^2": (-2, 1, 0, 0),
    "number/length^2": (-2, 0, 0, 0), "number/length^3": (-3, 0, 0, 0), "mass length velocity": (1, 1, 1, 0),
}
BASE = ("length", "mass", "velocity", "time")
PHYSICAL = ("pc", "Msun", "km/s", "Myr")


class Units:
    """pc, Msun, km/s and Myr in an N-body unit. `stated`: the input gave them; otherwise they are the defaults, 1 pc
    and 1 Msun for the mean star, which mean nothing."""

    def __init__(self, length_pc, mass_msun, velocity_kms, time_myr, stated=True):
        self.length_pc, self.mass_msun = float(length_pc), float(mass_msun)
        self.velocity_kms, self.time_myr = float(velocity_kms), float(time_myr)
        self.stated = bool(stated)

    def __repr__(self):
        return "Units(length_pc=%.6g, mass_msun=%.6g, velocity_kms=%.6g, time_myr=%.6g, stated=%s)" % (
            self.length_pc, self.mass_msun, self.velocity_kms, self.time_myr, self.stated)

    def factor(self, dimension, unit="nbody"):
        """The factor from an N-body value to a unit.

        dimension: a key of DIMENSIONS; unit: "nbody", "physical" (powers of pc, Msun, km/s, Myr), or, of a length,
        mass, velocity or time, the name of a unit.   Raises UnitError.
        """
        if dimension not in DIMENSIONS:
            raise UnitError("%s is no quantity that has units here; known are %s" % (dimension, ", ".join(DIMENSIONS)))
        if unit == "nbody":
            return 1.0
        factor = 1.0
        for value, power in zip((self.length_pc, self.mass_msun, self.velocity_kms,
                                self.time_myr), DIMENSIONS[dimension]):
            factor *= value**power
        if unit == "physical":
            return factor
        known = KNOWN.get(dimension, {})
        if unit not in known:
            raise UnitError("%s does not measure %s; known are %s" % (
                unit, dimension, ", ".join(["nbody", *known] if known else ["nbody", "physical"])))
        return factor / known[unit]

    @staticmethod
    def label(dimension, unit="physical"):
        """The unit in words: `Msun/pc^3`, `Msun (km/s)^2`."""
        if unit != "physical":
            return "N-body" if unit == "nbody" else unit
        powers = list(zip(PHYSICAL, DIMENSIONS[dimension]))
        above = [Units._power(name, power) for name, power in powers if power > 0]
        below = ["/" + Units._power(name, -power) for name, power in powers if power < 0]
        return (" ".join(above) or "1") + "".join(below)

    @staticmethod
    def _power(name, power):
        return name if power == 1 else "%s^%d" % ("(%s)" % name if "/" in name else name, power)

    def quantity(self, values, dimension):
        """An astropy Quantity in physical units.   Raises ImportError where astropy is not installed."""
        try:
            from astropy import units as astropy_units
        except ImportError:
            raise ImportError("quantities with units need astropy: pip install astropy") from None
        unit = astropy_units.dimensionless_unscaled
        for base, power in zip((astropy_units.pc, astropy_units.Msun, astropy_units.km / astropy_units.s,
                                astropy_units.Myr), DIMENSIONS[dimension]):
            unit = unit * base**power
        return values * self.factor(dimension, "physical") * unit
