"""nbody6-collisionless: its files, the same bits after stops and for any number of threads, and refusals."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

from run_support import BUILD, INPUT, RunTest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.path.join(BUILD, "nbody6-collisionless")
sys.path.insert(0, os.path.join(SOURCE, "python"))

import nbody6 as package  # noqa: E402
from nbody6.plot import panels_energy  # noqa: E402
from nbody6.plot.report import Report  # noqa: E402

TREE = "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 FORCE_ERROR=1e-3 LEAF=16 WALK='groups' /\n"
GROUP = "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 /\n"


class CollisionlessTest(RunTest):
    def write(self, name="a.inp", n=400, tcrit=1, more="", group=GROUP, before="", qe=1e-2):
        with open(self.path(name), "w") as file:
            file.write(before + INPUT.format(n=n, dtadj=0.25, deltat=0.5, tcrit=tcrit, qe=qe, more=more) + group)
        return name

    def softened(self, *arguments, code=0, threads=2):
        done = subprocess.run([COMMAND, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
        self.assertEqual(done.returncode, code, "%s:\n%s" % (" ".join(arguments), done.stdout))
        return done.stdout

    def assert_same(self, one, other):
        first, second = self.snapshots(one), self.snapshots(other)
        self.assertGreater(len(first), 1)
        self.assertEqual(len(first), len(second))
        for a, b in zip(first, second):
            self.assertTrue(self.read(a) == self.read(b), "%s and %s differ" % (a, b))
        self.assertEqual(self.log_without_timings(one), self.log_without_timings(other))

    def test_what_it_writes(self):
        text = self.softened(self.write())
        self.assertIn("softening 0.05, block steps up to 0.03125", text)
        run = package.Run(self.path("a"))
        self.assertEqual(list(run.log["t"]), [0, 0.25, 0.5, 0.75, 1])
        # Leapfrog errors of (step/crossing time)^2 times some tenths: 1e-5 to 1e-3. The first row is exact.
        self.assertEqual(run.log["de_rel"][0], 0)
        self.assertLess(np.abs(run.log["de_rel"]).max(), 1e-3)
        self.assertGreater(np.abs(run.log["de_rel"]).max(), 0)
        self.assertEqual(len(self.snapshots()), 3)
        self.assertFalse(os.path.exists(self.path("a.lock")))
        self.compare_energy(run)

    def compare_energy(self, run):
        """The potential energy of the log is the softened one of the bodies in the last snapshot."""
        snapshot, _ = run.last_snapshot()
        x, m = np.asarray(snapshot.x), np.asarray(snapshot.mass)
        r2 = ((x[:, None, :] - x[None, :, :])**2).sum(axis=2) + 0.05**2
        pairs = np.outer(m, m) / np.sqrt(r2)
        np.fill_diagonal(pairs, 0)
        # Floats in the sums: 1e-7, the share of a pair's rounding, and less by averaging.
        self.assertLess(abs(run.log["e_pot"][-1] / (-0.5 * pairs.sum()) - 1), 1e-6)

    def test_shared_steps(self):
        self.softened(self.write(group="&INCOLLISIONLESS SOFTENING=0.05 DT=0.015625 /\n"))
        log = package.Run(self.path("a")).log
        self.assertEqual(log["steps_irr"][-1], 400 * 64)
        self.assertEqual(set(log["dt_irr_min"]) | set(log["dt_irr_max"]), {0.015625})

    def test_same_bits_by_threads_and_across_checkpoints(self):
        self.softened(self.write(), threads=1)
        self.write("b.inp")
        self.softened("b.inp", "--tcrit", "0.5", threads=2)
        self.stop_next("b")
        self.assertIn("stopped: a file b.STOP was found", self.softened("--resume", "b.ckpt.h5", "--tcrit", "1"))
        self.softened("--resume", "b.ckpt.h5", threads=4)
        self.assert_same("a", "b")
        self.assertIn("has reached its end", self.softened("--resume", "b.ckpt.h5"))

    def test_signal_between_adjusts(self):
        """SIGTERM ends a run at the next multiple of DT, from where it goes on with the same bits."""
        self.write(n=4000, tcrit=1, group="&INCOLLISIONLESS SOFTENING=0.05 DT=0.0078125 /\n")
        process = subprocess.Popen([COMMAND, "a.inp"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.wait_for_row(process, 0.25)
        time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        self.assertIn("stopped: SIGTERM came", process.stdout.read())
        self.assertEqual(process.wait(timeout=60), 0)
        self.softened("--resume", "a.ckpt.h5")
        os.rename(self.path("a.inp"), self.path("b.inp"))
        self.softened("b.inp")
        self.assert_same("a", "b")

    def test_engines(self):
        """The engine that holds the state does not change the files; a missing engine is refused before any file is
        written."""
        self.softened(self.write(), "--engine", "host")
        os.rename(self.path("a.inp"), self.path("b.inp"))
        text = self.softened("b.inp", "--engine", "emulated", "--tcrit", "0.5")
        self.assertIn("emulated engine", text)
        self.softened("--resume", "b.ckpt.h5", "--tcrit", "1")
        self.assert_same("a", "b")
        self.assertIn("backend ref, emulated engine",
                      self.softened("--check", "b.inp", "--engine", "emulated", "--device", "ref"))
        self.assertIn("cannot run here: the device engine",
                      self.softened("--check", "b.inp", "--engine", "device", "--device", "ref"))
        text = self.softened(self.write("c.inp"), "--engine", "device", "--device", "ref", code=5)
        self.assertIn("the device engine keeps bodies on GPUs that make two-float forces; the backend is ref", text)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("c.")], ["c.inp"])
        self.refuse("c.inp", "ENGINE", "--engine", "abacus")

    def test_force_error(self):
        """Runs by tree: columns of errors below the aim, the same bits for any number of threads, across a resume, and
        with either engine that holds the state; a resumed run has the settings of its checkpoint."""
        self.softened(self.write(n=1500, group=TREE), "--engine", "host", threads=1)
        log = package.Run(self.path("a")).log
        self.assertGreater(log["force_err_50"].min(), 0)
        self.assertLess(log["force_err_99"].max(), 1e-3)
        self.assertLess(log["force_err_max"].max(), 20 * 1e-3)
        self.assertTrue((log["force_err_50"] <= log["force_err_99"]).all())
        self.write("b.inp", n=1500, group=TREE)
        text = self.softened("b.inp", "--engine", "emulated", "--tcrit", "0.5", threads=2)
        self.assertIn("emulated engine, tree, FORCE_ERROR = 0.001, leaf 16, walk groups", text)
        self.assertIn("forces: tree, FORCE_ERROR = 0.001, leaf 16, walk groups", self.run_command("--status", "b"))
        text = self.softened("--resume", "b.ckpt.h5", "--tcrit", "1", threads=4)
        self.assertIn("emulated engine, tree, FORCE_ERROR = 0.001, leaf 16, walk groups", text)
        self.assert_same("a", "b")
        with open(self.path("changes.inp"), "w") as file:
            file.write("&INCOLLISIONLESS FORCE_ERROR=1e-2 /\n")
        text = self.softened("--resume", "b.ckpt.h5", "--tcrit", "2", "changes.inp", code=2)
        self.assertIn("FORCE_ERROR: cannot become 0.01 in a run that has 0.001", text)

    def test_page_of_force_errors(self):
        """The page of nbody6-plot has a panel of them in runs by tree, and in no others."""
        self.softened(self.write(n=1000, tcrit=0.5, group=TREE))
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "nbody6-plot"), "a"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Error of the forces", self.read("a.html").decode())
        self.softened(self.write("b.inp", tcrit=0.5))
        self.assertIsNotNone(panels_energy.force_error(Report(package.Run(self.path("a")))))
        self.assertIsNone(panels_energy.force_error(Report(package.Run(self.path("b")))))

    def test_reuse(self):
        """A tree that serves several steps: columns of the log, the same bits for any number of threads, across resumes
        in the middle of a cycle, and with the emulated engine; REUSE=1 has the files of a run without it."""
        group = TREE.replace(" /", " REUSE=5 /").replace("ETA=0.1", "ETA=0.02")
        self.softened(self.write(n=1000, group=group), "--engine", "host", threads=1)
        log = package.Run(self.path("a")).log
        self.assertLess(log["force_err_99"].max(), 1e-3)
        self.assertEqual(log["tree_builds"][0], 0)
        self.assertGreaterEqual(log["tree_builds"][-1], 32 // 5)
        self.assertGreater(log["tree_renewals"][-1], log["tree_builds"][-1])
        self.assertLess(log["tree_early"][-1], log["tree_builds"][-1])
        self.assertGreater(log["tree_failed"].max(), 0)
        self.write("b.inp", n=1000, group=group)
        text = self.softened("b.inp", "--engine", "emulated", "--tcrit", "0.5", "--profile")
        self.assertIn("leaf 16, walk groups, REUSE = 5", text)
        self.assertRegex(text, r"since the start of the run: [1-9]\d* trees for up to 5 longest steps, \d+ of them early; "
                               r"[1-9]\d* renewals; \d+ of [1-9]\d* pairs")
        self.stop_next("b")
        self.softened("--resume", "b.ckpt.h5", "--tcrit", "1", threads=4)
        self.softened("--resume", "b.ckpt.h5", threads=1)
        self.assert_same("a", "b")
        self.softened(self.write("c.inp", n=1000, group=TREE))
        self.softened(self.write("d.inp", n=1000, group=TREE.replace(" /", " REUSE=1 /")))
        self.assert_same("c", "d")
        self.assertNotIn("tree_builds", package.Run(self.path("d")).log)
        self.assertIn("REUSE = 5", self.softened("--check", "a.inp"))

    def test_direct_sums_are_as_before(self):
        """FORCE_ERROR=0 is the default: the same files, without columns of errors."""
        self.softened(self.write())
        self.softened(self.write("b.inp", group=GROUP.replace(" /", " FORCE_ERROR=0 THETA=0 ORDER=0 WALK='auto' /")))
        self.assert_same("a", "b")
        self.assertEqual(self.read("a.log.csv").split(b"\n")[2], self.read("b.log.csv").split(b"\n")[2])  # run id
        self.assertNotIn("force_err_50", package.Run(self.path("a")).log)

    def test_walks(self):
        """Each walk is one of the words, has the aim, and shows its terms."""
        terms = {}
        for word in ("groups", "treecode", "hybrid", "fmm", "single", "one-by-one-i", "one-by-one-j"):
            with self.subTest(walk=word):
                text = self.softened(self.write(word + ".inp", n=3000, tcrit=0.25, group=TREE), "--walk", word, "--profile")
                self.assertIn("walk " + word.replace("treecode", "groups"), text)
                found = re.search(r"of a body: (\S+) cells and (\S+) bodies as terms; bodies of a group (\S+);", text)
                terms[word] = tuple(map(float, found.groups()))
                self.assertGreater(min(terms[word][word == "fmm":]), 0)
                for stage in ("key", "sort", "link", "moments", "lists", "cells", "pairs"):
                    self.assertRegex(text, r"\n  %s +[0-9.]+\n" % stage)
                self.assertLess(package.Run(self.path(word)).log["force_err_99"].max(), 1e-3)
        self.assertEqual(terms["single"][2], 1)
        self.assertGreater(terms["groups"][2], 2)
        self.assertGreater(terms["groups"][1], terms["single"][1])  # lists of groups are longer
        self.refuse("groups.inp", "WALK", "--walk", "backwards", "--overwrite")
        self.assertIn("--walk: cannot be changed", self.softened("--resume", "groups", "--walk", "single", code=2))
        self.refuse("groups.inp", "option of nbody6-collisionless", "--walk", "single", command="nbody6")

    def test_angle_and_order(self):
        """THETA and ORDER in place of an aim: a higher order has smaller errors from the same lists."""
        errors = []
        for order in (1, 4):
            group = "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 THETA=0.7 ORDER=%d LEAF=8 GROUP=16 /\n" % order
            text = self.softened(self.write("o%d.inp" % order, n=3000, tcrit=0.25, group=group))
            self.assertIn("tree, THETA = 0.7, order %d, leaf 8, group 16, walk auto" % order, text)
            errors.append(package.Run(self.path("o%d" % order)).log["force_err_99"].max())
        self.assertGreater(errors[0], 5 * errors[1])

    def test_what_a_tree_refuses(self):
        cases = (("FORCE_ERROR=1e-3 THETA=0.5", "THETA: a tree has an aim, FORCE_ERROR=0.001, or an angle"),
                 ("ORDER=3", "ORDER: there is no tree"), ("WALK='single'", "WALK: there is no tree"),
                 ("LEAF=8", "LEAF: there is no tree"), ("REUSE=2", "REUSE: there is no tree"),
                 ("FORCE_ERROR=1e-3 REUSE=0", "REUSE"), ("FORCE_ERROR=1e-3 REUSE=65", "REUSE"), ("GROUP=8", "GROUP: there is no tree"),
                 ("THETA=0.05", "THETA: 0.05 is out of range"), ("THETA=2", "THETA"), ("FORCE_ERROR=-1e-3", "FORCE_ERROR"),
                 ("FORCE_ERROR=0.5", "FORCE_ERROR"), ("FORCE_ERROR=NaN", "FORCE_ERROR"),
                 ("FORCE_ERROR=1e-3 ORDER=9", "ORDER"), ("FORCE_ERROR=1e-3 WALK='forth'", "WALK"),
                 ("FORCE_ERROR=1e-12", "FORCE_ERROR: 1e-12 is less than forces by a tree of the backend"))
        for k, (more, word) in enumerate(cases):
            with self.subTest(more=more):
                name = self.write("t%d.inp" % k, group=GROUP.replace(" /", " %s /" % more))
                self.refuse(name, word)
                self.refuse(name, word, "--check")
        self.refuse(self.write("s.inp", group="&INCOLLISIONLESS FORCE_ERROR=1e-3 /\n"), "FORCE_ERROR: &INCOLLISIONLESS has "
                    "no softening")

    def test_trees_on_devices(self):
        """The host engine and the emulated one have the same files by trees of an emulated device; --check shows its
        memory, --profile that terms are among the lists where the host waits for them, and no times where it does not."""
        text = self.softened(self.write(n=1000, tcrit=0.5, group=TREE), "--engine", "host", "--device", "emulated",
                             "--profile")
        self.assertIn("keys and their order are in link, terms in lists", text)
        self.assertRegex(text, r"\n  forces that the host has asked for.*\n(.*\n)*  lists +[0-9.]+\n")
        self.assertNotRegex(text, r"\n  (cells|pairs) ")
        text = self.softened(self.write("b.inp", n=1000, tcrit=0.5, group=TREE), "--engine", "emulated", "--device",
                             "emulated", "--profile")
        self.assertIn("emulated engine, tree, FORCE_ERROR = 0.001, leaf 16, walk groups", text)
        self.assertIn("stages of trees of bodies that stay on devices are not timed", text)
        self.assertNotIn("forces that the host has asked for", text)
        self.assertRegex(text, r"\n  of a body: [1-9]\S* cells and [1-9]\S* bodies as terms")
        self.assert_same("a", "b")
        self.assertLess(package.Run(self.path("b")).log["force_err_99"].max(), 1e-3)
        def memory(*options):
            text = self.softened("--check", "b.inp", "--device", "emulated", *options)
            found = re.search(r"\n  on the device: (\S+) MB\n", text)
            return float(found[1]) if found else 0
        self.assertGreater(memory("--engine", "emulated"), 0)
        self.assertEqual(memory("--engine", "host"), 0)

    def test_check_of_forces(self):
        """--check shows method, aim, order and walk, and what forces cost by either method: for few bodies direct sums are
        the cheaper ones, for many a tree."""
        texts = {n: self.softened("--check", self.write(n=n, group=TREE)) for n in (1000, 32768)}

        def seconds(n, method):
            text = texts[n]
            self.assertRegex(text, r"\n  forces: tree, FORCE_ERROR = 0.001, order \d, leaf 16, group \d+, walk groups\n")
            found = re.search(r"\n  %s: about (\S+) (s|min) for the forces on all bodies, .* for the run, \S+ MB\n" % method,
                              text)
            return float(found[1]) * (60 if found[2] == "min" else 1)
        self.assertLess(seconds(1000, "direct sums"), seconds(1000, "tree"))
        self.assertGreater(seconds(32768, "direct sums"), 2 * seconds(32768, "tree"))
        few = "direct sums cost less for so few bodies, and are made; WALK='groups' takes the tree"
        for n, expected in ((1000, True), (32768, False)):
            text = self.softened("--check", self.write(n=n, group=TREE), "--walk", "auto")
            self.assertEqual(few in text, expected)
        text = self.softened("--check", self.write())
        self.assertIn("\n  forces: direct sums\n  direct sums: about", text)
        self.assertNotIn("tree", text)

    def test_status_names_the_program(self):
        self.softened(self.write(), "--tcrit", "0.5")
        text = self.run_command("--status")
        self.assertIn("a: finished at t = 0.5", text)
        self.assertIn("nbody6-collisionless --resume a.ckpt.h5 --tcrit T", text)
        self.stop_next("a")
        self.softened("--resume", "a.ckpt.h5", "--tcrit", "1")
        text = self.run_command("--status")
        self.assertIn("a: stopped at t = 0.5", text)
        self.assertIn("nbody6-collisionless --resume a.ckpt.h5", text)

    def write_changes(self, text):
        with open(self.path("changes.inp"), "w") as file:
            file.write(text + "\n")
        return "changes.inp"

    def test_resume_with_changes(self):
        """A larger QE lets a run go on that its energy error has ended; the parameters of the forces stay."""
        text = self.softened(self.write(qe=1e-9), code=3)
        self.assertIn("a larger QE in an input for --resume accepts it", text)
        changes = self.write_changes("&ININPUT QE=1E-2 DTADJ=0.125 TCRIT=1.5 /")
        text = self.softened("--resume", "a.ckpt.h5", changes)
        for told in ("changed: QE 1e-09 -> 0.01", "changed: DTADJ 0.25 -> 0.125", "changed: TCRIT 1 -> 1.5"):
            self.assertIn(told, text)
        run = package.Run(self.path("a"))
        self.assertEqual(list(run.log["t"])[-12:], [k / 8 for k in range(1, 13)])
        self.assertIn(b"# changed: QE 1e-09 -> 0.01 from t = ", self.read("a.log.csv"))
        for change, word in (("&INCOLLISIONLESS DT=0.0625 /", "DT: cannot become 0.0625 in a run that has 0.03125"),
                             ("&ININPUT DTADJ=0.3 /", "DTADJ: 0.3 is no multiple of DT=0.03125; give 0.28125 or 0.3125"),
                             ("&ININPUT N=500 /", "N: cannot become 500 in a run that has 400")):
            before = self.read("a.ckpt.h5")
            text = self.softened("--resume", "a.ckpt.h5", "--tcrit", "2", self.write_changes(change), code=2)
            self.assertIn("changes.inp:1: " + word, text)
            self.assertEqual(self.read("a.ckpt.h5"), before)

    def test_damaged_checkpoint(self):
        self.softened(self.write())
        with open(self.path("a.ckpt.h5"), "r+b") as file:
            file.seek(4000)
            file.write(b"damage")
        self.assertIn("a.ckpt.h5", self.softened("--resume", "a.ckpt.h5", code=4))

    def refuse(self, name, word, *arguments, command=None):
        """One line that has the word, exit code 2, and nothing written."""
        files = sorted(os.listdir(self.folder))
        if command:
            text = self.run_command(name, *arguments, code=2)
        else:
            text = self.softened(name, *arguments, code=2)
        lines = [line for line in text.splitlines() if not line.startswith("note:")]
        self.assertEqual(len(lines), 1, text)
        self.assertIn(word, lines[0])
        self.assertEqual(sorted(os.listdir(self.folder)), files)

    def test_what_it_cannot_do(self):
        cases = (("KZ(8)=1", ".inp:2: KZ(8)"), ("KZ(14)=1", "KZ(14)"), ("KZ(23)=1", "KZ(23)"), ("KZ(2)=2", "KZ(2)"),
                 ("DTADJ=0.3", ".inp:2: DTADJ: 0.3 is no multiple of DT=0.03125; give 0.28125 or 0.3125"),
                 ("DELTAT=0.01171875", "give 0.03125, or DT=0.00390625"), ("TCRIT=0.99", "TCRIT"),
                 ("RSTAR", "RSTAR"))
        for k, (more, word) in enumerate(cases):
            with self.subTest(more=more):
                name, variable = "case%d.inp" % k, more.split("=")[0]
                self.write(name, more=more if more.startswith("KZ") else "")
                with open(self.path(name)) as file:
                    text = file.read()
                if variable in ("DTADJ", "DELTAT", "TCRIT"):
                    text = re.sub(variable + r"=[0-9.]+", more, text, count=1)
                if variable == "RSTAR":
                    text += "&INRUN RSTAR=1e-4 /\n"
                if variable == "KZ(8)":
                    text = text.replace("&INDATA ", "&INDATA NBIN0=10 ") + "&INBINPOP SEMI0=0.001 /\n"
                with open(self.path(name), "w") as file:
                    file.write(text)
                self.refuse(name, word)

    def test_check(self):
        """--check says what would be done, writes nothing, and refuses what a run refuses."""
        self.write(tcrit=2, group="&INCOLLISIONLESS SOFTENING=0.05 DT=0.015625 /\n")
        files = sorted(os.listdir(self.folder))
        text = self.softened("--check", "a.inp")
        self.assertIn("N = 400, softening 0.05", text)
        self.assertIn("shared steps of 0.015625: 128 steps", text)
        self.assertIn("energies every 0.25, snapshots every 0.5", text)
        self.assertEqual(sorted(os.listdir(self.folder)), files)
        self.write("b.inp", group="&INCOLLISIONLESS SOFTENING=0.05 DT=0.5 /\n")
        self.refuse("b.inp", "DTADJ", "--check")
        self.softened("--check", code=2)

    def test_what_has_no_effect(self):
        self.write(more="KZ(16)=1 RMIN=1e-4")
        notes = [line for line in self.softened("--check", "a.inp").splitlines() if "neither neighbours" in line]
        self.assertEqual(len(notes), 1)
        for name in ("RMIN", "ETAI", "KZ(16)"):
            self.assertIn(name, notes[0].split(":")[1])
        self.write("b.inp", group="")
        self.assertNotIn("neither neighbours", self.run_command("--check", "b.inp"))

    def test_end_in_myr(self):
        """It is no multiple of DT, and is rounded up to one."""
        self.write(tcrit=0)
        with open(self.path("a.inp")) as file:
            text = file.read().replace("KSTART=1", "KSTART=1 TCRTP0=0.5")
        with open(self.path("a.inp"), "w") as file:
            file.write(text)
        self.softened("a.inp")
        run = package.Run(self.path("a"))
        t = run.log["t"][-1]
        self.assertEqual(t % 0.03125, 0)
        self.assertGreaterEqual(t * run.time_myr, 0.5 * (1 - 1e-9))
        self.assertLess((t - 0.03125) * run.time_myr, 0.5)

    def test_stellar_evolution(self):
        self.write(more="KZ(19)=3")
        self.assertIn("KZ(19)", self.softened("a.inp", code=2))
        self.softened("a.inp", "--dynamics-only")

    def largest_error(self):
        return np.abs(package.Run(self.path("a")).log["de_cluster"]).max()

    def test_advice_on_steps(self):
        """Few bodies: the run that is warned of, and the one that is advised, which is ten times as good at least: errors
        go with the square of the step, which is at most a quarter of the other."""
        for group, name in (("SOFTENING=0.05 DT=%s", "DT"), ("SOFTENING=0.05 DT=0.03125 ETA=%s", "ETA")):
            with self.subTest(name=name):
                group = "&INCOLLISIONLESS %s /\n" % group
                self.write(n=10, tcrit=10, qe=10, group=group % {"DT": "0.015625", "ETA": "0.1"}[name])
                said = self.softened("--check", "a.inp")
                advice = re.search(r"warning: %s=\S+ is too .*; give %s=(\S+) or less" % (name, name), said)
                text = self.softened("a.inp", "--quiet", "--overwrite")
                self.assertIn("nbody6-collisionless: " + advice[0], text)
                before = self.largest_error()
                self.write(n=10, tcrit=10, qe=10, group=group % advice[1])
                self.assertNotIn("warning", self.softened("--check", "a.inp"))
                self.assertNotIn("warning", self.softened("a.inp", "--quiet", "--overwrite"))
                self.assertLess(self.largest_error(), 0.1 * before)

    def test_advice_is_for_few_or_heavy_bodies(self):
        self.write(n=400)
        self.assertNotIn("warning", self.softened("--check", "a.inp"))
        self.write(n=400, group="&INCOLLISIONLESS SOFTENING=1e-12 DT=0.25 /\n")  # no step would do
        self.assertRegex(self.softened("--check", "a.inp"), "warning: DT=0.25 .*; give a larger SOFTENING\n")

    def test_group_as_a_whole(self):
        for k, (group, word) in enumerate((("", "SOFTENING"), ("&INCOLLISIONLESS SOFTENING=0.1 /\n", "DT"),
                                           ("&INCOLLISIONLESS DT=0.5 /\n", "SOFTENING"),
                                           ("&INCOLLISIONLESS SOFTENING=-1 DT=0.5 /\n", "SOFTENING"),
                                           ("&INCOLLISIONLESS SOFTENING=1e-20 DT=0.5 /\n", "SOFTENING"),
                                           ("&INCOLLISIONLESS SOFTENING=0.1 DT=0.3 /\n", "power of two"),
                                           ("&INCOLLISIONLESS SOFTENING=0.1 DT=0.5 ETA=x /\n", "ETA"))):
            with self.subTest(group=group):
                self.refuse(self.write("g%d.inp" % k, group=group), word)

    def test_options_of_nbody6(self):
        self.write()
        for option in ("--init-only", "--force-check", "--irr-backend=ref"):
            with self.subTest(option=option):
                self.refuse("a.inp", "is an option of nbody6", option)

    def test_man_page_has_all_options(self):
        with open(os.path.join(SOURCE, "docs", "man", "nbody6-collisionless.1")) as file:
            page = file.read().replace("\\-", "-")
        options = set(re.findall(r"--[a-z-]+", re.sub(r"nbody6 --[a-z-]+", "", self.softened("--help"))))
        self.assertGreater(len(options), 10)
        self.assertEqual(options - set(re.findall(r"--[a-z-]+", page)), set())

    def test_nbody6_refuses(self):
        self.write()
        for arguments in ((), ("--check",), ("--init-only",)):
            with self.subTest(arguments=arguments):
                self.refuse("a.inp", "run nbody6-collisionless", *arguments, command="nbody6")
        self.softened("a.inp")
        self.assertIn("checkpoint of nbody6-collisionless", self.run_command("--resume", "a.ckpt.h5", code=2))
        self.assertIn("--overwrite", self.softened("a.inp", code=2))
        self.softened("a.inp", "--overwrite", "--quiet")

    def test_checkpoint_of_nbody6(self):
        self.write_input("c.inp", tcrit=0.25)
        self.run_command("c.inp")
        self.assertIn("checkpoint of nbody6;", self.softened("--resume", "c.ckpt.h5", code=2))

    def test_energy_tolerance(self):
        """Steps that are too long end the run with exit code 3."""
        self.write(qe=1e-6, group="&INCOLLISIONLESS SOFTENING=0.05 DT=0.25 /\n")
        self.assertRegex(self.softened("a.inp", code=3), "above 5 QE = .*; a smaller DT or ETA, in a new run, cuts it")
        self.write(qe=1e-9, group=TREE)
        self.assertIn("a smaller DT, ETA or FORCE_ERROR, in a new run", self.softened("a.inp", "--overwrite", code=3))


if __name__ == "__main__":
    unittest.main()
