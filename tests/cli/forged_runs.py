"""Sound checkpoints of every kind of state, and what a program does with forged copies of them."""

import glob
import os
import random
import resource
import signal
import subprocess
import time

import h5py
import numpy

import forging
import hard_inputs as hard
from run_support import BUILD, INPUT

LIMIT = 10  # seconds of the processor for a case, beyond which it hangs, however many others are at work
STOP = "2"  # seconds after which it stops itself, as the long work of a chain is no hang
AHEAD = 0.0625  # time that a run goes on for if it is not refused

ORBIT = "&INXTRNL0 DISK=5E10 A=4 B=0.5 VCIRC=220 RCIRC=8.5 RG=4,0,0 VG=0,200,0 /\n"
GAS = "&INXTRNL0 MP=1 AP2=1 MPDOT=0.5 TDELAY=0.1 /\n"
BINARIES = hard.BINARIES.format
PLAIN = INPUT.format(n=40, dtadj=0.25, deltat=0.5, tcrit=0.5, qe=1, more="{more}")
SOFT = "&INCOLLISIONLESS SOFTENING=0.05 DT=0.03125 ETA=0.1 /\n"
REUSED = SOFT.replace(" /", " FORCE_ERROR=1e-3 LEAF=2 WALK='hybrid' REUSE=7 /")
TRIPLES = hard.STARS.format(dtadj=0.125, deltat=0.25, tcrit=0.5, more="KZ(14)=1")
CHAIN = hard.STARS.format(dtadj=2**-6, deltat=2**-5, tcrit=2**-5, more="SMAX=0.015625 KZ(26)=1 GMIN=1e-14")
KEPT = "&ININPUT TCRIT=0.5 DTADJ=0.25 DELTAT=0.25 QE=1 KZ(22)=2 /\n&INMODEL DATA='stars.dat' KEEP='all' /\n"
HEAD = "# mass x y z vx vy vz age radius[Rsun]\n"

# name: (program, input, stars, further options)
KINDS = {
    "plain": ("nbody6", PLAIN.format(more=""), None, ()),
    "emulated": ("nbody6", PLAIN.format(more="KZ(14)=1 RBAR=1 ZMBAR=0.5"), None, ("--engine", "emulated")),
    "mergers": ("nbody6", BINARIES(n=12, seed=1, tide=1, tcrit=0.25, more="", radius=1e-4), None, ()),
    "orbit": ("nbody6", BINARIES(n=12, seed=1, tide=3, tcrit=0.25, more="", radius=0) + ORBIT, None, ()),
    "gas": ("nbody6", BINARIES(n=12, seed=1, tide=4, tcrit=0.25, more="", radius=0) + GAS, None, ()),
    "escapers": ("nbody6", hard.ESCAPING.format(seed=2, tcrit=0.25, dtadj=0.125), None, ()),
    "triples": ("nbody6", TRIPLES, hard.systems(5, 12), ()),
    "chain": ("nbody6", CHAIN, hard.meeting(2e-5), ("--wall-limit", "0.15")),  # in the middle of it
    "properties": ("nbody6", KEPT, [star + (3.5, 0.25) for star in hard.systems(5, 12)], ()),
    "softened": ("nbody6-collisionless", PLAIN.format(more="") + SOFT, None, ()),
    "reused": ("nbody6-collisionless", PLAIN.format(more="") + REUSED, None, ()),
}
# Those in which each group of the file has something in it.
FEW = ("plain", "mergers", "triples", "chain", "properties", "softened", "reused")


def environment():
    """Freed memory is filled, and threads do not wait for each other on few cores."""
    return dict(os.environ, MALLOC_PERTURB_="165", OMP_NUM_THREADS="1")


