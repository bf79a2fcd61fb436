"""A shared library shows what its map lists, what the installed headers declare, and what Fortran modules,
legacy programs and the Python package call: no more and no less."""

import glob
import os
import re
import subprocess
import unittest

from run_support import BUILD

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A library, and the folders of the sources whose headers it serves
FOLDERS = {"gpunb": {"common", "gpunb"}, "gpuirr": {"common", "gpuirr"},
           "stellar": {"common", "stellar"},
           "nbody6": {"common", "gpunb", "gpuirr", "regularization", "stellar", "nbody6"}}
# A legacy library, and the module in which its calls are declared
LEGACY = {"gpunb": "gpunb_legacy", "gpunb_nbody6": "gpunb_legacy", "gpunb_nbody6pp": "gpunb_legacy_pp",
          "gpuirr": "gpuirr_legacy", "gpuirr_nbody6pp": "gpuirr_legacy_pp"}


def of_make(*variables):
    """Values of variables of packaging/install.mk, as lists."""
    environment = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS", name)}
    text = subprocess.run(["make", "-s", "--no-print-directory", "-C", SOURCE, "-f", "packaging/install.mk", "--eval",
                           "print-it:;@%s" % "; ".join("echo $(%s)" % name for name in variables), "print-it"],
                          stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout
    return [line.split() for line in text.splitlines()]


def read(path):
    with open(os.path.join(SOURCE, path)) as file:
        return file.read()


def declared(text):
    """Functions and objects with external linkage that a header declares, by their names."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\\\n", " ", text, flags=re.S)
    text = re.sub(r'^\s*#.*$|extern\s+"C"\s*\{', "", text, flags=re.M)
    before = None
    while before != text:  # bodies, the innermost first
        before, text = text, re.sub(r"\{[^{}]*\}", "@", text)
    found = set()
    # A body ends a function that is defined here; what comes behind another body still belongs to its declaration.
    for statement in re.split(r";|(?<=\))\s*@", text):
        statement = " ".join(statement.split())
        if re.match(r"typedef|static|NBC_HD|NBC_ASSERT_CONSTANT|(enum|struct)( \w+)?( ?@)?$|}?$", statement):
            continue
        if statement.startswith("extern"):
            found |= {re.search(r"(\w+)(\[\w*\])*$", part.strip()).group(1) for part in statement.split(",")}
        else:
            found.add(re.match(r"[\w *]*?(\w+) ?\(", statement).group(1))
    return found


def bound(text):
    """C names of the procedures in the interfaces of Fortran modules."""
    text = re.sub(r"abstract interface.*?end interface", "", re.sub(r"&\n\s*", "", text), flags=re.S)
    named = re.findall(r"^[^!\n]*bind\(c, *name='(\w+)'\)", text, re.M)
    unnamed = re.findall(r"^[^!\n]*\b(?:function|subroutine) (\w+)\([^)]*\) *bind\(c\)", text, re.M)
    return set(named + unnamed) - {"strlen"}


def legacy_calls(module, texts):
    """Symbols of the procedures that a module of legacy calls declares."""
    for text in texts:
        found = re.search(r"^ *module %s\n(.*?)^ *end module" % module, text, re.M | re.S)
        if found:
            return {name.rstrip("_") + "_" for name in
                    re.findall(r"^ *(?!end)(?:\w+ )*?(?:function|subroutine) +(\w+)", found.group(1), re.M)}
    raise AssertionError("there is no module " + module)


def listed(library):
    """Names in the map of a library, in their order."""
    text = re.sub(r"/\*.*?\*/", "", read("packaging/exports/lib%s.map" % library), flags=re.S)
    names = re.fullmatch(r"\s*\{\s*global:\s*((?:\w+;\s*)*)local: \*;\s*\};\s*", text)
    assert names, "%s.map is no list of names" % library
    return re.findall(r"\w+", names.group(1))


def symbols(path, *options, kinds="A-Z"):
    done = subprocess.run(["nm", *options, "--defined-only", path], stdout=subprocess.PIPE, check=True, text=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if re.search(" [%s] " % kinds, line)}


class ExportsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        headers, modules = of_make("PUBLIC_HEADERS", "FORTRAN_MODULES")
        cls.headers = {path: declared(read(path)) for path in headers}
        cls.modules = [read(path) for path in modules]
        cls.libraries = sorted(name[3:-4] for name in os.listdir(os.path.join(SOURCE, "packaging", "exports")))

    def wanted(self, library):
        """Names that others need: {name: where it is declared}."""
        own = FOLDERS[library.split("_")[0]]
        names = {name: path for path, found in self.headers.items() if path.split("/")[0] in own for name in found}
        if library in LEGACY:
            archive = symbols(os.path.join(BUILD, "lib", "lib%s.a" % library))
            names.update((name, "fortran/legacy.h") for name in archive if re.fullmatch(r"[a-z]\w*_", name))
        elif library == "nbody6":
            names.update((name, "a Fortran module") for text in self.modules for name in bound(text)
                         if not name.endswith("_"))
            for path in glob.glob(os.path.join(SOURCE, "python", "nbody6", "*.py")):
                names.update((name, os.path.relpath(path, SOURCE))
                             for name in re.findall(r'(?:"|library\(\)\.)(nb6_\w+)', read(path)))
        return names

    def test_each_library_has_a_map(self):
        built = {re.match(r"lib(\w+)\.so$", name) for name in os.listdir(os.path.join(BUILD, "lib"))} - {None}
        self.assertEqual(self.libraries, sorted(found.group(1) for found in built))

    def test_maps_list_what_is_declared(self):
        for library in self.libraries:
            with self.subTest(library=library):
                names, wanted = listed(library), self.wanted(library)
                self.assertEqual(sorted(names), sorted(set(names)), "names that stand in the map twice")
                self.assertEqual({name: wanted[name] for name in set(wanted) - set(names)}, {},
                                 "declared, and not in packaging/exports/lib%s.map" % library)
                self.assertEqual(sorted(set(names) - set(wanted)), [], "in the map, and declared nowhere")

    def test_names_clash_with_no_others(self):
        """They begin with the name of a library or of one below it, or are calls that legacy programs make."""
        legacy = r"gpupot_|cxvpred_|cnbint_|wtime_|dbltim_|irr_simd_\w+_"
        own = {"gpunb": "gpunb_", "gpuirr": "gpuirr_", "stellar": "stellar_",
               "nbody6": "nb6_|NB6_|gpunb_|gpuirr_|kepler_|ks_|chain_|hierarchy_|stellar_"}
        for library in self.libraries:
            with self.subTest(library=library):
                rule = r"(%s|nbc_)\w+|%s" % (own[library.split("_")[0]], legacy)
                self.assertEqual([name for name in listed(library) if not re.fullmatch(rule, name)], [])

    def test_libraries_show_what_maps_list(self):
        for library in self.libraries:
            with self.subTest(library=library):
                shown = symbols(os.path.join(BUILD, "lib", "lib%s.so" % library), "-D")
                self.assertEqual(sorted(shown), sorted(listed(library)))

    def test_libraries_call_their_own_functions(self):
        """Nothing that the loader has to look up is a function of the library itself: another library that was loaded
        before has the same names."""
        for library in self.libraries:
            with self.subTest(library=library):
                path = os.path.join(BUILD, "lib", "lib%s.so" % library)
                text = subprocess.run(["readelf", "-rW", path], stdout=subprocess.PIPE, check=True, text=True).stdout
                asked = set(re.findall(r" (\w+)(?:@\S*)? \+ 0$", text, re.M))
                self.assertIn("memcpy", asked)
                self.assertEqual(asked & symbols(path, "-D", kinds="T"), set())

    def test_legacy_modules_declare_what_libraries_have(self):
        for library, module in LEGACY.items():
            with self.subTest(library=library):
                self.assertEqual(sorted(legacy_calls(module, self.modules) - set(listed(library))), [])

    def test_modules_declare_what_libraries_have(self):
        """Whatever a module of the C interface declares can be called."""
        shown = {name for library in self.libraries for name in listed(library)}
        self.assertEqual(sorted(set().union(*map(bound, self.modules)) - shown), [])

    def test_how_declarations_are_read(self):
        text = """/** f(x) */ #define F(x) f(x)
            extern "C" {
            struct a { int (*call)(int); struct { double x; } y; };
            typedef int handler(void *context);
            enum { A = 1, B };
            extern const double K, names[A];
            const struct a *one(int (*call)(int x), const double (*x)[3]);
            static inline int two(void) { if (1) { return 3; } return 2; }
            int three(void)
                __attribute__((format(printf, 3, 4)));
            struct a four(void);
            NBC_HD int five(int a) { return a; }
            void *six(void);
            }"""
        self.assertEqual(declared(text.replace("*/ #", "*/\n#")), {"K", "names", "one", "three", "four", "six"})


if __name__ == "__main__":
    unittest.main()
