"""The film: its length, and the motion of the stars between snapshots."""

import os
import shutil
import tempfile
import unittest

import h5py
import numpy as np

from test_plot import write_log, write_snapshot

import nbody6
from nbody6 import Stars
from nbody6.plot import frames, movie
from nbody6.plot.report import Report


class Still:
    """Stars as a snapshot has them."""

    def __new__(cls, t, x, v, pairs=(), **others):
        n = len(x)
        stars = Stars(np.full(n, 1.0 / n), x, v, t=t, centre=np.zeros(3), **others)
        stars.pairs = type("Pairs", (), {"names": np.array(pairs, dtype=int).reshape(-1, 2)})()
        return stars


def circle(angle, n=40):
    """Stars on circles about the centre, with a period of 2 pi, at radii of 1 to 3."""
    r = np.linspace(1, 3, n)[:, None]
    start = np.linspace(0, 6, n)
    a = start + angle
    unit, along = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1), np.stack([-np.sin(a), np.cos(a), 0 * a], axis=1)
    return r * unit, r * along, -r * unit


class MotionTest(unittest.TestCase):
    def interval(self, h, with_acc=True, **others):
        (xa, va, aa), (xb, vb, ab) = circle(0), circle(h)
        return frames.Interval(Still(0.0, xa, va, acc=aa if with_acc else None, **others),
                               Still(h, xb, vb, acc=ab if with_acc else None, **others))

    def test_snapshots_are_met(self):
        for h in (0.5, 5.0):
            interval = self.interval(h)
            np.testing.assert_allclose(interval.at(0.0), circle(0)[0], atol=1e-13)
            np.testing.assert_allclose(interval.at(1.0), circle(h)[0], atol=1e-13)

    def test_curves_are_followed(self):
        """Half way, a cubic of h = 1 is wrong by h^4/384 of the radius, a quintic by h^6/46080; a straight line by
        h^2/8."""
        for with_acc, bound in ((False, 1 / 384), (True, 1 / 46080)):
            wrong = np.abs(self.interval(1.0, with_acc).at(0.5) - circle(0.5)[0]).max() / 3
            self.assertLess(wrong, 1.1 * bound)
            self.assertGreater(wrong, 0.2 * bound)

    def test_too_long_for_a_curve(self):
        """Stars that go around between snapshots are drawn on arcs about the centre, which keep their distances: the
        cluster does not shrink and grow between snapshots."""
        for h in (5.0, np.pi, 2 * np.pi):
            for s in (0.25, 0.5, 0.9):
                r = np.sqrt((self.interval(h).at(s)**2).sum(axis=1))
                np.testing.assert_allclose(r, np.linspace(1, 3, 40), rtol=1e-9)
        np.testing.assert_allclose(self.interval(np.pi).at(0.5), circle(np.pi / 2)[0], atol=1e-9)  # to the other side
        first, second = np.array([[1.0, 0, 0], [0, 0, 0]]), np.array([[0, 3.0, 0], [0, 0, 2.0]])
        x = frames.arcs(first, second, np.zeros((2, 3)), [0.0, 0.5, 1.0])
        np.testing.assert_allclose(x[0], [[1, 0, 0], [2**0.5, 2**0.5, 0], [0, 3, 0]], atol=1e-12)
        np.testing.assert_allclose(x[1][[0, 2]], [[0, 0, 0], [0, 0, 2]], atol=1e-12)  # from the centre itself

    def test_pairs_move_as_one(self):
        """The orbit of two stars is shorter than the interval: their centre of mass is interpolated."""
        def pair(t):
            x, v, _ = circle(t)
            x[1], v[1] = x[0] + (0.01 * np.cos(300 * t), 0.01 * np.sin(300 * t), 0), v[0] + (0, 3.0, 0)
            x[0], v[0] = 2 * x[0] - x[1], 2 * v[0] - v[1]
            return x, v

        (xa, va), (xb, vb) = pair(0.0), pair(0.5)
        interval = frames.Interval(Still(0.0, xa, va, [(1, 2)]), Still(0.5, xb, vb, [(1, 2)]))
        middle = interval.at(0.5)[:2].mean(axis=0)
        np.testing.assert_allclose(middle, circle(0.25)[0][0], atol=1e-3)
        self.assertLess(np.sqrt(((interval.at(0.5)[0] - interval.at(0.5)[1])**2).sum()), 0.021)
        np.testing.assert_allclose(interval.at(1.0), xb, atol=1e-13)

    def test_stars_that_leave_and_come(self):
        (xa, va, _), (xb, vb, _) = circle(0), circle(0.5)
        first, second = Still(0.0, xa, va), Still(0.5, xb, vb)
        second = second[1:]  # star 1 has escaped
        second.centre, second.pairs = np.zeros(3), first.pairs
        x = frames.Interval(first, second).at(0.5)
        np.testing.assert_allclose(x[0], xa[0] + 0.25 * va[0])
        self.assertLess(np.abs(x[1:] - circle(0.25)[0][1:]).max(), 1e-3)


class FilmTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, "run")

    def pictures(self, ending=".gif"):
        run = nbody6.Run(self.name)
        return movie.frames(run, Report.scale_of(run), lambda *_: None, ending)

    def test_length(self):
        """Ten seconds or more, whatever the number of snapshots."""
        self.assertEqual(movie.SIZE, 1080)
        for there, seconds in ((2, 10), (40, 10), (41, 10), (101, 25), (10000, 60)):
            self.assertEqual(movie.count_of_frames(there, movie.RATE), movie.RATE * seconds)

    def test_pictures(self):
        for k in range(3):
            write_snapshot(self.name + ".snap.%05d.h5" % k, float(k), 30, seed=k)
        write_log(self.name + ".log.csv", 3)
        pictures = list(self.pictures())
        self.assertEqual(len(pictures), movie.LEAST_S * movie.GIF_RATE)
        self.assertEqual(pictures[0].shape, (1080, 1080, 3))
        corner = [picture[20:60, 880:1060] for picture in pictures]  # the time
        self.assertTrue(all((a != b).any() for a, b in zip(corner[:60], corner[1:61])))
        inner = [picture[100:900, 100:980].astype(int) for picture in pictures[:40]]
        self.assertTrue(all((a != b).any() for a, b in zip(inner, inner[1:])))  # each picture has moved

    def test_a_snapshot_that_is_being_written(self):
        for k in range(3):
            write_snapshot(self.name + ".snap.%05d.h5" % k, float(k), 30, seed=k)
        with open(self.name + ".snap.00001.h5", "r+b") as file:
            file.truncate(1000)
        self.assertEqual(len(list(self.pictures())), movie.LEAST_S * movie.GIF_RATE)

    def test_one_snapshot(self):
        write_snapshot(self.name + ".snap.00000.h5", 0.0, 30)
        with h5py.File(self.name + ".snap.00000.h5", "r+") as file:
            del file["PartType4/Velocities"]
        self.assertEqual(len(list(self.pictures())), 1)


if __name__ == "__main__":
    unittest.main()
