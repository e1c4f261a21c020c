"""Records of what the runtime observes in a run besides its costs; `runtime.format` puts them into the C header."""

from __future__ import annotations

from typing import Final

from scalegraph.runtime.accounts import CATEGORIES, COUNTERS
from scalegraph.runtime.layout import Layout

# A place where the main thread reads a clock: the call, its caller and that one's caller (code addresses; 0: none).
# *work*: processor cycles of other threads, and cycles of the main thread in parallel regions, up to then.
READING: Final = Layout(
    [
        ("address", "<u8"),
        ("caller", "<u8"),
        ("outer", "<u8"),
        ("count", "<u8"),
        ("first", "<u8"),  # clock in cycles
        ("first_work", "<u8"),
        ("last", "<u8"),
        ("last_work", "<u8"),
    ]
)
# Elapsed cycles of the main thread in a region and everything that it calls.
PART: Final = Layout([("region", "<u4"), ("pad", "<u4"), ("visits", "<u8"), ("cycles", "<u8")])

# Cost of messages for a rank, by communicator (its number; NO_COMMUNICATOR: none) and partner (a global rank;
# NO_PARTNER: none or several; OTHER_PARTNERS: all those beyond the limit). *cycles*: by category of MESSAGE_CATEGORIES;
# the sums over all records equal the totals of these categories. *messages*, *bytes*: received.
NO_COMMUNICATOR: Final = 0xFFFFFFFF
NO_PARTNER: Final = -1
OTHER_PARTNERS: Final = -2
MESSAGE_CATEGORIES: Final = (
    "prim_send",
    "prim_receive",
    "prim_pack",
    "idle_late_sender",
    "idle_late_receiver",
    "idle_transfer",
    "idle_network",
    "idle_collective",
)
MESSAGE: Final = Layout(
    [
        ("rank", "<u4"),
        ("communicator", "<u4"),
        ("peer", "<i4"),
        ("pad", "<u4"),
        ("messages", "<u8"),
        ("bytes", "<u8"),
        ("cycles", "<u8", (len(MESSAGE_CATEGORIES),)),
    ]
)
# A communicator: its name, if it has one, its largest number of ranks, and the call that created it (0: none).
COMMUNICATOR: Final = Layout([("name", "S64"), ("address", "<u8"), ("communicator", "<u4"), ("size", "<u4")])

# A link of the interconnect: cycles that it was *busy* and that messages waited for it; *spans*: busy cycles in each
# span of *width* cycles, from the beginning of the run.
LINK_SPANS: Final = 32
LINK: Final = Layout(
    [
        ("name", "S32"),
        ("bytes", "<u8"),
        ("transactions", "<u8"),
        ("busy", "<u8"),
        ("waiting", "<u8"),
        ("width", "<u8"),
        ("spans", "<u8", (LINK_SPANS,)),
    ]
)

# A worksharing loop under a schedule, as seen by the runtime: the call that enters it, the schedule chosen. *elapsed*:
# from the arrival of the first member until the last one finds no more iterations, over all executions. *kept*: number
# of its CHUNK records; only the first chunks are kept.
LOOP: Final = Layout(
    [
        ("address", "<u8"),
        ("iterations", "<u8"),  # of its largest execution
        ("executions", "<u8"),
        ("elapsed", "<u8"),
        ("members", "<u4"),  # of its largest execution
        ("kept", "<u4"),
        ("region", "<u4"),  # of the first thread that arrives
        ("pad", "<u4"),
        ("schedule", "S128"),
    ]
)
# Where a chunk comes from: the member's own share, another member's, or a central queue.
CHUNK_ORIGINS: Final = ("own", "other", "central")
# A processor's part in the loop with number *loop* (in the order of LOOP records), in cycles: *body* for iterations,
# *stall* for memory stalls in them; *asking* to obtain them, *lock* waiting for queue locks in that; *ending* from
# finding no more until the last member did. *lines*: cache lines that its iterations used, summed over executions;
# *fresh*: those not used in the execution before (0 for the first); 0 unless classes are collected.
LOOP_PART: Final = Layout(
    [
        ("loop", "<u4"),
        ("processor", "<u4"),
        ("executions", "<u8"),
        ("chunks", "<u8", (len(CHUNK_ORIGINS),)),
        ("iterations", "<u8", (len(CHUNK_ORIGINS),)),
        ("body", "<u8"),
        ("stall", "<u8"),
        ("asking", "<u8"),
        ("lock", "<u8"),
        ("ending", "<u8"),
        ("lines", "<u8"),
        ("fresh", "<u8"),
    ]
)
# A chunk: iterations first, first + step, .. (count of them), from the share of member *owner* (-1: nobody's).
# *control*: chunk-size control k by which it was taken (0: none); *state*: of the load, -1 light, 0 normal, 1 heavy.
CHUNK: Final = Layout(
    [
        ("loop", "<u4"),
        ("execution", "<u4"),  # of this loop
        ("processor", "<u4"),
        ("member", "<u4"),
        ("owner", "<i4"),
        ("state", "<i4"),
        ("first", "<u8"),
        ("count", "<u8"),
        ("step", "<u8"),
        ("control", "<u8"),
        ("begin", "<u8"),  # clock
        ("end", "<u8"),
        ("stall", "<u8"),
    ]
)

