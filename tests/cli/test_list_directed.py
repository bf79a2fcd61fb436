#!/usr/bin/python3
"""Positional input is read as Fortran reads it: the same numbers, written with commas, repeat counts, null values,
slashes and line ends at random, by a Fortran program and by the command."""

import os
import random
import re
import shutil
import subprocess
import unittest

from run_support import NBODY6, RunTest

# Records and their values. An element with a null value keeps the mark.
RECORDS = [
    (["KSTART", "TCOMP"], ["1", "10.0"]),
    (["N", "NFIX", "NCRIT", "NRAND", "NNBMAX", "NRUN"], ["100", "1", "10", "7", "40", "1"]),
    (["ETAI", "ETAR", "RS0", "DTADJ", "DELTAT", "TCRIT", "QE", "RBAR", "ZMBAR"],
     ["0.02", "2.D-2", "0.02", ".5", "+5d-1", "2", "2.0E-4", "1.5e0", "0.6"]),
    (["KZ(%d)" % k for k in range(1, 51)],
     "0 0 1 0 1 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 0 0 2 0 0 2 0 0 0 1 1 1 1 0 1 0 1 1 1 0 0 0 0 0 0 0 0 0 0 0".split()),
    (["DTMIN", "RMIN", "ETAU", "ECLOSE", "GMIN", "GMAX"], ["2-5", "1d-03", "0.2", "1.0", "1.0E-06", "0.001"]),
    (["ALPHAS", "BODY1", "BODYN", "NBIN0", "NHI0", "ZMET", "EPOCH0", "DTPLOT"],
     ["2.3", "10", "0.1", "0", "0", "0.02", "0.0", "0."]),
    (["Q", "VXROT", "VZROT", "RTIDE", "SMAX"], ["0.5", "0", "0", "0", "0.25"]),
]
MAY_BE_NULL = {"RS0", "QE", "ECLOSE", "GMIN", "GMAX", "ETAU", "DTPLOT", "ZMET", "EPOCH0", "NRUN", "VXROT", "VZROT",
               "RTIDE", "NHI0", "SMAX", "DTADJ", "DELTAT"}
MARK = -77

PROGRAM = """
program read_records
    implicit none
    integer, parameter :: mark = %d
    %s
    %s
end program
"""


def make_program():
    declarations, statements = [], []
    for names, _ in RECORDS:
        if names[0] == "KZ(1)":
            declarations.append("integer :: kz(50) = 0")
            statements.append("read (*, *) kz")
            statements.append("print '(i0)', kz")
            continue
        for name in names:
            kind = "integer" if name[0] in "IJKLMN" else "real(8)"
            declarations.append("%s :: %s = mark" % (kind, name))
        statements.append("read (*, *) " + ", ".join(names))
        statements += ["print '(%s)', %s" % ("i0" if name[0] in "IJKLMN" else "es24.16", name) for name in names]
    return PROGRAM % (MARK, "\n    ".join(declarations), "\n    ".join(statements))


def write_record(draw, names, values):
    """One record in some of the ways in which Fortran would read it."""
    values = [None if names[k] in MAY_BE_NULL | set(names if names[0] == "KZ(1)" else ()) and draw.random() < 0.1 else v
              for k, v in enumerate(values)]
    end = len(values)
    closed = draw.random() < 0.15
    while closed and end > 0 and (values[end - 1] is None or names[end - 1] in MAY_BE_NULL):
        end -= 1
    text, k = "", 0
    while k < end:
        same = 1
        while k + same < end and values[k + same] == values[k]:
            same += 1
        count = draw.randint(1, same) if draw.random() < 0.4 else 1
        word = values[k]
        if word is not None:
            text += "%d*%s" % (count, word) if count > 1 or draw.random() < 0.05 else word
        elif count > 1:
            text += "%d*" % count
        k += count
        if k == end:
            text += "," if word is None and count == 1 else ""
            break
        blank = draw.choice([" ", "  ", "\t", " \t "])
        ends_here = draw.random() < 0.06 and names[k] != "SMAX"
        if word is None and count == 1 or values[k] is None or draw.random() < 0.4:
            text += draw.choice(["", blank]) + "," + draw.choice(["", blank])
        else:
            text += blank
        if ends_here:
            text += draw.choice(["\n", " \n\n", "\r\n"])
    tail = [" / 5 6", "/", " /\n"] if closed else ["\n", " \n", ", 3 4 more\n", " words of a person\n", "\n\n", "\r\n"]
    return text + draw.choice(tail).rstrip("\n") + "\n"


class ListDirected(RunTest):
    def fortran(self, text):
        done = subprocess.run([self.path("oracle")], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr + "\n" + text)
        names = [name for names, _ in RECORDS for name in names]
        return {name: float(value) for name, value in zip(names, done.stdout.split()) if float(value) != MARK}

    def command(self, text):
        with open(self.path("a.inp"), "w", newline="") as file:
            file.write(text)
        done = subprocess.run([NBODY6, "--to-namelist", "a.inp"], cwd=self.folder, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr + "\n" + text)
        values = dict(re.findall(r"^  (\w+)=(\S+)", done.stdout, re.M))
        for first, numbers in re.findall(r"^  KZ\((\d+):\d+\)=(\S+)", done.stdout, re.M):
            values.update({"KZ(%d)" % (int(first) + k): v for k, v in enumerate(numbers.split(","))})
        values = {name: float(value) for name, value in values.items()}
        values["TCOMP"] /= 60  # minutes there, seconds here
        values.pop("NNBOPT", None)
        return values

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not there")
    def test_as_fortran(self):
        with open(self.path("oracle.f90"), "w") as file:
            file.write(make_program())
        subprocess.run(["gfortran", "-o", self.path("oracle"), self.path("oracle.f90")], check=True)
        for seed in range(300):
            draw = random.Random(seed)
            text = "".join(write_record(draw, names, values) for names, values in RECORDS)
            with self.subTest(seed):
                self.assertEqual(self.command(text), self.fortran(text), text)


if __name__ == "__main__":
    unittest.main()
