"""No sentence for readers begins with who, whoever, whom, whose or what unless it is a question: such sentences are
riddles, which name an actor only at their end. Read are README.md, CONTRIBUTING.md, docs/, the READMEs of folders, man
pages, help texts and messages (the strings of the sources in C and Python), and docstrings of python/ and tools/.

`tests/cli/test_plain_english.py --list` prints the sentences."""

import ast
import glob
import os
import re
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RIDDLE = re.compile(r"(?:who|whoever|whom|whose|what|whatever)\b(?!-)", re.I)
STRINGS = ("common", "device", "gpunb", "gpuirr", "regularization", "stellar", "nbody6")


def riddles(text):
    """Sentences of a text that begin with one of the words and end in no question mark."""
    text = " ".join(text.split())
    return [part for part in re.findall(r"(?:[^.!?]|[.!?](?=\w))+[.!?]*", text)
            if RIDDLE.match(part.lstrip(" *_`\"'([")) and not part.rstrip(" *_`\"')]").endswith("?")]


def markdown_texts(text):
    """Paragraphs, list items, headings and cells of tables, without blocks of code."""
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)|\n(?=[|#])", text):
        for cell in block.split("|") if block.lstrip().startswith("|") else [block]:
            yield re.sub(r"^\s*(?:#+|[-*]|\d+\.)\s+", "", cell)


def man_texts(text):
    """Lines of a man page between requests."""
    lines = ["" if line.startswith(".") else line for line in text.replace("\\-", "-").splitlines()]
    return re.split(r"\n\s*\n", "\n".join([""] + lines))


def c_strings(text):
    """String literals of a source in C, those that follow each other joined; comments and includes left out."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#\s*include[^\n]*", " ", text, flags=re.M | re.S)
    found = re.findall(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s|PRI\w+|NB\w+_VERSION|\\\n)*)+', text)
    for literal in found:
        joined = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literal))
        yield from re.split(r"\\n|\\t|  +", joined)


def python_strings(tree):
    """String constants, docstrings included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.split(r"\n\s*\n", node.value)


def python_files():
    found = glob.glob(os.path.join(SOURCE, "python", "**", "*.py"), recursive=True)
    found += glob.glob(os.path.join(SOURCE, "tools", "*.py")) + [os.path.join(SOURCE, "tools", "nbody6-plot")]
    return found + [os.path.join(SOURCE, "setup.py")]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def texts():
    """(file, text) of all that readers see."""
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "*/*/README.md", "*/*/*/README.md"):
        for path in sorted(glob.glob(os.path.join(SOURCE, pattern), recursive=True)):
            if os.path.basename(path) != "CHANGELOG.md":
                yield from ((path, text) for text in markdown_texts(read(path)))
    for path in sorted(glob.glob(os.path.join(SOURCE, "docs", "man", "*"))):
        yield from ((path, text) for text in man_texts(read(path)))
    for path in sorted(path for room in STRINGS for kind in ("c", "h", "cu", "cuh", "def")
                       for path in glob.glob(os.path.join(SOURCE, room, "**", "*." + kind), recursive=True)):
        yield from ((path, text) for text in c_strings(read(path)))
    for path in sorted(python_files()):
        yield from ((path, text) for text in python_strings(ast.parse(read(path))))
    yield from ((os.path.join(SOURCE, "packaging", "targets.txt"), text)
                for text in re.split(r"\n\s*\n|\n  (?=make )|(?<=\w)  +", read(os.path.join(SOURCE, "packaging", "targets.txt"))))


def found():
    return ["%s: %s" % (os.path.relpath(path, SOURCE), sentence)
            for path, text in texts() for sentence in riddles(text)]


class PlainEnglishTest(unittest.TestCase):
    def test_no_riddles(self):
        self.assertEqual(set(found()), set())

    def test_riddles_are_found(self):
        """In each kind of text, and questions are none."""
        self.assertEqual(riddles("It runs. Who asks for a\nprocessor wants no GPU. Who asks? v. 1.2 what"),
                         [" Who asks for a processor wants no GPU."])
        self.assertEqual(riddles("**What is left out.** Nothing. A file, what else; whole"), ["**What is left out."])
        markdown = "# What it is\n\n* Run it.\n* Whoever runs it.\n\n| what | why |\n|---|---|\n\n```\nwho\n```\n`who` runs.\n"
        self.assertEqual([r for text in markdown_texts(markdown) for r in riddles(text)],
                         ["What it is", "Whoever runs it.", "what"])
        source = '/* What a comment. */ #include <who.h>\nf("It ends. " "What " "is left\\nwho did it", n); // whom\n'
        self.assertEqual([r for text in c_strings(source) for r in riddles(text)], [" What is left", "who did it"])
        tree = ast.parse('"""Who reads this."""\ndef f():\n    """Reads.\n\n    What is left."""\n    return "What is it?"')
        self.assertEqual(sorted(r for text in python_strings(tree) for r in riddles(text)),
                         ["What is left.", "Who reads this."])
        self.assertEqual([r for text in man_texts(".PP\nWhat is printed.\n.B it\nwho runs\n.TP") for r in riddles(text)],
                         ["What is printed.", "who runs"])

    def test_much_is_read(self):
        """Not one kind of file is missed."""
        kinds = {os.path.splitext(path)[1] for path, _ in texts()}
        self.assertGreaterEqual(kinds, {".md", ".1", ".c", ".h", ".def", ".py", ".txt", ""})
        self.assertGreater(len(list(texts())), 5000)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(found()))
    else:
        unittest.main()
