"""Radii, profiles and distributions of a set of stars: functions of arrays, in the units of what they are given."""

import numpy as np


def mean(values, weights):
    """Weighted mean over the first axis; the plain one where the weights are all 0."""
    return np.average(values, axis=0, weights=weights if weights.sum() > 0 else None)


def lengths(d):
    """Lengths of vectors [n][2] or [n][3], which are overwritten: [n]."""
    return np.sqrt(np.square(d, out=d).sum(axis=1))


def median_centre(x, mass):
    """Mass-weighted median of each coordinate: [3]."""
    centre = np.empty(3)
    for k in range(3):
        order = np.argsort(x[:, k], kind="stable")
        sums = np.cumsum(mass[order])
        centre[k] = x[order[np.searchsorted(sums, 0.5 * sums[-1])], k]
    return centre


def neighbour_distances(x, count):
    """Distances to the nearest `count` others, and their indices: [n][count], [n][count]. O(n log n) with scipy, else
    O(n^2) in rows of a thousand."""
    n = len(x)
    count = min(count, n - 1)
    try:
        from scipy.spatial import cKDTree
        distance, index = cKDTree(x).query(x, count + 1)
        return distance[:, 1:], index[:, 1:]
    except ImportError:
        pass
    distances, indices = np.empty((n, count)), np.empty((n, count), dtype=int)
    for first in range(0, n, 1000):
        rows = slice(first, min(first + 1000, n))
        r2 = ((x[rows, None, :] - x[None, :, :])**2).sum(axis=2)
        r2[np.arange(r2.shape[0]), np.arange(first, first + r2.shape[0])] = np.inf
        index = np.argsort(r2, axis=1, kind="stable")[:, :count]
        indices[rows], distances[rows] = index, np.sqrt(np.take_along_axis(r2, index, axis=1))
    return distances, indices


def density_centre(x, mass, neighbours=6):
    """Density centre [3], with densities from the sixth neighbour (Casertano & Hut 1985, ApJ 298, 80, eqs. II.4,
    III.3).

    Fewer stars than 20: their centre of mass."""
    if len(x) < 20:
        return mean(x, mass)
    distance, index = neighbour_distances(x, neighbours)
    inside = mass[index[:, :-1]].sum(axis=1)  # the star itself and the outermost neighbour do not count
    density = inside / np.maximum(distance[:, -1], 1e-90)**3  # whose cube is no 0 yet
    return mean(x, density)


def lagrangian_radii(r, mass, fractions):
    """Radii that hold these fractions of the mass: that of the first star with which a sum is reached.   Raises
    ValueError: a fraction is below 0 or above 1."""
    fractions = np.atleast_1d(np.asarray(fractions, dtype=float))
    wrong = fractions[~((fractions >= 0) & (fractions <= 1))]
    if wrong.size:
        raise ValueError("a fraction of the mass is from 0 to 1, and %g is not%s" % (
            wrong[0], ": %g percent is %g" % (wrong[0], wrong[0] / 100) if 1 < wrong[0] <= 100 else ""))
    if len(r) == 0:
        return np.full(len(fractions), np.nan)
    order = np.argsort(r, kind="stable")
    sums = np.cumsum(mass[order])
    place = np.searchsorted(sums, np.asarray(fractions) * sums[-1] * (1 - 1e-12))
    return r[order[np.minimum(place, len(r) - 1)]]


def relaxation_time(n, mass, r_half):
    """Half-mass relaxation time 0.138 n r_h^(3/2) / (m^(1/2) ln(0.11 n)) of n > 9 stars of total mass m, with G = 1
    (Spitzer 1987, eq. 2-63; the factor in the logarithm by Giersz & Heggie 1994, MNRAS 268, 257)."""
    return 0.138 * n * r_half**1.5 / (np.sqrt(mass) * np.log(0.11 * n))


