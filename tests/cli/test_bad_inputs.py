#!/usr/bin/python3
"""Bad inputs: exit code 2, one message that names file, line, quantity and remedy, and no file written."""

import os
import subprocess
import tempfile
import unittest

NBODY6 = os.path.abspath(os.path.join(os.environ.get("NB6_BUILD", "build"), "nbody6"))


AGE = "KZ(19)=3 LEVEL='A' ZMBAR=1"


def inp(numbers="", options="", rest=""):
    """A small valid input with additions: `numbers` in line 2, options in line 3, other groups from line 5."""
    return f"&ININPUT\nN=10, TCRIT=1, {numbers}\n{options}\n/\n{rest}\n"


STARS = ["0.5 1 0 0 0 0.5 0", "0.5 -1 0 0 0 -.5 0", "0.5 0 1 0 0.5 0 0"]


def data(kz=2, numbers="N=3,"):
    return f"&ININPUT\n{numbers} TCRIT=1, KZ(22)={kz} /\n"


def table(*lines):
    return {"dat.10": "\n".join(lines) + "\n"}


# (what, input file, fragments of the message, other files)
CASES = [
    # groups
    ("empty file", "", ["bad.inp:1", "no namelist group"]),
    ("only comments", "! nothing\n", ["bad.inp:1", "no namelist group"]),
    ("unknown group", inp(rest="&INPUTT N=3 /"), ["bad.inp:5", "&INPUTT", "unknown group", "ININPUT"]),
    ("unknown group, nothing near", inp(rest="&ZZTOP N=3 /"), ["bad.inp:5", "&ZZTOP", "unknown group", "--help-input"]),
    ("group twice", inp(rest="&ININPUT ETAI=0.02 /"), ["bad.inp:5", "&ININPUT", "second time", "line 1"]),
    ("group without end", "&ININPUT\nN=10\n", ["bad.inp:1", "&ININPUT", "no end", "'/'"]),
    ("next group before the end", "&ININPUT\nN=10\n\n&INDATA ALPHAS=1 /\n", ["bad.inp:4", "&INDATA", "line 1", "'/'"]),
    ("group without name", "& N=10 /\n", ["bad.inp:1", "name of a group"]),
    ("text outside of groups", inp(rest="1.0 2.0"), ["bad.inp:5", "outside of a group", "1.0 2.0"]),
    ("positional input that ends early", "1 100.0\n1000 1 10 43532 100 1\n", ["bad.inp:3", "ETAI (value 1 of 9)", "ends"]),
    # names
    ("unknown variable", inp("ETAJ=0.02"), ["bad.inp:2", "ETAJ", "unknown variable", "ETAI"]),
    ("unknown variable, nothing near", inp("QWERTYUIOP=1"), ["bad.inp:2", "QWERTYUIOP", "--help-input"]),
    ("variable of another group", inp("ALPHAS=2.3"), ["bad.inp:2", "ALPHAS", "belongs to group &INDATA"]),
    ("name without =", inp("ETAI 0.02"), ["bad.inp:2", "is a name or an '=' missing"]),
    ("first name without =", "&ININPUT\nETAI 0.02 /\n", ["bad.inp:2", "ETAI", "'=' expected"]),
    ("= doubled", inp("ETAI==0.02"), ["bad.inp:2", "ETAI", "unexpected '='"]),
    ("number for a name", "&ININPUT 5=N /\n", ["bad.inp:1", "variable's name is expected"]),
    ("variable set twice", inp("ETAI=0.01, ETAR=0.02", "ETAI=0.02"), ["bad.inp:3", "ETAI", "second time", "line 2"]),
    ("very long name", inp("A" * 80 + "=1"), ["bad.inp:2", "at most 63 characters"]),
    # values
    ("text for number", inp("ETAI=small"), ["bad.inp:2", "ETAI", "small", "a number is needed"]),
    ("quoted number", inp("ETAI='0.02'"), ["bad.inp:2", "ETAI", "a number is needed"]),
    ("NaN", inp("ETAI=NaN"), ["bad.inp:2", "ETAI", "NaN", "finite"]),
    ("infinity", inp("", "RBAR=-Infinity"), ["bad.inp:3", "RBAR", "finite"]),
    ("overflow of a real", inp("QE=1E999"), ["bad.inp:2", "QE", "too large"]),
    ("overflow of an integer", inp("NRAND=99999999999999999999"), ["bad.inp:2", "NRAND", "too large"]),
    ("real for an integer", inp("NRAND=1.5"), ["bad.inp:2", "NRAND", "1.5", "an integer is needed"]),
    ("exponent in an integer", inp("NRAND=1e3"), ["bad.inp:2", "NRAND", "1e3", "without point and exponent"]),
    ("two points", inp("ETAI=0.0.2"), ["bad.inp:2", "ETAI", "0.0.2"]),
    ("lonely point", inp("ETAI=."), ["bad.inp:2", "ETAI", "a number is needed"]),
    ("hexadecimal", inp("ETAI=0x1p-5"), ["bad.inp:2", "ETAI", "a number is needed"]),
    ("decimal comma", inp("ETAI=0,02"), ["bad.inp:2", "ETAI", "2 values"]),
    ("semicolon", inp("ETAI=0.02;"), ["bad.inp:2", "ETAI", "0.02;"]),
    ("non-ASCII value", inp("ETAI=0.0\u0662"), ["bad.inp:2", "ETAI", "a number is needed"]),
    ("open quote", inp("", "LEVEL='0"), ["bad.inp:3", "LEVEL", "closing quote"]),
    ("text too long", inp(rest="&INRUN DEVICE='" + "x" * 100 + "' /"), ["bad.inp:5", "DEVICE", "longer than"]),
    ("path too long", inp(rest="&INMODEL DATA='" + "x" * 2000 + "' /"), ["bad.inp:5", "DATA", "longer than"]),
    # arrays
    ("subscript of a scalar", inp("ETAI(2)=0.02"), ["bad.inp:2", "ETAI(2)", "no array"]),
    ("subscript beyond the end", inp("", "KZ(51)=1"), ["bad.inp:3", "KZ(51)", "1 to 50"]),
    ("subscript zero", inp("", "KZ(0)=1"), ["bad.inp:3", "KZ(0)", "1 to 50"]),
    ("descending subscripts", inp("", "KZ(10:1)=1"), ["bad.inp:3", "KZ(10:1)", "ascend"]),
    ("bad subscripts", inp("", "KZ(1,2)=1"), ["bad.inp:3", "KZ(1,2)", "(1:10)"]),
    ("too many values for a section", inp("", "KZ(1:10)=" + " 0" * 11), ["bad.inp:3", "KZ", "11 values", "10 elements"]),
    ("too few values for a section", inp("", "KZ(1:10)=" + " 0" * 9), ["bad.inp:3", "KZ(1:10)", "9 values", "10 elements"]),
    ("too many values for an array", inp("", "KZ=51*0"), ["bad.inp:3", "KZ", "51 values", "50 elements"]),
    ("zero repeat count", inp("", "KZ(1:2)=0*0 1"), ["bad.inp:3", "KZ", "repeat count"]),
    ("giant repeat count", inp("", "KZ=99999999999*0"), ["bad.inp:3", "KZ", "repeat count"]),
    # ranges
    ("N = 0", "&ININPUT\nN=0 /\n", ["bad.inp:2", "N: 0", ">= 2"]),
    ("N = 1", "&ININPUT\nN=1 /\n", ["bad.inp:2", "N: 1", ">= 2"]),
    ("N negative", "&ININPUT\nN=-5 /\n", ["bad.inp:2", "N: -5", ">= 2"]),
    ("N beyond memory", "&ININPUT\nN=2000000000 /\n", ["bad.inp:2", "N: 2000000000", "memory", "reduce N"]),
    ("a parsec of a metre", "&ININPUT\nRBAR=1E-50 /\n", ["bad.inp:2", "RBAR: 1e-50", ">= 1e-09"]),
    ("masses of nothing that exists", "&ININPUT\nZMBAR=1E50 /\n", ["bad.inp:2", "ZMBAR: 1e+50", "<= 1e+12"]),
    ("close at any distance", "&ININPUT\nN=100 RMIN=10 /\n", ["bad.inp:2", "RMIN: 10", "larger than the cluster"]),
    ("N beyond integers", "&ININPUT\nN=3000000000 /\n", ["bad.inp:2", "N: 3000000000", "out of range"]),
    ("ETAI too large", inp("ETAI=0.5"), ["bad.inp:2", "ETAI: 0.5", "<= 0.08"]),
    ("ETAI = 0", inp("ETAI=0"), ["bad.inp:2", "ETAI: 0", "> 0"]),
    ("ETAR too large", inp("ETAR=0.2"), ["bad.inp:2", "ETAR: 0.2", "<= 0.16"]),
    ("DTADJ = 0", inp("DTADJ=0.0"), ["bad.inp:2", "DTADJ: 0", "> 0"]),
    ("DELTAT negative", inp("DELTAT=-1"), ["bad.inp:2", "DELTAT: -1", "> 0"]),
    ("TCRIT = 0", "&ININPUT\nTCRIT=0 /\n", ["bad.inp:2", "TCRIT: 0", "> 0"]),
    ("TCRIT beyond integer time", "&ININPUT\nTCRIT=1e9 /\n", ["bad.inp:2", "TCRIT", "<= 8000000"]),
    ("QE = 0", inp("QE=0"), ["bad.inp:2", "QE: 0", "> 0"]),
    ("RBAR = 0", inp("RBAR=0"), ["bad.inp:2", "RBAR: 0", ">= 1e-09"]),
    ("ZMBAR negative", inp("ZMBAR=-0.5"), ["bad.inp:2", "ZMBAR: -0.5", ">= 1e-12"]),
    ("SMAX negative", inp("SMAX=-1"), ["bad.inp:2", "SMAX: -1", "> 0"]),
    ("SMAX tiny", inp("SMAX=1e-300"), ["bad.inp:2", "SMAX", "power of two"]),
    ("NRAND = 0", inp("NRAND=0"), ["bad.inp:2", "NRAND: 0", ">= 1"]),
    ("NNBOPT negative", inp("NNBOPT=-80"), ["bad.inp:2", "NNBOPT: -80", ">= 0"]),
    ("Q negative", inp(rest="&INSCALE Q=-0.5 /"), ["bad.inp:5", "Q: -0.5", ">= 0"]),
    ("W0 too large", inp(rest="&INMODEL MODEL='king', W0=40 /"), ["bad.inp:5", "W0: 40", "<= "]),
    ("negative mass limit", inp(rest="&INDATA ALPHAS=2.3, BODY1=1, BODYN=-0.1 /"), ["bad.inp:5", "BODYN: -0.1", ">= 1e-12"]),
    ("fixed step no power of two", inp(rest="&INRUN DTFIXI=0.3 /"), ["bad.inp:5", "DTFIXI", "power of two"]),
    # words
    ("unknown model", inp(rest="&INMODEL MODEL='plumer' /"), ["bad.inp:5", "MODEL", "plumer", "'plummer'"]),
    ("unknown backend", inp(rest="&INRUN DEVICE='gpu9' /"), ["bad.inp:5", "DEVICE", "gpu9", "portable"]),
    ("unknown irregular backend", inp(rest="&INRUN IRR='fast' /"), ["bad.inp:5", "IRR", "fast", "portable"]),
    ("unknown precision", inp(rest="&INRUN PREC='half' /"), ["bad.inp:5", "PREC", "half", "'twofloat'"]),
    ("unknown level", inp("", "LEVEL='X'"), ["bad.inp:3", "LEVEL", "'0'"]),
    # options that are not there
    ("stars that age", inp("", "KZ(41)=1 LEVEL='A' KZ(19)=3 ZMBAR=1"), ["bad.inp:3", "KZ(41)=1", "KZ(41)=0", "--dynamics-only"]),
    ("what belongs to stars that age", inp("", "KZ(27)=2"), ["bad.inp:3", "KZ(27)=2", "KZ(27)=0", "--dynamics-only"]),
    ("several at once", inp("", "KZ(41)=1 KZ(27)=2\nKZ(34)=1"),
     ["3 settings", "line 3: KZ(41)=1", "line 3: KZ(27)=2", "line 4: KZ(34)=1", "set KZ(34)=0"]),
    ("a metallicity without tracks", inp("", AGE, "&INDATA ZMET=0.04 /"), ["bad.inp:5", "ZMET", "0.0001 to 0.03"]),
    ("a star of 200 Msun", inp("", AGE + " KZ(20)=6", "&INDATA BODY1=200 /"), ["bad.inp:5", "BODY1", "150", "KZ(19)=0"]),
    ("stars to be born", inp("", AGE, "&INDATA EPOCH0=5 /"), ["bad.inp:5", "EPOCH0", "0, or less"]),
    ("level of stars that age", inp("", "KZ(19)=3 LEVEL='0'"), ["bad.inp:3", "LEVEL", "'A', 'B' or 'C'", "KZ(19)=0"]),
    ("stars of no mass in Msun", inp("", "KZ(19)=3 LEVEL='B'"), ["bad.inp:3", "ZMBAR", "KZ(20)=6", "KZ(19)=0"]),
    ("radii beside those of stars", inp("", AGE, "&INRUN RSTAR=1e-5 /"), ["bad.inp:5", "RSTAR", "KZ(27)=-1", "KZ(19)=0"]),
    ("collisions of stars that do not age", inp("", "KZ(27)=-1"), ["bad.inp:3", "KZ(27)=-1", "KZ(27)=0"]),
    ("more than a star", inp("", AGE, "&INCOLL FCTORCL=1.5 /"), ["bad.inp:5", "FCTORCL", "1.5", "out of range"]),
    ("a choice that is none", inp("", AGE, "&INSSE NSFLAG=5 /"), ["bad.inp:5", "NSFLAG"]),
    ("a number that is none", inp("", AGE, "&INSSE MCH=0.5 /"), ["bad.inp:5", "MCH", "1.3"]),
    ("galaxy", inp("", "KZ(14)=9"), ["bad.inp:3", "KZ(14)=9", "tidal tensors", "KZ(14)=0", "another cluster"]),
    ("galaxy of nothing", inp("", "KZ(14)=3"), ["GMG: a galaxy (KZ(14) = 3)", "DISK", "KZ(14)=0"]),
    ("disk without height", inp("", "KZ(14)=3", "&INXTRNL0 DISK=1e10 B=0 RG=8,0,0 /"), ["bad.inp:5", "B: the disk"]),
    ("two models, of which one has no stars", inp("", "KZ(5)=2", "&INSETUP APO=5 /"), ["N2", "0 stars", "&INSETUP"]),
    ("two models at one place", inp("", "KZ(5)=2", "&INSETUP N2=50 /"), ["APO", "at one place", "APO > 0"]),
    ("two models that are not bound", inp("", "KZ(5)=2", "&INSETUP N2=50 APO=5 ECC=1 /"), ["bad.inp:5", "ECC < 1"]),
    ("two models of part of a star", inp("", "KZ(5)=2", "&INSETUP N2=5.5 APO=5 /"), ["bad.inp:5", "N2", "an integer"]),
    ("two models with binaries", inp("", "KZ(5)=2 KZ(8)=1", "&INDATA NBIN0=5 / \n&INSETUP N2=50 APO=5 /"),
     ["NBIN0", "KZ(8)=0", "KZ(5)=1"]),
    ("more triples than binaries", inp("", "KZ(8)=1 KZ(18)=2", "&INDATA NHI0=5 NBIN0=3 /"), ["bad.inp:5", "NHI0", "5", "NBIN0"]),
    ("triples of no shape", inp("", "KZ(8)=1 KZ(18)=2", "&INDATA NHI0=2 NBIN0=3 / \n&INHIPOP ECC0=1.5 /"), ["NHI0", "ECC0", "1.5"]),
    ("dormant binaries", inp("", "KZ(8)=1", "&INBINPOP IDORM=1 /"), ["bad.inp:5", "IDORM=1", "dormant", "IDORM=0"]),
    ("more binaries than systems", inp("", "KZ(8)=1", rest="&INDATA NBIN0=5000 /"), ["NBIN0", "5000"]),
    ("eccentricity", inp("", "KZ(8)=1", rest="&INDATA NBIN0=5 / \n&INBINPOP ECC0=1.5 /"), ["ECC0", "1.5", "thermal"]),
    ("restart of the legacy kind", inp(rest="&INNBODY6 KSTART=2 /"), ["bad.inp", "KSTART > 1", "there is no", "--resume"]),
    ("start of no kind", inp(rest="&INNBODY6 KSTART=7 /"), ["bad.inp:5", "KSTART=7", "no new run", "--resume"]),
    ("value that no option has", inp("", "KZ(22)=-1"), ["bad.inp:3", "KZ(22): -1", "--help-input 'KZ(22)'"]),
    ("mass function", inp("", "KZ(20)=9"), ["bad.inp:3", "KZ(20): 9", "mass function"]),
    ("mass function without stars", inp("", "KZ(20)=2", "&INDATA BODYN=0.01, BODY1=0.05 /"),
     ["BODY1", "Kroupa, Tout & Gilmore 1993 has no stars below 0.08"]),
    # contradictions
    ("masses the wrong way round", inp(rest="&INDATA ALPHAS=2.3, BODY1=0.1, BODYN=10 /"),
     ["bad.inp:5", "BODYN", "BODY1", "exchange"]),
    ("mass range without index", inp(rest="&INDATA BODY1=10, BODYN=0.1 /"), ["bad.inp:5", "BODY1", "ALPHAS"]),
    ("Kroupa with one mass", inp("", "KZ(20)=6", "&INDATA BODY1=1, BODYN=1 /"), ["bad.inp:5", "BODY1", "KZ(20)=0"]),
    ("point-mass galaxy without mass", inp("", "KZ(14)=2"), ["bad.inp", "GMG", "&INXTRNL0"]),
    ("point-mass galaxy without distance", inp("", "KZ(14)=2", "&INXTRNL0 GMG=1e11 /"), ["bad.inp", "RG0", "&INXTRNL0"]),
    ("model made and read", inp("", "KZ(22)=2", "&INMODEL MODEL='king' /"), ["bad.inp:5", "MODEL", "KZ(22)=2", "line 3"]),
    ("data file for a made model", inp("", "KZ(22)=0", "&INMODEL DATA='x' /"), ["bad.inp:5", "DATA", "KZ(22)"]),
    ("W0 without King model", inp(rest="&INMODEL W0=6 /"), ["bad.inp:5", "W0", "MODEL='king'"]),
    ("lists shorter than wanted", inp("NNBOPT=5", "", "&INRUN NNBMAX=4 /"), ["bad.inp:5", "NNBMAX", "NNBOPT=5"]),
    ("constant steps in the wrong order", inp(rest="&INRUN DTFIXI=0.25, DTFIXR=0.125 /"), ["bad.inp:5", "DTFIXR", "DTFIXI"]),
    ("constant step above SMAX", inp("SMAX=0.125", "", "&INRUN DTFIXI=0.25 /"), ["bad.inp:5", "DTFIXI", "SMAX"]),
    # files that are no text
    ("binary garbage", bytes(range(256)) * 4, ["bad.inp:1", "binary"]),
    ("zero byte", b"&ININPUT N=10\0 /\n", ["bad.inp:1", "0x00", "column 14"]),
    ("HDF5 file", b"\x89HDF\r\n\x1a\n" + b"\0" * 100, ["bad.inp:1", "HDF5", "--resume"]),
    ("gzip file", b"\x1f\x8b\x08\x00" + b"\0" * 20, ["bad.inp:1", "gzip"]),
    ("UTF-16", inp().encode("utf-16"), ["bad.inp:1", "UTF-16"]),
    ("overlong line", "&ININPUT N=10 " + " " * 20000 + "/\n", ["bad.inp:1", "longer than 10000"]),
    ("file too long", "! comment\n" * 200000, ["bad.inp", "longer than"]),
    # the data file
    ("no data file", data(), ["dat.10", "No such file"]),
    ("data file elsewhere", "&ININPUT N=3 KZ(22)=2 / &INMODEL DATA='no/such/file' /", ["no/such/file", "No such file"]),
    ("data file a folder", "&ININPUT N=3 KZ(22)=2 / &INMODEL DATA='sub' /", ["sub", "folder"], {"sub/x": ""}),
    ("empty data file", data(), ["dat.10", "no data"], {"dat.10": ""}),
    ("six columns", data(), ["dat.10:2", "6 columns", "vz"], table(STARS[0], "0.5 -1 0 0 0 -0.5", STARS[2])),
    ("eight columns", data(), ["dat.10:2", "more than 7"], table(STARS[0], STARS[1] + " 3", STARS[2])),
    ("too few lines", data(), ["dat.10", "2 rows", "N = 3"], table(*STARS[:2])),
    ("text in the data", data(), ["dat.10:2", "column 3", "abc"], table(STARS[0], "0.5 -1 abc 0 0 0 0", STARS[2])),
    ("NaN in the data", data(), ["dat.10:3", "column 7", "finite"], table(*STARS[:2], "0.5 0 1 0 0 0 nan")),
    ("number too large", data(), ["dat.10:1", "column 2", "1e999"], table("0.5 1e999 0 0 0 0 0", *STARS[1:])),
    ("negative mass", data(), ["dat.10:1", "mass", "negative"], table("-0.5 1 0 0 0 0.5 0", *STARS[1:])),
    ("massless stars", data(), ["dat.10", "masses"], table(*(s.replace("0.5", "0", 1) for s in STARS))),
    ("two stars at one place", data(), ["dat.10:3", "same place", "line 1"],
     table(*STARS[:2], "0.1" + STARS[0][3:])),
    ("two stars at one place, physical units", data(10), ["dat.10:3", "same place", "line 1"],
     table(*STARS[:2], "0.1" + STARS[0][3:])),
    ("binary data file", data(), ["dat.10:1", "zero byte"], {"dat.10": b"\x01\x00\x02" * 50}),
    ("one star alone", data(numbers=""), ["dat.10", "one star"], table(STARS[0])),
    ("virial ratio of stars at rest", data(6), ["Q = 0.5", "at rest"], table(*(s[:-7] + "0 0 0" for s in STARS))),
]

