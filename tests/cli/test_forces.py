"""Softened forces from Python (nbody6.forces): against sums of numpy, by tree on each backend that has one; errors in
words; structs as C has them."""

import ctypes
import multiprocessing
import os
import subprocess
import sys
import threading
import unittest

import numpy as np

from run_support import BUILD, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = os.environ.get("CC", "cc").split()
sys.path.insert(0, os.path.join(SOURCE, "python"))
os.environ["NB6_BUILD"] = BUILD

import nbody6  # noqa: E402
from nbody6 import forces, library  # noqa: E402

SOFTENING = 0.05
AIM = 1e-3


def bodies(n=2000, seed=1):
    """A ball whose density falls as r^-2, of unequal masses."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3))
    x *= (2 * random.uniform(size=n) / np.sqrt((x**2).sum(axis=1)))[:, None]
    return random.uniform(0.5, 1.5, size=n) / n, x


def direct(mass, x, targets, own=None):
    """Accelerations and potentials in double."""
    acc, pot = np.empty((len(targets), 3)), np.empty(len(targets))
    for i, at in enumerate(targets):
        d = x - at
        w = 1 / np.sqrt((d**2).sum(axis=1) + SOFTENING**2)
        acc[i] = ((mass * w**3)[:, None] * d).sum(axis=0)
        pot[i] = -(mass * w).sum() + (mass[own[i]] / SOFTENING if own is not None else 0)
    return acc, pot


def errors(acc, exact):
    return np.sqrt(((acc - exact)**2).sum(axis=1) / (exact**2).sum(axis=1))


class DirectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mass, cls.x = bodies(400)
        cls.acc, cls.pot = direct(cls.mass, cls.x, cls.x, np.arange(400))

    def check(self, result, acc, pot):
        # 400 terms, each with some roundings of 1e-16, of which few cancel.
        self.assertLess(errors(result[0], acc).max(), 1e-12)
        self.assertLess(np.abs(result[1] / pot - 1).max(), 1e-12)

    def softened(self, *arguments, **options):
        return forces.softened(self.mass, self.x, SOFTENING, *arguments, potential=True, backend="ref", **options)

    def test_all_bodies(self):
        self.check(self.softened(), self.acc, self.pot)
        alone = forces.softened(self.mass, self.x, SOFTENING, backend="ref")
        np.testing.assert_array_equal(alone, self.softened()[0])

    def test_some_bodies(self):
        some = [3, 399, 0, 3]
        self.check(self.softened(some), self.acc[some], self.pot[some])
        self.check(self.softened(np.array(some, dtype=np.uint64)), self.acc[some], self.pot[some])
        acc, pot = self.softened([])
        self.assertEqual((acc.shape, pot.shape), ((0, 3), (0,)))

    def test_other_places(self):
        """The last is that of a body, whose potential there counts."""
        places = np.vstack([bodies(20, seed=2)[1], self.x[7]])
        self.check(self.softened(places), *direct(self.mass, self.x, places))
        self.check(self.softened(np.asfortranarray(places)[::-1]), *direct(self.mass, self.x, places[::-1]))

    def test_best_backend(self):
        """Pairs are in float: typical errors are 1e-7 of the summed terms, few of which cancel here."""
        acc, pot = forces.softened(self.mass, self.x, SOFTENING, potential=True)
        self.assertLess(np.median(errors(acc, self.acc)), 1e-6)
        self.assertLess(np.abs(pot / self.pot - 1).max(), 1e-6)

    def test_arguments_stay(self):
        mass, x = self.mass.copy(), self.x.copy()
        self.softened(theta=0.5)
        np.testing.assert_array_equal(mass, self.mass)
        np.testing.assert_array_equal(x, self.x)

    def test_no_bodies(self):
        for options in {}, {"force_error": AIM}:
            acc, pot = forces.softened([], np.empty((0, 3)), SOFTENING, [[1, 2, 3]], potential=True, **options)
            np.testing.assert_array_equal(np.column_stack([acc, pot]), np.zeros((1, 4)))


class TreeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mass, cls.x = bodies()
        cls.n = len(cls.mass)
        cls.acc, cls.pot = direct(cls.mass, cls.x, cls.x, np.arange(cls.n))

    def check(self, result, acc, pot):
        """99 of 100 accelerations are within the aim. Potentials, whose own aim is a tenth of it, all are; with the
        term of the body itself, mass/SOFTENING = 0.01, none would be."""
        self.assertLess(np.percentile(errors(result[0], acc), 99), AIM)
        self.assertLess(np.abs(result[1] / pot - 1).max(), AIM)

    def test_each_backend_and_walk(self):
        found = 0
        for backend in "avx512", "avx2", "portable", "ref":
            try:
                forces.softened(self.mass, self.x, SOFTENING, [0], backend=backend)
            except nbody6.SimulationError as error:
                self.assertEqual(error.status, 10, error)  # NBC_UNAVAILABLE
                continue
            found += 1
            for walk in filter(None, forces.WALKS):
                with self.subTest(backend=backend, walk=walk):
                    options = {"force_error": AIM, "walk": walk, "backend": backend, "leaf": 8, "group": 32}
                    self.check(forces.softened(self.mass, self.x, SOFTENING, potential=True, **options), self.acc,
                               self.pot)
                    with forces.Tree(self.mass, self.x, **options) as tree:
                        self.assertEqual(tree.backend, backend)
                        result = tree.forces(SOFTENING, acc_last=self.acc, potential=True)
                        self.check(result, self.acc, self.pot)
                        self.assertGreater(tree.counts["local_terms" if walk == "fmm" else "cell_terms"], 0)
                        if walk == "single":
                            self.assertEqual(tree.counts["groups"], self.n)
        self.assertGreaterEqual(found, 2)  # `portable` and `ref` are on every machine

    def test_kept_tree(self):
        tree = forces.Tree(self.mass, self.x, force_error=AIM)
        self.check(tree.forces(SOFTENING, potential=True), self.acc, self.pot)
        some = np.arange(5, self.n, 7)
        result = tree.forces(SOFTENING, some, acc_last=self.acc[some], potential=True)
        self.check(result, self.acc[some], self.pot[some])
        places = bodies(300, seed=3)[1]
        self.check(tree.forces(SOFTENING, places, potential=True), *direct(self.mass, self.x, places))
        moved, heavier = self.x + 0.25 * self.x[:, [1, 2, 0]], 1.5 * self.mass
        self.assertIs(tree.renew(moved, heavier), tree)
        exact = direct(heavier, moved, moved, np.arange(self.n))
        self.check(tree.forces(SOFTENING, potential=True), *exact)
        self.check(tree.renew(self.x).forces(SOFTENING, potential=True), self.acc * 1.5, self.pot * 1.5)
        counts = tree.counts
        self.assertEqual([counts[name] for name in ("builds", "renewals", "forces", "first_forces")], [1, 2, 5, 4])
        self.assertEqual(counts["targets"], 3 * 2 * self.n + len(some) + 2 * len(places))
        self.assertEqual(list(counts["seconds"]), ["key", "sort", "link", "moments", "lists", "cells", "pairs"])
        self.assertGreater(sum(counts["seconds"].values()), 0)
        with self.assertRaisesRegex(KeyError, "the nearest name is forces"):
            counts["force"]
        tree.close()

    def test_shape(self):
        with forces.Tree(self.mass, self.x, force_error=AIM, leaf=8) as tree:
            shape = tree.shape
            self.assertGreater(shape["cells"], self.n / 8)
            self.assertTrue(3 < shape["depth"] < 64, shape)
            self.assertTrue(1 < shape["largest_leaf"] <= 8, shape)
            self.assertGreater(shape["bytes"], 8 * 4 * self.n)  # masses and positions alone
            self.assertEqual((tree.n, repr(tree)), (self.n, "<Tree of %d bodies>" % self.n))
            self.assertTrue(0 < tree.least_error < 1e-4)

    def test_angle_and_order(self):
        """A smaller angle and a higher order are more exact; a third of the error, so that chance decides nothing."""
        def median(**options):
            return np.median(errors(forces.softened(self.mass, self.x, SOFTENING, leaf=8, group=8, **options), self.acc))

        self.assertLess(median(theta=0.4, order=2), median(theta=0.8, order=2) / 3)
        self.assertLess(median(theta=0.5, order=5), median(theta=0.5, order=2) / 3)

    def test_same_bits(self):
        program = "import sys; sys.path.insert(0, %r); import test_forces as t\n" % os.path.join(SOURCE, "tests", "cli")
        program += "acc = t.forces.softened(*t.bodies(), t.SOFTENING, force_error=t.AIM, walk='groups')\n"
        program += "sys.stdout.buffer.write(acc.tobytes())"
        said = [subprocess.run([sys.executable, "-c", program], env=dict(os.environ, OMP_NUM_THREADS=threads),
                               stdout=subprocess.PIPE, check=True).stdout for threads in "13"]
        self.assertEqual(len(said[0]), 24 * self.n)
        self.assertEqual(said[0], said[1])
        acc = forces.softened(self.mass, self.x, SOFTENING, force_error=AIM, walk="groups")
        self.assertEqual(said[0], acc.tobytes())

    def test_direct_sums_where_they_are_cheaper(self):
        """The method is that of the nominal costs."""
        acc = [forces.softened(self.mass, self.x, SOFTENING, **options) for options in (
            {}, {"force_error": AIM}, {"force_error": AIM, "walk": "groups"})]
        direct, by_tree = forces.nominal_pairs(self.n, self.n, force_error=AIM)
        self.assertEqual(direct, self.n**2)
        self.assertLess(direct, by_tree)
        np.testing.assert_array_equal(acc[0], acc[1])
        self.assertFalse((acc[0] == acc[2]).all())
        direct, by_tree = forces.nominal_pairs(10**6, 10**6, force_error=AIM)
        self.assertGreater(direct, by_tree)
        self.assertEqual(forces.nominal_pairs(7, 9), (63, 63))


class RefusedTest(RunTest):
    def setUp(self):
        super().setUp()
        self.mass, self.x = bodies(50)

    def test_shapes(self):
        for text, arguments, options in (
                (r"x has the shape \(50, 2\); for 50 masses it is \(50, 3\)", (self.mass, self.x[:, :2]), {}),
                (r"x has the shape \(50, 3\); for 49 masses", (self.mass[1:], self.x), {}),
                (r"mass has the shape \(50, 3\)", (self.x, self.x), {}),
                (r"no body 50: they are 0 to 49", (self.mass, self.x), {"targets": [0, 50]}),
                (r"no body -1", (self.mass, self.x), {"targets": [-1]}),
                (r"targets have the shape \(2,\)", (self.mass, self.x), {"targets": [0.5, 1.0]}),
                (r"targets have the shape \(1, 2\)", (self.mass, self.x), {"targets": [[0, 1]]}),
                (r"acc_last has the shape \(50, 3\); for 2 targets it is \(2, 3\)", (self.mass, self.x),
                 {"targets": [0, 1], "acc_last": self.x}),
                (r"walk = 'alone': there are groups, treecode, single", (self.mass, self.x), {"walk": "alone"})):
            with self.subTest(text=text):
                with self.assertRaisesRegex(ValueError, text):
                    forces.softened(*arguments, softening=SOFTENING, **options)
        with self.assertRaisesRegex(ValueError, "give force_error or theta"):
            forces.Tree(self.mass, self.x)
        with forces.Tree(self.mass, self.x, theta=0.5) as tree:
            with self.assertRaisesRegex(ValueError, "of 50 bodies, and these are 49"):
                tree.renew(self.x[1:], self.mass[1:])

    def refused(self, status, text, call):
        with self.assertRaisesRegex(nbody6.SimulationError, text) as caught:
            call()
        self.assertEqual(caught.exception.status, status)

    def test_values(self):
        """The library refuses them, and its text comes with its status (nbc.h)."""
        bad_argument, non_finite, unavailable = 2, 4, 10
        for status, text, options in (
                (bad_argument, "softening is 0: it must be", {"softening": 0}),
                (non_finite, "softening is nan", {"softening": np.nan}),
                (bad_argument, "force_error = 0.5", {"force_error": 0.5}),
                (bad_argument, "force_error = 1e-12; the least that backend", {"force_error": 1e-12}),
                (bad_argument, "theta = 2", {"theta": 2}),
                (bad_argument, "an aim or an angle, not both", {"theta": 0.5, "force_error": AIM}),
                (bad_argument, "order = 9", {"theta": 0.5, "order": 9}),
                (non_finite, "acc_last", {"force_error": AIM, "acc_last": np.full((50, 3), np.inf)}),
                (unavailable, "no backend 'abacus'", {"backend": "abacus"})):
            with self.subTest(text=text):
                self.refused(status, text, lambda: forces.softened(self.mass, self.x, **{"softening": SOFTENING, **options}))
        self.mass[7] = -1
        self.refused(bad_argument, "mass of source 7 is negative",
                     lambda: forces.Tree(self.mass, self.x, force_error=AIM))

    def test_failed_renewal(self):
        """A place that is no number: the tree is as before, and can be renewed."""
        with forces.Tree(self.mass, self.x, force_error=AIM) as tree:
            acc = tree.forces(SOFTENING)
            bad = self.x.copy()
            bad[9, 1] = np.nan
            self.refused(4, r"x\[1\] of source 9", lambda: tree.renew(bad))  # NBC_NON_FINITE
            np.testing.assert_array_equal(tree.forces(SOFTENING), acc)
            np.testing.assert_array_equal(tree.renew(self.x).forces(SOFTENING), acc)

    def test_closed(self):
        tree = forces.Tree(self.mass, self.x, force_error=AIM)
        tree.close()
        tree.close()
        for call in (lambda: tree.forces(SOFTENING), lambda: tree.renew(self.x), lambda: tree.counts,
                     lambda: tree.shape, lambda: tree.backend, lambda: tree.least_error):
            with self.assertRaisesRegex(ValueError, "the tree is closed"):
                call()
        with self.assertRaisesRegex(TypeError, "not copied or pickled"):
            multiprocessing.reduction.ForkingPickler.dumps(tree)

    def test_one_thread_at_a_time(self):
        with forces.Tree(self.mass, self.x, force_error=AIM) as tree:
            with tree._handle:  # as while it works
                said = []

                def other():
                    try:
                        tree.forces(SOFTENING)
                    except RuntimeError as error:
                        said.append(str(error))

                thread = threading.Thread(target=other)
                thread.start()
                thread.join()
            self.assertEqual(said, ["another thread uses the tree now: one thread at a time"])

    def test_child_by_fork(self):
        """A child cannot use the tree of its parent; its own sums, by one thread, have the same bits."""
        program = """\
