"""The one specification of everything that Python and the C runtime exchange.

Names in this file are the only source: ``csrc/sg_format.h`` is generated from it
(``python -m scalegraph.runtime.format > csrc/sg_format.h``) and a test fails when the
committed header differs from what this module would write.

Three files cross the border:

* the *configuration* (Python writes, C reads): text, one ``key value`` pair a line;
* the *block table* (Python writes, C reads): what every basic block of the program costs;
* the *result* (C writes, Python reads): header, section directory, sections of fixed records.

All binary values are little-endian. A reader refuses a wrong magic, a newer version or a
foreign byte order with a sentence, it never guesses.
"""

from __future__ import annotations

import sys
from typing import Final, TextIO

import numpy as np

VERSION: Final = 1
RESULT_MAGIC: Final = b"SGRESULT"
BLOCKS_MAGIC: Final = b"SGBLOCKS"
ENDIAN_MARK: Final = 0x01020304

# Leaves of the accounting identity: every cycle of every processor falls into exactly one.
# (name, group, what it counts). Groups are the four quantities of the run table.
LEAVES: Final[tuple[tuple[str, str, str], ...]] = (
    ("busy_int", "busy", "integer, address and logical operations"),
    ("busy_fp", "busy", "floating-point operations"),
    ("busy_mem", "busy", "issue of loads and stores that hit the first cache level"),
    ("busy_control", "busy", "branches, calls and returns"),
    ("stall_local", "memory_stall", "miss of the first level served by a cache or memory of the own node"),
    ("stall_remote_read", "memory_stall", "read served over the network"),
    ("stall_remote_write", "memory_stall", "write served over the network"),
    ("stall_upgrade", "memory_stall", "ownership of a line already held: other copies invalidated"),
    ("stall_page", "memory_stall", "page miss: first touch of a page"),
    ("stall_contention", "memory_stall", "waiting for a ring slot, link, directory or memory module"),
    ("idle_not_started", "idle", "before the processor's first parallel region"),
    ("idle_finished", "idle", "after the processor's last work until the program ends"),
    ("idle_serial", "idle", "no thread to run: between parallel regions, after a thread's end"),
    ("idle_barrier", "idle", "waiting at a barrier for the others"),
    ("idle_lock", "idle", "waiting for a lock or critical section held by another"),
    ("idle_order", "idle", "waiting for its turn: ordered, single copyprivate, sections"),
    ("idle_task", "idle", "waiting for tasks"),
    ("idle_message", "idle", "waiting for a message"),
    ("prim_fork_join", "primitive", "starting and ending a parallel region"),
    ("prim_barrier", "primitive", "executing the barrier itself"),
    ("prim_lock", "primitive", "acquiring and releasing a lock or critical section"),
    ("prim_atomic", "primitive", "atomic operations"),
    ("prim_schedule", "primitive", "obtaining loop chunks, sections and single"),
    ("prim_task", "primitive", "creating and dispatching tasks"),
    ("prim_message", "primitive", "sending and receiving messages"),
    ("prim_thread", "primitive", "creating, ending and switching threads"),
    ("idle_wait", "idle", "waiting for a signal: condition variable, semaphore, futex, join, sleep"),
)

# Event counts kept beside the leaves, for every processor and region.
# References are those of the program (one for each access, one for each 8-byte word of a bulk operation of the C
# library, one more for each further line that an access spans; a read-modify-write is a read and a write) and those
# that the simulated runtime makes for the program's barriers, locks, forks and loop chunks: they miss like any other.
# So misses <= reads + writes in every account, and references = reads + writes.
COUNTERS: Final[tuple[tuple[str, str], ...]] = (
    ("ops", "executed operations of the program (W of the papers)"),
    ("flops", "floating-point operations, lanes of vector operations counted singly"),
    ("reads", "read references, the simulated runtime's own included"),
    ("writes", "write references, the simulated runtime's own included"),
    ("l1_misses", "references that miss the first cache level"),
    ("misses", "references that leave the private caches (coherent misses and upgrades)"),
    ("remote_reads", "reads served over the network"),
    ("remote_writes", "writes served over the network"),
    ("upgrades", "writes to a line held without ownership"),
    ("invalidations", "copies in other caches invalidated"),
    ("writebacks", "dirty lines written back"),
    ("page_misses", "first touches of a page"),
    ("atomics", "atomic operations"),
    ("barriers", "barriers passed"),
    ("locks", "locks acquired"),
    ("chunks", "loop chunks obtained"),
    ("visits", "times the region was entered"),
    ("prefetches", "lines that prefetchers brought"),
    ("tasks", "explicit tasks created and put off"),
    ("steals", "tasks taken from the queue of another member of the team"),
)

