"""bench/model_tree and its plots, the floor of bench/bench_tree, and bench/bench_collapse, bench_walks, bench_orders and
bench_block_steps: operations counted by the sources themselves, lists beside the formula for their length, and tables in
a small form. Times are shown, never judged."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from run_support import BUILD

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# term.h and local.h with numbers that count what is done with them.
COUNTED = r"""
#include <cstdio>
#include <initializer_list>
static long work;
struct counted {
    counted(double = 0) {}
};
static counted operator*(counted, counted) { work += 1; return 0; }
static counted operator+(counted, counted) { work += 1; return 0; }
static counted multiply_add(counted, counted, counted) { work += 2; return 0; }
#define TERM_REAL counted
#define TERM_FMA(a, b, c) multiply_add(a, b, c)
#define TERM_SET(number) counted(number)
#define TERM_NUMBER double
#define TERM_FUNCTION static inline
#include "gpunb/tree/term.h"
#include "gpunb/tree/local.h"

static long sums(int order, int want_pot)
{
    static double t[1000];
    counted u[3], g[3], radial, pot;
    work = 0;
    term_sums(t, u, counted(), order, want_pot, g, &radial, &pot);
    return work;
}

static long added(int order)
{
    static counted moment[TREE_MOST_LOCALS], local[TREE_MOST_LOCALS];
    counted u[3];
    work = 0;
    local_add_cell(moment, u, counted(), counted(), counted(), tree_local_top(order), TREE_MOST_LOCAL, local);
    return work;
}

