#!/bin/sh
# On a fresh Debian, made in a folder: the packages of `make deb` install, run, link and leave nothing, and with them run
# the commands of README and of the tutorial; then the sources of `make dist` build and install after `make deps`, a
# program that is linked with them starts, and the notebook runs. In three more, `make site`, and what the Dockerfile
# says.
# Needs root, mmdebstrap or debootstrap, dpkg-buildpackage, dh, dh_python3, git and the package archive; otherwise it is
# skipped.
set -eu
skip() { echo "skipped: clean_root: $1"; exit 0; }
fail() { echo "FAILED: $1"; [ -z "${2:-}" ] || tail -n 40 "$2"; exit 1; }
cd "$(dirname "$0")/../.."
build=$(cd "${NB6_BUILD:-build}" && pwd)
[ "$(id -u)" -eq 0 ] || skip 'a root file system of its own needs root'
maker=$(command -v mmdebstrap || command -v debootstrap) ||
    skip 'neither mmdebstrap nor debootstrap is here: apt-get install --no-install-recommends mmdebstrap'
for tool in dpkg-buildpackage dh dh_python3 git chroot; do command -v $tool >/dev/null || skip "$tool is not here"; done
# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$release" ] || skip 'this machine does not say which release of Debian it is'

folder=$(mktemp -d)
log=$folder/log
trap 'for root in "$folder"/*/; do umount "$root/proc" 2>/dev/null || true; done; rm -rf "$folder"' EXIT
# A fresh system in $folder/NAME, in which `inside` and `step` work from now on
enter_new() {
    root=$folder/$1
    case $maker in
    *mmdebstrap) "$maker" --variant=apt "$release" "$root" >"$log" 2>&1 ;;
    *) "$maker" --variant=minbase "$release" "$root" >"$log" 2>&1 ;;
    esac || { tail -n 3 "$log"; skip "$maker $release failed: is the package archive reached?"; }
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc" || skip 'proc cannot be mounted here'
}
inside() { env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    chroot "$root" sh -c "set -eu; $1" >"$log" 2>&1; }
step() { inside "$2" || fail "$1" "$log"; echo "ok $1"; }

make --no-print-directory BUILD="$build" DEB_BUILD_OPTIONS="parallel=$(nproc)" deb >"$log" 2>&1 || fail 'make deb' "$log"
enter_new packages
mkdir "$root/opt/tried"
cp "$build"/deb/*.deb "$build"/nbody6-*.tar.gz "$root/opt/tried/"
cat >"$root/opt/tried/link.sh" <<'END'
cd /opt/tried && cp -r "$1" c && cd c
gcc -std=c11 cluster.c -o cluster $(pkg-config --cflags --libs libnbody6) -lm
./cluster
END
# The commands that tests/cli/test_docs.py runs, as a script
cat >"$root/opt/tried/commands.py" <<'END'
import sys
sys.path.insert(0, "tests/cli")
import test_docs
print("set -ex")
for command in test_docs.commands_of(sys.argv[1]):
    if not test_docs.shown_only(command):
        print(command)
END

step 'packages install' 'apt-get -q update; rm -f /opt/tried/*dbgsym*; apt-get -q -y install --no-install-recommends /opt/tried/*.deb'
step 'the command runs and is drawn' 'cd /opt/tried; nbody6 /usr/share/nbody6/examples/two-body/two-body.inp --out two-body
    nbody6-plot two-body; test -s two-body.html; nbody6 --status two-body | grep finished'
step 'Python finds package and library' 'cd /; python3 -c "import nbody6, nbody6_reader
assert nbody6.__file__.startswith(\"/usr/lib/python3/\"), nbody6.__file__
assert nbody6.Simulation.from_model(N=50).integrate(0.25).t == 0.25"'
inside 'cd /opt/tried; tar xzf nbody6-*.tar.gz; mv nbody6-*/ sources' || fail 'sources unpack' "$log"
for document in README.md docs/tutorial.md; do
    step "the commands of $document" "cp -r /opt/tried/sources /opt/tried/reader; cd /opt/tried/reader
        python3 ../commands.py $document >../commands.sh; grep -c nbody6 ../commands.sh; sh ../commands.sh
        rm -r /opt/tried/reader"
done
step 'a program links with the packages' 'apt-get -q -y install --no-install-recommends gcc libc6-dev pkg-config
    sh -e /opt/tried/link.sh /usr/share/nbody6/programs/c; rm -r /opt/tried/c'
step 'packages go' 'apt-get -q -y purge nbody6 nbody6-tools python3-nbody6 libnbody6-0 libnbody6-dev
    apt-get -q -y autoremove --purge
    test -z "$(find / -xdev -path /opt/tried -prune -o -path /proc -prune -o -name "*nbody6*" -print)"'
step 'sources: make deps and nothing more than is needed' 'apt-get -q -y install --no-install-recommends make
    cd /opt/tried/sources; make deps; ! dpkg -l python3-scipy | grep ^ii'
step 'make' 'cd /opt/tried/sources; make -j2'
step 'make install' 'cd /opt/tried/sources; make install'
step 'a program that is linked after make install starts' 'sh -e /opt/tried/link.sh /usr/local/share/nbody6/programs/c'
step 'make run' 'cd /opt/tried/sources; make run; test -s build/run/plummer-1k/plummer-1k.html'
step 'the notebook' 'apt-get -q -y install --no-install-recommends python3-nbconvert python3-ipykernel
    cd /opt/tried; cp /usr/local/share/nbody6/programs/notebook/first_cluster.ipynb .
    PYTHONPATH=/usr/local/share/nbody6/python python3 -m nbconvert --to html --execute first_cluster.ipynb
    test "$(grep -o "data:image/png" first_cluster.html | wc -l)" -ge 5'

# The commands of a stage of the Dockerfile, 1 or 2, a line each
commands_of_stage() {
    sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Dockerfile | awk -v wanted="$1" '/^FROM/ { stage++ }
        stage == wanted && sub(/^RUN /, "")'
}
sources=$root/opt/tried/sources
enter_new site
mkdir "$root/opt/tried"
cp -r "$sources" "$root/opt/tried/sources"
rm -rf "$root/opt/tried/sources/build"
step 'make site, without a compiler' 'apt-get -q update; apt-get -q -y install --no-install-recommends make
    cd /opt/tried/sources; make site; test -s build/site/index.html; test -s build/site/tutorial.html
    test -s build/site/search/search_index.js; ! command -v gcc; ! command -v gfortran'
enter_new image-build
rm -rf "$sources/build"
cp -r "$sources" "$root/src"
step 'the Dockerfile builds' "cd /src; $(commands_of_stage 1)"
built=$root/installed/usr/local
enter_new image
inside "$(commands_of_stage 2 | sed '$d')" || fail 'packages of the image' "$log"
cp -r "$built/." "$root/usr/local"
step 'the image of the Dockerfile runs, draws and imports' "$(commands_of_stage 2 | tail -n 1)
    nbody6 --help; cd /tmp; nbody6 /usr/local/share/nbody6/examples/two-body/two-body.inp --out two-body
    nbody6-plot two-body; test -s two-body.html"
