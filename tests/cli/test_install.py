"""The installation by `make install` works from there: libraries by pkg-config, headers, the command, uninstall."""

import fnmatch
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = os.environ.get("CC", "cc").split()
# Never installed without a folder
NEW_HEADERS = ("common/predictor.h", "gpunb/regf_device.h", "gpunb/softened_device.h", "gpunb/sums.h", "gpunb/tree.h",
               "gpunb/tree_kept.h", "nbody6/field_state.h", "stellar/stellar.h")
LIBRARIES = ("gpunb", "gpunb_nbody6", "gpunb_nbody6pp", "gpuirr", "gpuirr_nbody6pp", "stellar", "nbody6")

PROGRAM = """
#include <common/nbc.h>
#include <stdio.h>
int main(void)
{
    return puts(nbc_status_text(NBC_OK)) < 0;
}
"""
# With what needs GSL, and what needs HDF5: an archive gives a program what it calls, and asks for nothing else.
NBODY6_PROGRAM = """
#include <nbody6/model.h>
#include <nbody6/nbody6.h>
#include <stdio.h>
int main(void)
{
    struct nb6_config config;
    struct nb6_model model = {0};
    struct nbc_error err = {0};
    nb6_t *sim = NULL;
    const double mass[2] = {0.5, 0.5}, x[2][3] = {{0.5, 0, 0}, {-0.5, 0, 0}}, v[2][3] = {{0, 0.5, 0}, {0, -0.5, 0}};
    nb6_config_init(&config);
    if (nb6_create(&sim, &config, &err) || nb6_set_bodies(sim, 2, NULL, mass, x, v, &err) ||
        nb6_evolve(sim, 0.25, &err) || nb6_model_make(&config, &model, &err)) {
        puts(err.text);
        return 1;
    }
    printf("%g\\n", nb6_time_now(sim));
    if (nb6_checkpoint(sim, "/no/such/folder/a.h5", &err) != NBC_FILE) return 1;
    nb6_model_free(&model);
    nb6_free(sim);
    return 0;
}
"""
CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.10)
project(programs C)
set(CMAKE_C_STANDARD 11)
"""


def run(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **more)
    if done.returncode != 0:
        raise AssertionError("%s\n%s" % (" ".join(command), done.stdout))
    return done.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.prefix = os.path.join(cls.folder, "prefix")
        cls.said = cls.make("install")
        cls.environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(cls.prefix, "lib", "pkgconfig"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def make(cls, target):
        return run(["make", "--no-print-directory", "-C", SOURCE, target, "BUILD=" + BUILD, "PREFIX=" + cls.prefix])

    def pkg_config(self, *arguments):
        return run([os.environ.get("PKG_CONFIG", "pkg-config"), *arguments], env=self.environment).split()

    def compile(self, text, flags, name):
        source = os.path.join(self.folder, name + ".c")
        with open(source, "w") as file:
            file.write(text)
        program = os.path.join(self.folder, name)
        run([*CC, "-std=c11", source, "-o", program, *flags])
        return program

    def test_shared_libraries_link_and_run(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                flags = self.pkg_config("--cflags", "--libs", "lib" + library)
                program = self.compile(PROGRAM, flags, "shared_" + library)
                text = run([program], env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib")))
                self.assertEqual(text, "success\n")

    def test_static_libraries_link_and_run(self):
        for library in LIBRARIES:
            with self.subTest(library=library):
                flags = self.pkg_config("--cflags", "--libs", "--static", "lib" + library)
                archive = os.path.join(self.prefix, "lib", "lib%s.a" % library)
                flags = [archive if flag == "-l" + library else flag for flag in flags]
                self.assertEqual(run([self.compile(PROGRAM, flags, "static_" + library)]), "success\n")
                if library == "nbody6":
                    self.assertEqual(run([self.compile(NBODY6_PROGRAM, flags, "evolve_static")]), "0.25\n")

    def cmake_files(self):
        """The files that find_package reads, as filled in."""
        texts = []
        for name in ("nbody6-config.cmake", "nbody6-config-version.cmake"):
            with open(os.path.join(self.prefix, "lib", "cmake", "nbody6", name)) as file:
                texts.append(file.read())
            self.assertNotRegex(texts[-1], "@")
        return texts

    def test_cmake_file_says_what_pkg_config_says(self):
        """Places, libraries and what archives need: without CMake, which a machine may lack."""
        config, version = self.cmake_files()
        self.assertEqual(re.search(r"foreach\(_nbody6_name (.*)\)", config).group(1).split(), list(LIBRARIES))
        self.assertIn('"%s/lib/lib${_nbody6_name}"' % self.prefix, config)
        found = re.findall(r'INCLUDE_DIRECTORIES "(.*)"', config)
        self.assertEqual(set(found), {os.path.join(self.prefix, "include", "nbody6")})
        self.assertTrue(os.path.isdir(re.search(r'nbody6_FORTRAN_DIR "(.*)"', config).group(1)))
        self.assertIn('PACKAGE_VERSION "%s"' % self.pkg_config("--modversion", "libnbody6")[0], version)
        for library, needs in zip(("nbody6", "gpunb"), re.findall(r'_nbody6_needs "(.*)"', config)):
            static = self.pkg_config("--variable=static", "lib" + library)
            self.assertEqual(needs.split(";"), static[1:])

    def cmake(self, lines, *arguments):
        """Configure a project of these lines behind its beginning; what CMake says, and whether it succeeds."""
        if not shutil.which("cmake"):
            self.skipTest("there is no cmake on this machine")
        folder = tempfile.mkdtemp(dir=self.folder)
        files = {"CMakeLists.txt": CMAKE_PROJECT + lines, "evolve.c": NBODY6_PROGRAM, "text.c": PROGRAM}
        for name, text in files.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        done = subprocess.run(["cmake", "-S", folder, "-B", folder + "/build", "-DCMAKE_PREFIX_PATH=" + self.prefix,
                               "-DCMAKE_C_COMPILER=" + ";".join(CC), *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return folder, done.returncode == 0, done.stdout

    def test_cmake_finds_libraries_that_link_and_run(self):
        """Shared ones, archives, and archives where no shared library is installed."""
        programs = {"evolve": ("nbody6", "0.25\n"), "evolve_static": ("nbody6_static", "0.25\n"),
                    **{"text_" + name: (name, "success\n") for name in LIBRARIES},
                    "text_gpunb_static": ("gpunb_static", "success\n"),
                    "text_both": ("gpunb nbody6::gpuirr", "success\n")}
        lines = "find_package(nbody6 0.1 REQUIRED COMPONENTS nbody6 gpunb gpuirr)\n" + "".join(
            "add_executable(%s %s.c)\ntarget_link_libraries(%s nbody6::%s)\n" % (name, name.split("_")[0], name, target)
            for name, (target, _) in programs.items())
        folder, found, said = self.cmake(lines)
        self.assertTrue(found, said)
        run(["cmake", "--build", folder + "/build"])
        for name, (target, text) in programs.items():
            with self.subTest(program=name):
                program = os.path.join(folder, "build", name)
                self.assertEqual(run([program]), text)
                is_linked = re.search(r"lib(nbody6|stellar|gpu\w+)\.so\.0 => " + re.escape(self.prefix), run(["ldd", program]))
                self.assertEqual(bool(is_linked), not target.endswith("_static"))

    def test_cmake_is_told_what_is_not_there(self):
        for wanted, says in (("99", "version: 0.1"), ("0.0.1", "version: 0.1"),
                             ("REQUIRED COMPONENTS gpunb what", "library what")):
            _, found, said = self.cmake("find_package(nbody6 %s)\n"
                                        "if(NOT nbody6_FOUND)\n  message(FATAL_ERROR)\nendif()\n" % wanted)
            self.assertFalse(found, said)
            self.assertIn(says, said)

    def test_cmake_takes_archives_where_there_is_nothing_else(self):
        archives = os.path.join(self.folder, "archives")
        os.makedirs(archives)
        for name in LIBRARIES:
            os.symlink(os.path.join(self.prefix, "lib", "lib%s.a" % name), os.path.join(archives, "lib%s.a" % name))
        config, version = self.cmake_files()
        for name, text in (("nbody6-config.cmake", config), ("nbody6-config-version.cmake", version)):
            with open(os.path.join(archives, name), "w") as file:
                file.write(text.replace(self.prefix + "/lib/lib", archives + "/lib"))
        folder, found, said = self.cmake("find_package(nbody6 REQUIRED)\nadd_executable(evolve evolve.c)\n"
                                         "target_link_libraries(evolve nbody6::nbody6)\n", "-Dnbody6_DIR=" + archives)
        self.assertTrue(found, said)
        run(["cmake", "--build", folder + "/build"])
        self.assertEqual(run([os.path.join(folder, "build", "evolve")]), "0.25\n")

    def test_libnbody6_evolves_two_bodies(self):
        program = self.compile(NBODY6_PROGRAM, self.pkg_config("--cflags", "--libs", "libnbody6"), "evolve")
        text = run([program], env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib")))
        self.assertEqual(text, "0.25\n")

    def test_fortran_modules_compile_and_link(self):
        fortran = os.environ.get("FC", "gfortran").split()
        sources = os.path.join(self.prefix, "share", "nbody6", "fortran")
        for module, source, library in (("nbody6",) * 3, ("gpunb",) * 3, ("gpuirr",) * 3, ("stellar",) * 3,
                                        ("chain_regularization", "chain", "nbody6")):
            with self.subTest(module=module):
                main = os.path.join(self.folder, "use_%s.f90" % module)
                with open(main, "w") as file:
                    file.write("program p\n  use %s\n  implicit none\n  print '(a)', 'here'\nend program p\n" % module)
                program = os.path.join(self.folder, "use_" + module)
                run([*fortran, "-J", self.folder, os.path.join(sources, source + ".f90"), main, "-o", program,
                     *self.pkg_config("--libs", "lib" + library)])
                text = run([program], env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib")))
                self.assertEqual(text, "here\n")

    def test_examples_build_by_the_line_in_them_and_run(self):
        """Each from a copy of what is installed, with the command in its first lines."""
        expected = {"c/cluster.c": "the same bits", "c/come_and_go.c": "t = 2.000  0 stars come, 1 go",
                    "c/explosion.c": "at x = 2: potential -0.45", "c/stars.c": "Msun  black hole",
                    "fortran/cluster.f90": "the same bits", "fortran/come_and_go.f90": "t =  3.000  N = 303",
                    "fortran/explosion.f90": "the origin and at x = 2:   -1.5", "fortran/stars.f90": "386 remnants"}
        folder = os.path.join(self.folder, "programs")
        shutil.copytree(os.path.join(self.prefix, "share", "nbody6", "programs"), folder)
        found = sorted(os.path.relpath(path, folder) for path in glob.glob(folder + "/*/*.*")
                       if not path.endswith(".ipynb"))  # tests/cli/test_notebook.py runs those
        self.assertEqual(found, sorted(expected))
        environment = dict(self.environment, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib"))
        for name in found:
            with self.subTest(example=name):
                with open(os.path.join(folder, name)) as file:
                    text = re.sub(r"\\\n!", "", file.read())
                line = re.search(r"^[ !*]*   ((?:cc|gfortran) .*)$", text, re.M).group(1)
                compiler = CC if line.startswith("cc ") else os.environ.get("FC", "gfortran").split()
                line = " ".join(compiler) + " -Wall -Wextra -Werror" + line[line.index(" "):]
                here = os.path.join(folder, os.path.dirname(name))
                run(["sh", "-c", line], cwd=here, env=environment)
                text = run([os.path.join(here, os.path.splitext(os.path.basename(name))[0])], cwd=here, env=environment)
                self.assertIn(expected[name], text)

    def headers(self):
        """Names of the installed headers from the folder that pkg-config names: in folders, and those in none."""
        root = os.path.join(self.prefix, "include", "nbody6")
        found = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root)
                       for name in names)
        return root, [name for name in found if "/" in name], [name for name in found if "/" not in name]

    def check_syntax(self, texts, *flags):
        """Compile pieces of C, each by itself."""
        paths = [os.path.join(self.folder, "piece_%d.c" % k) for k in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w") as file:
                file.write(text)
        run([*CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *flags, *paths])

    def test_each_header_stands_alone(self):
        """Found by one path of includes, or by none; a name of before is a line that leads to the header of now."""
        root, headers, old = self.headers()
        for name in ("nbody6/nbody6.h", "nbody6/event.h", "gpunb/gpunb.h", "gpuirr/gpuirr.h", "regularization/ks.h",
                     "common/nbc.h"):
            self.assertIn(name, headers)
        with_old_name = [name for name in headers if name not in NEW_HEADERS]
        self.assertEqual(sorted(map(os.path.basename, with_old_name)), old)
        flags = self.pkg_config("--cflags", "libnbody6")
        self.check_syntax(["#include <%s>\n" % name for name in headers + old], *flags)
        self.check_syntax(['#include "%s"\n' % os.path.join(root, name) for name in headers + old])
        for name in with_old_name:
            with open(os.path.join(root, os.path.basename(name))) as file:
                text = file.read()
            self.assertRegex(text, r'^#include "%s" /\* .* next version \*/\n$' % re.escape(name))

    def test_headers_of_both_names_go_together(self):
        self.check_syntax(["#include <%s>\n#include \"%s\"\n" % (name, os.path.basename(name)) +
                           "int f(struct nbc_error *err);\n" for name in ("common/nbc.h", "nbody6/nbody6.h")],
                          *self.pkg_config("--cflags", "libnbody6"))

    def test_static_libraries_of_a_dialect_link_together(self):
        # As a legacy build uses them: both libraries hold common's objects.
        flags = self.pkg_config("--cflags", "--libs", "--static", "libgpunb_nbody6", "libgpuirr")
        archives = {"-l" + name: os.path.join(self.prefix, "lib", "lib%s.a" % name)
                    for name in ("gpunb_nbody6", "gpuirr")}
        text = "void gpunb_close_(void);\nvoid gpuirr_close_(void);\n" \
               "int main(int argc, char **argv)\n{\n    (void)argv;\n" \
               "    if (argc > 9) {\n        gpunb_close_();\n        gpuirr_close_();\n    }\n    return 0;\n}\n"
        program = self.compile(text, [archives.get(flag, flag) for flag in flags], "legacy")
        run([program])

    def test_command_and_its_pictures_are_installed(self):
        self.assertIn("nbody6", run([os.path.join(self.prefix, "bin", "nbody6"), "--help"]))
        python = os.environ.get("PYTHON", "python3")
        self.assertIn("NAME", run([python, os.path.join(self.prefix, "bin", "nbody6-plot"), "--help"]))
        self.assertIn("MASS", run([python, os.path.join(self.prefix, "bin", "nbody6-star"), "--help"]))
        self.assertIn("nbody6-chain", run([os.path.join(self.prefix, "bin", "nbody6-chain"), "--help"]))
        softened = os.path.join(self.prefix, "bin", "nbody6-collisionless")
        self.assertIn("nbody6-collisionless", run([softened, "--help"]))
        for page in ("nbody6.1", "nbody6-chain.1", "nbody6-collisionless.1", "nbody6-plot.1", "nbody6-star.1"):
            self.assertTrue(os.path.exists(os.path.join(self.prefix, "share", "man", "man1", page)))

    def test_what_is_said_of_a_folder_that_the_loader_does_not_know(self):
        self.assertIn("-Wl,-rpath,%s/lib" % self.prefix, self.said)

    def test_ldconfig_runs_for_a_folder_that_the_loader_knows(self):
        folder = os.path.join(self.folder, "system")
        os.makedirs(os.path.join(folder, "lib"))
        for name, text in (("ldconfig", '[ -z "$1" ] && touch "${0%%/*}/ran" || echo "%s/lib: (from somewhere)"'),
                           ("id", 'echo ${PRETEND:-0}')):
            with open(os.path.join(folder, name), "w") as file:
                file.write("#!/bin/sh\n%s\n" % (text % folder if "%s" in text else text))
            os.chmod(os.path.join(folder, name), 0o755)
        script, path = os.path.join(SOURCE, "packaging", "ldconfig.sh"), folder + os.pathsep + os.environ["PATH"]
        text = run([script, folder + "/lib"], env=dict(os.environ, PATH=path, PRETEND="1000"))
        self.assertIn("sudo ldconfig", text)
        self.assertFalse(os.path.exists(folder + "/ran"))
        self.assertEqual(run([script, folder + "/lib"], env=dict(os.environ, PATH=path)), "")
        self.assertTrue(os.path.exists(folder + "/ran"))

    def test_dist_has_the_sources(self):
        if not os.path.exists(os.path.join(SOURCE, ".git")):
            self.skipTest("the sources are no git checkout")
        archive = os.path.join(self.folder, "nbody6.tar.gz")
        script = os.path.join(SOURCE, "packaging", "dist.sh")
        run([script, "nbody6-0", archive], cwd=SOURCE)
        names = run(["tar", "-tzf", archive]).splitlines()
        for name in ("Makefile", "config.mk", "nbody6/app/main.c", "packaging/debian/rules", "docs/input.md", "LICENSE"):
            self.assertIn("nbody6-0/" + name, names)
        self.assertFalse([name for name in names if not name.startswith("nbody6-0/")])
        with open(archive, "rb") as file:
            first = file.read()
        run([script, "nbody6-0", archive], cwd=SOURCE)
        with open(archive, "rb") as file:
            self.assertEqual(file.read(), first)

    def test_citation_is_of_this_version(self):
        with open(os.path.join(SOURCE, "CITATION.cff")) as file:
            version = re.search(r"^version: (.*)$", file.read(), re.M).group(1)
        self.assertIn(" %s\n" % version, run([os.path.join(BUILD, "nbody6"), "--version"]))

    def test_debian_packages_hold_all_that_is_installed(self):
        """Each installed file is in one of the lists in packaging/debian alone, and each list finds files."""
        patterns = {}
        for path in glob.glob(os.path.join(SOURCE, "packaging", "debian", "*.install")):
            with open(path) as file:
                for line in file.read().split():
                    rule = fnmatch.translate(line.replace("/*/", "/"))[:-2]
                    patterns[line] = re.compile("%s(/.*)?" % rule)
        found = ["usr" + os.path.join(folder, name)[len(self.prefix):] for folder, _, names in os.walk(self.prefix)
                 for name in names]
        # packaging/debian/rules says PYTHONDIR
        found = [name.replace("usr/share/nbody6/python", "usr/lib/python3/dist-packages") for name in found]
        found.remove("usr/share/nbody6/installed")  # packaging/debian/rules removes it
        found = [name for name in found if name != "usr/lib/nbody6/nbody6-mpi.so"]  # packaging/debian/rules: no MPI
        self.assertGreater(len(found), 50)
        for name in found:
            self.assertEqual(sum(p.fullmatch(name) is not None for p in patterns.values()), 1, name)
        for line, pattern in patterns.items():
            self.assertTrue(any(pattern.fullmatch(name) for name in found), line)

    def listed(self, root, *variables):
        """`make install` of the built files, and `make uninstall` with other variables; files left below a root."""
        command = ["make", "--no-print-directory", "-C", SOURCE, "BUILD=" + BUILD]
        run([*command, "install", *variables])
        run([*command, "uninstall", *variables])
        return sorted(os.path.relpath(os.path.join(folder, name), root) for folder, folders, names in os.walk(root)
                      for name in names + folders)

    def test_uninstall_leaves_what_others_have(self):
        """Shared folders that do not have our name are those of the machine."""
        root = os.path.join(self.folder, "shared")
        theirs = {"usr/include/stdio.h", "usr/share/man/man1/cc.1", "usr/share/doc/readme", "usr/lib/libc.so",
                  "usr/share/nbody6 of mine/notes", "usr/bin/nbody6-mine"}
        for name in theirs:
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as file:
                file.write("theirs")
        os.makedirs(os.path.join(root, "usr/empty"))
        before = sorted(os.path.relpath(os.path.join(folder, name), root) for folder, folders, names in os.walk(root)
                        for name in names + folders)
        shared = ("DESTDIR=" + root, "PREFIX=/usr", "INCLUDEDIR=/usr/include", "DATADIR=/usr/share", "PYTHONDIR=/usr/empty")
        self.assertEqual(self.listed(root, *shared), before)
        # Files put into our folders afterwards stay, as does the way there; nothing is removed without a list.
        command = ["make", "--no-print-directory", "-C", SOURCE, "BUILD=" + BUILD]
        plain = ("DESTDIR=" + root, "PREFIX=/opt/n")
        run([*command, "install", *plain])
        kept = "opt/n/include/nbody6/mine.h"
        with open(os.path.join(root, kept), "w") as file:
            file.write("mine")
        there = len(os.listdir(os.path.join(root, "opt/n/bin")))
        done = subprocess.run([*command, "uninstall", "DESTDIR=" + root, "PREFIX=/opt/other"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing was removed", done.stdout)
        self.assertEqual(len(os.listdir(os.path.join(root, "opt/n/bin"))), there)
        run([*command, "uninstall", *plain])
        left = [os.path.relpath(os.path.join(folder, name), root) for folder, folders, names in os.walk(root + "/opt")
                for name in names + folders]
        self.assertEqual(sorted(left), ["opt/n", "opt/n/include", "opt/n/include/nbody6", kept])

    def test_zz_uninstall_leaves_no_file(self):
        self.make("uninstall")
        left = [os.path.join(folder, name) for folder, _, names in os.walk(self.prefix) for name in names]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
