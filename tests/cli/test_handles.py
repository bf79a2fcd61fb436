"""Simulations in Python after their end, within their own callbacks, in copies, in other threads and in children: each
call raises in words or works, and none ends the interpreter."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest

import numpy as np

from run_support import BUILD, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(SOURCE, "python")
sys.path.insert(0, PACKAGE)
os.environ["NB6_BUILD"] = BUILD

import nbody6  # noqa: E402

# Pairs and chains form and end, stars escape.
INPUT = """\
&INNBODY6 KSTART=1 /
&ININPUT N=100 NRAND=4 DTADJ=0.25 DELTAT=0.25 TCRIT=0.5 QE=1e-2 RBAR=2 KZ(8)=1 KZ(14)=1 KZ(20)=6 KZ(23)=2 /
&INDATA NBIN0=20 BODY1=10 BODYN=0.1 /
&INBINPOP SEMI0=0.01 ECC0=-1 RANGE=100 /
"""
CHILDREN = """\
import multiprocessing, os, sys
import numpy as np
import nbody6

def model():
    return nbody6.Simulation.from_model(N=3000, NRAND=7)  # sums of threads

def child(answers):
    try:
        sim.t
        answers.put("an old simulation answers")
    except RuntimeError as error:
        answers.put(str(error))
    sim.close()  # nothing happens
    answers.put(model().integrate(2.0**-6).stars.x)

sim = model().integrate(2.0**-6)
context = multiprocessing.get_context("fork")
answers = context.Queue()
process = context.Process(target=child, args=(answers,), daemon=True)
process.start()
said, x = answers.get(timeout=60), answers.get(timeout=60)
process.join(60)
assert "fork" in said, said
assert process.exitcode == 0, process.exitcode
assert (x == sim.stars.x).all(), "other bits in a child"
sim.integrate(2.0**-5)

def fork(row):
    if os.fork() == 0:
        rows.append("child")

rows = []
sim = nbody6.Simulation.from_model(N=50, DTADJ=0.25, on_row=fork)
try:
    sim.integrate(0.25)
except RuntimeError as error:  # in the children, on their way back through the library
    os._exit(0 if rows and "fork" in str(error) else 1)
