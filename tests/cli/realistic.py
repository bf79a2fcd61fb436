"""Realistic clusters at random: mass functions, binaries, triples and quadruples, tides, escapers and collisions at once.

usage: realistic.py [--nbody6 PROGRAM] [--folder DIR] [--limit SECONDS] FIRST LAST

Each seed gives one input, always the same. The printed rows have its set-up and its result: exit status, largest and
last energy error relative to the energy of the cluster, seconds. With --folder the inputs and files stay."""

import argparse
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

T_END = 5
G_PC = 0.0043009  # pc (km/s)^2/Msun
MEAN_MASS = {"kroupa": 0.56, "salpeter": 0.35, "equal": 0.5}  # Msun, of the limits below


class Cluster:
    """A set-up drawn by its seed. The ranges are those that users have; they are not to be narrowed when a run fails."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.n = int(round(math.exp(draw.uniform(math.log(3), math.log(300)))))
        self.systems_drawn = self.n
        self.masses = draw.choice(["kroupa", "salpeter", "equal"])
        self.binaries = int(draw.uniform(0, 0.6) * self.n) if draw.random() < 0.75 else 0
        self.periods = draw.randrange(6)
        self.semi = 10 ** draw.uniform(-4, -1.5)
        self.range = draw.choice([1, 10, 100])
        self.ecc = draw.choice([-1, 0.5, 20, 30])
        self.model = draw.choice(["uniform", "plummer", "king"])
        self.w0 = draw.uniform(1, 9)
        self.galaxy = draw.choice([0, 1, 2])
        self.filling = draw.uniform(0.05, 0.3)
        self.escape = draw.randrange(5)
        self.multiples = draw.uniform(0, 0.3) if draw.random() < 0.4 else 0
        self.radius = 10 ** draw.uniform(-6, -3) if draw.random() < 0.3 else 0
        self.systems = int(draw.random() < 0.8)
        self.adjust = int(draw.random() < 0.8)
        self.slow = draw.choices([0, 1, 2], [1, 1, 4])[0]
        self.chain = draw.choice(["auto", "chain", "ar"])
        self.eta = draw.uniform(0.01, 0.03)
        self.dt_adjust = draw.choice([0.1, 0.125, 0.25, 0.3, 0.5, 0.7, 1])
        self.draw = draw
        if self.binaries and self.periods and self.slow == 0:
            self.slow = 1  # 10^8 orbits of a close binary, one by one, are no test
        self.set_units()

    def set_units(self):
        """The length unit that makes the half-mass radius, about 0.77 of it, `filling` of the tidal radius."""
        mass = (self.n + self.binaries) * MEAN_MASS[self.masses]
        self.galaxy_mass, self.galaxy_distance = 8e10, 8.5  # Msun, kpc
        if self.galaxy == 1:
            field = 4 * 14.4 * 26.4 * 1e-6  # 4 A (A - B), (km/s/pc)^2
        else:
            field = 3 * G_PC * self.galaxy_mass / (1e3 * self.galaxy_distance) ** 3
        r_tide = (G_PC * mass / field) ** (1 / 3)
        self.rbar = self.filling * r_tide / 0.77 if self.galaxy else 1.0

    def namelist(self, data=None):
        stars = "" if data else "N=%d, " % self.n
        lines = ["&ININPUT %sNRAND=%d, RBAR=%.6g, ZMBAR=%.6g, TCRIT=%d, DTADJ=%g, DELTAT=%d, QE=1E10," %
                 (stars, self.seed, self.rbar, MEAN_MASS[self.masses], T_END, self.dt_adjust, T_END),
                 "  ETAI=%.4g, ETAR=%.4g," % (self.eta, self.eta)]
        if not self.adjust:
            lines.append("  RMIN=%.4g, DTMIN=%.4g," % (1.0 / (self.n + 3), 0.04 * (self.n + 3) ** -1.0))
        options = {14: self.galaxy, 15: self.systems, 16: self.adjust, 23: self.escape, 26: self.slow}
        if self.masses == "kroupa":
            options[20] = 6
        if self.binaries:
            options.update({8: 2 if data else 1, 42: 0 if data else self.periods})
        if data:
            options.update({20: 0, 22: 2})
        lines.append("  " + ", ".join("KZ(%d)=%d" % item for item in sorted(options.items())) + " /")
        limits = {"kroupa": "BODY1=20, BODYN=0.08", "salpeter": "ALPHAS=2.35, BODY1=20, BODYN=0.1",
                  "equal": "ALPHAS=1"}[self.masses]
        lines.append("&INDATA %s%s /" % ("" if data else limits, ", NBIN0=%d" % self.binaries if self.binaries else ""))
        if self.binaries and not data:
            lines.append("&INBINPOP SEMI0=%.4g, RANGE=%g, ECC0=%g, RATIO=%g /" % (
                self.semi, self.range, self.ecc, 1 if self.masses == "equal" else 0.7))
        if self.galaxy == 2:
            lines.append("&INXTRNL0 GMG=%g, RG0=%g /" % (self.galaxy_mass, self.galaxy_distance))
        if data:
            lines.append("&INMODEL DATA='%s' /" % data)
        else:
            lines.append("&INMODEL MODEL='%s'%s /" % (self.model, ", W0=%.3g" % self.w0 if self.model == "king" else ""))
        lines.append("&INRUN CHAIN='%s'%s /" % (self.chain, ", RSTAR=%.3g" % self.radius if self.radius else ""))
        return "\n".join(lines) + "\n"

    def is_refused(self):
        """Inputs that cannot run: a King model of three stars has no shape, and so on. None so far."""
        return False

    def kind(self):
        parts = ["N=%d" % self.n, self.masses, self.model]
        if self.binaries:
            parts.append("%d binaries (%d)" % (self.binaries, self.periods))
        if self.galaxy:
            parts.append("galaxy %d, %.2f r_t, KZ(23)=%d" % (self.galaxy, self.filling, self.escape))
        if self.multiples:
            parts.append("%.0f %% in multiples" % (100 * self.multiples))
        if self.radius:
            parts.append("RSTAR=%.0e" % self.radius)
        parts.append("KZ(15)=%d KZ(16)=%d KZ(26)=%d %s ETA=%.3f" % (self.systems, self.adjust, self.slow, self.chain,
                                                                  self.eta))
        return ", ".join(parts)


def orbit(draw, mass, a, e):
    """A relative position and velocity on a Kepler orbit with random phase and orientation."""
    mean = draw.uniform(0, 2 * math.pi)
    anomaly = mean
    for _ in range(60):
        anomaly -= (anomaly - e * math.sin(anomaly) - mean) / (1 - e * math.cos(anomaly))
    b, rate = a * math.sqrt(1 - e * e), math.sqrt(mass / a ** 3) / (1 - e * math.cos(anomaly))
    plane = ((a * (math.cos(anomaly) - e), b * math.sin(anomaly)),
             (-a * math.sin(anomaly) * rate, b * math.cos(anomaly) * rate))
    axes = []
    while len(axes) < 2:
        vector = [draw.gauss(0, 1) for _ in range(3)]
        for axis in axes:
            along = sum(p * q for p, q in zip(vector, axis))
            vector = [p - along * q for p, q in zip(vector, axis)]
        size = math.sqrt(sum(p * p for p in vector))
        axes.append([p / size for p in vector])
    return [[c[0] * axes[0][d] + c[1] * axes[1][d] for d in range(3)] for c in plane]


def divide(draw, row, share, a, e):
    """Two rows in the place of one, `share` of its mass in the first."""
    x, v = orbit(draw, row[0], a, e)
    parts = []
    for part, weight in ((share, 1 - share), (1 - share, -share)):
        parts.append([row[0] * part] + [row[1 + d] + weight * x[d] for d in range(3)] +
                     [row[4 + d] + weight * v[d] for d in range(3)])
    return parts


def with_multiples(cluster, rows):
    """Some single stars become triples and quadruples, stable for the most part."""
    draw, pairs = cluster.draw, rows[:2 * cluster.binaries]
    out = list(pairs)
    for row in rows[2 * cluster.binaries:]:
        if draw.random() >= cluster.multiples / 3:
            out.append(row)
            continue
        a = 10 ** draw.uniform(-5, -2.5)
        outer = a * 10 ** draw.uniform(0.5, 1.7)
        first, second = divide(draw, row, draw.uniform(0.4, 0.7), outer, draw.uniform(0, 0.5))
        out.extend(divide(draw, first, draw.uniform(0.3, 0.7), a, draw.uniform(0, 0.7)))
        out.extend(divide(draw, second, 0.5, 0.7 * a, draw.uniform(0, 0.7)) if draw.random() < 0.4 else [second])
    return out


def write_input(program, folder, cluster):
    """The path of the input, with its data file beside it."""
    base = os.path.join(folder, "c%04d" % cluster.seed)
    with open(base + ".inp", "w") as file:
        file.write(cluster.namelist())
    if not cluster.multiples:
        return base + ".inp"
    subprocess.run([program, "--init-only", "--overwrite", "--quiet", base + ".inp", "--out", base + ".model"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(base + ".model.dat10") as file:
        rows = [[float(word) for word in line.split()] for line in file if line.strip() and line[0] not in "#!"]
    with open(base + ".dat", "w") as file:
        rows = with_multiples(cluster, rows)
        for row in rows:
            file.write(" ".join("%.17g" % value for value in row) + "\n")
    cluster.n = len(rows)
    with open(base + ".inp", "w") as file:
        file.write(cluster.namelist(os.path.basename(base) + ".dat"))
    return base + ".inp"


def read_log(path):
    with open(path) as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


class Result:
    def __init__(self, cluster, code, text, rows):
        self.cluster, self.code, self.text = cluster, code, text
        self.last = rows[-1] if rows else {}
        self.finished = bool(rows) and float(self.last["t"]) >= getattr(cluster, "t_end", T_END) - 1e-9
        errors = [abs(float(row["de_cluster"])) for row in rows]
        self.error = errors[-1] if errors else math.nan
        self.worst = max(errors) if errors else math.nan
        self.interval = max([abs(float(row["de_cluster_interval"])) for row in rows] or [math.nan])

    def row(self):
        get = self.last.get
        return "%4d %s %s dE %8.1e worst %8.1e interval %8.1e  n %s chains %s hier %s esc %s merg %s %5.1f s | %s" % (
            self.cluster.seed, "exit %d" % self.code, "end " if self.finished else "EARLY", self.error, self.worst,
            self.interval, get("n"), get("chains_formed"), get("hierarchies_formed"), get("escapers"), get("mergers"),
            float(get("wall_s", "nan")), self.cluster.kind())


def run(program, folder, seed, limit, arguments=()):
    cluster = Cluster(seed)
    described = cluster.kind()
    path = write_input(program, folder, cluster)
    cluster.kind = lambda: described
    done = subprocess.run([program, path, "--overwrite", "--out", path[:-4], "--wall-limit", str(limit), *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=folder, timeout=20 * limit + 60)
    log = path[:-4] + ".log.csv"
    return Result(cluster, done.returncode, done.stdout, read_log(log) if os.path.exists(log) else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nbody6", default=os.path.join(os.environ.get("NB6_BUILD", "build"), "nbody6"))
    parser.add_argument("--folder")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.first, options.last + 1):
            result = run(os.path.abspath(options.nbody6), options.folder or scratch, seed, options.limit)
            print(result.row(), flush=True)
            if result.code or not result.finished:
                print("     " + result.text.strip().splitlines()[-1][:300], flush=True)


if __name__ == "__main__":
    sys.exit(main())
