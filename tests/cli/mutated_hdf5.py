"""Shared by tests of damaged and foreign HDF5 files: original files, changed bytes, new seals."""

import re

import h5py
import numpy

SEAL_BYTES = 512
POLYNOMIAL = 0xc96c5795d7870f42


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def seal_anew(data):
    """A checkpoint with a seal that fits its present bytes."""
    crc = 2**64 - 1
    for byte in data[SEAL_BYTES:]:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    schema = re.match(rb"nbody6 checkpoint\nschema (\d+)\n", data).group(1)
    seal = b"nbody6 checkpoint\nschema %s\nbytes %d\ncrc64 %016x\n" % (schema, len(data), crc ^ (2**64 - 1))
    return seal.ljust(SEAL_BYTES, b"\0") + bytes(data[SEAL_BYTES:])


def write_gadget(path, n=64, kind=4, header=None, chunk=0, libver=None, **storage):
    """Stars in a random cube, in a file as GADGET writes it, with units of Msun, pc, km/s.
    header: attributes that differ, None: left out; chunk: rows of a chunk, 0: none; storage: options of datasets."""
    rng = numpy.random.default_rng(7)
    counts = numpy.zeros(6, dtype="u4")
    counts[kind] = n
    attributes = {"NumPart_ThisFile": counts, "NumPart_Total": counts, "NumPart_Total_HighWord": 0 * counts,
                  "MassTable": numpy.zeros(6), "Time": 0.0, "Redshift": 0.0, "BoxSize": 0.0, "NumFilesPerSnapshot": 1,
                  "Omega0": 0.0, "OmegaLambda": 0.0, "HubbleParam": 1.0, "UnitLength_in_cm": 3.0856775814913673e18,
                  "UnitMass_in_g": 1.988409870698051e33, "UnitVelocity_in_cm_per_s": 1e5}
    attributes.update(header or {})
    values = {"Coordinates": rng.uniform(-1, 1, (n, 3)), "Velocities": rng.uniform(-1, 1, (n, 3)),
              "Masses": rng.uniform(0.5, 1, n), "ParticleIDs": numpy.arange(1, n + 1, dtype="u8")}
    with h5py.File(path, "w", libver=libver) as file:
        group = file.create_group("Header").attrs
        for name, value in attributes.items():
            if value is not None:
                group[name] = value
        stars = file.create_group("PartType%d" % kind)
        for name, value in values.items():
            stars.create_dataset(name, data=value, chunks=(chunk, *value.shape[1:]) if chunk else None, **storage)


def say_huge(data, name):
    """The file where an attribute is said to be of 1 GiB, which crashes HDF5 1.10 when it copies that."""
    data, found = bytearray(data), 0
    key = name.encode() + b"\0"
    key = key.ljust(-(-len(key) // 8) * 8, b"\0")
    at = data.find(key)
    while at >= 0:
        kind = at + len(key)
        if data[kind] >> 4 == 1:  # the type, in the first version of its message
            data[kind + 4:kind + 8] = (1 << 30).to_bytes(4, "little")
            found += 1
        at = data.find(key, at + 1)
    assert found, name
    return data


def raw_places(path):
    """Where values of datasets stand that follow each other: [(first, end)]."""
    places = []

    def visit(_name, object):
        if isinstance(object, h5py.Dataset) and object.id.get_offset() is not None:
            first = object.id.get_offset()
            places.append((first, first + object.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(visit)
    return places


def mutate(rng, data, spared=()):
    """The bytes with 1 to 6 changes; most are of numbers in which HDF5 keeps sizes and places.
    spared: [(first, end)] of bytes that stay, unless something is moved over them."""
    data = bytearray(data)

    def place():
        while True:
            at = rng.randrange(len(data))
            if not any(first <= at < end for first, end in spared):
                return at

    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at, way = place(), rng.random()
        if way < 0.45:
            data[at] ^= 1 << rng.randrange(8)
        elif way < 0.65:
            data[at] = rng.choice((0, 1, 2, 3, 4, 8, 16, 127, 128, 254, 255))
        elif way < 0.85:
            width = rng.choice((2, 4, 8))
            value = rng.choice((0, 1, 2**(8 * width) - 1, 2**(8 * width - 1), rng.randrange(2**(8 * width)),
                                rng.randrange(len(data)), len(data)))
            data[at:at + width] = (value % 2**(8 * width)).to_bytes(width, "little")
        elif way < 0.95:
            other, length = place(), rng.randrange(1, 64)
            data[at:at + length] = data[other:other + length]
        else:
            del data[rng.randrange(max(first_of_end(data), len(data) // 2), len(data)):]
    return data


def first_of_end(data):
    """A checkpoint keeps its seal."""
    return SEAL_BYTES if data.startswith(b"nbody6 checkpoint") else 0
