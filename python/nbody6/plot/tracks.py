"""Paths of few bodies between their snapshots. Where the polynomial that fits both ends is not to be trusted, as in
close encounters, the motion is integrated from both ends to the middle."""

import numpy as np

POINTS = 24  # of a polynomial
ETA = 0.02  # part of the shortest time scale of two bodies that a step takes: some 200 steps for a close passage
MOST_STEPS = 20000  # between two snapshots
TRUSTED = 0.02  # of the distance of two bodies: by so much fifth and third degree may differ in the middle


def forces(mass, x, v):
    """Accelerations and jerks of bodies on each other, [n][3] each, and the shortest time scale of two of them."""
    dx, dv = x[None, :, :] - x[:, None, :], v[None, :, :] - v[:, None, :]
    r2 = (dx**2).sum(axis=2)
    np.fill_diagonal(r2, np.inf)
    r3 = r2 * np.sqrt(r2)
    weight = mass[None, :] / r3
    acc = (weight[:, :, None] * dx).sum(axis=1)
    alpha = 3 * (dx * dv).sum(axis=2) / r2
    jerk = (weight[:, :, None] * (dv - alpha[:, :, None] * dx)).sum(axis=1)
    v2 = (dv**2).sum(axis=2)
    with np.errstate(divide="ignore"):
        scale = min(np.sqrt((r3 / (mass[None, :] + mass[:, None])).min()), np.sqrt((r2 / np.maximum(v2, 1e-300)).min()))
    return acc, jerk, scale


def integrate(mass, x, v, dt):
    """Fourth-order Hermite steps of one length for all (Makino & Aarseth 1992), over dt, which may be negative.

    Returns times [steps + 1] from 0 to dt, positions [n][steps + 1][3]; None: it took too many steps.
    """
    t, times, path = 0.0, [0.0], [x]
    acc, jerk, scale = forces(mass, x, v)
    while abs(t) < abs(dt):
        if len(times) > MOST_STEPS:
            return None
        h = np.sign(dt) * min(ETA * scale, abs(dt) - abs(t))
        xp = x + h * v + h**2 / 2 * acc + h**3 / 6 * jerk
        vp = v + h * acc + h**2 / 2 * jerk
        for _ in range(2):  # corrected twice, the step is nearly symmetric in time
            acc1, jerk1, scale = forces(mass, xp, vp)
            vp = v + h / 2 * (acc + acc1) + h**2 / 12 * (jerk - jerk1)
            xp = x + h / 2 * (v + vp) + h**2 / 12 * (acc - acc1)
        x, v, acc, jerk, t = xp, vp, acc1, jerk1, t + h if abs(dt) - abs(t) > abs(h) else dt
        times.append(t)
        path.append(x)
    return np.array(times), np.stack(path, axis=1)


def polynomials(ends, h, s):
    """Cubic and, if accelerations are known (else None), quintic through both ends: [n][s][3] each.   ends: xa, xb, va,
    vb, acca, accb of [n][3]; h: time between them; s: [points], from 0 to 1"""
    s = np.asarray(s)[None, :, None]
    xa, xb, va, vb = (q[:, None, :] for q in (ends[0], ends[1], ends[2] * h, ends[3] * h))
    cubic = (1 + 2 * s) * (1 - s)**2 * xa + s * (1 - s)**2 * va + s**2 * (3 - 2 * s) * xb + s**2 * (s - 1) * vb
    if ends[4] is None or ends[5] is None:
        return cubic, None
    # Second derivatives of the cubic at both ends are what is missing.
    da = (ends[4] * h * h)[:, None, :] - (6 * (xb - xa) - 4 * va - 2 * vb)
    db = (ends[5] * h * h)[:, None, :] - (-6 * (xb - xa) + 2 * va + 4 * vb)
    return cubic, cubic + s**2 * (1 - s)**3 * da / 2 + s**3 * (1 - s)**2 * db / 2


def is_trusted(cubic, quintic):
    """Whether the two agree in the middle, measured by the distance between the bodies there."""
    if quintic is None or len(cubic) < 2:
        return quintic is not None or len(cubic) < 2
    middle = cubic.shape[1] // 2
    apart = quintic[:, None, middle] - quintic[None, :, middle]
    distance = np.sqrt((apart**2).sum(axis=2))
    np.fill_diagonal(distance, np.inf)
    return bool((np.sqrt(((quintic - cubic)[:, middle]**2).sum(axis=1)) < TRUSTED * distance.min(axis=1)).all())


def between(mass, ends, h, points=POINTS):
    """Path from one snapshot to the next, without its last point: times from 0 [m], positions [n][m][3]."""
    s = np.linspace(0, 1, points, endpoint=False)
    cubic, quintic = polynomials(ends, h, s)
    best = cubic if quintic is None else quintic
    if is_trusted(cubic, quintic):
        return s * h, best
    forward, backward = integrate(mass, ends[0], ends[2], h / 2), integrate(mass, ends[1], ends[3], -h / 2)
    if forward is None or backward is None:
        return s * h, cubic
    path = np.concatenate([forward[1], backward[1][:, -2:0:-1]], axis=1)
    gap = np.sqrt(((forward[1][:, -1] - backward[1][:, -1])**2).sum(axis=1)).max()
    length = np.sqrt((np.diff(path, axis=1)**2).sum(axis=2)).sum(axis=1).max()
    if gap > 0.05 * length:  # something else acts on them, such as a galaxy: a smooth line is the better guess
        return s * h, cubic
    return np.concatenate([forward[0], h + backward[0][-2:0:-1]]), path


def tracks(snapshots, points=POINTS):
    """Paths [n][steps][3] of the bodies that all snapshots have, their times [steps], and their names."""
    names = sorted(set.intersection(*(set(s.name.tolist()) for s in snapshots)))
    index = []
    for snapshot in snapshots:
        place = {name: k for k, name in enumerate(snapshot.name.tolist())}
        index.append([place[name] for name in names])
    path, times = [], []
    for a, b, ia, ib in zip(snapshots[:-1], snapshots[1:], index[:-1], index[1:]):
        known = a.acc is not None and b.acc is not None
        ends = a.x[ia], b.x[ib], a.v[ia], b.v[ib], a.acc[ia] if known else None, b.acc[ib] if known else None
        t, step = between(a.mass[ia], ends, b.t - a.t, points)
        path.append(step)
        times.append(a.t + t)
    path.append(snapshots[-1].x[index[-1]][:, None, :])
    times.append(np.array([snapshots[-1].t]))
    return np.concatenate(path, axis=1), np.concatenate(times), names
