/* The memory system of the simulated machine: private caches, coherence, network.
 * It knows processors by number and time by cycles; it knows no program, no OpenMP, no coroutine.
 * Single host thread. All state hangs off one sg_mem. */
#ifndef SG_MEM_H
#define SG_MEM_H

#include <stdint.h>

#include "sg_config.h"
#include "sg_usage.h"

/* Of functions that only ask the host's memory for something: gcc takes them for functions that do nothing,
 * and leaves out their calls unless it has put them in line first. */
#define SG_ASKS inline __attribute__((always_inline))

enum sg_access { SG_READ, SG_WRITE, SG_RMW };

/* What slow accesses cost: both functions below add to it and never clear it. */
typedef struct sg_outcome {
    uint64_t cycles;                   /* sum of stall[] */
    uint64_t stall[SG_CATEGORY_COUNT]; /* only the memory_stall categories are used */
    uint32_t count[SG_COUNTER_COUNT];  /* only memory counters are used (not reads/writes) */
} sg_outcome;

/* Fast-path filter of one processor: the most recently used entry of each set of the first level
 * (sg_cache.h). A reference that hits here changes no state and costs no extra cycle: a read when the line
 * is the same, a write when besides the processor may write without a message. */
typedef struct sg_filter {
    uint64_t *first;
    uint64_t mask;  /* number of entries - 1 */
    uint32_t shift; /* log2 of the first level's line size */
    /* The other ways of the first level, those of a set side by side. */
    uint64_t *rest;
    uint32_t rest_ways;  /* of a set; 0 where they lie otherwise */
    uint32_t hit_cycles; /* of the first level */
} sg_filter;

/* The entry's upper two bits are the state of the copy; those of a write hit, moved down. */
#define SG_FILTER_STATE_BITS 2
#define SG_FILTER_MODIFIED   3u

/* Does `entry` answer a reference to `line`? An empty entry (0) answers for line 0, which no program has. */
static inline int sg_filter_answers(uint64_t entry, uint64_t line, int is_read)
{
    uint64_t differs = entry ^ line;
    if (is_read)
        return differs << SG_FILTER_STATE_BITS == 0;
    return (differs << SG_FILTER_STATE_BITS | differs >> (64 - SG_FILTER_STATE_BITS)) == SG_FILTER_MODIFIED;
}

/* The entry that answers every reference to `line`. */
static inline uint64_t sg_filter_entry(uint64_t line)
{
    return line | (uint64_t)SG_FILTER_MODIFIED << (64 - SG_FILTER_STATE_BITS);
}

typedef struct sg_mem sg_mem;

/* Does no reference ever take time on this machine? Then it has no data cache: operation costs contain all
 * that memory takes. */
int sg_mem_is_free(const sg_config *config);

sg_mem *sg_mem_create(const sg_config *config, char *error, unsigned error_size);
void sg_mem_destroy(sg_mem *mem);
sg_filter *sg_mem_filter(sg_mem *mem, uint32_t processor);

/* Serves a reference that the filter did not answer from the other ways of the first level, if it changes
 * nothing there but the order of use: `first` is the most recently used entry of the set, `rest` the others.
 * Returns 1 when served, at hit_cycles of the first level; 0 when the first level does not have the line;
 * -1 when it has it but that is not enough. */
static inline int sg_filter_serve(uint64_t *first, uint64_t *rest, uint32_t ways, uint64_t line, int is_read)
{
    uint64_t front = *first;
    if (front == 0)
        return 0;
    if ((front ^ line) << SG_FILTER_STATE_BITS == 0)
        return -1; /* the filter would have answered a read */
    for (uint32_t i = 0; i < ways; i++) {
        uint64_t entry = rest[i];
        if ((entry ^ line) << SG_FILTER_STATE_BITS != 0) {
            if (entry == 0)
                return 0;
            continue;
        }
        if (!is_read && !sg_filter_answers(entry, line, 0))
            return -1;
        for (; i > 0; i--)
            rest[i] = rest[i - 1];
        rest[0] = front;
        *first = entry;
        return 1;
    }
    return 0;
}

