#!/usr/bin/env python3
"""Do two builds of nbody6 make the same bits? Some thirty short runs of everything there is (examples, binaries, chains,
hierarchies, tides, mergers, heavy bodies, escapers, resumed runs, one and two threads); of each the hash of what it computed:
the data sets of all snapshots, the rows of the log without times of the clock, and the events but for the id of the run.

usage: same_bits.py PROGRAM > FILE          hashes of one build
       same_bits.py FILE FILE               compares two such files; exit status 1 if a run differs

Hashes are those of one processor and compiler; record both files on one machine."""

import csv
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile

import h5py

import hard_inputs as hard
import realistic

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLOCK = re.compile(r"_s$|^ns_")  # columns of the log that are times of the clock


def example(name, t_end=None):
    folder = os.path.join(SOURCE, "input_examples", name)
    with open(os.path.join(folder, name + ".inp")) as file:
        text = file.read()
    if t_end is not None:
        text = re.sub(r"TCRIT=[0-9.]+", "TCRIT=%g" % t_end, text)
    return text, glob.glob(os.path.join(folder, "dat.10"))


def runs():
    """Name of a run: (input text, stars or paths of data files, options, time at which it is stopped and resumed)."""
    out = {}
    for name, t_end in (("plummer-1k", 1), ("na12-16k", 0.03125), ("kroupa-1k-tidal", 1), ("binaries-1k", 1),
                        ("pythagorean", None), ("two-body", None)):
        out["example " + name] = example(name, t_end) + ([], None)
    out["example plummer-1k, 2 threads"] = example("plummer-1k", 1) + (["--threads", "2"], None)
    out["example binaries-1k, resumed"] = example("binaries-1k", 1) + ([], 0.5)
    out["escaping pairs"] = hard.ESCAPING.format(seed=2, tcrit=1.5, dtadj=0.125), None, [], None
    out["escaping pairs, resumed"] = hard.ESCAPING.format(seed=2, tcrit=1.5, dtadj=0.125), None, [], 0.75
    out["chain in a galaxy"] = hard.CHAIN_IN_GALAXY.format(seed=1, tide=2), None, [], None
    out["chain in a galaxy, other field"] = hard.CHAIN_IN_GALAXY.format(seed=3, tide=1), None, [], None
    out["tight binaries"] = hard.TIGHT.format(seed=6151, more="KZ(14)=1"), None, [], None
    out["tight binaries, 2 threads"] = hard.TIGHT.format(seed=6151, more="KZ(14)=1"), None, ["--threads", "2"], None
    for seed in (1, 2):
        out["mergers %d" % seed] = hard.BINARIES.format(n=15, seed=seed, tide=1, tcrit=1, more="", radius=1e-4), None, [], None
    out["mergers 1, resumed"] = hard.BINARIES.format(n=15, seed=1, tide=1, tcrit=1, more="", radius=1e-4), None, [], 0.5
    out["a triple"] = hard.TRIPLE, hard.TRIPLE_STARS, [], None
    out["a quadruple"] = hard.QUADRUPLE, hard.QUADRUPLE_STARS, [], None
    out["triples"] = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=2, more="KZ(14)=1"), hard.systems(5, 12), [], None
    out["quadruples"] = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=1, more="KZ(14)=1"), hard.systems(6, 6, 4), [], None
    out["quadruples, resumed"] = out["quadruples"][:2] + ([], 0.5)
    chain = hard.STARS.format(dtadj=2**-6, deltat=2**-5, tcrit=2**-5, more="SMAX=0.015625 KZ(26)=1 GMIN=1e-14")
    out["a tight chain"] = chain, hard.meeting(7e-5), [], None
    out["a close pair"] = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=0.5, more=""), hard.close_pair(1e-7, 3), [], None
    out["outputs between steps"] = example("plummer-1k", 1)[0].replace("DTADJ=1.0", "DTADJ=0.3"), None, [], None
    for seed in (2, 4, 7, 11, 12, 13, 15, 16, 18, 30, 31, 35):
        out["realistic %d" % seed] = seed, None, [], None
    return out


def write(program, text, stars, base):
    folder = os.path.dirname(base)
    if isinstance(text, int):
        os.rename(realistic.write_input(program, folder, realistic.Cluster(text)), base + ".inp")
        return
    with open(base + ".inp", "w") as file:
        file.write(text)
    for path in stars or []:
        if isinstance(path, str):
            with open(path) as source, open(os.path.join(folder, os.path.basename(path)), "w") as copy:
                copy.write(source.read())
    if stars and not isinstance(stars[0], str):
        with open(os.path.join(folder, "stars.dat"), "w") as file:
            file.writelines(" ".join("%.17g" % value for value in star) + "\n" for star in stars)


def data_of(path, add):
    with h5py.File(path, "r") as file:
        found = []
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in sorted(found):
            add(name.encode() + file[name][()].tobytes())


def hash_of(base):
    digest = hashlib.sha256()
    for path in sorted(glob.glob(base + ".snap.*.h5")):
        data_of(path, digest.update)
    with open(base + ".log.csv") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    kept = [k for k, name in enumerate(rows[0]) if not CLOCK.search(name)]
    for row in rows:
        digest.update(",".join(row[k] for k in kept).encode())
    with open(base + ".events.jsonl") as file:
        digest.update("".join(line for line in file if '"event": "run"' not in line).encode())  # the id is no result
    return digest.hexdigest()[:16]


def run(program, text, stars, options, stop):
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "a")
        write(program, text, stars, base)
        command = [program, "a.inp", "--quiet", "--wall-limit", "600"] + (options or ["--threads", "1"])
        again = []
        if stop is not None:
            with open(base + ".inp") as file:
                text = file.read()
            t_end = re.search(r"TCRIT=([0-9.]+)", text).group(1)
            with open(base + ".inp", "w") as file:
                file.write(text.replace("TCRIT=" + t_end, "TCRIT=%g" % stop))
            again = [[program, "--resume", "a.ckpt.h5", "--tcrit", t_end, "--quiet"]]
        for arguments in [command] + again:
            done = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                return "exit %d: %s" % (done.returncode, done.stdout.strip().replace("\n", " "))
        return hash_of(base)


def read(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split("\t") for line in file)


def compare(before, after):
    before, after = read(before), read(after)
    different = [name for name in before if before[name] != after.get(name)]
    for name in different:
        print("different: %s: %s, %s" % (name, before[name], after.get(name)))
    print("%d runs, %d different" % (len(before), len(different)))
    return 1 if different else 0


def main():
    if len(sys.argv) == 3:
        return compare(*sys.argv[1:])
    program = os.path.abspath(sys.argv[1])
    for name, (text, stars, options, stop) in runs().items():
        print("%s\t%s" % (name, run(program, text, stars, options, stop)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
