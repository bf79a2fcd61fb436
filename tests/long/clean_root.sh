#!/bin/sh
# On a fresh Debian, made in a folder: the packages of `make deb` install, run, link and leave nothing; then the sources
# of `make dist` build and install after `make deps`, and a program that is linked with them starts.
# Needs root, mmdebstrap or debootstrap, dpkg-buildpackage, dh, git and the package archive; otherwise it is skipped.
set -eu
skip() { echo "skipped: clean_root: $1"; exit 0; }
fail() { echo "FAILED: $1"; [ -z "${2:-}" ] || tail -n 40 "$2"; exit 1; }
cd "$(dirname "$0")/../.."
build=$(cd "${NB6_BUILD:-build}" && pwd)
[ "$(id -u)" -eq 0 ] || skip 'a root file system of its own needs root'
maker=$(command -v mmdebstrap || command -v debootstrap) ||
    skip 'neither mmdebstrap nor debootstrap is here: apt-get install --no-install-recommends mmdebstrap'
for tool in dpkg-buildpackage dh git chroot; do command -v $tool >/dev/null || skip "$tool is not here"; done
# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$release" ] || skip 'this machine does not say which release of Debian it is'

root=$(mktemp -d)
log=$root.log
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root" "$log"' EXIT
case $maker in
*mmdebstrap) "$maker" --variant=apt "$release" "$root" >"$log" 2>&1 ;;
*) "$maker" --variant=minbase "$release" "$root" >"$log" 2>&1 ;;
esac || { tail -n 3 "$log"; skip "$maker $release failed: is the package archive reached?"; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc" || skip 'proc cannot be mounted here'
inside() { env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    chroot "$root" sh -c "set -eu; $1" >"$log" 2>&1; }
step() { inside "$2" || fail "$1" "$log"; echo "ok $1"; }

make --no-print-directory BUILD="$build" DEB_BUILD_OPTIONS="parallel=$(nproc)" deb >"$log" 2>&1 || fail 'make deb' "$log"
mkdir "$root/opt/tried"
cp "$build"/deb/*.deb "$build"/nbody6-*.tar.gz "$root/opt/tried/"
cat >"$root/opt/tried/link.sh" <<'END'
cd /opt/tried && cp -r "$1" c && cd c
gcc -std=c11 cluster.c -o cluster $(pkg-config --cflags --libs libnbody6) -lm
./cluster
END

step 'packages install' 'apt-get -q update; rm -f /opt/tried/*dbgsym*; apt-get -q -y install --no-install-recommends /opt/tried/*.deb'
packages=$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Dockerfile |
    sed -n 's/.*install -y --no-install-recommends \([^&]*\).*/\1/p' | tr '\n' ' ')
step 'there are the packages that the Dockerfile installs' "apt-get -q -s install --no-install-recommends $packages"
step 'the command runs and is drawn' 'cd /opt/tried; nbody6 /usr/share/nbody6/examples/two-body/two-body.inp --out two-body
    nbody6-plot two-body; test -s two-body.html; nbody6 --status two-body | grep finished'
step 'a program links with the packages' 'apt-get -q -y install --no-install-recommends gcc libc6-dev pkg-config
    sh -e /opt/tried/link.sh /usr/share/nbody6/programs/c; rm -r /opt/tried/c'
step 'packages go' 'apt-get -q -y purge nbody6 nbody6-tools libnbody6-0 libnbody6-dev
    apt-get -q -y autoremove --purge
    test -z "$(find / -xdev -path /opt/tried -prune -o -path /proc -prune -o -name "*nbody6*" -print)"'
step 'sources: make deps and nothing more than is needed' 'apt-get -q -y install --no-install-recommends make
    cd /opt/tried; tar xzf nbody6-*.tar.gz; cd nbody6-*/; make deps; ! dpkg -l python3-scipy | grep ^ii'
step 'make' 'cd /opt/tried/nbody6-*/; make -j2'
step 'make install' 'cd /opt/tried/nbody6-*/; make install'
step 'a program that is linked after make install starts' 'sh -e /opt/tried/link.sh /usr/local/share/nbody6/programs/c'
