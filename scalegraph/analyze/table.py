"""The run table in order: which runs count, which belong to the same problem, and repetitions condensed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.base.errors import InputError
from scalegraph.base.run import RUN_SCALARS
from scalegraph.base.units import assigned

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

PARAMETER = "param."
_ORIGIN = ("source", "program", "machine")
_NAMED = 2  # with more parameters, labels of measurements leave out constant ones
_NEEDED = ("processors", "time_s")
_SHORTEST_S = 1e-18  # no real run is shorter; ratios to such times would overflow
# Columns that a run may lack: the analysis then uses a column of NaN instead of failing.
_OPTIONAL = (*(name for name in RUN_SCALARS if name not in _NEEDED), "clock_hz", "memory_bytes")


def parameter_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that hold parameters of the program (``param.*``).

    Shape: one entry for each parameter. Source: ScaleGraph.
    """
    return [str(name) for name in table.columns if str(name).startswith(PARAMETER)]


def numbers(table: pd.DataFrame, column: str) -> Floats:
    """Return *column* as floats, shape (rows,); NaN if it is missing or empty.

    Unit: that of *column*. Source: ScaleGraph.
    """
    if column not in table.columns:
        return np.full(len(table), np.nan)
    values = table[column]
    if values.dtype == np.float64:
        return values.to_numpy(copy=True)
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def category_cycles(table: pd.DataFrame, name: str) -> Floats:
    """Return the cycles of category *name*, shape (rows,), summed over processors.

    A category that a run does not list is 0 if the listed ones add up to all of its processor time (to one part in a
    million), and NaN otherwise, as something is unknown.

    Unit: cycles. Source: ScaleGraph.
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
    """Return a copy with only the successful runs that have a time.

    Shape: (runs that count, columns). Unit: as in `RunRecord.row`. Source: ScaleGraph.

    Raises:
        InputError: ``processors`` or ``time_s`` is not a column of a non-empty table.

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
    (column ``problem``) and a ``label``. The median by time is a whole run (for an even number the mean of the middle
    two), so that sums over processors still add up to N T_para. Added columns: ``repetitions``, ``time_min_s``,
    ``time_max_s`` (s; of an estimated run the ends of its 95 % interval), ``keys`` (run keys, comma-separated).

    Shape: one row for each problem and count. Unit: as in `RunRecord.row`. Raises `InputError` as
    `usable`. Source: ScaleGraph.
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
    good["label"] = [parameter_label(row) for row in good[_telling(good)].to_dict("records")]
    good["repetitions"] = 1
    error = np.nan_to_num(numbers(good, "time_error"))
    good["time_min_s"] = good["time_s"] * np.maximum(1 - error, 0.0)
    good["time_max_s"] = good["time_s"] * (1 + error)
    good["keys"] = good["key"].astype(str)
    repeated = good.duplicated(["problem", "processors"], keep=False)
    if bool(repeated.any()):
        good = pd.concat([good[~repeated], _medians(good[repeated])], ignore_index=True)
    return good.sort_values(["problem", "processors"], kind="stable").reset_index(drop=True)


def _telling(rows: pd.DataFrame) -> list[str]:
    """Return the parameters named in labels: all, or for measurements with many only those that vary."""
    names = parameter_columns(rows)
    if len(names) <= _NAMED or "source" not in rows.columns or (rows["source"] != "imported").any():
        return names
    return [name for name in names if not (rows[name] == rows[name].iloc[0]).all()]


def _medians(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per problem and processor count of *rows*: the median run, with statistics of its repetitions."""
    place = ["problem", "processors"]
    ordered = rows.sort_values([*place, "time_s"], kind="stable").reset_index(drop=True)
    groups = ordered.groupby(place, sort=False)
    rank, count = groups.cumcount(), groups["time_s"].transform("size")
    made = ordered[rank == (count - 1) // 2].set_index(place)
    upper = ordered[rank == count // 2].set_index(place)
    even = (count[rank == 0] % 2 == 0).to_numpy()
    if even.any():
        kept = {*parameter_columns(rows), "repetition"}
        names = [str(name) for name in made.select_dtypes("number").columns if name not in kept]
        one, two = (part[names].to_numpy(dtype=np.float64, na_value=np.nan) for part in (made, upper))
        means = pd.DataFrame(np.where(even[:, None], one / 2 + two / 2, one), index=made.index, columns=pd.Index(names))
        made = pd.concat([made.drop(columns=names), means], axis=1)
    for name, found in (
        ("repetitions", groups["time_s"].size()),
        ("time_min_s", groups["time_s"].min()),
        ("time_max_s", groups["time_s"].max()),
        ("keys", groups["key"].agg(lambda keys: ",".join(keys.astype(str)))),
    ):
        made[name] = found.reindex(made.index)
    return made.reset_index()[list(rows.columns)]


def parameter_label(row: Mapping[Any, Any]) -> str:
    """Return the parameters of a row as text: ``balls = 200, steps = 40``, without missing ones.

    Source: ScaleGraph.
    """
    return assigned(
        (str(name)[len(PARAMETER) :], value)
        for name, value in row.items()
        if str(name).startswith(PARAMETER) and not pd.isna(value)
    )
