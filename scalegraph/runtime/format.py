"""The one specification of everything that Python and the C runtime exchange.

Names in this file are the only source: ``csrc/ground/sg_format.h`` is generated from it by
`format_source`, and a test fails when the committed header differs from that.

Four files, and the rows of a function that a run asks for, cross the border:

* the *configuration* (Python writes, C reads): text, one ``key value`` pair a line;
* the *block table* (Python writes, C reads): what every basic block of the program costs;
* the *result* (C writes, Python reads): header, section directory, sections of fixed records;
* the *records of a trace* (C writes, Python reads), if one was requested: header, records of one size.

All binary values are little-endian. A reader refuses a wrong magic, a newer version or a
foreign byte order with a sentence, it never guesses.
"""

from __future__ import annotations

from typing import Final

from scalegraph.runtime import accounts, observed
from scalegraph.runtime.layout import Layout

VERSION: Final = 2
RESULT_MAGIC: Final = b"SGRESULT"
BLOCKS_MAGIC: Final = b"SGBLOCKS"
ENDIAN_MARK: Final = 0x01020304

# Categories of the accounting identity (name, group, meaning), and event counts (name, meaning).
CATEGORIES: Final = accounts.CATEGORIES
COUNTERS: Final = accounts.COUNTERS

# Why a reference was made (latency-metric.txt 5.2.1): by the program, or by the runtime on its behalf.
CAUSES: Final[tuple[tuple[str, str], ...]] = (
    ("computation", "the program's own references, including atomic loads and stores"),
    ("barrier", "of barriers, including the one at the end of a parallel region"),
    ("lock", "of locks, critical sections and other mutual exclusion"),
    ("atomic", "the program's atomic read-modify-writes"),
    ("other", "of forks, loop chunks, single, sections, ordered and tasks"),
)

# The cause of cycles in a category, if it is not "other"; for the program's stalls it is "computation".
CATEGORY_CAUSES: Final = {
    "idle_barrier": "barrier",
    "prim_barrier": "barrier",
    "idle_lock": "lock",
    "prim_lock": "lock",
    "prim_atomic": "atomic",
}

# Causes of waiting, other than the place where it happened (see csrc/observe/sg_blame.c for the method).
BLAMES: Final[tuple[tuple[str, str], ...]] = (
    ("serial", "code that one processor executed alone while all others waited"),
    ("fork_join", "starting a parallel region, and ending it after all have arrived"),
    ("lock", "lock delays of the last to arrive, beyond those of the others, which wait for it"),
)

# Why a line was not in the cache; each counted miss has one class (see csrc/observe/sg_miss_class.c).
MISS_CLASSES: Final[tuple[tuple[str, str], ...]] = (
    ("cold", "first reference of the processor to the line"),
    ("capacity", "replaced; a fully associative cache of the same size would have replaced it, too"),
    ("conflict", "replaced; a fully associative cache of the same size would have kept it"),
    ("true_sharing", "invalidated, and a word that another processor wrote is used before the line is lost again"),
    ("false_sharing", "invalidated, but no word that another processor wrote is used before the line is lost again"),
    ("upgrade", "the line was present, but without the right to write"),
)

# Kinds of variables, by where their memory lies.
VARIABLE_KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("global", "a symbol of the program; address: the symbol's"),
    ("heap", "allocated at one place of the program; address: the call's"),
    ("stack", "of the thread `number`"),
    ("runtime", "of the simulated runtime; number: what it belongs to"),
    ("other", "everything else: memory of libraries, thread-local data"),
)

