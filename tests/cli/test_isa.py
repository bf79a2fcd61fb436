#!/usr/bin/python3
"""NBC_ISA hides instruction sets from the command and from the libraries, those for legacy programs included."""

import os
import re
import subprocess
import unittest

from run_support import BUILD, RunTest

LEVELS = ["baseline", "avx2", "avx512"]


def environment(level):
    changed = dict(os.environ)
    changed.pop("NBC_ISA", None)
    return changed if level is None else dict(changed, NBC_ISA=level)


class Isa(RunTest):
    def rows(self, level):
        """The lines of --list-devices by section: {name: reason, or None if it is available}."""
        sections, text = [], self.run_command("--list-devices", env=environment(level))
        for line in text.splitlines():
            if not line.startswith("  "):
                sections.append({})
                continue
            sections[-1][line.split()[0]] = line.split("not available: ")[1] if "not available: " in line else None
        self.assertEqual(len(sections), 4, text)
        return sections

    def test_levels(self):
        every = self.rows(None)
        self.assertEqual(self.rows(""), every)
        for level in LEVELS:
            for with_limit, without in zip(self.rows(level), every):
                self.assertEqual(set(with_limit), set(without))
                for name, reason in without.items():
                    hidden = name in LEVELS and LEVELS.index(name) > LEVELS.index(level)
                    if hidden and reason is None:
                        self.assertIn("NBC_ISA", with_limit[name])
                    else:
                        self.assertEqual(with_limit[name], reason)

    def test_choice(self):
        self.write_input(tcrit=0.25)
        text = self.run_command("a.inp", "--device", "cpu", "--out", "base", env=environment("baseline"))
        self.assertIn("backends portable and portable", text)
        if self.rows(None)[0].get("avx2", "no such row") is None:
            text = self.run_command("a.inp", "--device", "avx2", "--out", "b", env=environment("baseline"), code=5)
            self.assertIn("NBC_ISA", text)

    def expect_message(self, text):
        for word in ("NBC_ISA is 'sse9'", "avx512, avx2 or baseline"):
            self.assertIn(word, text)

    def test_no_such_level(self):
        self.write_input()
        for arguments in (["a.inp"], ["--check", "a.inp"], ["--list-devices"]):
            self.expect_message(self.run_command(*arguments, env=environment("sse9"), code=2))
        self.assertEqual(os.listdir(self.folder), ["a.inp"])
        self.run_command("--version", env=environment("sse9"))

    def test_legacy_programs(self):
        for program in ("gpunb_legacy_na12", "gpunb_legacy_nbody6", "gpunb_legacy_nbody6pp", "gpuirr_legacy_nbody6",
                        "gpuirr_legacy_nbody6pp"):
            done = subprocess.run([os.path.join(BUILD, "tests/fortran", program)], env=environment("sse9"),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0, program)
            self.expect_message(done.stdout)
            self.assertIsNone(re.search(r"^\s*ok .*force", done.stdout, re.M), done.stdout)


if __name__ == "__main__":
    unittest.main()
