"""The readers of the package `nbody6` under their old names, for scripts of earlier versions."""

import os
import sys

here = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [path for path in (os.path.join(os.path.dirname(here), "python"), here)
                if os.path.isdir(os.path.join(path, "nbody6"))]

from nbody6.errors import ReadError  # noqa: E402, F401
from nbody6.run import Run  # noqa: E402, F401
from nbody6.snapshot import Snapshot, read_snapshot  # noqa: E402, F401
from nbody6.tables import Table as Log, energy_columns, read_table as read_log  # noqa: E402, F401
