"""Tables as people have them: empty last fields, semicolons, decimal commas, a first line with N, exponents as Fortran
writes them, SI units, heads that lack a column, catalogues of the sky; and what is said of those that are refused."""

import re
import shutil
import unittest

from run_support import RunTest

ROWS = [  # eight stars, in N-body units
    (0.125, 1.288185, 1.449446, 0.066336, -0.764544, -1.092173, 0.031335),
    (0.125, -1.022103, -1.436829, 0.199312, 0.133375, 0.546468, -0.913971),
    (0.125, 0.005005, -0.064742, -1.505829, 0.537997, 0.320711, 2.389112),
    (0.125, 0.202969, -0.144702, 1.232757, 0.198791, 0.909031, -0.365544),
    (0.125, 0.218172, 1.024289, 0.696247, 0.128472, -1.082308, 0.445222),
    (0.125, 0.076863, 0.720468, 0.216233, 1.088185, -0.051560, 0.201964),
    (0.125, 0.666776, -1.086885, -0.401660, -0.500029, 1.980616, -0.092862),
    (0.125, 0.652220, 0.619375, -0.280873, -1.550837, 0.964844, -0.407197),
]
NAMES = "mass x y z vx vy vz".split()


class TablesTest(RunTest):
    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def stars(self, text, model="", n=""):
        """The stars of a table as --init-only writes them, exact text of each."""
        self.write("t.dat", text)
        self.write("t.inp", "&ININPUT %s /\n&INMODEL DATA='t.dat' %s /\n" % (n, model))
        self.run_command("--init-only", "--overwrite", "--quiet", "t.inp")
        return self.read("t.dat10").decode()

    def refuse(self, text, fragments, model="", absent=(), n=""):
        self.write("t.dat", text)
        self.write("t.inp", "&ININPUT %s /\n&INMODEL DATA='t.dat' %s /\n" % (n, model))
        message = self.run_command("--check", "t.inp", code=2)
        for fragment in fragments:
            self.assertIn(fragment, message)
        for fragment in absent:
            self.assertNotIn(fragment, message)
        self.assertEqual(message.count("nbody6: "), 1, message)
        return message

    def check(self, text, model="", n=""):
        self.write("t.dat", text)
        self.write("t.inp", "&ININPUT %s /\n&INMODEL DATA='t.dat' %s /\n" % (n, model))
        return self.run_command("--check", "t.inp")

    def table(self, separator=" ", head=None, tail=lambda k: ""):
        lines = [] if head is None else [separator.join(head)]
        return "\n".join(lines + [separator.join("%.6f" % q for q in row) + tail(k) for k, row in enumerate(ROWS)]) + "\n"

    def setUp(self):
        super().setUp()
        self.plain = self.stars(self.table())

    def test_empty_last_field(self):
        """A star without a note has nothing behind the last comma, or blanks, or a carriage return."""
        for empty in (",", ", ", ",\t", ",\r", ',""'):
            text = self.table(",", NAMES + ["note"], lambda k: empty if k == 4 else ",ok")
            self.assertEqual(self.stars(text), self.plain, repr(empty))
        text = self.table(",", NAMES + ["note", "more"], lambda k: ",," if k == 4 else ",ok,x")
        self.assertEqual(self.stars(text), self.plain)
        self.assertEqual(self.stars(self.table(",", NAMES, lambda k: ",")), self.plain)  # one comma too many everywhere
        self.refuse(self.table(",", NAMES + ["note", "more"], lambda k: "," if k == 4 else ",ok,x"),
                    ["t.dat:6: ", " columns, but the head of the table names 9"])
        text = self.table(",", NAMES[:6] + ["vz"]).replace("0.445222", "")
        self.refuse(text, ["t.dat:6: column 7 (vz): is empty; give a number"])

    def test_the_case(self):
        """A file that was refused: with ids and notes, one of which is empty."""
        rows = "\n".join("%d,%s,%s" % (k + 1, ",".join("%.6f" % q for q in row), "" if k == 4 else "ok")
                         for k, row in enumerate(ROWS))
        self.assertEqual(self.stars("id,mass,x,y,z,vx,vy,vz,note\n" + rows + "\n"), self.plain)

    def test_semicolons(self):
        self.assertEqual(self.stars(self.table(";", NAMES)), self.plain)
        self.assertEqual(self.stars(self.table(" ; ")), self.plain)
        text = self.table(";", NAMES + ["name"], lambda k: ";" if k == 2 else ";HD 1, A")
        self.assertEqual(self.stars(text), self.plain)
        self.assertEqual(self.stars(self.table(";"), "COLUMNS='1 2 3 4 5 6 7'"), self.plain)
        text = self.table(";", ["mass [Msun]"] + [q + " [pc]" for q in "xyz"] + ["v" + q + " [km/s]" for q in "xyz"])
        self.assertIn("Msun, pc, km/s, as the file says", self.check(text))

    def test_decimal_commas(self):
        """Named, whatever stands between the numbers."""
        comma = self.table("|").replace(".", ",")
        for separator in (";", " ", "\t", "; "):
            for head in ("", separator.join(NAMES) + "\n"):
                self.refuse(head + comma.replace("|", separator),
                            ["t.dat:%d: the numbers have commas for decimal points" % (2 if head else 1)],
                            absent=("COLUMNS",))
        quoted = "\n".join(",".join('"%s"' % word for word in line.split("|")) for line in comma.splitlines()) + "\n"
        self.refuse(",".join(NAMES) + "\n" + quoted, ["t.dat:2: column 1 (mass): ", "has a comma for a decimal point"])

    def test_first_line_with_n(self):
        for first in ("8\n", "  8  \n", "# stars\n8\n", "8 0.0\n", "# m x y z vx vy vz\n8\n", "8\nm x y z vx vy vz\n"):
            self.assertEqual(self.stars(first + self.table()), self.plain, first)
        self.assertIn("of t = 2.5 there", self.check("8 2.5\n" + self.table()))
        self.assertEqual(len(self.stars("8\n" + self.table(), "UNITS='nbody'", n="N=5").splitlines()), 5)
        self.refuse("9\n" + self.table(), ["its first line says 9 stars, but 8 rows follow"])
        self.refuse("1\n" + self.table(), ["its first line says 1 star, but 8 rows follow; remove"])
        self.refuse("7\n" + self.table(), ["its first line says 7 stars, but 8 rows follow"])
        self.refuse("8\n3\n0\n" + "0.125\n" * 8, ["t.dat:2: 1 column,", "KZ(22) = 3"])
        self.refuse("8.5\n" + self.table(), ["t.dat:1: 1 column, but a row is m x y z vx vy vz"],
                    absent=("COLUMNS", "run it"))

    def test_exponents_of_fortran(self):
        text = self.table().replace("0.125000", "1.25-1").replace("-1.505829", "-15.05829D-1")
        text = text.replace("0.066336", "0.66336-001")
        self.assertEqual(self.stars(text), self.plain)
        tiny = self.stars(self.table().replace("0.066336", "0.123-103"))
        self.assertEqual(tiny, self.stars(self.table().replace("0.066336", "0.123E-103")))
        self.assertNotEqual(tiny, self.plain)
        self.assertEqual(self.stars(self.table().replace("1.288185", "0.1288185+1")), self.plain)
        for word in ("1.0-", "1-2-3", "1.0e-2-3", "1--2", "0.1+-3"):
            self.refuse(self.table().replace("1.288185", word), ["t.dat:1: column 2 (x): '%s' is not a number" % word])

    def test_head_that_lacks_columns(self):
        names = NAMES[:6] + ["v_last"]
        for comment in ("", "# "):
            text = comment + ",".join(names) + ",note\n" + self.table(",", tail=lambda k: ",ok")
            self.refuse(text, ["t.dat:1: this line names the columns mass x y z vx vy, but not vz; give it a column",
                               "COLUMNS"])
        self.refuse("id m x y z\n" + "".join("%d 0.1 %d 2 3\n" % (k, k) for k in range(5)),
                    ["this line names the columns mass x y z, but not vx vy vz; give each of them"])
        self.refuse(self.table(",", ["M"] + NAMES[1:]), ["this line names the columns M x y z vx vy, but not U3"],
                    "COLUMNS='M x y z vx vy U3'")
        self.assertEqual(self.stars("# mass, then x y z\n" + self.table()), self.plain)  # a comment that names some

    def test_sky(self):
        text = "source_id,ra,dec,parallax,pmra,pmdec,radial_velocity\n1,56.7,24.1,7.3,20.1,-45.2,5.5\n"
        self.refuse(text, ["positions on the sky", "SkyCoord", "masses"], absent=("this line names",))
        text = "source_id ra [deg] dec [deg] parallax [mas] phot_g_mean_mag\n1 56.7 24.1 7.3 12\n"
        self.refuse(text, ["positions on the sky"])
        text = self.table(",", NAMES + ["ra", "dec"], lambda k: ",1,2")  # beside places in space they do no harm
        self.assertEqual(self.stars(text), self.plain)

    def test_si(self):
        """Tables in kg, m and m/s: their numbers are large, and those of the stars are not."""
        def rows(mass, length, velocity):
            return "\n".join(" ".join("%.15g" % value for value in [(m + 0.01 * k) * mass] + [q * length for q in rest[:3]]
                                      + [q * velocity for q in rest[3:]]) for k, (m, *rest) in enumerate(ROWS)) + "\n"

        def numbers(text, model=""):
            text = self.check(text, model).split("\n  length unit RBAR")[1].split("\n  energy checks")[0]
            return [float(word) for word in re.findall(r" ([\d.]+(?:e[+-]\d+)?)(?= )", text)]

        msun, pc = 1.988409870698051e30, 3.0856775814913673e16  # GM_sun = 1.3271244e20, G of CODATA 2018
        si, astro = rows(msun, pc, 1e3), numbers(rows(1, 1, 1), "UNITS='astro'")
        self.assertGreater(len(astro), 12)
        cases = [(si, "UNITS='kg m m/s'"), (rows(msun * 1e3, pc * 100, 1e5), "UNITS='g cm cm/s'")]
        cases += [(head + si, "") for head in ("mass_kg x_m y_m z_m vx_m/s vy_m/s vz_m/s\n",
                                              "m x y z vx vy vz\nkg m m m m/s m/s m/s\n")]
        for text, model in cases:
            for found, wanted in zip(numbers(text, model), astro):
                self.assertAlmostEqual(found / wanted, 1, delta=1e-5)  # six digits are printed
        self.check(si, "UNITS='scaled'")
        self.refuse(si, ["t.dat:1: column 1 (mass): ", "is larger than 1e15"], absent=("COLUMNS", "run it"))
        self.refuse(rows(1e16 * msun, pc, 1e3), ["is larger than 1e15 Msun, pc or km/s"], "UNITS='kg m m/s'")

    def test_massless(self):
        """Stars of mass 0 are attracted and attract nobody, which is said."""
        self.assertNotIn("mass 0", self.check(self.table()))
        text = self.table().splitlines()
        text[3] = text[3].replace("0.125000", "0", 1)
        self.assertIn("; star 4 has mass 0, and attracts no other", self.check("\n".join(text) + "\n", "UNITS='nbody'"))
        text[5] = text[5].replace("0.125000", "0", 1)
        self.assertIn("; 2 stars have mass 0, star 4 and others, and attract none", self.check("\n".join(text) + "\n", "UNITS='nbody'"))

    def test_clauses_that_apply(self):
        """Of a first row that cannot be read: what may help there, and nothing else."""
        self.refuse(self.table().replace("1.288185", "1.2x8"), ["'1.2x8' is not a number\n"])
        self.refuse("M_star px py pz ux uy uz\n" + self.table(), ["COLUMNS='...'"], absent=("run it",))
        self.refuse("&ININPUT N=5 /\n", ["run it: `nbody6 t.dat`"], absent=("COLUMNS",))
        shutil.copy(self.path("t.inp"), self.path("u.inp"))
        self.write("v.inp", "&INMODEL DATA='u.inp' /\n")
        self.assertIn("run it: `nbody6 u.inp`", self.run_command("--check", "v.inp", code=2))
        head = "m [Msun],x [pc],y [pc],z [pc],vx [km/s],vy [km/s],vz [km/s]\n" + self.table(",")
        self.refuse(head, ["set UNITS='astro' in &INMODEL\n"], "UNITS='nbody'")
        self.refuse(head, ["set UNITS='astro' in &INMODEL or KZ(22) = 10"], n="KZ(22)=2")
        for path, counts in (("none.dat", True), (self.path("none.dat"), False)):
            self.write("v.inp", "&INMODEL DATA='%s' /\n" % path)
            self.assertEqual("it counts from the current folder" in self.run_command("--check", "v.inp", code=2), counts)


if __name__ == "__main__":
    unittest.main()
