"""Softened forces and potentials of arrays of bodies, by direct sums or by a tree (docs/algorithms/tree.md).

    a_i = sum_j m_j r_ij / (r_ij^2 + softening^2)^(3/2),   phi_i = -sum_j m_j / (r_ij^2 + softening^2)^(1/2)

with r_ij = x_j - x_i and G = 1, in the units of the arguments. A body has no term of its own. The library uses all
threads that OMP_NUM_THREADS allows; results do not depend on their number.
"""

import ctypes

import numpy as np

from . import library
from .handle import Handle
from .names import Names

# enum gpunb_walk
WALKS = {None: 0, "groups": 1, "treecode": 1, "single": 2, "one-by-one-i": 3, "one-by-one-j": 4, "hybrid": 5, "fmm": 6}


class _ForceHandle(Handle):
    """One gpunb_t, and its tree if there is one."""

    kind = "tree"

    def create(self, n, options):
        self.tree, handle = ctypes.c_void_p(), ctypes.c_void_p()
        library.call("gpunb_create", ctypes.byref(handle), n, ctypes.byref(options))
        return handle.value

    def free(self, pointer):
        library.library().gpunb_tree_free(self.tree)
        library.library().gpunb_free(pointer)

    @staticmethod
    def call(name, pointer, *arguments):
        """Call a function that returns a status.   Raises SimulationError with the text of the library."""
        status = getattr(library.library(), name)(pointer, *arguments)
        library.check(name, status, library.library().gpunb_last_error(pointer) if status else b"")

    def send(self, pointer, bodies):
        self.call("gpunb_send_positions", pointer, bodies.n, *map(library.pointer, (bodies.mass, bodies.x)))


class _Bodies:
    """Checked masses [n] and positions [n][3].   Raises ValueError."""

    def __init__(self, mass, x):
        self.mass, self.x = (np.array(values, dtype=float, order="C") for values in (mass, x))
        self.n = self.mass.shape[0] if self.mass.ndim == 1 else 0
        for name, array, shape in (("mass", self.mass, (self.n,)), ("x", self.x, (self.n, 3))):
            if array.shape != shape:
                raise ValueError("%s has the shape %s; for %d masses it is %s" % (name, array.shape, self.n, shape))


class _Job:
    """Targets of a force, and room for it; it keeps the arrays that the struct points to.   Raises ValueError."""

    def __init__(self, bodies, softening, targets, acc_last, potential):
        self.x, self.own = self._places(bodies, targets)
        n = len(self.x)
        if acc_last is not None:
            acc_last = np.ascontiguousarray(acc_last, dtype=float)
            if acc_last.shape != (n, 3):
                raise ValueError("acc_last has the shape %s; for %d targets it is (%d, 3)" % (acc_last.shape, n, n))
        self.acc_last, self.acc = acc_last, np.empty((n, 3))
        self.pot = np.empty(n) if potential else None
        self.struct = library.ForceJob(n, library.pointer(self.x), library.pointer(self.own), float(softening),
                                       *map(library.pointer, (self.acc_last, self.acc, self.pot)))

    @staticmethod
    def _places(bodies, targets):
        """Positions of the targets, and which bodies they are; None: they are none."""
        if targets is None:
            return bodies.x, np.arange(bodies.n, dtype=np.int32)
        targets = np.asarray(targets)
        if targets.ndim == 1 and (targets.dtype.kind in "iu" or targets.size == 0):
            wrong = targets[(targets < 0) | (targets >= bodies.n)]
            if wrong.size:
                raise ValueError("targets: there is no body %d: they are 0 to %d" % (wrong[0], bodies.n - 1))
            own = np.ascontiguousarray(targets, dtype=np.int32)
            return np.ascontiguousarray(bodies.x[own]), own
        if targets.ndim != 2 or targets.shape[1] != 3:
            raise ValueError("targets have the shape %s: give numbers of bodies, [n_i] integers, or positions, "
                             "[n_i][3]" % (targets.shape,))
        return np.ascontiguousarray(targets, dtype=float), None

    def result(self):
        return self.acc if self.pot is None else (self.acc, self.pot)


