"""trace.py FILE RANKS STEPS BYTES - check the trace of the two-rank program.

Slices of one track follow each other; each message has one arrow, from a send slice of
one rank to a recv slice of the other; the counter ends at BYTES a rank and step.
"""

import collections
import json
import sys

file, ranks, steps, bytes_a_step = sys.argv[1], *map(int, sys.argv[2:])
with open(file) as stream:
    events = json.load(stream)["traceEvents"]

tracks = collections.defaultdict(list)
for event in events:
    if event["ph"] == "X":
        tracks[event["pid"], event["tid"]].append(event)
assert len(tracks) == 2 * ranks, tracks.keys()
for slices in tracks.values():
    slices.sort(key=lambda event: event["ts"])
    for first, second in zip(slices, slices[1:]):
        assert first["ts"] + first["dur"] <= second["ts"] + 1e-3, (first, second)


def slice_at(event):
    found = [s for s in tracks[event["pid"], event["tid"]]
             if s["ts"] <= event["ts"] <= s["ts"] + s["dur"]]
    assert len(found) == 1, (event, found)
    return found[0]


arrows = collections.defaultdict(dict)
for event in events:
    if event["ph"] in "sf":
        assert event["ph"] not in arrows[event["id"]], event
        arrows[event["id"]][event["ph"]] = event
assert len(arrows) == steps * ranks, len(arrows)
for arrow in arrows.values():
    assert slice_at(arrow["s"])["cat"] == "send"
    assert slice_at(arrow["f"])["cat"] == "recv"
    assert arrow["s"]["pid"] != arrow["f"]["pid"]

for rank in range(ranks):
    counts = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["pid"] == rank]
    assert counts == sorted(counts) and counts[-1] == steps * bytes_a_step, counts
