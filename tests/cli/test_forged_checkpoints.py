"""Checkpoints with a right checksum and wrong content: refused with one message that names file, field and value, by
both programs and the Python package; checkpoints that are not refused run on soundly."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy

import forged_runs
import forging
from run_support import BUILD, SANITIZED, test_seeds, test_size

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = test_seeds(test_size(20, 8), 50)  # long_forged_checkpoints.py has ten thousand


def at(place, value):
    """A change of one value of an array, or of a scalar."""
    def change(values):
        values[place] = value
    return change


def slot_of(path, kind):
    """The first slot in use by a system of this kind."""
    with h5py.File(path) as file:
        used, kinds = file["pairs/member"][:, 0] >= 0, file["pairs/kind"][...]
    return int(numpy.flatnonzero(used & (kinds == kind))[0])


class ForgedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="nb6_forged_")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.sound = {kind: forged_runs.make(cls.folder, kind) for kind in forged_runs.FEW}
        cls.forged = os.path.join(cls.folder, "forged.ckpt.h5")

    def resume(self, kind, *options):
        for old in glob.glob(os.path.join(self.folder, "f.*")):
            os.unlink(old)
        path, program = self.forged, forged_runs.KINDS[kind][0]
        return forged_runs.run(self.folder, program, "--resume", path, "--out", "f", "--quiet", "--overwrite", *options)

    def refused(self, kind, name, change, text, *options):
        """A change of a field is refused, by its name, with this text."""
        with self.subTest(kind=kind, field=name, text=text):
            forging.set_field(self.sound[kind], self.forged, name, change)
            code, said = self.resume(kind, *options)
            self.assertEqual(code, 2, said)
            self.assertIn("forged.ckpt.h5: " + name, said)
            self.assertIn(text, said)
            self.assertIn("must be", said)
            self.assertIn("there is no other checkpoint beside it", said)
            self.assertEqual(len(said.splitlines()), 1, said)

    def test_a_copy_is_sound(self):
        """Rewriting alone, without a changed value, is not refused."""
        for kind, path in self.sound.items():
            forging.set_field(path, self.forged, "state/n", lambda values: None)
            end, text = forged_runs.attempt(self.folder, forged_runs.KINDS[kind][0], self.forged,
                                            forged_runs.time_of(path))
            self.assertEqual(end, "sound", text)

    def test_state(self):
        """Times, counts, configuration, books."""
        with h5py.File(self.sound["plain"]) as file:
            now = file["state"].attrs["ti_now"]
        for kind in ("plain", "softened"):
            self.refused(kind, "state/n", at((), -1), "from 0 to")
            self.refused(kind, "state/ti_now", at((), 2 * now), "no later than state/ti_reached")
            self.refused(kind, "bookkeeping/ti_next_adjust", at((), now - 1), "multiple 3 of the interval 0.25")
            self.refused(kind, "counters/blocks", at((), 2**63), "is 9.2233720368547758e+18")
            self.refused(kind, "units/time_myr", at((), 1e300), "1e+300")
            self.refused(kind, "external/active", at((), 7), "from 0 to 1")
            self.refused(kind, "ledger/start", at((), numpy.nan), "is nan")
        self.refused("plain", "state/nb_cap", at((), 2**32), "lists of so many stars")
        self.refused("plain", "bookkeeping/eta_share", at((), 2.0**-1000), "from 0.05 to 1")

    def test_bodies(self):
        """Steps, forces, names, lists."""
        for kind in ("plain", "mergers", "softened"):
            self.refused(kind, "bodies/mass", at(1, -0.5), "is -0.5")
            self.refused(kind, "bodies/x0", at((2, 1), numpy.inf), "bodies/x0[2] is inf")
            self.refused(kind, "stars/name", at(0, 0), "stars/name[0] is 0")
            self.refused(kind, "stars/name", lambda values: at(0, values[1])(values), "the name of one star only")
        self.refused("softened", "stars/level_irr", at(3, 41), "from 0 to 40")
        self.refused("plain", "bodies/t0", at(0, 1), "a multiple of 2^stars/level_irr")
        self.refused("plain", "stars/level_irr", at(0, 41), "from 0 to 40")
        self.refused("plain", "neighbours", at(0, 41), "bodies that take part, ascending")
        self.refused("plain", "neighbours", lambda values: at(0, values[1])(values), "ascending")
        self.refused("plain", "stars/nnb", at(0, -1), "from 0 to")
        self.refused("plain", "neighbours", lambda values: numpy.append(values, values[-1]), "as long as the counts")

    def test_trees(self):
        """The tree of a run that keeps one: its record, the order of its bodies, its cells."""
        with h5py.File(self.sound["reused"]) as file:
            blocks, now, tree = file["counters"].attrs["blocks"], file["state"].attrs["ti_now"], file["tree"].attrs
            self.assertEqual(tree["state"], 0)
            self.assertGreater(tree["renewals"], 0)
            ends = numpy.flatnonzero(file["tree_layout/cut"][...] == 0)
        self.refused("reused", "tree/build_block", at((), blocks), "below counters/blocks")
        self.refused("reused", "tree/ti_build", at((), now + 1), "no later than state/ti_now")
        self.refused("reused", "tree/state", at((), 3), "from 0 to 2")
        self.refused("reused", "tree/leaf", at((), 0), "1 or more")
        self.refused("reused", "tree/early", at((), 2**40), "below tree/builds")
        self.refused("reused", "tree_layout/order", at(3, 40), "the number of a star")
        self.refused("reused", "tree_layout/order", lambda values: at(7, values[2])(values), "no other place")
        self.refused("reused", "tree_layout/cut", at(0, 0), "tree_layout/cut[0] is 0")
        self.refused("reused", "tree_layout/cut", at(ends, 9), "2 to 8")
        self.refused("reused", "tree_layout/cut", lambda values: values * 0, "2 to 8")

    def test_systems(self):
        """Members, owners, perturbers, relative motions, chains."""
        slot, outer = slot_of(self.sound["mergers"], 0), slot_of(self.sound["triples"], 2)
        chain = slot_of(self.sound["chain"], 1)
        self.refused("mergers", "pairs/member", at((slot, 0), 2000), "the number of a star or a pair")
        self.refused("mergers", "pairs/member", lambda values: at((slot, 0), values[slot, 1])(values), "pairs/member[")
        self.refused("mergers", "pairs/chain", at(slot, 1), "from 0 to 0, 0 or the number of a chain")
        self.refused("mergers", "ks/kappa", at(slot, 0.5), "a number from 1 to 1e12")
        self.refused("mergers", "ks/now.r", at(slot, 1e-9), "|u|^2")
        self.refused("mergers", "ks/dt", at(slot, 2.0**-1000), "the time that dtau takes")
        self.refused("mergers", "ks/options.eta", at(slot, 2.0**-1000), "ks/options.eta")
        self.refused("triples", "pairs/kind", at(outer, 0), "that of a system with these members")
        self.refused("chain", "chains/star", at((0, 0), 5000), "the number of a star")
        self.refused("chain", "chains/state.order", at((0, 0), 7), "a member, and none twice")
        self.refused("chain", "chains/state.mass", at((0, 0), 0), "a number > 0")
        self.refused("chain", "chains/state.step", at(0, 2.0**-1000), "one in which its members move")
        self.refused("chain", "chains/state.t", at(0, -1000), "the present step of its centre of mass")
        self.refused("chain", "chains/slot", at(0, 1 - chain), "the slot of the pair that names this chain")

    def test_every_number_of_the_configuration(self):
        """NaN in each of them, which an input cannot say."""
        with h5py.File(self.sound["plain"]) as file:
            names = ["%s/%s" % (group, name) for group in file if group.startswith("config")
                     for name, value in file[group].attrs.items() if getattr(value, "dtype", None) == numpy.float64]
        self.assertGreater(len(names), 60)
        for name in names[::test_seeds(test_size(5, 16), 3)]:
            forging.set_field(self.sound["plain"], self.forged, name, lambda values: values * numpy.nan)
            code, said = self.resume("plain")
            self.assertEqual(code, 2, name + ": " + said)
            self.assertIn("its configuration is none that an input can say", said)

    def test_huge_counts_take_no_memory(self):
        """A file that says of itself that it has 2^30 stars, with datasets that were never written."""
        shutil.copy(self.sound["plain"], self.forged)
        n = 2**30
        with h5py.File(self.forged, "r+") as file:
            file["state"].attrs.modify("n", n)
            for group in ("bodies", "stars"):
                for name in list(file[group]):
                    old = file[group][name]
                    shape, dtype = (n,) + old.shape[1:], old.dtype
                    del file[group][name]
                    file[group].create_dataset(name, shape, dtype)
        forging.seal(self.forged)
        code, said = self.resume("plain")
        self.assertEqual(code, 4, said)
        self.assertIn("is not wholly in the file", said)

    def test_what_else_reads_them(self):
        """--status, a resume with changes, the other checkpoint of a run, and the Python package."""
        folder = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(folder, "a.ckpt.h5")
        forging.set_field(self.sound["plain"], path, "bookkeeping/e_scale", at((), numpy.nan))
        said = forged_runs.run(folder, "nbody6", "--status")[1]
        self.assertIn("bookkeeping/e_scale is nan", said)
        with open(os.path.join(folder, "changes.inp"), "w") as file:
            file.write("&ININPUT ETAI=0.01 /\n")
        shutil.copy(self.sound["plain"], os.path.join(folder, "a.ckpt.prev.h5"))
        code, said = forged_runs.run(folder, "nbody6", "--resume", "a.ckpt.h5", "changes.inp")
        self.assertEqual(code, 2, said)
        self.assertIn("resume from a.ckpt.prev.h5 instead", said)
        if SANITIZED:
            return  # Python itself has no sanitizer
        done = subprocess.run([sys.executable, "-c", "import nbody6; nbody6.Simulation.restore(%r)" % path], text=True,
                              env=dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"),
                                       NBODY6_LIBRARY=os.path.join(BUILD, "lib", "libnbody6.so.0")),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertIn("bookkeeping/e_scale is nan", done.stdout)
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_any_field_changed_in_any_way(self):
        """A part of what long_forged_checkpoints.py does."""
        attack = forged_runs.Attack(self.folder, self.sound, seed=57)
        ends = set()
        for _ in range(CASES):
            case, end, text, _ = attack.next()
            self.assertIn(end, ("sound", "refused"), case + "\n" + text)
            ends.add(end)
        self.assertEqual(ends, {"sound", "refused"})


if __name__ == "__main__":
    unittest.main()
