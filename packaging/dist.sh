#!/bin/sh
# Packs the sources of the commit that is checked out: packaging/dist.sh NAME FILE.tar.gz
# The same commit gives the same bytes. Changes that are not committed are left out, which is said.
set -eu
name=$1 file=$2
command -v git >/dev/null && git rev-parse --verify -q HEAD >/dev/null 2>&1 || {
    echo 'dist: sources are packed from a git checkout, and this is none' >&2
    exit 1
}
[ -z "$(git status --porcelain)" ] || echo 'dist: note: what is not committed is left out' >&2
mkdir -p "$(dirname "$file")"
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$file.tmp"
mv "$file.tmp" "$file"
echo "$file"
