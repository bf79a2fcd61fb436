#!/bin/sh
# After the libraries are installed: lets the system find them, or says what does: packaging/ldconfig.sh LIBDIR
# A program that is linked with a shared library starts only if the loader knows the folder, or is told where to look.
set -eu
libdir=$1
PATH=$PATH:/usr/sbin:/sbin
command -v ldconfig >/dev/null || { echo "note: programs find the libraries with LD_LIBRARY_PATH=$libdir"; exit 0; }
here=$(cd "$libdir" && pwd -P)
searched() { # folders that the loader's cache is made of, links followed
    ldconfig -v -N -X 2>/dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p' | while read -r folder; do
        (cd "$folder" 2>/dev/null && pwd -P) || true
    done
}
if ! searched | grep -Fqx "$here"; then
    echo "note: the system does not look for libraries in $libdir: link programs with -Wl,-rpath,$libdir,"
    echo "      or run them with LD_LIBRARY_PATH=$libdir"
elif [ "$(id -u)" -eq 0 ]; then
    ldconfig
else
    echo "note: programs find the libraries after: sudo ldconfig"
fi
