"""Who may use whom: the arrows between folders, read from the includes, and no circle of files anywhere in the tree.

Circles are looked for twice: among headers, and among the symbols of the objects that were built, because a header that
several files share would hide those of sources."""

import glob
import os
import re
import subprocess
import unittest

from run_support import BUILD

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A folder and those whose headers its files may include, beside their own; docs/architecture.md says the same in words.
LIBRARIES = {"gpunb", "gpuirr", "regularization", "common"}
MAY_USE = {
    "common": set(),
    "gpunb": {"common"},
    "gpuirr": {"common"},
    "regularization": {"common"},
    "nbody6/input": LIBRARIES,
    "nbody6/hdf5": {"common"},
    "nbody6/model": {"nbody6/input", "nbody6/hdf5", "regularization", "common"},
    "nbody6/galaxy": {"nbody6/input", "common"},
    "nbody6/state": {"nbody6/input", "nbody6/galaxy"} | LIBRARIES,
    "nbody6/fewbody": {"nbody6/state", "nbody6/input", "nbody6/galaxy"} | LIBRARIES,
    "nbody6/step": {"nbody6/fewbody", "nbody6/state", "nbody6/input", "nbody6/galaxy"} | LIBRARIES,
    "nbody6/analysis": {"nbody6/state", "nbody6/galaxy", "common"} | LIBRARIES,
    "nbody6/collisionless": {"nbody6/analysis", "nbody6/state", "gpunb", "common"},
    "nbody6/run": {"nbody6/step", "nbody6/fewbody", "nbody6/state", "nbody6/analysis", "nbody6/input", "nbody6/galaxy"}
    | LIBRARIES,
    "nbody6/output": {"nbody6/collisionless", "nbody6/run", "nbody6/hdf5", "nbody6/step", "nbody6/state", "nbody6/analysis", "nbody6/input", "nbody6/galaxy"}
    | LIBRARIES,
    "nbody6/app": {"nbody6/collisionless", "nbody6/output", "nbody6/run", "nbody6/fewbody", "nbody6/state", "nbody6/analysis", "nbody6/input",
                   "nbody6/model", "nbody6/galaxy"} | LIBRARIES,
}


def sources():
    for folder in MAY_USE:
        for name in sorted(os.listdir(os.path.join(SOURCE, folder))):
            if name.endswith((".c", ".h", ".cu", ".cuh")):
                yield folder + "/" + name


def includes(path):
    with open(os.path.join(SOURCE, path)) as file:
        return re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M)


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
            folder = os.path.dirname(path)
            for header in includes(path):
                self.assertTrue(os.path.exists(os.path.join(SOURCE, header)),
                                "%s includes %s: headers are named with their folder" % (path, header))
                used = os.path.dirname(header)
                if used != folder and used not in MAY_USE[folder]:
                    wrong.append("%s includes %s" % (path, header))
        self.assertEqual(wrong, [])

    def test_no_circle_of_headers(self):
        headers = [path for path in sources() if not path.endswith((".c", ".cu"))]
        self.assertEqual(circles({path: set(includes(path)) for path in headers}), [])

    def test_no_circle_of_symbols(self):
        defined, wanted = {}, {}
        for path in sources():
            if not path.endswith(".c"):
                continue
            unit = os.path.splitext(path)[0]
            built = os.path.join(BUILD, "obj", unit + ".o")
            if not os.path.exists(built):
                continue  # of an instruction set or a device that this build does without
            wanted[unit] = set()
            for line in subprocess.run(["nm", built], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
                words = line.split()
                if words[-2] == "U":
                    wanted[unit].add(words[-1])
                elif words[-2] in "TDRBVW" and "/fortran_" not in unit:
                    defined[words[-1]] = unit
        self.assertGreater(len(wanted), 100)
        arrows = {unit: {defined[name] for name in names if name in defined} - {unit} for unit, names in wanted.items()}
        self.assertEqual(circles(arrows), [])


if __name__ == "__main__":
    unittest.main()
