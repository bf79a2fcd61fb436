"""Names that a user gives or copies: --resume NAME, --check --resume, commands that --status prints, folders that are
missing; and clauses of messages that are there only where they apply."""

import os
import re
import shlex
import subprocess
import unittest

from run_support import BUILD, NBODY6, RunTest

COLLISIONLESS = os.path.join(BUILD, "nbody6-collisionless")
SOFTENED = "&INCOLLISIONLESS SOFTENING=0.1 DT=0.015625 /\n&ININPUT N=20 TCRIT=%g DTADJ=0.125 DELTAT=0.25 KZ(3)=0 QE=1 /\n"


class NamesTest(RunTest):
    def small(self, name="a.inp", tcrit=0.25):
        return self.write_input(name, n=20, dtadj=0.125, deltat=0.25, tcrit=tcrit, qe=1)

    def test_resume_without_ending(self):
        """A name goes on as its checkpoint does, bit for bit; also with a dot, where a shell stops completing."""
        self.small(tcrit=0.5)
        self.run_command("--quiet", "a.inp")
        self.small("b.inp")
        for name in ("b", "b.", "b.ckpt.h5", "./b"):
            self.run_command("--quiet", "--overwrite", "b.inp")
            self.run_command("--quiet", "--resume", name, "--tcrit", "0.5")
            self.assert_same_run("a", "b")
        self.write("c.inp", SOFTENED % 0.25)
        self.run_collisionless("--quiet", "c.inp")
        self.assertIn("t = 0.5", self.run_collisionless("--resume", "c", "--tcrit", "0.5"))

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def run_collisionless(self, *arguments, code=0):
        done = subprocess.run([COLLISIONLESS, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_resume_of_nothing(self):
        text = self.run_command("--resume", "none", code=4)
        self.assertIn("--resume none: there is no such checkpoint, nor none.ckpt.h5; `nbody6 --status`", text)
        text = self.run_command("--resume", "none.h5", code=4)
        self.assertIn("none.h5: No such file", text)
        self.assertNotIn("beside it", text)  # only those that a run writes have another one
        self.assertIn("there is no other checkpoint beside it", self.run_command("--resume", "none.ckpt.h5", code=4))

    def test_check_resume(self):
        """--check with --resume shows how the run would continue, in either order, and writes nothing."""
        self.small()
        self.run_command("--quiet", "a.inp")
        self.write("more.inp", "&INNBODY6 KSTART=3 /\n&ININPUT TCRIT=1 ETAI=0.01 /\n")
        files = {name: self.read(name) for name in os.listdir(self.folder)}
        for arguments in (("--check", "--resume", "a"), ("--resume", "a.ckpt.h5", "--check"), ("--resume=a", "--check")):
            self.assertRegex(self.run_command(*arguments),
                             r"^a.ckpt.h5, t = 0.25, continues to t = 0.25; nothing changes\n"
                             r"  it has reached its end; --tcrit T takes it further\n$")
            self.assertEqual("a.ckpt.h5, t = 0.25, continues to t = 3; nothing changes\n",
                             self.run_command(*arguments, "--tcrit", "3"))
            text = self.run_command(*arguments, "more.inp")
            self.assertIn("continues to t = 1; changes:\n", text)
            self.assertRegex(text, r"ETAI +0.02 -> 0.01")
        self.assertIn("--tcrit 0.1: a.ckpt.h5 is at t = 0.25 already",
                      self.run_command("--check", "--resume", "a", "--tcrit", "0.1", code=2))
        self.assertEqual({name: self.read(name) for name in os.listdir(self.folder)}, files)
        self.assertIn("does not go together", self.run_command("--check", "--resume", "a", "--init-only", code=2))
        self.write("c.inp", SOFTENED % 0.25)
        self.run_collisionless("--quiet", "c.inp")
        self.assertIn("c.ckpt.h5, t = 0.25, continues to t = 0.25; nothing changes",
                      self.run_collisionless("--check", "--resume", "c"))

    def test_status_can_be_copied(self):
        """Commands that --status and a stopped run print do what they say, whatever the names."""
        self.small(tcrit=0.5)
        for name in ("my runs/a b", "it's", "-x", "a$HOME`b`", "plain", "\u03b1"):
            os.makedirs(self.path(os.path.dirname(name)) if "/" in name else self.folder, exist_ok=True)
            text = self.run_command("a.inp", "--out=" + name, "--wall-limit", "1e-9")
            commands = [re.search(r"continue with (nbody6 --resume .*)", text).group(1)]
            text = self.run_command(*(["--status=" + name] if name[0] == "-" else ["--status", name]))
            commands.append(re.search(r"to continue from t = 0: (nbody6 .*)", text).group(1))
            for command in commands:
                words = shlex.split(command)
                self.assertEqual(len(words), 3, command)
                script = "PATH=%s:$PATH; %s --tcrit 0.125 --quiet --overwrite" % (shlex.quote(BUILD), command)
                done = subprocess.run(["bash", "-c", script], cwd=self.folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""), command)
            if name == "plain":
                self.assertEqual(commands, ["nbody6 --resume plain.ckpt.h5"] * 2)

    def test_missing_folder(self):
        """A folder for the files that is not there is named with the command that makes it, which then works."""
        self.small()
        for name, program in (("no/such/run", NBODY6), ("a b/run", NBODY6), ("soft/run", COLLISIONLESS)):
            if program == COLLISIONLESS:
                self.write("a.inp", SOFTENED % 0.125)
            for option in ([], ["--init-only"]) if program == NBODY6 else ([],):
                done = subprocess.run([program, "a.inp", "--out", name, *option], cwd=self.folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stdout), (4, ""))
                folder = os.path.dirname(name)
                self.assertIn("nbody6%s: %s: there is no such folder for the files of this run; `mkdir -p %s` makes it" % (
                    "-collisionless" if program == COLLISIONLESS else "", folder, shlex.quote(folder)), done.stderr)
            command = re.search("`(mkdir .*)`", done.stderr).group(1)
            subprocess.run(["bash", "-c", command], cwd=self.folder, check=True)
            done = subprocess.run([program, "a.inp", "--quiet", "--out", name], cwd=self.folder)
            self.assertEqual(done.returncode, 0)

    def test_earlier_files(self):
        """--resume is offered where there is a checkpoint."""
        self.small()
        self.run_command("--quiet", "a.inp")
        self.assertIn("and --resume a.ckpt.h5 would continue", self.run_command("a.inp", code=2))
        os.remove(self.path("a.ckpt.h5"))
        text = self.run_command("a.inp", code=2)
        self.assertIn("--overwrite removes them\n", text)
        self.assertNotIn("--resume", text)

    def test_level_of_nothing(self):
        """LEVEL acts with KZ(19) > 0 alone: without, there is a note; with it, stars age, by 'A' if it is not given."""
        self.write_input(more="LEVEL='C'")
        text = self.run_command("--check", "a.inp")
        self.assertIn("note: LEVEL='C' has no effect: stellar evolution is off by KZ(19) = 0", text)
        self.write_input(more="LEVEL='C' KZ(19)=0")
        self.assertIn("note: LEVEL='C'", self.run_command("--check", "a.inp"))
        self.write_input(more="LEVEL='0'")
        self.assertNotIn("LEVEL", self.run_command("--check", "a.inp"))
        self.write_input(more="LEVEL='C' KZ(19)=3 ZMBAR=1")
        self.assertIn("stellar evolution          LEVEL = 'C', metallicity ZMET = 0.02",
                      self.run_command("--check", "a.inp"))
        self.write_input(more="KZ(19)=3 ZMBAR=1")
        self.assertIn("note: LEVEL is not given: stars age by LEVEL='A'", self.run_command("--check", "a.inp"))
        self.assertIn("LEVEL: 'X' is no valid value", self.run_command("--check", self.write_input(more="LEVEL='X'"), code=2))


if __name__ == "__main__":
    unittest.main()
