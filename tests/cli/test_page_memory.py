"""Memory of a page: what it takes for each star beside the snapshot that it shows, by the count of Python, which has
the arrays of numpy."""

import os
import tempfile
import tracemalloc
import unittest

from test_plot import write_snapshot

import nbody6
from nbody6.plot import page
from nbody6.plot.report import MOST_STARS, Report

FEW, MANY = 32000, 96000  # above MOST_STARS, where no systems are searched
SNAPSHOTS = 5
STATE = 8 * (3 + 3 + 5)  # places, velocities, mass, name, two steps, length of the list
MOST = 160  # bytes of a star beside these: less than one more snapshot than the 116 that are needed


def write_run(folder, n):
    name = os.path.join(folder, "run%d" % n)
    with open(name + ".log.csv", "w") as file:
        file.write("t,n,de_rel,r_density_x,r_density_y,r_density_z\n# units: 1,1,1,1,1,1\n")
        file.writelines("%d,%d,0,0,0,0\n" % (t, n) for t in range(SNAPSHOTS))
    for t in range(SNAPSHOTS):
        write_snapshot("%s.snap.%05d.h5" % (name, t), float(t), n, seed=t)
    return name


def peak(name):
    """The most bytes at a time while a page is made."""
    tracemalloc.start()
    try:
        report = Report(nbody6.Run(name))
        report.history  # reads all snapshots
        page.make_page(report)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class MemoryTest(unittest.TestCase):
    def test_bytes_of_a_star(self):
        """The slope of two sizes: what does not depend on the number of stars is left out."""
        self.assertGreater(FEW, MOST_STARS)
        with tempfile.TemporaryDirectory() as folder:
            few, many = (write_run(folder, n) for n in (FEW, MANY))
            peak(few)  # what matplotlib keeps from then on
            beside = (peak(many) - peak(few)) / (MANY - FEW) - STATE
        self.assertGreater(beside, 0)
        self.assertLess(beside, MOST)


if __name__ == "__main__":
    unittest.main()
