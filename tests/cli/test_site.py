"""The documents as a site: mkdocs takes them, each link leads to a file and a place in it, the search works in files,
and code in them is code."""

import glob
import html.parser
import json
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


MAKE_SITE = os.path.join(SOURCE, "tools", "make_site.py")


def gather(folder):
    subprocess.run([sys.executable, MAKE_SITE, folder], check=True)
    return sorted(glob.glob(os.path.join(folder, "docs", "**", "*.md"), recursive=True))


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.pages = gather(cls.folder)
        cls.html = os.path.join(cls.folder, "html")
        cls.said = None
        if shutil.which("mkdocs"):
            cls.said = subprocess.run([sys.executable, MAKE_SITE, cls.folder, cls.html], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_page_is_in_the_navigation(self):
        with open(os.path.join(self.folder, "mkdocs.yml")) as file:
            listed = re.findall(r": ([\w/]+\.md)$", file.read(), re.M)
        found = [os.path.relpath(page, os.path.join(self.folder, "docs")) for page in self.pages]
        self.assertEqual(sorted(listed), found)

    def need_site(self):
        if self.said is None:
            self.skipTest("mkdocs is not on this machine: make deps-site installs it")
        self.assertEqual((self.said.returncode, self.said.stdout), (0, ""))

    def index(self):
        """Entries of the search, from the script that a page loads."""
        with open(os.path.join(self.html, "search", "search_index.js"), encoding="utf-8") as file:
            text = file.read()
        begin, end = "window.nbody6_search_index = ", ";\n"
        self.assertTrue(text.startswith(begin) and text.endswith(end))
        return json.loads(text[len(begin):-len(end)])

    def test_links_lead_to_a_file_and_a_place(self):
        """Also without a server, which would look for the page of a folder."""
        self.need_site()
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
                target = target if parts.path else path
                where = "%s: %s" % (os.path.relpath(path, self.html), link)
                self.assertTrue(os.path.isfile(target), where)
                if parts.fragment and target in pages:
                    self.assertIn(urllib.parse.unquote(parts.fragment), pages[target].places, where)
                    checked += 1
        self.assertGreater(checked, 100)

    def test_nothing_comes_from_elsewhere(self):
        """No script, style, font or picture of another place."""
        self.need_site()
        for path in glob.glob(os.path.join(self.html, "**", "*.html"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"<!--.*?-->", "", file.read(), flags=re.S)
            self.assertEqual(re.findall(r'(?:src|<link[^>]*href)="(?:https?:)?//[^"]*"', text), [])

    def test_index_of_the_search(self):
        """A script, as a page that is opened as a file may load no data; its entries lead to places that are there."""
        self.need_site()
        self.assertEqual(sorted(os.listdir(os.path.join(self.html, "search"))), ["main.js", "search_index.js"])
        entries = self.index()
        self.assertGreater(len(entries), 300)
        places = {}
        for entry in entries:
            self.assertEqual(sorted(set(entry) - {"late"}), ["location", "page", "text", "title"])
            page, _, place = entry["location"].partition("#")
            path = os.path.join(self.html, page or "index.html")
            if path not in places:
                places[path] = Page(path).places
            self.assertTrue(not place or place in places[path], entry["location"])
        text = " ".join(entry["text"] for entry in entries)
        self.assertNotRegex(text, "\u00b6|&amp;|&lt;")
        with open(os.path.join(self.html, "search.html"), encoding="utf-8") as file:
            page = file.read()
        for there in ('id="mkdocs-search-results"', 'id="mkdocs-search-query"', 'src="(./)?search/main.js"'):
            self.assertRegex(page, there)

    def search(self, *queries):
        """Locations that the script of the search finds, best first, for each query; and an excerpt of the first."""
        self.need_site()
        if not shutil.which("node"):
            self.skipTest("the script of the search: there is no node")
        code = ("const search = require(%s), window = {}; eval(require('fs').readFileSync(%s, 'utf8'));"
                "console.log(JSON.stringify(%s.map(q => search.find(window.nbody6_search_index, q).slice(0, 5).map("
                "one => [one.entry.location, search.excerpt(one.entry.text, q)]))))") % tuple(map(json.dumps, (
                    os.path.join(self.html, "search", "main.js"), os.path.join(self.html, "search", "search_index.js"),
                    queries)))
        done = subprocess.run(["node", "-e", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_search(self):
        by_title, by_word, prefix, nothing, odd, both = self.search(
            "page of a run", "ETAI", "anisotr", "qwertzuiop", "a.*[b (c \\", "half-mass Relaxation")
        self.assertEqual(by_title[0][0], "output.html#the-page-of-a-run")
        self.assertTrue(by_word[0][0].startswith("input.html#"), by_word)
        self.assertIn("factor of the irregular force", "".join(part for part, _ in by_word[0][1]))
        self.assertTrue(prefix and all("anisotr" in "".join(part for part, _ in text).lower() for _, text in prefix))
        self.assertEqual(nothing, [])
        self.assertIsInstance(odd, list)
        marked = {part.lower() for _, text in both[:1] for part, is_word in text if is_word}
        self.assertTrue(marked and marked <= {"half-mass", "relaxation"}, marked)

    def test_tables_have_room(self):
        """The theme keeps cells on one line and cuts the table."""
        self.need_site()
        with open(os.path.join(self.html, "site.css"), encoding="utf-8") as file:
            style = file.read()
        self.assertRegex(style, r"table\.docutils td[^{]*\{[^}]*white-space: normal")
        for path in glob.glob(os.path.join(self.html, "**", "*.html"), recursive=True):
            if os.path.basename(path) != "404.html":
                link = os.path.relpath(os.path.join(self.html, "site.css"), os.path.dirname(path))
                with open(path, encoding="utf-8") as file:
                    self.assertRegex(file.read(), 'href="(./)?%s"' % re.escape(link))

    def test_no_table_is_cut(self):
        """At 1400 pixels, in a browser that is here: of the pages with the widest tables."""
        self.need_site()
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not browser:
            self.skipTest("tables in a browser: there is none of chromium, google-chrome")
        measure = """<script>addEventListener("load", function () { setTimeout(function () {
            var cut = [], all = document.querySelectorAll("table");
            all.forEach(function (table) {
              if (table.scrollWidth > table.clientWidth + 1) cut.push(table.textContent.trim().slice(0, 30));
            });
            document.title = "MEASURED " + all.length + " " + cut.join("|"); }, 500); });</script></body>"""
        for name in ("input.html", "output.html", "validation.html", "abi.html"):
            with open(os.path.join(self.html, name), encoding="utf-8") as file:
                text = file.read()
            path = os.path.join(self.html, "measured-" + name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("</body>", measure))
            self.addCleanup(os.unlink, path)
            done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
                                   "--virtual-time-budget=4000", "--dump-dom", "file://" + path,
                                   "--user-data-dir=" + os.path.join(self.folder, "profile")],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, timeout=120)
            found = re.search(r"<title>MEASURED (\d+) ([^<]*)</title>", done.stdout)
            self.assertIsNotNone(found, name)
            self.assertGreater(int(found.group(1)), 0, name)
            self.assertEqual(found.group(2), "", name)

    def test_make_site_needs_no_compiler(self):
        self.need_site()
        done = subprocess.run(["make", "--no-print-directory", "site", "BUILD=" + os.path.join(self.folder, "made"),
                               "CC=no-such-cc", "FC=no-such-fc", "PKG_CONFIG=no-such-pkg-config"], cwd=SOURCE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "made", "site", "search", "search_index.js")))

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
