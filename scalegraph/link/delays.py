"""What made others wait: from the runtime's CONTEXT and DELAY records to the run's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from scalegraph.base.delays import Delay
from scalegraph.base.run import LineCost, Region, RegionCost
from scalegraph.link.build import Build
from scalegraph.link.scale import same_file
from scalegraph.runtime.format import CATEGORY_NAMES
from scalegraph.runtime.layout import Row
from scalegraph.runtime.observed import DELAY_KINDS, DELAY_WORK
from scalegraph.runtime.results import Result

_CALL = re.compile(r"\b(?:P?MPI_\w+|pthread_\w+|omp_\w+|std::\w+)(?=\s*[(<])", re.IGNORECASE)
_CAUSES = {"held": "lock", "runtime": "fork_join"}  # of `runtime.format.BLAMES`
_WRAPS = 16  # a function of at most this many lines, without a loop, that makes one MPI call is a wrapper


def delays(build: Build, result: Result) -> tuple[Delay, ...]:
    """Return the DELAY records, summed by place and category."""
    rows = result.rows("DELAYS")
    if not rows:
        return ()
    paths = _paths(result.rows("CONTEXTS"))
    texts = {source.file: source.text.splitlines() for source in build.sources}
    regions = {region.id: region for region in build.regions}
    places = build.lines.lookup([row["address"] for row in rows])
    sums: dict[tuple[object, ...], list[int]] = {}
    for row, (file, line, _function) in zip(rows, places, strict=True):
        path = paths[row["context"]]
        at = (file, line) if row["address"] and file else ("", 0)
        call = row["call"].decode(errors="replace") or _call(texts, *at)
        key = (path, DELAY_KINDS[row["kind"]], CATEGORY_NAMES[row["category"]], *at, call)
        found = sums.setdefault(key, [0, 0, 0])
        for index, name in enumerate(("own", "waited", "caused")):
            found[index] += row[name]
    return tuple(
        Delay.model_construct(
            regions=key[0],
            kind=key[1],
            category=key[2],
            file=key[3],
            line=key[4],
            call=key[5],
            caller=_caller(texts, [regions[number] for number in key[0] if number in regions], int(str(key[4]))),  # type: ignore[attr-defined]
            own=0 if key[1] in DELAY_WORK else own,
            worked=own if key[1] in DELAY_WORK else 0,
            waited=waited,
            caused=caused,
        )
        for key, (own, waited, caused) in sums.items()
    )


def _paths(contexts: Sequence[Row]) -> list[tuple[int, ...]]:
    """Return each context's region path, starting at number 0, the program; parents come before children."""
    found: list[tuple[int, ...]] = [()]
    for row in contexts:
        found.append((*found[row["parent"]], row["region"]) if row["region"] else found[row["parent"]])
    return found


def _text(texts: Mapping[str, Sequence[str]], file: str) -> Sequence[str]:
    return texts.get(file) or next((text for name, text in texts.items() if file and same_file(file, name)), ())


def _call(texts: Mapping[str, Sequence[str]], file: str, line: int) -> str:
    """Return the call at a line, or where its statement ends, as written in the source; empty if there is none."""
    if not line:
        return ""
    for text in _text(texts, file)[line - 1 : line + 3]:
        if found := _CALL.search(text):
            return found[0]
    return ""


def _caller(texts: Mapping[str, Sequence[str]], path: Sequence[Region], line: int) -> str:
    """Return where the function around *line* is called, if it only wraps the call at *line*."""
    if not line or len(path) < 2 or path[-1].kind != "function":
        return ""
    inner, outer = path[-1], path[-2]
    name = inner.name.removeprefix("function ").rpartition("::")[2]
    if inner.end_line - inner.line >= _WRAPS or not inner.line <= line <= inner.end_line or name == "main":
        return ""
    body = "\n".join(_text(texts, inner.file)[inner.line - 1 : inner.end_line])
    if len(_CALL.findall(body)) != 1:  # it does something of its own
        return ""
    word = re.compile(rf"\b{re.escape(name)}\s*\(", re.IGNORECASE)
    text = _text(texts, outer.file)
    for number in range(outer.line, min(outer.end_line, len(text)) + 1):
        if word.search(text[number - 1]) and not (outer.file == inner.file and inner.line <= number <= inner.end_line):
            return f"{outer.file}:{number}"
    return ""


