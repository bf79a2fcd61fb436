"""Stars for programs and scripts of others. All take Stars or a Snapshot; files are written as a whole or not at
all."""

import struct

import numpy as np

from .errors import ReadError, UnitError
from .files import write_whole
from .stars import Stars
from .units import PC_KM, Units


def _units(stars):
    if stars.unit_system is None:
        raise UnitError("the units of these stars are not known: they cannot be told to others")
    return stars.unit_system


# ---- tables

def to_table(stars, path, physical=False):
    """Seven columns m x y z vx vy vz with 17 digits, as dat.10; physical: in Msun, pc, km/s under a line that says so,
    as McLuster writes it."""
    unit = "physical" if physical else "nbody"
    rows = np.column_stack([stars.get("mass", unit), stars.get("x", unit), stars.get("v", unit)])
    head = "#Mass_[Msun]\tx_[pc]\ty_[pc]\tz_[pc]\tvx_[km/s]\tvy_[km/s]\tvz_[km/s]\n" if physical else ""
    lines = ["\t".join("%.17g" % value for value in row) for row in rows.tolist()]
    write_whole(path, (head + "\n".join(lines) + "\n").encode())


def arrays(stars, physical=True):
    """The form of clustertools and other codes: a dict of columns m, x, y, z, vx, vy, vz, id (pc, km/s,
    Msun, or N-body units), `units` ("pckms" or "nbody"), `origin` ("cluster": relative to the density centre and its
    motion), `tphys` (Myr or N-body), and zmbar, rbar, vbar, tbar as clustertools calls the N-body units."""
    unit = "physical" if physical else "nbody"
    scale = _units(stars)
    x = (stars.x - stars.centre) * scale.factor("length", "physical" if physical else "nbody")
    v = (stars.v - stars.mean_velocity) * scale.factor("velocity", "physical" if physical else "nbody")
    columns = dict(zip(("x", "y", "z"), x.T.copy()), **dict(zip(("vx", "vy", "vz"), v.T.copy())))
    columns.update(m=stars.get("mass", unit), id=np.array(stars.name), units="pckms" if physical else "nbody",
                   origin="cluster", tphys=stars.t * (scale.time_myr if physical else 1.0), zmbar=scale.mass_msun,
                   rbar=scale.length_pc, vbar=scale.velocity_kms, tbar=scale.time_myr)
    return columns


def to_clustertools(stars):
    """A clustertools.StarCluster in pc and km/s about the cluster's centre.   Raises ImportError: it is not
    installed."""
    try:
        import clustertools
    except ImportError:
        raise ImportError(
            "clustertools is not installed: pip install clustertools; export.arrays has the columns") from None
    a = arrays(stars)
    cluster = clustertools.StarCluster(tphys=a["tphys"], units="pckms", origin="cluster")
    cluster.add_stars(*(a[key] for key in ("x", "y", "z", "vx", "vy", "vz", "m", "id")))
    cluster.add_nbody6(rbar=a["rbar"], zmbar=a["zmbar"], vbar=a["vbar"], tbar=a["tbar"])
    return cluster


def to_pynbody(stars):
    """A pynbody snapshot of the stars in kpc, km/s and Msol.   Raises ImportError."""
    try:
        import pynbody
    except ImportError:
        raise ImportError("pynbody is not installed: pip install pynbody") from None
    scale = _units(stars)
    snapshot = pynbody.new(star=len(stars))
    snapshot["pos"] = pynbody.array.SimArray(stars.x * scale.length_pc / 1e3, "kpc")
    snapshot["vel"] = pynbody.array.SimArray(stars.v * scale.velocity_kms, "km s**-1")
    snapshot["mass"] = pynbody.array.SimArray(stars.mass * scale.mass_msun, "Msol")
    snapshot["iord"] = np.asarray(stars.name)
    snapshot.properties["time"] = pynbody.units.Unit("%.17g Myr" % (stars.t * scale.time_myr))
    return snapshot


def to_yt(stars):
    """A yt dataset of the stars (particles of type `io`).   Raises ImportError."""
    try:
        import yt
    except ImportError:
        raise ImportError("yt is not installed: pip install yt") from None
    scale = _units(stars)
    data = {"particle_mass": stars.mass, "particle_index": np.asarray(stars.name, dtype=float)}
    for k, axis in enumerate("xyz"):
        data["particle_position_" + axis] = stars.x[:, k]
        data["particle_velocity_" + axis] = stars.v[:, k]
    low, high = stars.x.min(axis=0), stars.x.max(axis=0)
    margin = 0.01 * (high - low).max() + 1e-12
    return yt.load_particles(data, length_unit=(scale.length_pc, "pc"), mass_unit=(scale.mass_msun, "Msun"),
                             velocity_unit=(scale.velocity_kms, "km/s"), time_unit=(scale.length_pc * PC_KM /
                                                                                    scale.velocity_kms, "s"),
                             sim_time=stars.t, bbox=np.stack([low - margin, high + margin], axis=1))


# ---- NBODY6++

# The 20 values AS above the stars: time, pairs, pc and Msun in an N-body unit, tidal radius, Coriolis term, density
# centre, crossing times, Myr and km/s in a unit, core radius, stars and velocity in it, density there, and others.
HEADER = ("t", "pairs", "rbar_pc", "zmbar_msun", "r_tide", "coriolis", "x_density", "y_density", "z_density",
          "crossing_times", "t_myr", "v_kms", "r_core", "n_core", "v_core", "rho_core", "rho_max", "r_half",
          "r_small", "r_min")
