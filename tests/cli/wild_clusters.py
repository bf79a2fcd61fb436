"""Clusters at random that realistic.py does not draw: heavy bodies, discs and rings, cold and clumpy models, tables in
many spellings, orbits in galaxies, gas that leaves, radii in triples and quadruples, small step factors, short lists.

usage: wild_clusters.py [--nbody6 PROGRAM] [--folder DIR] [--limit SECONDS] [--most N] [--engine WORD] FIRST LAST

Each seed gives one input, always the same. The printed rows have its set-up and its result: exit status, largest and
last energy error relative to the energy of the cluster, seconds. With --folder the inputs and files stay."""

import argparse
import gzip
import math
import os
import random
import subprocess
import sys
import tempfile

import realistic
from realistic import T_END, divide

G_PC = realistic.G_PC
AU_PC, RSUN_PC = math.pi / 648000, 6.957e8 / 3.0856775814913673e16
MEAN_MASS = 0.5  # Msun
PERIODS = 5e3  # of the tightest inner pair of a triple that must not be frozen: one star, at thirty steps a period
NAMES = ["mass", "x", "y", "z", "vx", "vy", "vz"]

# Reasons for which a set-up may be refused with exit status 2: pieces of the message. None so far.
REFUSED_FOR = []


def isotropic(draw, size):
    vector = [draw.gauss(0, 1) for _ in range(3)]
    return [size * p / math.sqrt(sum(q * q for q in vector)) for p in vector]


def plummer(draw, n, size=1.0, mass=1.0):
    """Places and velocities of a Plummer model of this virial radius (Aarseth, Henon & Wielen 1974)."""
    out, a = [], 3 * math.pi / 16 * size
    for _ in range(n):
        r = a / math.sqrt(draw.uniform(0.01, 0.99) ** (-2 / 3) - 1)
        q = draw.random()
        while draw.uniform(0, 0.1) > q * q * (1 - q * q) ** 3.5:
            q = draw.random()
        out.append(isotropic(draw, r) + isotropic(draw, q * math.sqrt(2 * mass) * (r * r + a * a) ** -0.25))
    return out


def clumps(draw, n, count):
    """Subclusters of different size; their centres move as slowly as in a virialised cluster, or hardly."""
    sizes = [10 ** draw.uniform(-1.3, -0.7) for _ in range(count)]
    centres = [isotropic(draw, draw.uniform(0.2, 1.5)) + isotropic(draw, draw.choice([0.05, 0.5])) for _ in range(count)]
    out = []
    for k in range(n):
        star = plummer(draw, 1, sizes[k % count], 1 / count)[0]
        out.append([p + q for p, q in zip(star, centres[k % count])])
    return out


def disc(draw, masses, flat, ring):
    """A disc or a ring that turns; the heaviest body is in its middle if it has a tenth of all."""
    n, out = len(masses), []
    middle = max(range(n), key=masses.__getitem__)
    if masses[middle] < 0.1 * sum(masses):
        middle = -1
    radii = [1 + draw.gauss(0, ring) if ring else draw.gammavariate(2, 0.5) + 0.02 for _ in masses]
    order = sorted((radii[k], k) for k in range(n) if k != middle)
    inside, enclosed = masses[middle] if middle >= 0 else 0.0, {}
    for _, k in order:
        enclosed[k] = inside + 0.5 * masses[k] + (0.3 * sum(masses) if ring else 0)
        inside += masses[k]
    for k in range(n):
        if k == middle:
            out.append([draw.gauss(0, 1e-3) for _ in range(6)])
            continue
        angle = 2 * math.pi * (k / n + draw.gauss(0, 0.02)) if ring else draw.uniform(0, 2 * math.pi)
        v = math.sqrt(enclosed[k] / radii[k])
        out.append([radii[k] * math.cos(angle), radii[k] * math.sin(angle), flat * draw.gauss(0, 1),
                    -v * math.sin(angle) + 0.05 * draw.gauss(0, v), v * math.cos(angle) + 0.05 * draw.gauss(0, v),
                    flat * draw.gauss(0, v)])
    return out


