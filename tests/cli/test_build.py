"""What make says where something is missing, and how a run of tests ends. Nothing is compiled."""

import os
import re
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class BuildTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="nb6_build_")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.build = os.path.join(self.folder, "build")

    def run_make(self, *arguments, **variables):
        """Runs make as a user would, not as part of the make that runs this test; stdout and stderr come together."""
        environment = {name: value for name, value in os.environ.items()
                       if not re.match(r"MAKE|MFLAGS|(CC|FC|PKG_CONFIG|HDF5_\w+|GSL_\w+|CMOCKA_\w+|NB6_\w+)$", name)}
        environment.update(variables)
        done = subprocess.run(["make", "--no-print-directory", "BUILD=" + self.build, *arguments], cwd=SOURCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment)
        return done.returncode, done.stdout


class MissingTest(BuildTest):
    def expect(self, names, *arguments, others=(), **variables):
        """One line names what is missing and says what to do, and nothing is written."""
        status, text = self.run_make(*arguments, **variables)
        self.assertEqual(status, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        for name in (*names, "`make deps`"):
            self.assertIn(name, text)
        for name in others:
            self.assertNotIn(name, text)
        self.assertFalse(os.path.exists(self.build))

    def test_no_c_compiler(self):
        for goal in ("all", "libgpunb", "programs", "test-run"):
            self.expect(["C compiler no-such-cc"], goal, "CC=no-such-cc", others=["Fortran", "HDF5", "GSL"])
        self.expect(["C compiler no-such-cc"], "CC=no-such-cc")

    def test_no_headers(self):
        # a compiler that is there and compiles nothing
        self.expect(["stdio.h"], "CC=false")

    def test_no_fortran_compiler(self):
        self.expect(["Fortran compiler no-such-fc"], "FC=no-such-fc", others=["C compiler"])

    def test_no_libraries(self):
        self.expect(["HDF5", "GSL"], "PKG_CONFIG=false", others=["cmocka", "compiler"])
        self.expect(["HDF5", "GSL", "cmocka"], "tests", "PKG_CONFIG=false")
        self.expect(["HDF5", "GSL", "no-such-pkg-config"], "PKG_CONFIG=no-such-pkg-config")

    def test_one_library(self):
        # a pkg-config that knows all but GSL
        fake = os.path.join(self.folder, "pkg-config")
        with open(fake, "w") as file:
            file.write('#!/bin/sh\ncase "$*" in *gsl*) exit 1 ;; *--libs*) echo -lx ;; esac\n')
        os.chmod(fake, 0o755)
        self.expect(["GSL"], "tests", "PKG_CONFIG=" + fake, others=["HDF5", "cmocka"])

    def test_nothing_on_the_path(self):
        tools = os.path.join(self.folder, "bin")
        os.mkdir(tools)
        for name in ("make", "sh", "sed", "ls"):
            found = next(path for path in (os.path.join(folder, name) for folder in os.get_exec_path())
                         if os.access(path, os.X_OK))
            os.symlink(found, os.path.join(tools, name))
        self.expect(["C compiler gcc", "Fortran compiler gfortran", "HDF5", "GSL", "pkg-config"], PATH=tools)

    def test_what_needs_no_compiler(self):
        for goal in ("help", "clean"):
            status, text = self.run_make(goal, "CC=no-such-cc", "FC=no-such-fc", "PKG_CONFIG=false")
            self.assertEqual(status, 0, text)

    def test_libraries_named_by_hand(self):
        status, text = self.run_make("-n", "PKG_CONFIG=false", "HDF5_LIBS=-lhdf5", "GSL_LIBS=-lgsl")
        self.assertEqual(status, 0, text)


if __name__ == "__main__":
    unittest.main()
