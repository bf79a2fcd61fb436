"""The bundle for machines that have a GPU and no packages: packed from a few programs, unpacked in another folder, run
there on a processor."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("NB6_BUILD", os.path.join(SOURCE, "build"))
PROGRAMS = ["nbody6", "tests/conformance/test_gpuirr_holders", "tests/unit/test_hermite"]
LARGEST = 60 << 20


@unittest.skipUnless(shutil.which("xz") and shutil.which("strip"), "there is no xz or no strip on this machine")
class GpuBundleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="nb6_bundle_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        cls.archive = os.path.join(cls.folder, "small-bundle.tar.xz")
        cls.made = subprocess.run(["packaging/gpu-bundle.sh", os.path.abspath(BUILD), cls.archive, *PROGRAMS],
                                  cwd=SOURCE, env=cls.with_fast_xz(), capture_output=True, text=True)
        cls.bundle = os.path.join(cls.folder, "small-bundle")
        if cls.made.returncode == 0:
            subprocess.run(["tar", "-C", cls.folder, "-xf", cls.archive], check=True)

    @classmethod
    def with_fast_xz(cls):
        """An environment in which the xz that the script calls takes its options and compresses less: ten seconds."""
        folder = os.path.join(cls.folder, "bin")
        os.mkdir(folder)
        path = os.path.join(folder, "xz")
        with open(path, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nset -e\nprintf x | %s \"$@\" >/dev/null\nexec %s -T0 -0\n" % ((shutil.which("xz"),) * 2))
        os.chmod(path, 0o755)
        return dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])

    def run_bundle(self, *groups):
        environment = dict(os.environ, GPUNB_BACKEND="portable", OMP_NUM_THREADS="1")
        environment.pop("LD_LIBRARY_PATH", None)
        return subprocess.run([os.path.join(self.bundle, "run"), *groups], cwd=self.folder, env=environment,
                              capture_output=True, text=True)

    def test_archive(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertIn("small-bundle/run", self.made.stdout)
        self.assertLess(os.path.getsize(self.archive), LARGEST)

    def test_all_groups(self):
        done = self.run_bundle()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        passed, _, failed, _ = done.stdout.splitlines()[-1].split()
        self.assertGreater(int(passed), 10)
        self.assertEqual(failed, "0")
        self.assertIn("tests/conformance/test_gpuirr_holders", done.stdout)

    def test_failures_are_counted(self):
        failing = os.path.join(self.bundle, "tests/unit/test_failing")
        with open(failing, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\necho '[ RUN      ] first'; echo '[       OK ] first'; echo '[ RUN      ] second'\n"
                         "kill -SEGV $$\n")
        self.addCleanup(os.remove, failing)
        os.chmod(failing, os.stat(failing).st_mode | stat.S_IXUSR)
        done = self.run_bundle("unit")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"FAILED  tests/unit/test_failing")
        self.assertRegex(done.stdout.splitlines()[-1], r"^\d+ passed, 1 failed$")

    def test_its_own_libraries(self):
        """All but the C library come from the bundle."""
        listed = subprocess.run(["ldd", os.path.join(self.bundle, "nbody6")], capture_output=True, text=True,
                                env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.bundle, "lib"))).stdout
        foreign = [line.split()[0] for line in listed.splitlines() if "=> /" in line and self.bundle not in line]
        self.assertTrue(all(name.startswith(("libc.", "libm.", "libdl.", "libpthread.", "librt.")) for name in foreign),
                        foreign)


if __name__ == "__main__":
    unittest.main()
