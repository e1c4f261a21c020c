"""The pipeline model in C: built on first use; its input and its results."""

from __future__ import annotations

import ctypes
import hashlib
import struct
import threading
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.errors import BuildError
from scalegraph.machine.model import Processor
from scalegraph.machine.timing import Pipeline
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.format import OP_CLASS_NAMES

if TYPE_CHECKING:
    from scalegraph.instrument.pipeline import Step

SOURCES: Final = Path(__file__).parent
_NAME: Final = "libscalegraph-pipeline.so"
# No fused multiply-add: sums must round alike on every computer.
_FLAGS: Final = (
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-Wall",
    "-Wextra",
)
_CLASSES: Final = 32  # as in sgp_core.h
_REGISTERS: Final = 1024
_LATENCIES: Final = frozenset(Pipeline.model_fields) & frozenset(OP_CLASS_NAMES) - {"load"}
_MIXED: Final = ("fp_add", "fp_mul", "fp_fma")
_NUMBER: Final = {name: number for number, name in enumerate(OP_CLASS_NAMES)}

_names: dict[str, int] = {"": 0}  # numbers of registers
_mutex = threading.Lock()


class Core(ctypes.Structure):
    """A processor in the form that the model reads: ``sgp_processor``."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("slot", "load", "mixed", "selecting", "comparing", "taken", "far")),
        *((name, ctypes.c_double) for name in ("status", "line", "add_on")),
        ("forward", ctypes.c_double),
        ("forward_fp", ctypes.c_double),
        ("costs", ctypes.c_double * _CLASSES),
        ("latencies", ctypes.c_double * _CLASSES),
        *((name, ctypes.c_int64) for name in ("window", "scheduler", "fp_scheduler", "load_class", "store_class")),
        *((name, ctypes.c_int64) for name in ("branch_class", "call_class", "divide_class", "root_class")),
        ("add_class", ctypes.c_int64),
        ("mixed_classes", ctypes.c_int64),
        ("fp_classes", ctypes.c_int64),
    )


class _Result(ctypes.Structure):
    _fields_ = (("numbers", ctypes.POINTER(ctypes.c_double)), ("count", ctypes.c_int64), ("room", ctypes.c_int64))


@lru_cache(maxsize=64)
def core_of(processor: Processor) -> Core:
    """Return *processor* in the form that the model reads."""
    pipeline, costs = processor.pipeline, processor.operation_cycles
    by_class = {name: float(getattr(costs, name)) for name in OP_CLASS_NAMES}
    if pipeline.select > 0:
        by_class["branch"] = pipeline.select
    return Core(
        slot=pipeline.issue or 1 / processor.issue_width,
        load=pipeline.load,
        mixed=pipeline.fp_mixed,
        selecting=pipeline.select,
        comparing=pipeline.compare,
        taken=pipeline.taken,
        far=max(pipeline.library_call - 2 * costs.call, pipeline.taken) if pipeline.library_call > 0 else 0.0,
        status=pipeline.status,
        line=pipeline.line or pipeline.taken,
        add_on=max(0.0, pipeline.fp_add_on - pipeline.fp_add),
        forward=pipeline.forward,
        forward_fp=pipeline.forward_fp,
        costs=tuple(by_class[name] for name in OP_CLASS_NAMES),
        latencies=tuple(float(getattr(pipeline, name)) if name in _LATENCIES else 0.0 for name in OP_CLASS_NAMES),
        window=pipeline.window,
        scheduler=pipeline.scheduler or pipeline.window,
        fp_scheduler=pipeline.fp_scheduler,
        load_class=_NUMBER["load"],
        store_class=_NUMBER["store"],
        branch_class=_NUMBER["branch"],
        call_class=_NUMBER["call"],
        divide_class=_NUMBER["fp_div"],
        root_class=_NUMBER["fp_sqrt"],
        add_class=_NUMBER["fp_add"],
        mixed_classes=sum(1 << _NUMBER[name] for name in _MIXED),
        fp_classes=sum(1 << number for name, number in _NUMBER.items() if name.startswith("fp_")),
    )


def packed(step: Step) -> bytes:
    """Return *step* in the form that the model reads: ``head``, and the numbers after it."""
    place, copies = step.place, step.copies
    bits = (
        step.loads,
        step.stores,
        step.selects,
        step.compares,
        step.taken,
        step.is_vector,
        place is not None,
        copies is not None,
        step.far,
        step.status,
    )
    to, source, more = copies or ("", "", 0)
    numbers = (
        sum(1 << bit for bit, is_set in enumerate(bits) if is_set),
        step.line,
        *((_register(place.base), _register(place.index), place.scale, place.offset) if place else (0, 0, 0, 0)),
        _register(to),
        _register(source),
        more,
        *map(len, (step.reads, step.writes, step.clobbers, step.work, step.sites)),
        *map(_register, (*step.reads, *step.writes, *step.clobbers)),
        *(_NUMBER[name] for name in step.work),
        *step.sites,
    )
    return struct.pack(f"d{len(numbers)}q", step.slots, *numbers)


def _register(name: str) -> int:
    number = _names.get(name)
    if number is None:
        with _mutex:
            number = _names.setdefault(name, len(_names))
        assert number < _REGISTERS
    return number


def executed(core: Core, words: bytes, lengths: Sequence[int], rounds: int, *, enters: bool) -> Iterator[float]:
    """Yield the model's results for packed steps, *words*, which form bodies of *lengths* steps: see ``report`` in C.

    Raises `BuildError` if the model does not compile, `MemoryError`.
    """
    model, result = _model(), _Result()
    count = len(lengths)
    failed = model.sgp_execute(
        ctypes.byref(core), words, (ctypes.c_int64 * count)(*lengths), count, rounds, int(enters), ctypes.byref(result)
    )
    try:
        if failed:
            raise MemoryError
        return iter(result.numbers[: result.count])
    finally:
        model.sgp_free(ctypes.byref(result))


@cache
def _model() -> Any:
    found = ctypes.CDLL(str(_library()))
    found.sgp_execute.argtypes = (
        ctypes.POINTER(Core),
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_int64),
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.c_int,
        ctypes.POINTER(_Result),
    )
    found.sgp_free.argtypes = (ctypes.POINTER(_Result),)
    return found


def _library() -> Path:
    """Return the shared library, building it if necessary."""
    compiler = find_compiler()
    files = sorted(SOURCES.glob("*.[ch]"))
    total = hashlib.sha256("\0".join([compiler.identity, *_FLAGS]).encode())
    for path in files:
        total.update(path.read_bytes())

    def make(where: Path) -> None:
        sources = [str(path) for path in files if path.suffix == ".c"]
        result = compiler.run([*_FLAGS, *sources, "-o", str(where / _NAME)])
        if result.returncode != 0:
            raise BuildError("the model of the pipeline does not compile; this is a fault of ScaleGraph", result.stderr)

    return get_or_make(cache_root() / "pipeline" / total.hexdigest()[:24], make) / _NAME
