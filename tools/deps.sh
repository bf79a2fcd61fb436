#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing: tools/deps.sh [--tell] build|read|plot|test|mpi|site ...
# Says what it will install before it does, and afterwards that it has; what apt-get says goes to the file $LOG, whose end
# is shown if that fails. Uses sudo only if it is not run by root. If all is there it says so with --tell only.
set -eu

build='gcc gfortran make pkg-config libc6-dev libgsl-dev libhdf5-dev zlib1g-dev'
read='python3 python3-numpy python3-h5py'
plot='python3-matplotlib'
test='libcmocka-dev clang-format valgrind'
mpi='libopenmpi-dev openmpi-bin'
site='mkdocs'
# make CC=clang needs clang's own OpenMP runtime.
case ${CC:-} in *clang*) build="$build clang libomp-dev" ;; esac

tell=
[ "${1:-}" != --tell ] || { tell=1; shift; }
[ $# -gt 0 ] || set -- build read
wanted=
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build" ;;
    read) wanted="$wanted $read" ;;
    plot) wanted="$wanted $plot" ;;
    test) wanted="$wanted $test" ;;
    mpi) wanted="$wanted $mpi" ;;
    site) wanted="$wanted $site" ;;
    *) echo "deps: no such group: $group (build, read, plot, test, mpi, site)" >&2; exit 2 ;;
    esac
done

has() { "${PKG_CONFIG:-pkg-config}" --exists "$1"; }
# A thing is there if it is usable, whoever installed it.
usable() {
    case $1 in
    gcc | gfortran | make | clang | clang-format | python3 | mkdocs | valgrind) command -v "$1" ;;
    pkg-config) command -v "${PKG_CONFIG:-pkg-config}" ;;
    libomp-dev) echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o /dev/null ;;
    libc6-dev) [ -e /usr/include/stdio.h ] ;;
    libgsl-dev) has gsl ;;
    libhdf5-dev) has hdf5-serial || has hdf5 ;;
    zlib1g-dev) has zlib ;;
    libcmocka-dev) has cmocka ;;
    libopenmpi-dev) command -v mpicc ;;
    openmpi-bin) command -v mpirun ;;
    python3-*) "${PYTHON:-$(command -v /usr/bin/python3 || echo python3)}" -c "import ${1#python3-}" ;;
    esac >/dev/null 2>&1
}

missing=
for package in $wanted; do
    usable "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
    [ -z "$tell" ] || echo 'deps: nothing is missing'
    exit 0
fi

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

log=${LOG:-deps.log}
mkdir -p "$(dirname "$log")"
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" </dev/null; }
echo "deps: installing with ${sudo:+sudo }apt-get, whose words go to $log:$missing"
if ! { apt update && apt -y install --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "deps: apt-get failed; all that it said is in $log" >&2
    exit 1
fi

for package in $missing; do
    usable "$package" || { echo "deps: $package is installed but not usable; what apt-get said is in $log" >&2; exit 1; }
done
echo "deps: installed$missing, and what they need: $(grep -c '^Setting up ' "$log") packages"
