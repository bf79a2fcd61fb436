"""Small clusters of wild_clusters.py, with galaxy, gas and mergers, against direct_integration.c, which shares no code
with nbody6, for as long as that integration agrees with itself.

usage: direct.py [--nbody6 PROGRAM] [--folder DIR] FIRST LAST

A row for each seed: its set-up, until when the integration agrees with itself within 1e-10, the largest difference of a
star's place until then, and mergers."""

import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import h5py

import wild_clusters

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 20
T_END, OUTPUTS = 2, 32
# Their errors of a step, as its last extrapolation estimates them; the state that goes on is better.
TOLERANCES = "1e-15", "1e-16"
EVALUATIONS = 600000  # of all forces, with one tolerance: some seconds for twenty stars
# Backends with the same bits on any processor, and with forces in double.
ARGUMENTS = ["--engine", "host", "--device", "ref", "--irr-backend", "ref", "--precision", "double", "--threads", "1"]

# docs/units.md: the nominal solar mass parameter and the units of the IAU
PC_M = 648000 / math.pi * 149597870700.0
G_PC = 1.3271244e20 / PC_M * 1e-6  # pc (km/s)^2/Msun


class Small(wild_clusters.Cluster):
    """A set-up with all stars at known positions: no pair is slowed down, none is frozen, no star is removed. Kinds of
    galaxies by turns, radii with collisions in every second one, orbits that an integration without regularization can
    follow."""

    def __init__(self, seed):
        super().__init__(seed, MOST)
        draw = self.draw
        self.draw_galaxy(seed % 6)
        self.options.update({15: 1, 23: 0, 26: 0, 30: -1})
        self.eta, self.t_end, self.dt_adjust, self.dt_output = 5e-4, T_END, T_END / OUTPUTS, T_END / OUTPUTS
        self.accuracy = "GMIN=1E-10, ETAU=0.05, SMAX=0.0625,"
        self.radius = 10 ** draw.uniform(-3.3, -1.7) if seed % 2 else 0
        self.semi, self.tightest = 10 ** draw.uniform(-2, -1.3), 1e-3
        self.periods, self.longest_list, self.own_radii = 0, 0, False


def field_of(cluster, rbar, mass):
    """The lines of the set-up that describe the field, from the input's variables and the units of the snapshot."""
    speed, kpc = math.sqrt(G_PC * mass / rbar), 1e3 / rbar
    words = re.findall(r"(\w+)=([-+.,\de]*[\de])", cluster.field)
    var = {name: [float(number) for number in values.split(",")] for name, values in words}
    get = lambda name, scale=1.0: var.get(name, [0.0])[0] * scale
    lines = []
    if cluster.galaxy == 1:
        rate = 1e-3 * rbar / speed
        a, b, rho = 14.4 * rate, -12.0 * rate, 0.11 * rbar ** 3 / mass
        lines.append(("tide", 4 * a * (a - b), -(4 * math.pi * rho + 2 * (a * a - b * b)), 2 * (a - b)))
    elif cluster.galaxy == 2:
        w = math.sqrt(get("GMG", 1 / mass) / get("RG0", kpc) ** 3)
        lines.append(("tide", 3 * w * w, -w * w, 2 * w))
    elif cluster.galaxy == 3:
        lines.append(("point", get("GMG", 1 / mass)))
        if "DISK" in var:
            lines += [("bulge", get("GMB", 1 / mass), get("AR", kpc), get("GAM")),
                      ("disk", get("DISK", 1 / mass), get("A", kpc), get("B", kpc)),
                      ("halo", get("VCIRC", 1 / speed), get("RCIRC", kpc))]
    elif cluster.galaxy == 5:
        lines.append(("milkyway", 220 / speed, 8 * kpc, kpc))
    if "MP" in var:
        lines.append(("gas", get("MP"), get("AP2"), get("MPDOT"), get("TDELAY")))
    if "VG" in var:
        lines.append(("orbit", *[kpc * x for x in var["RG"]], *[v / speed for v in var["VG"]]))
    elif "RG" in var:  # about a point mass: apocentre and eccentricity
        r = var["RG"][0] * kpc
        lines.append(("orbit", r, 0, 0, 0, math.sqrt(get("GMG", 1 / mass) / r * (1 - var["RG"][1])), 0))
    return lines


def compile_integrator(folder):
    program = os.path.join(folder, "direct_integration")
    subprocess.run(os.environ.get("CC", "cc").split() + ["-std=c11", "-O2", "-o", program, os.path.join(
        HERE, "direct_integration.c"), "-lm"], check=True)
    return program


