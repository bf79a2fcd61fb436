"""Inputs that are hard for regularization run to their end: tight binaries, hierarchies, chains, mergers, few stars.

Energy bounds are the largest errors of the inputs listed at each, at the accuracy that inputs have by default, times a
reserve of about ten: other processors and compilers give other last bits, and with them another course of the chaotic
ones. Earlier errors were larger by far, or crashes."""

import json
import re
import unittest

import numpy as np

import hard_inputs as hard
from run_support import test_seeds


class HardInputTest(hard.HardTest):
    def log(self, name="a"):
        return np.atleast_1d(np.genfromtxt(self.path(name + ".log.csv"), delimiter=",", names=True))

    def events(self, kind=None, name="a"):
        with open(self.path(name + ".events.jsonl")) as file:
            return [event for event in map(json.loads, file) if kind in (None, event["event"])]

    def bounded(self, bound, text, stars=None, *options):
        """Runs an input to its end and returns its log; no more than `bound` is lost of the energy in any interval."""
        self.write(text, stars)
        self.run_command("a.inp", "--quiet", "--overwrite", *options)
        log = self.log()
        for column in ("e_total", "de_rel", "de_rel_interval", "de_cluster"):
            self.assertTrue(np.isfinite(log[column]).all(), column)
        self.assertLess(np.abs(log["de_rel"]).max(), bound)
        return log


class EscapeTest(HardInputTest):
    def test_pairs_that_escape(self):
        # Irregular and regular steps of 0.02 leave up to 2e-6 to 8e-6 in an interval of these, those without escapers
        # included; all 24 together 2e-5 to 7e-5.
        for seed in test_seeds((2,), (2, 3)):
            with self.subTest(seed):
                log = self.bounded(5e-4, hard.ESCAPING.format(seed=seed, tcrit=3, dtadj=0.125))
                ended = [event["reason"] for event in self.events("pair_ended")]
                self.assertGreater(ended.count("escaped"), 10)
                error, gone = np.abs(log["de_rel_interval"][1:]), np.diff(log["escapers"]) > 0
                self.assertGreater(np.abs(np.diff(log["e_escaped_binding"])).max(), 1e-3)
                self.assertLess(error[gone].max(), 5e-5)
                # A median interval loses as little: no part of what escapers take is forgotten.
                self.assertLess(np.median(error[gone]), 1e-5)


