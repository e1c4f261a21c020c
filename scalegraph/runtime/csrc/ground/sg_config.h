/* Configuration of one simulated run: a text file of `key value` lines, written by scalegraph.machine (keys
 * machine.*) and scalegraph.link (keys run.*). Unknown keys and malformed values are rejected: a typo must
 * not falsify an experiment. */
#ifndef SG_CONFIG_H
#define SG_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sg_format.h"
#include "sg_machine.h" /* fields, ranges and names of the machine.* values */

#define SG_MAX_PATH 4096

/* Members of a struct, from the lists of sg_machine.h. */
#define SG_MEMBER_U32(member, ...)             uint32_t member;
#define SG_MEMBER_U64(member, ...)             uint64_t member;
#define SG_MEMBER_REAL(member, ...)            double member;
#define SG_MEMBER_NAME(member, key, kind, ...) enum kind member;

/* A level costs hit_cycles when it is searched after a miss in the level before; a miss in several levels
 * pays for each. */
typedef struct sg_cache_level {
    SG_LEVEL_FIELDS(SG_MEMBER_U32, SG_MEMBER_U64, SG_MEMBER_REAL, SG_MEMBER_NAME)
} sg_cache_level;

#define SG_MAX_PARAMETERS 32
#define SG_MAX_SPEEDS     64

/* Optional data collected in this run (run.collect, a list of names). */
enum sg_collect {
    SG_COLLECT_CLASSES = 1,
    SG_COLLECT_SAMPLES = 2, /* exclusive: repeated phases are sampled */
    SG_COLLECT_LONG = 4,    /* they are once the run has been long, see sample_after */
};
/* What this run idealises (run.ideal, a list of names); docs/WHATIF.md explains each. */
enum sg_ideal {
    SG_IDEAL_CONTENTION = 1, /* nobody waits for a slot, link, directory, module or line */
    SG_IDEAL_NETWORK = 2,    /* and remote accesses cost as much as local ones */
    SG_IDEAL_CACHE = 4,      /* caches lose lines only to other processors */
    SG_IDEAL_SYNC = 8,       /* synchronisation primitives are free */
    SG_IDEAL_MESSAGES = 16,  /* messages are free, and so are sending and receiving */
    SG_SKIMMING = 32,        /* set by observe/sg_sample.c: no memory references at the moment */
    SG_REMOVED = 64,         /* set by observe/sg_whatif.c: the current reference occupies no resource */
};

/* What a trace records (trace.what, a list of names; default: everything). */
enum sg_traced {
    SG_TRACED_REGIONS = 1,
    SG_TRACED_WAITS = 2, /* and who arrives at a barrier */
    SG_TRACED_LOCKS = 4,
    SG_TRACED_TASKS = 8,
    SG_TRACED_CHUNKS = 16,
    SG_TRACED_SHARES = 32,
    SG_TRACED_COUNTERS = 64,
    SG_TRACED_MESSAGES = 128,
};

/* A machine.network.* or machine.interconnect.* value of the file, named without the prefix. */
typedef struct sg_parameter {
    char name[48];
    uint64_t value;
} sg_parameter;

/* A parameter of a kind of network or interconnect. */
typedef struct sg_net_parameter {
    const char *name; /* without the prefix; a null name ends a list */
    uint64_t least, most;
    int optional; /* 0 is the default */
} sg_net_parameter;

typedef struct sg_parameters {
    sg_parameter parameter[SG_MAX_PARAMETERS];
    uint32_t count;
} sg_parameters;

typedef struct sg_config {
    /* run.* */
    uint32_t processors;
    uint32_t ranks; /* processes that share the processors; 0: no message passing */
    uint64_t arena_bytes;
    uint64_t stack_bytes;
    uint64_t quantum_cycles; /* how far a processor may run ahead of the earliest one while it only hits */
    char result_path[SG_MAX_PATH];
    char blocks_path[SG_MAX_PATH];
    char rows_path[SG_MAX_PATH];  /* socket that answers for missing rows (sg_rows.c); usually empty */
    uint32_t collect;             /* bits of enum sg_collect */
    uint64_t sample_after;        /* with SG_COLLECT_LONG: simulated work before that, see sg_sample.c */
    char loops_path[SG_MAX_PATH]; /* names the loops' schedules; empty: as in the program */
    char schedule[256]; /* for schedule(runtime), in OMP_SCHEDULE syntax; empty: libgomp's default */
    uint32_t ideal;     /* bits of enum sg_ideal; usually 0 */
    char scale_path[SG_MAX_PATH]; /* the virtual speedups (sg_whatif.c); usually empty */
    /* trace.*: sg_trace.c */
    char trace_file[SG_MAX_PATH]; /* empty: no trace */
    uint32_t trace_what;          /* bits of enum sg_traced */
    uint64_t trace_interval; /* maximum length of an interval of shares in cycles, roughly; 0: no limit */
    uint64_t trace_begin;    /* cycles: nothing before it, or from trace_end on, is recorded */
    uint64_t trace_end;      /* 0: to the end */
    char trace_region[256];  /* comma-separated numbers; empty: any region */
    uint64_t trace_limit;    /* maximum file size in bytes; 0: no limit */
    /* machine.*: explained in scalegraph/machine */
    SG_MACHINE_FIELDS(SG_MEMBER_U32, SG_MEMBER_U64, SG_MEMBER_REAL, SG_MEMBER_NAME)
    uint32_t op_millicycles[SG_OP_COUNT]; /* throughput cost of each operation class, in 1/1000 cycle */
    sg_cache_level level[SG_MAX_LEVELS];
    enum sg_network network;
    /* Only the network's own file knows these; it reads them with sg_config_u64. */
    sg_parameters network_parameters;
    enum sg_wire_kind wire; /* the interconnect; SG_WIRE_NONE: a single node */
    sg_parameters wire_parameters;
    uint32_t node_speed[SG_MAX_SPEEDS]; /* in thousandths; node n has the speed at n % node_speeds */
    uint32_t node_speeds;
} sg_config;

static inline uint64_t sg_config_parameter(const sg_parameters *all, const char *name)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->parameter[i].name, name) == 0)
            return all->parameter[i].value;
    return 0;
}
/* Value of the network parameter `name` (without the prefix), which the reader has checked to exist. */
static inline uint64_t sg_config_u64(const sg_config *config, const char *name)
{
    return sg_config_parameter(&config->network_parameters, name);
}

/* The same for a parameter of the interconnect. */
static inline uint64_t sg_config_wire(const sg_config *config, const char *name)
{
    return sg_config_parameter(&config->wire_parameters, name);
}

/* Processors per node; all of them on a single-node machine. */
static inline uint32_t sg_config_node_processors(const sg_config *config)
{
    return config->node_processors > 0 ? config->node_processors : config->max_processors;
}

/* Speed of a node's processors in thousandths of the machine's; block costs are divided by it. */
static inline uint32_t sg_config_node_speed(const sg_config *config, uint32_t node)
{
    return config->node_speeds > 0 ? config->node_speed[node % config->node_speeds] : 1000;
}

#endif
