"""Stars that touch in hierarchies become one on both engines, with the same events, names, energies and bits."""

import json
import math
import os
import unittest

import wild_clusters
from run_support import RunTest

# Two triples so tight that all their stars touch: binaries of 5e-6, companions that reach the stars of a pair.
TRIPLES = """\
&ININPUT N=4, NRAND=523, TCRIT=0.5, DTADJ=0.25, DELTAT=0.5, KZ(8)=1, KZ(18)=2 /
&INDATA NBIN0=2, NHI0=2 /
&INBINPOP SEMI0=0.002, RANGE=5 /
&INHIPOP SEMI0=1.6e-05, RANGE=5 /
&INRUN RSTAR=0.000451 /
"""

TABLE = """\
&ININPUT TCRIT={tcrit} DTADJ={tcrit} DELTAT={tcrit} ETAI=0.01 ETAR=0.01 QE=1e10 KZ(22)=2 KZ(26)=0 /
&INMODEL DATA='a.dat' RADII='collide' /
"""

FIELD = ((0.1, 0.9, 0.3, 0.2, -0.1, 0.5, 0.1), (0.12, -0.7, 0.6, -0.3, -0.3, -0.4, 0.1),
         (0.11, 0.1, -1, 0.4, 0.5, 0.1, -0.1), (0.1, -0.5, -0.6, -0.8, 0.3, -0.3, 0.2),
         (0.13, 0.4, 0.8, 0.7, -0.4, 0.1, -0.2))
MASS, INNER = 0.05, 1e-3


def at_apocentre(mass, a, e, tilt):
    """Relative place and velocity."""
    r = a * (1 + e)
    speed = math.sqrt(mass * (1 - e) / r)
    return (r, 0, 0), (0, speed * math.cos(tilt), speed * math.sin(tilt))


def apart(parts, mass, a, e, tilt):
    """Stars (mass, x, v) of two parts of equal or other masses on an orbit."""
    x, v = at_apocentre(sum(mass), a, e, tilt)
    shares = -mass[1] / sum(mass), mass[0] / sum(mass)
    return [(m, [p + share * q for p, q in zip(y, x)], [p + share * q for p, q in zip(w, v)])
            for part, share in zip(parts, shares) for m, y, w in part]


def star(mass=MASS):
    return [(mass, [0, 0, 0], [0, 0, 0])]


def pair(e):
    return apart((star(), star()), (MASS, MASS), INNER, e, 0.7)


