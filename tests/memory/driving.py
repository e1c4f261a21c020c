"""Builds the driver of the memory system for tests, and reads the machine values that they compute with."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scalegraph import machine
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.library import include_flags

CSRC = Path(machine.__file__).parent.parent / "runtime" / "csrc"
SOURCES = [CSRC / "start" / "sg_config.c", CSRC / "network" / "sg_calendar.c"]
SOURCES += [CSRC / "memory" / f"sg_{part}.c" for part in ("cache", "dir", "homes")]
SOURCES += [*sorted(CSRC.glob("memory/sg_mem*.c")), *sorted(CSRC.glob("network/sg_net*.c"))]
SOURCES += sorted(CSRC.glob("interconnect/sg_wire*.c"))
RUN = {"arena_bytes": 2**20, "stack_bytes": 2**16, "quantum_cycles": 1000, "result_path": "r", "blocks_path": "b"}

# Pages move all the time.
BALANCING = {"balancing.scan_delay_ms": "0.01", "balancing.scan_period_min_ms": "0.01", "balancing.scan_size_mib": "1"}
# Every shipped machine, with caches so small that lines are evicted all the time.
SMALL = {
    "ksr1": {"cache.subcache.size_kib": "1", "cache.local.size_kib": "8", "memory.page_bytes": "1024"},
    "cerberus": {"cache.cache.size_kib": "2", "coherence.exclusive_state": "true"},
    "server-2x32-inorder": {"cache.l1.size_kib": "3", "cache.l2.size_kib": "4", "cache.l3.size_kib": "60"},
    "server-8s": {"cache.l1.size_kib": "3", "cache.l2.size_kib": "4", "cache.l3.size_kib": "60"} | BALANCING,
    "a64fx": {"cache.l1.size_kib": "16", "cache.l2.size_kib": "48", "cache.l2.ways": "4"},
    "xeon-8360y": {"cache.l1.size_kib": "3", "cache.l2.size_kib": "5", "cache.l3.size_kib": "18"},
    "bus-smp": {"cache.primary.size_kib": "1", "cache.secondary.size_kib": "4"},
    "mesh-manycore": {"cache.l1.size_kib": "1", "cache.l2.size_kib": "4"},
    "convex-exemplar": {"cache.cache.size_kib": "2", "cache.network.size_kib": "8"},
    "ncube2": {"cache.memory.size_kib": "1", "nodes.processors": "8", "network.memory_busy_ns": "400"},
}


def build_driver(flags: list[str], source: Path = Path(__file__).parent / "driver.c") -> Path:
    """Return the driver compiled with *flags*, built once for each state of its sources.

    It has no sanitizers if the compiler lacks their libraries.
    """
    sources = [source, *SOURCES]
    read = [*sources, *source.parent.glob("*.h"), *CSRC.rglob("*.h")]
    contents = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(read)]
    key = hashlib.sha256("\0".join([*flags, *contents]).encode()).hexdigest()[:24]
    made = get_or_make(cache_root() / "drivers" / key, lambda where: _compile(where / "driver", flags, sources))
    return made / "driver"


def _compile(target: Path, flags: list[str], sources: Sequence[Path]) -> None:
    places = ["-I" + str(sources[0].parent), *include_flags()]
    common = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", *places, *map(str, sources), "-o", str(target)]
    gcc = os.environ.get("CC", "gcc")
    done = subprocess.run([gcc, *flags, *common], capture_output=True, text=True, check=False)
    if "cannot find" in done.stderr and "san" in done.stderr:
        plain = [flag for flag in flags if "sanitize" not in flag]
        done = subprocess.run([gcc, *plain, *common], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def text_of(values: dict[str, str], processors: int) -> str:
    """Return the configuration file of a run of a machine."""
    values = values | {f"run.{key}": str(value) for key, value in RUN.items()} | {"run.processors": str(processors)}
    return "".join(f"{key} {value}\n" for key, value in values.items())


def config_text(name: str, processors: int, overrides: dict[str, str] | None = None) -> str:
    """Return the configuration file of a run of a shipped machine."""
    return text_of(machine.load(name, overrides).runtime_config(), processors)


def network(name: str, overrides: dict[str, str] | None = None) -> dict[str, int]:
    """Return the parameters of a machine's network as the C side gets them."""
    values = machine.load(name, overrides).runtime_config()
    prefix = "machine.network."
    return {key.removeprefix(prefix): int(text) for key, text in values.items() if text.isdigit() and prefix in key}
