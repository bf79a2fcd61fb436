#!/bin/sh
# Makes Debian packages of a source archive with Debian's own tools: packaging/deb.sh NAME-VERSION.tar.gz VERSION FOLDER
# The packages lie in FOLDER afterwards. What the build says goes to FOLDER/build.log, whose end is shown if it fails.
set -eu
archive=$1 version=$2 folder=$3
command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null && command -v dh_python3 >/dev/null || {
    echo 'deb: needs dpkg-buildpackage, dh and dh_python3:' \
        'apt-get install --no-install-recommends dpkg-dev debhelper dh-python fakeroot' >&2
    exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
tar -xzf "$archive" -C "$folder"
sources=$folder/nbody6-$version
cp -r "$sources/packaging/debian" "$sources/debian"
cat >"$sources/debian/changelog" <<END
nbody6 ($version) unstable; urgency=medium

  * Version $version; what is new is in /usr/share/doc/nbody6/changelog.gz.

 -- the nbody6 developers <nbody6@localhost>  $(date -R -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$archive")}")
END
if ! (cd "$sources" && dpkg-buildpackage -b -us -uc) >"$folder/build.log" 2>&1; then
    tail -n 30 "$folder/build.log" >&2
    echo "deb: dpkg-buildpackage failed; all that it said is in $folder/build.log" >&2
    exit 1
fi
ls "$folder"/*.deb