def _options(force_error, theta, order, leaf, group, walk, backend):
    if walk not in WALKS:
        raise ValueError("walk = %r: there are %s" % (walk, ", ".join(filter(None, WALKS))))
    return library.ForceOptions(backend=backend.encode() if backend is not None else None, force_error=force_error,
                                theta=theta, order=order, leaf=leaf, group=group, walk=WALKS[walk])


def softened(mass, x, softening, targets=None, *, force_error=0.0, theta=0.0, order=0, leaf=0, group=0, walk=None,
             acc_last=None, potential=False, backend=None):
    """Softened accelerations, and potentials.

    mass, x: [n], [n][3] the bodies; masses of 0 are allowed, negative ones only in direct sums.
    softening: the length above, not 0.
    targets: None: all bodies; [n_i] integers: numbers of bodies, from 0; [n_i][3]: positions without bodies. A body
    at such a position has no acceleration there, but has its potential -mass/softening.
    force_error: the aim for a tree: 99 of 100 accelerations of all bodies are wrong by less than this part of
    themselves, 99 of 100 potentials by less than a tenth of it; up to 0.1. 0: direct sums, in which the typical error
    is 1e-7.
    theta: instead of force_error an angle, 0.1 to 1: cells that look smaller are taken as a whole.
    order: of the expansion of a cell, 1 to 8; 0: one that suits force_error or theta. leaf, group: most bodies of an
    undivided cell and most targets of a group; 0: those of the backend. walk: None: "hybrid", and direct sums where
    they are cheaper (nominal_pairs); "hybrid", "treecode" or "groups", "fmm", "single", "one-by-one-i", "one-by-one-j"
    (enum gpunb_walk of gpunb.h): a tree in any case, as with theta.
    acc_last: [n_i][3] accelerations of the targets a little earlier, to which force_error relates; None: the tree makes
    them first, which takes longer.
    potential: True: return the potentials as well.
    backend: "avx512", "avx2", "portable", "ref", "cuda", "cuda:0,2"; None: $GPUNB_BACKEND, else the best one.

        >>> softened([1, 4], [[0, 0, 0], [3, 0, 0]], 4, potential=True)[1].round(5).tolist()
        [-0.8, -0.2]
        >>> softened([1, 4], [[0, 0, 0], [3, 0, 0]], 4, targets=[0]).round(5).tolist()
        [[0.096, 0.0, 0.0]]

    Returns acc [n_i][3]; with potential=True acc and pot [n_i].   Raises ValueError: a shape, a number of a body, a
    walk; SimulationError: the library refuses a value, or has no memory.
    """
    options = _options(force_error, theta, order, leaf, group, walk, backend)
    bodies = _Bodies(mass, x)
    job = _Job(bodies, softening, targets, acc_last, potential)
    handle = _ForceHandle(bodies.n, options)
    try:
        with handle as pointer:
            handle.send(pointer, bodies)
            handle.call("gpunb_softened", pointer, ctypes.byref(job.struct))
    finally:
        handle.close()
    return job.result()


def nominal_pairs(n_i, n_j, *, force_error=0.0, theta=0.0, order=0, leaf=0, group=0, walk=None, backend=None):
    """Costs of a force of n_j bodies on n_i targets, in pairs of a direct sum on the same backend: (direct, by tree).

    They are nominal, so that the same call always uses the same method; arguments and errors are those of `softened`.

        >>> direct, by_tree = nominal_pairs(10**6, 10**6, force_error=1e-3)
        >>> direct, by_tree < direct / 50
        (1000000000000.0, True)
    """
    by_tree = np.empty(1)
    handle = _ForceHandle(1, _options(force_error, theta, order, leaf, group, walk, backend))
    try:
        with handle as pointer:
            direct = library.library().gpunb_softened_pairs(pointer, n_i, n_j, library.pointer(by_tree))
    finally:
        handle.close()
    return direct, float(by_tree[0])


