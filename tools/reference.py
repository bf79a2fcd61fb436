#!/usr/bin/env python3
"""The reference of the libraries from their public headers, or of the Fortran modules, as Markdown on standard output:
tools/reference.py c FILE.h ... | fortran FILE.f90 ..."""

import os
import re
import sys
import textwrap

HEAD = {
    "c": """# C reference

Made by `make docs` from the public headers, which are included by the names here, `#include <nbody6/nbody6.h>`;
`pkg-config --cflags --libs libnbody6` knows where they are. Programs that use them are in
[examples](../examples/README.md).
Conventions of all calls: 0 is success, outputs come last, every input array is const, indices are 0-based and ranges
half-open; nothing prints, and nothing ends the program.
""",
    "fortran": """# Fortran reference

Made by `make docs` from the modules, which are installed as sources, because `.mod` files belong to one version of one
compiler: `pkg-config --variable=fortrandir libnbody6` says where. Programs that use them are in
[examples](../examples/README.md).
""",
}


def wrapped(text):
    """Comment text as Markdown: paragraphs, with @param and @return as a list; what looks like markup is left alone."""
    text = re.sub(r"\s*@param(?:\[([a-z,]*)\])?\s*", lambda m: "\n* " + (m.group(1) + ": " if m.group(1) else ""), text)
    text = re.sub(r"\s*@return\s*", "\n* returns ", text)
    parts = []
    for part in re.split(r"\n(?=\* )|\n\s*\n", text):
        line = " ".join(part.split())
        line = re.sub(r"([<|]|(?<!^)\*)", r"\\\1", line)
        indent = "  " if line.startswith("* ") else ""
        parts.append("\n".join(textwrap.wrap(line, 118, subsequent_indent=indent, break_long_words=False,
                                             break_on_hyphens=False)))
    joined = ""
    for part in parts:
        in_list = part.startswith("* ") and joined.rpartition("\n")[2].startswith(("* ", "  "))
        joined += ("\n" if in_list else "\n\n" if joined else "") + part
    return joined


def names_of(declaration):
    """The name that a piece of a header declares, for its heading."""
    bare = re.sub(r"/\*.*?\*/", "", declaration, flags=re.S)
    found = re.findall(r"^#define (\w+)", bare, re.M) or re.findall(r"^(?:struct|enum) (\w+) \{", bare, re.M)
    if not found:
        calls = re.findall(r"(\w+)\(", re.sub(r"\)\s*\([^)]*\)", ")", bare))
        found = re.findall(r"^typedef .*?(\w+);", bare, re.M) + calls
        found = [name for name in found if re.match(r"(nb6|nbc|gpunb|gpuirr|kepler|ks|chain|hierarchy)_\w", name)]
    if not found and bare.startswith("enum {"):
        found = re.findall(r"\b([A-Z]\w+)", bare)[:1]
    return list(dict.fromkeys(found))


def pieces_of_header(text):
    """(comment, declaration) of each documented piece."""
    text = re.sub(r"#ifdef __cplusplus.*?#endif\n", "", text, flags=re.S)
    for found in re.finditer(r"^/\*\*(.*?)\*/\n(.*?)(?=^/\*\*|^#ifndef|^#endif|\Z)", text, re.M | re.S):
        comment = re.sub(r"^ ?\* ?", "", found.group(1), flags=re.M)
        yield comment, found.group(2).strip()


def write_c(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head, _, rest = text.partition("#ifndef")
        print("\n## %s/%s\n" % (path.split("/")[0], os.path.basename(path)))
        print(wrapped(re.sub(r"^ ?\* ?", "", head.strip()[3:-2], flags=re.M)))
        for comment, declaration in pieces_of_header(rest):
            names = names_of(declaration)
            if not names:
                continue
            print("\n### %s\n" % ", ".join("`%s`" % name for name in names))
            print(wrapped(comment))
            print("\n```c\n%s\n```" % declaration)


def write_fortran(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head = re.sub(r"^!>? ?!? ?", "", re.match(r"(?:!.*\n)+", text).group(0), flags=re.M)
        module = re.search(r"^module (\w+)", text, re.M | re.I).group(1)
        print("\n## module %s\n\n```text\n%s```" % (module, head))
        listed = re.search(r"^ +public :: ((?:.*&\n)*.*)", text, re.M)
        public = set(re.findall(r"\w+", listed.group(1))) if listed else set()
        pattern = (r"((?:^ *![^\n]*\n)*)^ *((?:[\w()]+ )*(?:function|subroutine) (\w+)(?:[^\n]*&\n)*[^\n]*)\n"
                   r"(.*?)^ *end (?:function|subroutine)")
        body = text[text.find("\ncontains"):] if "\ncontains" in text else text
        for comment, line, name, rest in re.findall(pattern, body, re.M | re.S):
            if name not in public:
                continue
            public.remove(name)
            dummies = "".join(x.strip() + "\n" for x in re.findall(r"^.*intent\((?:.*&\n)*.*\n", rest, re.M))
            print("\n### `%s`\n" % name)
            print(wrapped(re.sub(r"^ *! ?", "", comment, flags=re.M)))
            print("\n```fortran\n%s\n%s```" % (line, textwrap.indent(dummies, "  ")))
        if public:
            names = ", ".join("`%s`" % name for name in sorted(public))
            print("\n" + "\n".join(textwrap.wrap("As in the [C reference](reference_c.md): %s." % names, 118)))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in HEAD:
        sys.exit(__doc__)
    print(HEAD[sys.argv[1]], end="")
    {"c": write_c, "fortran": write_fortran}[sys.argv[1]](sys.argv[2:])
