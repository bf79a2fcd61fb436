#!/bin/sh
# The list of what `make install` put in place, by which `make uninstall` takes it away:
#     packaging/manifest.sh folders LIST ROOT FOLDER...   make these folders; those that were not there are listed
#     packaging/manifest.sh files LIST ROOT FILE...       list these files
#     packaging/manifest.sh remove LIST ROOT              remove what is listed: files, and then folders that are empty
# LIST, FOLDER and FILE are names without ROOT, which stands before them: DESTDIR, or nothing. A folder has a slash at its
# end in the list. What an earlier install has listed stays in it.
set -eu
what=$1 list=$2 root=$3
shift 3

# Each line once. In this order a folder comes after all that is in it.
add() {
    { [ ! -f "$root$list" ] || cat "$root$list"; printf '%s\n' "$@"; } | LC_ALL=C sort -ru >"$root$list.new"
    chmod 644 "$root$list.new"
    mv "$root$list.new" "$root$list"
}

case $what in
folders)
    made=
    for folder; do
        while [ "$folder" != / ] && [ "$folder" != . ] && [ ! -d "$root$folder" ]; do
            made="$made $folder/"
            folder=$(dirname "$folder")
        done
    done
    for folder; do install -d "$root$folder"; done
    [ -z "$made" ] || add $made
    ;;
files) add "$@" ;;
remove)
    if [ ! -f "$root$list" ]; then
        echo "uninstall: $root$list, the list of what was installed, is not there: nothing was removed. With the" \
            "variables of that \`make install\` (PREFIX, DATADIR, DESTDIR) it is found; \`make install\` writes it" >&2
        exit 1
    fi
    names=$(cat "$root$list")
    rm -f "$root$list"
    printf '%s\n' "$names" | while IFS= read -r name; do
        case $name in
        */) rmdir "$root$name" 2>/dev/null || true ;;
        *.py)
            compiled=$root${name%/*}/__pycache__
            rm -f "$root$name" "$compiled/$(basename "$name" .py)".*.pyc
            rmdir "$compiled" 2>/dev/null || true
            ;;
        *) rm -f "$root$name" ;;
        esac
    done
    ;;
esac