# What the simulated runtime's own variables belong to.
OWN_VARIABLES: Final[tuple[tuple[str, str], ...]] = (
    ("various", "everything else"),
    ("barrier", "counters and flags of barriers"),
    ("lock", "lock words outside the program's variables, and serving numbers of ticket locks"),
    ("queue", "each thread's own line, on which it waits in queue locks"),
    ("team", "where a team of threads is announced"),
    ("loop", "loop counters and other worksharing"),
    ("task", "queues and counters of tasks"),
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
    ("stack_overflow", "a thread overflowed its stack"),
    ("out_of_memory", "the program requested more memory than the run may use"),
    ("timeout", "the run was stopped at its time limit"),
    ("unsupported", "the program called something the simulator does not support"),
    ("internal", "the simulator found a bug of its own, such as a broken accounting identity"),
)

CATEGORY_NAMES: Final = tuple(name for name, _, _ in CATEGORIES)
CATEGORY_GROUPS: Final = {name: group for name, group, _ in (*CATEGORIES, *accounts.MEASURED)}
COUNTER_NAMES: Final = tuple(name for name, _ in COUNTERS)
OP_CLASS_NAMES: Final = tuple(name for name, _ in OP_CLASSES)
STATUS_NAMES: Final = tuple(name for name, _ in STATUSES)
CAUSE_NAMES: Final = tuple(name for name, _ in CAUSES)
BLAME_NAMES: Final = tuple(name for name, _ in BLAMES)
CLASS_NAMES: Final = tuple(name for name, _ in MISS_CLASSES)
KIND_NAMES: Final = tuple(name for name, _ in VARIABLE_KINDS)
OWN_NAMES: Final = tuple(name for name, _ in OWN_VARIABLES)
STALL_NAMES: Final = tuple(name for name, group, _ in CATEGORIES if group == "memory_stall")
BUSY_NAMES: Final = tuple(name for name, group, _ in CATEGORIES if group == "busy")
# The counters kept per cause, in the order of COUNTERS.
CAUSE_COUNTERS: Final = COUNTER_NAMES[COUNTER_NAMES.index("reads") : COUNTER_NAMES.index("page_misses") + 1]