import os, sys
sys.path.insert(0, %r)
import test_forces as t
mass, x = t.bodies()
tree = t.forces.Tree(mass, x, force_error=t.AIM)
acc = tree.forces(t.SOFTENING)
if os.fork() == 0:
    try:
        tree.forces(t.SOFTENING)
    except RuntimeError as error:
        same = (t.forces.softened(mass, x, t.SOFTENING, force_error=t.AIM, walk="groups") == acc).all()
        os._exit(0 if "the tree belongs to process" in str(error) and same else 1)
    os._exit(2)
sys.exit(os.wait()[1])
""" % os.path.join(SOURCE, "tests", "cli")
        done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, OMP_NUM_THREADS="2"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_structs_are_those_of_c(self):
        """Size, and the place of each field; numbers of the walks and of stages."""
        structs = {"nbc_error": library.Error, "gpunb_options": library.ForceOptions,
                   "gpunb_softened_job": library.ForceJob, "gpunb_backend_info": library.BackendInfo,
                   "gpunb_tree_counts": library.TreeCounts}
        wanted, program = [], ['#include "gpunb/tree.h"', "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
        for name, struct in structs.items():
            program.append('printf("%%zu\\n", sizeof(struct %s));' % name)
            wanted.append(ctypes.sizeof(struct))
            for field, _ in struct._fields_:
                program.append('printf("%%zu\\n", offsetof(struct %s, %s));' % (name, field))
                wanted.append(getattr(struct, field).offset)
        for name in ("GROUPS", "SINGLE", "ONE_BY_ONE_I", "ONE_BY_ONE_J"):
            program.append('printf("%%d\\n", (int)GPUNB_WALK_%s);' % name)
            wanted.append(forces.WALKS[name.lower().replace("_", "-")])
        program += ['printf("%d\\n", (int)GPUNB_TREE_STAGES);', "return 0; }", ""]
        wanted.append(library.TREE_STAGES)
        with open(self.path("layout.c"), "w") as file:
            file.write("\n".join(program))
        subprocess.run([*CC, "-std=c11", "-I", SOURCE, "-o", self.path("layout"), self.path("layout.c")], check=True)
        text = subprocess.run([self.path("layout")], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual([int(line) for line in text.split()], wanted)


if __name__ == "__main__":
    unittest.main()
