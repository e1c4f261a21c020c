"""The host's pipeline: latencies of dependent operations, and the depth of out-of-order execution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from scalegraph.control.calibration.caches import misses_under_way

if TYPE_CHECKING:
    from scalegraph.control.calibration.derive import Origins
    from scalegraph.control.calibration.host import Host

_KEY: Final = "processor.pipeline"
# Our predictor predicts half of the branches of a repeated random pattern this many times as long as its entries.
_REMEMBERED: Final = 0.98
_HALF_FORESEEN: Final = 0.5  # share of the cost of random branches
_AROUND: Final = 32  # no-operation instructions in `status_read`
_LINES: Final = 2  # lines of code more in `call_over_lines`
_CHAIN: Final = 40  # multiplications of one of the `chains`, with as many operations beside them
_SEEN: Final = 1.2  # times the units' time, from which `chains` wait for the scheduler
_LATENCIES: Final = (  # value, chain measurement, operations of the class per step
    ("int_alu", "int_add_chain", 1),
    ("int_mul", "int_mul_chain", 1),
    ("int_div", "int_div_chain", 1),
    ("load", "load_chain", 1),
    ("forward", "forward_chain", 1),
    ("forward_fp", "forward_fp_chain", 1),
    ("fp_add", "fp_add_chain", 1),
    ("fp_mul", "fp_mul_chain", 1),
    ("fp_fma", "fp_fma_chain", 1),
    ("fp_div", "fp_div_chain", 1),
    ("fp_sqrt", "fp_sqrt_chain", 1),
    ("fp_other", "convert_chain", 1),
)


def pipeline(origins: Origins, host: Host) -> dict[str, Any]:
    """Return the section ``[processor.pipeline]``; empty if the measurements show no window.

    Only x86-64 code is modelled so far (`instrument.timed`), so other hosts get none.
    """
    window = size_of(origins, "window")
    if window == 0 or "window_16" not in origins.measured:
        return {}
    values: dict[str, Any] = {
        "window": origins.measured_as(
            f"{_KEY}.window", window, *_ends(origins, "window"), how="where two misses stop overlapping"
        ),
        "scheduler": origins.measured_as(
            f"{_KEY}.scheduler",
            min(window, size_of(origins, "scheduler") or window),
            *_ends(origins, "scheduler"),
            how="the same with dependent instructions in between, at most the window",
        ),
        "issue": origins.measured_as(f"{_KEY}.issue", round(origins.cycles(issued(origins)), 4), issued(origins)),
        "fp_mixed": origins.measured_as(f"{_KEY}.fp_mixed", round(origins.cycles("fp_mixed_free"), 3), "fp_mixed_free"),
    }
    under_way, names = misses_under_way(origins, host)
    if under_way > 0:
        how = "misses served by the last cache: the first over the difference of the second and third (hits)"
        values["misses"] = origins.measured_as(f"{_KEY}.misses", under_way, *names, how=how)
    if "select_mixed" in origins.measured:
        values["select"] = origins.measured_as(
            f"{_KEY}.select", round(origins.cycles("select_mixed"), 3), "select_mixed"
        )
        if "compare_mixed" in origins.measured:
            shared = round(max(0.0, origins.cycles("compare_mixed") - 2 * origins.cycles("select_mixed")), 3)
            how = "the first minus two of the second"
            values["compare"] = origins.measured_as(f"{_KEY}.compare", shared, "compare_mixed", "select_mixed", how=how)
    values["taken"] = origins.measured_as(f"{_KEY}.taken", round(origins.cycles("branch_taken"), 2), "branch_taken")
    values["library_call"] = origins.measured_as(
        f"{_KEY}.library_call", round(origins.cycles("library_call"), 2), "library_call"
    )
    values |= _fetched(origins) | _own_scheduler(origins, window)
    if "status_read" in origins.measured:
        besides = max(0.0, origins.cycles("status_read") - _AROUND * origins.cycles("no_operation"))
        how = f"the first minus {_AROUND} of the second"
        values["status"] = origins.measured_as(
            f"{_KEY}.status", round(besides, 2), "status_read", "no_operation", how=how
        )
    for name, measured, count in _LATENCIES:
        if measured in origins.measured:
            values[name] = origins.measured_as(f"{_KEY}.{name}", round(origins.cycles(measured) / count, 2), measured)
        else:
            both = values["fp_mul"] + values["fp_add"]
            values[name] = origins.note(
                f"{_KEY}.{name}", both, "estimate: multiply and add, as the processor has no FMA"
            )
    if "add_multiply_chain" in origins.measured:
        on = round(max(values["fp_add"], origins.cycles("add_multiply_chain") - origins.cycles("fp_mul_chain")), 2)
        names, how = ("add_multiply_chain", "fp_mul_chain"), "the first minus the second"
        values["fp_add_on"] = origins.measured_as(f"{_KEY}.fp_add_on", on, *names, how=how)
    return values


def _fetched(origins: Origins) -> dict[str, float]:
    """Return what prediction needs for the next line of code; nothing if it was not measured."""
    names = "call_over_lines", "call_to_line"
    if not set(names) <= origins.measured.keys():
        return {}
    each = round(max(0.01, (origins.cycles(names[0]) - origins.cycles(names[1])) / _LINES), 2)
    how = f"the difference of a call over {_LINES} lines of code and of one to a line, for each"
    return {"line": origins.measured_as(f"{_KEY}.line", each, *names, how=how)}


def _own_scheduler(origins: Origins, window: int) -> dict[str, int]:
    """Return the size of a scheduler of floating-point operations; nothing if the measurement shows none.

    A chain's operations wait for half of its time on average. So a scheduler of that many operations has as many chains
    under way as fit into twice its size, and the one that ends.
    """
    if "chains" not in origins.measured:
        return {}
    count = 2 * _CHAIN
    alone, taken = _CHAIN * origins.cycles("fp_mul_chain"), origins.cycles("chains")
    busy = _CHAIN * 1.5 * origins.cycles("fp_mul_free")
    size = round((alone / taken - 1) * count / 2)
    if taken < _SEEN * busy or not 0 < size < window:
        return {}
    how = f"{2 * size} operations of such chains are under way beside one that takes {round(alone)} cycles alone"
    return {"fp_scheduler": origins.measured_as(f"{_KEY}.fp_scheduler", size, "chains", "fp_mul_chain", how=how)}


def issued(origins: Origins) -> str:
    """Return the measurement that gives the issue cost of instructions without a unit: the slower one.

    No-operations are too fast if pairs of them are issued as one.
    """
    known = [name for name in ("no_operation", "clear_register") if name in origins.measured]
    return max(known, key=origins.cycles)


def _ends(origins: Origins, kind: str) -> tuple[str, str]:
    numbered = origins.numbered(kind)
    return f"{kind}_{numbered[0][0]}", f"{kind}_{numbered[-1][0]}"


def size_of(origins: Origins, kind: str) -> int:
    """Return the number of instructions between two misses that still overlap; 0 if not observed.

    The time of overlapping misses is known from the smallest distances: beyond 1.5 times that, the second miss waits
    for the first.
    """
    numbered = origins.numbered(kind)
    if not numbered:
        return 0
    alone = sorted(ns for _, ns in numbered[: max(1, len(numbered) // 4)])
    limit = 1.5 * alone[len(alone) // 2]
    within, before = 0, 0.0
    for number, ns in numbered:
        if ns > limit:
            return round(within + (number - within) * (limit - before) / (ns - before)) if within else 0
        within, before = number, ns
    return within


def branches(origins: Origins) -> dict[str, Any]:
    """Return the section ``[branches]``: the extra cost of a random branch over a constant one.

    The number of entries is what our predictor needs (`_REMEMBERED`) to predict a repeated random pattern as well as
    the host does. Its tables are powers of two.
    """
    never, random = (origins.cycles(name) for name in ("branch_never", "branch_random"))
    penalty = round(2 * (random - never))  # every second one is mispredicted
    if penalty <= 0:
        return {}
    key = "branches"
    periods = origins.numbered("branch_period")
    shares = [(period, (ns * origins.clock_ghz - never) / (random - never)) for period, ns in periods]
    known = [period for period, share in shares if share < _HALF_FORESEEN]
    values: dict[str, Any] = {
        "penalty_cycles": origins.measured_as(
            f"{key}.penalty_cycles", penalty, "branch_random", "branch_never", how="twice the difference"
        )
    }
    if known:
        longest, names = _longest(shares, known[-1])
        values["entries"] = origins.measured_as(
            f"{key}.entries",
            max(64, 2 ** round(math.log2(longest / _REMEMBERED))),
            *names,
            how=f"half of the branches of a random pattern of {round(longest)} are predicted, as with so many entries",
        )
    apart = _apart(origins, penalty / origins.clock_ghz)
    if apart:
        values["history"] = origins.measured_as(
            f"{key}.history",
            apart,
            f"agree_random_{apart}",
            f"agree_never_{apart}",
            how="taken jumps over which a branch correlates with an equal earlier one",
        )
    return values


def _longest(shares: Sequence[tuple[int, float]], known: int) -> tuple[float, list[str]]:
    """Return the length of a pattern with half of its branches predicted, and the measurements behind it.

    *shares*: of the cost of random branches, by length of the pattern; *known*: the longest that costs less than half.
    """
    beyond = [(period, share) for period, share in shares if period > known]
    if not beyond:
        return known, [f"branch_period_{known}"]
    below, (period, above) = dict(shares)[known], beyond[0]
    part = (_HALF_FORESEEN - below) / (above - below)
    return known * (period / known) ** part, [f"branch_period_{known}", f"branch_period_{period}"]


def _apart(origins: Origins, penalty_ns: float) -> int:
    """Return the largest number of jumps over which the second of two equal random branches is usually predicted."""
    apart = 0
    for number, random in origins.numbered("agree_random"):
        never = origins.measured[f"agree_never_{number}"].median
        if random - never < 0.75 * penalty_ns:
            apart = number
    return apart
