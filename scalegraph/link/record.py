"""The record of a simulated run, from the child's outcome, the runtime's result and the program's places."""

from __future__ import annotations

import itertools
import re
import signal
from collections.abc import Iterable
from typing import Any, cast, get_args

from scalegraph.base.run import ClockRead, LineCost, RunRecord, Status, Wait
from scalegraph.base.sampling import SAMPLES_WHEN_LONG
from scalegraph.link import causes
from scalegraph.link.accounts import Accounts
from scalegraph.link.blame import blamed_sites, by_cause_and_category, start_lines
from scalegraph.link.build import Build
from scalegraph.link.delays import by_line, by_region, delays
from scalegraph.link.job import Job
from scalegraph.link.links import link_loads
from scalegraph.link.loop_costs import loop_costs
from scalegraph.link.messages import message_costs
from scalegraph.link.process import Outcome
from scalegraph.link.words import failure_message, plain_name, wait_in_words
from scalegraph.runtime.format import (
    BLAME_NAMES,
    CATEGORY_GROUPS,
    CATEGORY_NAMES,
    CAUSE_NAMES,
    CLASS_NAMES,
    COUNTER_NAMES,
    GROUPS,
    NO_THREAD,
)
from scalegraph.runtime.results import Result


def make_record(job: Job, outcome: Outcome, result: Result | None, remarks: Iterable[str] = ()) -> RunRecord:
    """Return the record of a run; *result* is ``None`` if the runtime left no readable one."""
    waits = _waits(job, result)
    status, message = _status(job, outcome, result, waits)
    warnings = [*remarks, *_remarks(job, outcome, result, ok=status == "ok")]
    fields: dict[str, Any] = {}
    if result is not None:
        accounts = Accounts(result)
        fields = _measured(job, result, accounts)
        broken = accounts.fault(int(result.meta.get("time_cycles", "0"))) if status in ("ok", "failed") else ""
        if broken:
            status, message = "internal", broken
    if status not in ("ok", "failed"):  # how far a stopped run got is not the program's time
        fields |= {"time_cycles": None, "time_s": None}
    return RunRecord(
        source="simulated",
        program=job.name,
        machine=job.machine.name,
        point=job.point,
        status=status,
        message=message,
        exit_code=outcome.exit_code if status in ("ok", "failed") else None,
        signal=_signal(outcome, result),
        warnings=tuple(warnings),
        host_s=outcome.host_s,
        host_cpu_s=outcome.host_cpu_s,
        waits=waits,
        stdout=outcome.stdout,
        stdout_ranks=tuple((row["rank"], row["bytes"]) for row in result.rows("OUTPUTS")) if result is not None else (),
        stderr=outcome.stderr if status == "ok" else _without_report(outcome.stderr),
        clock_hz=job.machine.clock_hz,
        processes=job.processes or None,
        threads_per_process=job.point.processors // job.processes if job.processes else None,
        **fields,
    )


def _measured(job: Job, result: Result, accounts: Accounts) -> dict[str, Any]:
    clock = job.machine.clock_hz
    cycles = int(result.meta["time_cycles"]) if "time_cycles" in result.meta else None
    columns = accounts.categories
    categories = {name: sum(column) for name, column in zip(CATEGORY_NAMES, columns, strict=True)}
    counters = dict(zip(COUNTER_NAMES, accounts.counters, strict=True))
    groups = {
        group: sum(value for name, value in categories.items() if CATEGORY_GROUPS[name] == group) for group in GROUPS
    }
    found = delays(job.build, result)
    regions, lines = accounts.regions(result), _lines(job.build, result)
    if found:
        regions, lines = by_region(found, regions), by_line(found, lines, job.build.regions)
    return {
        "time_cycles": cycles,
        "time_s": None if cycles is None else cycles / clock,
        "work_ops": counters["ops"],
        "work_flops": counters["flops"],
        **{f"{group}_s": groups[group] / clock for group in GROUPS},
        "references": counters["reads"] + counters["writes"],
        "misses": counters["misses"],
        "invalidations": counters["invalidations"],
        "categories": categories,
        "counters": counters,
        "processor_categories": {
            name: column for name, column in zip(CATEGORY_NAMES, columns, strict=True) if any(column)
        },
        "regions": regions,
        "lines": lines,
        "blame": by_cause_and_category(result.rows("BLAMES")),
        "delays": found,
        "readings": _readings(job.build, result),
        "messages": message_costs(job.build, result),
        "loops": loop_costs(job.build, result),
        "links": link_loads(job, result),
        **_causes(job, result),
    }


def _readings(build: Build, result: Result) -> tuple[ClockRead, ...]:
    """Return where the main thread reads a clock; calls from code without lines are left out."""
    chain = ("address", "caller", "outer")
    lines = build.lines.lookup([read[name] for read in result.rows("READINGS") for name in chain])
    named = [f"{file}:{line}" if file else "" for file, line, _ in lines]
    found = []
    for at, read in enumerate(result.rows("READINGS")):
        places = tuple(itertools.takewhile(bool, named[3 * at : 3 * at + 3]))
        counts = {name: read[name] for name in ("count", "first", "first_work", "last", "last_work")}
        if places:
            found.append(ClockRead(places=places, **counts))
    return tuple(found)


def _causes(job: Job, result: Result) -> dict[str, Any]:
    variables = causes.Variables(job.build, result, job.collect)
    return {
        "causes": causes.by_cause(result.rows("CAUSES")),
        "widths": causes.widths(result.rows("WIDTHS")),
        "collected": tuple(name for name in job.collect if name != SAMPLES_WHEN_LONG),
        "classes": causes.classes_by_cause(result.rows("CAUSES")),
        "variables": variables.costs(),
        "shared_lines": causes.shared_lines(job.build, result, variables),
        "resources": causes.resources(result.columns("RESOURCES")),
    }