static inline int sg_mem_hit(const sg_filter *f, uint64_t address, uint32_t size, enum sg_access kind)
{
    uint64_t line = address >> f->shift, entry = f->first[line & f->mask];
    if (line != (address + size - 1) >> f->shift)
        return 0;
    return entry != 0 && sg_filter_answers(entry, line, kind == SG_READ);
}

/* Second step, after the filter said no: tries to serve the access from the processor's own
 * private caches, without any effect that another processor could see. Returns 1 when served
 * (costs added to outcome), 0 when the access must go out (nothing changed); the caller then makes sure
 * that `processor` has the earliest clock and calls sg_mem_access. An access that spans lines is
 * split by the caller (sg_mem_line_bytes). */
int sg_mem_try_private(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                       sg_outcome *outcome);
/* The same for a line of which the caller knows that the first level does not have it. */
int sg_mem_try_behind(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                      sg_outcome *outcome);

/* The whole access at time `now` (cycles), whatever it takes: private hit, shared cache, coherence,
 * network, contention, page miss. Adds to `outcome`. Calls come in non-decreasing `now` up to the
 * caller's quantum. */
void sg_mem_access(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind, uint64_t now,
                   sg_outcome *outcome);

/* Asks the host for the memory that an access of `processor` to `address` will examine, also for the
 * program's own data there. Changes nothing. */
void sg_mem_expect(const sg_mem *mem, uint32_t processor, uint64_t address);
/* The same, later, for what the access will examine in shared caches and in the one that supplies the line:
 * what the first one has requested shows where that is. */
void sg_mem_expect_shared(const sg_mem *mem, uint32_t processor, uint64_t address);

/* From now on, or no longer, what `processor` references occupies no network, directory or memory. */
void sg_mem_remove(sg_mem *mem, uint32_t processor, int removed);

/* Reports what every link and every memory module of the network has done so far. */
void sg_mem_statistics(const sg_mem *mem, sg_usage_visit *visit, void *context);

/* Where pages go: what the program requests with mbind, set_mempolicy and the calls of libnuma. */
#define SG_POLICY_NODES 1024u
typedef struct sg_policy {
    enum sg_placement kind;
    uint32_t node;                        /* of SG_PLACE_NODE */
    uint64_t nodes[SG_POLICY_NODES / 64]; /* of SG_PLACE_INTERLEAVE: bitmap, not empty */
} sg_policy;

/* From now on each `group` processors have memory of their own in [low, low + bytes): sg_alias. */
void sg_mem_alias(sg_mem *mem, uint64_t low, uint64_t bytes, uint32_t group);
/* What another processor of the same node references to reach what is `address` for `processor`. */
uint64_t sg_mem_address_of(const sg_mem *mem, uint32_t processor, uint64_t address);

/* Places of a node where a page can be, and the one that is nearest to a processor. */
uint32_t sg_mem_nodes(const sg_mem *mem);
uint32_t sg_mem_node_of(const sg_mem *mem, uint32_t processor);
/* Place in the node of `processor` where the page of `address` lives or has been placed; -1: will be decided
 * when somebody touches it. */
int64_t sg_mem_page_node(const sg_mem *mem, uint32_t processor, uint64_t address);
enum sg_placing {
    SG_PLACE_UNTOUCHED, /* pages that nobody has touched yet; the others stay */
    SG_PLACE_MOVE,      /* the others are moved, at no cost */
    SG_PLACE_FRESH,     /* the range is new memory: nobody has touched any of it */
};
/* In the node of `processor`. */
void sg_mem_place(sg_mem *mem, uint32_t processor, uint64_t address, uint64_t bytes, const sg_policy *policy,
                  enum sg_placing how);
/* `policy_of` records what whoever runs on a processor has requested, or NULL: where the machine puts pages.
 */
void sg_mem_policies(sg_mem *mem, const sg_policy *(*policy_of)(uint32_t processor));

/* Smallest line size that an access may not span. */
uint32_t sg_mem_line_bytes(const sg_mem *mem);

/* Checks the invariants of the whole state (one owner, sharers hold what the directory says, filters
 * agree with caches). Returns 0, or -1 with a sentence. For tests and SG_CHECK=1. */
int sg_mem_check(const sg_mem *mem, char *error, unsigned error_size);

#endif
