"""Resuming runs with escaping pairs, tides, hierarchies, chains and mergers, stopped or killed at any moment, also in
the middle of a block in which a chain is at work for long: the bytes are those of an uninterrupted run."""

import json
import os
import random
import re
import shutil
import signal
import tempfile
import threading
import time
import unittest

import hard_inputs as hard
from run_support import test_seeds

ESCAPING = hard.ESCAPING.format(seed=2, tcrit=1.5, dtadj=0.125)
TRIPLES = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=1.25, more="KZ(14)=1")
QUADRUPLES = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=1, more="KZ(14)=1")
MERGERS = hard.BINARIES.format(n=15, seed=1, tide=1, tcrit=1, more="", radius=1e-4)
# Without slow-down in chains, and with a GMIN below which no pair is left alone, some thousands of steps are made within blocks of a chain alone.
WITHIN = "SMAX=0.015625 KZ(26)=1 GMIN=1e-14"
CHAIN = hard.STARS.format(dtadj=2**-6, deltat=2**-5, tcrit=2**-5, more=WITHIN)
SHORTER = hard.STARS.format(dtadj=2**-8, deltat=2**-8, tcrit=2**-8, more=WITHIN)
# (text, stars, what it is to have done)
INPUTS = {
    "escaping pairs": (ESCAPING, None, {"escapers": 20, "pairs_ended": 10}),
    "triples": (TRIPLES, hard.systems(5, 12), {"hierarchies_formed": 6, "hierarchies_ended": 1, "chains_formed": 1}),
    "quadruples": (QUADRUPLES, hard.systems(6, 6, 4), {"hierarchies_formed": 6}),
    "mergers": (MERGERS, None, {"mergers": 3, "pairs_formed": 15}),
    "chain": (CHAIN, hard.meeting(7e-5), {"chains_formed": 1, "chain_steps": 1000}),
    "tight chain": (SHORTER, hard.meeting(2e-5), {"chains_formed": 1, "chain_steps": 10000}),
    "galaxy": (hard.TIGHT.format(seed=6151, more="KZ(14)=1"), None, {"chains_formed": 1, "pairs_formed": 9}),
}
REFERENCES = {}  # what: (folder with its files, seconds that it took), of runs that were left alone


def tearDownModule():
    for folder, _ in REFERENCES.values():
        shutil.rmtree(folder)