def to_virial(rows, q):
    """Centred, total mass 1, potential energy -1/2, and T = q/2; q < 0: velocities in the proportion that they have."""
    total = sum(row[0] for row in rows)
    rows = [[row[0] / total] + row[1:] for row in rows]
    for d in range(1, 7):
        mean = sum(row[0] * row[d] for row in rows)
        for row in rows:
            row[d] -= mean
    potential = 0.0
    for i, a in enumerate(rows):
        m, x, y, z = a[:4]
        potential += m * sum(b[0] / math.sqrt((b[1] - x) ** 2 + (b[2] - y) ** 2 + (b[3] - z) ** 2) for b in rows[:i])
    kinetic = sum(row[0] * sum(v * v for v in row[4:7]) for row in rows) / 2
    length = 2 * potential
    speed = math.sqrt(0.5 * q / kinetic) if q > 0 else 0.0
    return [[row[0]] + [length * p for p in row[1:4]] + [speed * p for p in row[4:7]] for row in rows]


class Cluster:
    """A set-up drawn by its seed. The ranges are those that users have; they are not to be narrowed when a run fails."""

    def __init__(self, seed, most=2000):
        self.seed, self.t_end, self.accuracy = seed, T_END, ""
        self.draw = draw = random.Random("wild cluster %d of up to %d" % (seed, most))
        self.n = self.systems_drawn = int(round(math.exp(draw.uniform(math.log(3), math.log(most)))))
        self.shape = draw.choice(["made", "made", "plummer", "disc", "ring", "clumps", "clumps"])
        self.q = draw.choices([0.5, 0, 10 ** draw.uniform(-3, -1)], [5, 1, 2])[0]
        self.masses = draw.choice(["kroupa", "salpeter", "equal"])
        self.heavy = draw.choices([0, 1, 2], [5, 3, 2])[0] if self.shape != "made" else 0
        self.heavy_share = draw.choice([10 ** draw.uniform(-1.5, -0.3), 1e3 / (1e3 + self.n)])
        self.binaries = int(draw.uniform(0, 0.5) * self.n) if draw.random() < 0.5 else 0
        self.multiples = draw.uniform(0, 0.4) if draw.random() < 0.4 else 0
        self.semi = 10 ** draw.uniform(-4, -1.5)
        self.periods = draw.randrange(6)
        self.radius = 10 ** draw.uniform(-6, -3) if draw.random() < 0.4 else 0
        self.tightest = 1e-5  # of the inner orbits of triples
        self.shortest = math.inf  # period among them
        self.eta = 10 ** draw.uniform(-3.3, -2) if draw.random() < 0.2 else draw.uniform(0.01, 0.03)
        self.longest_list = int(10 ** draw.uniform(1, 2.3)) if draw.random() < 0.25 else 0
        self.dt_adjust = draw.choice([0.1, 0.123, 0.25, 0.3, 1 / 3, 0.7, 1, 1.7])
        self.dt_output = draw.choice([0.7, 1, 1.3, 2.5, 5])
        self.draw_options()
        self.draw_galaxy(draw.choices([0, 1, 2, 3, 4, 5], [4, 1, 1, 4, 3, 3])[0])
        self.layout = draw.choice(["plain", "plain", "scaled", "head", "astro", "units", "au", "numbers"])
        if self.layout == "scaled" and (self.binaries or self.multiples):
            self.layout = "plain"  # a virial radius of 1 would be that of the binaries
        self.compressed, self.own_radii = draw.random() < 0.2, draw.random() < 0.5

    def draw_options(self):
        draw = self.draw
        self.options = {15: int(draw.random() < 0.8), 16: int(draw.random() < 0.8), 23: draw.randrange(5),
                        26: draw.choices([0, 1, 2], [1, 1, 4])[0], 30: draw.choices([-1, 0, 1], [1, 1, 4])[0],
                        39: draw.choices([0, 2], [3, 1])[0], 40: draw.randrange(2)}
        if self.options[26] == 0 and (self.binaries or self.multiples):
            self.options[26] = 1  # 10^8 orbits of a close binary, one by one, are no test
        if self.shape == "made" and self.binaries and self.multiples:
            self.options[15], self.options[30] = 1, max(self.options[30], 0)  # as little as those of its triples
        self.chain = draw.choice(["auto", "chain", "ar"])

    def draw_galaxy(self, kind):
        draw, self.galaxy = self.draw, kind
        filling = 10 ** draw.uniform(-1.3, -0.3)
        distance, speed = draw.uniform(1.5, 10), 220.0
        gas = "MP=%.4g, AP2=%.4g" % (10 ** draw.uniform(-0.5, 0.7), draw.uniform(0.3, 1.5))
        if draw.random() < 0.6:
            gas += ", MPDOT=%.4g, TDELAY=%.4g" % (10 ** draw.uniform(-1, 2), draw.choice([0, draw.uniform(0, 2)]))
        flight = ", RG=%.5g,0,%.5g, VG=%.5g,%.5g,%.5g" % (
            distance, draw.gauss(0, 0.5), draw.gauss(0, 50), draw.uniform(80, 240), draw.gauss(0, 30))
        self.field = ""
        if self.galaxy == 2:
            mass = 10 ** draw.uniform(9, 11)
            self.field, speed = "GMG=%.4g, RG0=%.4g" % (mass, distance), math.sqrt(G_PC * mass / (1e3 * distance))
        elif self.galaxy == 3 and draw.random() < 0.4:
            mass = 10 ** draw.uniform(9, 11)
            self.field = "GMG=%.4g, RG=%.4g,%.3g,0" % (mass, distance, draw.uniform(0, 0.8))
            speed = math.sqrt(G_PC * mass / (1e3 * distance))
        elif self.galaxy == 3:
            self.field = "DISK=5e10, A=3, B=0.3, VCIRC=220, RCIRC=8.5, GMB=1e10, AR=0.7, GAM=%g" % draw.choice(
                [0.5, 1, 1.5, 2]) + flight
        elif self.galaxy == 4:
            self.field = gas
        elif self.galaxy == 5:
            self.field = flight[2:]
        if self.galaxy == 3 and draw.random() < 0.4:
            self.field += ", " + gas
        tide = (G_PC * self.n * MEAN_MASS / 2 * (1e3 * distance / speed) ** 2) ** (1 / 3)
        self.rbar = filling * tide / 0.77 if self.galaxy not in (0, 4) else draw.choice([0.1, 1, 3])

    def kind(self):
        parts = ["N=%d" % self.n, self.shape, self.masses, "Q=%.2g" % self.q]
        if self.t_end < T_END:
            parts.append("t=%.2g" % self.t_end)
        if self.shape != "made":
            parts.append("%s%s" % (self.layout, ".gz" if self.compressed else ""))
        for number, text in ((self.heavy, "heavy %.2g" % self.heavy_share), (self.binaries, "binaries"),
                             (self.multiples, "in multiples"), (self.radius, "radius"), (self.longest_list, "NNBMAX")):
            if number:
                parts.append("%.2g %s" % (number, text))
        if self.galaxy:
            parts.append("galaxy %d%s" % (self.galaxy, " and gas" if self.galaxy == 3 and "MP" in self.field else ""))
        parts.append(" ".join("KZ(%d)=%d" % item for item in sorted(self.options.items()) if item[0] < 39))
        parts.append("%s ETA=%.4f" % (self.chain, self.eta))
        return ", ".join(parts)

    def end_early(self):
        """Where hierarchies are not to be frozen each orbit of their stars is followed: some thousands, not millions."""
        freezes = self.options[15] and self.options[30] >= 0
        if not freezes and self.t_end == T_END and PERIODS * self.shortest < T_END:  # others have an end of their own
            self.t_end = PERIODS * self.shortest
            self.dt_adjust, self.dt_output = self.t_end / 4, self.t_end

    # ---- Stars in a table

    def star_masses(self):
        draw, out = self.draw, []
        for _ in range(self.n):
            u = draw.random()
            if self.masses == "equal":
                out.append(1.0)
            else:
                slope, low, high = (1.35, 0.1, 20) if self.masses == "salpeter" else (1.3, 0.08, 10)
                out.append((low ** -slope + u * (high ** -slope - low ** -slope)) ** (-1 / slope))
        if self.heavy and self.n > self.heavy + 1:
            others = sum(out[self.heavy:])
            for k in range(self.heavy):
                out[k] = others * self.heavy_share / (1 - self.heavy_share) / (self.heavy * (1 + k))
        return out

    def stars(self):
        """Rows m x y z vx vy vz in N-body units, declared binaries first."""
        draw, masses = self.draw, self.star_masses()
        if self.shape == "plummer":
            places = plummer(draw, self.n)
        elif self.shape == "clumps":
            places = clumps(draw, self.n, draw.randint(2, 8))
        else:
            places = disc(draw, masses, draw.choice([0, 0.02, 0.1]),
                          10 ** draw.uniform(-4, -1) if self.shape == "ring" else 0)
        rows = to_virial([[m] + place for m, place in zip(masses, places)], self.q)
        first, rest = [], rows
        for row in rows[len(rows) - self.binaries:] if self.binaries else []:
            first += divide(draw, row, draw.uniform(0.5, 0.9), self.semi * 10 ** draw.uniform(-1, 0), draw.random() ** 0.5)
        if self.binaries:
            rest = rows[:len(rows) - self.binaries]
        self.pairs = len(first) // 2
        return first + [part for row in rest for part in self.with_companions(row)]

    def with_companions(self, row):
        """A star, or a triple or quadruple in its place, stable for the most part."""
        draw = self.draw
        if draw.random() >= self.multiples / 3:
            return [row]
        a = self.tightest * 10 ** draw.uniform(0, 2.5)
        first, second = divide(draw, row, draw.uniform(0.4, 0.7), a * 10 ** draw.uniform(0.5, 1.7), draw.uniform(0, 0.5))
        quadruple = draw.random() < 0.4
        self.shortest = min(self.shortest, 2 * math.pi * math.sqrt((0.7 * a if quadruple else a) ** 3 / row[0]))
        return (divide(draw, first, draw.uniform(0.3, 0.7), a, draw.uniform(0, 0.7)) +
                (divide(draw, second, 0.5, 0.7 * a, draw.uniform(0, 0.7)) if quadruple else [second]))

    def table(self, path, rows):
        """Writes the stars as this layout has them; returns groups and options of the input."""
        draw, n = self.draw, len(rows)
        mass = n * MEAN_MASS
        speed = math.sqrt(G_PC * mass / self.rbar)
        factors = {"scaled": (17, 3, 5), "astro": (mass, self.rbar, speed), "units": (mass, self.rbar, speed),
                   "au": (mass, self.rbar / AU_PC, speed)}.get(self.layout, (1, 1, 1))
        names, lines = list(NAMES), [[factors[(d > 0) + (d > 3)] * row[d] for d in range(7)] for row in rows]
        groups, options = "", {22: {"plain": 2, "head": 2, "numbers": 2, "scaled": 6, "astro": 10}.get(self.layout)}
        if self.own_radii and self.radius and self.layout in ("head", "units"):
            scale = self.rbar / RSUN_PC if self.layout == "units" else 1
            lines = [line + [scale * self.radius * (row[0] * n) ** 0.8] for line, row in zip(lines, rows)]
            names.append("radius")
            groups = ", RADII='collide'"
        if self.layout == "units":
            names = ["%s [%s]" % (name, unit) for name, unit in zip(names, ["Msun"] + 3 * ["pc"] + 3 * ["km/s"] + ["Rsun"])]
        elif self.layout == "au":
            groups = ", UNITS='Msun AU km/s'"
        elif self.layout == "numbers":
            lines = [[k] + line[4:] + line[:4] for k, line in enumerate(lines)]
            groups = ", COLUMNS='5 6 7 8 2 3 4'"
        separator = "," if self.layout == "units" else " "
        if self.layout == "head":
            ids = draw.sample(range(1, 10 * n), n)
            names, lines = names + ["id"], [line + [k] for line, k in zip(lines, ids)]
        head = separator.join(names) + "\n" if self.layout in ("head", "units") else ""
        with (gzip.open(path, "wt") if self.compressed else open(path, "w")) as file:
            file.write(head + "".join(separator.join("%.17g" % value for value in line) + "\n" for line in lines))
        return "&INMODEL DATA='%s'%s /" % (os.path.basename(path), groups), options

    # ---- The input

    def write(self, base):
        """Writes base.inp, and its table if it has one."""
        options, groups, mean = dict(self.options), [], MEAN_MASS
        if self.shape == "made":
            stars, limits = "N=%d, NRAND=%d, " % (self.n, self.seed), self.write_made(options, groups)
        else:
            rows = self.stars()
            self.end_early()
            stars, limits = "", "ALPHAS=1"
            model, more = self.table(base + (".dat.gz" if self.compressed else ".dat"), rows)
            groups.append(model)
            options.update({key: value for key, value in more.items() if value})
            if self.pairs:
                options[8], limits = 2, "NBIN0=%d" % self.pairs
        options[14] = self.galaxy
        lines = ["&ININPUT %sRBAR=%.6g, ZMBAR=%g, TCRIT=%.15g, DTADJ=%.15g, DELTAT=%.15g, QE=1E10, ETAI=%.4g, ETAR=%.4g," % (
            stars, self.rbar, mean, self.t_end, self.dt_adjust, self.dt_output, self.eta, self.eta)]
        if self.accuracy:
            lines.append("  " + self.accuracy)
        if not self.options[16]:
            lines.append("  RMIN=%.4g, DTMIN=%.4g," % (1 / (self.n + 3), 0.04 / (self.n + 3)))
        lines.append("  " + ", ".join("KZ(%d)=%d" % item for item in sorted(options.items())) + " /")
        lines += ["&INDATA %s /" % limits, "&INSCALE Q=%.4g%s /" % (self.q, self.rotation if self.shape == "made" else "")]
        if self.field:
            lines.append("&INXTRNL0 %s /" % self.field)
        run = "CHAIN='%s'" % self.chain
        if self.radius and not any("collide" in group for group in groups):
            run += ", RSTAR=%.3g" % self.radius
        if self.longest_list:
            run += ", NNBMAX=%d" % self.longest_list
        lines += groups + ["&INRUN %s /" % run]
        with open(base + ".inp", "w") as file:
            file.write("\n".join(lines) + "\n")
        return base + ".inp"

    def write_made(self, options, groups):
        draw = self.draw
        options[20] = {"kroupa": draw.choice([1, 2, 6, 8]), "salpeter": 0, "equal": 0}[self.masses]
        model = draw.choice(["uniform", "plummer", "king"])
        groups.append("&INMODEL MODEL='%s'%s /" % (model, ", W0=%.3g" % draw.uniform(1, 10) if model == "king" else ""))
        self.rotation = ", VXROT=%.3g, VZROT=%.3g" % (draw.uniform(0.2, 1), draw.uniform(0.1, 1)) if (
            self.q and draw.random() < 0.4) else ""
        limits = {"kroupa": "BODY1=20, BODYN=0.08", "salpeter": "ALPHAS=2.35, BODY1=20, BODYN=0.1",
                  "equal": "ALPHAS=1"}[self.masses]
        if self.binaries:
            options.update({8: 1, 42: self.periods})
            limits += ", NBIN0=%d" % self.binaries
            groups.append("&INBINPOP SEMI0=%.4g, RANGE=%g, ECC0=%g, RATIO=%g /" % (
                self.semi, draw.choice([1, 10, 100]), draw.choice([-1, 0.5, 20, 30]), draw.choice([1, 0.7])))
        triples = int(self.multiples * self.binaries)
        if triples:
            options[18] = 2
            limits += ", NHI0=%d" % triples
            groups.append("&INHIPOP SEMI0=%.4g, RANGE=%g, RATIO=%g /" % (
                10 ** draw.uniform(-5, -3), draw.choice([1, 5, 20]), draw.choice([1, 0.7])))
        return limits


