"""The guide for legacy Fortran programs, docs/abi.md, is right: its commands make programs that run, from trees that look
like those of NBODY6 and NBODY6++GPU, with installed libraries, shared and static; and what the libraries say when they
are opened, with each variable of the environment, is what the guide says.

The program that stands for the legacy one is tests/fortran/legacy_run.F90: it makes the calls in the order of the legacy
programs and compares the forces with sums in double."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

from run_support import BUILD, NBODY6

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FC = os.environ.get("FC", "gfortran")
CC = os.environ.get("CC", "cc")
PROGRAM = os.path.join(SOURCE, "tests", "fortran", "legacy_run.F90")

# Objects of the old libraries, and some of the symbols that they define.
OLD_NBODY6 = {"gpunb": ["gpunb_open_", "gpunb_close_", "gpunb_send_", "gpunb_regf_"], "gpupot": ["gpupot_"],
              "cnbint": ["cnbint_"], "wtime": ["wtime_"], "cxvpred": ["cxvpred_"],
              "gpuirr": ["gpuirr_%s_" % name for name in ("open", "close", "set_jp", "set_list", "pred_all", "pred_act",
                                                          "firr_vec")]}
# Copies that its makefile leaves beside them, with the same symbols
COPIES_NBODY6 = {"gpunb.avx": OLD_NBODY6["gpunb"], "gpupot.avx": OLD_NBODY6["gpupot"]}
OLD_NBODY6PP = {"reg.avx": ["gpunb_devinit_", "gpunb_open_", "gpunb_close_", "gpunb_send_", "gpunb_regf_",
                            "gpunb_profile_"], "pot.avx": ["gpupot_"],
                "irr.avx": ["irr_simd_%s_" % name for name in ("open", "close", "profile", "set_jp", "set_list",
                                                               "firr_vec")]}
MAKEFILE = """\
OBJECTS = nbody6.o
AVX_OBJECTS = reg.avx.o pot.avx.o irr.avx.o
nbody6++.avx: $(OBJECTS) $(AVX_OBJECTS)
\tgfortran -fopenmp -o $@ $(OBJECTS) $(AVX_OBJECTS)
"""


def environment(**more):
    """That of the tests without what chooses anything for the libraries."""
    chosen = ("GPUNB_BACKEND", "GPUNB_PRECISION", "GPUIRR_BACKEND", "GPU_LIST", "NBC_QUIET", "LD_LIBRARY_PATH",
              "LD_RUN_PATH")
    return dict({name: value for name, value in os.environ.items() if name not in chosen}, **more)


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=300, **more)


def backends(kind):
    """{name: why it is not available, or None}, best first, of the regular or irregular force."""
    text = run([NBODY6, "--list-devices"], env=environment()).stdout.partition(kind)[2].partition("\n")[2]
    rows = re.findall(r"^  (\w+) .*?(?:: not available: (.*))?$|^(\S.*)$", text, re.M)
    found = {}
    for name, reason, heading in rows:
        if heading:
            break
        found[name] = reason or None
    return found


class GuideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="nb6_legacy_")
        cls.prefix = os.path.join(cls.folder, "prefix")
        done = run(["make", "--no-print-directory", "-C", SOURCE, "install-legacy", "BUILD=" + BUILD,
                    "PREFIX=" + cls.prefix])
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        # The guide says gfortran; the tests may use another one.
        os.mkdir(os.path.join(cls.folder, "bin"))
        with open(os.path.join(cls.folder, "bin", "gfortran"), "w") as file:
            file.write('#!/bin/sh\nPATH=%s exec %s "$@"\n' % (os.environ["PATH"], FC))
        os.chmod(os.path.join(cls.folder, "bin", "gfortran"), 0o755)
        cls.environment = environment(
            PATH=os.path.join(cls.folder, "bin") + os.pathsep + os.environ["PATH"],
            PKG_CONFIG_PATH=os.path.join(cls.prefix, "lib", "pkgconfig"), OMP_NUM_THREADS="2", NBC_QUIET="")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def tree(self, name, dialect, old_objects, flags=""):
        """A folder with the objects of a program and those of its old libraries, which only say that they are old."""
        tree = os.path.join(self.folder, name)
        os.makedirs(tree)
        self.shell(tree, "gfortran -O1 -cpp -fopenmp %s -D%s -c -o nbody6.o %s" % (flags, dialect, PROGRAM))
        for old, symbols in old_objects.items():
            with open(os.path.join(tree, old + ".c"), "w") as file:
                file.write("#include <stdio.h>\n#include <stdlib.h>\n")
                for symbol in symbols:
                    file.write("void %s(void);\nvoid %s(void)\n{\n    puts(\"old\");\n    exit(9);\n}\n" % (symbol, symbol))
            self.shell(tree, "%s -c -o %s.o %s.c" % (CC, old, old))
        return tree

    def shell(self, tree, script, status=0):
        done = run(["sh", "-e", "-c", script], cwd=tree, env=self.environment)
        self.assertEqual(done.returncode, status, "%s\n%s%s" % (script, done.stdout, done.stderr))
        return done.stdout

    def blocks(self, program):
        """The commands of the guide for a program, with the prefix of this test."""
        with open(os.path.join(SOURCE, "docs", "abi.md"), encoding="utf-8") as file:
            found = re.findall(r"^( *)```sh %s\n(.*?)^ *```" % program, file.read(), re.M | re.S)
        return [re.sub("^" + indent, "", text, flags=re.M).replace("/usr/local", self.prefix) for indent, text in found]

    def expect_run(self, tree, program, libraries):
        done = run(["./" + program], cwd=tree, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^1\.\.\d+$")
        said = [line.split()[0] for line in done.stderr.splitlines() if ": backend " in line]
        self.assertEqual(said, libraries)

    def expect_old(self, tree, program, said):
        """The program calls old objects, and standard error has these lines of the libraries, or none of a quiet one."""
        done = run(["./" + program], cwd=tree, env=self.environment)
        self.assertEqual((done.returncode, done.stdout), (9, "old\n"), done.stderr)
        self.assertEqual(done.stderr.splitlines(), said)
        done = run(["./" + program], cwd=tree, env=dict(self.environment, NBC_QUIET="1"))
        self.assertEqual((done.returncode, done.stderr), (9, ""))

    def kinds(self, text):
        """{kind: symbols} of the lines that nm writes."""
        found = {}
        for line in text.splitlines():
            kind, symbol = line.split()[-2:]
            found.setdefault(kind, set()).add(symbol)
        return found

    def test_nbody6(self):
        """A tree like GPU2, whose makefile links in Build and leaves copies of objects there."""
        tree = self.tree("GPU2/Build", "DIALECT_NBODY6", dict(OLD_NBODY6, **COPIES_NBODY6))
        for name in ("intgrt.omp.f", "fpoly0.f"):
            with open(os.path.join(tree, os.pardir, name), "w") as file:
                file.write("          H2I(L) = RS(I)**2/BODYM\n")
        dialect, objects, shared, static, called, static_called = self.blocks("nbody6")
        self.assertIn("RS(I)**2/BODYM", self.shell(tree, dialect))
        found = {line.split(":")[0] for line in self.shell(tree, objects).splitlines()}
        self.assertEqual(found, {name + ".o" for name in list(OLD_NBODY6) + list(COPIES_NBODY6)})
        # A copy that is left in wins over a library, shared or static; ldd shows both libraries all the same.
        remove, link = shared.splitlines()
        self.shell(tree, "mkdir copies; mv gpunb.avx.o gpupot.avx.o copies\n%s\ncp copies/*.o .\n%s" % (remove, link))
        self.assertEqual(self.shell(tree, "ldd nbody6").count(self.prefix), 2)
        self.assertEqual(self.kinds(self.shell(tree, called))["T"], set(OLD_NBODY6["gpunb"] + OLD_NBODY6["gpupot"]))
        self.expect_old(tree, "nbody6", ["libgpunb_nbody6: calls do not reach it, because ./nbody6 defines them: "
                                         "gpunb_close_ gpunb_open_ gpunb_regf_ gpunb_send_ gpupot_ (old objects? "
                                         "docs/abi.md)"])
        self.shell(tree, static)
        self.assertEqual(self.kinds(self.shell(tree, static_called)), {"R": {"gpuirr_legacy_calls"}})
        self.shell(tree, shared)
        self.expect_run(tree, "nbody6", ["libgpunb_nbody6", "libgpuirr"])
        self.assertEqual(self.kinds(self.shell(tree, called)),
                         {"U": set().union(*OLD_NBODY6.values()) - {"wtime_"}})
        self.shell(tree, static)
        self.expect_run(tree, "nbody6.static", ["libgpunb_nbody6", "libgpuirr"])
        self.assertEqual(self.kinds(self.shell(tree, static_called)),
                         {"R": {"gpunb_legacy_calls", "gpuirr_legacy_calls"}})
        self.assertNotIn("gpunb", self.shell(tree, "ldd nbody6.static"))

    def test_one_old_object(self):
        """The line of a library names the file and the calls that are hidden; a clock of the program's own is no fault."""
        tree = self.tree("one", "DIALECT_NBODY6", {"cxvpred": ["cxvpred_"], "wtime": ["wtime_"], "irr": ["gpuirr_firr_"]})
        link = "gfortran -fopenmp -o %%s *.o -L%s/lib -lgpunb_nbody6 -lgpuirr -Wl,-rpath,%s/lib" % (self.prefix, self.prefix)
        self.shell(tree, link % "a")
        lines = ["libgpunb_nbody6: calls do not reach it, because ./a defines them: cxvpred_ (old objects? docs/abi.md)",
                 "libgpuirr: calls do not reach it, because ./a defines them: gpuirr_firr_ (old objects? docs/abi.md)"]
        done = run(["./a", "open"], cwd=tree, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(line for line in done.stderr.splitlines() if "calls" in line), sorted(lines))
        self.shell(tree, "rm cxvpred.o irr.o; " + link % "b")
        self.assertNotIn("calls", run(["./b", "open"], cwd=tree, env=self.environment).stderr)
        # Two dialects
        self.shell(tree, "rm wtime.o; %s -lgpunb -lgpunb_nbody6 -lgpuirr -Wl,--no-as-needed -lgpunb -Wl,-rpath,%s/lib"
                   % (link.split(" -lgpunb_nbody6")[0] % "c -Wl,--no-as-needed", self.prefix))
        line, = [line for line in run(["./c", "open"], cwd=tree, env=self.environment).stderr.splitlines() if "calls" in line]
        self.assertRegex(line, r"^libgpunb_nbody6: calls do not reach it, because %s/lib/libgpunb\.so\.0 defines them: "
                         r"cnbint_ cxvpred_ gpunb_close_ " % re.escape(self.prefix))

    def test_large_code_model(self):
        tree = self.tree("large", "DIALECT_NBODY6", {}, flags="-mcmodel=large")
        static = self.blocks("nbody6")[3].strip()
        done = run(["sh", "-c", static], cwd=tree, env=self.environment)
        if done.returncode != 0:
            self.assertIn("failed to convert GOTPCREL relocation", done.stderr)
        self.shell(tree, static + " -mcmodel=large -Wl,--no-relax")
        self.expect_run(tree, "nbody6.static", ["libgpunb_nbody6", "libgpuirr"])

    def test_nbody6pp(self):
        tree = self.tree("nbody6pp/build", "DIALECT_NBODY6PP", OLD_NBODY6PP)
        with open(os.path.join(tree, "Makefile"), "w") as file:
            file.write(MAKEFILE)
        self.shell(tree, "make")
        self.assertEqual(run(["./nbody6++.avx"], cwd=tree, env=self.environment).returncode, 9)
        objects, shared, static, called, static_called = self.blocks("nbody6pp")
        found = {line.split(":")[0] for line in self.shell(tree, objects).splitlines()}
        self.assertEqual(found, {name + ".o" for name in OLD_NBODY6PP})
        self.assertEqual(self.kinds(self.shell(tree, called)), {"T": set().union(*OLD_NBODY6PP.values())})
        self.shell(tree, shared)
        self.expect_run(tree, "nbody6++.avx", ["libgpunb_nbody6pp", "libgpuirr_nbody6pp"])
        self.assertEqual(set(self.kinds(self.shell(tree, called))), {"U"})
        self.assertEqual(self.shell(tree, "ldd nbody6++.avx").count(self.prefix), 2)
        self.shell(tree, static)
        self.expect_run(tree, "nbody6++.static", ["libgpunb_nbody6pp", "libgpuirr_nbody6pp"])
        self.assertEqual(self.kinds(self.shell(tree, static_called)),
                         {"R": {"gpunb_legacy_calls", "gpuirr_legacy_calls"}})
        self.assertNotIn("gpunb", self.shell(tree, "ldd nbody6++.static"))

    def test_without_rpath_the_loader_is_told(self):
        tree = self.tree("no_rpath", "DIALECT_NBODY6", {})
        self.shell(tree, "gfortran -fopenmp -o nbody6 *.o -L%s/lib -lgpunb_nbody6 -lgpuirr" % self.prefix)
        done = run(["./nbody6", "open"], cwd=tree, env=self.environment)
        self.assertEqual(done.returncode, 127)
        self.assertIn("error while loading shared libraries: libgpunb_nbody6.so.0", done.stderr)
        done = run(["./nbody6", "open"], cwd=tree,
                   env=dict(self.environment, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib")))
        self.assertEqual(done.returncode, 0, done.stderr)


class EnvironmentTest(unittest.TestCase):
    """Of each dialect a program that opens and closes both libraries."""

    DIALECTS = {"na12": ("libgpunb", "libgpuirr"), "nbody6": ("libgpunb_nbody6", "libgpuirr"),
                "nbody6pp": ("libgpunb_nbody6pp", "libgpuirr_nbody6pp")}

    def each(self, status=0, **variables):
        """(names of the libraries, lines on standard error) of each dialect."""
        for dialect, names in self.DIALECTS.items():
            with self.subTest(dialect=dialect, **variables):
                program = os.path.join(BUILD, "tests", "fortran", "legacy_run_" + dialect)
                done = run([program, "open"], env=environment(OMP_NUM_THREADS="3", **variables))
                self.assertEqual(done.returncode, status, done.stderr)
                yield names, done.stderr.splitlines()

    def best(self, kind):
        return next(name for name, reason in backends(kind).items() if reason is None and name != "cuda")

    def test_a_line_of_each_library(self):
        regular, irregular = self.best("regular force"), self.best("irregular force")
        for names, lines in self.each():
            self.assertEqual(len(lines), 2)
            for name, line, backend in zip(names, lines, (regular, irregular)):
                self.assertRegex(line, r"^%s \d+\.\d+\.\d+(, rank 0)?: backend %s on the processor, 3 threads, "
                                 r"precision twofloat" % (name, backend))
            self.assertEqual(", rank 0" in lines[0], names[0].endswith("pp"))
            # The message says why a GPU is not used, or that there are not enough sources.
            reason = backends("regular force")["cuda"]
            self.assertIn("; not used: cuda (%s)" % (reason or "from 4096 sources on"), lines[0])

    def test_quiet(self):
        for _, lines in self.each(NBC_QUIET="1"):
            self.assertEqual(lines, [])
        for _, lines in self.each(NBC_QUIET="0"):
            self.assertEqual(len(lines), 2)

    def test_backends(self):
        for _, lines in self.each(GPUNB_BACKEND="ref", GPUIRR_BACKEND="ref"):
            self.assertIn(": backend ref on the processor, 3 threads, precision double; not used: cuda (", lines[0])
            self.assertIn("portable (GPUNB_BACKEND is ref)", lines[0])
            self.assertIn(": backend ref on the processor, 3 threads, precision double; not used: ", lines[1])
            self.assertIn("portable (GPUIRR_BACKEND is ref)", lines[1])
        for _, lines in self.each(status=5, GPUNB_BACKEND="abacus"):
            self.assertEqual(len(lines), 1)
            self.assertRegex(lines[0], r"^gpunb_open: .*'abacus' \(in \$GPUNB_BACKEND\); known: cuda .*portable ref emulated$")
        for _, lines in self.each(GPUNB_BACKEND="emulated:1,0", GPUIRR_BACKEND="emulated"):
            self.assertIn(": backend emulated on emulated device 1, emulated device 0, 3 threads, precision twofloat; "
                          "not used: ", lines[0])
            self.assertIn("ref (GPUNB_BACKEND is emulated:1,0)", lines[0])
            self.assertIn(": backend emulated on emulated device 0, 3 threads, precision twofloat; not used: ", lines[1])
            self.assertIn("ref (GPUIRR_BACKEND is emulated)", lines[1])
        for names, lines in self.each(status=5, GPUIRR_BACKEND="abacus", NBC_QUIET="1"):
            call = "irr_simd_open" if names[1].endswith("pp") else "gpuirr_open"
            self.assertEqual(len(lines), 1)
            self.assertRegex(lines[0], "^%s: .*'abacus' .*GPUIRR_BACKEND" % call)

    def test_irregular_forces_on_a_gpu(self):
        reason = backends("irregular force")["cuda"]
        if reason is None:
            for _, lines in self.each(GPUIRR_BACKEND="cuda"):
                self.assertRegex(lines[1], r": backend cuda on device 0 \(.*\), 3 threads, precision twofloat; not used: ")
            for _, lines in self.each(status=5, GPUIRR_BACKEND="cuda", GPUNB_BACKEND="ref", GPU_LIST="99"):
                self.assertIn("GPU_LIST is '99': it must begin with the number of a CUDA device", lines[-1])
        else:
            for _, lines in self.each(status=5, GPUIRR_BACKEND="cuda", NBC_QUIET="1"):
                self.assertEqual(len(lines), 1)
                self.assertIn("backend 'cuda' (from the environment variable GPUIRR_BACKEND) is not available: " + reason,
                              lines[0])

    def test_hidden_instruction_sets(self):
        for _, lines in self.each(NBC_ISA="baseline"):
            for line in lines:
                self.assertIn(": backend portable on the processor", line)
                for level in [name for name in ("avx512", "avx2") if name in backends("irregular force")]:
                    self.assertRegex(line, r"[:,] %s \((hidden by the environment variable NBC_ISA|this processor has)"
                                     % level)
        for _, lines in self.each(status=1, NBC_ISA="avx3"):
            self.assertEqual(len(lines), 1)
            self.assertIn("NBC_ISA is 'avx3'", lines[0])

    def test_precision(self):
        for _, lines in self.each(GPUNB_PRECISION="float"):
            self.assertIn(", precision float", lines[0])
            self.assertIn(", precision twofloat", lines[1])
        for _, lines in self.each(GPUNB_PRECISION="double", GPUNB_BACKEND="ref"):
            self.assertIn(", precision double", lines[0])
        for _, lines in self.each(status=5, GPUNB_PRECISION="double", GPUNB_BACKEND="portable"):
            self.assertEqual(len(lines), 1)
            self.assertIn("has no precision 'double'", lines[0])
        for _, lines in self.each(status=1, GPUNB_PRECISION="quadruple"):
            self.assertEqual(len(lines), 1)
            self.assertRegex(lines[0], "^gpunb_open: .*GPUNB_PRECISION is 'quadruple'; it must be float, twofloat or double")

    def test_a_gpu_that_is_asked_for(self):
        reason = backends("regular force")["cuda"]
        if reason is None:
            for _, lines in self.each(GPU_LIST="0"):
                self.assertRegex(lines[0], r": backend cuda on device 0 \(.*\), 3 threads, precision twofloat$")
            for _, lines in self.each(status=5, GPU_LIST="99"):
                self.assertIn("'99' is no list of CUDA devices", lines[0])
        else:
            for _, lines in self.each(status=5, GPU_LIST="0 1"):
                self.assertEqual(len(lines), 1)
                self.assertIn("GPU_LIST is '0 1', but there is no GPU to use: " + reason, lines[0])
            for _, lines in self.each(status=5, GPUNB_BACKEND="cuda"):
                self.assertEqual(len(lines), 1)
                self.assertIn("backend 'cuda' (in $GPUNB_BACKEND) is not available: " + reason, lines[0])
        for _, lines in self.each(GPU_LIST="0", GPUNB_BACKEND="portable"):
            self.assertIn(": backend portable on the processor", lines[0])
        for _, lines in self.each(GPU_LIST="", GPUNB_BACKEND="auto"):
            self.assertIn(" on the processor", lines[0])


if __name__ == "__main__":
    unittest.main()
