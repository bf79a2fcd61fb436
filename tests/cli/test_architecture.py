"""Permitted dependencies: the arrows between folders, read from the includes, and no circle of files anywhere in the
tree.

Circles are looked for twice: among headers, and among the symbols of the objects that were built, because a header that
several files share would hide those of sources."""

import functools
import glob
import os
import re
import subprocess
import unittest

from run_support import BUILD

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A room, which is a folder with all folders below it, and the rooms whose headers its files may include, beside its own;
# docs/architecture.md says the same in words.
LIBRARIES = {"gpunb", "gpuirr", "regularization", "stellar", "device", "common"}
STATE = {"nbody6/state", "nbody6/input", "nbody6/galaxy"} | LIBRARIES
MAY_USE = {
    "common": set(),
    "device": {"common"},
    "gpunb": {"device", "common"},
    "gpuirr": {"device", "common"},
    "regularization": {"common"},
    "stellar": {"common"},
    "nbody6/input": LIBRARIES,
    "nbody6/hdf5": {"common"},
    "nbody6/model": {"nbody6/input", "nbody6/hdf5", "regularization", "common"},
    "nbody6/galaxy": {"nbody6/input", "common"},
    "nbody6/state": STATE - {"nbody6/state"},
    "nbody6/fewbody": STATE,
    "nbody6/step": {"nbody6/fewbody"} | STATE,
    "nbody6/engine": {"nbody6/step", "nbody6/fewbody"} | STATE,
    "nbody6/analysis": {"nbody6/state", "nbody6/galaxy"} | LIBRARIES,
    "nbody6/world": {"common"},
    "nbody6/collisionless": {"nbody6/world", "nbody6/analysis", "nbody6/state", "gpunb", "device", "common"},
    "nbody6/run": {"nbody6/engine", "nbody6/step", "nbody6/fewbody", "nbody6/analysis"} | STATE,
    "nbody6/output": {"nbody6/collisionless", "nbody6/run", "nbody6/engine", "nbody6/step", "nbody6/analysis",
                      "nbody6/hdf5"} | STATE,
    "nbody6/app": {"nbody6/collisionless", "nbody6/world", "nbody6/output", "nbody6/run", "nbody6/fewbody", "nbody6/analysis",
                   "nbody6/model"} | STATE,
}

MOST_FILES = 60  # of a folder: more is hard to find one's way in
MOST_LINES = 500  # of a file, which has one subject
ENDINGS = (".c", ".h", ".cu", ".cuh", ".f90", ".def")
C_ENDINGS = (".c", ".h", ".cu", ".cuh")


def room_of(path):
    """The room of a file or folder; None: it is in none."""
    return next((room for room in MAY_USE if (path + "/").startswith(room + "/")), None)


def sources(endings=C_ENDINGS):
    """Paths of all files of the rooms, at any depth."""
    found = []
    for room in MAY_USE:
        for folder, _, names in sorted(os.walk(os.path.join(SOURCE, room))):
            found += [os.path.relpath(os.path.join(folder, name), SOURCE) for name in sorted(names)
                      if name.endswith(endings)]
    assert len(found) > 50, "the rooms are empty"
    return found


@functools.lru_cache(maxsize=None)
def includes(path):
    with open(os.path.join(SOURCE, path)) as file:
        return re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M)


def reached(path):
    """All headers that come with a file, its own and theirs."""
    found, to_read = set(), [path]
    while to_read:
        new = set(includes(to_read.pop())) - found
        found |= new
        to_read += new
    return found


def circles(arrows):
    """Strongly connected sets of more than one node (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in arrows.get(node, ()):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(members) > 1:
                found.append(sorted(members))

    for node in list(arrows):
        if node not in number:
            visit(node)
    return found


class ArchitectureTest(unittest.TestCase):
    def test_every_folder_is_in_the_table(self):
        folders = {os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, "nbody6", "*"))}
        self.assertEqual(folders, {folder for folder in MAY_USE if folder.startswith("nbody6/")})

    def test_arrows(self):
        wrong = []
        for path in sources():
            room = room_of(path)
            for header in includes(path):
                self.assertTrue(os.path.exists(os.path.join(SOURCE, header)),
                                "%s includes %s: headers are named with their folder" % (path, header))
                if room_of(header) != room and room_of(header) not in MAY_USE[room]:
                    wrong.append("%s includes %s" % (path, header))
        self.assertEqual(wrong, [])

    def test_kinds_of_systems_are_known_in_their_own_room_alone(self):
        # All others ask the table of the kind, fewbody/kind.h.
        own = re.compile("nbody6/fewbody/(chains|hierarchies)/")
        self.assertGreater(len([path for path in sources() if own.match(path)]), 10)
        self.assertEqual([(path, header) for path in sources() if room_of(path) != "nbody6/fewbody"
                          for header in includes(path) if own.match(header)], [])

    def test_slots_have_a_type(self):
        bare = re.compile(r"\bint(32|64)_t (const )?\**(slot|leader|follower)\b")
        for path in sources():
            if path.startswith(("nbody6/state/", "nbody6/fewbody/")):
                with open(os.path.join(SOURCE, path)) as file:
                    self.assertIsNone(bare.search(file.read()), path + ": nb6_slot or nb6_stored_slot")

    def test_collisionless_runs_hold_no_simulation(self):
        """Both kinds of run have their record in state/run_record.h."""
        found = 0
        for path in sources():
            if "collisionless" not in path:
                continue
            found += 1
            self.assertNotIn("nbody6/state/sim.h", reached(path), path)
            with open(os.path.join(SOURCE, path)) as file:
                self.assertNotIn("struct nb6_sim", file.read(), path)
        self.assertGreater(found, 10)

    def test_rooms_and_files_are_of_a_size_to_live_in(self):
        count = {}
        for path in sources(ENDINGS):
            count[os.path.dirname(path)] = count.get(os.path.dirname(path), 0) + 1
            with open(os.path.join(SOURCE, path)) as file:
                self.assertLessEqual(len(file.readlines()), MOST_LINES, path)
        self.assertEqual({folder: n for folder, n in count.items() if n > MOST_FILES}, {})

    def test_no_circle_of_headers(self):
        headers = [path for path in sources() if not path.endswith((".c", ".cu"))]
        self.assertEqual(circles({path: set(includes(path)) for path in headers}), [])

    def test_no_circle_of_symbols(self):
        defined, wanted, units = {}, {}, {}
        for path in sources((".c", ".cu")):
            unit = os.path.splitext(path)[0] if path.endswith(".c") else path
            built = os.path.join(BUILD, "obj", unit + ".o")
            if os.path.exists(built):  # or it is of an instruction set or a device that this build does without
                units[built] = unit
                wanted[unit] = set()
        # One process for all: each would take longer to start than to read an object.
        listed = subprocess.run(["nm", "-A", "-g", *units], stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in listed.splitlines():
            built, _, symbol = line.rpartition(":")
            kind, name = symbol.split()[-2:]
            if kind == "U":
                wanted[units[built]].add(name)
            elif kind in "TDRBVW":
                defined[name] = units[built]
        self.assertGreater(len(wanted), 100)
        arrows = {unit: {defined[name] for name in names if name in defined} - {unit} for unit, names in wanted.items()}
        self.assertEqual(circles(arrows), [])


if __name__ == "__main__":
    unittest.main()