assert [os.wait()[1] for _ in range(2)] == [0, 0]
print("done")
"""


def run_python(program, **environment):
    return subprocess.run([sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=PACKAGE, **environment),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)


class ClosedTest(RunTest):
    def setUp(self):
        super().setUp()
        self.sim = nbody6.Simulation.from_model(N=50, DTADJ=0.125)

    def calls(self, sim):
        return {"integrate": lambda: sim.integrate(1), "run": lambda: sim.run(), "t": lambda: sim.t, "n": lambda: sim.n,
                "id": lambda: sim.id, "engine": lambda: sim.engine, "units": lambda: sim.units,
                "stars": lambda: sim.stars, "energy": lambda: sim.energy, "pairs": lambda: sim.pairs,
                "snapshot": lambda: sim.write_snapshot(self.path("a.h5")),
                "checkpoint": lambda: sim.write_checkpoint(self.path("a.ckpt.h5")),
                "enter": lambda: sim._handle.__enter__()}

    def test_every_call_after_close_raises(self):
        """In an interpreter of its own, which it must not end."""
        names = list(self.calls(None))
        program = "import sys; sys.path.insert(0, %r)\nimport test_handles\n" % os.path.join(SOURCE, "tests", "cli")
        program += "test = test_handles.ClosedTest(); test.setUp(); test.sim.close(); test.sim.close()\n"
        program += "for name, call in test.calls(test.sim).items():\n"
        program += "    try: call()\n    except ValueError as error: print(name, error)\n"
        program += "print(len(test.sim.log), test.sim.events)\ntest.doCleanups()\n"
        done = run_python(program)
        self.assertEqual(done.stdout.splitlines(), [n + " the simulation is closed" for n in names] + ["0 []"])
        self.assertEqual(done.returncode, 0)

    def test_close_and_integrate_within_callbacks(self):
        """They raise in any callback; if the exception is not caught, the run stops and goes on with the same bits."""
        said = []

        def refused(what):
            def callback(_):
                for call in (self.sim.close, lambda: self.sim.integrate(9), self.sim.run, self.sim.__exit__):
                    with self.assertRaisesRegex(RuntimeError, "not within a callback"):
                        call()
                said.append(what)
            return callback

        self.sim.on_event, self.sim.on_row, self.sim.on_output = map(refused, ("event", "row", "output"))
        self.sim.integrate(1)
        self.assertIn("row", said)
        self.sim.on_row = lambda row: self.sim.close()
        with self.assertRaisesRegex(RuntimeError, "close"):
            self.sim.integrate(1.25)
        self.sim.on_row = None
        self.assertEqual(self.sim.integrate(2).t, 2)
        same = nbody6.Simulation.from_model(N=50, DTADJ=0.125).integrate(2)
        np.testing.assert_array_equal(self.sim.stars.x, same.stars.x)

    def test_what_is_raised_at_the_very_end_does_not_stop_the_next_call(self):
        self.sim.on_row = lambda row: 1 / 0 if row["t"] == 0.25 else None
        with self.assertRaises(ZeroDivisionError):
            self.sim.integrate(0.25)
        self.assertEqual(self.sim.t, 0.25)
        self.assertEqual(self.sim.integrate(0.5).t, 0.5)

    def test_no_copies(self):
        for how in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "write_checkpoint"):
                how(self.sim)
        gc.collect()
        self.assertEqual(self.sim.integrate(0.25).n, 50)

    def test_one_thread_at_a_time(self):
        """Another thread that asks, or closes, while one integrates is refused."""
        entered, go_on, said = threading.Event(), threading.Event(), []

        def on_row(row):
            entered.set()
            go_on.wait(60)

        self.sim.on_row = on_row
        thread = threading.Thread(target=lambda: self.sim.integrate(0.125))
        thread.start()
        self.assertTrue(entered.wait(60))
        for call in (self.sim.close, lambda: self.sim.stars, lambda: self.sim.integrate(1)):
            try:
                call()
            except RuntimeError as error:
                said.append(str(error))
        go_on.set()
        thread.join(60)
        self.assertEqual(len([text for text in said if "another thread" in text]), 3)
        self.assertEqual(self.sim.t, 0.125)

    def test_children_of_a_fork(self):
        """The old simulation is refused there, a new one has the same bits, also with threads in the parent."""
        done = run_python(CHILDREN, OMP_NUM_THREADS="3")
        self.assertEqual(done.stdout, "done\n")


class GivenTest(RunTest):
    def test_arrays_that_do_not_fit(self):
        """Also if they were changed after they had been put together."""
        def stars(**changed):
            made = nbody6.Stars(np.ones(4), np.arange(12.0).reshape(4, 3), np.zeros((4, 3)))
            for name, array in changed.items():
                setattr(made, name, array)
            return made

        for name, array in (("mass", np.ones(400)), ("mass", np.float64(1)), ("mass", np.ones((4, 1))),
                            ("x", np.zeros((3, 4))), ("x", np.zeros(12)), ("v", np.zeros((3, 3))),
                            ("v", None), ("name", np.arange(3)), ("name", np.array([1.5, 2, 3, 4])),
                            ("name", np.array([np.nan, 2, 3, 4])), ("name", np.array(list("abcd")))):
            with self.subTest(name=name, array=array), self.assertRaisesRegex(ValueError, "shape|velocities|names"):
                nbody6.Simulation(stars(**{name: array}))
        for name in (np.array([1, 2, 3, 2**63], dtype=np.uint64), np.array([1, 2, 3, 3])):
            with self.assertRaisesRegex(nbody6.SimulationError, "name"):
                nbody6.Simulation(stars(name=name))
        sim = nbody6.Simulation(stars(name=np.array([7.0, 9, 11, 13])))
        self.assertEqual(sim.stars.name.tolist(), [7, 9, 11, 13])
        with self.assertRaisesRegex(ValueError, "zero byte"):
            sim.write_checkpoint("a\0b")

    def test_everything_may_be_asked_in_every_callback(self):
        """The stars are those of the time of the event, with either engine, and the run has the bits of one without
        such calls."""
        with open(self.path("a.inp"), "w") as file:
            file.write(INPUT)
        for engine in ("host", "emulated"):
            times = []

            def ask(what):
                energy, stars = sim.energy, sim.stars
                self.assertLess(abs(energy["mass"] - stars.mass.sum()), 1e-12)  # a sum of some hundred terms
                sim.write_snapshot(self.path("now.h5"))
                self.assertEqual(nbody6.read_snapshot(self.path("now.h5")).t, sim.t)
                self.assertTrue(all(pair["a"] for pair in sim.pairs))
                if isinstance(what, dict):
                    times.append((what["t"], sim.t))

            sim = nbody6.Simulation.from_input(self.path("a.inp"), ENGINE=engine, on_event=ask, on_row=ask,
                                               on_output=ask)
            sim.run()
            plain = nbody6.Simulation.from_input(self.path("a.inp"), ENGINE=engine).run()
            self.assertGreater(len(times), 10)
            # Times of events are written with 12 digits.
            self.assertLess(max(abs(told - now) for told, now in times), 1e-11)
            self.assertEqual(sim.events, plain.events)
            np.testing.assert_array_equal(sim.stars.x, plain.stars.x)


if __name__ == "__main__":
    unittest.main()
