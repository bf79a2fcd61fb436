#!/usr/bin/env python3
"""Writes kepler_table.inc: two-body motion computed with 120 digits, for tests/unit/test_kepler.c.

    python3 tests/data/kepler_table.py > tests/data/kepler_table.inc

Needs mpmath. Each line: a label; mass, dt, x[3], v[3] as exact doubles (hexadecimal); x[3], v[3] after dt with 50 digits; the
conditions of x and of v: the sum over the eight inputs of |d result/d input| |input|, plus |result|. No program can do better
than about 2^-53 of that, because inputs are doubles.
"""
import math
import random
from mpmath import mp, mpf

mp.dps = 120


def norm(a):
    return mp.sqrt(sum(c * c for c in a))


def stumpff(z):
    """c_0 .. c_3; the series where the closed forms lose digits."""
    if abs(z) < mpf(10) ** -3:
        c = []
        for n in range(4):
            term, total, k = mpf(1) / mp.factorial(n), mpf(0), 0
            while abs(term) > mpf(10) ** -100:
                total += term
                k += 1
                term *= -z / ((n + 2 * k - 1) * (n + 2 * k))
            c.append(total + term)
        return c
    q = mp.sqrt(abs(z))
    if z > 0:
        c0, c1 = mp.cos(q), mp.sin(q) / q
    else:
        c0, c1 = mp.cosh(q), mp.sinh(q) / q
    return [c0, c1, (1 - c0) / z, (1 - c1) / z]


def advance(mass, dt, x, v):
    r0, sigma = norm(x), sum(a * b for a, b in zip(x, v))
    beta = 2 * mass / r0 - sum(c * c for c in v)
    if beta > 0:
        period = 2 * mp.pi * mass / beta ** mpf(1.5)
        dt -= period * mp.nint(dt / period)

    def terms(s):
        c = stumpff(beta * s * s)
        t = s * (r0 * c[1] + s * (sigma * c[2] + s * mass * c[3]))
        r = r0 * c[0] + s * (sigma * c[1] + s * mass * c[2])
        return t, r, c

    lo = hi = mpf(0)
    step = abs(dt) / r0 * mpf(10) ** -12
    if dt >= 0:
        while terms(hi)[0] < dt:
            lo, hi, step = hi, hi + step, 2 * step
    else:
        while terms(lo)[0] > dt:
            hi, lo, step = lo, lo - step, 2 * step
    s = (lo + hi) / 2
    for _ in range(2000):
        t, r, _c = terms(s)
        if t < dt:
            lo = s
        else:
            hi = s
        new = s - (t - dt) / r
        if abs(new - s) <= mpf(10) ** -70 * abs(s):
            break
        near = (hi - lo) * mp.sqrt(abs(beta)) < mpf('0.1') or beta == 0
        s = new if near and lo < new < hi else (lo + hi) / 2
    else:
        raise RuntimeError('no convergence')
    t, r, c = terms(s)
    f, g = 1 - mass * s * s * c[2] / r0, r0 * s * c[1] + sigma * s * s * c[2]
    fd, gd = -mass * s * c[1] / (r * r0), 1 - mass * s * s * c[2] / r
    return [f * a + g * b for a, b in zip(x, v)], [fd * a + gd * b for a, b in zip(x, v)]


def row(label, mass, dt, x, v):
    inputs = [float(mass), float(dt)] + [float(c) for c in x] + [float(c) for c in v]

    def result(values):
        return advance(values[0], values[1], values[2:5], values[5:8])

    exact = [mpf(c) for c in inputs]
    x1, v1 = result(exact)
    cond_x, cond_v = norm(x1), norm(v1)
    delta = mpf(10) ** -36
    for i in range(8):
        if exact[i] == 0:
            continue
        moved = list(exact)
        moved[i] *= 1 + delta
        xm, vm = result(moved)
        cond_x += norm([a - b for a, b in zip(xm, x1)]) / delta
        cond_v += norm([a - b for a, b in zip(vm, v1)]) / delta
    given = ', '.join(c.hex() for c in inputs)
    found = ', '.join(mp.nstr(c, 50, min_fixed=0, max_fixed=0) + 'L' for c in x1 + v1)
    print(f'{{"{label}", {{{given}}}, {{{found}}}, {mp.nstr(cond_x, 6)}, {mp.nstr(cond_v, 6)}}},')


