"""SSE for tests/cli/long_stellar_oracles.py: the routine evolv1 of a library that is built from the Fortran sources of
amuse-sse. Jobs and answers are those of oracle_cosmic.py; the flags are pts1, pts2 and pts3."""

import ctypes
import json
import sys

INTEGER, REAL8 = ctypes.c_int, ctypes.c_double
ROWS = 50000  # of scm in COMMON /SINGLE/, which has 14 columns of single precision


def call(routine, *arguments):
    routine(*[ctypes.byref(value) for value in arguments])


class Sse:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.rows = (ctypes.c_float * (ROWS * 14)).in_dll(self.library, "single_")
        self.metallicity = (REAL8 * 21).in_dll(self.library, "sse_init_")  # z, zpars(20)

    def set(self, z, flags):
        """Reimers 0.5, helium stars 0.5, no kicks; types of remnants and cooling as LEVEL A."""
        integers = [INTEGER(value) for value in (0, 1, 0, 1)]  # ifflag, wdflag, bhflag, nsflag
        call(self.library.initialize_, REAL8(z), REAL8(0.5), REAL8(0), REAL8(0.5), REAL8(0), *integers, REAL8(2.5),
             *[REAL8(flags[name]) for name in ("pts1", "pts2", "pts3")], INTEGER())

    def evolve(self, mass, end, dtp):
        """The state at the end. All steps are in self.rows if dtp is 0."""
        state = [REAL8(value) for value in (mass, mass) + (0,) * 10 + (end, dtp)]
        kind = INTEGER(0 if mass < 0.7 else 1)
        call(self.library.evolv1_, kind, *state, REAL8.from_buffer(self.metallicity),
             REAL8.from_buffer(self.metallicity, 8))
        return [kind.value, state[11].value, state[1].value, state[3].value, state[2].value]

    def star(self, mass, end):
        last = self.evolve(mass, end, 0)
        begins, i = [], 0
        while self.rows[i] >= 0:
            kind = int(self.rows[ROWS + i])
            if not begins or kind != begins[-1][0]:
                begins.append([kind, self.rows[i], self.rows[3 * ROWS + i], 10 ** self.rows[4 * ROWS + i],
                               10 ** self.rows[5 * ROWS + i]])
            i += 1
        return {"begins": begins, "end": last}


def main():
    sse, found = Sse(sys.argv[2]), []
    for flags, z, masses, ends in json.load(sys.stdin):
        sse.set(z, flags)
        found.append([sse.star(mass, end) for mass, end in zip(masses, ends)])
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
