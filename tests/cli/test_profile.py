"""The profile of a run: the counts by size of block add up to those of the whole run, on the command and in bench_run;
it changes no bit; and every parallel region of the code is counted. Times are added, never judged."""

import glob
import json
import os
import re
import subprocess
import unittest

from run_support import BUILD, NBODY6, RunTest

BENCH_RUN = os.path.join(BUILD, "bench", "bench_run")
COUNTS = ("blocks", "steps_irr", "steps_reg", "allocations", "bytes_cleared", "mallocs", "bytes_malloc", "regions")


def bench_run(*arguments, code=0):
    done = subprocess.run([BENCH_RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    if done.returncode != code:
        raise AssertionError("bench_run %s: %s%s" % (" ".join(arguments), done.stdout, done.stderr))
    return done.stdout


def symbols(paths, kinds):
    """Of all these files: one nm reads hundreds of them as fast as it starts."""
    lines = subprocess.run(["nm", "-A", *paths], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if line.split()[-2] in kinds}


class BenchRunTest(unittest.TestCase):
    def check_sums(self, run):
        rows = run["table"] + [run["between"]]
        for name in COUNTS:
            if run[name] is not None:
                self.assertEqual(sum(row[name] for row in rows), run[name], name)
        self.assertEqual(sum(row["blocks"] for row in run["table"] if row["regular"]), run["blocks_reg"])
        # each time is printed to 1e-9 s, and there are 17 rows
        for stage, seconds in run["stage_s"].items():
            self.assertAlmostEqual(sum(row["stage_s"][stage] for row in rows), seconds, delta=2e-8, msg=stage)
        for row in rows:
            self.assertLessEqual(sum(row["stage_s"].values()), row["wall_s"] + 2e-8)

    def test_sums_over_sizes_are_the_totals(self):
        runs = [json.loads(line) for line in
                bench_run("--json", "--to", "0.25", "--threads", "2", "--device", "cpu", "100", "1500").splitlines()]
        self.assertEqual([run["n"] for run in runs], [100, 1500])
        for run in runs:
            self.check_sums(run)
            self.assertGreater(run["blocks"], run["blocks_reg"])
            self.assertGreater(run["blocks_reg"], 0)
            self.assertGreater(run["allocations"], 0)
            self.assertEqual(run["between"]["blocks"], 0)
            self.assertEqual(run["calls_by_tree"], 0)
        if runs[1]["regions"] is not None:  # not with clang
            self.assertGreater(runs[1]["regions"], 0)

    def test_sizes_hold_their_members(self):
        run = json.loads(bench_run("--json", "--to", "0.25", "600"))
        self.assertEqual([row["least"] for row in run["table"]], 2 * [1, 2, 5, 17, 65, 257, 1025, 4097])
        for row in run["table"]:
            self.assertGreaterEqual(row["steps_irr"], row["least"] * row["blocks"])
            if row["most"] is not None:
                self.assertLessEqual(row["steps_irr"], row["most"] * row["blocks"])
            self.assertEqual(row["regular"] and row["blocks"] > 0, row["steps_reg"] > 0)

    def test_interval_seed_binaries_and_repeats(self):
        late = json.loads(bench_run("--json", "--from", "0.25", "--to", "0.5", "--binaries", "20", "--seed", "7",
                                    "--repeats", "3", "100"))
        self.check_sums(late)
        self.assertGreater(late["blocks"], 0)
        self.assertEqual((late["binaries"], late["seed"], late["repeats"]), (20, 7, 3))
        early = json.loads(bench_run("--json", "--to", "0.25", "--binaries", "20", "--seed", "7", "100"))
        other = json.loads(bench_run("--json", "--to", "0.25", "--binaries", "20", "--seed", "8", "100"))
        self.assertNotEqual(early["steps_irr"], late["steps_irr"])
        self.assertNotEqual(early["steps_irr"], other["steps_irr"])

    def test_text_and_bad_options(self):
        text = bench_run("--to", "0.125", "50")
        self.assertIn("between blocks", text)
        self.assertRegex(text, r"(?m)^  all +\d+ ")
        self.assertIn("--nnb-opt", bench_run("--help"))
        for wrong in (("--to", "0"), ("--from", "1", "--to", "1.75"), ("--threads", "x"), ("--repeats", "0"), ("--no",)):
            bench_run(*wrong, code=2)
        bench_run("none", code=2)
        bench_run("--device", "no-such-device", "50", code=2)


class CommandTest(RunTest):
    def test_profile_adds_up_and_changes_nothing(self):
        self.write_input("a.inp", more="")
        plain = self.run_command("a.inp", "--device", "cpu")
        profiled = self.run_command("a.inp", "--device", "cpu", "--profile", "--out", "b")
        self.assertNotIn("microseconds a block", plain)
        self.assertIn("microseconds a block", profiled)
        self.assertEqual(self.log_without_timings("a"), self.log_without_timings("b"))
        times = profiled.split("microseconds a block")[1].split("calls a block")[0]
        rows = [int(n) for n in re.findall(r"(?m)^  \d+(?:-\d*)? +(?:yes|no) +(\d+) ", times)]
        blocks = int(re.search(r"regular steps in (\d+) blocks", profiled).group(1))
        self.assertEqual(sum(rows), blocks)
        self.assertEqual(int(re.search(r"(?m)^  all +(\d+) ", times).group(1)), blocks)

    def test_profile_of_a_resumed_session_is_that_of_the_session(self):
        self.write_input("a.inp", tcrit=1)
        first = self.run_command("a.inp", "--device", "cpu", "--profile")
        second = self.run_command("--resume", "a.ckpt.h5", "--tcrit", "2", "--profile")
        total = int(re.search(r"regular steps in (\d+) blocks", second).group(1))
        shown = [int(re.search(r"(?m)^  all +(\d+) ", text).group(1)) for text in (first, second)]
        self.assertEqual(sum(shown), total)


class WrapTest(unittest.TestCase):
    def test_every_way_into_a_parallel_region_is_counted(self):
        """gcc has several functions that enter a region; those that our objects call have to be wrapped."""
        objects = []
        for path in glob.glob(os.path.join(BUILD, "obj", "**", "*.o"), recursive=True):
            folder = os.path.relpath(path, os.path.join(BUILD, "obj")).split(os.sep)[0]
            if folder in ("common", "gpunb", "gpuirr", "regularization", "nbody6"):
                objects.append(path)
        entries = {name for name in symbols(objects, "U") if name.startswith("GOMP_parallel")}
        for program in (NBODY6, BENCH_RUN):
            wrapped = symbols([program], "T")
            for name in entries:
                self.assertIn("__wrap_" + name, wrapped, program)


if __name__ == "__main__":
    unittest.main()
