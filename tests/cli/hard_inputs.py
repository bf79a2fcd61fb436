"""Inputs with tight binaries, hierarchies, chains, mergers and tides for the tests of the nbody6 command."""

import math
import random

from run_support import RunTest

GALAXY = "&INXTRNL0 GMG=8E10 RG0=2 /\n"  # 2 kpc from a point mass: the tide takes a cluster of some parsecs apart

ESCAPING = """\
&ININPUT N=200 NRAND={seed} RBAR=2.5 ZMBAR=0.5 TCRIT={tcrit} DTADJ={dtadj} DELTAT=0.5
  KZ(8)=1 KZ(14)=2 KZ(20)=6 KZ(23)=3 QE=1 /
&INDATA BODY1=20 BODYN=0.08 NBIN0=50 /
""" + GALAXY

# A galaxy acts on a chain of three that forms among 16 stars.
CHAIN_IN_GALAXY = """\
&ININPUT N=16 NRAND={seed} ZMBAR=0.5 DTADJ=0.125 TCRIT=0.5 QE=1 KZ(14)={tide} KZ(20)=6 SMAX=0.125 /
&INDATA BODY1=10 BODYN=0.1 /
&INMODEL MODEL='uniform' /
""" + GALAXY

# Two binaries meet, one of them of period 1.4e-8, in a chain of size 0.02.
TIGHT = """\
&ININPUT N=40 NRAND={seed} ZMBAR=0.5 TCRIT=0.5 DTADJ=0.125 DELTAT=0.25 KZ(8)=1 KZ(42)=2 SMAX=0.125 QE=1 {more} /
&INDATA ALPHAS=2.35 BODY1=10 NBIN0=8 /
&INBINPOP RATIO=0.7 /
&INMODEL MODEL='king' W0=6 /
"""

# Nothing but binaries.
BINARIES = """\
&ININPUT N={n} NRAND={seed} QE=1 TCRIT={tcrit} DTADJ=0.25 DELTAT=0.5 RBAR=1 ZMBAR=0.5
  KZ(8)=1 KZ(20)=6 KZ(14)={tide} KZ(23)=2 {more} /
&INDATA BODY1=10 BODYN=0.1 NBIN0={n} /
&INRUN RSTAR={radius} /
"""

# A wide binary meets one of period 1.3e-8 that it hardly disturbs.
SLOW_CHAIN = """\
&ININPUT N=60 NRAND=4418 RBAR=2.94 ZMBAR=0.6 TCRIT=1.5 DTADJ=0.3 ETAI=0.01 QE=1
  KZ(8)=1 KZ(14)=0 KZ(15)=2 KZ(20)=0 KZ(26)=0 KZ(42)=5 /
&INDATA ALPHAS=2.3 BODY1=20 BODYN=0.1 NBIN0=18 /
&INBINPOP SEMI0=0.002 RANGE=30 ECC0=-1 RATIO=1 /
&INMODEL MODEL='king' W0=8 /
"""

TRIPLE = """\
&ININPUT DTADJ=1 DELTAT=10 TCRIT=20 QE=1 KZ(16)=0 RMIN=0.03 DTMIN=0.01 KZ(22)=2 KZ(26)=0 /
&INMODEL DATA='stars.dat' /
"""
TRIPLE_STARS = [
    (0.3, -0.00046877632059743853, -0.0081353296012837313, 0.017209364694781661,
     -3.3795295659194773, 2.5598170613453042, -0.73491592817143214),
    (0.2, -0.0089205617726221577, -0.011384500918897653, 0.017209364694781661,
     -0.82941246003823133, -4.7842488041098834, -0.73491592817143214),
    (0.5, 0.0038494905014073259, 0.0094349981283293003, -0.017209364694781661,
     2.3594827235669791, 0.37780928483677101, 0.73491592817143214)]

QUADRUPLE = """\
&ININPUT N=4 TCRIT=1 DTADJ=0.5 DELTAT=1 QE=1 RMIN=0.02 DTMIN=1e-3 GMIN=1e-8
  KZ(8)=1 KZ(16)=0 KZ(22)=2 KZ(15)=1 /
&INDATA NBIN0=2 /
&INMODEL DATA='stars.dat' /
"""
QUADRUPLE_STARS = [(0.05, -0.0079, 0, 0, 0, -4.0957612089665529, -2.6012310461946893),
                   (0.05, -0.0065, 0, 0, 0, 0.91130624521453218, 1.6161636906568904),
                   (0.05, 0.0065, 0, 0, 0, 0.10748565232523277, -2.4246271703620232),
                   (0.05, 0.0079, 0, 0, 0, 3.0769693114267875, 3.4096945258998224)]