# A phase of a sampled run: the program's execution from one boundary to the next. *address*: of the call at the
# boundary, *kind*: in the order of PHASE_KINDS. *visits*: all; *measured*: those used as samples; *skipped*: those not
# simulated. Visits that are simulated but not measured are counted as they are.
PHASE_KINDS: Final = ("fork", "barrier", "join")
# Why none of its visits are skipped.
PHASE_DIFFERS: Final = "visits of a phase differ too much"
PHASE_WHY: Final = (
    "",
    "it has too few visits",
    PHASE_DIFFERS,
    "visits of a phase become cheaper or dearer one by one",
)
SAMPLED_PHASE: Final = Layout(
    [
        ("address", "<u8"),
        ("kind", "<u4"),
        ("why", "<u4"),
        ("visits", "<u8"),
        ("measured", "<u8"),
        ("skipped", "<u8"),
    ]
)
# A simulated visit of a phase (its index in SAMPLED_PHASES), over all processors. *how*, in the order of SAMPLE_HOW:
# measured, only to warm up the caches, measured alone between skipped visits, or with more work than
# all samples (perhaps only the part beyond theirs), so that it stands for none. *visit*: its number from 1;
# *simulated*: among those simulated since sampling began. *work*: cost of its basic blocks in
# 1/1024 cycles; *copies*: how many more times it was added to the accounts, for *skipped* visits with *skipped_work*.
SAMPLE_HOW: Final = ("measured", "warms up", "alone", "unlike")
SAMPLE: Final = Layout(
    [
        ("phase", "<u4"),
        ("how", "<u4"),
        ("visit", "<u8"),
        ("simulated", "<u8"),
        ("work", "<u8"),
        ("cycles", "<u8"),
        ("copies", "<u8"),
        ("skipped", "<u8"),
        ("skipped_work", "<u8"),
        ("categories", "<u8", (len(CATEGORIES),)),
        ("counters", "<u8", (len(COUNTERS),)),
    ]
)

# A context: the current region, and the number of the enclosing context, from 1 in the order of the records (0: none).
CONTEXT: Final = Layout([("parent", "<u4"), ("region", "<u4")])
# What made others wait, and what waited: see csrc/observe/sg_delay.c for the method.
DELAY_KINDS: Final = ("work", "held", "message", "transfer", "sleep", "runtime")
# By place (context, kind, code address or 0) and category of the waiting, in cycles. *own*: cost of messages by call;
# for kinds in DELAY_WORK all cycles there, of any category, in the first record. *waited*: the waiting here with a
# known cause; *caused*: the waiting of others because of what happened here. The sums of these two are equal. *call*:
# the function called there, for messages.
DELAY_WORK: Final = ("work", "held", "runtime")
DELAY: Final = Layout(
    [
        ("context", "<u4"),
        ("kind", "<u4"),
        ("category", "<u4"),
        ("pad", "<u4"),
        ("call", "S32"),
        ("address", "<u8"),
        ("own", "<u8"),
        ("waited", "<u8"),
        ("caused", "<u8"),
    ]
)

OUTPUT: Final = Layout([("rank", "<u4"), ("reserved", "<u4"), ("bytes", "<u8")])
SECTIONS: Final[tuple[tuple[str, int, str], ...]] = (
    ("READINGS", 14, "READING records: where the main thread reads a clock"),
    ("PARTS", 15, "PART records: elapsed time of the main thread by region, what it calls included"),
    ("MESSAGES", 16, "MESSAGE records: what messages cost by rank, communicator and partner"),
    ("COMMUNICATORS", 17, "COMMUNICATOR records: names and origins of communicators"),
    ("LINKS", 18, "LINK records: the busiest links of the interconnect over time"),
    ("LOOPS", 19, "LOOP records: worksharing loops that asked the runtime, by schedule"),
    ("LOOP_PARTS", 20, "LOOP_PART records: what each processor did in them"),
    ("CHUNKS", 21, "CHUNK records: the first chunks of each"),
    ("OUTPUTS", 22, "OUTPUT records: stretches of the standard output in their order, by rank"),
    ("SAMPLED_PHASES", 23, "SAMPLED_PHASE records: what a sampled run consists of"),
    ("SAMPLES", 24, "SAMPLE records: the measured visits of these phases, in their order"),
    ("CONTEXTS", 25, "CONTEXT records: the regions that DELAY records are in"),
    ("DELAYS", 26, "DELAY records: what made others wait, and what messages cost by call"),
)
STRUCTS: Final[tuple[tuple[str, Layout], ...]] = (
    ("sg_reading", READING),
    ("sg_part", PART),
    ("sg_message_cost", MESSAGE),
    ("sg_communicator", COMMUNICATOR),
    ("sg_link_record", LINK),
    ("sg_loop_account", LOOP),
    ("sg_loop_part", LOOP_PART),
    ("sg_chunk_record", CHUNK),
    ("sg_output", OUTPUT),
    ("sg_sampled_phase", SAMPLED_PHASE),
    ("sg_sample", SAMPLE),
    ("sg_context_record", CONTEXT),
    ("sg_delay", DELAY),
)
