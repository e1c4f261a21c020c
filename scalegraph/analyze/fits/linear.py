"""Weighted least squares of many small systems at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scalegraph.analyze.fits.noise import Flags, Floats, sizes

# A design whose columns are linearly dependent up to this tolerance is not solved.
_DEPENDENT = 1e-7


@dataclass(frozen=True)
class Solution:
    """Solutions of a stack of systems.

    *theta* (.., columns); *inverse* (.., columns, columns) is (X' W X)^-1; *squares* (..) is the weighted sum of
    squared residuals; *residual* and *leverage* (.., points); *valid* (..) is false if columns are linearly dependent
    or there are fewer points than columns (then *squares* is infinite).
    """

    theta: Floats
    inverse: Floats
    squares: Floats
    residual: Floats
    leverage: Floats
    valid: Flags


def solve(design: Floats, y: Floats, weight: Floats) -> Solution:
    """Return the weighted least-squares solutions.

    *design* (.., points, columns), *y* and *weight* (.., points); leading axes broadcast. Points of weight 0 do not
    count. Solved by QR with scaled columns, so that p^3 next to a constant keeps its precision.

    Shape: coefficients (.., columns), residuals (.., points). Unit: that of *y*. Source: QR least squares.
    """
    points, columns = design.shape[-2:]
    if points < columns:
        # pad with empty points: the decomposition needs as many rows as columns
        def longer(a: Floats, axis: int) -> Floats:
            return np.concatenate([a, np.zeros_like(np.take(a, [0] * (columns - points), axis=axis))], axis=axis)

        found = solve(longer(design, -2), longer(y, -1), longer(weight, -1))
        return replace(found, residual=found.residual[..., :points], leverage=found.leverage[..., :points])
    root = np.sqrt(weight)
    x = design * root[..., None]
    length = np.sqrt((x**2).sum(axis=-2))
    length = np.where(length > 0, length, 1.0)
    shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-1])
    x = np.broadcast_to(x / length[..., None, :], shape + x.shape[-2:])
    q, r = np.linalg.qr(x)
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    valid = np.asarray((diagonal > _DEPENDENT).all(axis=-1) & ((weight > 0).sum(axis=-1) >= columns))
    safe = np.where(valid[..., None, None], r, np.eye(columns))
    inverse_r = np.linalg.inv(safe)
    target = np.broadcast_to(y * root, (*shape, y.shape[-1]))
    projected = np.einsum("...pc,...p->...c", q, target)
    theta = np.einsum("...cd,...d->...c", inverse_r, projected) / length
    inverse = np.einsum("...ce,...de->...cd", inverse_r, inverse_r) / (length[..., :, None] * length[..., None, :])
    fitted = np.einsum("...pc,...c->...p", design, theta)
    residual = y - fitted
    squares = np.where(valid, (weight * residual**2).sum(axis=-1), np.inf)
    leverage = np.minimum((q**2).sum(axis=-1), 1.0)
    return Solution(theta, inverse, squares, residual, leverage, valid)


def left_out_error(solution: Solution, y: Floats, weight: Floats) -> Floats:
    """Return the mean relative leave-one-out error, from residuals and leverages.

    A point without which the law is undetermined (leverage 1) counts with an error of 100 %, a point negligible beside
    the largest with none.

    Shape: (..,). Unit: none (relative). Source: PRESS (Allen 1974).
    """
    rest = 1.0 - solution.leverage
    alone = rest < 1e-9
    error = np.abs(solution.residual) / np.where(alone, 1.0, rest)
    size, known = sizes(y)
    relative = np.where(alone, 1.0, np.where(known, error, 0.0) / size)
    counted = weight > 0
    return np.asarray((relative * counted).sum(axis=-1) / np.maximum(counted.sum(axis=-1), 1))