# flags: in a block table the Adler-32 checksum of the executable's code segment, which the runtime compares with its
# own; in a result 0.
HEADER: Final = Layout([("magic", "S8"), ("version", "<u4"), ("endian", "<u4"), ("flags", "<u4"), ("sections", "<u4")])
SECTION: Final = Layout([("id", "<u4"), ("record_size", "<u4"), ("count", "<u8"), ("offset", "<u8")])
# Section ids of a result file.
SECTIONS: Final[tuple[tuple[str, int, str], ...]] = (
    ("META", 1, "UTF-8 text, one `key value` pair a line (record size 1)"),
    ("COSTS", 2, "COST records: one per (processor, region) with anything in it"),
    ("SITES", 3, "SITE records: what happened at each code address"),
    ("WAITS", 4, "WAIT records: what each thread was doing when the run stopped abnormally"),
    ("CAUSES", 5, "CAUSE records: references and misses by region and cause, over all processors"),
    ("WIDTHS", 6, "WIDTH records: how many copies one write invalidated, how often"),
    ("VARIABLES", 7, "VARIABLE records: misses by what is at the address"),
    ("SHARED_LINES", 8, "SHARED_LINE records: lines with false sharing; only with classes collected"),
    ("LINE_USERS", 9, "LINE_USER records: who used which words of those lines"),
    ("LINE_PARTS", 10, "LINE_PART records: the contents of those lines"),
    ("RESOURCES", 11, "RESOURCE records: how busy the parts of the network and the memory were"),
    ("BLAMES", 12, "BLAME records: waiting by region and cause, where it was spent and where it was caused"),
    ("BLAMED_SITES", 13, "BLAMED_SITE records: the same by code address"),
    *observed.SECTIONS,
)
COST: Final = Layout(
    [
        ("processor", "<u4"),
        ("region", "<u4"),
        ("categories", "<u8", (len(CATEGORIES),)),
        ("counters", "<u8", (len(COUNTERS),)),
    ]
)
SITE: Final = Layout(
    [
        ("address", "<u8"),  # code address (return address of the hook, link-time value)
        ("executions", "<u8"),  # of the basic block at the address, otherwise 0
        ("references", "<u8"),  # made here: by a hook, executions of its block; by a runtime call, its own; >= misses
        ("misses", "<u8"),
        ("cycles", "<u8", (4,)),  # by group: busy, memory_stall, idle, primitive
        ("remote", "<u8"),  # reads and writes served over the network
        ("upgrades", "<u8"),
        ("invalidations", "<u8"),
        ("causes", "<u8", (len(CAUSES),)),  # misses by cause
        ("classes", "<u8", (len(MISS_CLASSES),)),  # misses by class; 0 if classes are not collected
    ]
)
CAUSE: Final = Layout(
    [
        ("region", "<u4"),
        ("cause", "<u4"),
        ("counters", "<u8", (len(CAUSE_COUNTERS),)),
        # Cycles of the references by category of memory_stall; those of the runtime are primitive cycles in COSTS.
        ("stalls", "<u8", (len(STALL_NAMES),)),
        ("classes", "<u8", (len(MISS_CLASSES),)),
    ]
)
WIDTH: Final = Layout([("region", "<u4"), ("cause", "<u4"), ("width", "<u4"), ("pad", "<u4"), ("count", "<u8")])
VARIABLE: Final = Layout(
    [
        ("kind", "<u4"),
        ("number", "<u4"),
        ("address", "<u8"),
        ("bytes", "<u8"),  # of a symbol; for an allocation site the most in use at once
        ("blocks", "<u8"),  # allocated
        ("references", "<u8"),  # 0 unless classes are collected
        ("misses", "<u8"),
        ("remote", "<u8"),
        ("upgrades", "<u8"),
        ("invalidations", "<u8"),
        ("cycles", "<u8"),  # of references that left the private caches
        ("classes", "<u8", (len(MISS_CLASSES),)),
    ]
)
SHARED_LINE: Final = Layout(
    [
        ("address", "<u8"),
        ("bytes", "<u4"),
        ("grain", "<u4"),  # bytes per bit of a LINE_USER's masks
        ("classes", "<u8", (len(MISS_CLASSES),)),
    ]
)
LINE_USER: Final = Layout(
    [
        ("line", "<u8"),  # address
        ("processor", "<u4"),
        ("shared", "<u4"),  # position of the line in SHARED_LINES: two nodes may have lines with the same address
        ("read", "<u8"),  # bit i: bytes i * grain .. (i + 1) * grain - 1
        ("written", "<u8"),
        ("reader", "<u8"),  # code address of the last read, and of the last write; 0: none
        ("writer", "<u8"),
    ]
)
LINE_PART: Final = Layout(
    [
        ("line", "<u8"),
        ("address", "<u8"),
        ("bytes", "<u4"),
        ("variable", "<u4"),  # number of the VARIABLE record
        ("offset", "<u8"),  # of the part from the beginning of the symbol or block
    ]
)
RESOURCE: Final = Layout(
    [
        ("kind", "S8"),  # link or module
        ("name", "S24"),
        ("units", "<u4"),  # working in parallel: busy is at most units x the run's time
        ("pad", "<u4"),
        ("busy", "<u8"),
        ("transactions", "<u8"),
        ("waiting", "<u8"),
    ]
)
# Sums over all regions: for each cause, waited (over all categories) = caused.
BLAME: Final = Layout(
    [
        ("region", "<u4"),
        ("cause", "<u4"),
        ("waited", "<u8", (len(CATEGORIES),)),  # cycles of these categories in COSTS that this cause explains
        ("caused", "<u8"),  # cycles that all processors together waited because of what happened here
    ]
)
# caused: address 0 stands for all code outside the program. The sums equal those of the BLAME records.
BLAMED_SITE: Final = Layout(
    [
        ("address", "<u8"),
        ("region", "<u4"),  # if it starts teams here, otherwise 0; compilers may give the call the line before it
        ("pad", "<u4"),
        ("waited", "<u8"),  # idle cycles of this address in SITES that some cause explains
        ("caused", "<u8", (len(BLAMES),)),
    ]
)
# One record per thread, then one for each processor that never had one (thread NO_THREAD). holder: a thread, or -1.
NO_THREAD: Final = 0xFFFFFFFF
WAIT: Final = Layout(
    [
        ("processor", "<u4"),
        ("category", "<u4"),
        ("address", "<u8"),
        ("object", "<u8"),
        ("holder", "<i4"),
        ("thread", "<u4"),
    ]
)
# One record per basic block, sorted by address.
BLOCK: Final = Layout([("address", "<u8"), ("ops", "<u2", (len(OP_CLASSES),)), ("pad", "<u2"), ("flops", "<u4")])
# Timing of the blocks, on machines with a pipeline or branch prediction; one record per block. `millicycles`: time of
# the block in thousandths of a cycle, or TIMING_BY_OPERATIONS: the cost of its operations. `predicted`: whether it is
# entered from a branch; `origins`: the references that the branch depends on (record numbers in LOAD_ROW from 1, 0:
# none); `delays`: thousandths of a cycle from their data to the branch outcome. For a loop of one block, a visit
# overlaps with the previous one if that had at most `reach` iterations: `saved` is how many thousandths of a cycle less
# an iteration then takes, `early` how long before the iteration's retirement the loop's branch is resolved in long
# visits. `turns`: blocks (numbers from 1, 0: none) that may follow off their usual path; each then takes `more`
# thousandths of a cycle longer. TIMING_UNKNOWN in `millicycles`: nothing is known of the block's function yet; the
# runtime asks when it executes it (csrc/pipeline/sg_rows.c), and `predicted` is 1.
ORIGINS: Final = 3
TURNS: Final = 2
TIMING: Final = Layout(
    [
        ("millicycles", "<u4"),
        ("predicted", "<u4"),
        ("saved", "<u4"),
        ("reach", "<u4"),
        ("early", "<u4"),
        ("pad", "<u4"),
        ("origins", "<u4", (ORIGINS,)),
        ("delays", "<u4", (ORIGINS,)),
        ("turns", "<u4", (TURNS,)),
        ("more", "<i4", (TURNS,)),
    ]
)
# One record per reference that a hook reports, by the hook's return address: thousandths of a cycle until the
# processor's window is full behind it, and the references that its address depends on, as above. `unknown`: 1 if
# nothing is known of it, or not yet.
LOAD_ROW: Final = Layout(
    [
        ("address", "<u8"),
        ("origins", "<u4", (ORIGINS,)),
        ("delays", "<u4", (ORIGINS,)),
        ("ahead", "<u4"),
        ("unknown", "<u4"),
    ]
)
TIMING_BY_OPERATIONS: Final = 2**32 - 1
TIMING_UNKNOWN: Final = 2**32 - 2
# The answer to a block's number (`<u4`), about its function: how many TIMING and LOAD_ROW records it holds, and the
# bytes of a message that says why there are none. There follow the record numbers of all of them from 0 on (`<u4`), the
# TIMING records, the LOAD_ROW records and the message.
ROWS_ANSWER: Final = Layout([("timings", "<u4"), ("loads", "<u4"), ("text", "<u4"), ("pad", "<u4")])
# One record per call that may end in a clock reading, by its return address: the probe of its block, all operations of
# that block's straight-line code, and those after the call; the same for library functions, which only machines with a
# pipeline charge separately. `led`: whether its function is called by such a call, too.
CLOCK: Final = Layout(
    [
        ("address", "<u8"),
        ("probe", "<u8"),
        ("whole", "<u2", (len(OP_CLASSES),)),
        ("behind", "<u2", (len(OP_CLASSES),)),
        ("whole_libraries", "<u2", (len(OP_CLASSES),)),
        ("behind_libraries", "<u2", (len(OP_CLASSES),)),
        ("led", "<u8"),
    ]
)
GROUPS: Final = ("busy", "memory_stall", "idle", "primitive")