def integrate(program, cluster, path, mergers):
    """[(time, places, into)] of the direct integration that begins with this snapshot, as far as it is sure, and what is
    wrong with mergers."""
    with h5py.File(path) as file:
        stars, head = file["PartType4"], file["nbody6"].attrs
        lines = field_of(cluster, float(head["rbar_pc"]), float(head["mass_msun"])) + [("times", T_END, OUTPUTS)]
        for mass, x, v in zip(stars["Masses"], stars["Coordinates"], stars["Velocities"]):
            lines.append(("star", mass, *x, *v, float("%.3g" % cluster.radius)))
        names = [int(name) for name in stars["ParticleIDs"]]
    for t, stays, gone in mergers:
        lines.append(("merger", t, names.index(stays), names.index(gone)))
    text = "".join(" ".join([line[0]] + ["%.17g" % value for value in line[1:]]) + "\n" for line in lines)
    done = subprocess.run([program, *TOLERANCES, str(EVALUATIONS)], input=text, stdout=subprocess.PIPE, text=True,
                          check=True)
    out, wrong = [], []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] in ("wrong", "missed"):
            wrong.append("%s merger of %d and %d at %s" % (words[0], names[int(words[1])], names[int(words[2])], words[3]))
        elif words[0] == "t":
            out.append((float(words[1]), {}, {}))
        else:
            name = names[len(out[-1][1])]
            out[-1][1][name] = [float(word) for word in words[:3]]
            out[-1][2][name] = names[int(words[3])]
    return out, wrong


def mergers_of(base):
    """[(time, name of the star that goes on, name of the one that is gone)]"""
    with open(base + ".events.jsonl") as file:
        events = [json.loads(line) for line in file]
    return sorted((event["t"], *event["names"]) for event in events if event["event"] == "merger")


class Comparison:
    """The largest difference of places over all outputs until the integration ceases to be sure of them."""

    def __init__(self, cluster, done):
        self.cluster, self.code, self.text = cluster, done.returncode, done.stdout
        self.until = self.worst = self.when = 0
        self.mergers, self.wrong = [], []

    def add(self, path, row):
        self.until, places, into = row
        with h5py.File(path) as file:
            stars = file["PartType4"]
            here = dict(zip([int(name) for name in stars["ParticleIDs"]], [list(x) for x in stars["Coordinates"]]))
        for star, other in into.items():
            if star == other:
                far = math.sqrt(sum((p - q) ** 2 for p, q in zip(here[star], places[star])))
                if not far <= self.worst:
                    self.worst, self.when = far, self.until

    def compare(self, base, rows):
        paths = {}
        for path in sorted(glob.glob(base + ".snap.*.h5")):
            with h5py.File(path) as file:
                paths[round(float(file["nbody6"].attrs["t"]) * OUTPUTS / T_END)] = path
        for row in rows:
            self.add(paths[round(row[0] * OUTPUTS / T_END)], row)

    def row(self):
        return "%4d exit %d until %.4f worst %8.1e at %.4f, mergers %d%s | %s" % (
            self.cluster.seed, self.code, self.until, self.worst, self.when, len(self.mergers),
            "".join(", " + text for text in self.wrong), self.cluster.kind())


def run(program, integrator, folder, seed):
    cluster = Small(seed)
    base = cluster.write(os.path.join(folder, "d%04d" % seed))[:-4]
    done = subprocess.run([program, base + ".inp", "--overwrite", "--out", base, *ARGUMENTS], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=600)
    comparison = Comparison(cluster, done)
    if done.returncode == 0:
        mergers = mergers_of(base)
        rows, comparison.wrong = integrate(integrator, cluster, base + ".snap.00000.h5", mergers)
        comparison.compare(base, rows)
        comparison.mergers = [merger for merger in mergers if merger[0] <= comparison.until]
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nbody6", default=os.path.join(os.environ.get("NB6_BUILD", "build"), "nbody6"))
    parser.add_argument("--folder")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        integrator = compile_integrator(scratch)
        for seed in range(options.first, options.last + 1):
            result = run(os.path.abspath(options.nbody6), integrator, options.folder or scratch, seed)
            print(result.row(), flush=True)
            if result.code:
                print("     " + result.text.strip().splitlines()[-1][:300], flush=True)


if __name__ == "__main__":
    sys.exit(main())
