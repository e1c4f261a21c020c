/* The state of the memory system, shared by sg_mem.c (what an access does) and sg_mem_check.c. */
#ifndef SG_MEM_STATE_H
#define SG_MEM_STATE_H

#include "sg_cache.h"
#include "sg_dir.h"
#include "sg_divisor.h"
#include "sg_mem.h"
#include "sg_net.h"

/* Where a private cache of a processor has a line. */
typedef struct sg_place {
    uint64_t address; /* that was searched for */
    uint32_t level;   /* mem->private_levels: nowhere */
    int way;
    sg_set set;
    uint64_t cycles; /* to examine the levels up to this one */
    /* Of the directory, for this address; NULL: not searched for, or not made yet. */
    sg_line *entry;
    uint32_t *home;
} __attribute__((aligned(64))) sg_place;

/* Ranks of a program have data at equal addresses. Private caches, which serve one rank only, and all that is
 * outside the memory system go by these; the directory, shared caches and the network by others, which no two
 * ranks share and which fall into the same sets. */
typedef struct sg_alias {
    uint64_t low, bytes; /* where equal addresses are; bytes: a power of two, 0: there are none */
    sg_divisor group;    /* processors of a rank */
} sg_alias;

#define SG_ALIAS_BASE (1ull << 46)

struct sg_mem {
    uint32_t processors;
    uint32_t private_levels; /* level[0 .. private_levels - 1] belong to one processor */
    int sparse;              /* host memory counts more than time, see sg_cache_create */
    uint32_t has_shared;     /* level[private_levels] is shared by `group` processors */
    sg_divisor group;
    uint32_t attraction;    /* COMA: the last private level is all the memory there is */
    uint32_t exclusive;     /* a sole reader gets the line writable */
    uint32_t owned;         /* a dirty line that others read stays with its owner */
    uint32_t pointers;      /* holders that the directory knows; 0: all */
    uint32_t broadcast;     /* with more holders: send to all; else: the directory makes one drop its copy */
    uint32_t remote_only;   /* the shared level keeps lines of other nodes only */
    struct sg_homes *homes; /* sg_homes.c */
    struct sg_prefetch *prefetch; /* sg_mem_prefetch.c; NULL: none */
    uint32_t inclusive;           /* the shared level has all that the private ones have */
    enum sg_claim claim;          /* of a stream of stores */
    uint32_t
        read_millicycles; /* a line takes that long to get into a processor's private caches; 0: nothing */

    uint64_t *entrance;  /* of each processor's private caches: taken until then, in thousandths */
    uint32_t line_shift; /* of a coherence line */
    uint64_t set_bits;   /* of its number: where two differ they are in different private sets */
    uint32_t page_shift;
    uint32_t page_miss_cycles;
    uint32_t private_cycles; /* examining all private levels in vain */
    uint32_t walk_cycles;    /* to look up the place of a page; 0: translation costs nothing */
    sg_cache pages;          /* whose place each processor knows */
    sg_cache level[SG_MAX_LEVELS];
    sg_filter *filter;
    /* What each processor searched for in vain last; address 0: that may have changed. */
    sg_place *found;
    sg_dir dir;
    const sg_net_ops *ops;
    void *net;
    sg_alias alias;
    /* Called when the private caches of `p` lose a line, if anybody wants to know; NULL: nobody. */
    void (*lost)(uint32_t p, uint64_t line, int invalidated);
    uint64_t *others; /* scratch bitmap: holders without the requester */
    uint64_t *told;   /* scratch bitmap: those that have to drop their copy, where they are not the same */
    /* A machine of several nodes: each is a memory system of its own (sg_mem_node.c); of the machine's own
     * one only these four and the store of the directories are used. */
    struct sg_mem **node;
    uint32_t nodes;
    sg_divisor node_processors;
    uint32_t first; /* of a node: the number in the machine of its first processor */
    /* Idealised machines (sg_whatif_mem.c); all 0 without. */
    uint32_t ideal;
    uint64_t alone, alone_step; /* when the transaction before began on its own, and what is between two */
    uint64_t own_memory;        /* a fetch from the node's own memory takes so many cycles */
};

