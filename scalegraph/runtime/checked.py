"""Checks of accounts from outside: data that analysis could not add up is refused before it is kept or used."""

from __future__ import annotations

from scalegraph.base.errors import near
from scalegraph.base.run import RunRecord


def categories_fault(record: RunRecord) -> str:
    """Return a sentence if *record* has unknown categories or too few or many processors, otherwise an empty string."""
    from scalegraph.runtime.format import CATEGORY_GROUPS  # imports numpy, which opening a window need not wait for

    named = {
        *record.categories,
        *record.processor_categories,
        *(category for cost in record.regions for category in cost.categories),
    }
    unknown = sorted(named.difference(CATEGORY_GROUPS))
    if unknown:
        return f"unknown category '{unknown[0]}'{near(unknown[0], CATEGORY_GROUPS)}"
    for category, cycles in record.processor_categories.items():
        if len(cycles) != record.point.processors:
            return f"category {category} is known on {len(cycles)} of {record.point.processors} processors"
    return ""


def accounts_fault(record: RunRecord) -> str:
    """Return a sentence if the accounts of the simulated run *record* are impossible, otherwise an empty string.

    Besides `categories_fault`: in a run with a time, the categories of every processor add up to that time; no cycles
    and no counts are negative.
    """
    if fault := categories_fault(record):
        return fault
    columns = list(record.processor_categories.values())
    counts = [*record.categories.values(), *record.counters.values(), *(n for column in columns for n in column)]
    if any(count < 0 for count in counts):
        return "it has negative cycles or counts"
    if record.time_cycles is None:
        return "" if record.time_s is None else "it has a time without cycles"
    if record.time_cycles < 0 or record.clock_hz is None or record.time_s is None:
        return "its time is negative or incomplete"
    seconds = record.time_cycles / record.clock_hz
    if abs(record.time_s - seconds) > 1e-9 * seconds:
        return f"its time is {record.time_s} s; {record.time_cycles} cycles are {seconds} s"
    sums = [sum(cycles) for cycles in zip(*columns, strict=True)] or [0] * record.point.processors
    wrong = next((number for number, cycles in enumerate(sums) if cycles != record.time_cycles), None)
    if wrong is not None:
        return f"the categories of processor {wrong} add up to {sums[wrong]} cycles; it took {record.time_cycles}"
    whole = {name: sum(cycles) for name, cycles in record.processor_categories.items()}
    if {name: cycles for name, cycles in record.categories.items() if cycles} != {k: v for k, v in whole.items() if v}:
        return "its categories are not the sums over its processors"
    return ""
