#!/usr/bin/env python3
"""Whole runs of nbody6 to t = 2, by turns with those of a second build and with the plain float loop of bench_gpunb:
medians and ratios of a table of clusters, or of their energy errors.

Clusters are Plummer models and the row `binaries`: 2000 systems, masses after Kroupa from 0.08 to 20, 200 of them
binaries with semi-major axes from 5e-5 to 5e-3. ETAI = 0.02, ETAR = 0.01, number of neighbours automatic. Times are
of the whole process, start and output included; files are in memory where there is /dev/shm. Ratios are medians of
the ratios of runs next to each other, so that they bear a machine whose speed changes. `work` is the time in 10^9
pairs of the plain loop at its speed beside the run: it can be compared between machines with the same instruction
set."""

import argparse
import csv
import itertools
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IN_MEMORY = "/dev/shm"

PLUMMER = """\
&ININPUT N={n}, NRAND={seed}, TCRIT={to}, DTADJ={to}, DELTAT={to}, ETAI=0.02, ETAR=0.01, NNBOPT=0, QE=1, KZ(5)=1 /
&INSCALE Q=0.5 /
"""
BINARIES = """\
&ININPUT N=2000, NRAND={seed}, TCRIT={to}, DTADJ={to}, DELTAT={to}, ETAI=0.02, ETAR=0.01, NNBOPT=0, SMAX=0.125, QE=1,
 KZ(5)=1, KZ(8)=1, KZ(20)=6, RBAR=1.0 /
&INDATA BODY1=20.0, BODYN=0.08, NBIN0=200 /
&INBINPOP SEMI0=0.005, ECC0=-1.0, RATIO=1.0, RANGE=100.0 /
&INSCALE Q=0.5 /
"""
ROWS = "1k,4k,8k,16k,binaries"


class Failed(Exception):
    """A program failed, with what it printed."""


def input_of(row, seed, to):
    if row == "binaries":
        return BINARIES.format(seed=seed, to=to)
    n = 1024 * int(row[:-1]) if row.endswith("k") else int(row)
    return PLUMMER.format(n=n, seed=seed, to=to)


class Machine:
    """How programs run: all with the same variables, in one folder for their files."""

    def __init__(self, isa, folder):
        self.folder = folder
        self.isa = isa
        self.env = dict(os.environ, NBC_QUIET="1", **({"NBC_ISA": isa} if isa else {}))

    def call(self, command, threads):
        """Seconds of a program, its CPU time in seconds, and what it printed."""
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, env=dict(self.env, OMP_NUM_THREADS=str(threads)), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise Failed("%s\n%s" % (" ".join(command), done.stdout))
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

    def run(self, build, row, seed, to, threads):
        """A run of nbody6: seconds, CPU seconds and the energy error |dE/E|."""
        with open(os.path.join(self.folder, "cluster.inp"), "w") as file:
            file.write(input_of(row, seed, to))
        wall, cpu, _ = self.call([os.path.join(build, "nbody6"), "--overwrite", "--quiet", "--device", "cpu",
                                  "cluster.inp"], threads)
        with open(os.path.join(self.folder, "cluster.log.csv"), newline="") as file:
            last = list(csv.DictReader(file))[-1]
        return wall, cpu, abs(float(last["de_rel"]))

    def plain(self, build, threads):
        """10^9 pairs a second of the plain float loop, 1024 targets and 16384 sources."""
        backend = {"baseline": "portable"}.get(self.isa, self.isa or "avx512")
        text = self.call([os.path.join(build, "bench", "bench_gpunb"), backend, "16384", "1024"], threads)[2]
        lines = [line.split() for line in text.splitlines()]
        head = next((words for words in lines if "plain" in words), None)
        rows = [words for words in lines if words[:3] == [backend, "float", "16384"]]
        if not head or not rows:
            raise Failed("bench_gpunb has no plain loop for '%s' here: give --isa\n%s" % (backend, text))
        return float(rows[0][-2])


def median_ratio(above, below):
    return statistics.median(a / b for a, b in zip(above, below))


