"""Files that are written as a whole or not at all."""

import contextlib
import errno
import os
import secrets


def _make(path, ending):
    """Creates a new file beside `path`; follows no link and opens no other file.   Returns descriptor and name."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "not a regular file", path)
    while True:
        name = "%s.tmp-%s%s" % (path, secrets.token_hex(4), ending)
        try:
            return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666), name
        except FileExistsError:
            continue


@contextlib.contextmanager
def replacing(path, ending=""):
    """An empty file to write to, as a descriptor and a name with this ending. At the end of the block it replaces
    `path`, with the rights that the umask leaves. If the block raises, the file is removed, and `path` stays."""
    handle, name = _make(os.fspath(path), ending)
    try:
        try:
            yield handle, name
        finally:
            os.close(handle)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_whole(path, data):
    """Writes the file whole: readers of the path see the old contents or the new ones.   Raises OSError and leaves the
    old file.
    """
    with replacing(path) as (handle, _):
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(data)
