"""libnbody6 by ctypes: where it is, and its functions (nbody6/run/nbody6.h, nbody6/app/script.h, gpunb/gpunb.h,
gpunb/tree.h, stellar/stellar.h)."""

import ctypes
import os

import numpy as np

from .errors import SimulationError

HERE = os.path.dirname(os.path.realpath(__file__))
NAME = "libnbody6.so.0"
ENERGY_VALUES = 16  # doubles in struct nb6_energy (nbody6/state/ledger.h)
PAIR_VALUES = 8
NO_MEMORY = 3  # NBC_NO_MEMORY of nbc.h
DEVICE_STATUSES = (9, 10)  # NBC_DEVICE, NBC_UNAVAILABLE of nbc.h
TREE_STAGES = 7  # GPUNB_TREE_STAGES of gpunb/tree.h
INT32, INT64, DOUBLES = (ctypes.POINTER(kind) for kind in (ctypes.c_int32, ctypes.c_int64, ctypes.c_double))
LISTENER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


class Error(ctypes.Structure):
    """struct nbc_error of nbc.h."""
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 4096)]


class ForceOptions(ctypes.Structure):
    """struct gpunb_options of gpunb.h."""
    _fields_ = [("backend", ctypes.c_char_p), ("mass_weighted", ctypes.c_int), ("precision", ctypes.c_int),
                ("force_error", ctypes.c_double), ("theta", ctypes.c_double), ("order", ctypes.c_int),
                ("leaf", ctypes.c_int), ("group", ctypes.c_int), ("walk", ctypes.c_int), ("costs", ctypes.c_char_p)]


class ForceJob(ctypes.Structure):
    """struct gpunb_softened_job of gpunb.h."""
    _fields_ = [("n_i", ctypes.c_size_t), ("x", DOUBLES), ("self", INT32), ("softening", ctypes.c_double),
                ("acc_last", DOUBLES), ("acc", DOUBLES), ("pot", DOUBLES), ("build", ctypes.c_uint64)]


class BackendInfo(ctypes.Structure):
    """struct gpunb_backend_info of gpunb.h."""
    _fields_ = [("name", ctypes.c_char_p), ("description", ctypes.c_char_p), ("available", ctypes.c_int),
                ("reason", ctypes.c_char_p), ("ns_per_pair", ctypes.c_double)]


class TreeCounts(ctypes.Structure):
    """struct gpunb_tree_counts of gpunb/tree.h."""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "builds", "renewals", "forces", "targets", "groups", "tests", "listed_cells", "listed_bodies", "cell_terms",
        "pair_terms", "local_terms", "first_forces")] + [("seconds", ctypes.c_double * TREE_STAGES)]


