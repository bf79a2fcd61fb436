"""Programs in which an allocation fails, or with a limit of memory: shared by test_memory.py and long_memory.py."""

import os
import resource
import subprocess
import tempfile
import unittest

from run_support import BUILD, RunTest

HERE = os.path.dirname(os.path.abspath(__file__))
# Pairs form, chains too; a snapshot, a checkpoint and escapers are written.
INPUT = """\
&INNBODY6 KSTART=1 /
&ININPUT N=40 NRAND=4 DTADJ=0.125 DELTAT=0.125 TCRIT=0.25 QE=1e-2 RBAR=2 KZ(8)=1 KZ(14)=1 KZ(20)=6 KZ(23)=2 KZ(22)=1 /
&INDATA NBIN0=4 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.01 ECC0=-1 RANGE=100 /
"""
SOFTENED = """\
&ININPUT N=60 NRAND=4 DTADJ=0.125 DELTAT=0.125 TCRIT=0.25 QE=1 /
&INCOLLISIONLESS SOFTENING=0.1 DT=0.0625 /
"""
BODIES = "0.4 0 0 0 0 0 0\n0.3 1 0 0 0 0.5 0\n0.3 0 1.2 0 -0.5 0 0.1\n"
# Without the runtime of CUDA, which is part of a program and allocates on its own account.
OWN = ["--device", "cpu", "--engine", "host"]
CASES = {
    "run": ["nbody6", "--quiet", "--overwrite", *OWN, "a.inp"],
    "resume": ["nbody6", "--quiet", "--resume", "half.ckpt.h5", "--out", "b", "--overwrite", "--tcrit", "0.375", *OWN],
    "emulated": ["nbody6", "--quiet", "--overwrite", "--device", "cpu", "--engine", "emulated", "a.inp"],
    "check": ["nbody6", "--check", *OWN, "a.inp"],
    "namelist": ["nbody6", "--to-namelist", "a.inp"],
    "status": ["nbody6", "--status", "half"],
    "collisionless": ["nbody6-collisionless", "--quiet", "--overwrite", "--device", "cpu", "soft.inp"],
    "chain": ["nbody6-chain", "--tcrit", "1", "bodies.dat"],
}


def compile_library(folder):
    """The library that lets allocations fail.   Raises unittest.SkipTest: it cannot be made here"""
    path = os.path.join(folder, "failing_memory.so")
    command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", path,
               os.path.join(HERE, "failing_memory.c"), "-ldl"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or os.path.basename(BUILD) == "asan":
        raise unittest.SkipTest("allocations that fail: %s" % (done.stdout[-200:] or "sanitizers have their own"))
    return path


class MemoryTest(RunTest):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.library = compile_library(cls.made.name)

    def setUp(self):
        super().setUp()
        for name, text in (("a.inp", INPUT), ("half.inp", INPUT), ("soft.inp", SOFTENED), ("bodies.dat", BODIES)):
            with open(self.path(name), "w") as file:
                file.write(text)
        done = self.run_case(["nbody6", "--quiet", *OWN, "half.inp"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_case(self, command, fail_at=None, address_space=None, count=None):
        environment = dict(os.environ, OMP_NUM_THREADS="2")
        if fail_at is not None or count:
            environment.update(LD_PRELOAD=self.library, FAIL_AT=str(-1 if fail_at is None else fail_at))
            environment.update({"FAIL_COUNT": count} if count else {})

        def limit():
            if address_space:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

        return subprocess.run([os.path.join(BUILD, command[0]), *command[1:]], cwd=self.folder, env=environment,
                              preexec_fn=limit, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=120)

    def count_allocations(self, case):
        done = self.run_case(CASES[case], count=self.path("count"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("count")) as file:
            return int(file.read())

    def check_failure(self, case, k):
        """The program does without, or says what there was no memory for, with exit code 6.   Returns whether it did
        without"""
        done = self.run_case(CASES[case], fail_at=k)
        with self.subTest(case=case, allocation=k):
            self.assertIn(done.returncode, (0, 6), done.stderr)
            if done.returncode:
                self.assertRegex(done.stderr, r"(^|\n)nbody6\S*: not enough memory: .+\n$")
        return done.returncode == 0