class HierarchyTest(HardInputTest):
    def test_triple_and_quadruple(self):
        # They are undisturbed, and a frozen orbit has no error.
        for text, stars, pairs in ((hard.TRIPLE, hard.TRIPLE_STARS, 2), (hard.QUADRUPLE, hard.QUADRUPLE_STARS, 3)):
            with self.subTest(stars=len(stars)):
                log = self.bounded(1e-12, text, stars)
                self.assertEqual((log["n_pair"][-1], log["n_hierarchy"][-1]), (pairs, 1))

    def test_many(self):
        # Those that are not broken up lose 1e-7 to 2e-6, those in a galaxy up to 4e-5 in steps that follow its tide.
        for count, members, seed, tide in ((2, 3, 5, 0), (2, 3, 6, 1), (10, 3, 6, 0), (10, 3, 6, 1), (10, 3, 6, 2),
                                           (12, 3, 6, 0), (3, 4, 5, 0), (3, 4, 6, 2), (6, 4, 5, 0), (6, 4, 6, 1)):
            with self.subTest(count=count, members=members, seed=seed, tide=tide):
                text = hard.STARS.format(dtadj=0.25, deltat=1, tcrit=1, more="KZ(14)=%d" % tide) + hard.GALAXY
                log = self.bounded(4e-4 if tide else 2e-5, text, hard.systems(count, seed, members))
                self.assertGreaterEqual(log["hierarchies_formed"][-1], count // 2)
                if (count, tide) == (12, 0) or members == 4:  # more pairs than pairs of stars
                    self.assertGreater(log["n_pair"].max(), count * members // 2)

    def test_inner_pairs_that_are_ten_times_as_tight(self):
        """A hierarchy is not frozen and broken up all the time where the galaxy disturbs its outer orbit."""
        text = hard.STARS.format(dtadj=0.25, deltat=1, tcrit=0.5, more="RBAR=5 KZ(14)=2") + hard.GALAXY
        log = self.bounded(2e-3, text, hard.systems(10, 1, inner=2e-4))
        self.assertLess(log["hierarchies_formed"][-1], 100)


    def test_that_escape(self):
        # The systems that stay lose perturbers at each adjust, on block times (0.125) and between them. Measured 5e-9
        # to 2.4e-7, median 4e-8; up to 6e-6 in runs of forty triples. Triples of seed 5 had no perturbation at t =
        # 1.25.
        worst = []
        for count, members, dtadj, seeds in ((20, 3, 0.125, (5, 6)), (12, 4, 0.125, (31,)),
                                             (8, 3, 0.03, (81, 83, 84, 85, 89)),
                                             (6, 4, 0.1, (31, 33, 34, 36, 37, 40))):
            for seed in seeds[:test_seeds(2, None)]:
                with self.subTest(count=count, members=members, seed=seed):
                    more = "RBAR=1 ZMBAR=0.5 KZ(14)=2 KZ(23)=3"
                    text = hard.STARS.format(dtadj=dtadj, deltat=1, tcrit=1.5, more=more) + hard.GALAXY
                    log = self.bounded(6e-5, text + "&INRUN RSTAR=%g /\n" % (1e-4 if members == 3 else 0),
                                       hard.systems(count, seed, members))
                    self.assertGreater(log["escapers"][-1], count * members // 3)
                    self.assertGreaterEqual(log["hierarchies_formed"][-1], count)
                    worst.append(np.abs(log["de_rel"]).max())
        self.assertLess(np.median(worst), 1e-6)


class ChainTest(HardInputTest):
    def test_galaxy_acts_in_chains(self):
        # Measured 4e-8 to 1.5e-7; a chain that does not feel the galaxy loses 1.5e-2.
        log = self.bounded(1e-6, hard.CHAIN_IN_GALAXY.format(seed=1351, tide=1))
        self.assertGreater(log["chain_steps"][-1], 0)

    def test_galaxy_acts_on_two_binaries_in_a_chain(self):
        log = self.bounded(1, hard.TIGHT.format(seed=6151, more="KZ(14)=1"))
        self.assertGreater(log["chain_steps"][-1], 100)
        self.assertLess(np.abs(log["de_rel"] * log["e_total"]).max() / 0.25, 3e-6)  # measured 6e-7, 9e-6 without the galaxy

    def test_galaxy_with_other_seeds(self):
        # Stars alone lose up to 3e-5 at 2 kpc from the centre: their steps are chosen without the galaxy.
        for seed in test_seeds((7,), (1352, 7)):
            for tide in (1, 2):
                with self.subTest(seed=seed, tide=tide):
                    self.bounded(3e-4 if tide == 2 else 2e-5, hard.CHAIN_IN_GALAXY.format(seed=seed, tide=tide))

    def test_tight_pair(self):
        log = self.bounded(1, hard.TIGHT.format(seed=6151, more=""))
        self.assertGreater(log["chains_formed"][-1], 0)
        # 900 steps; one for each tenth of the tight period would be some 1e8.
        self.assertLess(log["chain_steps"][-1], 1e5)
        # Nearly all of the energy of 364 is that of one binary. The limit refers to the cluster's, 0.25, of which 4e-7
        # are lost.
        self.assertLess(np.abs(log["de_rel"] * log["e_total"]).max() / 0.25, 1e-6)

    def test_tight_pairs_of_other_seeds(self):
        # Binaries are up to 1400 times as strongly bound as the cluster: 3e-7 of 0.25 at most.
        for seed in test_seeds((1,), (6152, 1, 3)):
            with self.subTest(seed):
                log = self.bounded(1, hard.TIGHT.format(seed=seed, more=""))
                self.assertLess(log["chain_steps"][-1], 1e5)
                self.assertLess(np.abs(log["de_rel"] * log["e_total"]).max() / 0.25, 5e-6)

    def test_undisturbed_pairs_without_slow_down(self):
        """A tight pair with a perturbation below GMIN is not followed orbit by orbit: some 2000 and 16000 steps where
        it were 1e7 and 6e6, in minutes."""
        log = self.bounded(1, hard.TIGHT.format(seed=6151, more="KZ(26)=0"))
        self.assertGreater(log["chain_steps"][-1], 1000)
        self.assertLess(log["chain_steps"][-1], 1e5)
        self.assertLess(np.abs(log["de_rel"] * log["e_total"]).max() / 0.25, 1e-6)  # as with slow-down
        for engine in ("host", "emulated"):
            with self.subTest(engine):
                log = self.bounded(1, hard.SLOW_CHAIN, None, "--engine", engine)
                self.assertGreater(log["chain_steps"][-1], 1000)
                self.assertLess(log["chain_steps"][-1], 1e5)

    def test_busy(self):
        """Without slow-down inside chains, two stars that turn round 7e7 times in a unit of time are named."""
        self.write(hard.TIGHT.format(seed=6151, more="KZ(26)=1 GMIN=1e-10"))
        text = self.run_command("a.inp", "--wall-limit", "1")
        for _ in range(60):  # 1e8 forces are worth the word, of whatever speed
            if self.events("busy"):
                break
            text = self.run_command("--resume", "a.ckpt.h5", "--wall-limit", "1")
        busy = self.events("busy")[0]
        self.assertIn("has done", text)
        fields = {"names", "name", "share", "pair_forces", "a", "period", "size", "steps"}
        self.assertEqual(set(busy), fields | {"t", "event"})
        self.assertLessEqual({3, 4}, set(busy["names"]))
        self.assertTrue(0.5 <= busy["share"] <= 1)
        # The tightest orbit when it was logged; the binary's own is 1.37e-8, and changes by less than a tenth.
        self.assertAlmostEqual(busy["period"], 1.4e-8, delta=2e-9)
        self.assertGreaterEqual(busy["pair_forces"], 1e8)
        documented = self.documented("busy")
        for field in fields:
            self.assertIn("`%s`" % field, documented)

    def documented(self, event):
        with open("docs/output.md") as file:
            return re.search(r"^\* `%s`: (.*?)\n(?:\*|\n)" % event, file.read(), re.M | re.S).group(1)


class FewTest(HardInputTest):
    def test_defaults(self):
        # Ten crossing times with steps of 0.02: 1e-5.
        for n in (2, 3, 4, 5, 7, 9):
            for seed in test_seeds((1,), (1, 2)):
                with self.subTest(n=n, seed=seed):
                    self.bounded(1e-4, "&ININPUT N=%d NRAND=%d /\n" % (n, seed))

    def test_two_bound_stars_are_a_pair_at_once(self):
        log = self.bounded(1e-12, "&ININPUT N=2 /\n")  # one Kepler orbit
        self.assertEqual((log["n_pair"][0], log["n_pair"][-1]), (1, 1))
        formed = self.events("pair_formed")
        self.assertEqual([event["t"] for event in formed], [0])

    def test_what_check_says_about_regularization(self):
        """Fewer than ten stars have no RMIN before there is a model: it comes from its stars."""
        text = self.run_command("--check", self.write("&ININPUT N=3 /\n"))
        self.assertRegex(text, r"regularization of pairs +RMIN = 0\.15 median distances of two stars at t = 0")
        log = self.bounded(1e-4, "&ININPUT N=3 TCRIT=1 DELTAT=1 /\n")
        x = self.stars("a.snap.00000.h5")
        distances = [np.linalg.norm(x[i] - x[j]) for i in range(3) for j in range(i)]
        self.assertAlmostEqual(log["r_min"][0], 0.15 * np.median(distances), delta=1e-12)  # rounding

    def stars(self, name):
        import h5py
        with h5py.File(self.path(name)) as file:
            return file["PartType4/Coordinates"][...]

    def test_stars_at_rest_almost_at_one_place(self):
        # Measured 2e-14 to 9e-13; 4e-4 and 11 where these two were not a pair from the start.
        for separation in (1e-8, 1e-9):
            for seed in test_seeds((1,), (1, 2)):
                with self.subTest(separation=separation, seed=seed):
                    text = hard.STARS.format(dtadj=0.25, deltat=1, tcrit=1, more="")
                    log = self.bounded(1e-11, text, hard.close_pair(separation, seed))
                    self.assertGreater(log["n_pair"][0], 0)

    def test_limits_of_the_end(self):
        for tcrit in ("7e6", "8e6"):
            self.run_command("--check", self.write("&ININPUT N=3 TCRIT=%s /\n" % tcrit))
            self.run_command("--check", "--tcrit", tcrit, self.write("&ININPUT N=3 /\n"))
        self.assertIn("TCRIT", self.run_command("--check", self.write("&ININPUT N=3 TCRIT=8.1e6 /\n"), code=2))
        self.assertIn("tcrit", self.run_command("--check", "--tcrit", "8.1e6", self.write("&ININPUT N=3 /\n"),
                                                code=2).lower())


class BinariesTest(HardInputTest):
    def run_binaries(self, bound, n, seed, tide, radius=0, tcrit=1):
        text = hard.BINARIES.format(n=n, seed=seed, tide=tide, tcrit=tcrit, more="", radius=radius)
        return self.bounded(bound, text + (hard.GALAXY if tide == 2 else ""))

    def test_nothing_but_binaries(self):
        # Measured 1e-7 at most, relative to an energy that is mostly binding; 8e-6 at 2 kpc from the centre, where the
        # tide takes the cluster apart and the energies of its motion in the field grow to thirty times its own. Ten times
        # that, because other trajectories have other encounters.
        for n in (4, 15):
            for seed in test_seeds((3,), (2, 3)):
                for tide, bound in ((0, 1e-6), (1, 1e-6), (2, 1e-4)):
                    with self.subTest(n=n, seed=seed, tide=tide):
                        log = self.run_binaries(bound, n, seed, tide)
                        self.assertGreaterEqual(log["n_pair"][0], n)

    def test_mergers(self):
        # As above: the energy of a merger is booked.
        for n, tide, bound in ((4, 0, 5e-6), (15, 0, 5e-6), (15, 1, 5e-4)):
            with self.subTest(n=n, tide=tide):
                log = self.run_binaries(bound, n, 3, tide, radius=1e-4)
                mergers = self.events("merger")
                self.assertGreater(len(mergers), 0)
                self.assertEqual(log["mergers"][-1], len(mergers))
                self.assertEqual(log["n"][-1] + len(mergers), 2 * n)


if __name__ == "__main__":
    unittest.main()
