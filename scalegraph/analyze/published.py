"""Published scalability matrices: from a measurement set to a `Matrix`, with missing products filled in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import cast, get_args

from scalegraph.analyze.bounds import BOUNDS
from scalegraph.analyze.matrix import Matrix, Metric
from scalegraph.measurements.model import MeasurementSet

PAIR = ("N", "N'")


def matrix_of(measured: MeasurementSet) -> Matrix | None:
    """Return the matrix in *measured*, ``None`` if it holds something else.

    A matrix has the parameters N and N' and one metric, named after the metric of the matrix, whose description gives
    the bound (``speed = 850000``). Missing cells that are products of others are filled in (`filled`).

    Shape: (counts, counts). Unit: none (ratio). Source: ScaleGraph.
    """
    if measured.parameters != PAIR or len(measured.metrics) != 1:
        return None
    metric = measured.metrics[0]
    bound, _, held = metric.description.partition(" = ")
    if metric.name not in get_args(Metric) or bound not in BOUNDS:
        return None
    values = {}
    table = measured.values
    for point, value in zip(table["point"], table["value"], strict=True):
        n, n2 = (int(measured.points[name].iloc[int(point)]) for name in PAIR)
        values[(n, n2)] = float(value)
    processors = tuple(sorted({n for pair in values for n in pair}))
    made = Matrix(
        cast("Metric", metric.name),
        bound,
        float(held),
        processors,
        values,
        dict.fromkeys(values, "imported"),
        work_unit="flop" if metric.name == "isospeed" else "op",
    )
    return filled(made)


def filled(matrix: Matrix) -> Matrix:
    """Return *matrix* with missing cells set to products of neighbours (isospeed.txt Table III), as ``computed``.

    value(N, N'') = value(N, N') value(N', N''); the diagonal is 1.

    Shape: (counts, counts). Unit: none (ratio). Source: as named above.
    """
    values, ways, reasons = dict(matrix.values), dict(matrix.ways), dict(matrix.reasons)
    for i, n in enumerate(matrix.processors):
        for j in range(i, len(matrix.processors)):
            pair = (n, matrix.processors[j])
            if pair in values:
                continue
            product = 1.0
            for step in pairwise(matrix.processors[i : j + 1]):
                factor = matrix.values.get(step)
                if factor is None:
                    reasons[pair] = f"neither given, nor is the value from {step[0]} to {step[1]}"
                    break
                product *= factor
            else:
                values[pair], ways[pair] = product, "computed"
                reasons.pop(pair, None)
    return replace(matrix, values=values, ways=ways, reasons=reasons)