# ---- the records of a trace ----

TRACE_MAGIC: Final = b"SGEVENTS"
TRACE_VERSION: Final = 1
# What a trace may record, in the bit order of TRACE_HEADER's `what`.
TRACED: Final = ("regions", "waits", "locks", "tasks", "chunks", "shares", "counters", "messages")
TRACE_STATES: Final[tuple[tuple[str, str], ...]] = (
    ("running", "the run was killed, or still goes on"),
    ("whole", "the program ended by itself"),
    ("stopped", "the run was stopped: a crash, a deadlock, its time limit"),
    ("full", "the trace reached its limit and ends there; the run went on"),
    ("failed", "the file could not be written any more; the run went on"),
)
# The content of a record and the meaning of its fields; time, processor and, unless stated otherwise, region mean what
# their names say.
TRACE_EVENTS: Final[tuple[tuple[str, str], ...]] = (
    ("call", "what: 1 enters, 2 leaves the region"),
    ("share", "from first to time, second cycles went to category what; rows of one stretch follow each other"),
    ("wait", "why what, from first to time, for the object second; a record waker follows"),
    ("waker", "of the preceding wait: ended by processor region - 1 (0: nobody) at time"),
    ("lock", "what: 1 acquired, 2 released; lock first, for the second-th time"),
    ("task", "what: 1 created, 2 switched to, 3 ended; task first, 0: none"),
    ("mark", "mark what with the value first"),
    ("counts", "since the record before: ops (first) and flops (second) if what is 0, references and misses if 1"),
    ("message", "from processor region: sent at first, receive posted at second, received at time; a parcel follows"),
    ("parcel", "of the message before: left its sender at time, with bytes first and tag second in communicator what"),
    ("collective", "operation what in communicator region, from first to time; root: processor second - 1 (-1: none)"),
    ("carried", "of the operation before: bytes sent (first) and received (second)"),
    ("sent", "measured: to rank region, from first to time, stream second; a parcel with its bytes follows"),
    ("taken", "measured: from rank region, posted at first, there at time, stream second"),
    ("counted", "measured: count (first) of metric what since its previous record"),
)
EVENT: Final = {name: number for number, (name, _) in enumerate(TRACE_EVENTS)}
# Events of two records, with the second one.
TRACE_PAIRS: Final = {
    EVENT[first]: EVENT[second]
    for first, second in (("wait", "waker"), ("message", "parcel"), ("collective", "carried"), ("sent", "parcel"))
}
# Why a processor waits; the numbers are those of traces.kinds.Wait.
TRACE_WAITS: Final[tuple[tuple[str, str], ...]] = (
    ("other", "for a parallel region, to be started, asleep"),
    ("barrier", "at a barrier"),
    ("lock", "for a lock"),
    ("task", "for tasks"),
    ("join", "for the end of a thread"),
    ("condition", "for a signal: condition variable, semaphore, futex"),
    ("ordered", "for its turn"),
    ("receive", "for a message"),
    ("send", "for the receiver of a message"),
    ("collective", "in a collective operation"),
)
# What a processor waits for in a category; in all others it waits for nothing in particular ("other").
CATEGORY_WAITS: Final = {
    "idle_barrier": "barrier",
    "idle_lock": "lock",
    "idle_order": "ordered",
    "idle_task": "task",
    "idle_wait": "condition",
    "idle_message": "receive",
    "idle_late_sender": "receive",
    "idle_transfer": "receive",
    "idle_network": "receive",
    "idle_late_receiver": "send",
    "idle_collective": "collective",
}
# The communicator of a message.
TRACE_COMMUNICATORS: Final[tuple[tuple[str, str], ...]] = (
    ("world", "MPI_COMM_WORLD"),
    ("collective", "collective operations"),
    ("other", "other communicators"),
)
# Algorithms of collective operations, in the order of csrc/mpi/collectives/sg_mpi_collective.h.
_BY = (
    "dissemination",
    "binomial",
    "scatter-doubling",
    "scatter-ring",
    "doubling",
    "rabenseifner",
    "ring",
    "bruck",
    "linear",
    "pairwise",
    "halving",
    "hardware",
)
TRACE_MARKS: Final[tuple[tuple[str, str], ...]] = (
    ("chunk", "a chunk of a loop begins; value: its iterations"),
    ("barrier", "the processor comes to a barrier; value: its address"),
    ("fork", "a parallel region begins; value: its threads"),
    *((f"collective_{name.replace('-', '_')}", f"a collective operation by {name} ends; value: bytes") for name in _BY),
    ("chunk_first", "of the chunk that begins; value: its first iteration, counted from 0"),
    ("chunk_owner", "of the chunk that begins; value: the member whose share it was, + 1; 0: a queue for all"),
    ("chunk_control", "of the chunk that begins; value: chunk-size control k by which it was taken"),
    ("chunk_state", "of the chunk that begins; value: load that an adaptive schedule saw: 1 light, 2 normal, 3 heavy"),
    ("chunk_end", "the processor has executed a chunk; value: its iterations"),
    ("in_finalize", "the collective operation that ends is that of MPI_Finalize; value: bytes"),
    ("in_window", "the collective operation that ends is that of a call for windows, MPI_Win_fence ..; value: bytes"),
)
LOCK_STEPS: Final[tuple[tuple[str, str], ...]] = (("none", "unused"), ("acquired", "taken"), ("released", "given back"))
TASK_STEPS: Final[tuple[tuple[str, str], ...]] = (
    ("none", "unused"),
    ("created", "made"),
    ("switched", "runs from here on"),
    ("ended", "its body is done"),
)
# Counts for each thread of a measured run, where available: key, name, unit.
TRACE_METRICS: Final[tuple[tuple[str, str, str], ...]] = (
    ("hw_cycles", "cycles", ""),
    ("hw_instructions", "instructions", ""),
    ("hw_cache_misses", "cache misses", ""),
    ("hw_stalled", "stalled cycles", ""),
    ("migrations", "migrations", ""),
    ("page_faults", "page faults", ""),
    ("context_switches", "context switches", ""),
    ("cpu_time", "CPU time", "s"),  # its records are in nanoseconds
)
TRACE_HEADER: Final = Layout(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("endian", "<u4"),
        ("state", "<u4"),
        ("processors", "<u4"),
        ("record_size", "<u4"),
        ("what", "<u4"),  # bits of TRACED
        ("records", "<u8"),  # 0 while the run goes on: the file size then gives the number
        ("begin", "<u8"),  # cycles: times of the first and the last recorded event
        ("end", "<u8"),
        ("clock_hz", "<u8"),
        ("interval", "<u8"),  # as requested
        ("limit", "<u8"),
        ("inexact", "<u8"),  # stretches whose busy cycles could not be split exactly
        ("asked_begin", "<u8"),  # the requested window; 0 and 0: the whole run
        ("asked_end", "<u8"),
        ("asked_regions", "<u8"),  # number of regions that the trace is limited to
        ("regions", "<u4"),  # one more than the highest recorded region number
        ("fractions", "<u4"),  # 1: blocks take fractions of cycles, see runtime/shares.py
        ("pad", "<u8"),
    ]
)
TRACE_RECORD: Final = Layout(
    [
        ("event", "u1"),
        ("what", "u1"),
        ("processor", "<u2"),
        ("region", "<u4"),
        ("time", "<u8"),
        ("first", "<u8"),
        ("second", "<u8"),
    ]
)