def _lines(build: Build, result: Result) -> tuple[LineCost, ...]:
    """Return costs by source line, summed over its addresses; addresses without a line are left out."""
    sites = result.rows("SITES")
    if not sites:
        return ()
    sums: dict[tuple[str, int], list[int]] = {}
    places = start_lines(build, result, build.lines.lookup([site["address"] for site in sites]))
    for site, blamed, (file, line, _function) in zip(sites, blamed_sites(result), places, strict=True):
        if not file:
            continue
        row = [site["executions"], site["references"], site["misses"], *site["cycles"]]
        row += [site["remote"], site["upgrades"], site["invalidations"], *site["causes"], *site["classes"], *blamed]
        if (before := sums.get((file, line))) is not None:
            executions = max(row[0], before[0])  # a line of several blocks executed as often as its busiest one
            row = list(map(int.__add__, row, before))
            row[0] = executions
        sums[file, line] = row
    return tuple(_line(file, line, row) for (file, line), row in sorted(sums.items()))


def _line(file: str, line: int, row: list[int]) -> LineCost:
    scalars = ("executions", "references", "misses", *GROUPS, "remote", "upgrades", "invalidations")
    first, then = len(scalars), len(scalars) + len(CAUSE_NAMES)
    last = then + len(CLASS_NAMES)
    return LineCost(
        file=file,
        line=line,
        **dict(zip(scalars, row[:first], strict=True)),
        causes=causes.named(CAUSE_NAMES, row[first:then]),
        classes=causes.named(CLASS_NAMES, row[then:last]),
        waited=row[last],
        caused=causes.named(BLAME_NAMES, row[last + 1 :]),
    )


def _waits(job: Job, result: Result | None) -> tuple[Wait, ...]:
    if result is None or not result.rows("WAITS"):
        return ()
    places = job.build.lines.lookup([wait["address"] for wait in result.rows("WAITS")])
    waits = []
    for wait, (file, line, _function) in zip(result.rows("WAITS"), places, strict=True):
        category, holder = CATEGORY_NAMES[wait["category"]], wait["holder"] if wait["holder"] >= 0 else None
        waits.append(
            Wait(
                processor=wait["processor"],
                doing=wait_in_words(category, wait["object"], holder),
                place=f"{file}:{line}" if file else "",
                holder=None if category == "idle_wait" else holder,
                thread=wait["thread"] if wait["thread"] != NO_THREAD else None,
            )
        )
    return tuple(waits)


def _status(job: Job, outcome: Outcome, result: Result | None, waits: tuple[Wait, ...]) -> tuple[Status, str]:
    status: Status = "ok"
    reported = ""
    if result is not None and result.meta.get("status") in get_args(Status):
        status = cast("Status", result.meta["status"])
        reported = _with_places(job.build, result.meta.get("message", ""))
    if outcome.cancelled:
        status = "cancelled"
    elif outcome.timed_out:
        status = "timeout"
    elif result is None or (status == "ok" and outcome.signal is not None):
        status = "internal" if outcome.signal is None else "crashed"
    elif status == "ok" and outcome.exit_code and not job.options.accepts(outcome.exit_code):
        status = "failed"
    return status, failure_message(status, reported, outcome, waits, job.limits.time_s)


def _with_places(build: Build, text: str) -> str:
    """Return *text* with code addresses replaced by their source lines, where known."""

    def place(match: re.Match[str]) -> str:
        file, line, function = build.lines.lookup([int(match[1], 16)])[0]
        name = plain_name(function)
        inside = f" in {name}" if name else ""
        return f"at {file}:{line}{inside}" if file else match[0]

    return re.sub(r"\bat 0x([0-9a-f]+)", place, text)


def _without_report(stderr: str) -> str:
    """Return *stderr* without the runtime's own line, which the record's message replaces."""
    return "".join(line for line in stderr.splitlines(keepends=True) if not line.startswith("scalegraph: "))


def _signal(outcome: Outcome, result: Result | None) -> int | None:
    if outcome.signal is not None:
        return outcome.signal
    number = int(result.meta.get("signal", "0")) if result is not None else 0
    return number if number in set(signal.Signals) else None


def _remarks(job: Job, outcome: Outcome, result: Result | None, *, ok: bool) -> Iterable[str]:
    if result is not None and result.meta.get("warnings"):
        yield from _with_places(job.build, result.meta["warnings"]).split("; ")
    if outcome.exit_code and job.options.accepts(outcome.exit_code):
        yield f"ended with exit code {outcome.exit_code}, which is accepted"
    threads = result if ok and not job.processes else None  # a run that failed may have ended before its threads did
    if threads is not None and (remark := thread_remark(threads, job.point.processors)):
        yield remark
    for name in outcome.truncated:
        yield f"{name} truncated at {job.limits.output_bytes} bytes"


def thread_remark(result: Result, processors: int) -> str:
    """Return a remark if the program's number of threads does not follow *processors*; empty if it does.

    One thread more than processors is usual: a main thread that waits for its workers.
    """
    most, team = int(result.meta.get("threads", "0")), int(result.meta.get("team_max", "0"))
    if not most:
        return ""
    hint = "if an argument or a variable sets their number, write {N} for it"
    if most == 1 and team == 1 and processors > 1:
        return f"parallel regions had one thread on {processors} processors; {hint}"
    if most == 1 and processors > 1:
        return f"the program never had a second thread on {processors} processors (was it built with -fopenmp?)"
    if team > processors or most > processors + 1:
        return f"up to {max(team, most)} threads shared {processors} processor{'s' * (processors > 1)}; {hint}"
    if max(team, most) < processors:
        return f"no more than {max(team, most)} threads ran on {processors} processors; {hint}"
    return ""
