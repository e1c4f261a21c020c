"""Series of runs that belong together: a study mixes fixed sizes, searches and bounds in one table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from scalegraph.analyze.table import PARAMETER, numbers, parameter_columns


@dataclass(frozen=True)
class Series:
    """Rows of `metrics.scaling` that form one curve, in the order of *axis*."""

    rows: pd.DataFrame
    label: str
    axis: str  # "processors", or the parameter that grows

    @property
    def processors(self) -> tuple[int, ...]:
        """Processor counts, ascending and without repeats.

        Shape: (counts,). Unit: processors. Source: ScaleGraph.
        """
        return tuple(sorted({int(n) for n in self.rows["processors"]}))


def fixed_size(scaling: pd.DataFrame) -> list[Series]:
    """Return the problems run on two or more processor counts (Scaling Method I), richest first.

    Richest: most processor counts; then with a one-processor run; then the largest problem.

    Shape: one entry for each problem. Source: scale-graph.txt 5.3 (Scaling Method I).
    """
    return [_fixed(rows) for rows in _richest(scaling)]


def _richest(scaling: pd.DataFrame) -> list[pd.DataFrame]:
    found: list[tuple[tuple[int, bool, float], pd.DataFrame]] = []
    for _, rows in scaling.groupby("problem", sort=True):
        count = int(rows["processors"].nunique())
        if count >= 2:
            work = float(pd.Series(numbers(rows, "work")).max())
            has_one = bool((rows["processors"] == 1).any())
            found.append(((count, has_one, -1.0 if math.isnan(work) else work), rows))
    return [rows for _, rows in sorted(found, key=lambda item: item[0], reverse=True)]


def _fixed(rows: pd.DataFrame) -> Series:
    return Series(rows.sort_values("processors").reset_index(drop=True), str(rows["label"].iloc[0]), "processors")


def one_program(scaling: pd.DataFrame, like: Series | None) -> tuple[pd.DataFrame, str]:
    """Return the rows of one program, that of *like*, and a sentence if *scaling* has other programs.

    Runs that differ in a text (``compiler = gcc``) are of different programs: sizes of one say nothing about another.

    Shape: (rows kept, the sentence). Unit: none. Source: ScaleGraph.
    """
    texts = [name for name in parameter_columns(scaling) if _distinguishes(scaling, name, like)]
    if not texts:
        return scaling, ""
    first = scaling.iloc[0] if like is None else like.rows.iloc[0]
    same = (scaling[texts].astype(str) == first[texts].astype(str)).all(axis=1)
    labels = scaling[texts].astype(str).agg(", ".join, axis=1)
    names = ", ".join(f"{name.removeprefix(PARAMETER)} = {first[name]}" for name in texts)
    others = "; ".join(dict.fromkeys(labels[~same]))
    return scaling[same], f"Sizes are compared within one program, {names}; the study has {others} as well."


def _distinguishes(scaling: pd.DataFrame, name: str, like: Series | None) -> bool:
    """Return whether *name* is a text of which every program has its own: one such as ``2x4`` changes with N."""
    told = scaling[name].dropna()
    if len(set(told)) < 2 or not pd.to_numeric(told, errors="coerce").isna().any():
        return False
    if like is not None:
        return len(set(like.rows[name])) == 1
    return bool(scaling.groupby(name)["processors"].nunique().min() > 1)


def main_series(scaling: pd.DataFrame, problem: int | None = None) -> Series | None:
    """Return the fixed-size series of *problem*, or the richest; ``None`` if no problem ran on two counts.

    Shape: one row for each count. Source: as of `fixed_size`.
    """
    candidates = _richest(scaling)
    if problem is not None:
        candidates = [rows for rows in candidates if int(rows["problem"].iloc[0]) == problem]
    return _fixed(candidates[0]) if candidates else None


def sequential(scaling: pd.DataFrame, processors: int = 1) -> list[Series]:
    """Return runs on *processors* as series over the size (Scaling Methods II to IV), longest first.

    One series for every parameter that varies while all others are constant (Methods II and III), and one of sizes in
    which several parameters grow together (Method IV), ordered by work. Series of fewer than two sizes are left out.

    Shape: one entry for each series. Source: scale-graph.txt 5.3 (Scaling Methods II to IV).
    """
    rows = scaling[scaling["processors"] == processors]
    names = [name for name in parameter_columns(rows) if pd.to_numeric(rows[name], errors="coerce").notna().all()]
    varying = [name for name in names if len(set(rows[name])) > 1]
    found: list[Series] = []
    for name in varying:
        others = [other for other in parameter_columns(rows) if other != name]
        groups = rows.groupby(others, dropna=False, sort=False) if others else [((), rows)]
        for _, part in groups:
            if part[name].nunique() >= 2:
                ordered = part.assign(**{name: pd.to_numeric(part[name])}).sort_values(name)
                found.append(Series(ordered.reset_index(drop=True), f"{name.removeprefix('param.')} grows", name))
    together = _diagonal(rows, varying)
    if together is not None:
        found.append(together)
    return sorted(found, key=lambda series: -len(series.rows))


def _diagonal(rows: pd.DataFrame, varying: list[str]) -> Series | None:
    """Return the longest chain of sizes in which all of *varying* grow strictly (Scaling Method IV)."""
    if len(varying) < 2:
        return None
    ordered = rows.assign(**{name: pd.to_numeric(rows[name]) for name in varying}).sort_values(varying)
    sizes = [tuple(float(value) for value in row) for row in ordered[varying].itertuples(index=False)]
    best: list[list[int]] = []
    for index, size in enumerate(sizes):
        before = [best[j] for j in range(index) if all(a < b for a, b in zip(sizes[j], size, strict=True))]
        best.append([*max(before, key=len, default=[]), index])
    longest = max(best, key=len, default=[])
    if len(longest) < 2:
        return None
    words = " and ".join(name.removeprefix("param.") for name in varying)
    return Series(ordered.iloc[longest].reset_index(drop=True), f"{words} grow", varying[0])
