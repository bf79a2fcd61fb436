"""The same cluster in every form of input; options in words; values that are nearly right; the search in the help."""

import unittest

from run_support import RunTest

try:
    import h5py
except ImportError:
    h5py = None

POSITIONAL = """\
1 10.0
100 1 10 7 40 1
0.02 0.03 0.3 0.5 1.0 2.0 2.0D-04 1.5 0.6
0 0 1 0 1 0 0 0 0 0
0 0 0 0 1 1 0 0 0 0
0 {data} 0 0 0 2 0 0 0 1
0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 0
2.0E-05 0.001 0.2 1.0 1.0E-06 0.001
2.3 10.0 0.1 0 0 0.002 0.0 5.0
0.5 0.0 0.0 0.0 0.25
"""

NUMBERS = """\
&INNBODY6 KSTART=1 TCOMP=600 /
&INRUN NNBMAX=40 /
&INDATA ALPHAS=2.3 BODY1=10 BODYN=0.1 /
&INSCALE Q=0.5 /
&ININPUT N=100 NFIX=1 NCRIT=10 NRAND=7 ETAI=0.02 ETAR=0.03 RS0=0.3 DTADJ=0.5 DELTAT=1.0 TCRIT=2.0 QE=2e-4
{units} DTMIN=2e-5 RMIN=1e-3 ETAU=0.2 ECLOSE=1 GMIN=1e-6 GMAX=1e-3 SMAX=0.25 {options} /
"""
UNITS = "RBAR=1.5 ZMBAR=0.6"
OPTIONS = "KZ(3)=1 KZ(5)=1 KZ(15)=1 KZ(16)=1 KZ(26)=2 KZ(30)=1"
WORDS = """\
&INOPTIONS SNAPSHOTS='on' CLOSE_ENCOUNTERS='by-density' MULTIPLE_SYSTEMS='on' SLOW_DOWN='chains' SYSTEM_KINDS='ALL' /
&INMODEL MODEL='plummer' /
"""


