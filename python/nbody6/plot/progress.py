"""A line that tells how far long work is, on a terminal; nothing elsewhere."""

import sys
import time

WAIT_S = 0.5  # work that is shorter shows nothing


class Progress:
    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.start, self.shown, self.last = time.monotonic(), False, 0.0

    def __call__(self, text, done, of):
        now = time.monotonic()
        if not self.stream.isatty() or now - self.start < WAIT_S or (now - self.last < 0.05 and done < of):
            return
        self.last, self.shown = now, True
        filled = int(24 * done / max(of, 1))
        self.stream.write("\r\033[K%s [%s%s] %d of %d" % (text, "#" * filled, "." * (24 - filled), done, of))
        self.stream.flush()

    def close(self):
        if self.shown:
            self.stream.write("\r\033[K")
            self.stream.flush()
        self.shown, self.start = False, time.monotonic()
