#!/usr/bin/env python3
"""Makes the documents a site, by mkdocs: tools/make_site.py FOLDER [SITE]

FOLDER/docs has all pages, FOLDER/mkdocs.yml has their order. README, CONTRIBUTING, CHANGELOG and the
READMEs of the examples and of the Python package become pages; links between pages follow, and links to other files of
the sources become their names. With SITE, mkdocs makes the site there, and its search gets an index that is a script,
so that it works in files that are opened without a server."""

import html
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
# Pages that are not in docs/, and what they are called there.
OTHERS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
          "input_examples/README.md": "input_examples.md", "examples/README.md": "examples.md",
          "python/README.md": "python.md"}
JQUERY = "/usr/share/javascript/jquery/jquery.min.js"
TABLES = """/* The style of the theme is that of tables of this class. */
document.querySelectorAll("table").forEach(table => table.classList.add("docutils"));
"""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def pages():
    """{path in the sources: path in the site} of all pages."""
    found = dict(OTHERS)
    for folder, _, names in os.walk(os.path.join(SOURCE, "docs")):
        for name in names:
            if name.endswith(".md"):
                path = os.path.relpath(os.path.join(folder, name), SOURCE)
                found[path] = os.path.relpath(path, "docs")
    return found


def site_path(target, found):
    """Where a file of the sources is in the site; None: it is not there."""
    if target in found:
        return found[target]
    if os.path.isdir(os.path.join(SOURCE, target)) and target + "/README.md" in found:
        return found[target + "/README.md"]
    return os.path.relpath(target, "docs") if target.startswith("docs" + os.sep) else None


def convert(text, path, found):
    def replace(match):
        mark, label, link, anchor = match.group(1), match.group(2), match.group(3), match.group(4) or ""
        if not link or re.match(r"\w+:", link):
            return match.group(0)
        target = os.path.normpath(os.path.join(os.path.dirname(path), link))
        there = site_path(target, found)
        if there is None:
            return label if label.replace("`", "") == target else "%s (`%s`)" % (label, target)
        return "%s[%s](%s%s)" % (mark, label, os.path.relpath(there, os.path.dirname(found[path]) or "."), anchor)

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


def complete_theme(folder):
    """The package of Debian 12 has the theme without two scripts that its pages ask for."""
    scripts = os.path.join(folder, "theme", "js")
    os.makedirs(scripts, exist_ok=True)
    if os.path.exists(JQUERY):
        shutil.copy(JQUERY, os.path.join(scripts, "jquery-3.6.0.min.js"))
    with open(os.path.join(scripts, "theme_extra.js"), "w", encoding="utf-8") as file:
        file.write(TABLES)


def rows_of_tables(path):
    """(number of the heading above, name, text) of the rows of a page's tables whose first cell is a name in
    backquotes: variables, columns, options."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
    heading, rows = -1, []
    for line in text.splitlines():
        heading += bool(re.match(r"#+ ", line))
        row = re.match(r"\| `([^`|]+)`[^|]* \| (.*) \|$", line)
        if row:
            rows.append((heading, row.group(1), re.sub(r"[|`*]|\]\([^)]*\)|\[", " ", row.group(2))))
    return rows


def row_entries(folder, entries):
    """Entries for the rows of tables, so that a search for a variable finds what it means."""
    sections, made = {}, []
    for entry in entries:
        page, _, section = entry["location"].partition("#")
        if section:
            sections.setdefault(page, []).append(entry)
    for page, its in sections.items():
        source = os.path.join(folder, "docs", (page or "index.html")[:-len(".html")] + ".md")
        for heading, name, text in rows_of_tables(source):
            if 0 <= heading < len(its):
                made.append({"location": its[heading]["location"], "title": name, "page": its[heading]["page"],
                             "text": " ".join(text.split())})
    return made


def search_entries(index):
    """Entries of the search, from the index of mkdocs: one for each section, with the title of its page. The text of a
    page as a whole is left out, because its sections have it."""
    titles, with_sections = {}, set()
    for entry in index["docs"]:
        page, _, section = entry["location"].partition("#")
        if section:
            with_sections.add(page)
        else:
            titles[page] = html.unescape(entry["title"])
    entries = []
    for entry in index["docs"]:
        page, _, section = entry["location"].partition("#")
        if section or page not in with_sections:
            entries.append({"location": entry["location"], "title": html.unescape(entry["title"]), "page": titles[page],
                            "text": " ".join(html.unescape(entry["text"]).replace("\u00b6", "").split())})
            if page.startswith("changelog"):
                entries[-1]["late"] = 1  # tells what was, after all that tells what is
    return entries


def write_search(folder, site):
    """Replaces the search of the theme, which a browser does not let a file load."""
    search = os.path.join(site, "search")
    with open(os.path.join(search, "search_index.json"), encoding="utf-8") as file:
        entries = search_entries(json.load(file))
    entries = row_entries(folder, entries) + entries
    for name in os.listdir(search):
        os.unlink(os.path.join(search, name))
    shutil.copy(os.path.join(HERE, "site", "search.js"), os.path.join(search, "main.js"))
    with open(os.path.join(search, "search_index.js"), "w", encoding="utf-8") as file:
        file.write("window.nbody6_search_index = %s;\n" % json.dumps(entries, ensure_ascii=False,
                                                                     separators=(",", ":")))


def build(folder, site):
    """Exit code of mkdocs; says where to get it if it is not there."""
    if not shutil.which("mkdocs"):
        sys.exit("site: mkdocs is not on this machine: make deps-site installs it")
    code = subprocess.call(["mkdocs", "build", "--quiet", "--strict", "--config-file",
                            os.path.join(folder, "mkdocs.yml"), "--site-dir", os.path.abspath(site)])
    if code == 0:
        write_search(folder, site)
    return code


def gather(folder, found):
    docs = os.path.join(folder, "docs")
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(os.path.join(SOURCE, "docs", "images"), os.path.join(docs, "images"))
    shutil.copy(os.path.join(HERE, "site", "site.css"), docs)
    for path, place in found.items():
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            text = convert(file.read(), path, found)
        os.makedirs(os.path.dirname(os.path.join(docs, place)), exist_ok=True)
        with open(os.path.join(docs, place), "w", encoding="utf-8") as file:
            file.write(text)
    shutil.copy(os.path.join(SOURCE, "docs", "mkdocs.yml"), folder)
    complete_theme(folder)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, found = sys.argv[1], pages()
    gather(folder, found)
    if len(sys.argv) == 3:
        sys.exit(build(folder, sys.argv[2]))


if __name__ == "__main__":
    main()
