"""NAME.events.jsonl: what happened to stars and to the run."""

import json
import os

from .errors import ReadError
from .tables import read_lines


def read_events(path):
    """Events as dicts with at least `event` and `t`, in the order of the file; the last line may be incomplete.

    Raises ReadError: a line before the last one is no event.
    """
    events = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            event["t"], event["event"]
        except (ValueError, KeyError, TypeError):
            raise ReadError("%s:%d: not an event: %.60s" % (path, number, line)) from None
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
    """A chain is known by when it was formed and by its stars; its name changes as stars leave."""
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
