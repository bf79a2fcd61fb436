"""How far the two spheres are from each other, and how fast what has merged turns.

usage: python3 rotation.py merger-4k

From each snapshot: the distance of the two halves of the bodies (medians of their positions), the radius r_h about the
median of all that holds half of them, and of the bodies in it the mean velocity about the z axis, the velocity
dispersion (of one dimension), and the root mean squares of x, y and z.
"""

import sys

import nbody6
import numpy as np


def row(snapshot):
    order = np.argsort(snapshot.name)  # the first half of the names is the first sphere
    x, v = np.asarray(snapshot.x)[order], np.asarray(snapshot.v)[order]
    first, second = np.median(x[:len(x) // 2], axis=0), np.median(x[len(x) // 2:], axis=0)
    x, v = x - np.median(x, axis=0), v - np.median(v, axis=0)
    radius = np.linalg.norm(x, axis=1)
    r_h = np.median(radius)
    x, v = x[radius < r_h], v[radius < r_h]
    turning = (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) / np.hypot(x[:, 0], x[:, 1])
    return (snapshot.t, np.linalg.norm(first - second), r_h, turning.mean(), np.sqrt(v.var(axis=0).mean()),
            *np.sqrt((x**2).mean(axis=0)))


run = nbody6.Run(sys.argv[1])
print("      t distance    r_h  v_turn  sigma   x_rms  y_rms  z_rms")
for k in range(len(run.snapshot_times())):
    print("%7.2f %8.3f %6.3f %7.3f %6.3f  %6.3f %6.3f %6.3f" % row(run.snapshot(k)))
