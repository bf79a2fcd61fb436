#!/usr/bin/python3
"""Good inputs through the command: the sample of NBODY6++GPU, standard input, --check, help, names of output files."""

import glob
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NBODY6 = os.path.abspath(os.path.join(os.environ.get("NB6_BUILD", "build"), "nbody6"))
SAMPLE = os.path.join(ROOT, "tests", "data", "nbody6pp_sample.inp")
SMALL = b"&ININPUT N=10, TCRIT=0.125, NRAND=3, KZ(3)=0 /\n"


class Input(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)

    def nbody6(self, *arguments, stdin=b"", code=0):
        run = subprocess.run([NBODY6, *arguments], cwd=self.folder, input=stdin, capture_output=True, timeout=120)
        self.assertEqual(run.returncode, code, run.stderr.decode())
        return run.stdout.decode(), run.stderr.decode()

    def files(self):
        return sorted(os.listdir(self.folder))

    def test_sample_is_understood(self):
        """As it is; a note names what it asks for and is not computed yet."""
        out, notes = self.nbody6("--check", SAMPLE)
        line, = (line for line in notes.splitlines() if "not computed yet" in line)
        for setting in ("KZ(27)=3 (tides and gravitational radiation)", "KZ(28)=2", "KZ(34)=2", "'overflow'"):
            self.assertIn(setting, line)
        self.assertRegex(out, r"stellar evolution +LEVEL = 'C', metallicity ZMET = 0.001")
        self.assertEqual(self.files(), [])

    def test_sample_with_dynamics_only(self):
        out, notes = self.nbody6("--check", "--dynamics-only", SAMPLE)
        self.assertEqual(notes.count("; now "), 7)
        self.assertEqual(self.files(), [])
        rows = {line[2:28].strip(): line[28:].split() for line in out.splitlines()}
        # by hand from RBAR = 1.223 pc, TCRTP0 = 2 Myr; the rest follows from the masses drawn
        self.assertEqual(rows["length unit RBAR"][1:], ["1.223", "pc"])
        self.assertEqual(rows["end, by TCRTP0"][1:], ["2", "Myr"])
        mass, speed, time = (float(rows[k][1]) for k in ("total mass", "velocity unit", "time unit"))
        # G = 4.30091e-3 pc (km/s)^2/Msun, 1 pc/(km/s) = 0.977792 Myr; six digits are printed
        self.assertAlmostEqual(speed**2, 4.30091e-3 * mass / 1.223, delta=1e-4)
        self.assertAlmostEqual(time, 0.977792 * 1.223 / speed, delta=1e-5)
        # tidal radius of a point mass: RG0 (M/(3 GMG))^(1/3)
        self.assertAlmostEqual(float(rows["tidal radius"][1]), 13300 * (mass / (3 * 1.78e11)) ** (1 / 3), delta=1e-3)
        # the same file, from standard input and turned off by hand, is the same setup
        with open(SAMPLE, "rb") as f:
            text = f.read()
        text = text.replace(b"Level='C'", b"Level='0' KZ(12)=0 KZ(19)=0 KZ(25)=0 KZ(27:28)=2*0 KZ(34)=0")
        again, notes = self.nbody6("--check", "--out", "nbody6pp_sample", stdin=text)
        self.assertNotIn("; now ", notes)
        self.assertEqual(again.splitlines()[1:], out.splitlines()[1:])

    def test_runs_from_file_and_standard_input(self):
        self.write("in/small.first.inp", SMALL)
        self.nbody6("--quiet", "in/small.first.inp")
        self.assertIn("small.first.log.csv", self.files())
        self.nbody6("--quiet", stdin=SMALL)
        self.assertIn("nbody6.log.csv", self.files())
        self.nbody6("--quiet", "--out", "other", "-", stdin=SMALL)
        self.assertIn("other.log.csv", self.files())

    def test_same_text_written_differently(self):
        plain, _ = self.nbody6("--check", stdin=SMALL)
        for text in (SMALL.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + SMALL, SMALL.strip(), SMALL.lower(),
                     SMALL.replace(b",", b"\n! comment / &x 'y\n"), SMALL.replace(b"&", b"$").replace(b"/", b"$END"),
                     b"&INDATA /\n" + SMALL + b"&INSCALE Q=0.5 /\n! end"):
            self.assertEqual(self.nbody6("--check", stdin=text)[0], plain, text)

    def test_null_values(self):
        """As in Fortran: a variable without a value keeps its default, and is noted."""
        plain, _ = self.nbody6("--check", stdin=SMALL)
        for text in (b"&ININPUT ETAI= ETAR=,", b"&INBINPOP IDORM= / &ININPUT", b"&ININPUT RBAR=2*,",
                     b"&INBINPOP SEMI0=, ECC0=, RATIO=,RANGE=,,NSKIP=,IDORM= / &ININPUT"):
            self.assertEqual(self.nbody6("--check", stdin=SMALL.replace(b"&ININPUT", text, 1))[0], plain, text)
        _, notes = self.nbody6("--check", stdin=SMALL.replace(b"KZ(3)", b"ETAI= SMAX=, KZ(3)"))
        self.assertIn("note: null values keep their defaults: ETAI=0.02, SMAX=1\n", notes)

    def test_options_that_act_as_others(self):
        """A value that acts as another one has a note; one that acts as it is has none."""
        for option, fragment in ((b"KZ(2)=3", "as 2"), (b"KZ(16)=3", "as 1"), (b"KZ(23)=4", "as 3"), (b"KZ(26)=3", "as 2"),
                                 (b"KZ(39)=1", "as 0"), (b"KZ(39)=3", "as 2"), (b"KZ(23)=3", "without a galaxy"),
                                 (b"KZ(2)=2", None), (b"KZ(16)=1", None), (b"KZ(26)=2", None), (b"KZ(39)=2", None)):
            _, notes = self.nbody6("--check", stdin=SMALL.replace(b"KZ(3)", option + b" KZ(3)"))
            if fragment:
                self.assertRegex(notes, r"note: %s .*%s" % (re.escape(option.decode()), fragment))
            else:
                self.assertNotIn(option.decode(), notes)
        _, notes = self.nbody6("--check", stdin=b"&INBINPOP NSKIP=5 / &ININPUT KZ(8)=1 / &INDATA NBIN0=3 /")
        self.assertIn("NSKIP: accepted without effect", notes)

    def test_end_by_physical_time_alone(self):
        out, notes = self.nbody6("--check", stdin=b"&INNBODY6 TCRTP0=5 / &ININPUT TCRIT=0 RBAR=1 ZMBAR=1 N=100 /")
        self.assertIn("note: TCRIT=0: TCRTP0=5 Myr alone is the end", notes)
        self.assertRegex(out, r"end, by TCRTP0 +[0-9.]+ +5 Myr")
        self.assertIn("TCRIT: 0 is no end", self.nbody6("--check", stdin=b"&ININPUT TCRIT=0 /", code=2)[1])

    def test_unused_values(self):
        """Variables that the options do not use may be wrong: they are noted, and stop a run as soon as they are
        used."""
        plain, _ = self.nbody6("--check", stdin=SMALL)
        for text, fragment, use in (
                (b"&INHIPOP SEMI0=KSTART,,ECC0=TCOMP,,RATIO=TCRITp,,RANGE=isernb,iserreg,iserks /", "KSTART", None),
                (b"&INBINPOP SEMI0=0.0 /", "0 is out of range", b"KZ(8)=1 "), (b"&INXTRNL0 GMG=big /", "big", b"KZ(14)=2 "),
                (b"&INBINPOP IDORM=1 /", "IDORM=1 has no effect", b"KZ(8)=1 "),
                (b"&INDATA NHI0=3 /", "NHI0=3 has no effect", b"KZ(8)=1 KZ(18)=2 "),
                (b"&INSSE ZMET2=7 ECFLAG=yes /", "ZMET2", None),
                (b"&INPULSAR PSR_SPINA=0.01, PSR_PMODE=2, PSR_NEW=1 /", "pulsars", None)):
            out, notes = self.nbody6("--check", stdin=SMALL + text)
            self.assertEqual(out, plain)
            self.assertIn(fragment, notes)
            if use:
                self.nbody6("--check", stdin=SMALL.replace(b"KZ(3)", use + b"KZ(3)") + text, code=2)

    def test_sample_runs(self):
        """The smallest example of NBODY6++GPU as it is, but for its end."""
        sample = os.path.join(ROOT, "tests", "data", "nbody6pp_sample.inp")
        for more in ([], ["--dynamics-only", "--overwrite"]):
            self.nbody6("--quiet", *more, "--tcrit", "0.25", sample)
            self.assertIn("nbody6pp_sample.snap.00001.h5", self.files())

    def test_sample_with_pulsars(self):
        """A sample of newer NBODY6++GPU, with a group for pulsars and words for numbers in one that no code reads."""
        sample = os.path.join(ROOT, "tests", "data", "nbody6pp_pulsar.inp")
        _, notes = self.nbody6("--quiet", "--dynamics-only", sample)
        self.assertEqual(notes.count("; now "), 4)
        _, notes = self.nbody6("--quiet", "--overwrite", sample)
        for fragment in ("SEMI0: KSTART is not a valid value", "&INPULSAR (pulsars", "KZ(29): accepted without effect"):
            self.assertIn(fragment, notes)
        self.assertIn("nbody6pp_pulsar.snap.00002.h5", self.files())

    def test_data_file_beside_the_input(self):
        self.write("in/two.inp", b"&ININPUT TCRIT=0.125 KZ(22)=2 /\n")
        self.write("in/dat.10", b"0.5 1 0 0 0 0.5 0\n0.5 -1 0 0 0 -0.5 0\n")
        out, _ = self.nbody6("--check", "in/two.inp")
        self.assertIn("in/dat.10", out)
        self.assertRegex(out, r"stars N +2\n")
        self.write("dat.10", b"0.5 1 0 0 0 0 0\n0.5 -1 0 0 0 0 0\n0.1 0 3 0 0 0 0\n")
        out, _ = self.nbody6("--check", "in/two.inp")
        self.assertRegex(out, r"stars N +3\n")

    def test_command_line_stands_above_the_input(self):
        out, _ = self.nbody6("--check", "--tcrit", "7", "--checkpoint-interval=0", "--device=ref", "--out=x", stdin=SMALL)
        self.assertRegex(out, r"end TCRIT +7 ")
        self.assertRegex(out, r"checkpoints +at the end")
        self.assertRegex(out, r"backends +regular ref")
        self.assertRegex(out, r"files +x\.\*")

    def test_large_models_are_described_without_being_made(self):
        out, _ = self.nbody6("--check", stdin=b"&ININPUT N=1000000 KZ(20)=6 / &INDATA BODY1=100 BODYN=0.08 /")
        mean = float(re.search(r"mean mass +\S+ +(\S+) Msun", out)[1])
        # Kroupa 2001 from 0.08 to 100 Msun, two power laws integrated by hand: m^-1.3 to 0.5, 0.5 m^-2.3 from there
        def moment(p, a, b):
            return (b**p - a**p) / p
        number = moment(-0.3, 0.08, 0.5) + 0.5 * moment(-1.3, 0.5, 100)
        mass = moment(0.7, 0.08, 0.5) + 0.5 * moment(-0.3, 0.5, 100)
        # the quantiles that the program averages leave out half of the last 1/20000, some 0.1 percent of the mass
        self.assertAlmostEqual(mean, mass / number, delta=2e-3 * mean)

    def test_help(self):
        usage, _ = self.nbody6("--help")
        for option in ("--check", "--dynamics-only", "--init-only", "--to-namelist", "--out", "--resume", "--tcrit", "--device", "--threads"):
            self.assertIn(f"  {option} ", usage)
        self.assertEqual(self.nbody6("-h")[0], usage)
        self.assertRegex(self.nbody6("--version")[0], r"^nbody6 \d+\.\d+\.\d+\n$")
        self.assertIn("portable", self.nbody6("--list-devices")[0])
        self.assertIn("0 < ETAI <= 0.08", self.nbody6("--help-input", "etai")[0])
        self.assertIn("circular orbit", self.nbody6("--help-input", "KZ(14)")[0])
        self.assertIn("BODY1", self.nbody6("--help-input", "&INDATA")[0])
        everything = self.nbody6("--help-input")[0]
        for number in range(1, 51):
            self.assertIn(f"KZ({number})", everything)

    def test_input_md_is_up_to_date(self):
        markdown, _ = self.nbody6("--help-input", "--markdown")
        with open(os.path.join(ROOT, "docs", "input.md"), encoding="utf-8") as f:
            self.assertEqual(f.read(), markdown, "run make docs")

    def test_two_plummer_models(self):
        name = "two.inp"
        self.write(name, b"&ININPUT N=40 TCRIT=0.25 DTADJ=0.25 KZ(5)=2 / &INSETUP APO=6 ECC=0.5 N2=20 SCALE=0.5 /\n")
        out, _ = self.nbody6("--check", name)
        self.assertIn("two Plummer models, the second of 20 stars, 6 from the first on an orbit of eccentricity 0.5", out)
        self.assertRegex(out, r"stars N +60\n")
        out, _ = self.nbody6("--to-namelist", name)
        self.assertRegex(out, r"&INSETUP .*\n  APO=6 ")
        self.assertIn("N = 60", self.nbody6(name)[0])
        self.write(name, b"&ININPUT N=40 / &INSETUP APO=6 /\n")
        _, err = self.nbody6("--check", name)
        self.assertIn("APO: accepted without effect: two Plummer models are made with KZ(5) = 2", err)

    def test_examples_are_valid(self):
        softened = {os.path.join(ROOT, "input_examples", name, name + ".inp")  # of nbody6-collisionless
                    for name in ("collapse-4k", "merger-4k", "galaxies-1m", "collapse-4m")}
        for path in set(glob.glob(os.path.join(ROOT, "input_examples", "*", "*.inp"))) - softened:
            with self.subTest(path):
                self.nbody6("--check", "--dynamics-only", path)


if __name__ == "__main__":
    unittest.main()
