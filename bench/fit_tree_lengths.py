#!/usr/bin/env python3
"""Fit the lengths of the lists of a tree: prints gpunb/tree/lengths_fit.h (lengths.c has the model).

    build/bench/tree_counts > host.txt; build/bench/tree_counts backend=cuda least=15 most=22 > device.txt
    bench/fit_tree_lengths.py host.txt device.txt > gpunb/tree/lengths_fit.h

Lines whose number of tests is 0 have none that is known. Means and standard deviations of ln(predicted/counted) go to standard error."""
import sys

import numpy as np

NAMES = ["error", "error_p", "error_ln_p", "error_ln_n", "box", "sharp", "leaf", "at_once", "at_once_aim", "at_once_p",
         "at_once_opened", "cell"]
BEGIN = [-1, 0, -0.2, 0, 1.4, 1.2, 0.9, -1.5, -0.2, -0.1, 1.5, 0.2]
LEAST = [-9, -9, -9, -9, 0.05, 0.2, 0.05, -9, -9, -9, 0, 0]
# As term_aims of force.c, and pairs that a term costs on processors.
TERM_AIM = np.array([0, 0.25, 1.5, 1.2, 2.5, 2.5, 2.5, 2.5, 2.5])
PAIRS = np.array([0, 4, 5, 7.5, 12, 18, 27, 38, 53])
PHASES = 3


def group_of_device(group, n_i):
    """As group_for of gpunb/device/tree_force.c."""
    group = group.astype(int)
    for _ in range(12):
        group = np.where((group > 8) & (n_i // group < 2048), group // 2, group)
    return group


def solve_two(one, other):
    """Numbers by which two columns are nearest to 1 together; the second one is not negative."""
    columns = np.array([one, other]).T
    number = np.linalg.lstsq(columns, np.ones(len(one)), rcond=None)[0]
    return number if number[1] >= 0 else (np.sum(one) / np.sum(one * one), 0)


class Lists:
    """The lines of a file of tree_counts."""

    def __init__(self, path, on_device):
        lines = np.loadtxt(path).T
        targets, n_i, n, bodies = lines[6], lines[1], lines[0], lines[9]
        most = group_of_device(lines[5], n_i) if on_device else lines[5]
        many = n_i > 2 * most
        x = (n_i / most)[many]
        groups = (n_i / targets)[many]
        self.share, self.edge = solve_two(x / groups, np.sqrt(x) / groups)
        # Lists that have nearly all bodies tell nothing.
        good = bodies < 0.92 * n
        if not on_device:
            good &= targets >= 96
        (self.n, self.n_i, self.order, aim, self.leaf, _, self.targets, self.tests, self.cells, self.bodies,
         self.at_once) = lines[:, good]
        self.kind = self.order.astype(int)
        self.aim = TERM_AIM[self.kind] * aim
        self.pairs = PAIRS[self.kind]
        self.span = np.minimum(self.targets * self.n / self.n_i, self.n)
        self.has_expansions = (self.n_i >= 32768) if on_device else (self.targets >= 96)

    def model(self, number):
        """tests, cells, bodies, cells at once: the same as lengths.c."""
        f = dict(zip(NAMES, number))
        n, p = self.n, self.order
        box = f["box"] * np.cbrt(self.span)
        error = f["error"] + f["error_p"] * p + f["error_ln_p"] * np.log(p) + f["error_ln_n"] * np.log(n)

        def volume(r):
            whole = box**3 + 6 * box**2 * r + 3 * np.pi * box * r**2 + 4 * np.pi / 3 * r**3
            return (whole**-f["sharp"] + n**-f["sharp"])**(-1 / f["sharp"])

        def opened_within(m):
            return np.exp(((p + 1) / 3 * np.log(m) + error + 0.5 * np.log(m / n) +
                           np.log(np.cbrt(n * 3 / (4 * np.pi)) / self.aim)) / (p + 2)) + f["cell"] * np.cbrt(m)

        size = box * np.exp(f["at_once"] + f["at_once_aim"] * np.log(1e3 * self.aim) + f["at_once_p"] * p)
        worth = 1 + np.floor(p**3 / 5)
        sums = np.zeros((4, len(n)))
        for k in range(PHASES):
            m = f["leaf"] * self.leaf * 8**(-(k + 0.5) / PHASES)
            opened = opened_within(m)
            inside = volume(opened)
            sums[2] += inside
            while np.any(m < n):
                live = np.where(m < n, 1, 0)
                nearest = opened_within(8 * m)
                visited = np.where(8 * m < n, volume(nearest), n)
                kept = np.minimum(inside, visited)
                far = np.where(self.has_expansions, volume(size + f["at_once_opened"] * opened), n)
                far = np.minimum(np.maximum(far, kept), visited)
                sums[0] += live * visited / m
                sums[1] += live * np.where(m <= worth, 0, (far - kept) / m)
                sums[2] += live * np.where(m <= worth, far - kept, 0)
                sums[3] += live * (visited - far) / m
                m, opened, inside = 8 * m, nearest, visited
        sums /= PHASES
        sums[2] = np.minimum(sums[2], n)
        return sums

    def errors(self, number):
        """ln(predicted/counted) of sums of cells and bodies, bodies, cells, tests, cells at once."""
        tests, cells, bodies, at_once = self.model(number)
        return [np.log((self.pairs * cells + bodies) / (self.pairs * self.cells + self.bodies)),
                np.log(bodies / self.bodies), np.log((cells + 5) / (self.cells + 5)), np.where(self.tests > 0, np.log(tests / np.maximum(self.tests, 1)), 0),
                np.log((at_once + 10) / (self.at_once + 10))]

    def residuals(self, number):
        many = np.where(self.n >= 131072, 3, 1)  # there are few lines of many bodies, and forces of these count
        return np.concatenate([w * many * e for w, e in zip((2, 1, 0.3, 0.5, 0.3), self.errors(number))])


def fit(lists):
    """Levenberg and Marquardt."""
    number, damping = np.array(BEGIN, float), 1e-2
    r = lists.residuals(number)
    for _ in range(60):
        columns = []
        for k in range(len(number)):
            other = number.copy()
            other[k] += 1e-4 * max(1, abs(other[k]))
            columns.append((lists.residuals(other) - r) / (other[k] - number[k]))
        jacobian = np.array(columns).T
        square = jacobian.T @ jacobian
        while damping < 1e8:
            step = np.linalg.solve(square + damping * np.diag(np.diag(square) + 1e-9), -jacobian.T @ r)
            other = np.maximum(number + step, LEAST)
            more = lists.residuals(other)
            if more @ more < r @ r:
                number, r, damping = other, more, damping / 4
                break
            damping *= 4
    return number


def main():
    print("/* Made by bench/fit_tree_lengths.py: of processors, of devices. */\nstatic const struct fit fits[2] = {")
    for on_device, path in enumerate(sys.argv[1:3]):
        lists = Lists(path, on_device)
        number = fit(lists)
        for name, error in zip(("sums", "bodies", "cells", "tests", "at once"), lists.errors(number)):
            by_n = " ".join("%.2f" % np.mean(error[lists.n == n]) for n in np.unique(lists.n))
            print("%s, %d lines, %s: %.3f, %.3f; by bodies %s" %
                  (path, len(lists.n), name, np.mean(error), np.std(error), by_n), file=sys.stderr)
        numbers = list(zip(NAMES, number)) + [("share", lists.share), ("edge", lists.edge)]
        print("{%s}," % ", ".join(".%s = %.4g" % f for f in numbers))
    print("};")


main()