CROSSING_TIME = 2 * np.sqrt(2)  # of a cluster with E = -1/4
PER_STAR = 10  # values: mass, density, distance of the fifth neighbour, x, v, potential


def _header(stars, log_row):
    scale = _units(stars)
    values = dict.fromkeys(HEADER, 0.0)
    values.update({key: log_row[key] for key in ("r_tide", "r_core", "n_core", "rho_core", "r_half")
                   if log_row and key in log_row})
    values.update(t=stars.t, rbar_pc=scale.length_pc, zmbar_msun=scale.mass_msun, x_density=stars.centre[0],
                  y_density=stars.centre[1], z_density=stars.centre[2], crossing_times=stars.t / CROSSING_TIME,
                  t_myr=scale.time_myr, v_kms=scale.velocity_kms)
    return [values[name] for name in HEADER]


def to_nbody6pp(stars, path, model=0, run=1, log_row=None):
    """The binary snapshot conf.3_T of NBODY6++: two records of unformatted Fortran, (NTOT, MODEL, NRUN, NK) and
    (AS[NK], BODYS, RHOS, XNS, XS, VS, PHI, NAME), all of 32 bits. Pairs stand resolved, so that AS counts none; RHOS
    and XNS, which NBODY6++ fills in the core alone, are 0, as is PHI if the potential is not known. Single precision:
    it is for scripts, no way to go on with a run.

    log_row: a row of the log as dict, for the radii in AS.
    """
    n = len(stars)
    pot = stars.pot if stars.pot is not None else np.zeros(n)
    floats = np.concatenate([_header(stars, log_row), stars.mass, np.zeros(2 * n), stars.x.ravel(), stars.v.ravel(),
                             pot]).astype("<f4")
    records = struct.pack("<4i", n, model, run, len(HEADER)), floats.tobytes() + np.asarray(stars.name, "<i4").tobytes()
    write_whole(path, b"".join(struct.pack("<i", len(r)) + r + struct.pack("<i", len(r)) for r in records))


def _fortran_records(path):
    with open(path, "rb") as file:
        data = file.read()
    records, at = [], 0
    while at < len(data):
        length = struct.unpack_from("<i", data, at)[0] if at + 4 <= len(data) else -1
        if length < 0 or at + 8 + length > len(data) or struct.unpack_from("<i", data, at + 4 + length)[0] != length:
            raise ReadError("%s: not an unformatted Fortran file of records with 32-bit marks" % path)
        records.append(data[at + 4:at + 4 + length])
        at += 8 + length
    return records


def from_nbody6pp(path):
    """Reads a file of to_nbody6pp, or of NBODY6++ with KZ(3) = 1: (AS as dict, Stars in N-body units). Leaves
    out the bodies after the stars, which are the centres of mass of pairs.   Raises ReadError."""
    records = _fortran_records(path)
    if len(records) < 2 or len(records[0]) < 16:
        raise ReadError("%s: not a conf.3 of NBODY6++: it has two records" % path)
    n, _, _, nk = struct.unpack_from("<4i", records[0])
    expected = 4 * (nk + (PER_STAR + 1) * n)
    if n < 0 or nk < len(HEADER) or len(records[1]) != expected:
        raise ReadError("%s: the second record has %d bytes; %d stars need %d" % (path, len(records[1]), n, expected))
    floats = np.frombuffer(records[1], "<f4", nk + PER_STAR * n).astype(float)
    names = np.frombuffer(records[1], "<i4", n, 4 * len(floats))
    header, rest = dict(zip(HEADER, floats.tolist())), floats[nk:]
    x, v = rest[3 * n:6 * n].reshape(n, 3), rest[6 * n:9 * n].reshape(n, 3)
    stars = Stars(rest[:n], x, v, names, header["t"], _units_of(header), pot=rest[9 * n:])
    return header, stars[:n - int(header["pairs"])]


def _units_of(header):
    return Units(header["rbar_pc"], header["zmbar_msun"], header["v_kms"], header["t_myr"])


def to_nbody6pp_text(stars, path):
    """The same as text: a line `## N t[NB] t[Myr] rbar[pc] zmbar*N[Msun] vstar[km/s]`, a line of column names, and a
    line for each star: name, m[Msun], x, y, z[pc], vx, vy, vz[km/s], phi[NB]."""
    scale = _units(stars)
    pot = stars.pot if stars.pot is not None else np.zeros(len(stars))
    lines = ["## %d %.10g %.10g %.10g %.10g %.10g" % (len(stars), stars.t, stars.t * scale.time_myr, scale.length_pc,
                                                      scale.mass_msun, scale.velocity_kms),
             "# name m[Msun] x[pc] y[pc] z[pc] vx[km/s] vy[km/s] vz[km/s] phi[NB]"]
    rows = np.column_stack([stars.get("mass", "Msun"), stars.get("x", "pc"), stars.get("v", "km/s"), pot])
    lines += ["%d %s" % (name, " ".join("%.12g" % value for value in row))
              for name, row in zip(np.asarray(stars.name).tolist(), rows.tolist())]
    write_whole(path, ("\n".join(lines) + "\n").encode())
