"""The runs of a measured command: a table with intervals, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scalegraph.analyze.remarks import remarks
from scalegraph.analyze.targets import Noise, noise
from scalegraph.base.measures import measure, percent
from scalegraph.base.units import assigned, counted, si, significant
from scalegraph.cli.measuring.options import place_of, shown_runs
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.run_table import derived, document
from scalegraph.cli.simulating.choices import beside_machine, together, with_choice
from scalegraph.request.model.kept import searches_of

if TYPE_CHECKING:
    from scalegraph.base.run import RunRecord
    from scalegraph.store import Study

_LISTED = 8  # outliers
_ENOUGH = 4  # with fewer runs of a point, there are no outliers


def print_command(
    study: Study, target: str, shown: Sequence[int] | None = None, *, as_json: bool, printed: bool = False
) -> bool:
    """Print the runs of a command on *target*: those on the counts *shown* (default all), and failed ones.

    Return whether all succeeded. *printed*: include the command's output.
    """
    parts = [study.member(one) for one in study.members()]
    if as_json:
        documents = [_document(part, target, shown) for part in parts]
        print_json(together(documents) if len(parts) > 1 else documents[0])
        return all(run.ok for part in parts for run in part.runs(target=target))
    done = [_print_one(part, target, shown, printed=printed) for part in parts]
    return all(done)


def _listed(every: Sequence[RunRecord], shown: Sequence[int] | None) -> tuple[Sequence[RunRecord], Sequence[RunRecord]]:
    """Return one run per point, by N and size, and which of them are shown."""
    ordered = sorted(shown_runs(every), key=lambda run: (run.point.processors, assigned(run.point.parameters.items())))
    return ordered, [run for run in ordered if shown is None or run.point.processors in shown or not run.ok]


def _document(study: Study, target: str, shown: Sequence[int] | None) -> dict[str, Any]:
    every = study.runs(output=True, target=target)
    ordered, listed = _listed(every, shown)
    keys = [run.point.key for run in listed]
    made = document(study.manifest.program, place_of(study, target)[0], ordered, keys, every=every)
    more = {"command": command_of(study), "searches": searches_of(study), **_notes(every)}
    return with_choice({**made, **more}, study)


def _print_one(study: Study, target: str, shown: Sequence[int] | None, *, printed: bool) -> bool:
    every = study.runs(output=True, target=target)
    listed = _listed(every, shown)[1]
    title = place_of(study, target)
    place = ", ".join(filter(None, (title[1], beside_machine(study.choice))))
    if printed:
        for run in listed:
            echo(f"--- output of {run.point.label()}")
            echo(run.stdout, nl=not run.stdout.endswith("\n"), exact=True)
    print_rows(*_rows(listed, every), title=f"{study.manifest.program} on {place}")
    for text in _sentences(every):
        echo(text)
    return all(run.ok for run in every)


def command_of(study: Study) -> str:
    """Return the command of the runs in *study*, empty if they are of a program that was built."""
    return str(study.manifest.request.get("program", {}).get("command", ""))


def _rows(listed: Sequence[RunRecord], every: Sequence[RunRecord]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table."""
    values = derived(every)
    known = {_place(one.runs[0]): one for one in noise(every)}
    sized = any(run.point.parameters for run in listed)
    rated = next((run.usage.rate_unit or "1/s" for run in every if run.usage and run.usage.rate), "")
    time = measure((one.median_s for one in known.values()), "s")
    memory = measure((run.usage.peak_memory_bytes for run in listed if run.usage), "B")
    headers = ["N", *(["size"] if sized else []), time.heading("time"), "95 % interval", "runs", "speedup", "E"]
    headers += ["busy", memory.heading("memory"), *([f"rate ({rated})"] if rated else [])]
    rows = []
    for run in listed:
        size = [assigned(run.point.parameters.items())] if sized else []
        count = f"{run.point.processors}{' !' if run.warnings else ''}"
        one = known.get(_place(run))
        if one is None or not run.ok:
            rows.append([count, *size, run.message or run.status.replace("_", " ")])
            continue
        own, used = values.get(run.point.key, {}), run.usage
        interval = f"{time.number(one.low_s)} .. {time.number(one.high_s)}" if len(one.runs) > 1 else "–"
        rate = [significant(used.rate) if used and used.rate else "–"] if rated else []
        rows.append(
            [
                count,
                *size,
                time.number(one.median_s),
                interval,
                str(len(one.runs)),
                _plain(own.get("speedup")),
                _plain(own.get("efficiency")),
                _plain(used.parallelism if used else None),
                memory.number(used.peak_memory_bytes if used else None),
                *rate,
            ]
        )
    return headers, rows


def _place(run: RunRecord) -> str:
    return run.point.model_copy(update={"repetition": 0}).key


def _sentences(every: Sequence[RunRecord]) -> Iterator[str]:
    """Yield the notes below the table: outliers, queue times, remarks."""
    outliers = [text for one in noise(every) for text in _outliers(one)]
    yield from outliers[:_LISTED]
    if len(outliers) > _LISTED:
        yield f"{len(outliers) - _LISTED} more outliers: the view 'noise' has all"
    waits = [run.usage.queue_s for run in every if run.usage and run.usage.queue_s]
    if waits:
        yield f"waited {si(sum(waits), 's')} for nodes, in {counted(len(waits), 'job')}; not included in the run times"
    for text in remarks(every):
        yield f"! {text}"
    yield from _uncounted(every)


def _uncounted(every: Sequence[RunRecord]) -> Iterator[str]:
    why = {run.usage.uncounted for run in every if run.usage and run.usage.uncounted}
    if why:
        yield f"no hardware counters: {', '.join(sorted(why))}"


def _outliers(one: Noise) -> Iterator[str]:
    for run in one.outliers if len(one.runs) >= _ENOUGH else ():
        time, middle = run.time_s or 0.0, one.median_s
        apart = percent(abs(time / middle - 1)) if middle else "–"
        way = "longer" if time > middle else "shorter"
        yield f"outlier: {run.point.label()} took {si(time, 's')}, {apart} {way} than the median"


def _notes(every: Sequence[RunRecord]) -> Mapping[str, Any]:
    return {
        "remarks": remarks(every),
        "notes": list(_uncounted(every)),
        "outliers": [text for one in noise(every) for text in _outliers(one)],
    }


def _plain(value: float | None) -> str:
    return "–" if value is None else significant(value)