# Stars from a file.
STARS = """\
&ININPUT DTADJ={dtadj} DELTAT={deltat} TCRIT={tcrit} QE=1 KZ(22)=2 {more} /
&INMODEL DATA='stars.dat' /
"""


def orbit(m, a, e, anomaly, node, inclination):
    """Relative position and velocity at a true anomaly; the pericentre is at the node."""
    p = a * (1 - e * e)
    r, v = p / (1 + e * math.cos(anomaly)), math.sqrt(m / p)
    x = r * math.cos(anomaly), r * math.sin(anomaly)
    v = -v * math.sin(anomaly), v * (e + math.cos(anomaly))

    def turned(q):
        y, z = math.cos(inclination) * q[1], math.sin(inclination) * q[1]
        return (q[0] * math.cos(node) - y * math.sin(node), q[0] * math.sin(node) + y * math.cos(node), z)

    return turned(x), turned(v)


def binary(mass, x, v, relative):
    """Two equal stars of total mass `mass`, their centre of mass at x with velocity v."""
    return [(mass / 2, *(x[k] + sign * relative[0][k] for k in range(3)),
             *(v[k] + sign * relative[1][k] for k in range(3))) for sign in (-0.5, 0.5)]


def systems(count, seed, members=3, inner=2e-3, outer=3e-2):
    """Stable triples, or quadruples, of equal stars in virial equilibrium as if each were a point."""
    rng = random.Random(seed)
    stars, m = [], 1 / (members * count)

    def add(n, x, v, a):
        if n == 1:
            stars.append((m, *x, *v))
        else:
            stars.extend(binary(2 * m, x, v, orbit(2 * m, a, 0.3, rng.uniform(0, 6), rng.uniform(0, 6), 0.4)))

    for _ in range(count):
        x, v = [rng.gauss(0, 0.5) for _ in range(3)], [rng.gauss(0, 0.4) for _ in range(3)]
        dx, dv = orbit(members * m, outer, 0.2, rng.uniform(0, 6), rng.uniform(0, 6), 0.1)
        for n, share, a in ((2, -(members - 2) / members, inner), (members - 2, 2 / members, 0.75 * inner)):
            add(n, [x[k] + share * dx[k] for k in range(3)], [v[k] + share * dv[k] for k in range(3)], a)
    return stars


def meeting(a):
    """A tight binary, of semi-major axis a, and one of 3e-3 meet in a chain, among twelve stars."""
    rng = random.Random(4)
    stars = binary(0.08, (-0.012, -0.002, 0), (0.5, 0, 0), orbit(0.08, a, 0.6, 1, 1, 0.7))
    stars += binary(0.04, (0.012, 0.002, 0), (-0.5, 0, 0), orbit(0.04, 3e-3, 0.5, 2, 1, 0.7))
    for _ in range(12):
        stars.append((0.02, *(rng.gauss(0, 0.6) for _ in range(3)), *(rng.gauss(0, 0.4) for _ in range(3))))
    return stars


def close_pair(separation, seed):
    """Twenty stars, the last at rest beside the first."""
    rng = random.Random(seed)
    stars = [(0.05, *(rng.gauss(0, 0.6) for _ in range(3)), *(rng.gauss(0, 0.4) for _ in range(3))) for _ in range(19)]
    m, x, y, z = stars[0][:4]
    stars[0] = (m, x, y, z, 0, 0, 0)
    return stars + [(m, x + separation, y, z, 0, 0, 0)]


class HardTest(RunTest):
    """Writes an input and its stars into the folder of a test."""

    def write(self, text, stars=None, name="a.inp"):
        with open(self.path(name), "w") as file:
            file.write(text)
        if stars is not None:
            with open(self.path("stars.dat"), "w") as file:
                file.writelines(" ".join("%.17g" % value for value in star) + "\n" for star in stars)
        return name
