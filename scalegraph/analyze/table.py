"""The run table put in order: which runs count, which belong to the same problem, repetitions condensed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.base.errors import InputError
from scalegraph.base.run import RUN_SCALARS
from scalegraph.base.units import significant

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

PARAMETER = "param."
_ORIGIN = ("source", "program", "machine")
_NEEDED = ("processors", "time_s")
_SHORTEST_S = 1e-18  # no machine runs anything in less; ratios to such times would overflow
# Columns that a run may lack: analysis then gets a column of NaN, never an error.
_OPTIONAL = (*(name for name in RUN_SCALARS if name not in _NEEDED), "clock_hz", "memory_bytes")


def parameter_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that hold parameters of the program (``param.*``)."""
    return [str(name) for name in table.columns if str(name).startswith(PARAMETER)]


def numbers(table: pd.DataFrame, column: str) -> Floats:
    """Return *column* as floats, shape (rows,); NaN where it is missing or absent."""
    if column not in table.columns:
        return np.full(len(table), np.nan)
    return pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def leaf(table: pd.DataFrame, name: str) -> Floats:
    """Return the cycles of leaf *name*, shape (rows,), summed over processors.

    A leaf that a run does not name is 0 where the leaves it does name already add up to all of its processor time
    (to one part in a million), and NaN otherwise: then something is not known.
    """
    values = numbers(table, f"leaf.{name}")
    absent = np.isnan(values)
    if absent.any():
        named = [numbers(table, str(column)) for column in table.columns if str(column).startswith("leaf.")]
        if named:
            known = np.nansum(named, axis=0)
            total = numbers(table, "processors") * numbers(table, "time_s") * numbers(table, "clock_hz")
            values = np.where(absent & (np.abs(known - total) <= 1e-6 * total), 0.0, values)
    return values


def usable(table: pd.DataFrame) -> pd.DataFrame:
    """Return a copy with only the runs that ended well and have a time.

    Raises:
        InputError: ``processors`` or ``time_s`` is not a column of a table that has rows.

    """
    if table.empty:
        return pd.DataFrame(columns=pd.Index([*_NEEDED, "key", "repetition"]))
    missing = [name for name in _NEEDED if name not in table.columns]
    if missing:
        raise InputError(f"the run table has no column {' and no column '.join(missing)}")
    time = numbers(table, "time_s")
    good = np.isfinite(time) & (time > _SHORTEST_S)
    if "status" in table.columns:
        good &= (table["status"] == "ok").to_numpy()
    return table.loc[good].reset_index(drop=True)


def problems(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per problem and processor count, repetitions condensed to the median run.

    A *problem* is a set of equal ``param.*`` values of one program on one machine from one source; it gets a number
    (column ``problem``) and a ``label``. The median is taken by time and keeps a whole run (for an even number the
    mean of the two in the middle), so that sums over processors still add up to N T_para. Added columns:
    ``repetitions``, ``time_min_s``, ``time_max_s`` (s), ``keys`` (run keys, comma-separated).
    """
    good = usable(table)
    for name in _OPTIONAL:
        if name not in good.columns:
            good[name] = np.nan
    if good.empty:
        extra = ("problem", "label", "repetitions", "time_min_s", "time_max_s", "keys")
        return good.assign(**{name: pd.Series(dtype=object) for name in extra})
    if "key" not in good.columns:
        good["key"] = [str(index) for index in range(len(good))]
    by = [name for name in _ORIGIN if name in good.columns] + parameter_columns(good)
    good["problem"] = good.groupby(by, dropna=False, sort=False).ngroup() if by else 0
    good["label"] = [parameter_label(row) for row in good[parameter_columns(good)].to_dict("records")]
    good["repetitions"] = 1
    good["time_min_s"] = good["time_max_s"] = good["time_s"]
    good["keys"] = good["key"].astype(str)
    repeated = good.duplicated(["problem", "processors"], keep=False)
    if bool(repeated.any()):
        condensed = [_median(part) for _, part in good[repeated].groupby(["problem", "processors"], sort=False)]
        good = pd.concat([good[~repeated], *condensed], ignore_index=True)
    return good.sort_values(["problem", "processors"], kind="stable").reset_index(drop=True)


def _median(part: pd.DataFrame) -> pd.DataFrame:
    ordered = part.sort_values("time_s", kind="stable")
    count = len(ordered)
    middle = ordered.iloc[(count - 1) // 2 : count // 2 + 1]
    row = middle.iloc[[0]].copy()
    parameters = set(parameter_columns(part))
    if len(middle) == 2:
        for name in middle.select_dtypes("number").columns:
            if name not in parameters and name not in ("problem", "processors", "repetition"):
                row[name] = [float(middle[name].mean(skipna=False))]
    row["repetitions"] = count
    row["time_min_s"] = float(ordered["time_s"].min())
    row["time_max_s"] = float(ordered["time_s"].max())
    row["keys"] = ",".join(ordered["key"].astype(str))
    return row


def parameter_label(row: Mapping[Any, Any]) -> str:
    """Return the parameters of a row for people: ``balls = 200, steps = 40``; missing ones are left out."""
    parts = []
    for name, value in row.items():
        if str(name).startswith(PARAMETER) and not pd.isna(value):
            text = significant(value, 6) if isinstance(value, float) and not value.is_integer() else _plain(value)
            parts.append(f"{str(name)[len(PARAMETER) :]} = {text}")
    return ", ".join(parts)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) else str(value)
