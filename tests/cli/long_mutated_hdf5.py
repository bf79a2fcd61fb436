#!/usr/bin/env python3
"""2000 HDF5 files with bytes changed, snapshots of others and of ours, checkpoints sealed anew, each given to the
programs that read it: no signal, no more than 10 s, and what is refused is refused with one message.
NB6_MUTATED and NB6_SEED: other numbers of files and other ones."""

import collections
import os
import random
import subprocess
import unittest

from mutated_hdf5 import SEAL_BYTES, mutate, raw_places, seal_anew, write_gadget
from run_support import BUILD, NBODY6, RunTest

FILES, SEED = int(os.environ.get("NB6_MUTATED", 2000)), int(os.environ.get("NB6_SEED", 1))
COLLISIONLESS = os.path.join(BUILD, "nbody6-collisionless")
LIMIT_S = 10


class MutatedTest(RunTest):
    def make_bases(self):
        """Files to begin with, all of which are read: {kind: (bytes, what stays of them)}."""
        self.write_input("a.inp", n=30, tcrit=0.5)
        self.run_command("a.inp")
        with open(self.path("c.inp"), "w") as file, open(self.path("a.inp")) as given:
            file.write(given.read() + "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 /\n")
        subprocess.run([COLLISIONLESS, "--quiet", "c.inp"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        write_gadget(self.path("plain.h5"))
        write_gadget(self.path("packed.h5"), chunk=24, compression="gzip", shuffle=True)
        write_gadget(self.path("latest.h5"), libver="latest", chunk=24)
        names = {"GADGET": "plain.h5", "GADGET, compressed": "packed.h5", "GADGET, latest format": "latest.h5",
                 "snapshot": "a.snap.00000.h5", "checkpoint": "a.ckpt.h5", "softened checkpoint": "c.ckpt.h5"}
        for kind, name in names.items():
            self.assertEqual(self.verdict(kind, self.attempt(kind, self.read(name))), "read", kind)
        # Values of stars are spared: they are most of the file, and their meaning is judged by other tests.
        return {kind: (self.read(name), [(0, SEAL_BYTES)] + raw_places(self.path(name)) if "checkpoint" in kind else [])
                for kind, name in names.items()}

    def attempt(self, kind, data):
        """Runs what reads the file; returns the exit codes with the output of each."""
        if "checkpoint" not in kind:
            with open(self.path("t.h5"), "wb") as file:
                file.write(data)
            return [self.run_one(NBODY6, "--init-only", "--overwrite", "--out", "t", "t.inp")]
        with open(self.path("t.ckpt.h5"), "wb") as file:
            file.write(data)
        program = COLLISIONLESS if "softened" in kind else NBODY6
        return [self.run_one(NBODY6, "--status", "t"),
                self.run_one(program, "--resume", "t.ckpt.h5", "--out", "u", "--tcrit", "0.5")]

    def run_one(self, *command):
        try:
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return "time limit", b""
        return done.returncode, done.stdout

    def verdict(self, kind, results):
        """The reaction of the programs, in a word; None: a forbidden one."""
        for code, text in results:
            said = [line for line in text.splitlines() if line.startswith(b"nbody6")]
            if code == "time limit" or code < 0 or code > 5 or (code and "checkpoint" not in kind and len(said) != 1):
                return None
        text = b"".join(text for _, text in results)
        if b"HDF5 crashed" in text:
            return "HDF5 crashed in the child"
        if b"came to no end" in text:
            return "no end in the child"
        return "refused" if results[-1][0] else "read"

    def test_mutated(self):
        rng, count, failed = random.Random(SEED), collections.Counter(), []
        with open(self.path("t.inp"), "w") as file:
            file.write("&ININPUT TCRIT=0.25 DTADJ=0.25 DELTAT=0.25 /\n&INMODEL DATA='t.h5' KEEP='all' /\n")
        bases = self.make_bases()
        for k in range(FILES):
            kind = sorted(bases)[k % len(bases)]
            sealed = "checkpoint" in kind
            data = mutate(rng, *bases[kind])
            results = self.attempt(kind, seal_anew(data) if sealed else data)
            verdict = self.verdict(kind, results)
            count[kind, verdict or "FAILED"] += 1
            if verdict is None:
                failed.append((k, kind, [(code, text[-300:]) for code, text in results]))
                if os.environ.get("NB6_KEEP"):
                    with open(os.path.join(os.environ["NB6_KEEP"], "%d-%d.h5" % (SEED, k)), "wb") as file:
                        file.write(seal_anew(data) if sealed else data)
        for (kind, verdict), number in sorted(count.items()):
            print("%-22s %-26s %5d" % (kind, verdict, number))
        self.assertFalse(failed, failed[:5])


if __name__ == "__main__":
    unittest.main()