class SpellingsTest(RunTest):
    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def check(self, text, code=0):
        self.write("c.inp", text)
        return self.run_command("--check", "c.inp", code=code)

    @unittest.skipIf(h5py is None, "h5py is not there")
    def test_same_cluster(self):
        """Positional, namelist, words, a pair of files, HDF5 of ours: the same data in the first three snapshots."""
        namelist = NUMBERS.format(units=UNITS, options=OPTIONS)
        self.write("positional.input", POSITIONAL.format(data=0))
        self.write("numbers.inp", namelist)
        self.write("words.inp", NUMBERS.format(units=UNITS, options="") + WORDS)
        self.write("pair.input", POSITIONAL.format(data=3))
        self.write("hdf5.inp", NUMBERS.format(units="", options="") + "&INMODEL DATA='numbers.init.h5' /\n")
        self.run_command("--init-only", "--out", "numbers", "numbers.inp")
        with open(self.path("numbers.dat10")) as file:
            self.write("pair.dat.10", file.read())
        expected = None
        for name in ("numbers.inp", "positional.input", "words.inp", "pair.input", "hdf5.inp"):
            self.run_command("--quiet", "--overwrite", name)
            data = []
            for k in range(3):
                with h5py.File(self.path("%s.snap.%05d.h5" % (name.split(".")[0], k))) as file:
                    data.append({q: file["PartType4"][q][()].tobytes() for q in file["PartType4"]})
            self.assertGreater(len(data[0]), 8)
            expected = expected or data
            for k in range(3):
                self.assertEqual(data[k].keys(), expected[k].keys())
                for quantity in data[k]:
                    self.assertEqual(data[k][quantity], expected[k][quantity], "%s, snapshot %d: %s" % (name, k, quantity))

    def test_words(self):
        self.assertRegex(self.check("&INOPTIONS GALAXY='solar', ESCAPERS='write' /"), "removed beyond two tidal radii, and written")
        self.assertRegex(self.check("&INOPTIONS GALAXY='POINT-MASS' / &INXTRNL0 GMG=1e11 RG0=8.5 /"), "tidal radius ")
        # the same in both spellings, and what WRITE_MODEL does not say of KZ(22)
        self.check("&INOPTIONS GALAXY='solar' LAGRANGIAN_MASS='present' / &ININPUT KZ(14)=1 KZ(7)=3 /")
        self.write("t.dat", "0.5 0 0 0 0 0.5 0\n0.5 1 0 0 0 -.5 0\n")
        self.check("&INOPTIONS WRITE_MODEL='off' / &INMODEL DATA='t.dat' /")
        self.check("&INOPTIONS WRITE_MODEL='off' / &INMODEL DATA='t.dat' / &ININPUT KZ(22)=2 /")
        # a namelist that is made of words is the same input
        self.write("w.inp", "&INOPTIONS GALAXY='solar' PRIMORDIAL_BINARIES='made' / &INDATA NBIN0=3 / &ININPUT N=30 /")
        made = self.check(self.run_command("--to-namelist", "w.inp"))
        self.assertEqual(made.replace("c.*", "w.*").split("\n", 1)[1],
                         self.run_command("--check", "w.inp").split("\n", 1)[1])

    def test_contradictions(self):
        for text, fragments in (
            ("&INOPTIONS GALAXY='solar' /\n&ININPUT KZ(14)=2 /\n&INXTRNL0 GMG=1e11 RG0=8 /",
             ["c.inp:1: GALAXY: 'solar' is KZ(14)=1, but KZ(14) is 2 (line 2); remove one of the two"]),
            ("&ININPUT KZ(22)=1 / &INOPTIONS WRITE_MODEL='off' /", ["WRITE_MODEL: 'off' is KZ(22)=0, but KZ(22) is 1"]),
            ("&INMODEL DATA='t.dat' /\n&INOPTIONS WRITE_MODEL='on' /", ["the model is made, not read"]),
            ("&INOPTIONS GALAXY='solar' GALAXY='none' /", ["GALAXY: set a second time"]),
            ("&INOPTIONS GALAXY=1 /", ["GALAXY: "]),
        ):
            with self.subTest(text=text):
                output = self.check(text, code=2)
                for fragment in fragments:
                    self.assertIn(fragment, output)

    def test_nearly_right(self):
        """Rejected with the word that was meant, and not explained as something else."""
        for text, name, meant in (
            ("&INMODEL MODEL='kings' W0=6 /", "MODEL: 'kings'", "'king'"),
            ("&INMODEL MODEL='plumer' /", "MODEL: 'plumer'", "'plummer'"),
            ("&INMODEL DATA='x' UNITS='astr' /", "UNITS: 'astr'", "'astro'"),
            ("&INMODEL DATA='x' UNITS='n-body' / &ININPUT KZ(22)=10 /", "UNITS: 'n-body'", "'nbody'"),
            ("&INOPTIONS GALAXY='pointmass' /", "GALAXY: 'pointmass'", "'point-mass'"),
            ("&INOPTIONS GALAXI='solar' /", "GALAXI", "GALAXY"),
            ("&INOPTION GALAXY='solar' /", "&INOPTION", "&INOPTIONS"),
            ("&INRUN ENGINE='hots' /", "ENGINE: 'hots'", "'host'"),
            ("&INRUN PREC='duble' /", "PREC: 'duble'", "'double'"),
            ("&INRUN CHAIN='chains' /", "CHAIN: 'chains'", "'chain'"),
            ("&INRUN DEVLOSS='stopp' /", "DEVLOSS: 'stopp'", "'stop'"),
            ("&INRUN DEVICE='avx-2' /", "DEVICE: 'avx-2'", "'avx2'"),
            ("&INRUN IRR='portabel' /", "IRR: 'portabel'", "'portable'"),
        ):
            with self.subTest(text=text):
                output = self.check(text, code=2)
                self.assertIn(name, output)
                self.assertIn("did you mean " + meant, output)
        self.assertNotIn("did you mean", self.check("&INMODEL MODEL='xyz' /", code=2))

    def test_search(self):
        for word, fragments in (
            ("binaries", ["&INDATA NBIN0", "&INOPTIONS PRIMORDIAL_BINARIES", "KZ(8) = 1"]),
            ("binary", ["&INDATA NBIN0", "KZ(8) = 1"]),
            ("king", ["&INMODEL MODEL", "&INMODEL W0"]),
            ("tide", ["&INSCALE RTIDE", "KZ(27) = 1 to 2", "(not there yet)"]),
            ("Kroupa", ["KZ(20) = 6", "'kroupa2001' (6)"]),
            ("mass function", ["&INDATA ALPHAS", "KZ(20) = 0"]),
            ("gzip", ["&INMODEL DATA"]),
        ):
            with self.subTest(word=word):
                output = self.run_command("--help-input", word)
                for fragment in fragments:
                    self.assertIn(fragment, output)
        self.assertNotIn("making", self.run_command("--help-input", "king"))  # words begin with it
        self.assertIn("ETAI", self.run_command("--help-input", "ETAJ", code=2))
        self.assertIn("in no text", self.run_command("--help-input", "quaternion", code=2))
        # a name is still shown alone
        self.assertNotIn("KZ(14)", self.run_command("--help-input", "ETAI"))


if __name__ == "__main__":
    unittest.main()
