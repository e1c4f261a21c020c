"""What-if runs on the command line: the options for them, and their table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.measures import percent
from scalegraph.base.run import IDEALS, Region, RunRecord, Variant
from scalegraph.base.units import si, significant
from scalegraph.cli.output import echo, print_rows
from scalegraph.link import scale
from scalegraph.request.model.request import WhatIf


def what_ifs(ideals: Sequence[str], speedups: Sequence[str]) -> tuple[WhatIf, ...]:
    """Return the what-ifs of ``--what-if contention,cache+sync,all`` and ``--speedup TARGET=FACTOR``, one each.

    Raises `InputError` with every fault.
    """
    faults: list[Fault] = []
    found: dict[str, WhatIf] = {}
    for word in (word.strip() for text in ideals for word in text.split(",")):
        names = IDEALS if word == "all" else tuple(word.split("+"))
        strange = [name for name in names if name not in IDEALS]
        faults += [
            Fault(f"unknown ideal '{name}'{near(name, IDEALS)}; known: {', '.join(IDEALS)}, all", key="--what-if")
            for name in strange
        ]
        if not strange:
            found.setdefault(word, WhatIf.model_validate({"ideal": names}))
    for text in speedups:
        target, equals, factor = text.rpartition("=")
        try:
            if not equals:
                raise ValueError(f"'{text}': expected TARGET=FACTOR, as in line:solve.c:88=2")  # noqa: TRY301
            scale.parse(target)
            scale.factor_of(factor)
        except ValueError as error:
            faults.append(Fault(str(error), key="--speedup"))
        else:
            found.setdefault(text, WhatIf(speedup={target: factor}))
    if faults:
        raise InputError(faults)
    return tuple(found.values())


def print_what_if(records: Sequence[RunRecord], others: Sequence[RunRecord], regions: Sequence[Region] = ()) -> None:
    """Print one row per what-if run: its time beside the actual one; the row of a failed run says how it ended.

    Targets are named as in *regions*.
    """
    if not others:
        return
    from scalegraph.analyze import whatif  # imports pandas
    from scalegraph.analyze.loss import place_words

    names = {f"#{region.id}": place_words(region.model_dump()) for region in regions}

    def label(variant: Variant) -> str:
        return re.sub(r"(?:region )?(#\d+)\b", lambda found: names.get(found[1], found[0]), variant.label())

    compared = whatif.compared(records, others)
    several = len({row.size for row in compared}) > 1
    rows = [
        [
            f"{row.label}: {label(row.variant)}" if several else label(row.variant),
            str(row.processors),
            si(row.time_s, "s", 4),
            si(row.actual_s, "s", 4),
            f"{significant(row.gain)} x",
            percent(row.closed_s / row.actual_s, 1),
            significant(row.speedup) if math.isfinite(row.speedup) else "–",
        ]
        for row in compared
    ]
    rows += [
        [label(record.point.variant), str(record.point.processors), record.status.replace("_", " ")]
        for record in others
        if not record.ok
    ]
    echo()
    print_rows(
        ("what if", "N", "time", "actual", "gain", "saved", "speedup"),
        rows,
        title="What would change it",
        left=(0,),
    )
