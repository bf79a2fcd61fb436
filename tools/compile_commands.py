#!/usr/bin/env python3
"""The compilation database of editors and clang's tools, from the commands of make:
make -nB V=1 OBJECT... | tools/compile_commands.py > compile_commands.json   (`make compile-commands`)

https://clang.llvm.org/docs/JSONCompilationDatabase.html"""

import json
import os
import shlex
import sys


def entries(lines, directory):
    """An entry for each line that compiles one source, as `COMPILER ... -c -o OBJECT SOURCE`."""
    for line in lines:
        if " -c -o " not in line:
            continue
        words = shlex.split(line)
        if words[-4:-2] == ["-c", "-o"]:
            yield {"directory": directory, "file": words[-1], "output": words[-2], "arguments": words}


if __name__ == "__main__":
    found = list(entries(sys.stdin, os.getcwd()))
    if not found:
        sys.exit("compile-commands: make printed nothing that compiles a source")
    json.dump(found, sys.stdout, indent=1)
    print()