# (what, arguments, fragments): the command line
COMMANDS = [
    ("missing input file", ["none.inp"], ["none.inp", "No such file"]),
    ("folder as input", ["."], [".: is a directory"]),
    ("two input files", ["good.inp", "good.inp"], ["one input file"]),
    ("unknown option", ["--chek", "good.inp"], ["--chek", "unknown option", "--check"]),
    ("option without value", ["good.inp", "--out"], ["--out", "value is missing"]),
    ("flag with value", ["--check=1", "good.inp"], ["--check", "takes no value"]),
    ("text for a number", ["--tcrit", "long", "good.inp"], ["--tcrit", "long"]),
    ("zero threads", ["--threads", "0", "good.inp"], ["--threads", "1 to 4096"]),
    ("unknown backend", ["--device", "gpu9", "good.inp"], ["gpu9", "portable"]),
    ("unknown precision", ["--precision", "half", "good.inp"], ["half", "'twofloat'"]),
    ("resume with another physics", ["--resume", "x.ckpt.h5", "--dynamics-only"], ["--dynamics-only", "--resume"]),
    ("resume with another precision", ["--resume", "x.ckpt.h5", "good.inp", "--precision", "double"], ["--precision"]),
    ("two things at once", ["--check", "--init-only", "good.inp"], ["--init-only", "does not go together"]),
    ("help on nothing", ["--help-input", "ETAJ"], ["ETAJ", "ETAI"]),
]


