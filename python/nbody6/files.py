"""Files that are there as a whole or not at all."""

import os
import tempfile


def write_whole(path, data):
    """Whoever reads the path never sees half of it.   Raises OSError; then what was there is untouched."""
    path = os.fspath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".nbody6-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
