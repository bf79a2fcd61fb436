#!/usr/bin/env python3
"""Gathers the documents for mkdocs: tools/make_site.py FOLDER

FOLDER/docs has all pages, FOLDER/mkdocs.yml says how they hang together. README, CONTRIBUTING, CHANGELOG and the
READMEs of the examples become pages; links between pages follow, and links to other files of the sources become their
names."""

import os
import re
import shutil
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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


def write_navigation(folder, found):
    with open(os.path.join(SOURCE, "docs", "mkdocs.yml"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    there = set(found.values())
    optional = re.compile(r": (\S+\.md) +# optional$")
    kept = [line for line in lines if not optional.search(line) or optional.search(line).group(1) in there]
    with open(os.path.join(folder, "mkdocs.yml"), "w", encoding="utf-8") as file:
        file.write("\n".join(kept) + "\n")


def complete_theme(folder):
    """The package of Debian 12 has the theme without two scripts that its pages ask for."""
    scripts = os.path.join(folder, "theme", "js")
    os.makedirs(scripts, exist_ok=True)
    if os.path.exists(JQUERY):
        shutil.copy(JQUERY, os.path.join(scripts, "jquery-3.6.0.min.js"))
    with open(os.path.join(scripts, "theme_extra.js"), "w", encoding="utf-8") as file:
        file.write(TABLES)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder, found = sys.argv[1], pages()
    docs = os.path.join(folder, "docs")
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(os.path.join(SOURCE, "docs", "images"), os.path.join(docs, "images"))
    for path, place in found.items():
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            text = convert(file.read(), path, found)
        os.makedirs(os.path.dirname(os.path.join(docs, place)), exist_ok=True)
        with open(os.path.join(docs, place), "w", encoding="utf-8") as file:
            file.write(text)
    write_navigation(folder, found)
    complete_theme(folder)


if __name__ == "__main__":
    main()
