"""One run of a command, timed by a process of its own, `runner`; the outcome is data."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.link.process import Outcome

_RUNNER: Final = Path(__file__).with_name("runner.py")
_POLL_S: Final = 0.05
_CHUNK: Final = 1 << 20
# type and configuration of perf_event_open: hardware 0; the last-level cache is what `cache-misses` counts
EVENTS: Final[Mapping[str, tuple[int, int]]] = {
    "hw_cycles": (0, 0),
    "hw_instructions": (0, 1),
    "hw_cache_misses": (0, 3),
}


@dataclass(frozen=True)
class Start:
    """What to start: *words* with exactly the variables *env*, in *cwd*; *processors* that it may use, all if empty.

    *stdin*: a file or its content; *events*: counters by name, with type and configuration.
    """

    words: Sequence[str]
    env: Mapping[str, str]
    cwd: Path | None = None
    stdin: Path | bytes | None = None
    processors: Sequence[int] = ()
    events: Mapping[str, tuple[int, int]] = field(default_factory=lambda: EVENTS)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its *outcome*, and *found*, the figures from `runner`."""

    outcome: Outcome
    found: Mapping[str, Any]


def run(start: Start, *, time_s: float, output_bytes: int, cancel: CancelToken) -> Ended:
    """Run a command to its end, its time limit or a request to stop; never leaves a process behind.

    Raises `OSError` if it cannot be started, `RunError` if the process that times it is lost.
    """
    with contextlib.ExitStack() as stack:
        order = _order(start, time_s, output_bytes, stack)
        begin = time.monotonic()
        data = _answer(order, cancel, stack)
    head, _, output = data.partition(b"\n")
    if not head:
        raise RunError(f"'{start.words[0]}': the process that times it was ended from outside")
    found = json.loads(head)
    if "error" in found:
        raise OSError(found["error"], os.strerror(found["error"]), start.words[0])
    return Ended(_outcome(found, output, time.monotonic() - begin), found)


def _order(start: Start, time_s: float, output_bytes: int, stack: contextlib.ExitStack) -> bytes:
    stdin = ""
    if isinstance(start.stdin, bytes):
        handle = os.memfd_create("stdin")
        stack.callback(os.close, handle)
        os.write(handle, start.stdin)
        stdin = f"/proc/{os.getpid()}/fd/{handle}"
    elif start.stdin is not None:
        stdin = str(start.stdin.absolute())
    order = {
        "words": list(start.words),
        "env": dict(start.env),
        "cwd": str(start.cwd or ""),
        "stdin": stdin,
        "processors": list(start.processors),
        "events": {name: list(event) for name, event in start.events.items()},
        "time_s": time_s,
        "output_bytes": output_bytes,
    }
    return json.dumps(order).encode() + b"\n"


def _answer(order: bytes, cancel: CancelToken, stack: contextlib.ExitStack) -> bytes:
    """Return `runner`'s answer to *order*; on a request to stop its pipe is closed, which tells it to stop."""
    control_read, control = os.pipe()
    result, result_write = os.pipe()
    stack.callback(os.close, result)
    closing = stack.enter_context(contextlib.ExitStack())
    closing.callback(os.close, control)
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_RUNNER), str(control_read), str(result_write)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(control_read, result_write),
        start_new_session=True,
    )
    os.close(control_read)
    os.close(result_write)
    with contextlib.suppress(BrokenPipeError), os.fdopen(os.dup(control), "wb") as pipe:
        pipe.write(order)
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(result, selectors.EVENT_READ)
        while True:
            if selector.select(_POLL_S):
                more = os.read(result, _CHUNK)
                if not more:
                    break
                data += more
            if cancel.cancelled:
                closing.close()
    child.wait()
    return bytes(data)


def _outcome(found: Mapping[str, Any], output: bytes, host_s: float) -> Outcome:
    code, first = found["code"], found["output"][0]
    streams = ("standard output", "standard error")
    return Outcome(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=found["timed_out"],
        cancelled=found["cancelled"],
        stdout=output[:first].decode("utf-8", "replace"),
        stderr=output[first:].decode("utf-8", "replace"),
        truncated=tuple(name for name, cut in zip(streams, found["truncated"], strict=True) if cut),
        host_s=host_s,
        host_cpu_s=found["user_s"] + found["system_s"],
    )
