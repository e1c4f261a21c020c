"""Processor timing beyond the cost of operations: pipeline, branches, address translation.

Everything here is off unless a machine file specifies it: then blocks cost what `Operations` says, and branches and
address translation nothing.
"""

from __future__ import annotations

from typing import Any, Final

from scalegraph.machine.fields import Given, Section, quantity, same

_CYCLES: Final = "cycles"


def _latency(description: str) -> Any:
    """Declare a latency in cycles; it is not passed to the runtime, which gets the cost of blocks instead."""
    return quantity(description, _CYCLES, 0, 100_000, default=0.0, runtime=())


class Pipeline(Section):
    """How an out-of-order processor overlaps operations: each waits for its operands as well as for a unit.

    With a window, a block costs what its instructions take in a steady loop (instrument.pipeline has the model); the
    values below are latencies: from an operation's operands to its result.
    """

    window: int = quantity(
        "Instructions in flight at a time (reorder buffer); 0: latencies cost nothing.",
        "instructions",
        0,
        100_000,
        default=0,
        runtime=(Given("pipeline_window", same, 0, 100_000),),
    )
    scheduler: int = quantity(
        "How many of them may wait for their operands (scheduler); 0: as many as the window holds.",
        "instructions",
        0,
        100_000,
        default=0,
        runtime=(),
    )
    fp_scheduler: int = quantity(
        "How many floating-point operations may wait for their operands, in a scheduler of their own; 0: they share "
        "`scheduler`.",
        "instructions",
        0,
        100_000,
        default=0,
        runtime=(),
    )
    issue: float = quantity(
        "Time between the issue of two instructions; 0: given by issue_width.",
        _CYCLES,
        0,
        100,
        default=0.0,
        runtime=(),
    )
    fp_mixed: float = quantity(
        "Cost of a floating-point addition or multiplication when the two are mixed; 0: separate units.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    select: float = quantity(
        "Cost of a branch, conditional move, set by flags or shift, which share units; 0: the cost of their class.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    compare: float = quantity(
        "Time that a floating-point comparison that sets flags takes from the units of `select`.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    taken: float = quantity(
        "Minimum time from a taken jump to the next one, or to the next line of code, due to the fetch.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    library_call: float = quantity(
        "Time for a call of a shared-library function and its return in branch prediction; 0: no longer than the "
        "fetch.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    line: float = quantity(
        "Time of the next line of code in branch prediction, with `library_call`; 0: `taken`.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    status: float = quantity(
        "Reading the floating-point status; nothing else is issued meanwhile.",
        _CYCLES,
        0,
        100_000,
        default=0.0,
        runtime=(),
    )
    misses: int = quantity(
        "Outstanding misses of the first cache level; 0: given by memory_parallelism.",
        "misses",
        0,
        64,
        default=0,
        runtime=(Given("pipeline_misses", same, 0, 64),),
    )
    int_alu: float = _latency("Integer add, logic, shift, compare, address arithmetic.")
    int_mul: float = _latency("Integer multiply.")
    int_div: float = _latency("Integer divide.")
    load: float = _latency("A load that hits the first cache level, from its address.")
    forward: float = _latency("Store-to-load forwarding to a general register, from the store's value.")
    forward_fp: float = _latency("The same to a floating-point register.")
    fp_add: float = _latency("Floating-point add, subtract, compare, minimum, maximum.")
    fp_add_on: float = _latency("The result of an addition to operations that are no additions; 0: `fp_add`.")
    fp_mul: float = _latency("Floating-point multiply.")
    fp_fma: float = _latency("Fused multiply-add.")
    fp_div: float = _latency("Floating-point divide.")
    fp_sqrt: float = _latency("Floating-point square root.")
    fp_other: float = _latency("Floating-point conversion and other operations.")

    @property
    def is_given(self) -> bool:
        """Whether block costs come from the pipeline model."""
        return self.window > 0


class Translation(Section):
    """Address translation: the number of TLB entries, and the cost of a miss.

    Replacement is LRU. References that miss the first cache level are looked up; hits there are assumed to have their
    pages in the TLB.
    """

    walk_cycles: int = quantity(
        "Extra time of a reference that misses in the TLB; 0: translation costs nothing.",
        _CYCLES,
        0,
        100_000,
        default=0,
        runtime=(Given("translation_walk_cycles", same, 0, 100_000),),
    )
    entries: int = quantity(
        "Entries of a processor's TLB: a power of two.",
        "pages",
        16,
        2**20,
        default=1024,
        runtime=(Given("translation_entries", same, 16, 2**20),),
    )


class Branches(Section):
    """Branch prediction: the predictor's size, and the misprediction penalty.

    The predictor is a TAGE with four tables (runtime/csrc/pipeline/sg_predictor.c), one per processor.
    """

    penalty_cycles: int = quantity(
        "Extra time of a mispredicted branch; 0: all branches are predicted.",
        _CYCLES,
        0,
        10_000,
        default=0,
        runtime=(Given("branches_penalty_cycles", same, 0, 10_000),),
    )
    entries: int = quantity(
        "Entries of the predictor's tables, all together.",
        "entries",
        64,
        2**22,
        default=4096,
        runtime=(Given("branches_entries", same, 64, 2**22),),
    )
    history: int = quantity(
        "Maximum number of previous branches that a prediction depends on.",
        "branches",
        4,
        1024,
        default=256,
        runtime=(Given("branches_history", same, 4, 1024),),
    )
