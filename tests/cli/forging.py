"""Forged checkpoints: fields of a sound one are changed, one at a time; its length and checksum are made right again.
Everything is found in the file itself, so that a new field is forged like all others."""

import lzma
import shutil
import struct

import h5py
import numpy

SEAL = 512  # bytes, before the HDF5 part

HOW = ("negative", "zero", "huge", "tiny", "nan", "infinite", "more", "less", "swapped", "copied", "random", "all",
       "truncated", "enlarged", "other")


def crc64(data):
    """CRC-64/XZ: lzma keeps it of what it packs, before the index."""
    packed = lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=0)
    index = 4 * (struct.unpack("<I", packed[-8:-4])[0] + 1)
    return struct.unpack("<Q", packed[-12 - index - 8:-12 - index])[0]


def seal(path):
    """Length and checksum of what follows, as nbody6/output/checkpoint_seal.c writes them."""
    with open(path, "r+b") as file:
        data = file.read()
        schema = int(data[:SEAL].split(b"schema ")[1].split()[0])
        text = "nbody6 checkpoint\nschema %d\nbytes %d\ncrc64 %016x\n" % (schema, len(data), crc64(data[SEAL:]))
        file.seek(0)
        file.write(text.encode().ljust(SEAL, b"\0"))


def fields(path):
    """All attributes and datasets, (object, attribute or None)."""
    found = []

    def visit(name, item):
        found.extend((name, attribute) for attribute in item.attrs)
        if isinstance(item, h5py.Dataset):
            found.append((name, None))

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def name_of(field):
    return field[0] if field[1] is None else "%s/%s" % field


def huge(values, rng):
    if values.dtype.kind == "f":
        return rng.choice((1e300, 1e18, -1e300, 1e9))
    most = numpy.iinfo(values.dtype).max
    return rng.choice((most, most - 1, most // 2, min(most, 10**18), min(most, 2**31 - 1), min(most, 100000)))


def changed_text(text, rng):
    return rng.choice((b"", b"x", text[:-1], text + b"x", text[::-1], b"x" * 2000, b"%s%n" * 9))


def changed(values, how, rng):
    """A changed copy of an array of numbers; None: this cannot be done with it."""
    values = numpy.array(values)
    real = values.dtype.kind == "f"
    flat = values.reshape(-1)
    if how in ("nan", "infinite", "tiny") and not real:
        return None
    if not flat.size:
        return None
    k = rng.randrange(flat.size)
    before = flat.copy()
    with numpy.errstate(all="ignore"):
        if how == "negative":
            flat[k] = -flat[k] if flat[k] > 0 and rng.random() < 0.5 else -1 if values.dtype.kind != "u" else 2**63
        elif how == "zero":
            flat[k] = 0
        elif how == "huge":
            flat[k] = huge(values, rng)
        elif how == "tiny":
            flat[k] = rng.choice((2.0**-1000, 5e-324, -2.0**-1000))
        elif how == "nan":
            flat[k] = numpy.nan
        elif how == "infinite":
            flat[k] = rng.choice((numpy.inf, -numpy.inf))
        elif how in ("more", "less"):
            step = flat[k] * 2.0**-20 if real and rng.random() < 0.5 else 1
            flat[k] = flat[k] + step if how == "more" else flat[k] - step
        elif how in ("swapped", "copied"):
            j = rng.randrange(flat.size)
            one = flat[k].copy()
            flat[k] = flat[j]
            if how == "swapped":
                flat[j] = one
        elif how == "random":
            bits = numpy.frombuffer(rng.randbytes(flat.itemsize), flat.dtype)[0]
            near = rng.uniform(-2, 2) * float(flat[k]) if real else rng.randrange(100)
            flat[k] = bits if rng.random() < 0.5 else near
        elif how == "all":
            flat[:] = rng.choice((0, 1, flat[k]))
        else:
            return None
    return None if before.tobytes() == flat.tobytes() else values


def resized(values, how, rng):
    """One row less, or some more."""
    if not len(values.shape):
        return None if how == "truncated" else numpy.array([values] * 2)
    if how == "truncated":
        return values[:-1] if len(values) else None
    row = values[-1:] if len(values) else numpy.zeros((1,) + values.shape[1:], values.dtype)
    return numpy.concatenate([values, row])


def other_type(values, rng):
    return numpy.array(values).astype("<f4" if values.dtype.kind != "f" or rng.random() < 0.5 else "<i8")


def replace(holder, name, is_attribute, values):
    """Write values; anew if their shape or type is another one."""
    if is_attribute:
        if isinstance(values, bytes):
            holder.attrs.create(name, numpy.bytes_(values), dtype="S%d" % max(1, len(values)))
        else:
            old = holder.attrs.get_id(name)
            if old.shape == values.shape and old.dtype == values.dtype:
                holder.attrs.modify(name, values)
            else:
                del holder.attrs[name]
                holder.attrs.create(name, values)
    elif holder[name].shape == values.shape and holder[name].dtype == values.dtype:
        holder[name][...] = values
    else:
        kept = dict(holder[name].attrs)
        del holder[name]
        holder.create_dataset(name, data=values)
        for key, value in kept.items():
            holder[name].attrs[key] = value


def forge(sound, path, field, how, rng):
    """A copy with one field changed.   Returns 0 if this cannot be done with it."""
    shutil.copy(sound, path)
    name, attribute = field
    with h5py.File(path, "r+") as file:
        if attribute is None:
            holder, key = file, name
            values = file[name][...]
        else:
            holder, key = file[name], attribute
            values = numpy.array(holder.attrs[key])
        if values.dtype.kind in "SO":
            new = changed_text(bytes(values.item()), rng)
        elif how in ("truncated", "enlarged"):
            new = resized(values, how, rng)
        elif how == "other":
            new = other_type(values, rng)
        else:
            new = changed(values, how, rng)
        if new is None:
            return 0
        replace(holder, key, attribute is not None, new)
    seal(path)
    return 1


def set_field(sound, path, name, change):
    """A copy with a changed field: change(values) changes its values in place, or returns new ones."""
    shutil.copy(sound, path)
    with h5py.File(path, "r+") as file:
        attribute = name not in file
        holder, key = (file[name.rsplit("/", 1)[0]], name.rsplit("/", 1)[1]) if attribute else (file, name)
        values = numpy.array(holder.attrs[key]) if attribute else file[name][...]
        given = change(values)
        replace(holder, key, attribute, values if given is None else given)
    seal(path)