/* The node of processor `*p`, which becomes its number there. */
static inline sg_mem *sg_mem_part(const sg_mem *mem, uint32_t *p)
{
    if (__builtin_expect(!mem->node, 1))
        return (sg_mem *)mem;
    uint32_t node = (uint32_t)sg_quotient(*p, &mem->node_processors);
    *p -= node * (uint32_t)mem->node_processors.by;
    return mem->node[node];
}

/* The memory system of a node, for what is alike in all. */
static inline const sg_mem *sg_mem_any(const sg_mem *mem)
{
    return mem->node ? mem->node[0] : mem;
}

/* ---- sg_mem_create.c ---- */

/* `store` keeps the directory of a node; NULL: it keeps itself. `sparse`: see sg_cache_create. */
sg_mem *sg_mem_create_one(const sg_config *config, sg_dir *store, int sparse, char *error,
                          unsigned error_size);

void sg_mem_destroy_one(sg_mem *mem);
/* `lost` is called when a processor's private caches lose a line. */
void sg_mem_watch(sg_mem *mem, void (*lost)(uint32_t p, uint64_t line, int invalidated));

/* ---- sg_mem.c ---- */

/* Removes the copies of line `wide`, of 1 << shift bytes, from levels below `levels`. */
void sg_mem_invalidate(sg_mem *mem, uint32_t p, uint64_t wide, uint32_t shift, uint32_t levels);

static inline void sg_mem_stall(sg_outcome *out, enum sg_category category, uint64_t cycles, uint64_t *now)
{
    out->stall[category] += cycles;
    out->cycles += cycles;
    *now += cycles;
}

/* The address of the machine for one of the program, as processor `p` uses it. */
static inline uint64_t sg_mem_global(const sg_mem *mem, uint32_t p, uint64_t address)
{
    uint64_t offset = address - mem->alias.low;
    if (offset >= mem->alias.bytes)
        return address;
    return SG_ALIAS_BASE + sg_quotient(p, &mem->alias.group) * mem->alias.bytes + offset;
}

/* The other way round: what another rank has at such an address keeps the machine's address, also in the
 * caches of `p`. */
static inline uint64_t sg_mem_local(const sg_mem *mem, uint32_t p, uint64_t address)
{
    if (address < SG_ALIAS_BASE || mem->alias.bytes == 0 || address >= SG_ALIAS_BASE << 1)
        return address;
    uint64_t offset = address - SG_ALIAS_BASE - sg_quotient(p, &mem->alias.group) * mem->alias.bytes;
    return offset < mem->alias.bytes ? mem->alias.low + offset : address;
}

static inline uint64_t sg_mem_local_line(const sg_mem *mem, uint32_t p, uint64_t line)
{
    return sg_mem_local(mem, p, line << mem->line_shift) >> mem->line_shift;
}

static inline uint32_t sg_mem_home_of(const sg_mem *mem, uint64_t address)
{
    sg_dir *dir = (sg_dir *)&mem->dir;
    uint32_t home = *sg_dir_home(dir, sg_dir_chunk(dir, address), address);
    return home ? (home & ~SG_DIR_PLACED) - 1 : 0;
}

/* ---- sg_mem_shared.c ---- */

/* The shared cache of processor `p`. */
static inline uint32_t sg_group_of(const sg_mem *mem, uint32_t p)
{
    return (uint32_t)sg_quotient(p, &mem->group);
}

void sg_mem_write_back(sg_mem *mem, uint32_t p, uint64_t line, uint64_t now, sg_outcome *out);
/* Puts a line that a private cache gives up into the shared cache of its group. */
void sg_shared_keep(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, int dirty, uint64_t now,
                    sg_outcome *out);