def shells(r, per_shell):
    """Stars in the order of their distance, cut into shells of equal numbers: a list of arrays of indices."""
    order = np.argsort(r, kind="stable")
    return np.array_split(order, max(1, len(r) // per_shell))


def density_profile(r, mass, per_shell=50, projected=False):
    """Density in shells (or rings) of equal numbers of stars.

    r: distances from the centre, [n] (or projected ones).   Returns radius (median of the shell), mass density, number
    density, relative error of one standard deviation (Poisson), each [shells].
    """
    radius, rho, number, error, inner = [], [], [], [], 0.0
    for shell in shells(r, per_shell):
        outer = r[shell].max()
        size = np.pi * (outer**2 - inner**2) if projected else 4 / 3 * np.pi * (outer**3 - inner**3)
        if size > 0:
            radius.append(np.median(r[shell]))
            rho.append(mass[shell].sum() / size)
            number.append(len(shell) / size)
            error.append(1 / np.sqrt(len(shell)))
        inner = outer
    return tuple(np.array(a) for a in (radius, rho, number, error))


def dispersion_profile(r, v, per_shell=50):
    """Velocity dispersion of one component in shells of equal numbers.

    v: [n] one component (along the line of sight), or [n][3]: the root of a third of the trace.   Returns radius,
    sigma, its standard deviation, each [shells].
    """
    radius, sigma, error = [], [], []
    for shell in shells(r, per_shell):
        part = v[shell].reshape(len(shell), -1)
        degrees = (len(shell) - 1) * part.shape[1]
        if degrees > 0:
            s = np.sqrt(((part - part.mean(axis=0))**2).sum() / degrees)
            radius.append(np.median(r[shell]))
            sigma.append(s)
            error.append(s / np.sqrt(2 * degrees))
    return np.array(radius), np.array(sigma), np.array(error)


def anisotropy_profile(x, v, per_shell=50):
    """beta = 1 - (variance across the radius)/2 / (variance along it) in shells of equal numbers: 0 is isotropic, 1 has
    radial motion alone; rotation counts as motion across.

    x, v: [n][3] relative to the centre and its motion.   Returns radius, beta, its standard deviation (of variances of
    normal velocities), each [shells].
    """
    r = np.sqrt((x**2).sum(axis=1))
    radius, beta, error = [], [], []
    for shell in shells(r, per_shell):
        shell = shell[r[shell] > 0]
        if len(shell) < 3:
            continue
        unit = x[shell] / r[shell, None]
        along = (v[shell] * unit).sum(axis=1)
        across = v[shell] - along[:, None] * unit
        variance = along.var()
        if variance > 0:
            ratio = (across**2).sum(axis=1).mean() / (2 * variance)
            radius.append(np.median(r[shell]))
            beta.append(1 - ratio)
            error.append(ratio * np.sqrt(3 / len(shell)))
    return np.array(radius), np.array(beta), np.array(error)


def mass_function(mass, bins=12):
    """dN/dlog10(m) in equal logarithmic bins: edges [bins + 1], dN/dlog10 m, standard deviation (Poisson)."""
    good = mass[mass > 0]
    if len(good) == 0 or good.max() <= good.min() * (1 + 1e-9):
        raise ValueError("all stars have the same mass: there is no mass function")
    edges = np.geomspace(good.min() * (1 - 1e-12), good.max() * (1 + 1e-12), bins + 1)
    counts, _ = np.histogram(good, edges)
    width = np.log10(edges[1] / edges[0])
    return edges, counts / width, np.sqrt(counts) / width


def spanning_tree_length(x):
    """Length of the minimum spanning tree of points [n][d] (Prim 1957), O(n^2)."""
    n = len(x)
    nearest = np.full(n, np.inf)
    outside = np.ones(n, dtype=bool)
    length, current = 0.0, 0
    for _ in range(n - 1):
        outside[current] = False
        nearest = np.minimum(nearest, np.sqrt(((x - x[current])**2).sum(axis=1)))
        current = int(np.argmin(np.where(outside, nearest, np.inf)))
        length += nearest[current]
    return length


def mass_segregation_ratio(x, mass, n_massive=20, samples=200, seed=1):
    """Lambda_MSR and its standard deviation: mean length of the minimum spanning trees of random stars over that of the
    n_massive most massive ones (Allison et al. 2009, MNRAS 395, 1449, eq. 1). 1: no segregation; above: massive stars
    are closer together.

    x: [n][2] or [n][3]; the same seed gives the same samples.
    """
    if not 2 <= n_massive < len(x):
        raise ValueError("n_massive = %d: at least 2 and fewer than the %d stars" % (n_massive, len(x)))
    random = np.random.default_rng(seed)
    massive = spanning_tree_length(x[np.argsort(-mass, kind="stable")[:n_massive]])
    lengths = np.array([spanning_tree_length(x[random.choice(len(x), n_massive, replace=False)])
                        for _ in range(samples)])
    return lengths.mean() / massive, lengths.std() / massive


def mass_groups(mass, groups=3):
    """Stars by mass: `groups` lists of indices of equal numbers from light to heavy, or one list if masses are
    equal."""
    if mass.max() <= 1.5 * max(mass.min(), 1e-300) or len(mass) < 10 * groups:
        return [np.arange(len(mass))]
    return np.array_split(np.argsort(mass, kind="stable"), groups)
