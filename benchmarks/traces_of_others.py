"""Check the trace of a simulated run against the run's own accounts; `programs_of_others.py` uses this script.

    python benchmarks/traces_of_others.py STUDY

STUDY holds one run with a trace of all event classes. The trace checker must report no violation. If the trace is
whole, its shares must equal the accounts of each processor and region, leaf by leaf. Its critical path must be as long
as the run, without an unexplained piece, and the path's parts by leaf and by region must add up to it. All idle time
must be waits. The first fault is printed. The exit code is 0 without a fault, 1 with one, and 3 if the trace was cut at
its limit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from scalegraph.analyze.trace.critical_path import Piece, critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.wait_states import wait_states
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.run import RunRecord
from scalegraph.request import Session
from scalegraph.store import Study
from scalegraph.traces.checking import check
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read

CUT = 3


def shares_fault(record: RunRecord, trace: Trace) -> str:
    """Return where the trace's shares differ from the accounts of *record*; empty if nowhere."""
    states, shares = trace.definitions.states, trace.columns("shares")
    processors = np.zeros((record.point.processors, len(states)), np.int64)
    np.add.at(processors, (shares["location"], shares["state"]), shares["ticks"])
    regions = np.zeros((len(trace.definitions.regions), len(states)), np.int64)
    np.add.at(regions, (shares["region"], shares["state"]), shares["ticks"])
    for number, state in enumerate(states):
        counted = record.processor_categories.get(state.key, [0] * record.point.processors)
        if processors[:, number].tolist() != counted:
            return f"shares of {state.key} by processor differ from the accounts"
    for cost in record.regions:
        told = {state.key: int(regions[cost.region, n]) for n, state in enumerate(states) if regions[cost.region, n]}
        if told != {category: cycles for category, cycles in cost.categories.items() if cycles}:
            return f"shares of region {cost.region} differ from the accounts"
    return ""


def path_fault(record: RunRecord, trace: Trace) -> str:
    """Return the first fault of the critical path or the waits of *trace*; empty if there is none."""
    waits = Waits.of(trace)
    path = critical_path(trace, waits)
    if path.length != record.time_cycles or (path.begin[1:] != path.end[:-1]).any():
        return f"the critical path is {path.length} cycles long, the run {record.time_cycles}"
    if path.ticks(Piece.UNEXPLAINED, Piece.MESSAGE):
        return "a piece of the critical path is unexplained"
    found = on_path(Contents(trace, waits), path)
    for table in (found.states, found.regions):
        if table["path"].to_numpy().sum() + found.outside != record.time_cycles:
            return "the parts of the critical path do not add up to it"
    idle = sum(sum(cycles) for category, cycles in record.processor_categories.items() if category.startswith("idle_"))
    waited = wait_states(trace, waits).total
    return "" if waited == idle else f"{waited} cycles of waits, {idle} idle"


def main() -> int:
    """Check the trace of the run in the study; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    session = Session()
    with Study.open(parser.parse_args().study) as study:
        (record,) = study.runs()
        (run,) = session.traces(study)
    with read(run.path) as trace:
        report = check(trace)
        cut = any("limit" in warning for warning in record.warnings)
        fault = "" if report.holds else report.violations[0].sentence()
        fault = fault or ("" if cut else shares_fault(record, trace) or path_fault(record, trace))
    if fault:
        print(fault)
    return 1 if fault else CUT if cut else 0


if __name__ == "__main__":
    sys.exit(main())
