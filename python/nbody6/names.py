"""Values by name; an unknown name gives an error with the nearest one."""

import difflib


class NameNotFound(KeyError):
    """A KeyError whose text is read as it stands."""

    def __str__(self):
        return str(self.args[0])


def not_found(name, known, kind):
    """The error for a name that is not among those known.   kind: the thing that has names, as "column"; "log" """
    names = [str(other) for other in known]
    near = difflib.get_close_matches(str(name), names, 1, 0.5) or [n for n in names if n.lower() == str(name).lower()]
    if near:
        hint = "the nearest name is %s" % near[0]
    else:
        hint = "there are %s" % (", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "none")
    return NameNotFound("%s: no such %s; %s" % (name, kind, hint))


class Names(dict):
    """A dict that names the nearest key.   kind: the thing that has names, in the singular"""

    def __init__(self, values=(), kind="name"):
        super().__init__(values)
        self.kind = kind

    def __missing__(self, name):
        raise not_found(name, self, self.kind)

    def __reduce__(self):
        return Names, (dict(self), self.kind)
