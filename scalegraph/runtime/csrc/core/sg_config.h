/* Configuration of one simulated run: text file of `key value` lines, written by
 * scalegraph.machine (machine part, keys machine.*) and scalegraph.link (run part, keys run.*).
 * An unknown key or a malformed value is refused: a typo must not falsify an experiment. */
#ifndef SG_CONFIG_H
#define SG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "sg_format.h"

#define SG_MAX_LEVELS 4
#define SG_MAX_PATH   4096

/* machine.network.kind */
enum sg_network { SG_NET_RING, SG_NET_MULTISTAGE, SG_NET_NUMA, SG_NET_BUS, SG_NET_MESH, SG_NET_HYPERNODE };
/* machine.coherence.kind: ring_snoop is the attraction memory of a ring machine (the last private level
 * is all the memory there is); full_map a directory at the home of each line; limited_broadcast and
 * limited_no_broadcast one that knows only some of the holders (Dir_iB and Dir_iNB of Agarwal and others,
 * ISCA 1988); linked_list one in each hypernode and a list of hypernodes; snoop a bus that all caches watch.
 */
enum sg_coherence {
    SG_COH_RING_SNOOP,
    SG_COH_FULL_MAP,
    SG_COH_LIMITED_BROADCAST,
    SG_COH_LIMITED_NO_BROADCAST,
    SG_COH_LINKED_LIST,
    SG_COH_SNOOP,
};
enum sg_barrier_kind { SG_BARRIER_CENTRAL, SG_BARRIER_TREE, SG_BARRIER_HARDWARE, SG_BARRIER_SIMPLE };
enum sg_lock_kind { SG_LOCK_TEST_AND_SET, SG_LOCK_TICKET, SG_LOCK_QUEUE };
enum sg_placement { SG_PLACE_FIRST_TOUCH, SG_PLACE_INTERLEAVE, SG_PLACE_BLOCK, SG_PLACE_NODE };
enum sg_replacement { SG_REPLACE_LRU, SG_REPLACE_TREE_PLRU, SG_REPLACE_RANDOM, SG_REPLACE_FIFO };
enum sg_prefetch_kind { SG_PREFETCH_NONE, SG_PREFETCH_NEXT_LINE, SG_PREFETCH_STRIDE };

typedef struct sg_cache_level {
    uint64_t size_bytes;
    uint32_t line_bytes;
    uint32_t ways;
    uint32_t hit_cycles; /* to look into this level after a miss of the level before; a miss of several
                          * levels pays for each it looked into; usually 0 for the first */
    uint32_t shared_by;  /* processors that share one instance; 1 = private */
    enum sg_replacement replacement;
    uint32_t remote_only; /* a shared level keeps lines of other nodes' memory only: a network cache */
} sg_cache_level;

#define SG_MAX_PARAMETERS 32

/* What is collected besides in this run (run.collect, a list of names). */
enum sg_collect { SG_COLLECT_CLASSES = 1 };
/* What is taken as ideal in this run (run.ideal, a list of names); docs/WHATIF.md says what each means. */
enum sg_ideal {
    SG_IDEAL_CONTENTION = 1, /* nobody waits for a slot, link, directory, module or line */
    SG_IDEAL_NETWORK = 2,    /* besides, what is remote costs what the node's own memory costs */
    SG_IDEAL_CACHE = 4,      /* caches lose no line but to another processor */
    SG_IDEAL_SYNC = 8,       /* primitives take no time */
};

/* What a trace tells (trace.what, a list of names; all if there is none). */
enum sg_traced {
    SG_TRACED_REGIONS = 1,
    SG_TRACED_WAITS = 2, /* and who comes to a barrier */
    SG_TRACED_LOCKS = 4,
    SG_TRACED_TASKS = 8,
    SG_TRACED_CHUNKS = 16,
    SG_TRACED_SHARES = 32,
    SG_TRACED_COUNTERS = 64,
};

/* One machine.network.* value of the file, by its name without the prefix. */
typedef struct sg_parameter {
    char name[48];
    uint64_t value;
} sg_parameter;

