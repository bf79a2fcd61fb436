"""Messages of make where something is missing, the last line of a run of tests, and the flags of sources."""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
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
        make = self.start_make(*arguments, **variables)
        text, _ = make.communicate()
        return make.returncode, text

    def start_make(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if not re.match(r"MAKE|MFLAGS|(CC|FC|PKG_CONFIG|HDF5_\w+|GSL_\w+|ZLIB_\w+|CMOCKA_\w+|NB6_\w+)$", name)}
        environment.update(variables)
        make = subprocess.Popen(["make", "--no-print-directory", "BUILD=" + self.build, *arguments], cwd=SOURCE,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=environment, start_new_session=True)
        self.addCleanup(make.stdout.close)
        self.addCleanup(make.kill)
        return make


class MissingTest(BuildTest):
    def expect(self, names, *arguments, others=(), **variables):
        """One line names what is missing and says what to do, and nothing is written."""
        status, text = self.run_make(*arguments, **variables)
        self.assertEqual(status, 2, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        for name in (*names, "`make deps-test`" if "tests" in arguments or "test-run" in arguments else "`make deps`"):
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
        self.expect(["HDF5", "GSL", "zlib (zlib1g-dev)"], "PKG_CONFIG=false", others=["cmocka", "compiler"])
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
        status, text = self.run_make("-n", "PKG_CONFIG=false", "HDF5_LIBS=-lhdf5", "GSL_LIBS=-lgsl",
                                     "ZLIB_LIBS=-lz")
        self.assertEqual(status, 0, text)


# The targets of `make test` in these tests: suites of one line or two, and no program.
STAND_IN = """\
deps-test:
	@echo here are the packages; exit $(or $(DEPS),0)
test-run:
	@exec $(TEST_PYTHON) tests/run-tests --build $(BUILD) --jobs 2 --timeout $(or $(LIMIT),600) $(SUITES)
"""
SUITES = {
    "good": "echo 'ok one'; echo 'ok two'",
    "twin": "echo 'ok one'; echo 'ok two'",
    "bad": "echo 'ok one'; echo 'FAILED two'; exit 1",
    "silent": "exit 3",
    "crash": "echo 'ok one'; kill -SEGV $$",
    "endless": "echo 'ok one'; sleep 1000000",
    "without": "echo 'skipped: all of this: there is no such tool'",
    "partly": "echo 'ok one'; echo 'skipped: two: there is no such tool'; echo 'skipped: three: no such device'",
}


class SumTest(BuildTest):
    """The last line of `make test` is the sum, whatever happens, and the exit status agrees with it."""

    def setUp(self):
        super().setUp()
        self.makefile = self.write("stand-in.mk", STAND_IN)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def arguments(self, names, *more):
        suites = [self.write(name + ".sh", SUITES[name]) if name in SUITES else os.path.join(self.folder, name)
                  for name in names]
        return ["test", "SUBMAKE=make --no-print-directory -f " + self.makefile, "TEST_PYTHON=" + sys.executable,
                "SUITES=" + " ".join(suites), *more]

    def expect(self, last_line, names, *more):
        status, text = self.run_make(*self.arguments(names, *more))
        self.assertEqual(text.splitlines()[-1], last_line, text)
        self.assertEqual(status, 0 if last_line.endswith(" 0 failed") else 1, text)
        return text

    def test_all_pass(self):
        text = self.expect("4 passed, 0 failed", ["good", "twin"])
        for k in (1, 2):
            self.assertRegex(text, r"(?m)^%d of 2  ok  .*\.sh +2 cases +[\d.]+ s$" % k)
        self.assertIn("nothing was skipped", text)

    def test_failures(self):
        text = self.expect("4 passed, 4 failed", ["good", "bad", "silent", "crash", "not-built"])
        self.assertEqual(sorted(re.findall(r"(?m)^(\d) of 5 ", text)), list("12345"))
        for word in ("exit status 3", "killed by signal 11", "was not built"):
            self.assertIn(word, text)

    def test_slowest(self):
        """Above the sum are the ten that took longest, the longest first."""
        names = ["quick%d" % k for k in range(10)] + ["slow", "slower"]
        for name, seconds in zip(names, [0] * 10 + [0.7, 1.4]):
            self.write(name + ".sh", "echo 'ok one'; sleep %g" % seconds)
        text = self.expect("12 passed, 0 failed", [name + ".sh" for name in names])
        listed = re.findall(r"(?m)^  \S*/(\w+)\.sh +[\d.]+ s$", text)
        self.assertEqual(listed[:2], ["slower", "slow"])
        self.assertEqual(len(listed), 10)

    def test_options_of_make(self):
        for option in ("-j2", "-k", "-s", "--no-builtin-rules", "-rR"):
            self.expect("1 passed, 1 failed", ["bad"], option)

    def test_time_limit(self):
        self.assertIn("stopped after 1 s", self.expect("3 passed, 1 failed", ["good", "endless"], "LIMIT=1"))

    def test_skipped(self):
        text = self.expect("3 passed, 0 failed", ["without", "partly", "good"])
        self.assertRegex(text, r"(?m)^\d of 3  skipped .*without\.sh +0 cases ")
        self.assertIn("\nskipped, 3 in all:\n", text)
        for reason in (r"all of this: there is no such tool \(.*without\.sh\)",
                       r"two: there is no such tool \(.*partly\.sh\)", r"three: no such device \(.*partly\.sh\)"):
            self.assertRegex(text, "(?m)^  " + reason)

    def test_skipped_by_unittest(self):
        suite = self.write("x.py", "import unittest\nclass X(unittest.TestCase):\n    def test_a(self):\n"
                                   "        self.skipTest('no such module')\nunittest.main()\n")
        self.assertIn("  no such module (", self.expect("0 passed, 0 failed", [os.path.basename(suite)]))

    def test_memory_is_filled(self):
        """Suites without sanitizers have MALLOC_PERTURB_, and more values of it on demand."""
        suite = self.write("filled.sh", "echo \"ok with ${MALLOC_PERTURB_-none}\"")
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "run-tests"), "--build", self.folder, suite,
                               "--perturb", "7", suite, "--sanitized", self.folder, suite],
                              env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines()[-1], "3 passed, 0 failed", done.stdout + done.stderr)
        said = []
        for name in os.listdir(os.path.join(self.folder, "test-logs")):
            with open(os.path.join(self.folder, "test-logs", name)) as log:
                said.append(log.read().strip())
        self.assertEqual(sorted(said), ["ok with 165", "ok with 7", "ok with none"])

    def run_tests(self, *arguments):
        """tests/run-tests, one suite at a time; returns the names of suites in the order in which they ended."""
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "run-tests"), "--build", self.folder, "--jobs",
                               "1", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return re.findall(r"(?m)^\d of \d  ok       (\S+)", done.stdout)

    def test_longest_first(self):
        """By the times of the run before, and what is new before all of these."""
        names = [self.write(name + ".sh", "echo 'ok one'; sleep %g" % seconds)
                 for name, seconds in (("short", 0), ("long", 0.8), ("middle", 0.4))]
        said = [os.path.basename(name) for name in self.run_tests(*names)]
        self.assertEqual(said, ["short.sh", "long.sh", "middle.sh"])
        names.append(self.write("new.sh", "echo 'ok one'"))
        said = [os.path.basename(name) for name in self.run_tests(*names)]
        self.assertEqual(said, ["new.sh", "long.sh", "middle.sh", "short.sh"])
        self.write("test-seconds", "no number\n")
        self.assertEqual(len(self.run_tests(*names)), 4)

    def test_whole(self):
        """Suites after --whole are told to take all seeds, others are not."""
        few = self.write("few.sh", "[ -z \"$NB6_WHOLE\" ] && echo 'ok few'")
        every = self.write("all.sh", "[ -n \"$NB6_WHOLE\" ] && echo 'ok all'")
        self.assertEqual(len(self.run_tests(few, "--whole", every)), 2)

    def test_no_test_was_run(self):
        self.expect("0 passed, 1 failed", ["good"], "DEPS=1")
        self.expect("0 passed, 1 failed", ["good"], "TEST_PYTHON=no-such-python")
        self.expect("0 passed, 1 failed", [])

    def test_interrupted(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            seconds = os.path.join(self.folder, "build", "test-seconds")
            if os.path.exists(seconds):
                os.unlink(seconds)  # or what never ends would come first
            make = self.start_make(*self.arguments(["good", "endless", "endless", "endless"]))
            seen = ""
            while " of 4 " not in seen:
                line = make.stdout.readline()
                self.assertNotEqual(line, "", seen)
                seen += line
            os.killpg(make.pid, number)
            text = seen + make.communicate()[0]
            self.assertEqual(text.splitlines()[-1], "2 passed, 3 failed", text)
            self.assertIn("interrupted: 3 of 4 suites", text)
            self.assertNotEqual(make.returncode, 0)


class CostTest(BuildTest):
    """`make run` says what the build costs before it begins."""

    def test_cost(self):
        status, text = self.run_make("run-cost", "CUDA=0")
        self.assertEqual((status, text), (0, "make run: builds in %s, about a minute on two cores and 160 MB\n" % self.build))
        status, text = self.run_make("-n", "run", "CUDA=0")
        self.assertLess(text.index("about a minute"), text.index("tools/deps.sh"), text)
        if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
            self.assertIn("CUDA=0 leaves it out", self.run_make("run-cost", "CUDA=1")[1])

    def test_once(self):
        """A build that is there costs nothing more."""
        os.makedirs(self.build)
        with open(os.path.join(self.build, "nbody6"), "w"):
            pass
        os.chmod(os.path.join(self.build, "nbody6"), 0o755)
        self.assertEqual(self.run_make("run-cost"), (0, ""))


class CompileCommandsTest(BuildTest):
    """`make compile-commands` names every source, however deep it lies, with the command that make would give."""

    def entries(self, *arguments):
        status, text = self.run_make("compile-commands", *arguments)
        self.assertEqual(status, 0, text)
        self.assertEqual(os.listdir(self.build), ["compile_commands.json"])
        with open(os.path.join(self.build, "compile_commands.json")) as file:
            found = json.load(file)
        for entry in found:
            self.assertEqual(set(entry), {"directory", "file", "output", "arguments"})
            self.assertEqual(entry["directory"], SOURCE)
        files = [entry["file"] for entry in found]
        self.assertEqual(sorted(files), sorted(set(files)))
        return {entry["file"]: entry for entry in found}

    def sources(self, ending):
        """All but those of other processors, and that of MPI where there is none."""
        rooms = ("common", "gpunb", "gpuirr", "regularization", "stellar", "nbody6", "bench", "tests")
        found = {os.path.relpath(os.path.join(folder, name), SOURCE) for room in rooms
                 for folder, _, names in os.walk(os.path.join(SOURCE, room)) for name in names if name.endswith(ending)}
        self.assertGreater(len(found), 10)
        if not shutil.which("mpicc"):
            found.discard("nbody6/world/mpi/object.c")
        return {name for name in found if platform.machine() == "x86_64" or not re.search(r"_avx(2|512)\.c$", name)}

    def compile(self, entry):
        """Runs the command of an entry, with the objects in this folder."""
        moved = [os.path.join(self.folder, "a.o") if word == entry["output"] else word for word in entry["arguments"]]
        done = subprocess.run(moved, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        os.remove(os.path.join(self.folder, "a.o"))

    def test_sources_in_c(self):
        found = self.entries("CUDA=0", "OPT=-O0")
        self.assertEqual(set(found), self.sources(".c"))
        for name in ("nbody6/fewbody/pairs/kind.c", "gpunb/fortran/open.c", "tests/toys/toy_inertia.c"):
            self.assertIn("-O0", found[name]["arguments"])
        self.compile(found["gpunb/fortran/open.c"])  # which has a flag with quotes of its own

    def test_sources_in_cuda(self):
        if not (shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")):
            self.skipTest("there is no nvcc on this machine")
        self.assertEqual(set(self.entries("CUDA=1")), self.sources(".c") | self.sources(".cu"))

    def test_what_is_printed_and_compiles_nothing(self):
        script = os.path.join(SOURCE, "tools", "compile_commands.py")
        done = subprocess.run([sys.executable, script], input="mkdir -p x\nprintf ' CC a.c'\n", capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing that compiles", done.stderr)


class DepsTest(unittest.TestCase):
    """tools/deps.sh with an apt-get that says much and puts a program in place, or fails."""

    APT = """#!/bin/sh
i=0
while [ $i -lt 1000 ]; do echo "line $i"; i=$((i + 1)); done
echo "$*" >>"$0.calls"
case "$*" in *install*) %s ;; esac
"""

    def deps(self, installing, *arguments):
        scratch = tempfile.TemporaryDirectory(prefix="nb6_deps_")
        self.addCleanup(scratch.cleanup)
        self.log, self.apt = os.path.join(scratch.name, "sub", "deps.log"), os.path.join(scratch.name, "apt-get")
        for name in ("sh", "env", "mkdir", "dirname", "tail", "grep", "chmod"):
            os.symlink(shutil.which(name), os.path.join(scratch.name, name))
        for name, text in (("id", "#!/bin/sh\necho 0\n"), ("apt-get", self.APT % installing)):
            with open(os.path.join(scratch.name, name), "w") as file:
                file.write(text)
            os.chmod(os.path.join(scratch.name, name), 0o755)
        return subprocess.run([os.path.join(SOURCE, "tools", "deps.sh"), *arguments], stdin=subprocess.DEVNULL,
                              env={"PATH": scratch.name, "LOG": self.log}, capture_output=True, text=True, timeout=60)

    def test_says_two_lines(self):
        done = self.deps('echo "#!/bin/sh" >"${0%/*}/mkdocs"; chmod +x "${0%/*}/mkdocs"; echo "Setting up mkdocs"', "site")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "deps: installing with apt-get, whose words go to %s: mkdocs" % self.log,
            "deps: installed mkdocs, and what they need: 1 packages"])
        with open(self.log) as file:
            self.assertEqual(file.read().count("line"), 2000)
        with open(self.apt + ".calls") as file:
            calls = file.read().splitlines()
        self.assertTrue(calls[0].endswith(" update"), calls)
        self.assertRegex(calls[1], r" install --no-install-recommends mkdocs$")

    def test_says_why_it_failed(self):
        done = self.deps("echo 'E: no space'; exit 100", "site")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no space", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 25)
        self.assertIn("all that it said is in " + self.log, done.stderr)

    def test_installed_and_not_usable(self):
        done = self.deps(":", "site")
        self.assertEqual(done.returncode, 1)
        self.assertIn("mkdocs is installed but not usable", done.stderr)


if __name__ == "__main__":
    unittest.main()
