"""Profiles as speedscope and V8 write them: main 1 s, solve 6 s below it, wait 2 s below solve."""

from __future__ import annotations

from typing import Any

_SHARED = {"frames": [{"name": "main", "file": "heat.c", "line": 3}, {"name": "solve"}, {"name": "wait"}]}
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
SPEEDSCOPE: dict[str, Any] = {
    "$schema": _SCHEMA,
    "shared": _SHARED,
    "profiles": [
        {
            "type": "sampled",
            "name": "heat",
            "unit": "milliseconds",
            "startValue": 0,
            "endValue": 9000,
            "samples": [[0], [0, 1], [0, 1, 2], [0, 1]],
            "weights": [1000, 4000, 2000, 2000],
        }
    ],
    "exporter": "py-spy@0.4",
}
SPEEDSCOPE_EVENTS: dict[str, Any] = {
    "$schema": _SCHEMA,
    "shared": _SHARED,
    "profiles": [
        {
            "type": "evented",
            "name": "heat",
            "unit": "seconds",
            "startValue": 0,
            "endValue": 9,
            "events": [
                {"type": "O", "frame": 0, "at": 0},
                {"type": "O", "frame": 1, "at": 1},
                {"type": "O", "frame": 2, "at": 5},
                {"type": "C", "frame": 2, "at": 7},
                {"type": "C", "frame": 1, "at": 9},
                {"type": "C", "frame": 0, "at": 9},
            ],
        }
    ],
}
V8: dict[str, Any] = {
    "nodes": [
        {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2]},
        {"id": 2, "callFrame": {"functionName": "main", "url": "heat.js", "lineNumber": 2}, "children": [3]},
        {"id": 3, "callFrame": {"functionName": "solve", "url": "heat.js", "lineNumber": 9}, "children": [4]},
        {"id": 4, "callFrame": {"functionName": "wait", "url": "heat.js", "lineNumber": 20}},
    ],
    "startTime": 500,
    "endTime": 9000500,
    "samples": [2, 3, 4, 3],
    "timeDeltas": [0, 1000000, 4000000, 2000000],
}
