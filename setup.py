"""Builds libnbody6 and puts it into the package; pyproject.toml says all else."""

import os
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "libnbody6.so.0"


class BuildWithLibrary(build_py):
    """NBODY6_LIBRARY names a library that is there already; NB6_BUILD the folder to build in, which is `build` else."""

    def run(self):
        super().run()
        library = os.environ.get("NBODY6_LIBRARY") or self.build_in_sources()
        shutil.copy(library, os.path.join(self.build_lib, "nbody6", LIBRARY))

    @staticmethod
    def build_in_sources():
        build = os.path.abspath(os.environ.get("NB6_BUILD", os.path.join(HERE, "build")))
        make = ["make", "-C", HERE, "BUILD=" + build, "-j%d" % (os.cpu_count() or 1), "libnbody6"]
        if subprocess.call(make) != 0:
            sys.exit("libnbody6 could not be built by: %s" % " ".join(make))
        return os.path.join(build, "lib", LIBRARY)


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # the wheel belongs to one kind of machine


class AnyPython(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])  # ctypes: of any Python


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython}, distclass=WithLibrary)
