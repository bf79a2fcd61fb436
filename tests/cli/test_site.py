"""The documents as a site: mkdocs takes them, each link leads to a page and a place in it, and code in them is code."""

import glob
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Page(html.parser.HTMLParser):
    """Links and places of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.update(value for name, value in attributes.items() if name in ("id", "name"))
        self.links.extend(attributes[name] for name in ("href", "src") if attributes.get(name))


def gather(folder):
    subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "make_site.py"), folder], check=True)
    return sorted(glob.glob(os.path.join(folder, "docs", "**", "*.md"), recursive=True))


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.pages = gather(cls.folder)
        cls.html = os.path.join(cls.folder, "html")
        cls.said = None
        if shutil.which("mkdocs"):
            cls.said = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--config-file",
                                       os.path.join(cls.folder, "mkdocs.yml"), "--site-dir", cls.html],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_page_is_in_the_navigation(self):
        with open(os.path.join(self.folder, "mkdocs.yml")) as file:
            listed = re.findall(r": ([\w/]+\.md)$", file.read(), re.M)
        found = [os.path.relpath(page, os.path.join(self.folder, "docs")) for page in self.pages]
        self.assertEqual(sorted(listed), found)

    def test_links_lead_to_a_page_and_a_place(self):
        if self.said is None:
            self.skipTest("mkdocs is not on this machine: make deps-test installs it")
        self.assertEqual((self.said.returncode, self.said.stdout), (0, ""))
        paths = glob.glob(os.path.join(self.html, "**", "*.html"), recursive=True)
        pages = {path: Page(path) for path in paths if os.path.basename(path) != "404.html"}
        self.assertGreater(len(pages), 20)
        checked = 0
        for path, page in pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or link.startswith("//"):
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
                target = os.path.join(target, "index.html") if os.path.isdir(target) else target
                target = target if parts.path else path
                where = "%s: %s" % (os.path.relpath(path, self.html), link)
                self.assertTrue(os.path.exists(target), where)
                if parts.fragment and target in pages:
                    self.assertIn(urllib.parse.unquote(parts.fragment), pages[target].places, where)
                    checked += 1
        self.assertGreater(checked, 100)

    def test_code_blocks_are_closed_and_python_compiles(self):
        compiled = 0
        for path in self.pages:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(len(re.findall(r"^```", text, re.M)) % 2, 0, path)
            for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
                compile(block, path, "exec")
                compiled += 1
        self.assertGreater(compiled, 0)

    def test_troubleshooting_knows_what_the_programs_say(self):
        """Each heading in backquotes is a piece of a message, as it stands in a source."""
        sources = ""
        for pattern in ("nbody6/**/*.c", "common/**/*.c", "gpunb/**/*.c", "tools/*", "config.mk"):
            for path in glob.glob(os.path.join(SOURCE, pattern), recursive=True):
                if os.path.isfile(path):
                    with open(path, encoding="utf-8") as file:
                        sources += re.sub(r'"\s*\n\s*"', "", file.read())
        with open(os.path.join(SOURCE, "docs", "troubleshooting.md"), encoding="utf-8") as file:
            messages = re.findall(r"^### `(.*)`$", file.read(), re.M)
        self.assertGreater(len(messages), 15)
        for message in messages:
            if "shared libraries" not in message:  # a message of the system's loader
                self.assertIn(message, sources)

    def test_reference_has_every_call_of_nbody6(self):
        for reference, source, pattern in (("reference_c.md", "nbody6.h", r"\b(nb6_\w+)\("),
                                           ("reference_fortran.md", "nbody6.f90", r"^\s+(?:.* )?function (nb6_\w+)\(")):
            with open(os.path.join(SOURCE, "nbody6", "run", source)) as file:
                calls = set(re.findall(pattern, re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S), re.M))
            self.assertGreater(len(calls), 10)
            with open(os.path.join(SOURCE, "docs", reference)) as file:
                headings = " ".join(re.findall(r"^### (.*)$", file.read(), re.M))
            for call in calls:
                self.assertIn("`%s`" % call, headings, reference)


if __name__ == "__main__":
    unittest.main()