_POINTER, _TEXT, _INT, _DOUBLE, _COUNT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_double, ctypes.c_int64
_ERROR = ctypes.POINTER(Error)
_SIZE, _SIZES = ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)
# Functions, what they return, and their arguments. Those of `call` return a status, and end with the error.
FUNCTIONS = {
    "nb6_script_create": (_POINTER, []),
    "nb6_script_free": (None, [_POINTER]),
    "nb6_script_config": (_POINTER, [_POINTER]),
    "nb6_script_sim": (_POINTER, [_POINTER]),
    "nb6_script_listen": (None, [_POINTER, LISTENER, _POINTER]),
    "nb6_script_end": (_DOUBLE, [_POINTER]),
    "nb6_script_units": (None, [_POINTER, DOUBLES]),
    "nb6_script_id": (_TEXT, [_POINTER]),
    "nb6_script_make": (_INT, [_POINTER, _ERROR]),
    "nb6_script_set_bodies": (_INT, [_POINTER, _COUNT, INT64, DOUBLES, DOUBLES, DOUBLES, _ERROR]),
    "nb6_script_restore": (_INT, [_POINTER, _TEXT, _ERROR]),
    "nb6_script_pairs": (_INT, [_POINTER, _COUNT, INT64, INT64, DOUBLES, _ERROR]),
    "nb6_script_snapshot": (_INT, [_POINTER, _TEXT, _ERROR]),
    "nb6_input_set": (_INT, [_POINTER, _TEXT, _TEXT, _ERROR]),
    "nb6_input_read": (_INT, [_TEXT, _POINTER, _POINTER, _ERROR]),
    "nb6_input_read_text": (_INT, [_TEXT, _TEXT, ctypes.c_size_t, _POINTER, _POINTER, _ERROR]),
    "nb6_evolve": (_INT, [_POINTER, _DOUBLE, _ERROR]),
    "nb6_stopped": (_INT, [_POINTER]),
    "nb6_time_now": (_DOUBLE, [_POINTER]),
    "nb6_count": (_COUNT, [_POINTER]),
    "nb6_engine_name": (_TEXT, [_POINTER]),
    "nb6_get_bodies": (_INT, [_POINTER, _COUNT, INT64, DOUBLES, DOUBLES, DOUBLES, _ERROR]),
    "nb6_get_energy": (_INT, [_POINTER, DOUBLES, _ERROR]),
    "nb6_get_field": (_INT, [_POINTER, _COUNT] + 5 * [DOUBLES] + [_ERROR]),
    "nb6_add_bodies": (_INT, [_POINTER, _COUNT, INT64, DOUBLES, DOUBLES, DOUBLES, _ERROR]),
    "nb6_remove_bodies": (_INT, [_POINTER, _COUNT, INT64, _ERROR]),
    "nb6_set_masses": (_INT, [_POINTER, _COUNT, INT64, DOUBLES, DOUBLES, _INT, _ERROR]),
    "nb6_checkpoint": (_INT, [_POINTER, _TEXT, _ERROR]),
    "gpunb_create": (_INT, [ctypes.POINTER(_POINTER), _SIZE, ctypes.POINTER(ForceOptions), _ERROR]),
    "gpunb_free": (None, [_POINTER]),
    "gpunb_info": (ctypes.POINTER(BackendInfo), [_POINTER]),
    "gpunb_last_error": (_TEXT, [_POINTER]),
    "gpunb_send_positions": (_INT, [_POINTER, _SIZE, DOUBLES, DOUBLES]),
    "gpunb_softened": (_INT, [_POINTER, ctypes.POINTER(ForceJob)]),
    "gpunb_softened_pairs": (_DOUBLE, [_POINTER, _SIZE, _SIZE, DOUBLES]),
    "gpunb_tree_build": (_INT, [_POINTER, ctypes.POINTER(_POINTER)]),
    "gpunb_tree_renew": (_INT, [_POINTER, _POINTER]),
    "gpunb_tree_force": (_INT, [_POINTER, _POINTER, ctypes.POINTER(ForceJob)]),
    "gpunb_tree_free": (None, [_POINTER]),
    "gpunb_tree_least_error": (_DOUBLE, [_POINTER]),
    "gpunb_tree_stage_name": (_TEXT, [_INT]),
    "gpunb_tree_get_counts": (None, [_POINTER, ctypes.POINTER(TreeCounts)]),
    "gpunb_tree_shape": (None, [_POINTER, _SIZES, ctypes.POINTER(_INT), _SIZES, _SIZES]),
    "stellar_type_text": (_TEXT, [_INT]),
    "stellar_options_level": (_INT, [ctypes.c_char, _POINTER, _ERROR]),
    "stellar_options_set": (_INT, [_POINTER, _TEXT, _TEXT, _ERROR]),
    "stellar_create": (_INT, [_DOUBLE, _POINTER, _POINTER, _ERROR]),
    "stellar_free": (None, [_POINTER]),
    "stellar_birth": (_INT, [_POINTER, _COUNT, _DOUBLE, _DOUBLE, _POINTER, _ERROR]),
    "stellar_birth_helium": (_INT, [_POINTER, _COUNT, _DOUBLE, _DOUBLE, _POINTER, _ERROR]),
    "stellar_evolve_all": (_INT, [_POINTER, _COUNT, _POINTER, _DOUBLE, _POINTER, _POINTER, _ERROR]),
    "stellar_merge": (_INT, [_POINTER, _POINTER, _POINTER, _POINTER, _DOUBLE, _DOUBLE, _POINTER, _POINTER, _POINTER,
                             _ERROR]),
    "stellar_set_mass": (_INT, [_POINTER, _POINTER, _DOUBLE, _DOUBLE, _POINTER, _POINTER, _ERROR]),
    "omp_set_num_threads": (None, [_INT]),  # of the OpenMP runtime that the library uses
    "nb6_log_column": (_INT, [_INT, _TEXT, ctypes.POINTER(_TEXT), ctypes.POINTER(_TEXT)]),
}


def candidates():
    """Where the library may be: where NBODY6_LIBRARY says, in this package, in the build of these sources, beside an
    installation of which this package is a part, and where the system looks."""
    asked = os.environ.get("NBODY6_LIBRARY")
    if asked:
        return [asked]
    build = os.environ.get("NB6_BUILD", os.path.join(HERE, "..", "..", "build"))
    return [os.path.join(HERE, NAME), os.path.join(build, "lib", NAME),
            os.path.join(HERE, "..", "..", "..", "..", "lib", NAME), NAME]


def _open():
    said = []
    for path in candidates():
        if os.path.dirname(path) and not os.path.exists(path):
            said.append("%s: there is no such file" % os.path.normpath(path))
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            said.append(str(error))
    raise ImportError("cannot open libnbody6, which `make` builds and `make install` installs; NBODY6_LIBRARY says "
                      "where "
                      "it is. Tried:\n  " + "\n  ".join(said))


_library = None


def library():
    """The library with its functions declared.   Raises ImportError: not found; the text lists the places."""
    global _library
    if _library is None:
        opened = _open()
        for name, (result, arguments) in FUNCTIONS.items():
            try:
                function = getattr(opened, name)
            except AttributeError:
                raise ImportError("%s: it has no %s: it is of another version than this package" % (
                    opened._name, name)) from None
            function.restype, function.argtypes = result, arguments
        _library = opened
    return _library


def call(name, *arguments):
    """Call a function that returns a status.   Raises SimulationError with its words."""
    error = Error()
    check(name, getattr(library(), name)(*arguments, ctypes.byref(error)), error.text)


def check(name, status, text):
    """Raises SimulationError with the text of the library, which is bytes, if a function has not returned 0."""
    if status:
        text = text.decode(errors="replace") or "%s: status %d" % (name, status)
        raise SimulationError(status, ("not enough memory: " if status == NO_MEMORY else "") + text)


def pointer(array):
    """To the data of a C-contiguous array of doubles or of integers of 32 or 64 bits; None stays None."""
    if array is None:
        return None
    return array.ctypes.data_as({np.dtype(np.int32): INT32, np.dtype(np.int64): INT64}.get(array.dtype, DOUBLES))


def log_columns():
    """Names and units of the columns of a row, as in NAME.log.csv."""
    names, units = [], []
    name, unit, meaning = ctypes.create_string_buffer(64), _TEXT(), _TEXT()
    while library().nb6_log_column(len(names), name, ctypes.byref(unit), ctypes.byref(meaning)):
        names.append(name.value.decode())
        units.append(unit.value.decode())
    return names, units