class SystemsTest(hard.HardTest):
    def reference(self, what):
        """Run a, from an input to its end, for the first test that asks for it; later ones have copies of its files.
        Returns the seconds it took."""
        text, stars, least = INPUTS[what]
        if what in REFERENCES:
            shutil.copytree(REFERENCES[what][0], self.folder, dirs_exist_ok=True)
            return REFERENCES[what][1]
        self.write(text, stars)
        start = time.monotonic()
        self.run_command("a.inp", "--quiet", "--overwrite", "--threads", "1")
        seconds = time.monotonic() - start
        rows = self.log_without_timings()
        done = dict(zip(rows[0], rows[-1]))
        for column, number in least.items():
            self.assertGreaterEqual(float(done[column]), number, column)  # or less is tested than meant
        kept = tempfile.mkdtemp()
        REFERENCES[what] = kept, seconds
        shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        return seconds

    def forget(self, name):
        for file in os.listdir(self.folder):
            if file.startswith(name + "."):
                os.unlink(self.path(file))

    def session(self, *options):
        """Starts a session of run b, its first or one that resumes it, and waits until it listens to signals."""
        resumed = os.path.exists(self.path("b.ckpt.h5"))
        arguments = ["--resume", "b.ckpt.h5"] if resumed else ["a.inp", "--out", "b", "--overwrite"]
        process = self.start_command(*arguments, *options)
        self.begun = ""
        for line in process.stdout:
            self.begun += line
            if line.startswith("nbody6 "):
                break
        return process

    def end_of(self, process):
        """Exit code of a session and what it said at last. This is no bound of its time, but a hang is to fail."""
        hang = threading.Timer(60, process.kill)
        hang.start()
        text = process.stdout.read()
        code = process.wait()
        hang.cancel()
        return code, text

    def soft_stop(self, rng, longest, *options):
        """One session that is stopped, in one of several ways, at some moment. Returns its last output."""
        how = rng.choice((signal.SIGTERM, signal.SIGINT, "STOP", "b.STOP", "limit"))
        moment = rng.uniform(0, longest)
        limit = max(moment, 1e-9) if how == "limit" else 1000
        process = self.session(*options, "--wall-limit", "%g" % limit)  # else the last one holds
        if how != "limit":
            time.sleep(moment)
        if how in ("STOP", "b.STOP"):
            with open(self.path(how), "w"):
                pass
        elif how != "limit":
            process.send_signal(how)
        code, text = self.end_of(process)
        self.assertEqual(code, 0, "%s: %s" % (how, text))
        if "has reached its end" in self.begun:
            text = "done: " + self.begun  # the last stop came when the end was reached
        self.assertRegex(text, r"(?m)^(stopped|done): ", self.begun)
        self.assertTrue(os.path.exists(self.path("b.ckpt.h5")))
        for name in ("STOP", "b.STOP"):  # of a run that came to its end before
            if os.path.exists(self.path(name)):
                self.assertIn("done: ", text)
                os.unlink(self.path(name))
        return text

    def finish(self, text, *options):
        """Resumes run b, if it was stopped, to its end; it must be run a."""
        if "stopped: " in text:
            self.run_command("--resume", "b.ckpt.h5", "--quiet", "--wall-limit", "1000", *options)
        self.assert_same_run("a", "b")

    def stop_often(self, what, stops, seed, threads=(1,)):
        """Each session may take a few times its share of the run, so that most of them are stopped. `make test` stops a
        fifth as often."""
        stops = test_seeds(stops // 5, stops)
        rng = random.Random(seed)
        longest, count, text = 2 * self.reference(what) / stops, 0, ""
        while count < stops:
            text = self.soft_stop(rng, longest, "--threads", str(rng.choice(threads)))
            count += "stopped: " in text
            if "done: " in text:
                self.finish(text)
                self.forget("b")
        self.finish(text, "--threads", str(threads[0]))


class SoftStopTest(SystemsTest):
    def test_escaping_pairs(self):
        self.stop_often("escaping pairs", 20, 1)

    def test_triples(self):
        self.stop_often("triples", 20, 2)

    def test_mergers(self):
        self.stop_often("mergers", 15, 3)

    def test_quadruples_and_other_numbers_of_threads(self):
        self.stop_often("quadruples", 10, 4, threads=(2, 1, 3))

    def test_chain_and_other_numbers_of_threads(self):
        self.stop_often("chain", 20, 5, threads=(1, 2, 4))

    def test_at_the_last_block(self):
        """A run that is stopped when it has come to its end, and has not yet written of it, does so when resumed."""
        self.write(hard.QUADRUPLE, hard.QUADRUPLE_STARS)
        self.run_command("a.inp", "--quiet")
        self.run_command("a.inp", "--out", "b", "--wall-limit", "1e-9")
        for _ in range(4):  # one block leads to the end
            text = self.run_command("--resume", "b.ckpt.h5", "--wall-limit", "1e-9")
        self.assertIn("has reached its end", text)
        self.assert_same_run("a", "b")

    def where(self, text):
        """Time and steps of chains in the last lines of a session."""
        steps = re.search(r"^  \d+ chains, (\d+) steps", text, re.M)
        return float(re.search(r"^  t = (\S+) ", text, re.M).group(1)), int(steps.group(1)) if steps else 0

    def test_in_the_middle_of_a_chain(self):
        """Sessions that end as soon as they can stop within a block: the time stays and the chain goes on."""
        self.reference("tight chain")
        within, before = 0, (-1, 0)
        process = self.session("--threads", "1", "--wall-limit", "1e-9")
        for k in range(test_seeds(6, 12)):
            code, text = self.end_of(process)
            self.assertEqual(code, 0, text)
            self.assertIn("stopped: ", text)
            now = self.where(text)
            within += now[0] == before[0] and now[1] > before[1]
            before = now
            process = self.session("--threads", str(1 + k % 3), "--wall-limit", "1e-9")
        self.assertGreaterEqual(within, 2)
        code, text = self.end_of(process)
        self.finish(text, "--threads", "2")

    def test_one_chain_for_minutes(self):
        """A chain with a binary of period 1.4e-8 and no slow-down: every stop is obeyed, and every session gets on."""
        self.write(hard.TIGHT.format(seed=6151, more="KZ(26)=1 GMIN=1e-10"))
        rng, steps, within = random.Random(6), 0, 0
        sessions = test_seeds(6, 12)
        for _ in range(sessions):
            text = self.soft_stop(rng, 0.3)
            self.assertIn("stopped: ", text)
            t, now = self.where(text)
            self.assertGreaterEqual(now, steps)
            within += now > steps
            steps = now
        self.assertGreater(within, sessions // 2)
        with open(self.path("b.events.jsonl")) as file:
            events = [json.loads(line) for line in file]
        self.assertEqual([t], [round(event["t"], 10) for event in events if event["event"] == "chain_formed"])
        self.assertNotIn("chain_ended", [event["event"] for event in events])


class KillTest(SystemsTest):
    def kill_often(self, what, kills, seed):
        rng, kills = random.Random(seed), test_seeds(kills // 4, kills)
        longest, count = 3 * self.reference(what) / kills, 0
        while True:
            process = self.session("--checkpoint-interval", "0.02")
            if count < kills:
                time.sleep(rng.uniform(0, longest))
                process.kill()
            code, text = self.end_of(process)
            if code == 0:
                self.assert_same_run("a", "b")
                if count == kills:
                    return
                self.forget("b")  # a fast machine ends the run before it is killed often enough: then again
            else:
                self.assertEqual(code, -signal.SIGKILL, text)
                count += 1

    def test_escaping_pairs(self):
        self.kill_often("escaping pairs", 8, 7)

    def test_mergers(self):
        self.kill_often("mergers", 8, 8)

    def test_triples(self):
        self.kill_often("triples", 8, 9)

    def test_chain(self):
        self.kill_often("chain", 8, 10)


class ThreadsTest(SystemsTest):
    def test_same_bytes_with_other_numbers_of_threads(self):
        """The tight chain, which does what the chain does, changes threads when it is stopped in the middle.
        In `make test` two threads are those of runs that are stopped."""
        for what in [name for name in INPUTS if name != "tight chain"]:
            with self.subTest(what):
                self.reference(what)
                for threads in test_seeds(("4",), ("2", "4")):
                    self.run_command("a.inp", "--quiet", "--overwrite", "--out", "b", "--threads", threads)
                    self.assert_same_run("a", "b")
                for name in "ab":
                    self.forget(name)


if __name__ == "__main__":
    unittest.main()
