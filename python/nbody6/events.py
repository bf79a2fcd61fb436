"""NAME.events.jsonl: events of stars and of the run."""

import json
import math
import os

from .errors import ReadError
from .tables import read_lines


def _is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value):
    try:
        return not isinstance(value, bool) and math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _is_number(value):
    return value is None or _is_time(value)


def _are_integers(value):
    return isinstance(value, list) and all(map(_is_integer, value))


def _are_two(value):
    return _are_integers(value) and len(value) == 2


def _is_vector(value):
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _is_text(value):
    return isinstance(value, str)


# Fields of events that are read here; there are more (docs/output.md).
_PAIR = {"reason": _is_text, "names": _are_two}
_CHAIN = {"names": _are_integers, "most": _is_integer, "binding": _is_number}
FIELDS = {"escape": {"name": _is_integer, "mass": _is_number, "v": _is_vector},
          "merger": {"names": _are_two, "mass": _is_number, "mass_gone": _is_number, "energy": _is_number},
          "pair_formed": _PAIR, "pair_ended": _PAIR}
MAY_HAVE = {"came": _are_integers, "t_formed": _is_time}


def fault_of(event):
    """The fault of an event in words; None: it has none."""
    if not isinstance(event, dict):
        return "not an object"
    for name, is_right in (("t", _is_time), ("event", _is_text)):
        if not is_right(event.get(name)):
            return "no %s" % name
    kind = event["event"]
    for name, is_right in (_CHAIN if kind.startswith("chain_") else FIELDS.get(kind, {})).items():
        if name not in event or not is_right(event[name]):
            return "%s without %s" % (kind, name)
    for name, is_right in MAY_HAVE.items():
        if name in event and not is_right(event[name]):
            return "%s with a wrong %s" % (kind, name)
    return None


def read_events(path):
    """Events as dicts with at least `event` and `t`, and what FIELDS says, in the order of the file; the last line may
    be incomplete. A number that was not finite is None.

    Raises ReadError: a line before the last one is no event, or lacks a field.
    """
    events = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise ReadError("%s:%d: not an event: %.60s" % (path, number, line)) from None
        fault = fault_of(event)
        if fault:
            raise ReadError("%s:%d: not an event: %s: %.60s" % (path, number, fault, line))
        events.append(event)
    return events


def read_events_if_any(path):
    return read_events(path) if os.path.exists(path) else []


def of_kind(events, *kinds):
    """Events of these kinds, in their order."""
    return [event for event in events if event["event"] in kinds]


def encounters(events):
    """Strong encounters: one dict for each chain from its formation to its end, with `t`, `t_end` (None: it goes on),
    `names` of all stars that took part, `most` of them at once, `pairs_before` and `pairs_after` (names of the pairs
    that went into it and came out), `binding` at the end, `outcome` in a word."""
    done, before = [], []
    for event in events:
        kind = event["event"]
        if kind == "pair_ended" and event["reason"] == "chain":
            before.append((event["t"], sorted(event["names"])))
        elif kind == "pair_formed" and event["reason"] == "chain":
            for chain in (c for c in done if c["t_end"] == event["t"] and set(event["names"]) <= set(c["names"])):
                chain["pairs_after"].append(sorted(event["names"]))
        elif kind.startswith("chain_"):
            _follow(event, done, before)
    for chain in done:
        chain["outcome"] = _outcome(chain)
    return done


SAME_TIME = 1e-9  # times are written with 12 digits, that of the formation with 15


def _follow(event, done, before):
    """Adds an event to its chain, which has the same time of formation and stars; its name changes as stars leave."""
    if event["event"] == "chain_formed":
        done.append({"t": event["t"], "t_end": None, "names": [], "most": 0, "pairs_before": [], "pairs_after": []})
    formed, stars = event.get("t_formed", event["t"]), set(event["names"])
    chain = next((c for c in reversed(done) if c["t_end"] is None and abs(c["t"] - formed) < SAME_TIME * max(1, formed)
                  and (not c["names"] or stars & set(c["names"]))), None)
    if chain is None:
        return  # formed before the events that are left
    for name in event["names"] + event.get("came", []):
        if name not in chain["names"]:
            chain["names"].append(name)
    chain["most"] = max(chain["most"], event["most"])
    chain["binding"] = event["binding"]
    for t, names in before:
        if t == event["t"] and set(names) <= set(chain["names"]) and names not in chain["pairs_before"]:
            chain["pairs_before"].append(names)
    if event["event"] == "chain_ended":
        chain["t_end"] = event["t"]


def _outcome(chain):
    before, after = chain["pairs_before"], chain["pairs_after"]
    if chain["t_end"] is None:
        return "goes on"
    if not after:
        return "no pair left"
    if any(len(set(new) & set(old)) == 1 for new in after for old in before):
        return "exchange"
    if any(new not in before for new in after):
        return "one more pair"
    return "same pair" if len(after) == len(before) else "a pair was broken"


def counts(events):
    """{kind: how many}."""
    number = {}
    for event in events:
        number[event["event"]] = number.get(event["event"], 0) + 1
    return number
