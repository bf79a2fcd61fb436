#!/bin/sh
# Names in one line what the build needs and does not find, nothing if all is there: tools/missing.sh NEED...
# NEED is c, fortran, hdf5, gsl, zlib or cmocka. CC, FC and PKG_CONFIG name the tools; HDF5_LIBS, GSL_LIBS, ZLIB_LIBS and
# CMOCKA_LIBS hold what the linker is told, empty where pkg-config does not know the library.
list=
add() { list="$list${list:+, }$1"; }
found() { command -v "${1%% *}" >/dev/null 2>&1; }
library() { # its name, its package, its flags
    [ -n "$3" ] || { add "$1 ($2)"; found "${PKG_CONFIG:-pkg-config}" || no_pkg_config=1; }
}
headers() {
    printf '#include <stdio.h>\n#include <omp.h>\n' | ${CC:-gcc} -fopenmp -E -x c - >/dev/null 2>&1
}

no_pkg_config=
for need in "$@"; do
    case $need in
    c)
        if ! found "${CC:-gcc}"; then
            add "the C compiler ${CC:-gcc}"
        elif ! headers; then
            add "stdio.h or omp.h for ${CC:-gcc}"
        fi ;;
    fortran) found "${FC:-gfortran}" || add "the Fortran compiler ${FC:-gfortran}" ;;
    hdf5) library HDF5 libhdf5-dev "${HDF5_LIBS:-}" ;;
    gsl) library GSL libgsl-dev "${GSL_LIBS:-}" ;;
    zlib) library zlib zlib1g-dev "${ZLIB_LIBS:-}" ;;
    cmocka) library cmocka libcmocka-dev "${CMOCKA_LIBS:-}" ;;
    *) echo "missing: no such need: $need (c, fortran, hdf5, gsl, zlib, cmocka)" >&2; exit 2 ;;
    esac
done
[ -z "$no_pkg_config" ] || add "the program ${PKG_CONFIG:-pkg-config}"
printf '%s\n' "$list"