def table(titles, rows):
    """A table in Markdown, as docs/performance.md has them."""
    print("| " + " | ".join(titles) + " |")
    print("|" + "---|" * len(titles))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def measure(machine, o, row, threads):
    """Runs of all builds by turns: {build: [(seconds, CPU seconds, error)]}, and the plain loop beside them."""
    runs, plain = {build: [] for build in o.builds}, []
    for _ in range(o.runs):
        for build in o.builds:
            runs[build].append(machine.run(build, row, o.seed, o.to, threads))
        if not o.no_plain:
            plain.append(machine.plain(o.build, threads))
    return runs, plain


def time_row(o, row, threads, runs, plain):
    """Cells of a row of times."""
    walls = {build: [run[0] for run in runs[build]] for build in o.builds}
    cpus = {build: [run[1] for run in runs[build]] for build in o.builds}
    cells = [row, str(threads), "%.3f" % statistics.median(walls[o.build]), "%.3f" % statistics.median(cpus[o.build])]
    if plain:
        cells += ["%.2f" % statistics.median(plain),
                  "%.3f" % statistics.median(wall * speed for wall, speed in zip(walls[o.build], plain))]
    if o.against:
        cells += ["%.3f" % statistics.median(walls[o.against]),
                  "%.2f" % median_ratio(walls[o.build], walls[o.against]),
                  "%.2f" % median_ratio(cpus[o.build], cpus[o.against])]
    return cells


def times(machine, o):
    titles = ["stars", "threads", "seconds", "CPU s"]
    titles += [] if o.no_plain else ["plain loop, G/s", "work"]
    titles += ["before, seconds", "ratio", "CPU ratio"] if o.against else []
    table(titles, (time_row(o, row, threads, *measure(machine, o, row, threads))
                   for row, threads in itertools.product(o.rows, o.threads)))


def error_row(machine, o, row):
    """Cells of a row of energy errors, medians over seeds. Results do not depend on the number of threads."""
    found = {build: [] for build in o.builds}
    for seed, build in itertools.product(range(1, o.seeds + 1), o.builds):
        found[build].append(machine.run(build, row, seed, o.to, o.threads[0])[2])
    medians = [statistics.median(found[build]) for build in o.builds]
    cells = [row, str(o.seeds), "%.2e" % medians[0], "%.1e to %.1e" % (min(found[o.build]), max(found[o.build]))]
    return cells + (["%.2e" % medians[1], "%.2f" % (medians[0] / medians[1])] if o.against else [])


def errors(machine, o):
    titles = ["stars", "seeds", "median dE/E", "range"] + (["before", "ratio"] if o.against else [])
    table(titles, (error_row(machine, o, row) for row in o.rows))


def numbers(text):
    return [int(word) for word in text.split(",")]


def options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder (build)")
    parser.add_argument("--against", help="build folder of the version before, which needs nbody6 alone")
    parser.add_argument("--rows", default=ROWS, help="comma-separated: N, Nk (1024 N) or binaries (%s)" % ROWS)
    parser.add_argument("--threads", type=numbers, default=[2], help="comma-separated numbers of threads (2)")
    parser.add_argument("--runs", type=int, default=5, help="of each build (5)")
    parser.add_argument("--to", default="2", help="end of the runs (2)")
    parser.add_argument("--isa", help="NBC_ISA: avx512, avx2 or baseline")
    parser.add_argument("--seed", type=int, default=1, help="of the model (1)")
    parser.add_argument("--no-plain", action="store_true", help="without the plain loop, which needs bench_gpunb")
    parser.add_argument("--errors", action="store_true", help="energy errors of many seeds, not times")
    parser.add_argument("--seeds", type=int, default=10, help="with --errors: seeds from 1 on (10)")
    o = parser.parse_args(arguments)
    o.rows = o.rows.split(",")
    o.build = os.path.abspath(o.build)
    o.against = os.path.abspath(o.against) if o.against else None
    if o.against == o.build:
        parser.error("--against names the build itself")
    o.builds = [o.build] + ([o.against] if o.against else [])
    return o


def main(arguments):
    o = options(arguments)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.path.isdir(IN_MEMORY) else None) as folder:
        try:
            (errors if o.errors else times)(Machine(o.isa, folder), o)
        except (Failed, OSError) as error:
            sys.exit("bench_table.py: %s" % error)


if __name__ == "__main__":
    main(sys.argv[1:])
