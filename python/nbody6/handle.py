"""Handles of objects of the library: they refuse calls after they are closed, from another thread while they work, or
in a child that was made by fork."""

import os
import threading

from . import library

_process = None  # in which the library has made an object first
_forked = False  # whether this process is a child by fork of one that had


def _after_fork():
    """Lets the child use one thread: it has none of its parent's threads, but OpenMP still counts on them, so that a
    team of more than one thread would wait for ever."""
    global _forked
    if _process is not None:
        _forked = True
        library.library().omp_set_num_threads(1)


os.register_at_fork(after_in_child=_after_fork)


def is_forked():
    """Whether this process is a child by fork of one that has used the library."""
    return _forked


class Handle:
    """An object of the library, of this process, that one thread uses at a time. `with handle as pointer:` has the
    pointer for the library; calls from within callbacks nest.

    Raises ValueError: closed; RuntimeError: another thread uses it, or it belongs to the parent of this process.
    """

    kind = "object"
    instead = "make one here"  # for a child that was made by fork

    def __init__(self, *arguments):
        global _process
        self._pointer, self._depth, self._lock = None, 0, threading.RLock()
        self._owner = os.getpid()
        self._pointer, _process = self.create(*arguments), _process or self._owner

    def create(self, *arguments):
        """The pointer of a new object."""
        raise NotImplementedError

    def free(self, pointer):
        """Frees the object."""
        raise NotImplementedError

    def check_process(self):
        """Raises RuntimeError: the object is that of another process."""
        if os.getpid() != self._owner:
            raise RuntimeError("the %s belongs to process %d, of which this one is a fork: %s" % (
                self.kind, self._owner, self.instead))

    def __enter__(self):
        self.check_process()
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("another thread uses the %s now: one thread at a time" % self.kind)
        if not self._pointer:
            self._lock.release()
            raise ValueError("the %s is closed" % self.kind)
        self._depth += 1
        return self._pointer

    def __exit__(self, *_):
        self._depth -= 1
        self._lock.release()

    def close(self):
        """Frees the object; nothing if that is done.   Raises RuntimeError: it is at work."""
        if os.getpid() != self._owner:
            self._pointer = None  # its memory goes with this process: to free it would take the threads of the parent
            return
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("close: another thread uses the %s now" % self.kind)
        try:
            if self._depth:
                raise RuntimeError("close: the %s is at work: not within a callback" % self.kind)
            pointer, self._pointer = self._pointer, None
            if pointer:
                self.free(pointer)
        finally:
            self._lock.release()


class SimulationHandle(Handle):
    """One nb6_script."""

    kind = "simulation"
    instead = "make one here, or let Simulation.restore read a checkpoint of it"

    def create(self):
        script = library.library().nb6_script_create()
        if not script:
            raise MemoryError("no memory for a simulation")
        return script

    def free(self, pointer):
        library.library().nb6_script_free(pointer)