class MergerTest(RunTest):
    def events(self, engine, threads, name):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        self.run_command("a.inp", "--quiet", "--engine", engine, "--out", name, env=environment)
        with open(self.path(name + ".events.jsonl")) as file:
            return [json.loads(line) for line in file]

    def mergers(self, text):
        """Those of a run, which are the same on both engines, and each run has its bits with any threads."""
        with open(self.path("a.inp"), "w") as file:
            file.write(text)
        found = []
        for engine in ("host", "emulated"):
            runs = [self.events(engine, threads, "%s-%d" % (engine, threads)) for threads in (1, 2)]
            self.assertEqual(runs[0], runs[1])
            found.append([event for event in runs[0] if event["event"] == "merger"])
        self.assertEqual([event["names"] for event in found[0]], [event["names"] for event in found[1]])
        for a, b in zip(*found):  # sums of forces in another order
            self.assertLess(abs(a["energy"] - b["energy"]), 1e-6 * abs(a["energy"]))
        return found[0]

    def mergers_of(self, stars, radii, tcrit):
        rows = [(m, *[p + q for p, q in zip(x, (0.1, 0.05, -0.1))], *v, r) for (m, x, v), r in zip(stars, radii)]
        rows += [(*row, 0) for row in FIELD]
        with open(self.path("a.dat"), "w") as file:
            file.write("m x y z vx vy vz radius\n")
            file.writelines(" ".join("%.17g" % number for number in row) + "\n" for row in rows)
        found = self.mergers(TABLE.format(tcrit=tcrit))
        for event in found:
            for name in event["names"]:
                self.assertIn(name, range(1, len(stars) + 1))
        return found

    def test_all_stars_of_triples_touch(self):
        found = self.mergers(TRIPLES)
        self.assertGreaterEqual(len(found), 3)
        gone = []
        for event in found:
            self.assertIn(event["names"][0], range(1, 9))
            self.assertIn(event["names"][1], range(1, 9))
            self.assertNotIn(event["names"][0], gone)
            gone.append(event["names"][1])
        self.assertEqual(len(gone), len(set(gone)))

    def test_a_large_companion(self):
        stars = apart((pair(0.1), star()), (2 * MASS, MASS), 0.008, 0.2, 0.3)
        found = self.mergers_of(stars, (1e-5, 1e-5, 6.3e-3), 0.0625)
        self.assertEqual(len(found), 2)
        self.assertEqual({name for event in found for name in event["names"]}, {1, 2, 3})

    def test_a_large_and_light_companion(self):
        stars = apart((pair(0.1), star(1e-4)), (2 * MASS, 1e-4), 0.008, 0.2, 0.3)
        self.assertEqual(len(self.mergers_of(stars, (1e-5, 1e-5, 6.3e-3), 0.0625)), 2)

    def test_an_eccentric_pair_in_a_triple(self):
        stars = apart((pair(0.95), star()), (2 * MASS, MASS), 0.012, 0.2, 0.3)
        found = self.mergers_of(stars, (3e-5, 4e-5, 1e-5), 0.0625)
        self.assertEqual([event["names"] for event in found], [[1, 2]])

    def test_eccentric_pairs_in_a_quadruple(self):
        stars = apart((pair(0.9), pair(0.9)), (2 * MASS, 2 * MASS), 0.02, 0.3, 0.3)
        found = self.mergers_of(stars, (8e-5, 8e-5, 1e-6, 1e-6), 0.0625)
        self.assertEqual([event["names"] for event in found], [[1, 2]])
        os.remove(self.path("a.dat"))
        for path in os.listdir(self.folder):
            os.remove(self.path(path))
        found = self.mergers_of(stars, (8e-5, 8e-5, 8e-5, 7e-5), 0.0625)
        self.assertEqual(sorted(event["names"] for event in found), [[1, 2], [3, 4]])

    def test_who_is_inside_of_what_has_merged(self):
        # Star 1 is within the radius of stars 2 and 3 when they become one, and on its way out, not to come back.
        stars = [(0.0149955556934, [0.000748715081045, 0.000168994062472, -0.000765552460654],
                  [1.43540256137, 0.191064687112, -0.21947195622]),
                 (0.00160725020629, [0.000754469369425, -0.000213138716245, -0.00107447511294],
                  [3.46230023303, 4.37939526836, 2.64622542902]),
                 (0.013327831599, [-0.000933386624343, -0.000164437299026, 0.000990921502034],
                  [-1.92026060281, -0.518527061505, -0.0721829666657])]
        found = self.mergers_of(stars, (2.3e-6, 4.8e-7, 1.9934e-3), 0.03125)
        self.assertEqual(len(found), 2)
        self.assertEqual({name for event in found for name in event["names"]}, {1, 2, 3})

    def test_frozen_pairs_beside_a_chain(self):
        """A frozen quadruple with stars that may touch those of a chain is resolved before it joins one: this cluster
        stopped at t = 0.58 with two bodies at the same place."""
        cluster = wild_clusters.Cluster(8)
        cluster.t_end = cluster.dt_output = cluster.dt_adjust = 0.75
        cluster.write(self.path("a"))
        self.run_command("a.inp", "--quiet", "--engine", "host")

    def test_small_stars_stay_frozen(self):
        stars = apart((pair(0.4), star()), (2 * MASS, MASS), 0.012, 0.2, 0.3)
        self.assertEqual(self.mergers_of(stars, (3e-6, 4e-6, 1e-6), 0.0625), [])


if __name__ == "__main__":
    unittest.main()
