"""The commands that README and docs show can be run, their links and names lead somewhere, their lines are short.

A code block marked `console` holds lines `$ command` and, between them, what the command prints (not compared). A block
marked `sh` holds commands alone. All blocks of a document run in one scratch folder with the sources linked into it.
"""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("NB6_BUILD", "build"))
DOCUMENTS = sorted(path for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "*/README.md", "*/*/README.md")
                   for path in glob.glob(os.path.join(SOURCE, pattern)))
# Not run: they install, fetch, take long, or would start this test again. That their make targets exist is checked.
NOT_RUN = ("make", "git", "sudo", "apt-get", "nbody6++", "gcc", "gfortran", "cc", "ssh", "pip")
LONG_INPUTS = ("na12-16k.inp", "galaxies-1m.inp", "collapse-4m.inp")
# Continuous integration runs as root, and may have fewer cores than ranks.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
HAS_MPI = shutil.which("mpirun") and os.path.exists(os.path.join(BUILD, "nbody6-mpi.so"))
RUNS = ("nbody6", "nbody6-collisionless")
CODE = ("common", "gpunb", "gpuirr", "regularization", "stellar", "nbody6", "tests", "bench", "tools", "python")


def commands_of(path):
    """Commands of a document's console and sh blocks; a command may go on after a backslash at the end of its line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    commands = []
    for kind, block in re.findall(r"^```(console|sh)\n(.*?)^```", text, re.M | re.S):
        lines = iter(block.replace("\\\n", " ").splitlines())
        for line in lines:
            if kind == "console":
                line = line[2:] if line.startswith("$ ") else ""
            line = re.sub(r"\s+#.*", "", line).strip()
            here = re.search(r"<<\s*(\w+)", line)
            for more in lines if here else ():
                line += "\n" + more
                if more == here.group(1):
                    break
            if line and not line.startswith("#"):
                commands.append(line)
    return commands


def shown_only(command):
    words = shlex.split(command.splitlines()[0])
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    if words[0] == "mpirun" and not HAS_MPI:
        return True
    return words[0] in NOT_RUN or (any(w.endswith(LONG_INPUTS) for w in words) and "--check" not in words)


def shortened(commands, path):
    """`make test` runs what most documents say as it stands, but for the run and the page of the three commands that
    test_examples.py runs, and pages of other runs than the first one: test_plot.py draws such, of two and three bodies
    as well. Of each example, which it runs to its end, it reads the input, or runs the first three units of
    time where other commands read the files of the run; it draws no page, and large models have few stars. `make
    test-long` does it all (tests/run-tests --whole)."""
    if os.environ.get("NB6_WHOLE"):
        return commands
    commands = [c for c in commands if c not in ("nbody6 stars.inp", "nbody6-plot stars", "nbody6-plot two-body",
                                                 "nbody6-plot first", "nbody6-plot pythagorean")]
    if not re.search(r"input_examples/[^/]+/README.md$", path):
        return commands
    commands = [c.replace("make_galaxies.py", "make_galaxies.py 20000") for c in commands if c.split()[0] != "nbody6-plot"]
    alone = all(c.startswith("nbody6") for c in commands)
    return [c + (" --check" if alone else " --tcrit 3") if c.split()[0] in RUNS and "--check" not in c else c
            for c in commands]


class DocsTest(unittest.TestCase):
    def scratch(self):
        """A folder that looks like the sources with a build."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name in ("bench", "tools", "docs", "tests", "nbody6", "python"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
        shutil.copytree(os.path.join(SOURCE, "input_examples"), os.path.join(folder, "input_examples"))
        if not os.environ.get("NB6_WHOLE"):
            self.make_smaller(os.path.join(folder, "input_examples", "collapse-4m", "collapse-4m.inp"))
        os.symlink(BUILD, os.path.join(folder, "build"))
        return folder

    def make_smaller(self, path):
        """The input has as many stars as its README gives for a run of minutes: --check makes the model."""
        with open(path) as file:
            text = file.read()
        self.assertIn("N=4194304", text)
        with open(path, "w") as file:
            file.write(text.replace("N=4194304", "N=16384"))

    def python_of_the_tests(self):
        """A folder with a `python3` that has what `make deps` installs: the first one of PATH may be another."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "python3")
        with open(path, "w") as file:
            file.write('#!/bin/sh\nexec %s "$@"\n' % shlex.quote(sys.executable))
        os.chmod(path, 0o755)
        return folder

    def test_commands_run(self):
        folders = (self.python_of_the_tests(), BUILD, os.path.join(SOURCE, "tools"), os.environ["PATH"])
        environment = dict(os.environ, PATH=os.pathsep.join(folders), **MPI)
        ran = 0
        for path in DOCUMENTS:
            commands = shortened([c for c in commands_of(path) if not shown_only(c)], path)
            folder = self.scratch() if commands else None
            with self.subTest(document=os.path.relpath(path, SOURCE)):
                script = "set -e\n" + "\n".join("echo %s\n%s" % (shlex.quote("$ " + c), c) for c in commands)
                if commands:
                    done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:])
                    ran += len(commands)
        self.assertGreater(ran, 5)

    def test_make_targets_exist(self):
        with open(os.path.join(SOURCE, "Makefile")) as a, open(os.path.join(SOURCE, "packaging", "install.mk")) as b:
            rules = a.read() + b.read()
        targets = set(" ".join(re.findall(r"^([a-z][\w -]*):(?!=)", rules, re.M)).split())
        for path in DOCUMENTS:
            for command in commands_of(path):
                words = shlex.split(command.splitlines()[0])
                if words[0] == "make":
                    for word in words[1:]:
                        if "=" not in word and not word.startswith("-"):
                            self.assertIn(word, targets, os.path.relpath(path, SOURCE))

    def test_man_page_has_every_option(self):
        done = subprocess.run([os.path.join(BUILD, "nbody6"), "--help"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True)
        with open(os.path.join(SOURCE, "docs", "man", "nbody6.1")) as file:
            page = file.read().replace("\\-", "-")
        options = re.findall(r"^  (--[a-z-]+)", done.stdout, re.M)
        self.assertGreater(len(options), 10)
        for option in options:
            self.assertIn(option, page)

    def test_links_lead_somewhere(self):
        for path in DOCUMENTS:
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if not re.match(r"\w+://|mailto:", link):
                    target = os.path.join(os.path.dirname(path), link)
                    self.assertTrue(os.path.exists(target), "%s: %s" % (os.path.relpath(path, SOURCE), link))

    def test_lines_are_short(self):
        """120 columns, as in the code. A row of a table cannot be broken and may have 200; an address that is alone on
        its line, but for the mark of a list item, may have any number."""
        too_long = []
        for path in DOCUMENTS:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            in_code = False
            for number, line in enumerate(lines, 1):
                in_code ^= line.startswith("```")
                most = 200 if line.startswith("|") and not in_code else 120
                if len(line) > most and not re.fullmatch(r"\s*([-*] )?\S*\w+://\S*", line):
                    too_long.append("%s:%d: %d" % (os.path.relpath(path, SOURCE), number, len(line)))
        self.assertEqual(too_long, [])

    def test_comments_name_documents(self):
        """A document that a comment of the code names is there, with the section that the comment names after it."""
        named = 0
        for path in sorted(path for folder in CODE for kind in ("c", "h", "cu", "cuh", "def", "py", "f90")
                           for path in glob.glob(os.path.join(SOURCE, folder, "**", "*." + kind), recursive=True)):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"\s*\n\s*(?:\*|//|#|!)?\s*", " ", file.read())
            for document, section in re.findall(r"\bdocs/([\w/]+\.md)\b(?:, ([A-Z][\w ?]+)\))?", text):
                where = "%s: docs/%s" % (os.path.relpath(path, SOURCE), document)
                there = os.path.join(SOURCE, "docs", document)
                self.assertTrue(os.path.exists(there), where)
                named += 1
                if section:
                    with open(there, encoding="utf-8") as file:
                        self.assertRegex(file.read(), r"(?m)^#+ %s$|^\W*\*\*%s" % (2 * (re.escape(section),)), where)
        self.assertGreater(named, 20)

    def test_readme_begins_with_its_readers(self):
        """The first screen says who it is for, what is missing and how to build without GPU code."""
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            screen = "".join(file.readlines()[:24])
        for words in ("It is for people who", "binaries exchange no mass", "CUDA=0", "two cores"):
            self.assertIn(words, screen)

    def test_readme_compares_with_measured_figures(self):
        """Each time in the comparison of README.md stands in the table of docs/performance.md, in the row of the same
        stars."""
        pages = []
        for name in ("README.md", "docs/performance.md"):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
                pages.append(file.read())
        rows = {"1024 stars, two": "1k", "8192 stars, two": "8k", "2000 systems": "2000, Kroupa", "16384 stars, one": "16k, D",
                "131072 stars, one": "128k, D"}
        for beginning, there in rows.items():
            cells = re.search(r"^\| %s[^|]*\|(.*)\|$" % beginning, pages[0], re.M).group(1).split("|")
            measured = re.search(r"^\| %s[^|]*\|(.*)\|$" % there, pages[1], re.M).group(1).split("|")
            self.assertEqual([cell.replace(" s ", " ").strip() for cell in cells],
                             [cell.strip() for cell in measured[:4]], beginning)

    def test_performance_is_a_page(self):
        """Trials have a page of their own (trials.md), one row each: the page of figures stays short."""
        with open(os.path.join(SOURCE, "docs", "performance.md"), encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 250)

    def test_validation_has_one_figure_a_row(self):
        """And a program that is there."""
        with open(os.path.join(SOURCE, "docs", "validation.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \| ([^|]*`tests/[^|]*) \|$", file.read(), re.M)
        self.assertGreater(len(rows), 150)
        for quantity, figure, programs in rows:
            self.assertNotIn(";", figure, quantity)
            for program in re.findall(r"tests/[\w/]+(?:\.py)?", programs):
                path = os.path.join(SOURCE, program)
                self.assertTrue(os.path.exists(path) or os.path.exists(path + ".c"), program)

    def test_names_exist(self):
        """Functions of the libraries and source files that the descriptions of the code name are there."""
        sources = [path for folder in CODE for kind in ("c", "h", "cu", "cuh", "def", "py")
                   for path in glob.glob(os.path.join(SOURCE, folder, "**", "*." + kind), recursive=True)]
        base_names = {os.path.basename(path) for path in sources}
        words = set()
        for path in sources:
            with open(path, encoding="utf-8") as file:
                words.update(re.findall(r"\w+", file.read()))
        for path in DOCUMENTS:
            name = os.path.relpath(path, SOURCE)
            if not name.startswith(("docs/algorithms", "docs/architecture.md")):
                continue
            with open(path, encoding="utf-8") as file:
                quoted = re.findall(r"`([\w./]+)`", file.read())
            self.assertGreater(len(quoted), 3, name)
            for word in quoted:
                there = True
                if re.match(r"(nbc|gpunb|gpuirr|kepler|ks|chain|hierarchy|nb6)_\w+$", word):
                    there = word in words
                elif re.search(r"/.*\.\w+$", word):
                    there = os.path.exists(os.path.join(SOURCE, word)) or any(path.endswith("/" + word) for path in sources)
                elif re.search(r"\.(c|h|cu|cuh|def|py)$", word):
                    there = word in base_names
                self.assertTrue(there, "%s: %s" % (name, word))


if __name__ == "__main__":
    unittest.main()
