"""The end of a run in plain words."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from scalegraph.base.patterns import pattern
from scalegraph.base.run import Status, Wait
from scalegraph.base.units import significant
from scalegraph.link.process import Outcome
from scalegraph.runtime.tools import call

_WAITS = {
    "idle_barrier": "waits at a barrier",
    "idle_lock": "waits for the lock",
    "idle_order": "waits for its turn",
    "idle_task": "waits for tasks",
    "idle_message": "waits for a message",
    "idle_late_sender": "waits for a message",
    "idle_late_receiver": "waits to send a message",
    "idle_transfer": "waits for a message that is on its way",
    "idle_network": "waits for a message that is held up in the network",
    "idle_collective": "waits in a collective operation",
    "idle_masked": "is masked off",
    "unattributed": "waits for something that was not seen",
    "idle_preempted": "waits while another program has its processor",
    "idle_wait": "waits for a signal at",
    "idle_serial": "waits for a parallel region to begin",
    "idle_not_started": "has not begun",
    "idle_finished": "has ended",
}
_LISTED = 8  # threads named in a sentence
_WHAT_LENGTH, _NAME_LENGTH, _LAST_LENGTH = 200, 80, 200
_RULES = " \t-=*_#+"  # lines of these characters are separators
_WHAT = pattern(
    r"^terminate called after throwing an instance of '.*'\n  what\(\):  (?P<what>(?:.*\n?)+?)(?=scalegraph: |\Z)",
    re.MULTILINE,
)

_RANK_ENDED = pattern(r"rank \d+ ended with exit code \d+ [^;]*?, without MPI_Finalize")
_IN_CALL = pattern(r"(?P<thread>thread \d+) waits in (?P<call>\w+) at ")


def wait_in_words(category: str, thing: int, holder: int | None = None) -> str:
    """Return in words what a thread that waits in *category* is doing.

    *thing*: address of what it waits for, or 0; *holder*: for a signal, the thread whose end would send it.
    """
    if category == "idle_wait" and holder is not None:
        return f"waits for the end of thread {holder}"
    if category == "idle_wait" and not thing:
        return "sleeps"
    doing = _WAITS.get(category, "computes")
    return f"{doing} {thing:#x}" if category in ("idle_lock", "idle_wait") and thing else doing


def waits_in_words(waits: Sequence[Wait]) -> str:
    """Return which thread waits for what, where, and who holds it, one clause a thread; equal ones merged."""
    clauses: dict[tuple[str, str, str, int | None], list[int]] = {}
    for wait in waits:
        what, number = wait.who
        clauses.setdefault((what, wait.doing, wait.place, wait.holder), []).append(number)
    words = []
    for (what, doing, place, holder), numbers in list(clauses.items())[:_LISTED]:
        text = f"{_numbered(what, numbers)} {doing if len(numbers) == 1 else _plural(doing)}"
        if holder is not None:
            text += f" held by thread {holder}"
        words.append(text + (f" at {place}" if place else ""))
    if len(clauses) > _LISTED:
        words.append(f"and {len(clauses) - _LISTED} more")
    return "; ".join(words)


def _numbered(what: str, numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    if len(numbers) > 4 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{what}s {numbers[0]} to {numbers[-1]}"
    shown = ", ".join(map(str, numbers[:_LISTED]))
    return f"{what}s {shown}" + (f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else "")


def _plural(doing: str) -> str:
    verb, _, rest = doing.partition(" ")
    return {"waits": "wait", "has": "have", "is": "are", "computes": "compute"}.get(verb, verb) + (
        f" {rest}" if rest else ""
    )


def failure_message(status: Status, told: str, outcome: Outcome, waits: Sequence[Wait], time_s: float) -> str:
    """Return the sentence for a run that ended with *status*; empty if it succeeded. *told*: the runtime's message."""
    if status == "ok":
        return ""
    if status == "cancelled":
        return "stopped by the user"
    if status == "failed":
        return f"the program ended with exit code {outcome.exit_code}" + _last_words(outcome)
    if status == "timeout":
        _, _, ranks = told.partition("; ")
        where = _with_last_words(ranks, outcome) if ranks.startswith("rank ") else waits_in_words(waits)
        limit = f"stopped at its time limit of {significant(time_s)} s"
        return f"{limit}: {where}" if where else limit
    if status == "deadlock" and waits and "; rank " not in told:
        return f"deadlock: {_with_calls(waits_in_words(waits), told)}"
    if told.startswith("rank "):
        return _with_last_words(told, outcome)
    if told:
        return with_what(told, outcome.stderr).replace(
            "raise the stack size of the run", "set OMP_STACKSIZE in its environment to a larger one"
        )
    if outcome.signal is not None:
        return _signal_in_words(outcome.signal, outcome.host_bytes)
    return f"the simulator left no result (exit code {outcome.exit_code})" + _last_words(outcome)


def _with_last_words(told: str, outcome: Outcome) -> str:
    """Return the message *told* with the last output of a rank that ended too early inserted after its mention."""
    end = _RANK_ENDED.match(told)
    said = [line for line in outcome.stderr.splitlines() if line.strip(_RULES) and not line.startswith("scalegraph: ")]
    if end is None or not said:
        return told
    return f'{end[0]} (its last words: "{said[-1].strip()[:_LAST_LENGTH]}"){told[end.end() :]}'


def _with_calls(waits: str, told: str) -> str:
    """Return the sentence *waits* with the system calls in which threads wait, as reported in *told*."""
    for one in _IN_CALL.finditer(told):
        thread = one["thread"]
        waits = waits.replace(f"{thread} sleeps", f"{thread} waits in {one['call']}, where nothing can come,", 1)
    return waits


def with_what(told: str, stderr: str) -> str:
    """Return the message *told* about an exception with the exception's text, as printed by the C++ library."""
    said = _WHAT.search(stderr)
    if said is None or not told.startswith("an exception of type "):
        return told
    lines = said["what"].splitlines()
    text = lines[0].strip()[:_WHAT_LENGTH] + (" .." if len(lines) > 1 or len(lines[0]) > _WHAT_LENGTH else "")
    return told.replace(", thrown at", f' ("{text}"), thrown at', 1)


def plain_name(function: str) -> str:
    """Return the C++ name of *function* without its parameters, as c++filt prints it; other names unchanged.

    Returns "" for names that would fill lines: a library template's function has no name that a user wrote.
    """
    if not function.startswith("_Z"):
        return function
    try:
        name = call(["c++filt", "-p", function]).stdout.strip() or function
    except OSError:
        name = function
    return name if len(name) <= _NAME_LENGTH else ""


def _signal_in_words(number: int, host_bytes: int | None) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    text = f"the program was ended by {name}"
    if number == signal.SIGKILL:
        taken = f", of which the run had taken {significant(host_bytes / 2**30)} GiB" if host_bytes else ""
        return f"{text}: most likely the host ran out of memory{taken}; take fewer processors, or a smaller size"
    described = signal.strsignal(number)
    return f"{text} ({described.lower()})" if described else text


def _last_words(outcome: Outcome) -> str:
    """Return the last line of the program's standard error, or of its standard output if that is empty.

    Programs that reject their arguments print their usage on either.
    """
    said = outcome.stderr if outcome.stderr.strip() else outcome.stdout
    lines = [line for line in said.splitlines() if line.strip(_RULES)]
    return f": {lines[-1].strip()[:_LAST_LENGTH]}" if lines else ""