def run(folder, program, *arguments, limit=120):
    """Exit code, None if it hangs, and what was said."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    try:
        done = subprocess.run([os.path.join(BUILD, program), *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30 * limit, preexec_fn=bound,
                              env=environment())
    except subprocess.TimeoutExpired:
        return None, ""
    return None if done.returncode == -signal.SIGKILL else done.returncode, done.stdout.decode(errors="replace")


def make(folder, kind):
    """A sound checkpoint in a folder.   Returns its path."""
    program, text, stars, options = KINDS[kind]
    with open(os.path.join(folder, kind + ".inp"), "w") as file:
        file.write(text.replace("stars.dat", kind + ".dat"))
    with open(os.path.join(folder, kind + ".dat"), "w") as file:
        file.write(HEAD if kind == "properties" else "")
        file.writelines(" ".join("%.17g" % value for value in star) + "\n" for star in stars or [])
    code, said = run(folder, program, kind + ".inp", "--overwrite", "--quiet", *options)
    assert code == 0, said
    return os.path.join(folder, kind + ".ckpt.h5")


def time_of(path):
    with h5py.File(path, "r") as file:
        return float(file["state"].attrs["ti_reached"]) * 2.0**-40


def not_finite(folder, name):
    """The first number in the output of a run that is not finite; None: all are. Unbound pairs have no period, a star by
    a name that the data file has not has no radius there, and what a column of the user's own says, which is kept and
    not used, is the user's affair: a row may have none."""
    for path in glob.glob(os.path.join(folder, name + ".*.csv")):
        with open(path) as file:
            for line in file:
                for cell in line.lower().split(","):
                    if cell.strip().lstrip("+-") in ("nan", "inf", "infinity"):
                        return os.path.basename(path)
    spared = ("Pairs/Period", "PartType4/age", "PartType4/StellarRadius")
    for path in glob.glob(os.path.join(folder, name + ".snap.*.h5")):
        found = []

        def look(key, item):
            if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and key not in spared:
                if not numpy.isfinite(item[...]).all():
                    found.append(key)

        with h5py.File(path, "r") as file:
            file.visititems(look)
        if found:
            return "%s of %s" % (found[0], os.path.basename(path))
    return None


def attempt(folder, program, path, t):
    """Resume a checkpoint for a short time.   Returns how it ended, "sound" or "refused" as it should, or "stopped", where
    the integration says what is not finite, and the text."""
    for old in glob.glob(os.path.join(folder, "f.*")):
        os.unlink(old)
    code, text = run(folder, program, "--resume", path, "--out", "f", "--overwrite", "--tcrit", "%.17g" % (t + AHEAD),
                     "--wall-limit", STOP, "--quiet", limit=LIMIT)
    if code is None:
        return "hangs", text
    if code in (2, 4) or (code == 5 and "no backend" in text):  # 4: not the fields of this program; 5: another machine
        return "refused", text
    if code == 1 and "no finite state" in text:  # all stars at one place are as good as any others, to a rule
        return "stopped", text
    bad = not_finite(folder, "f")
    if bad:
        return "not finite: " + bad, text
    return ("sound" if code in (0, 3) else "ends with %d" % code), text


class Attack:
    """Cases drawn from sound checkpoints: a field, and what is done to it."""

    def __init__(self, folder, sound, seed):
        """sound: {kind: path}"""
        self.folder, self.sound, self.rng = folder, sound, random.Random(seed)
        self.fields = {kind: forging.fields(path) for kind, path in sound.items()}
        self.times = {kind: time_of(path) for kind, path in sound.items()}

    def next(self):
        """One case.   Returns its name, how it ended, the text and the seconds."""
        path = os.path.join(self.folder, "forged.ckpt.h5")
        while True:
            kind = self.rng.choice(sorted(self.sound))
            field, how = self.rng.choice(self.fields[kind]), self.rng.choice(forging.HOW)
            if forging.forge(self.sound[kind], path, field, how, self.rng):
                break
        begin = time.monotonic()
        end, text = attempt(self.folder, KINDS[kind][0], path, self.times[kind])
        return "%s: %s %s" % (kind, forging.name_of(field), how), end, text, time.monotonic() - begin