/* Does the shared cache of `p` keep lines of this address? */
static inline int sg_shared_keeps(const sg_mem *mem, uint32_t p, uint64_t address)
{
    return mem->has_shared &&
           (!mem->remote_only || sg_mem_home_of(mem, address) != mem->ops->node_of(mem->net, p));
}

void sg_shared_drop(sg_mem *mem, sg_line *entry, uint64_t line);
/* The inclusive shared cache of `p` gets a line that `p` has now; what it gives up its processors lose. */
void sg_shared_include(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, uint64_t now, sg_outcome *out);
/* The shared cache that answers for a line that several may have: the one with the dirty copy, or any; -1
 * when memory is nearer than a clean copy in a network cache. */
int sg_shared_choose(const sg_mem *mem, const sg_line *entry, uint64_t line, int *dirty);
/* Serves a fetch that the requester's own shared cache can serve; returns the state of the new copy, or
 * SG_INVALID when a transaction is needed all the same. */
enum sg_copy sg_shared_try(sg_mem *mem, sg_line *entry, sg_request *r, sg_outcome *out);

/* ---- sg_mem_limited.c ---- */

/* A limited directory does not know all holders: a write sends to all, or a read makes one drop its copy.
 */
void sg_limited_targets(sg_mem *mem, const sg_line *entry, sg_request *r);
/* The holder that a limited directory gives up for the sake of a new one loses its copy. */
void sg_limited_give_up(sg_mem *mem, sg_line *entry, const sg_request *r, sg_outcome *out);

/* ---- sg_whatif_mem.c ---- */

void sg_ideal_open(sg_mem *mem, const sg_config *config);
/* The levels of `config` so large that nothing ever has to leave them. */
void sg_ideal_levels(sg_config *config);
/* One transaction of an idealised machine. */
void sg_ideal_transact(sg_mem *mem, const sg_request *request, sg_reply *reply);

/* sg_mem.c, for the prefetcher: brings the line of `address`, of which no private cache of `p` has a copy,
 * into the private levels from `level` on, by a read at `now` that nobody waits for. Returns the cycles until
 * it is there, `waited` of them for others, or UINT64_MAX when it cannot be brought. Counts in `out` what
 * happens to others. */
uint64_t sg_mem_bring(sg_mem *mem, uint32_t p, uint64_t address, uint32_t level, enum sg_claim claim,
                      uint64_t now, sg_outcome *out, int *remote, uint64_t *waited);
int sg_mem_has(const sg_mem *mem, uint32_t p, uint64_t address);

/* sg_homes.c */
struct sg_homes *sg_homes_create(const sg_config *config);
void sg_homes_destroy(struct sg_homes *homes);
/* The node where a page begins its life that `processor` touches first. */
uint32_t sg_homes_choose(const sg_mem *mem, uint32_t processor, uint64_t address);

/* sg_mem_prefetch.c */
struct sg_prefetch *sg_prefetch_create(const sg_config *config);
void sg_prefetch_destroy(struct sg_prefetch *prefetch);
/* Was the line of `address` prefetched for `p` and not used since? */
int sg_prefetch_awaits(const sg_mem *mem, uint32_t p, uint64_t address);
/* The processor uses the line now: returns how long it has to wait for its arrival, forgets it. */
uint64_t sg_prefetch_use(sg_mem *mem, uint32_t p, uint64_t address, uint64_t now, int *remote);
/* A miss or the first use of a prefetched line at `address`: brings what will be wanted next. */
void sg_prefetch_next(sg_mem *mem, uint32_t p, uint64_t address, int writes, uint64_t now, sg_outcome *out);
/* Is a store to `address` the next one of a stream that fills line after line? */
int sg_prefetch_fills(const sg_mem *mem, uint32_t p, uint64_t address);
/* A line of `p` is written back: it holds up what is on its way. */
void sg_prefetch_wrote(sg_mem *mem, uint32_t p, uint64_t now);

#endif
