"""Small files as other programs write them, from stars m x y z vx vy vz: snapshots of PeTar in text and binary form, HDF5
snapshots of NBODY6++GPU (snap.40), files of AMUSE of versions 1 and 2. The layouts are those of their writers: PeTar's
FileHeader and FPSoft, custom_output_facility.F, amuse.io.store_v1 and store_v2."""

import struct

import h5py
import numpy

MSUN_KG, PC_M = 1.988409870698051e30, 3.0856775814913673e16  # GM_sun = 1.3271244e20, G of CODATA 2018; IAU


def petar_rest(i, stellar):
    """The columns behind mass, place and velocity, as (format, value): binary state; radius, dm, time_record,
    time_interrupt with stellar evolution; r_search, id, mass_bk, status, two radii, acceleration, pot, pot_soft,
    n_ngb."""
    first = [("q", 0)] + ([("d", 1e-8), ("d", 0.0), ("d", 0.0), ("d", 1e10)] if stellar else [])
    return first + [("d", 0.1), ("q", i + 1), ("d", 0.0), ("q", 0), ("d", 1e-3), ("d", 1e-2), ("d", 0.1), ("d", 0.2),
                    ("d", 0.3), ("d", -1.0), ("d", -0.9), ("q", 3)]


def write_petar(path, rows, binary=False, stellar=False, centre=None, time=2.5, n=None):
    """centre: six numbers in the header, as with external potentials; n: a number of stars other than that of rows."""
    header = [3, len(rows) if n is None else n, time] + list(centre or [])
    if binary:
        with open(path, "wb") as file:
            file.write(struct.pack("=qqd%dd" % len(centre or []), *header))
            for i, row in enumerate(rows):
                rest = petar_rest(i, stellar)
                file.write(struct.pack("=7d" + "".join(kind for kind, _ in rest), *row, *[value for _, value in rest]))
        return
    with open(path, "w") as file:
        file.write("%d %d %s\n" % (header[0], header[1], " ".join("%26.17e" % x for x in header[2:])))
        for i, row in enumerate(rows):
            words = ["%26.17e" % x for x in row]
            words += ["%26.17e" % value if kind == "d" else "%d" % value for kind, value in petar_rest(i, stellar)]
            file.write(" ".join(words) + "\n")


def write_step(file, step, rows, names, time=0.0, pairs=(), members=True, centres=False, rel_unit=1.0):
    """One step of snap.40, in single precision. pairs: (i, j) of rows that are binaries; members: their stars are among
    the stars, as since 2021; centres: so are their centres of mass, named N + 1, ..."""
    rows, names = numpy.asarray(rows, float), list(names)
    group = file.create_group("Step#%d" % step)
    group.attrs["Time"], group.attrs["N_STAR"] = numpy.float32(time), numpy.int32(len(rows))
    group["000 Scalars"] = numpy.zeros(100, numpy.float32)
    of_pairs = {k for pair in pairs for k in pair}
    stars = [k for k in range(len(rows)) if members or k not in of_pairs]
    data, ids = [rows[k] for k in stars], [names[k] for k in stars]
    binaries = []
    for k, (i, j) in enumerate(pairs):
        mass = rows[i][0] + rows[j][0]
        centre = (rows[i][0] * rows[i][1:] + rows[j][0] * rows[j][1:]) / mass
        binaries.append((centre, (rows[i][1:] - rows[j][1:]) * rel_unit, names[i], names[j], rows[i][0], rows[j][0]))
        if centres:
            data.append(numpy.concatenate([[mass], centre]))
            ids.append(max(names) + 1 + k)
    data = numpy.asarray(data, numpy.float32)
    for k, name in enumerate(("001 X1", "002 X2", "003 X3", "004 V1", "005 V2", "006 V3")):
        group[name] = data[:, 1 + k]
    group["007 A1"] = numpy.zeros(len(data), numpy.float32)
    group["023 M"], group["032 Name"] = data[:, 0], numpy.array(ids, numpy.int32)
    group["033 Type"] = numpy.zeros(len(data), numpy.int32)
    if not binaries:
        return
    column = lambda values: numpy.asarray(values, numpy.float32)
    for k in range(3):
        group["10%d Bin cm X%d" % (1 + k, 1 + k)] = column([b[0][k] for b in binaries])
        group["10%d Bin cm V%d" % (4 + k, 1 + k)] = column([b[0][3 + k] for b in binaries])
        group["12%d Bin rel X%d" % (5 + k, 1 + k)] = column([b[1][k] for b in binaries])
        group["1%d Bin rel V%d" % (28 + k, 1 + k)] = column([b[1][3 + k] for b in binaries])
    group["123 Bin M1*"], group["124 Bin M2*"] = column([b[4] for b in binaries]), column([b[5] for b in binaries])
    group["161 Bin Name1"] = numpy.array([b[2] for b in binaries], numpy.int32)
    group["162 Bin Name2"] = numpy.array([b[3] for b in binaries], numpy.int32)
    group["163 Bin cm Name"] = numpy.array([max(names) + 1 + k for k in range(len(binaries))], numpy.int32)


def base(system, name):
    return "system.get(%r).base(%r)" % (system, name)


SPEED = "(" + base("S.I.", "length") + " * (" + base("S.I.", "time") + "**-1))"
AMUSE_UNITS = {  # mass, length, velocity as amuse.units.core writes their simple forms; factors to Msun, pc, km/s
    "si": (base("S.I.", "mass"), base("S.I.", "length"), SPEED, MSUN_KG, PC_M, 1e3),
    "astro": ("(%r * %s)" % (MSUN_KG, base("S.I.", "mass")), "(%r * %s)" % (PC_M, base("S.I.", "length")),
              "((1000.0 * %s) * (%s**-1))" % (base("S.I.", "length"), base("S.I.", "time")), 1, 1, 1),
    "nbody": (base("nbody", "mass"), base("nbody", "length"),
              "(" + base("nbody", "length") + "/" + base("nbody", "time") + ")", 1, 1, 1),
    "none": ("none", "none", "none", 1, 1, 1),
}


def write_amuse(path, sets, units="si", version=2, absent=(), more=()):
    """sets: {name: [rows, ...]}, the history of each set; the name None is that of a file with one set. absent: attributes
    that are left out; more: others that are added."""
    mass, length, speed, *factor = AMUSE_UNITS[units]
    text = (lambda word: word) if version == 2 else (lambda word: word.encode("ascii"))
    with h5py.File(path, "w") as file:
        if version == 2:
            file.create_group("AMUSE_INF").attrs["version"] = "2.0"
        for name, history in sets.items():
            parent = file.create_group(name or ("data" if version == 2 else "particles"))
            for k, rows in enumerate(history):
                rows = numpy.asarray(rows, float)
                group = parent.create_group("%010d" % (k + 1))
                group.attrs["type"], group.attrs["number_of_particles"] = text("particles"), len(rows)
                group["keys"] = numpy.arange(len(rows), dtype=numpy.uint64) * 1234567891011121314 + 17
                attributes = group.create_group("attributes")
                for c, (q, unit) in enumerate(zip(("mass", "x", "y", "z", "vx", "vy", "vz"),
                                                  [mass] + 3 * [length] + 3 * [speed])):
                    if q in absent:
                        continue
                    attributes[q] = rows[:, c] * factor[0 if c == 0 else 1 if c < 4 else 2]
                    attributes[q].attrs["units"] = text(unit)
                for q in more:
                    attributes[q] = numpy.zeros(len(rows))
                    attributes[q].attrs["units"] = text(length)