def rotation(rng):
    """A random right-handed frame."""
    a = [rng.gauss(0, 1) for _ in range(3)]
    b = [rng.gauss(0, 1) for _ in range(3)]
    n = math.sqrt(sum(c * c for c in a))
    a = [c / n for c in a]
    d = sum(p * q for p, q in zip(a, b))
    b = [q - d * p for p, q in zip(a, b)]
    n = math.sqrt(sum(c * c for c in b))
    return a, [c / n for c in b]


def conic(rng, mass, a, e, anomaly):
    """State on a conic from the eccentric or hyperbolic anomaly; one_minus_e would be lost in a double e near 1."""
    e = mpf(e)
    a = mpf(a)
    if e < 1:
        r = a * (1 - e * mp.cos(anomaly))
        n = mp.sqrt(mass / a ** 3)
        x, y = a * (mp.cos(anomaly) - e), a * mp.sqrt(1 - e * e) * mp.sin(anomaly)
        vx, vy = -n * a * a / r * mp.sin(anomaly), n * a * a / r * mp.sqrt(1 - e * e) * mp.cos(anomaly)
    else:
        r = a * (e * mp.cosh(anomaly) - 1)
        n = mp.sqrt(mass / a ** 3)
        x, y = a * (e - mp.cosh(anomaly)), a * mp.sqrt(e * e - 1) * mp.sinh(anomaly)
        vx, vy = -n * a * a / r * mp.sinh(anomaly), n * a * a / r * mp.sqrt(e * e - 1) * mp.cosh(anomaly)
    p, q = rotation(rng)
    period = 2 * mp.pi / n
    return [x * s + y * t for s, t in zip(p, q)], [vx * s + vy * t for s, t in zip(p, q)], period


def main():
    rng = random.Random(5)
    print('/* Made by tests/data/kepler_table.py: label, {mass, dt, x[3], v[3]}, {x[3], v[3] after dt}, conditions of x, v */')
    spans = ['1e-12', '1e-6', '1e-2', '0.3', '-0.3', '0.5', '0.999', '1', '17.37', '-1e3', '1e6']
    for text in ['0', '0.3', '0.9', '0.99', '1-1e-4', '1-1e-6', '1-1e-8', '1-1e-10']:
        e = 1 - mpf(text[2:]) if text.startswith('1-') else mpf(text)
        for anomaly in ['0', '0.02', '1.2', '3.14159', '-2']:
            for span in spans:
                if rng.random() < 0.45:
                    continue
                mass, a = mpf(10) ** rng.uniform(-3, 3), mpf(10) ** rng.uniform(-6, 2)
                x, v, period = conic(rng, mass, a, e, mpf(anomaly))
                row(f'e={text}/E={anomaly}/dt={span}P', mass, mpf(span) * period, x, v)
    for text in ['1+1e-10', '1+1e-6', '1.01', '1.5', '10', '1e4']:
        e = 1 + mpf(text[2:]) if text.startswith('1+') else mpf(text)
        for anomaly in ['0', '0.02', '1.2', '-1.2', '-4']:
            for span in ['1e-12', '1e-3', '0.3', '-0.3', '5', '1e3', '1e6']:
                if rng.random() < 0.5:
                    continue
                mass, a = mpf(10) ** rng.uniform(-3, 3), mpf(10) ** rng.uniform(-6, 2)
                x, v, unit = conic(rng, mass, a, e, mpf(anomaly))
                row(f'e={text}/F={anomaly}/dt={span}', mass, mpf(span) * unit, x, v)
    # Exact parabolas, radial ones among them: mass 1, r = 2, v = 1 and r = 1/2, v = 2
    for x, v in [((2, 0, 0), (0, 1, 0)), ((0, 2, 0), (0, 1, 0)), ((0.5, 0, 0), (0, 0, 2)), ((0, 0, 0.5), (2, 0, 0)),
                 ((2, 0, 0), (0.6, 0.8, 0)), ((2, 0, 0), (-0.6, 0.8, 0))]:
        for dt in [1e-12, 1e-3, 0.3, -0.4, 10, 1e6]:
            row('parabola', 1, dt, x, v)
    # Radial ellipse and hyperbola, outwards
    for dt in [1e-9, 0.2, 0.7]:
        row('radial-ellipse', 1, dt, (1, 0, 0), (0.5, 0, 0))
        row('radial-hyperbola', 1, dt * 1e3, (0, 1, 0), (0, 2.5, 0))


main()