typedef struct sg_config {
    /* run.* */
    uint32_t processors; /* of this run */
    uint64_t arena_bytes;
    uint64_t stack_bytes;
    uint64_t quantum_cycles; /* how far a processor may run ahead of the earliest one on hits alone */
    char result_path[SG_MAX_PATH];
    char blocks_path[SG_MAX_PATH];
    uint32_t collect;  /* of enum sg_collect, added up */
    char schedule[64]; /* for schedule(runtime), in OMP_SCHEDULE syntax; empty: libgomp's default */
    uint32_t ideal;    /* of enum sg_ideal, added up; usually 0 */
    char scale_path[SG_MAX_PATH]; /* of the virtual speedups (sg_whatif.h); usually empty */
    /* trace.*: sg_trace.h */
    char trace_file[SG_MAX_PATH]; /* empty: the run writes no trace */
    uint32_t trace_what;          /* of enum sg_traced, added up */
    uint64_t trace_interval;      /* cycles that one stretch of shares has at most, roughly; 0: no limit */
    uint64_t trace_begin;         /* cycles: what happens before, and from trace_end on, is not told */
    uint64_t trace_end;           /* 0: to the end */
    char trace_region[256];       /* numbers with commas between them; empty: whatever region it is */
    uint64_t trace_limit;         /* bytes of the file; 0: no limit */
    /* machine.* */
    uint32_t max_processors;
    double clock_hz;
    uint32_t issue_width;                 /* operations begun in one cycle at most */
    uint32_t op_millicycles[SG_OP_COUNT]; /* throughput cost of an operation class, in 1/1000 cycle */
    uint32_t out_of_order;       /* 1: units work side by side, and blocks overlap; 0: costs add up */
    uint32_t memory_parallelism; /* misses of a processor under way at a time, in 1/1000; 0: one */
    uint32_t levels;
    sg_cache_level level[SG_MAX_LEVELS];
    uint32_t coherence_line_bytes;
    enum sg_coherence coherence;
    uint32_t coherence_exclusive; /* 1: a line that nobody else holds is handed out writable (MESI), 0: MSI */
    uint32_t coherence_owned;     /* 1: a dirty line stays with its owner when others read it (MOESI) */
    uint32_t coherence_pointers;  /* holders that a limited directory knows */
    enum sg_network network;
    /* The network's own file declares its parameters (sg_net.h), reads them with sg_config_u64 and alone
     * knows their meaning. */
    sg_parameter parameter[SG_MAX_PARAMETERS];
    uint32_t parameters;
    uint32_t page_bytes;
    uint32_t page_miss_cycles;
    enum sg_placement placement;
    uint32_t placement_block_pages; /* block: so many pages to each node in turn */
    uint32_t placement_node;        /* node: all pages there */
    enum sg_prefetch_kind prefetch;
    uint32_t prefetch_level; /* the private level that prefetched lines are brought into, not the first */
    uint32_t prefetch_degree, prefetch_distance; /* lines brought at a time; how many lines ahead */
    enum sg_barrier_kind barrier;
    uint32_t barrier_radix;           /* tree */
    uint32_t barrier_hardware_cycles; /* hardware: from last arrival to release */
    enum sg_lock_kind lock;
    uint32_t atomic_cycles;             /* read-modify-write in the processor, besides its memory access */
    uint32_t fork_cycles;               /* instructions of the master to start a team, once */
    uint32_t fork_per_processor_cycles; /* and for each member */
    uint32_t create_cycles;             /* and for each thread that did not exist before */
    uint32_t schedule_cycles; /* instructions to compute the next chunk, besides its memory accesses */
    uint32_t lock_cycles;     /* instructions of acquire or release, besides their memory accesses */
    uint32_t barrier_cycles;  /* instructions of one arrival, besides its memory accesses */
    uint32_t task_cycles;     /* instructions to create or dispatch a task */
    uint32_t thread_cycles;   /* of the system, to create or end a thread */
    uint32_t switch_cycles;   /* of the system, when a processor takes another thread than before */
    uint64_t slice_cycles;    /* for which a thread keeps its processor while others wait for it */
} sg_config;

/* Reads `path` into `config`. Returns 0, or -1 with one sentence in `error`. */
int sg_config_read(const char *path, sg_config *config, char *error, size_t error_size);
/* Value of the network parameter `name` (without the prefix); the reader has made sure that it is there. */
uint64_t sg_config_u64(const sg_config *config, const char *name);

#endif