# Operation classes of the block table; a machine gives each a cost.
OP_CLASSES: Final[tuple[tuple[str, str], ...]] = (
    ("int_alu", "integer add, logic, shift, compare, address arithmetic"),
    ("int_mul", "integer multiply"),
    ("int_div", "integer divide"),
    ("load", "load"),
    ("store", "store"),
    ("branch", "conditional or unconditional jump"),
    ("call", "call or return"),
    ("fp_add", "floating-point add, subtract, compare, min, max"),
    ("fp_mul", "floating-point multiply"),
    ("fp_fma", "fused multiply-add"),
    ("fp_div", "floating-point divide"),
    ("fp_sqrt", "floating-point square root"),
    ("fp_other", "floating-point conversion and other operations"),
)

# How a run ended, as the runtime reports it.
STATUSES: Final[tuple[tuple[str, str], ...]] = (
    ("ok", "the program ended by itself"),
    ("deadlock", "every thread waits for another"),
    ("crashed", "the program received a fatal signal"),
    ("stack_overflow", "a thread ran over its stack"),
    ("out_of_memory", "the program asked for more memory than the run may use"),
    ("timeout", "the run was stopped at its time limit"),
    ("unsupported", "the program called something the simulator does not support"),
    ("internal", "the simulator found a fault of its own, for example a broken accounting identity"),
)

LEAF_NAMES: Final = tuple(name for name, _, _ in LEAVES)
LEAF_GROUPS: Final = {name: group for name, group, _ in LEAVES}
COUNTER_NAMES: Final = tuple(name for name, _ in COUNTERS)
OP_CLASS_NAMES: Final = tuple(name for name, _ in OP_CLASSES)
STATUS_NAMES: Final = tuple(name for name, _ in STATUSES)

# flags: of a block table the Adler-32 checksum of the executable's code segment, which the runtime compares with its
# own; of a result 0.
HEADER: Final = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("endian", "<u4"), ("flags", "<u4"), ("sections", "<u4")]
)
SECTION: Final = np.dtype([("id", "<u4"), ("record_size", "<u4"), ("count", "<u8"), ("offset", "<u8")])
# Section ids of a result file.
SECTIONS: Final[tuple[tuple[str, int, str], ...]] = (
    ("META", 1, "UTF-8 text, one `key value` pair a line (record size 1)"),
    ("COSTS", 2, "COST records: one per (processor, region) with anything in it"),
    ("SITES", 3, "SITE records: what happened at each code address"),
    ("WAITS", 4, "WAIT records: what each thread was doing when the run stopped abnormally"),
)
COST: Final = np.dtype(
    [
        ("processor", "<u4"),
        ("region", "<u4"),
        ("leaves", "<u8", (len(LEAVES),)),
        ("counters", "<u8", (len(COUNTERS),)),
    ]
)
SITE: Final = np.dtype(
    [
        ("address", "<u8"),  # code address (return address of the hook, link-time value)
        ("executions", "<u8"),  # of the basic block that the address stands for, else 0
        ("references", "<u8"),  # made here: of a hook, executions of its block; of a runtime call, its own; >= misses
        ("misses", "<u8"),
        ("cycles", "<u8", (4,)),  # by group: busy, memory_stall, idle, primitive
    ]
)
# One record a thread, then one for each processor that never had one (thread NO_THREAD). holder: a thread, or -1.
NO_THREAD: Final = 0xFFFFFFFF
WAIT: Final = np.dtype(
    [("processor", "<u4"), ("leaf", "<u4"), ("address", "<u8"), ("object", "<u8"), ("holder", "<i4"), ("thread", "<u4")]
)
# One record per basic block, sorted by address.
BLOCK: Final = np.dtype([("address", "<u8"), ("ops", "<u2", (len(OP_CLASSES),)), ("pad", "<u2"), ("flops", "<u4")])
GROUPS: Final = ("busy", "memory_stall", "idle", "primitive")


