"""Rows that are not runs: jobs that did not complete, and the steps of a job that has a row of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalegraph.measurements import names
from scalegraph.measurements.table.layout import is_missing, is_number

_CODES = names.words(  # 0 is good
    "exitcode exit_code exit_status exitval exit rc ret retval returncode return_code ret_code return_value"
)
_WORDS = frozenset({"state", "job_state", "status", "outcome", "success", "succeeded", "result", "verification"})
# answers to whether a run is good: 1 or 0, too
_YES = frozenset({"ok", "success", "succeeded", "verified", "valid", "correct", "passed", "pass"})
# columns that say what went wrong; a row with nothing in them, or with a word of `_NO_FAULT`, is good
_FAULTS = frozenset(
    {
        "error",
        "errors",
        "err",
        "error_message",
        "error_occurred",
        "fault",
        "fail",
        "failed",
        "failure",
        "failure_reason",
        "exception",
        "crash",
        "crashed",
        "killed",
        "aborted",
        "oom",
        "timeout",
        "timed_out",
        "timedout",
    }
)
_NO_FAULT = frozenset({"no", "none", "false", "ok", "0", "success", "passed", "no error", "no errors", "n", "f"})
_GOOD = frozenset(
    {
        "completed",
        "complete",
        "cd",
        "ok",
        "pass",
        "passed",
        "converged",
        "correct",
        "success",
        "successful",
        "succeeded",
        "done",
        "finished",
        "true",
        "yes",
    }
)
_BAD = re.compile(
    r"(?:fail(?:ed|ure)?|timeout|timed?[ _-]?out|cancell?ed(?: by \d+| by \w+)?|node_fail|out_of_memory|oom|preempted|"
    r"boot_fail|deadline|running|pending|suspended|requeued|resizing|revoked|crash(?:ed)?|error|aborted|killed|"
    r"unsuccessful|false|no|f|ca|to|nf|pd|r)\+?",
    re.IGNORECASE,
)
_CODE = re.compile(r"-?\d{1,3}(?::\d{1,3})?")
_JOB = frozenset({"jobid", "job_id", "jobidraw", "job"})
_STEP = re.compile(r"(\d+(?:[_+\[]\S*?)?)\.(batch|extern|interactive|\d+)")


def says_how_it_ended(title: str, cells: Sequence[str]) -> bool:
    """Whether a column states for each row whether the run completed, judged by its name and every cell."""
    there = [cell.strip() for cell in cells if not is_missing(cell)]
    short = names.plain(title)
    if short in _CODES:
        return bool(there) and all(map(_CODE.fullmatch, there))
    if short in _YES and there and all(cell in ("0", "1") for cell in there):
        return True
    if short in _FAULTS:  # numbers are an accuracy, or a count
        yes = short not in ("error", "errors", "err") and all(cell in ("0", "1") for cell in there)
        return (
            bool(there) and (yes or not any(is_number(cell) and cell != "0" for cell in there)) and set(there) != {"0"}
        )
    good = [cell for cell in there if cell.lower() in _GOOD]
    others = [cell for cell in there if cell.lower() not in _GOOD]
    # `SIGSEGV` below `ok` is no good end either
    return (
        short in _WORDS | _YES
        and (all(map(_BAD.fullmatch, others)) if not good else not any(map(is_number, others)))
        and bool(there)
    )


def may_tell(title: str) -> bool:
    """Whether a column with this name may show that a row is not a run."""
    return names.plain(title) in _CODES | _WORDS | _YES | _JOB | _FAULTS


def _good(cell: str, title: str) -> bool:
    short = names.plain(title)
    if short in _YES and cell.strip() in ("0", "1"):
        return cell.strip() == "1"
    if short in _FAULTS:
        return cell.strip().lower() in _NO_FAULT
    return cell.strip().lower() in _GOOD or cell.strip() in ("0", "0:0")


def kept(titles: Sequence[str], columns: Sequence[Sequence[str]]) -> tuple[list[bool], list[tuple[str, int]]]:
    """Return which rows are runs, and for the others the reason in words, with the index of each.

    *columns*: the cells of each column. A row is not a run if a status column says that it did not complete, or if it
    is a step (``4101.batch``) of a job that has a row of its own, or a step that only starts others.
    """
    count = max(map(len, columns), default=0)
    keep = [True] * count
    why: list[tuple[str, int]] = []
    for title, cells in zip(titles, columns, strict=True):
        if names.plain(title) in _JOB:
            jobs = {cell.strip() for cell in cells}
            for row, cell in enumerate(cells):
                step = _STEP.fullmatch(cell.strip())
                if keep[row] and step and (step[1] in jobs or step[2] in ("batch", "extern")):
                    keep[row] = False
                    why.append(("steps of jobs", row))
    for title, cells in zip(titles, columns, strict=True):
        if not says_how_it_ended(title, cells):
            continue
        for row, cell in enumerate(cells):
            if keep[row] and not is_missing(cell) and not _good(cell, title):
                keep[row] = False
                why.append((f"did not complete ({title} = {cell.strip()[:20]})", row))
    return keep, why