def run(program, folder, seed, limit, arguments=(), most=2000):
    cluster = Cluster(seed, most)
    path = cluster.write(os.path.join(folder, "w%04d" % seed))
    done = subprocess.run([program, path, "--overwrite", "--out", path[:-4], "--wall-limit", str(limit), *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=folder, timeout=20 * limit + 60)
    log = path[:-4] + ".log.csv"
    return realistic.Result(cluster, done.returncode, done.stdout, realistic.read_log(log) if os.path.exists(log) else [])


def is_refused(result):
    """Was the set-up refused, for one of the reasons that are listed?"""
    return result.code == 2 and any(reason in result.text for reason in REFUSED_FOR)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nbody6", default=os.path.join(os.environ.get("NB6_BUILD", "build"), "nbody6"))
    parser.add_argument("--folder")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one run")
    parser.add_argument("--most", type=int, default=2000, help="systems of the largest")
    parser.add_argument("--engine", default="host")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.first, options.last + 1):
            result = run(os.path.abspath(options.nbody6), options.folder or scratch, seed, options.limit,
                         ["--engine", options.engine], options.most)
            print(result.row(), flush=True)
            if result.code or not result.finished:
                print("     " + result.text.strip().splitlines()[-1][:300], flush=True)


if __name__ == "__main__":
    sys.exit(main())
