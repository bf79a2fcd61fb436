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
    `names` of all stars that took part, `most` of them at once, `binding` at the end, `left` who left it."""
    going, done = {}, []
    for event in of_kind(events, "chain_formed", "chain_joined", "chain_left", "chain_ended"):
        key = event["name"], event.get("t_formed", event["t"])
        if event["event"] == "chain_formed":
            going[key] = {"t": event["t"], "t_end": None, "names": list(event["names"]), "most": event["most"],
                          "binding": event["binding"], "left": []}
            done.append(going[key])
        if key not in going:
            continue  # formed before the events that are left
        chain = going[key]
        chain["names"] += [name for name in event["names"] + event.get("came", []) if name not in chain["names"]]
        chain["most"] = max(chain["most"], event["most"])
        chain["binding"] = event["binding"]
        chain["left"] += event.get("left", [])
        if event["event"] == "chain_ended":
            chain["t_end"] = event["t"]
            del going[key]
    return done


def counts(events):
    """{kind: how many}."""
    number = {}
    for event in events:
        number[event["event"]] = number.get(event["event"], 0) + 1
    return number
