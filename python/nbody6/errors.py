"""Exceptions of the package; each message says what is wrong and what to do."""


class ReadError(Exception):
    """Something is missing or not readable; the text says what, where and what to do."""


class WriteError(Exception):
    """Something cannot be written; the text says what, where and why."""


class UnitError(ValueError):
    """A unit that is not known, or that does not measure the quantity."""


class SimulationError(RuntimeError):
    """libnbody6 refused or failed; `status` is its number in nbc.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status
