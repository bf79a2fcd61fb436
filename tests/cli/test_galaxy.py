#!/usr/bin/python3
"""Galaxies with an orbit, and gas (KZ(14) = 3, 4, 5), as commands see them: the same bits with any number of threads and
across a checkpoint, what --check says, notes, and what is refused."""

import unittest

import h5py

from run_support import RunTest

ORBIT = ("GMG=1e10 DISK=5e10 A=4 B=0.3 VCIRC=220 RCIRC=8.5 GMB=1e10 AR=0.5 GAM=1 RG=3,0,0.5 VG=0,120,60 "
         "MP=0.5 AP2=0.5 MPDOT=0.5 TDELAY=0.2")


class GalaxyTest(RunTest):
    def write(self, name, t_end=0.5, more="KZ(14)=3", galaxy=ORBIT, groups=""):
        with open(self.path(name + ".inp"), "w") as file:
            file.write("&ININPUT N=60 NRAND=3 RBAR=4 ZMBAR=0.5 DTADJ=0.125 DELTAT=0.5 TCRIT=%g QE=1 KZ(23)=2 KZ(8)=1 "
                       "KZ(3)=0 %s /\n&INDATA NBIN0=4 /\n&INBINPOP SEMI0=0.02 RANGE=5 /\n&INXTRNL0 %s /\n%s" % (
                           t_end, more, galaxy, groups))

    def rows(self, name):
        """Rows of the log without comments and timings."""
        with open(self.path(name + ".log.csv")) as file:
            rows = [line.strip().split(",") for line in file if not line.startswith("#")]
        end = rows[0].index("ns_per_pair_irr")
        return [row[:end] for row in rows]

    def test_bits(self):
        """The checkpoint is not at the end of a piece of the orbit, and the gas has begun to leave."""
        self.write("a")
        self.run_command("--threads", "1", "a.inp")
        self.run_command("--threads", "3", "--out", "b", "a.inp")
        self.assertEqual(self.rows("a"), self.rows("b"))
        self.write("c", 0.375)
        self.run_command("--threads", "2", "c.inp")
        self.run_command("--resume", "c.ckpt.h5", "--tcrit", "0.5")
        self.assertEqual(self.rows("a")[-1], self.rows("c")[-1])
        work = [float(row[self.rows("a")[0].index("e_galaxy")]) for row in self.rows("a")[1:]]
        self.assertEqual(work[0], 0)
        self.assertGreater(abs(work[-1]), 1e-3)

    def test_engines(self):
        """The stages of device engines, in C: energies and steps are those of the host engine, with pairs; bits are the
        same with any number of threads, and across a checkpoint. Both engines round forces in their own way, and
        errors of a time unit are 1e-7: half of that is allowed between them. Counts of steps are within 2 percent."""
        for kz, galaxy in ((3, ORBIT), (4, "MP=1 AP2=0.6 MPDOT=2 TDELAY=0.1"), (5, "RG=1,0,0.5 VG=0,120,60")):
            name = "e%d" % kz
            self.write(name, 0.25, more="KZ(14)=%d" % kz, galaxy=galaxy)
            self.run_command("--engine", "host", "--out", name + "h", name + ".inp")
            self.run_command("--engine", "emulated", "--threads", "1", name + ".inp")
            head, *host = self.rows(name + "h")
            there = self.rows(name)[1:]
            for column in ("e_total", "e_galaxy"):
                at = head.index(column)
                self.assertNotEqual(float(host[-1][at]), 0)
                self.assertAlmostEqual(float(host[-1][at]), float(there[-1][at]), delta=5e-8)
            at = head.index("steps_irr")
            self.assertAlmostEqual(int(host[-1][at]) / int(there[-1][at]), 1, delta=0.02)
        self.write("c", 0.125, more="KZ(14)=3")
        self.run_command("--engine", "emulated", "--threads", "2", "c.inp")
        self.run_command("--resume", "c.ckpt.h5", "--tcrit", "0.25")
        self.assertEqual(self.rows("e3")[-1], self.rows("c")[-1])

    def test_pericentre(self):
        """A galaxy has torn a cluster apart, gives it ten thousand times its energy on the way to the pericentre, and
        takes that back: the error of an interval is relative to this work, and the run goes on with its QE. The error
        is 5e-6 of the work at most, measured, with ETAI = ETAR = 0.02; four times that is a tenth of QE."""
        with open(self.path("p.inp"), "w") as file:
            file.write("&ININPUT N=200 NRAND=1 NNBOPT=20 DTADJ=0.125 TCRIT=6 RBAR=3 ZMBAR=0.6 ETAI=0.02 ETAR=0.02 KZ(14)=3 "
                       "KZ(20)=6 KZ(3)=0 /\n&INDATA BODY1=20 BODYN=0.1 /\n&INXTRNL0 GMG=1e11 RG=8,0.9,0 /\n")
        self.run_command("p.inp")
        head, *rows = self.rows("p")
        work, error, change = (head.index(name) for name in ("e_galaxy", "de_rel_interval", "de_cluster_interval"))
        self.assertGreater(max(float(row[work]) for row in rows), 1000)
        self.assertGreater(max(abs(float(row[error])) for row in rows), 1e-3)  # of the energy that the cluster had
        self.assertLess(max(abs(float(row[change])) for row in rows), 2e-5)

    def test_words_and_check(self):
        self.write("a")
        self.write("w", more="", groups="&INOPTIONS GALAXY='galaxy' /\n")
        said = self.run_command("--check", "a.inp")
        self.assertRegex(said, r"galaxy +an orbit in a galaxy of point mass, bulge, disk, halo, gas about the cluster, from \(3, 0, 0.5\)")
        self.assertEqual(said.replace("a.inp", "").replace(" a.*", ""), self.run_command("--check", "w.inp").replace(
            "w.inp", "").replace(" w.*", ""))
        self.write("g", more="KZ(14)=4", galaxy="MP=2 AP2=0.6 MPDOT=1 GMG=1e10 RG=1,2,3")
        said = self.run_command("--check", "g.inp")
        self.assertRegex(said, r"galaxy +gas of mass 2 and scale length 0.6, leaving")
        self.assertIn("note: GMG, RG: accepted without effect: these belong to kinds of galaxy other than KZ(14)'s", said)

    def test_refused(self):
        for galaxy, kz, fragment in (
                ("RG=8,0,0", 3, "GMG: a galaxy (KZ(14) = 3) needs"),
                ("DISK=1e10 RG=8,0,0", 3, "B: the disk needs a height"),
                ("VCIRC=220 RG=8,0,0", 3, "RCIRC: VCIRC needs"),
                ("GMB=1e10 RG=8,0,0", 3, "AR: the bulge needs a length"),
                ("GMG=1e11 VCIRC=50 RCIRC=8 RG=8,0,0", 3, "VCIRC: the other parts of the galaxy alone have"),
                ("DISK=1e10 B=1", 3, "RG: the cluster stands in the centre"),
                ("GMG=1e10 RG=8,1.2,0", 3, "RG: about a point mass alone"),
                ("GMG=1e10 RG=8,0.2,0 MP=1", 3, "AP2: gas of mass MP=1 needs a length"),
                ("GMG=1e10 RG=1e-9,0,0 VG=0,0,1e-9", 3, "the orbit of the cluster meets the centre"),
                ("", 4, "MP: a sphere of gas (KZ(14) = 4) needs its mass")):
            self.write("bad", more="KZ(14)=%d" % kz, galaxy=galaxy)
            with self.subTest(galaxy=galaxy):
                self.assertIn(fragment, self.run_command("--check", "bad.inp", code=2))

    def test_milky_way(self):
        """KZ(14)=5, its word, and positional input of NBODY6++, which has pc/Myr, are the same galaxy; a resumed run goes on
        with the same bits."""
        galaxy = "RG=8,0,0.02 VG=10,220,7"
        self.write("a", more="KZ(14)=5", galaxy=galaxy)
        self.write("w", more="", galaxy=galaxy, groups="&INOPTIONS GALAXY='milky-way' /\n")
        said = self.run_command("--check", "a.inp")
        self.assertRegex(said, r"galaxy +an orbit in the Milky Way of Bovy 2015, from \(8, 0, 0.02\) kpc")
        self.assertIn("note: VG is in km/s; versions of NBODY6++ have pc/Myr", said)
        self.run_command("a.inp")
        self.run_command("w.inp")
        self.assertEqual(self.rows("a"), self.rows("w"))
        self.write("c", 0.25, more="KZ(14)=5", galaxy=galaxy)
        self.run_command("c.inp")
        self.run_command("--resume", "c.ckpt.h5", "--tcrit", "0.5")
        self.assertEqual(self.rows("a")[-1], self.rows("c")[-1])
        with open(self.path("p.inp"), "w") as file:
            file.write("1 1e6 0 40 40\n60 1 10 3 20 1\n.02 .02 0 .25 .5 .5 1 4 .5\n13*0 5 1 1 4*0 0 0 2 2*0 2 3*0 1 20*0\n"
                       "0 0 .2 1 1e-6 .01\n1 1 1 0 0 .02 0 1\n.5 0 0 0\n8 0 .02 10 225 7\n")
        said = self.run_command("--check", "p.inp")
        self.assertIn("note: VG is in pc/Myr in NBODY6++ with KZ(14)=5; here it is in km/s, and multiplied by 0.977792", said)
        self.assertNotIn("versions of NBODY6++", said)
        self.assertRegex(self.run_command("--to-namelist", "p.inp"), r"VG=9.7779\d+,220.0032\d+,6.8445\d+")
        self.write("bad", more="KZ(14)=5", galaxy="VG=0,220,0")
        self.assertIn("RG: the cluster stands in the centre", self.run_command("--check", "bad.inp", code=2))

    def test_pairs_in_fields(self):
        """Two stars of sizes 0.04 to 0.15 in gas, where a direct integration of both has them; and three stars through a
        galaxy, of which two pair up and one escapes, which books the work on the pair: 0.4, of an energy of 0.23. Errors
        of the energy with ETAI = 0.02 are 2.3e-7, measured, and were 3e-3 without that work."""
        with open(self.path("pair.dat"), "w") as file:
            file.write("0.6 0.49760935925907512 0.19682999939077486 0.14278268752033191 -0.89593982160741847 "
                       "0.9646009435975309 -0.50041738162634275\n"
                       "0.4 0.50358596111138731 0.20475500091383775 0.03582596871950218 1.3439097324111275 "
                       "-0.19690141539629635 1.000626072439514\n")
        with open(self.path("pair.inp"), "w") as file:
            file.write("&ININPUT TCRIT=1 DTADJ=0.1 DELTAT=1 KZ(14)=4 KZ(22)=2 /\n&INMODEL DATA='pair.dat' /\n"
                       "&INXTRNL0 MP=2.92 AP2=1.19 /\n")
        with open(self.path("three.dat"), "w") as file:
            file.write("0.56656754629177786 -0.081250029036996491 0.2042111863307291 9.967313308824954e-06 "
                       "-0.46327296383850641 -0.18415694063016483 0\n"
                       "0.16181245158696819 0.42054688886666997 -0.086374239208553069 0.00012195449249615926 "
                       "0.1938029175488972 0.95393187036091931 0\n"
                       "0.27162000212125398 -0.081054757879477177 -0.3745048323761842 -9.3442719457825839e-05 "
                       "0.8508787989363007 -0.18415694063016533 0\n")
        with open(self.path("three.inp"), "w") as file:
            file.write("&ININPUT TCRIT=4.561728394 DTADJ=0.125 DELTAT=4.561728394 ETAI=0.02 ETAR=0.02 RBAR=1.1091 "
                       "ZMBAR=0.259171 KZ(14)=3 KZ(16)=1 KZ(22)=2 KZ(23)=4 /\n&INMODEL DATA='three.dat' /\n"
                       "&INRUN RSTAR=3.679e-05 /\n&INXTRNL0 DISK=5e10 A=3 B=0.3 VCIRC=220 RCIRC=8.5 GMB=1e10 AR=0.7 GAM=1 "
                       "RG=4.4434,0,-0.24031 VG=61.043,185.65,44.005 /\n")
        for engine in ("host", "emulated"):
            self.run_command("--engine", engine, "--overwrite", "pair.inp")
            self.run_command("--engine", engine, "--overwrite", "three.inp")
            with h5py.File(self.path("pair.snap.00001.h5"), "r") as file:
                place = file["PartType4/Coordinates"][()][list(file["PartType4/ParticleIDs"][()]).index(1)]
            for is_at, should in zip(place, (0.20844, 0.49142, 0.15885)):
                self.assertAlmostEqual(is_at, should, delta=1e-5)
            for name, bound in (("pair", 1e-7), ("three", 1e-6)):
                head, *rows = self.rows(name)
                errors = [abs(float(row[head.index("de_rel")])) for row in rows]
                self.assertLess(max(errors), bound)
            self.assertEqual(rows[-1][head.index("n")], "2")
            self.assertGreater(float(rows[-1][head.index("e_galaxy")]), 0.3)

    def test_change_is_refused(self):
        self.write("a", 0.25)
        self.run_command("a.inp")
        self.write("b", 1, galaxy=ORBIT.replace("RG=3,0,0.5", "RG=3,0,0.6"))
        said = self.run_command("--resume", "a.ckpt.h5", "b.inp", code=2)
        self.assertIn("RG", said)
        self.assertIn("3,0,0.6", said)
        self.assertIn("the galaxy is in the energies that the run has booked", said)


if __name__ == "__main__":
    unittest.main()