int main()
{
    for (int order = 1; order <= GPUNB_MOST_ORDER; order++)
        std::printf("%d %ld %ld %ld\n", order, sums(order, 0), sums(order, 1), added(order));
    counted u[3], acc[3], psi;
    double local[TREE_MOST_LOCALS] = {0};
    work = 0;
    local_sums(local, u, TREE_MOST_LOCAL, acc, &psi);
    std::printf("target %ld\n", work);
}
"""


def run(name, *arguments, code=0):
    done = subprocess.run([os.path.join(BUILD, "bench", name), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=250)
    if done.returncode != code:
        raise AssertionError("%s %s: %s%s" % (name, " ".join(arguments), done.stdout, done.stderr))
    return done.stdout if code == 0 else done.stderr


def table(text, title):
    """Rows of numbers after a line that begins with the title, and one of names."""
    rows = []
    for line in text[text.index("\n" + title):].splitlines()[3:]:
        words = line.split()
        if not words or not re.match(r"\d+$", words[0]):
            break
        rows.append([None if word == "-" else float(word) for word in words])
    return rows


class OperationsTest(unittest.TestCase):
    def count(self):
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if not compiler:
            self.skipTest("C++ compiler: not there")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "counted")
            done = subprocess.run([compiler, "-std=c++17", "-w", "-I" + SOURCE, "-x", "c++", "-", "-o", program],
                                  input=COUNTED, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            return subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_operations_are_those_of_the_sources(self):
        counted = [line.split() for line in self.count().splitlines()]
        told = [line.split() for line in run("model_tree", "work").splitlines()[1:]]
        self.assertEqual(len(told), 9)
        for (order, sums, sums_pot, added), row in zip(counted, told[:-1]):
            self.assertEqual([order, sums, sums_pot, added], [row[0], row[1], row[2], row[5]])
        # The offset of a target in units of the region, and a multiply-add onto each of its sums.
        self.assertEqual(int(told[-1][1]), int(counted[-1][1]) + 3 + 8)

    def test_a_pair_of_bodies_and_a_mass_at_its_centre_are_alike(self):
        row = run("model_tree", "work").splitlines()[1].split()
        # 26 of a pair, and u = x/R, whose products of a pair are one with those of its mass.
        self.assertEqual(row[3], "28")


class DomainsTest(unittest.TestCase):
    def test_many_processes_are_those_of_the_paper(self):
        """Figures 11 and 12 of Iwasawa et al. 2020 by the model, as Sec. 6.3 and 7.2 describe them."""
        text = "\n" + run("model_domains")
        weak, small, large, gpus = (
            {row[0]: row for row in table(text, title)} for title in (
                "Weak scaling, 1048576 bodies a process", "Strong scaling, 2^30 bodies, beside 16 processes",
                "Strong scaling, 2^40 bodies, beside 16384 processes", "2048 processes with 4 million bodies each"))
        seconds, tops, trees, ideal, in_trees = 3, 7, 8, 9, 10
        # Weak: almost constant up to 10^5 processes, and longer beyond, by the tops of all, which a tree of domains spares.
        self.assertLess(weak[1e5][seconds] / weak[100][seconds], 1.2)
        self.assertGreater(weak[1e6][seconds] / weak[1e5][seconds], 1.2)
        self.assertGreater(weak[1e6][tops], 6 * weak[1e5][tops])
        self.assertLess(weak[1e6][in_trees] / weak[1e5][in_trees], 1.1)
        # Strong: 2^30 bodies scale to some 3000 processes, where trees of those that are close take as long as half of
        # the rest; from 50000 on times grow. 2^40 scale to 10^6.
        self.assertGreater(small[1024][ideal], 0.8)
        self.assertGreater(small[4096][trees], 0.3 * small[4096][seconds])
        self.assertLess(small[65536][seconds], small[16384][seconds])
        self.assertGreater(small[262144][seconds], small[65536][seconds])
        self.assertGreater(large[262144][ideal], 0.9)
        # Of 2048 GPUs with 4 million bodies each Yokota & Barba 2012 have 0.72.
        self.assertLess(abs(gpus[2048][ideal] - 0.72), 0.1)


class ModelTest(unittest.TestCase):
    def test_lists_are_those_of_the_formula(self):
        """Eq. 30 of Iwasawa et al. 2020, with one factor on the angle, for sizes and groups: within 15 percent, which is
        what steps of the tree's levels leave."""
        text = run("model_tree", "first=16", "last=17", "seconds=1000", "flops=1e12", "bandwidth=1e11")
        sizes, groups = table(text, "sizes:"), table(text, "groups:")
        self.assertEqual([row[0] for row in sizes], [65536, 131072])
        self.assertEqual(len(groups), 3)
        for row in sizes + groups:
            self.assertGreater(row[2], row[1])
            self.assertLess(abs(row[3] - 1), 0.15, row)
            self.assertLess(abs(row[4] - 1), 0.15, row)
        factor = float(re.search(r"angle of eq. 30: ([\d.]+)", text).group(1))
        # The radius of a full cell is between half its side and half its diagonal.
        self.assertGreater(factor, 2 / 3 ** 0.5)
        self.assertLess(factor, 2)

    def test_tables(self):
        text = run("model_tree", "first=10", "last=11", "seconds=20", "backend=portable", "order=2")
        self.assertIn("backend portable, order 2", text)
        for row in table(text, "sizes:"):
            self.assertEqual(len(row), 5 + 2 * 7 + 1)  # a stage that is not there has no ratio
            self.assertIsNone(row[-3])
            measured = sum(ms for ms in row[5:17:2])
            self.assertAlmostEqual(row[-2], measured, delta=0.004)
            self.assertGreater(row[-1], 0)
        # The statements of Sec. 6.2: 4 times as long with a tenth of both rates, little to win from faster links.
        plane = [line.split() for line in text[text.index("figure 10"):].splitlines()[2:7]]
        self.assertAlmostEqual(float(plane[0][1]), 4, delta=0.5)
        self.assertEqual(plane[2][3], "1.00")
        self.assertGreater(float(plane[4][5]), 0.75)
        self.assertIn("roofline", text)

    def test_forces_of_runs(self):
        text = run("model_tree", "first=12", "last=14", "seconds=100", "error=1e-3", "flops=1e11", "bandwidth=1e10")
        self.assertIn("force_error 0.001, Plummer model", text)
        rows = table(text, "sizes:")
        self.assertEqual([row[0] for row in rows], [4096, 8192, 16384])
        for row in rows:
            # Two constants, three lists that grow smoothly.
            self.assertLess(abs(row[4] - 1), 0.1, row)
        self.assertRegex(text, r"time grows as N\^\d")
        self.assertNotIn("figure 10", text)

    def test_devices(self):
        text = run("model_tree", "first=10", "last=11", "seconds=20", "backend=emulated", "flops=1e12", "bandwidth=1e12")
        for row in table(text, "sizes:"):
            # Keys and sort are waited for with the links; lists are made with the sums.
            self.assertEqual([row[5], row[6], row[11]], [None] * 3)
            self.assertTrue(all(row[k] > 0 for k in (7, 9, 12)))

    def test_bad_arguments(self):
        self.assertIn("name=value", run("model_tree", "fast", code=2))
        self.assertIn("no such argument", run("model_tree", "size=3", code=2))
        self.assertIn("2^8 to 2^30", run("model_tree", "first=20", "last=10", code=2))
        self.assertIn("no backend 'none'", run("model_tree", "backend=none", code=2))


