"""nbody6-plot on names, snapshots and events that are not what it expects: a page or one message, never a traceback."""

import json
import os
import shutil
import tempfile
import unittest

import h5py
import numpy as np

from run_support import test_seeds
from test_plot import Page, plot, short_films, write_log, write_snapshot

import nbody6
from nbody6 import events, tables
from nbody6.plot import command, style

NAMES = ("$\\frac{b$", "a$b$c", "$$", "100%", "\\$x^{2", "<b>&amp;\"'", "{x}", "tab\tand\x01", "byte\udcff")
ESCAPE = {"t": 1.0, "event": "escape", "name": 7, "mass": 0.01, "x": [1, 2, 3], "v": [0, 0, 1], "energy": 0.1}
MERGER = {"t": 1.0, "event": "merger", "names": [1, 2], "mass": 0.02, "mass_gone": 0.01, "energy": -0.1}
PAIR = {"t": 1.0, "event": "pair_ended", "reason": "chain", "names": [1, 2]}
CHAIN = {"t": 1.0, "event": "chain_formed", "names": [1, 2, 3], "most": 3, "binding": -0.1, "t_formed": 1.0}


class OddTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.name = os.path.join(self.folder, "run")

    def page(self, *arguments):
        """The page, made in this process, so that exceptions reach the test."""
        self.assertEqual(command.main(list(arguments)), 0)
        with open(arguments[0] + ".html", encoding="utf-8") as file:
            text = file.read()
        Page(text)
        return text

    def test_names_of_runs(self):
        """In the legends of a comparison, on the page, and in a film."""
        paths = [os.path.join(self.folder, name) for name in NAMES]
        for path in paths:
            write_log(path + ".log.csv", 3)
        text = self.page(*paths)
        self.assertIn("$\\frac{b$", text)
        self.assertGreaterEqual(text.count("$\\frac{b$"), 8)  # in the legends, too
        write_snapshot(paths[0] + ".snap.00000.h5", 0.0, 20)
        write_snapshot(paths[0] + ".snap.00001.h5", 1.0, 20)
        self.page(paths[0], "-t", "$\\sqrt{$")
        with short_films():
            done = plot(paths[0], "--movie", self.name + ".gif")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.name + ".gif\n", ""))

    def test_text_for_figures(self):
        from matplotlib import cbook
        for name in NAMES:
            self.assertFalse(cbook.is_math_text(style.plain(name)), name)
        self.assertEqual(style.plain("a\n$b"), "a?\\$b")

    def test_snapshots_of_odd_shape(self):
        """Each is refused with its name and what is wrong, by the reader and by the command."""
        def replace(name, value):
            def change(file):
                del file[name]
                if value is not None:
                    file[name] = value
            return change

        def attribute(name, value):
            return lambda file: file["Header"].attrs.__setitem__(name, value)

        n = 30
        odd = {"Coordinates": [np.zeros((3, n)), np.zeros(3 * n), np.zeros((n, 2)), np.zeros((n + 1, 3)), np.float64(1),
                               np.full((n, 3), np.nan), np.array([b"a"] * n), None],
               "Masses": [np.ones((n, 1)), np.float64(1), np.ones(n - 1), -np.ones(n), np.full(n, np.inf), np.ones(0)],
               "Velocities": [np.zeros(n), np.full((n, 3), np.inf)],
               "ParticleIDs": [np.arange(n + 1), np.array([b"a"] * n)],
               "NeighbourNumber": [np.zeros((n, 2))], "TimeStepIrregular": [np.float64(1)]}
        changes = [replace("PartType4/" + name, value) for name, values in odd.items() for value in values]
        changes += [replace("PartType4", np.zeros(n)), replace("PartType4", None), replace("Header", None),
                    replace("Header", np.zeros(2)), attribute("Time", "now"), attribute("Time", np.zeros(0)),
                    attribute("Time", np.nan), lambda file: file.create_group("PartType4/Potential"),
                    lambda file: file.create_group("Pairs"), lambda file: file.create_dataset("Pairs", data=1.0),
                    lambda file: file.create_group("nbody6").attrs.update(length_pc="far"),
                    lambda file: file.create_group("nbody6").attrs.update(length_pc=-1.0),
                    lambda file: file["PartType4"].create_dataset("K", data=np.ones(3)).attrs.__setitem__("kept", 1)]
        path = self.name + ".snap.00000.h5"
        for k, change in enumerate(changes):
            with self.subTest(change=k):
                write_snapshot(path, 0.0, n)
                with h5py.File(path, "r+") as file:
                    change(file)
                with self.assertRaisesRegex(nbody6.ReadError, "^" + path):
                    nbody6.read_snapshot(path)
                with self.assertRaisesRegex(SystemExit, "nbody6-plot: .*run"):
                    command.main([self.name])
        write_log(self.name + ".log.csv", 3)  # then the log alone is drawn
        self.page(self.name)

    def test_snapshots_that_can_be_drawn(self):
        """Few stars, no velocities, no masses, all at one place, other types of numbers: each with one star or many."""
        path = self.name + ".snap.00000.h5"
        for n in (1, 70):
            changes = ({"Masses": np.zeros(n)}, {"Coordinates": np.zeros((n, 3))},
                       {"Velocities": None, "ParticleIDs": None, "Masses": np.ones(n, dtype=int)})
            for change in test_seeds(changes[::2] if n == 1 else changes[1:2], changes):
                with self.subTest(n=n, change=sorted(change)):
                    write_snapshot(path, 0.0, n)
                    with h5py.File(path, "r+") as file:
                        for name, value in change.items():
                            del file["PartType4/" + name]
                            if value is not None:
                                file["PartType4/" + name] = value
                    self.page(self.name)

    def test_events_without_their_fields(self):
        """Without each field in turn, and with another type in its place."""
        write_log(self.name + ".log.csv", 3)
        path = self.name + ".events.jsonl"
        needed = {"escape": "name mass v", "merger": "names mass mass_gone energy", "pair_ended": "reason names",
                  "chain_formed": "names most binding"}
        for event in (ESCAPE, MERGER, PAIR, CHAIN):
            with open(path, "w") as file:
                file.write(json.dumps(event) + "\n")
            self.assertEqual(events.read_events(path), [event])
            for field in ["t", "event", *needed[event["event"]].split()]:
                for value in (None, {}, [None], "x", True, [[]], 1e999):
                    wrong = dict(event, **{field: value})
                    if (value is None and field in ("mass", "mass_gone", "energy", "binding")) or (
                            value == "x" and field in ("event", "reason")):
                        continue  # a number that was not finite; another kind of event
                    if value is None:
                        del wrong[field]
                    with open(path, "w") as file:
                        file.write(json.dumps(wrong) + "\n")
                    with self.subTest(wrong=wrong), self.assertRaisesRegex(nbody6.ReadError, "events.jsonl:1: "):
                        events.read_events(path)
        with self.assertRaisesRegex(SystemExit, "nbody6-plot: .*events.jsonl:1: not an event: chain_formed"):
            command.main([self.name])
        for line in ("[" * 100000, "3", "null", '{"t": 1%s, "event": "run"}' % ("0" * 400), '{"t": 1, "event": 5}'):
            with open(path, "w") as file:
                file.write(line + "\n")
            with self.assertRaisesRegex(nbody6.ReadError, "not an event"):
                events.read_events(path)

    def test_numbers_that_were_not_finite(self):
        """The program writes null for them."""
        write_log(self.name + ".log.csv", 3)
        with open(self.name + ".events.jsonl", "w") as file:
            for event in (dict(ESCAPE, mass=None, v=[None] * 3), ESCAPE, dict(MERGER, mass=None, mass_gone=None,
                                                                             energy=None), dict(CHAIN, binding=None)):
                file.write(json.dumps(event) + "\n")
        self.assertIn("Escapers", self.page(self.name))
        self.assertTrue(np.isnan(tables.to_number("")))


if __name__ == "__main__":
    unittest.main()
