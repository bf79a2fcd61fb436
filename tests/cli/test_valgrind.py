"""Each program and the Python package once under valgrind: no access to memory that is not there, none that was not
set, nothing lost. It also sees what the libraries do that no sanitizer was compiled into, HDF5 above all.

Of instruction sets valgrind knows AVX2 and not AVX-512. It runs one thread at a time, and some 50 times slower."""

import os
import shutil
import subprocess
import sys
import unittest

from run_support import BUILD, RunTest, test_seeds

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOUND = 97
MEMORY = ["valgrind", "-q", "--error-exitcode=%d" % FOUND]
# Lost memory has no pointer to it any more; memory that libraries keep to the end is not counted.
LEAKS = ["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
# The interpreter and numpy compare bytes that h5py leaves unset while it is imported, a thousand times, and what the
# interpreter keeps to the end is not freed: neither is looked for there. PYTHONMALLOC=malloc, since valgrind does not
# see the ends of what the interpreter's own allocator hands out.
OF_PYTHON = ["--undef-value-errors=no"]

PYTHON = """\
import sys
sys.path.insert(0, sys.argv[1])
import nbody6
with nbody6.Simulation.from_model(N=30, NRAND=3, DTADJ=0.125) as sim:
    sim.integrate(0.125)
    for k in range(4):
        sim.write_snapshot("p%d.h5" % k)
    sim.write_checkpoint("p.ckpt.h5")
with nbody6.Simulation.restore("p.ckpt.h5") as sim:
    sim.integrate(0.25)
    print("t =", sim.t, len(sim.stars.mass), len(sim.log["t"]))
"""


@unittest.skipIf(shutil.which("valgrind") is None, "there is no valgrind")
@unittest.skipIf(os.environ.get("NB6_SANITIZED"), "programs with sanitizers do not run under valgrind")
class ValgrindTest(RunTest):
    def watch(self, options, *command, code=0, **environment):
        """Runs the command under valgrind, which finds nothing; returns what it printed."""
        environment = dict(os.environ, NBC_ISA="avx2", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **environment)
        environment.pop("MALLOC_PERTURB_", None)  # valgrind knows itself what was not set
        done = subprocess.run(MEMORY + options + list(command), cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def program(self, name, *arguments, **options):
        return self.watch(LEAKS, os.path.join(BUILD, name), *arguments, **options)

    def test_nbody6(self):
        """Regularized binaries, snapshots, a checkpoint, how the run is; then a run from a snapshot; an error."""
        with open(self.path("a.inp"), "w") as file:
            file.write("&ININPUT N=40 DTADJ=0.125 DELTAT=0.125 TCRIT=0.125 NNBOPT=10 KZ(8)=1 KZ(23)=2 /\n"
                       "&INDATA NBIN0=4 /\n&INBINPOP SEMI0=0.005 ECC0=-1 RANGE=10 /\n")
        self.program("nbody6", "a.inp")
        self.program("nbody6", "--resume", "a.ckpt.h5", "--tcrit", "0.1875")
        self.assertIn("finished", self.program("nbody6", "--status", "a"))
        with open(self.path("b.inp"), "w") as file:
            file.write("&INMODEL DATA='a.snap.00000.h5' KEEP='all' /\n")
        self.program("nbody6", "--check", "b.inp")
        self.program("nbody6", "--check", "none.inp", code=2)

    def test_nbody6_collisionless(self):
        with open(self.path("c.inp"), "w") as file:
            file.write("&ININPUT N=60 TCRIT=0.0625 DTADJ=0.0625 DELTAT=0.0625 /\n"
                       "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.01 /\n")
        self.program("nbody6-collisionless", "c.inp")
        self.program("nbody6-collisionless", "--resume", "c.ckpt.h5", "--tcrit", "0.125")

    def test_nbody6_chain(self):
        with open(self.path("t.dat"), "w") as file:
            file.write("3 1 3 0 0 0 0\n4 -2 -1 0 0 0 0\n5 1 -1 0 0 0 0\n")
        for method in ("chain", "ar"):
            self.program("nbody6-chain", "--tcrit", "1", "--method", method, "t.dat")

    @unittest.skipUnless(test_seeds(0, 1), "make test-long has Python under valgrind")
    def test_python(self):
        with open(self.path("p.py"), "w") as file:
            file.write(PYTHON)
        text = self.watch(OF_PYTHON, sys.executable, "p.py", os.path.join(SOURCE, "python"), PYTHONMALLOC="malloc",
                          NB6_BUILD=BUILD)
        self.assertIn("t = 0.25 30", text)


if __name__ == "__main__":
    unittest.main()
