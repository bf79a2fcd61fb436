#!/usr/bin/env python3
"""Each write, sync, rename and creation of a file that a run makes fails in turn, once or from then on, and 200 kills at
random moments with all that a run can write: no signal, no half file, and what goes on writes what an undisturbed run
would have written."""

import os
import random
import shutil
import subprocess
import unittest

from run_support import BUILD, RunTest

SEED = 57
SECONDS = 10  # of a run of 20 stars, which takes a tenth of one
CC = os.environ.get("CC", "cc").split()

# Stands before the C library: call number NB6_FAIL_AT of these fails, and with NB6_FAIL_ON=1 all that follow. The number
# of calls goes to the file NB6_CALLS when the program ends.
PRELOAD = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long calls;

static int fails(void)
{
    static long at = -2, on;
    if (at == -2) {
        on = getenv("NB6_FAIL_ON") != NULL;
        at = getenv("NB6_FAIL_AT") ? atol(getenv("NB6_FAIL_AT")) : -1;
    }
    const long k = atomic_fetch_add(&calls, 1);
    if (at < 0 || (on ? k < at : k != at)) return 0;
    errno = ENOSPC;
    return 1;
}

__attribute__((destructor)) static void tell(void)
{
    FILE *file = getenv("NB6_CALLS") ? fopen(getenv("NB6_CALLS"), "w") : NULL;
    if (file) fprintf(file, "%ld", atomic_load(&calls)), fclose(file);
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) { return fails() ? -1 : REAL(pwrite)(fd, from, size, at); }
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
    return fails() ? -1 : REAL(pwrite64)(fd, from, size, at);
}
int fsync(int fd) { return fails() ? -1 : REAL(fsync)(fd); }
int syncfs(int fd) { return fails() ? -1 : REAL(syncfs)(fd); }
int ftruncate(int fd, off_t size) { return fails() ? -1 : REAL(ftruncate)(fd, size); }
int rename(const char *from, const char *to) { return fails() ? -1 : REAL(rename)(from, to); }
int link(const char *from, const char *to) { return fails() ? -1 : REAL(link)(from, to); }
int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return flags & O_CREAT && fails() ? -1 : REAL(open)(path, flags, mode);
}
"""
# A cluster larger than its tidal radius loses stars at once; a checkpoint at each output, and the state after each adjust.
EVERYTHING = "RBAR=5 ZMBAR=0.5 KZ(14)=1 KZ(23)=2 KZ(2)=2"


class FailingWriteTest(RunTest):
    def setUp(self):
        super().setUp()
        with open(self.path("fails.c"), "w") as file:
            file.write(PRELOAD)
        self.library = self.path("fails.so")
        subprocess.run([*CC, "-shared", "-fPIC", "-o", self.library, self.path("fails.c"), "-ldl"], check=True)

    def start(self, program, arguments, **environment):
        """Exit code and what was said."""
        done = subprocess.run([os.path.join(BUILD, program), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
                              env=dict(os.environ, OMP_NUM_THREADS="1", **environment))
        self.assertGreaterEqual(done.returncode, 0, (environment, done.stdout))
        return done.returncode, done.stdout

    def clean(self):
        for name in os.listdir(self.folder):
            if name.startswith("b."):
                os.unlink(self.path(name))

    def fail_in_turn(self, program, compare, more):
        arguments = ["a.inp", "--quiet", "--checkpoint-interval", "0"]
        self.assertEqual(self.start(program, arguments, LD_PRELOAD=self.library, NB6_CALLS=self.path("calls"))[0], 0)
        calls = int(self.read("calls"))
        failed = 0
        for k in range(calls):
            environment = dict({"NB6_FAIL_ON": "1"} if more else {}, LD_PRELOAD=self.library, NB6_FAIL_AT=str(k))
            with self.subTest(program=program, call=k, all_that_follow=more):
                self.clean()
                code, text = self.start(program, [*arguments, "--out", "b"], **environment)
                self.assertIn(code, (0, 4), text)
                if code == 4:
                    self.assertRegex(text, r"^%s: .*b\.\S+: " % program)
                    failed += 1
                self.assertFalse([name for name in os.listdir(self.folder) if ".tmp" in name])
                again = ["a.inp", "--overwrite", "--out", "b"]
                for name in "b.ckpt.h5", "b.ckpt.prev.h5":
                    if os.path.exists(self.path(name)) and again[0] != "--resume":
                        again = ["--resume", name]
                self.assertEqual(self.start(program, [*again, "--quiet"]), (0, ""))
                compare()
        print("%s: %d calls, of which %d end a run%s" % (program, calls, failed, " and all that follow" if more else ""))
        self.assertGreater(failed, calls // 2)

    def test_nbody6(self):
        self.write_input(n=20, tcrit=0.5, dtadj=0.25, deltat=0.25, more=EVERYTHING.replace("KZ(2)=2", "KZ(2)=1"))
        for more in False, True:
            self.fail_in_turn("nbody6", lambda: self.assert_same_run("a", "b"), more)
            self.clean()
            for name in os.listdir(self.folder):
                if name.startswith("a.") and name != "a.inp":
                    os.unlink(self.path(name))

    def test_collisionless(self):
        with open(self.path("a.inp"), "w") as file:
            file.write("&ININPUT N=20 DTADJ=0.25 DELTAT=0.25 TCRIT=0.5 QE=1e9 KZ(2)=1 /\n"
                       "&INCOLLISIONLESS SOFTENING=0.5 DT=0.03125 /\n")

        def compare():
            self.assertEqual(len(self.snapshots("a")), len(self.snapshots("b")))
            for one, other in zip(self.snapshots("a"), self.snapshots("b")):
                self.assertTrue(self.read(one) == self.read(other), one)
        self.fail_in_turn("nbody6-collisionless", compare, False)


class KillTest(RunTest):
    def test_two_hundred(self):
        random.seed(SEED)
        self.write_input(n=100, tcrit=3, dtadj=0.125, deltat=0.0625, qe=1, more=EVERYTHING + " KZ(8)=1 KZ(20)=6")
        with open(self.path("a.inp"), "a") as file:
            file.write("&INBINPOP SEMI0=0.01 ECC0=-1 RANGE=100 /\n")
        with open(self.path("a.inp")) as file:
            text = file.read().replace("BODYN=0.2", "BODYN=0.2 NBIN0=20")
        with open(self.path("a.inp"), "w") as file:
            file.write(text)
        for options in (), ("--engine", "emulated"):
            self.run_command("a.inp", "--overwrite", "--quiet", *options)
            kills = 0
            while kills < 100:
                for name in os.listdir(self.folder):
                    if name.startswith("b."):
                        os.unlink(self.path(name))
                kills += self.kill_and_resume(100 - kills, *options, interval="0.01")
                self.assert_same_run("a", "b")
                self.assertFalse([name for name in os.listdir(self.folder) if ".tmp" in name or name.endswith(".lock")])


if __name__ == "__main__":
    if not shutil.which(CC[0]):
        print("skipped: long_doors: there is no C compiler")
    unittest.main()