def _enum(out: TextIO, name: str, prefix: str, rows: list[tuple[str, str]]) -> None:
    out.write(f"enum {name} {{\n")
    for member, what in rows:
        out.write(f"    SG_{prefix}_{member.upper()}, /* {what} */\n")
    out.write(f"    SG_{prefix}_COUNT\n}};\n\n")


def _struct(out: TextIO, name: str, dtype: np.dtype[np.void]) -> None:
    kinds = {"u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t", "i4": "int32_t", "S8": "char"}
    out.write(f"typedef struct {name} {{\n")
    assert dtype.names is not None
    assert dtype.fields is not None
    for field in dtype.names:
        sub = dtype.fields[field][0]
        shape = "".join(f"[{n}]" for n in sub.shape)
        base = sub.base.str.lstrip("<|=")
        if base == "S8":
            shape = "[8]"
        out.write(f"    {kinds[base]} {field}{shape};\n")
    out.write(f"}} {name};\n")
    out.write(f'_Static_assert(sizeof({name}) == {dtype.itemsize}, "{name} differs from format.py");\n\n')


def write_header(out: TextIO) -> None:
    """Write the C header that corresponds to this module to *out*."""
    out.write("/* Generated by `python -m scalegraph.runtime.format`; do not edit. */\n")
    out.write("#ifndef SG_FORMAT_H\n#define SG_FORMAT_H\n#include <stdint.h>\n\n")
    out.write(f"#define SG_FORMAT_VERSION {VERSION}u\n#define SG_ENDIAN_MARK 0x{ENDIAN_MARK:08x}u\n")
    out.write(f'#define SG_RESULT_MAGIC "{RESULT_MAGIC.decode()}"\n')
    out.write(f'#define SG_BLOCKS_MAGIC "{BLOCKS_MAGIC.decode()}"\n\n')
    _enum(out, "sg_leaf", "LEAF", [(n, w) for n, _, w in LEAVES])
    _enum(out, "sg_counter", "COUNTER", list(COUNTERS))
    _enum(out, "sg_op", "OP", list(OP_CLASSES))
    _enum(out, "sg_status", "STATUS", list(STATUSES))
    _enum(out, "sg_group", "GROUP", [(g, "leaf group") for g in GROUPS])
    groups = ", ".join(f"SG_GROUP_{g.upper()}" for _, g, _ in LEAVES)
    out.write(f"#define SG_LEAF_GROUPS {{{groups}}}\n")
    listed = (("LEAF", LEAF_NAMES), ("COUNTER", COUNTER_NAMES), ("OP", OP_CLASS_NAMES), ("STATUS", STATUS_NAMES))
    for label, rows in listed:
        names = ", ".join(f'"{n}"' for n in rows)
        out.write(f"#define SG_{label}_NAMES {{{names}}}\n")
    out.write("\n")
    for name, number, what in SECTIONS:
        out.write(f"#define SG_SECTION_{name} {number}u /* {what} */\n")
    out.write("\n")
    for name, dtype in (
        ("sg_header", HEADER),
        ("sg_section", SECTION),
        ("sg_cost", COST),
        ("sg_site", SITE),
        ("sg_wait", WAIT),
        ("sg_block", BLOCK),
    ):
        _struct(out, name, dtype)
    out.write("#endif\n")


if __name__ == "__main__":
    write_header(sys.stdout)
