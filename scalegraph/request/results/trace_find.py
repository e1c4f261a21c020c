"""Results of a search in a trace, as a table: number of occurrences, the first, or the longest ones."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.trace import found
from scalegraph.analyze.trace.find import LASTING
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.subjects import interval_sums
from scalegraph.subjects.option import Option
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import NO_TIME

OPTIONS = (
    Option("text", "Text", "text", description="part of a name, * and ? are wildcards; or a tag; by default all"),
    Option(
        "longest",
        "Longest",
        "int",
        0,
        minimum=0,
        maximum=100_000,
        description="list this many of the longest occurrences, one by one",
    ),
)


def find(chosen: Window, text: str | None = None, longest: int = 0) -> pd.DataFrame:
    """Return regions, locations, marks, waits, states, metrics and tags that match *text*, with their occurrences.

    Everything by default. Raises `InputError` if nothing matches.
    """
    data, text = chosen.data, text or ""
    targets = interval_sums.finder(data).targets(text)
    if not targets and text:
        definitions = data.trace.definitions
        names = [*(one.name for one in definitions.regions), *(one.name for one in definitions.locations)]
        raise InputError(Fault(f"nothing is called '{text}'{near(text, names)}", key="text"))
    if longest:
        targets = [target for target in targets if target.sort in LASTING]
        calls = interval_sums.calls(data) if any(target.sort == "region" for target in targets) else None
        table = found.longest(data.trace, calls, targets, longest, chosen.begin, chosen.end, chosen.locations)
        made = table[["sort", "number", "name"]].rename(columns={"sort": "kind"})
        made["location"] = [data.location_name(number) for number in table["location"].tolist()]
        made["begin_s"] = [data.seconds(tick) for tick in table["begin"].tolist()]
        made["end_s"] = [data.seconds(tick) for tick in table["end"].tolist()]
        ticks = table["end"].astype("int64") - table["begin"].astype("int64")
        made["duration_s"] = ticks / data.trace.meta.ticks_per_second
        return made
    table = found.counted(data.trace, targets, chosen.begin, chosen.end, chosen.locations)
    made = table[["sort", "number", "name", "count"]].rename(columns={"sort": "kind"})
    there = table["first"] != NO_TIME
    made["first_s"] = [
        data.seconds(tick) if known else float("nan")
        for tick, known in zip(table["first"].tolist(), there.tolist(), strict=True)
    ]
    made["first_on"] = [data.location_name(number) if number >= 0 else "" for number in table["location"].tolist()]
    return made