def write_files(folder, files):
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())


def all_files(folder):
    return sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names)


class BadInput(unittest.TestCase):
    def refused(self, arguments, fragments, files, stdin=b""):
        with tempfile.TemporaryDirectory() as folder:
            write_files(folder, files)
            before = all_files(folder)
            run = subprocess.run([NBODY6, *arguments], cwd=folder, input=stdin, capture_output=True, timeout=60)
            message = run.stderr.decode(errors="replace")
            self.assertEqual(run.returncode, 2, message)
            self.assertEqual(all_files(folder), before, "files were written")
            self.assertEqual(run.stdout, b"")
            self.assertEqual(message.count("nbody6: "), 1, message)
            self.assertTrue(message.splitlines()[-1])
            for fragment in fragments:
                self.assertIn(fragment, message)

    def test_files(self):
        self.assertGreaterEqual(len(CASES), 60)
        for what, text, fragments, *others in CASES:
            with self.subTest(what):
                self.refused(["bad.inp"], fragments, {"bad.inp": text, **(others[0] if others else {})})

    def test_check_says_the_same(self):
        """--check refuses what a run would refuse, data files included."""
        for what, text, fragments, *others in CASES:
            with self.subTest(what):
                self.refused(["--check", "bad.inp"], fragments, {"bad.inp": text, **(others[0] if others else {})})

    def test_command_lines(self):
        for what, arguments, fragments in COMMANDS:
            with self.subTest(what):
                self.refused(arguments, fragments, {"good.inp": inp()})

    def test_standard_input(self):
        self.refused([], ["<stdin>:2", "ETAI"], {}, stdin=inp("ETAI=1").encode())
        self.refused(["-"], ["<stdin>:2", "ETAI"], {}, stdin=inp("ETAI=1").encode())
        self.refused([], ["<stdin>:1", "no namelist group"], {}, stdin=b"")

    def test_terminal(self):
        """Without an input file, and with a terminal as standard input, the usage is shown."""
        master, terminal = os.openpty()
        try:
            run = subprocess.run([NBODY6], stdin=terminal, capture_output=True, timeout=60)
        finally:
            os.close(master)
            os.close(terminal)
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"usage: nbody6", run.stderr)

    def test_unreadable(self):
        with tempfile.TemporaryDirectory() as folder:
            write_files(folder, {"bad.inp": inp()})
            os.chmod(os.path.join(folder, "bad.inp"), 0)
            if os.access(os.path.join(folder, "bad.inp"), os.R_OK):
                self.skipTest("this user may read everything")
            run = subprocess.run([NBODY6, "bad.inp"], cwd=folder, capture_output=True, timeout=60)
            self.assertEqual(run.returncode, 2)
            self.assertIn(b"Permission denied", run.stderr)


if __name__ == "__main__":
    unittest.main()
