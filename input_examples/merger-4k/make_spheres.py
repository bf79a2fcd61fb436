"""Two Plummer spheres on a parabolic orbit about each other, as a table that nbody6-collisionless reads.

usage: python3 make_spheres.py [N [SEPARATION [PERICENTRE]]] > spheres.dat

N bodies in all (4096), half of them in each sphere, at SEPARATION (3) of each other on an orbit that would bring two
points of their masses to PERICENTRE (0.4). G = 1 and the total mass is 1. Spheres of mass 1/2 with virial radius 1/2
have the energy -1/8 each and a parabolic orbit has none: the sum is -1/4, as in N-body units. Nothing is softened here:
the spheres are a little too fast for softened forces, by a share of some (softening/scale radius)^2.
"""

import math
import random
import sys

MASS, VIRIAL_RADIUS = 0.5, 0.5  # of each sphere


def direction(length):
    """A vector of this length in a random direction."""
    z, angle = random.uniform(-1, 1), random.uniform(0, 2 * math.pi)
    s = math.sqrt(1 - z * z)
    return [length * s * math.cos(angle), length * s * math.sin(angle), length * z]


def plummer(n):
    """Positions and velocities [n][6] of a Plummer sphere at rest at the origin (Aarseth, Henon & Wielen 1974)."""
    scale = 3 * math.pi / 16 * VIRIAL_RADIUS
    unit_v = math.sqrt(MASS / scale)
    bodies = []
    while len(bodies) < n:
        r = 1 / math.sqrt(random.uniform(1e-10, 1)**(-2 / 3) - 1)
        if r > 20:
            continue  # 0.4 per cent of the mass
        q, g = 0, 0.1
        while g > q * q * (1 - q * q)**3.5:
            q, g = random.random(), random.uniform(0, 0.1)
        speed = q * math.sqrt(2) * (1 + r * r)**-0.25
        bodies.append(direction(r * scale) + direction(speed * unit_v))
    mean = [sum(body[k] for body in bodies) / n for k in range(6)]
    return [[body[k] - mean[k] for k in range(6)] for body in bodies]


def main(n=4096, separation=3.0, pericentre=0.4):
    """Relative speed sqrt(2/d), of which sqrt(2 p)/d goes sideways: v of a parabola with G and total mass 1."""
    sideways = math.sqrt(2 * pericentre) / separation
    inward = math.sqrt(2 / separation - sideways**2)
    random.seed(1)
    for side in (1, -1):
        offset = [side * u / 2 for u in (separation, 0, 0, -inward, sideways, 0)]
        for body in plummer(n // 2):
            print("%.17g" % (1 / n), *("%.9g" % (a + b) for a, b in zip(body, offset)))


if __name__ == "__main__":
    main(*[kind(word) for kind, word in zip((int, float, float), sys.argv[1:])])
