/* The memory system of the simulated machine: private caches, coherence, network. It identifies processors by
 * number and counts time in cycles; it knows nothing of programs, OpenMP or coroutines. Single host thread.
 * All state hangs off one sg_mem. */
#ifndef SG_MEM_H
#define SG_MEM_H

#include <stdint.h>

#include "sg_access.h"
#include "sg_config.h"
#include "sg_usage.h"

/* For functions that only prefetch: gcc thinks they do nothing and drops their calls unless it inlines them
 * first. */
#define SG_ASKS inline __attribute__((always_inline))

/* Fast-path filter of one processor: the most recently used entry of each first-level set (sg_cache.h). A hit
 * here changes no state and costs no extra cycle: a read hits if the line matches, a write if the processor
 * may also write it without a message. */
typedef struct sg_filter {
    uint64_t *first;
    uint64_t mask;  /* number of entries - 1 */
    uint32_t shift; /* log2 of the first level's line size */
    /* The other ways of the first level, side by side for each set. */
    uint64_t *rest;
    uint32_t rest_ways;  /* of a set; 0 with another layout */
    uint32_t hit_cycles; /* of the first level */
} sg_filter;

/* An entry's upper two bits are the state of the copy; for a write hit they are shifted down. */
#define SG_FILTER_STATE_BITS 2
#define SG_FILTER_MODIFIED   3u

/* Does `entry` answer a reference to `line`? An empty entry (0) matches line 0, which no program has. */
static inline int sg_filter_answers(uint64_t entry, uint64_t line, int is_read)
{
    uint64_t differs = entry ^ line;
    if (is_read)
        return differs << SG_FILTER_STATE_BITS == 0;
    return (differs << SG_FILTER_STATE_BITS | differs >> (64 - SG_FILTER_STATE_BITS)) == SG_FILTER_MODIFIED;
}

/* An entry that hits for every reference to `line`. */
static inline uint64_t sg_filter_entry(uint64_t line)
{
    return line | (uint64_t)SG_FILTER_MODIFIED << (64 - SG_FILTER_STATE_BITS);
}

/* Do references never take time on this machine? It then has no data cache: operation costs include
 * memory. */
int sg_mem_is_free(const sg_config *config);

sg_mem *sg_mem_create(const sg_config *config, char *error, unsigned error_size);
void sg_mem_destroy(sg_mem *mem);
sg_filter *sg_mem_filter(sg_mem *mem, uint32_t processor);

/* Tries to serve a reference that missed the filter from the other ways of the first level, if that changes
 * only the order of use: `first` is the set's most recently used entry, `rest` the others. Returns 1 when
 * served, at the first level's hit_cycles; 0 if the first level lacks the line; -1 if it has the line but
 * that is not enough. */
static inline int sg_filter_serve(uint64_t *first, uint64_t *rest, uint32_t ways, uint64_t line, int is_read)
{
    uint64_t front = *first;
    if (front == 0)
        return 0;
    if ((front ^ line) << SG_FILTER_STATE_BITS == 0)
        return -1; /* a read would have hit in the filter */
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

/* Second step, after a filter miss: tries to serve the access from the processor's own private caches,
 * without effects visible to other processors. Returns 1 when served (costs added to outcome), 0 when the
 * access must go out (nothing changed); the caller then waits until `processor` has the earliest clock and
 * calls sg_mem_access. The caller splits accesses that span lines (sg_mem_line_bytes). */
int sg_mem_try_private(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                       sg_outcome *outcome);
/* The same for a line that the caller knows is not in the first level. */
int sg_mem_try_behind(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind,
                      sg_outcome *outcome);

/* The whole access at time `now` (cycles), whatever it takes: private hit, shared cache, coherence, network,
 * contention, page miss. Adds to `outcome`. Successive calls have non-decreasing `now`, up to the caller's
 * quantum. */
void sg_mem_access(sg_mem *mem, uint32_t processor, uint64_t address, enum sg_access kind, uint64_t now,
                   sg_outcome *outcome);

/* Prefetches the host memory that an access of `processor` to `address` will look up, and the program's data
 * there. Changes nothing. */
void sg_mem_expect(const sg_mem *mem, uint32_t processor, uint64_t address);
/* The same, later, for shared caches and the supplier of the line: what the first call prefetched shows where
 * they are. */
void sg_mem_expect_shared(const sg_mem *mem, uint32_t processor, uint64_t address);

/* From now on, references of `processor` occupy no network, directory or memory; or they do again. */
void sg_mem_remove(sg_mem *mem, uint32_t processor, int removed);

/* Reports the activity so far of every link and memory module of the network. */
void sg_mem_statistics(const sg_mem *mem, sg_usage_visit *visit, void *context);

/* Where pages go: as set by mbind, set_mempolicy and libnuma. */
#define SG_POLICY_NODES 1024u
struct sg_policy {
    enum sg_placement kind;
    uint32_t node;                        /* of SG_PLACE_NODE */
    uint64_t nodes[SG_POLICY_NODES / 64]; /* of SG_PLACE_INTERLEAVE: bitmap, not empty */
};

/* From now on each `group` of processors has its own memory in [low, low + bytes): sg_alias. */
void sg_mem_alias(sg_mem *mem, uint64_t low, uint64_t bytes, uint32_t group);
/* The address at which another processor of the node reaches what `processor` has at `address`. */
uint64_t sg_mem_address_of(const sg_mem *mem, uint32_t processor, uint64_t address);

/* Memory places of a node, and the one nearest to a processor. */
uint32_t sg_mem_nodes(const sg_mem *mem);
uint32_t sg_mem_node_of(const sg_mem *mem, uint32_t processor);
/* Place in the node of `processor` where the page of `address` lives or has been assigned; -1: decided at
 * first touch. */
int64_t sg_mem_page_node(const sg_mem *mem, uint32_t processor, uint64_t address);
enum sg_placing {
    SG_PLACE_UNTOUCHED, /* only untouched pages; the others stay */
    SG_PLACE_MOVE,      /* touched ones are moved, at no cost */
    SG_PLACE_FRESH,     /* new memory, all of it untouched */
};
/* In the node of `processor`. */
void sg_mem_place(sg_mem *mem, uint32_t processor, uint64_t address, uint64_t bytes, const sg_policy *policy,
                  enum sg_placing how);
/* `policy_of` gives the policy of the thread on a processor, or NULL: the machine's rule. */
void sg_mem_policies(sg_mem *mem, const sg_policy *(*policy_of)(uint32_t processor));

/* From now on the system's clock, by which it marks and moves pages, runs at the configured pace. */
void sg_mem_hasten(sg_mem *mem, uint64_t now);

/* Smallest line size, which an access may not span. */
uint32_t sg_mem_line_bytes(const sg_mem *mem);

/* Checks the invariants of the whole state (one owner; sharers match the directory; filters agree with
 * caches). Returns 0, or -1 with a sentence. For tests and SG_CHECK=1. */
int sg_mem_check(const sg_mem *mem, char *error, unsigned error_size);

#endif
