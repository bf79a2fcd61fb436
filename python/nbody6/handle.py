"""The handle of a simulation of the library: it refuses calls after it is closed, from another thread while it
works, or in a child that was made by fork."""

import os
import threading

from . import library

_process = None  # in which the library has made a simulation first
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
    """One nb6_script. `with handle as script:` has the pointer for the library; calls from within callbacks nest.

    Raises ValueError: closed; RuntimeError: another thread uses it, or it belongs to the parent of this process.
    """

    def __init__(self):
        global _process
        self._script, self._depth, self._lock = None, 0, threading.RLock()
        self._owner = os.getpid()
        script = library.library().nb6_script_create()
        if not script:
            raise MemoryError("no memory for a simulation")
        self._script, _process = script, _process or self._owner

    def check_process(self):
        """Raises RuntimeError: the simulation is that of another process."""
        if os.getpid() != self._owner:
            raise RuntimeError("the simulation belongs to process %d, of which this one is a fork: make one here, or "
                               "let Simulation.restore read a checkpoint of it" % self._owner)

    def __enter__(self):
        self.check_process()
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("another thread uses the simulation now: one thread at a time")
        if not self._script:
            self._lock.release()
            raise ValueError("the simulation is closed")
        self._depth += 1
        return self._script

    def __exit__(self, *_):
        self._depth -= 1
        self._lock.release()

    def close(self):
        """Frees the simulation; nothing if that is done.   Raises RuntimeError: it is at work."""
        if os.getpid() != self._owner:
            self._script = None  # its memory goes with this process: to free it would take the threads of the parent
            return
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("close: another thread uses the simulation now")
        try:
            if self._depth:
                raise RuntimeError("close: the simulation is at work: not within a callback")
            script, self._script = self._script, None
            if script:
                library.library().nb6_script_free(script)
        finally:
            self._lock.release()
