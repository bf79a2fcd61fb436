#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing: tools/deps.sh build|plot|test ...
# Says what it will install before it does, uses sudo only if it is not run by root, and does nothing if all is there.
set -eu

build='gcc gfortran make pkg-config libc6-dev libgsl-dev libhdf5-dev zlib1g-dev'
plot='python3 python3-numpy python3-h5py python3-matplotlib'
test='libcmocka-dev clang-format'
# make CC=clang needs clang's own OpenMP runtime.
case ${CC:-} in *clang*) build="$build clang libomp-dev" ;; esac

[ $# -gt 0 ] || set -- build plot test
wanted=
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build" ;;
    plot) wanted="$wanted $plot" ;;
    test) wanted="$wanted $test" ;;
    *) echo "deps: no such group: $group (build, plot, test)" >&2; exit 2 ;;
    esac
done

has() { "${PKG_CONFIG:-pkg-config}" --exists "$1"; }
# What counts is that the thing is usable, whoever installed it.
usable() {
    case $1 in
    gcc | gfortran | make | clang | clang-format | python3) command -v "$1" ;;
    pkg-config) command -v "${PKG_CONFIG:-pkg-config}" ;;
    libomp-dev) echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o /dev/null ;;
    libc6-dev) [ -e /usr/include/stdio.h ] ;;
    libgsl-dev) has gsl ;;
    libhdf5-dev) has hdf5-serial || has hdf5 ;;
    zlib1g-dev) has zlib ;;
    libcmocka-dev) has cmocka ;;
    python3-*) "${PYTHON:-$(command -v /usr/bin/python3 || echo python3)}" -c "import ${1#python3-}" ;;
    esac >/dev/null 2>&1
}

missing=
for package in $wanted; do
    usable "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "deps: this machine has no apt-get. Please install what these Debian packages hold:$missing" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "deps: please have an administrator run: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    sudo='sudo'
fi
echo "deps: installing with ${sudo:+sudo }apt-get:$missing"
$sudo apt-get -q -o Acquire::Retries=3 update </dev/null
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install \
    --no-install-recommends $missing </dev/null

for package in $missing; do
    usable "$package" || { echo "deps: $package is installed but not usable" >&2; exit 1; }
done
