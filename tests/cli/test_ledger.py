"""The books of energy, from the log and the events alone: clusters of triples in a galaxy, with stars that collide,
pairs, chains and hierarchies that come and go, and systems that escape."""

import json
import re
import unittest

import numpy as np

import hard_inputs as hard

# Radii of stars: with a few mergers, with more, with none but more hierarchies.
RADII = 7e-4, 1e-3, 1e-4

# Where an event says what it books, by the column of the log that has the sum.
BOOKED = {"e_pairs": ("pairs", "energy_change"), "e_chains": ("chains", "energy_change"),
          "e_hierarchies": ("hierarchies", "energy_change"), "e_merged": ("merger", "energy"),
          "e_escaped": ("energy_escaped", "energy"), "e_escaped_binding": ("energy_escaped", "binding")}
SYSTEMS = {"pair_formed", "pair_ended", "chain_formed", "chain_joined", "chain_left", "chain_ended"}

# Errors of steps of 0.02 in these: 1.1e-6 to 1.8e-6 in all, 3e-6 within the run. Each transfer is much larger.
INTEGRATION = 3e-5


class LedgerTest(hard.HardTest):
    def write_cluster(self, radius):
        text = hard.STARS.format(dtadj=0.125, deltat=1, tcrit=3, more="RBAR=1 ZMBAR=0.5 KZ(14)=2 KZ(23)=3")
        self.write(text + hard.GALAXY + "&INRUN RSTAR=%g /\n" % radius, hard.systems(12, 5))

    def log(self):
        return np.genfromtxt(self.path("a.log.csv"), delimiter=",", names=True)

    def events(self):
        """Bookings (time, energy) of each column."""
        found = {column: [] for column in BOOKED}
        with open(self.path("a.events.jsonl")) as file:
            for event in map(json.loads, file):
                self.assertEqual("channel" in event, event["event"] in SYSTEMS, event)
                for column, (kind, energy) in BOOKED.items():
                    if kind in (event["event"], event.get("channel")):
                        found[column].append((event["t"], event[energy]))
        return found

    def check(self):
        """Returns the columns in which something was booked."""
        log, events = self.log(), self.events()
        # The row at t = 0 comes before all decisions, each other one after those of its time and before its escapers.
        for column, booked in events.items():
            later = column.startswith("e_escaped")
            for row in log:
                terms = [energy for t, energy in booked if row["t"] > t or row["t"] == t > 0 and not later]
                # 15 digits of each event and of the column, and rounding of as many sums
                bound = 1e-14 * (sum(map(abs, terms)) + abs(row[column]))
                self.assertLessEqual(abs(sum(terms) - row[column]), bound, "%s at t = %g" % (column, row["t"]))
        # rounding of the columns in the file: 15 digits of each term
        start, digits = log["e_total"][0], 1e-14 * (abs(log["e_total"]) + log["e_kin"] + abs(log["e_bind"]) + 1)
        transfers = -log["e_escaped"] - log["e_merged"]
        errors = log["e_pairs"] + log["e_chains"] + log["e_hierarchies"]
        self.assertTrue((abs(log["e_expected"] - start - transfers) < digits).all())
        self.assertTrue((abs(log["e_total"] - start - transfers - errors - log["e_integration"]) < digits).all())
        self.assertTrue((abs(log["de_pairs"] * abs(start) - errors) < 1e-14).all())
        # A transfer that was not booked would appear here.
        self.assertLess(abs(log["e_integration"]).max(), INTEGRATION)
        return {column for column in BOOKED if log[column][-1] != 0}

    def test_events_add_up(self):
        booked = set()
        for radius in RADII:
            with self.subTest(radius=radius):
                self.write_cluster(radius)
                self.run_command("a.inp", "--quiet", "--overwrite")
                booked |= self.check()
        self.assertEqual(booked, set(BOOKED))  # or nothing was shown of one

    def test_resumed(self):
        self.write_cluster(RADII[0])
        with open(self.path("a.inp")) as file:
            text = file.read()
        with open(self.path("b.inp"), "w") as file:
            file.write(text)
        with open(self.path("a.inp"), "w") as file:
            file.write(re.sub("TCRIT=3", "TCRIT=1.25", text))
        self.run_command("a.inp", "--quiet")
        self.run_command("--resume", "a.ckpt.h5", "--tcrit", "3", "--quiet")
        self.check()
        self.run_command("b.inp", "--quiet")
        self.assertEqual(self.log_without_timings("a")[3:], self.log_without_timings("b")[3:])


if __name__ == "__main__":
    unittest.main()