class PlotTest(unittest.TestCase):
    SCRIPT = os.path.join(SOURCE, "bench", "plot_model.py")

    def plot(self, text, name, code=0):
        done = subprocess.run([sys.executable, self.SCRIPT, "-", os.path.join(self.folder, name)], input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_what_is_read_is_what_was_printed(self):
        spec = importlib.util.spec_from_file_location("plot_model", self.SCRIPT)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        text = run("model_tree", "first=10", "last=11", "seconds=20", "backend=portable", "flops=1e11", "bandwidth=1e10")
        model, steps, plane = module.read_roofline(text), module.read_steps(text), module.read_plane(text)
        self.assertEqual((model["peak"], model["bytes"], len(model["rows"])), (100, 10, 10))
        for name, a_byte, most, nominal in model["rows"]:
            self.assertAlmostEqual(most, min(100, 10 * a_byte), delta=0.6)  # 0.05 of what is printed
            self.assertGreater(nominal, 0)
        # 26 operations of 64 pairs on the 32 bytes of a body
        self.assertEqual(model["rows"][0][:2], ("body on targets", 52))
        self.assertEqual(len(steps["sizes"]), 7)
        self.assertEqual((len(steps["paper"]), len(steps["ours"])), (7, 6))
        self.assertTrue(all(len(row) == 7 for part in ("paper", "ours") for row in steps[part].values()))
        self.assertEqual(plane["times"].shape, (5, 5))
        self.assertEqual(plane["times"][2, 2], 1)
        self.assertEqual(self.plot(text, "model.svg"), "")
        with open(os.path.join(self.folder, "model.svg")) as file:
            self.assertGreater(file.read().count("<path"), 50)

    def test_other_text(self):
        self.assertIn("not the output of bench/model_tree", self.plot("nothing", "model.svg", code=2))
        self.assertEqual(os.listdir(self.folder), [])


class OrdersTest(unittest.TestCase):
    def rows(self, *arguments):
        """Rows of the table of terms, and of those of the walks by set and size."""
        lines = run("bench_orders", *arguments).splitlines()
        walks = next(k for k, line in enumerate(lines) if line.startswith("walks: "))
        terms = [[float(word) for word in line.split()] for line in lines[2:walks]]
        return terms, [line.replace(" *", "").split() for line in lines[walks + 2:] if ":" not in line], lines[walks]

    def test_rows(self):
        terms, rows, head = self.rows("orders=1-3", "first=2", "last=2", "sample=50", "leaf=8", "row=20")
        self.assertIn("harmonics, theta 0.5, softening 0", head)
        self.assertEqual([row[0] for row in terms], [1, 2, 3])
        for row in terms:
            self.assertGreater(min(row), 0)
            for k in (1, 4, 7):
                self.assertAlmostEqual(row[k + 2], row[k] / row[k + 1], delta=0.01 + 0.1 / row[k + 1] * row[k + 2])
        self.assertEqual([row[:3] for row in rows], [[name, "100", order] for name in ("cube", "plummer")
                                                     for order in "123"])
        for row in rows:
            treecode, fmm, hybrid, ratio = map(float, row[4:8])
            self.assertAlmostEqual(ratio, hybrid / min(treecode, fmm), delta=0.05 * ratio)
        for name in ("cube", "plummer"):
            errors = [float(row[11]) for row in rows if row[0] == name]
            self.assertEqual(errors, sorted(errors, reverse=True))

    def test_softened_terms_of_high_order(self):
        _, rows, head = self.rows("orders=14-15", "first=2", "last=2", "soft=0.1", "leaf=8", "row=20")
        self.assertIn("tensors, theta 0.5, softening 0.1", head)
        for row in rows:
            self.assertEqual(row[3], "8")
            self.assertLess(float(row[11]), 1e-6)

    def test_bad_arguments(self):
        self.assertIn("orders are 1-15", run("bench_orders", "orders=1-16", code=2))
        self.assertIn("no such argument", run("bench_orders", "order=1", code=2))
        self.assertIn("no softening", run("bench_orders", "basis=harmonics", "soft=0.1", code=2))
        self.assertIn("name=value", run("bench_orders", "fast", code=2))


class CollapseTest(unittest.TestCase):
    def rows(self, *arguments):
        text = run("bench_collapse", *arguments)
        self.assertIn("factor on the angle of eq. 30", text)
        lines = text.splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith("angle")) + 1
        return [line.split() for line in lines[first:] if re.match(r"\d", line.strip())]

    def test_rows(self):
        rows = self.rows("n=8192", "angles=0.5,1", "groups=64,512", "reuse=1,2", "dt=0.125", "backend=portable",
                               "seconds=100")
        told = [[float(word) for word in row[:3]] for row in rows]
        new = [[0.5, 64, 1], [0.5, 512, 1], [1, 64, 1], [1, 512, 1]]
        self.assertEqual(told[:4], new)
        # All groups at 0.5, the fastest one at another angle.
        self.assertEqual([row[0] for row in told[4:]], [0.5, 0.5, 1])
        self.assertEqual({row[2] for row in told[4:]}, {2})
        for row in rows:
            number = [float(word) for word in row[3:13]]
            self.assertLess(number[0], float(row[1]) + 1)
            self.assertAlmostEqual(number[1] / number[2], number[3], delta=0.01)
            self.assertGreater(min(number[4:7]), 0)
            self.assertLessEqual(number[7], number[8])
            self.assertEqual(row[13].split("/")[1], "8")
        # Wider angles have shorter lists and larger errors.
        self.assertGreater(float(rows[0][4]), float(rows[2][4]))
        self.assertLess(float(rows[0][10]), float(rows[2][10]))

    def test_bad_arguments(self):
        self.assertIn("four steps", run("bench_collapse", "dt=0.5", code=2))
        self.assertIn("numbers above 0", run("bench_collapse", "angles=0.5,", code=2))
        self.assertIn("DT", run("bench_collapse", "dt=0.1875", "to=0.75", code=2))
        self.assertIn("GROUP: 20000 is out of range", run("bench_collapse", "groups=20000", code=2))