def by_region(found: Sequence[Delay], costs: Sequence[RegionCost]) -> tuple[RegionCost, ...]:
    """Return *costs* with the waiting in *found* added to the regions that waited and to those that caused it."""
    waited: dict[int, dict[str, dict[str, int]]] = {}
    caused: dict[int, dict[str, int]] = {}
    for delay in found:
        region = delay.regions[-1] if delay.regions else 0
        if delay.waited:
            part = waited.setdefault(region, {}).setdefault("others", {})
            part[delay.category] = part.get(delay.category, 0) + delay.waited
        if delay.caused:
            kinds = caused.setdefault(region, {})
            name = _CAUSES.get(delay.kind, "others")
            kinds[name] = kinds.get(name, 0) + delay.caused
    there = {cost.region for cost in costs}
    missing = [RegionCost(region=number) for number in sorted({*waited, *caused} - there)]
    return tuple(
        cost.model_copy(update={"waited": waited.get(cost.region, {}), "caused": caused.get(cost.region, {})})
        for cost in sorted((*costs, *missing), key=lambda cost: cost.region)
    )


def by_line(found: Sequence[Delay], lines: Sequence[LineCost], regions: Sequence[Region]) -> tuple[LineCost, ...]:
    """Return *lines* with the waiting in *found* added to the lines that waited and to those that caused it.

    Waiting caused by a call goes to its line; waiting caused by a region's work is spread over its lines by their cost.
    """
    sums: dict[tuple[str, int], tuple[int, dict[str, int]]] = {}

    def add(at: tuple[str, int], waited: int, name: str, caused: int) -> None:
        before, kinds = sums.setdefault(at, (0, {}))
        sums[at] = before + waited, kinds
        if caused:
            kinds[name] = kinds.get(name, 0) + caused

    known = {region.id: region for region in regions}
    inner = _innermost(lines, regions)
    for delay in found:
        name = _CAUSES.get(delay.kind, "others")
        if delay.file:
            add((delay.file, delay.line), delay.waited, name, delay.caused)
            continue
        region = known.get(delay.regions[-1] if delay.regions else 0)
        if region is None or not delay.caused:
            continue
        mine = inner.get(region.id, [])
        weights = [line.busy + line.memory_stall + line.primitive for line in mine]
        whole, so_far, dealt = sum(weights), 0, 0
        if not whole:
            if region.file:  # the program as a whole has no line
                add((region.file, region.line), 0, name, delay.caused)
            continue
        for line, weight in zip(mine, weights, strict=True):
            so_far += weight
            due = delay.caused * so_far // whole
            add((line.file, line.line), 0, name, due - dealt)
            dealt = due
    there = {(line.file, line.line): line for line in lines}
    for file, number in sums:
        there.setdefault((file, number), LineCost(file=file, line=number))
    made = []
    for at, line in sorted(there.items()):
        waited, kinds = sums.get(at, (0, {}))
        made.append(line.model_copy(update={"waited": min(waited, line.idle), "caused": kinds}))
    return tuple(made)


def _innermost(lines: Sequence[LineCost], regions: Sequence[Region]) -> dict[int, list[LineCost]]:
    """Return the lines of each region that belong to no region inside it."""
    by_file: dict[str, list[Region]] = {}
    for region in regions:
        by_file.setdefault(region.file, []).append(region)
    found: dict[int, list[LineCost]] = {}
    for line in lines:
        around = [region for region in by_file.get(line.file, ()) if region.line <= line.line <= region.end_line]
        inner = min(around, key=lambda region: (region.end_line - region.line, -region.id), default=None)
        if inner is not None:
            found.setdefault(inner.id, []).append(line)
    return found