class Tree:
    """A tree that is kept for several forces: of other targets or softenings, or after the bodies have moved.

        >>> random = np.random.default_rng(1)
        >>> mass, x = np.full(1000, 1e-3), random.normal(size=(1000, 3))
        >>> with Tree(mass, x, force_error=1e-3) as tree:
        ...     acc = tree.forces(0.05)
        ...     x += 1e-3 * random.normal(size=(1000, 3))
        ...     acc = tree.renew(x).forces(0.05, acc_last=acc)
        ...     tree.counts["builds"], tree.counts["renewals"], tree.counts["forces"], tree.counts["first_forces"]
        (1, 1, 2, 1)

    Arguments are those of `softened`; one of force_error and theta is needed. One thread uses a tree at a time.
    Raises ValueError, SimulationError as there.
    """

    def __init__(self, mass, x, *, force_error=0.0, theta=0.0, order=0, leaf=0, group=0, walk=None, backend=None):
        options = _options(force_error, theta, order, leaf, group, walk, backend)
        if not force_error and not theta:
            raise ValueError("Tree: give force_error or theta; nbody6.forces.softened makes direct sums")
        self._bodies = _Bodies(mass, x)
        self._handle = _ForceHandle(self._bodies.n, options)
        with self._handle as pointer:
            self._handle.send(pointer, self._bodies)
            self._handle.call("gpunb_tree_build", pointer, ctypes.byref(self._handle.tree))

    def renew(self, x, mass=None):
        """The bodies are at x [n][3] now, with the same masses or other ones. The cells stay those of the beginning:
        forces are as exact wherever the bodies went, but take longer the farther that is. Returns the tree."""
        bodies = _Bodies(self._bodies.mass if mass is None else mass, x)
        if bodies.n != self._bodies.n:
            raise ValueError("renew: the tree is of %d bodies, and these are %d: make a new one" % (
                self._bodies.n, bodies.n))
        with self._handle as pointer:
            self._handle.send(pointer, bodies)
            self._bodies = bodies
            self._handle.call("gpunb_tree_renew", pointer, self._handle.tree)
        return self

    def forces(self, softening, targets=None, *, acc_last=None, potential=False):
        """As softened() with the arguments of the tree."""
        job = _Job(self._bodies, softening, targets, acc_last, potential)
        with self._handle as pointer:
            self._handle.call("gpunb_tree_force", pointer, self._handle.tree, ctypes.byref(job.struct))
        return job.result()

    @property
    def n(self):
        return self._bodies.n

    @property
    def backend(self):
        """Name of the backend in use."""
        with self._handle as pointer:
            return library.library().gpunb_info(pointer).contents.name.decode()

    @property
    def least_error(self):
        """The least force_error that the backend takes."""
        with self._handle as pointer:
            return library.library().gpunb_tree_least_error(pointer)

    @property
    def counts(self):
        """Work since the tree was made (struct gpunb_tree_counts of gpunb/tree.h): {name: number}, and "seconds",
        {stage: seconds}, where lists, cells and pairs have those of all threads together."""
        counts = library.TreeCounts()
        with self._handle as pointer:
            library.library().gpunb_tree_get_counts(pointer, ctypes.byref(counts))
        stages = [library.library().gpunb_tree_stage_name(k).decode() for k in range(library.TREE_STAGES)]
        values = {name: getattr(counts, name) for name, _ in library.TreeCounts._fields_}
        return Names(dict(values, seconds=Names(zip(stages, counts.seconds), "stage")), "count")

    @property
    def shape(self):
        """{"cells", "depth", "largest_leaf", "bytes"}: cells, levels, bodies of the largest leaf, memory."""
        cells, leaf, size = (ctypes.c_size_t() for _ in range(3))
        depth = ctypes.c_int()
        with self._handle:
            library.library().gpunb_tree_shape(self._handle.tree, *map(ctypes.byref, (cells, depth, leaf, size)))
        return Names({"cells": cells.value, "depth": depth.value, "largest_leaf": leaf.value, "bytes": size.value},
                     "size")

    def __repr__(self):
        return "<Tree of %d bodies>" % self.n

    def close(self):
        """Frees the memory; the tree cannot be used any more.   Raises RuntimeError: another thread uses it."""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter ends, and what close needs is gone
            pass

    def __reduce_ex__(self, protocol):
        raise TypeError("a tree is not copied or pickled: make another one")