class WalksTest(unittest.TestCase):
    def test_rows(self):
        for more in (["backend=portable"], ["backend=emulated", "memory=device"]):
            lines = run("bench_walks", "first=2", "last=3", "orders=1-2", "row=20", *more).splitlines()
            rows = [line.split() for line in lines if re.match(r"(cube|plummer) ", line)]
            self.assertEqual([row[:3] for row in rows], [[name, n, order] for name in ("cube", "plummer")
                                                         for n in ("100", "316", "1000") for order in "12"])
            for row in rows:
                groups, fmm, hybrid, ratio = map(float, row[3:7])
                self.assertAlmostEqual(ratio, hybrid / min(groups, fmm), delta=0.05 * ratio)
                self.assertEqual(ratio > 1.05, "*" in row)
            for name in ("cube", "plummer"):
                above = sum("*" in row for row in rows if row[0] == name)
                self.assertTrue(any(line.startswith("%s: %d of 6 rows above 1.05" % (name, above)) for line in lines))

    def test_bad_arguments(self):
        self.assertIn("orders are", run("bench_walks", "orders=1-99", code=2))
        for bad, wanted in (("first=2.5", "a whole number"), ("row=", "a number"), ("error=inf", "a number"),
                            ("orders=1", "a range such as 1-8"), ("orders=1-8x", "a range"),
                            ("first=99999999999", "a whole number")):
            told = run("bench_walks", bad, code=2)
            self.assertIn("bench_walks: %s: the value is not %s" % (bad, wanted), told)
            self.assertEqual(told.count("\n"), 1)
        self.assertIn("n=-1: the value is not a whole number from 0 on", run("bench_tree", "n=-1", code=2))
        self.assertIn("no such argument", run("bench_walks", "order=1", code=2))
        self.assertIn("no memory of a device", run("bench_walks", "backend=ref", "memory=device", "last=3", code=2))


class BlockStepsTest(unittest.TestCase):
    def test_rows(self):
        lines = run("bench_block_steps", "first=9", "last=10", "row=0.1", "backend=portable").splitlines()
        rows = [line.split() for line in lines[2:]]
        self.assertEqual([row[0] for row in rows], ["512", "1024"])
        for row in rows:
            # Steps are of several lengths.
            self.assertLess(float(row[1]), float(row[0]))
            self.assertGreater(float(row[2]), 128)
            self.assertGreater(min(map(float, row[3:5])), 0)
        alone = run("bench_block_steps", "first=9", "last=9", "row=0.1", "direct=0").splitlines()[2].split()
        self.assertEqual([alone[3], alone[5]], ["-", "-"])


class FloorTest(unittest.TestCase):
    def test_floor_of_a_force(self):
        text = run("bench_tree", "n=20000", "theta=0.5", "order=2", "walk=groups", "repeat=1", "sample=4", "flops=1e9",
                   "bandwidth=1e15")
        cells, bodies = map(float, re.search(r"cells (\d+) bodies (\d+) a target", text).groups())
        floor, percent, of_pairs, of_cells = map(float, re.search(
            r"floor ([\d.]+) ms, which is ([\d.]+) percent of the time: pairs ([\d.]+), cells ([\d.]+)", text).groups())
        term = float(run("model_tree", "work").splitlines()[2].split()[3])
        # Counts of a target are printed as whole numbers.
        self.assertAlmostEqual(of_pairs, 20000 * 26 * bodies / 1e6, delta=20000 * 26 / 1e6)
        self.assertAlmostEqual(of_cells, 20000 * term * cells / 1e6, delta=20000 * term / 1e6)
        self.assertAlmostEqual(floor, of_pairs + of_cells, delta=0.01)
        self.assertGreater(percent, 0)


if __name__ == "__main__":
    unittest.main()
