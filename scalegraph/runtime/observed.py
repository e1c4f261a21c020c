"""Records of what the runtime observes of a run besides its costs; `runtime.format` puts them into the C header."""

from __future__ import annotations

from typing import Final

from scalegraph.runtime.accounts import CATEGORIES, COUNTERS
from scalegraph.runtime.layout import Layout

# A place where the main thread reads a clock: the call, its caller and that one's caller (code addresses; 0: none).
# *work*: processor cycles of other threads, and cycles of the main thread in parallel regions, until then.
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
# Elapsed cycles of the main thread in a region and all that it calls.
PART: Final = Layout([("region", "<u4"), ("pad", "<u4"), ("visits", "<u8"), ("cycles", "<u8")])

# What messages cost a rank, by communicator (its number; NO_COMMUNICATOR: of none) and partner (a rank of all;
# NO_PARTNER: of none or of several, OTHER_PARTNERS: of all that there were too many of). *cycles*: by category of
# MESSAGE_CATEGORIES; the sums over all records are the sums of these categories. *messages*, *bytes*: received.
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
# A communicator: its name, if it has one, the most ranks that have had it, and the call that made it (0: none).
COMMUNICATOR: Final = Layout([("name", "S64"), ("address", "<u8"), ("communicator", "<u4"), ("size", "<u4")])

# A link of the interconnect: cycles that it was *busy* and that messages waited for it; *spans*: busy in each span of
# *width* cycles from the beginning of the run on.
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

# A worksharing loop under a schedule, as the runtime saw it: the call that enters it, the schedule as it was chosen.
# *elapsed*: from the first member that comes until the last one finds no more, over all executions. *kept*: its CHUNK
# records, of the first chunks of all.
LOOP: Final = Layout(
    [
        ("address", "<u8"),
        ("iterations", "<u8"),  # the most of one execution
        ("executions", "<u8"),
        ("elapsed", "<u8"),
        ("members", "<u4"),  # the most of one execution
        ("kept", "<u4"),
        ("region", "<u4"),  # of the first thread that comes
        ("pad", "<u4"),
        ("schedule", "S128"),
    ]
)
# Where a chunk comes from: the member's own share, another member's, one queue for all.
CHUNK_ORIGINS: Final = ("own", "other", "central")
# What a processor did in the loop with number *loop* (in the order of LOOP records), in cycles: *body* of iterations,
# *stall* memory stalls of that; *asking* of obtaining them, *lock* waiting for locks of queues of that; *ending* from
# when it found no more until the last one did. *lines* that its iterations used, summed over executions, and those of
# them that it did not use in the execution before (*fresh*; of the first one none); 0 unless classes are collected.
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
# A chunk: iterations first, first + step, .. (count of them), of the share of member *owner* (-1: of no one's).
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

# A phase of a sampled run: what the program does from one boundary to the next. *address*: of the call that is the
# boundary, *kind*: in the order of PHASE_KINDS. *visits*: all; *measured*: those that samples are made of; *skipped*:
# those that were not simulated. What is simulated and not measured is counted as it is.
PHASE_KINDS: Final = ("fork", "barrier", "join")
SAMPLED_PHASE: Final = Layout(
    [
        ("address", "<u8"),
        ("kind", "<u4"),
        ("pad", "<u4"),
        ("visits", "<u8"),
        ("measured", "<u8"),
        ("skipped", "<u8"),
    ]
)
# A measured visit of a phase (its place in SAMPLED_PHASES), over all processors. *work*: parts of cycles (1/1024) that
# its basic blocks cost; *copies*: how often it was added to the accounts once more, for *skipped* visits with
# *skipped_work*.
SAMPLE: Final = Layout(
    [
        ("phase", "<u4"),
        ("pad", "<u4"),
        ("work", "<u8"),
        ("cycles", "<u8"),
        ("copies", "<u8"),
        ("skipped", "<u8"),
        ("skipped_work", "<u8"),
        ("categories", "<u8", (len(CATEGORIES),)),
        ("counters", "<u8", (len(COUNTERS),)),
    ]
)

# A context: the region that one is in, and the number of the context around it, from 1 on in the order of the records
# (0: none).
CONTEXT: Final = Layout([("parent", "<u4"), ("region", "<u4")])
# What made others wait, and what waited: csrc/observe/sg_delay.c says how that is found out.
DELAY_KINDS: Final = ("work", "held", "message", "transfer", "sleep", "runtime")
# By place (context, kind, code address or 0) and category of the waiting, in cycles: *own* what messages cost by call,
# and of kinds in DELAY_WORK all cycles there, whatever their category, in the first one;
# *waited* the waiting here whose cause is known, *caused* what others waited for what happened here. The sums of the
# latter two are the same. *call*: what is called there, of messages.
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
