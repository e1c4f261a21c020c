/* State of the memory system, shared by sg_mem.c (accesses) and sg_mem_check.c. */
#ifndef SG_MEM_STATE_H
#define SG_MEM_STATE_H

#include "sg_cache.h"
#include "sg_dir.h"
#include "sg_divisor.h"
#include "sg_mem.h"
#include "sg_net.h"

/* Where one of a processor's private caches has a line. */
typedef struct sg_place {
    uint64_t address; /* searched for */
    uint32_t level;   /* mem->private_levels: nowhere */
    int way;
    sg_set set;
    uint64_t cycles; /* to search the levels up to this one */
    /* The directory entry of this address; NULL: not looked up, or not made yet. */
    sg_line *entry;
    uint32_t *home;
    uint64_t page; /* the last one translated, + 1 */
} __attribute__((aligned(64))) sg_place;

_Static_assert(sizeof(sg_place) == 64, "a line of the host");

/* Ranks of a program have data at equal addresses. Private caches, which serve a single rank, and everything
 * outside the memory system use these addresses. The directory, shared caches and the network use others that
 * no two ranks share and that map to the same sets. */
typedef struct sg_alias {
    uint64_t low, bytes; /* range of equal addresses; bytes: a power of two, 0: none */
    sg_divisor group;    /* processors of a rank */
} sg_alias;

#define SG_ALIAS_BASE (1ull << 46)

struct sg_mem {
    uint32_t processors;
    uint32_t private_levels; /* level[0 .. private_levels - 1] belong to one processor */
    int sparse;              /* host memory matters more than time, see sg_cache_create */
    uint32_t has_shared;     /* level[private_levels] is shared by `group` processors */
    sg_divisor group;
    uint32_t attraction;  /* COMA: the last private level is the only memory */
    uint32_t exclusive;   /* a sole reader gets the line writable */
    uint32_t owned;       /* a dirty line that others read stays with its owner (MOESI) */
    uint32_t pointers;    /* holders that the directory can track; 0: all */
    uint32_t broadcast;   /* with more holders: broadcast; otherwise the directory makes one drop its copy */
    uint32_t remote_only; /* the shared level keeps only lines of other nodes */
    struct sg_homes *homes;       /* sg_homes.c */
    struct sg_prefetch *prefetch; /* sg_mem_prefetch.c; NULL: none */
    struct sg_balance *balance;   /* sg_mem_balance.c; NULL: pages stay where they are */
    uint64_t mark_at;             /* when the system marks pages next; UINT64_MAX: never */
    uint64_t touched;             /* pages */
    uint32_t inclusive;           /* the shared level holds everything in the private ones */
    enum sg_claim claim;          /* of a stream of stores */
    uint32_t read_millicycles; /* a line takes this long to enter a processor's private caches; 0: no time */

    uint64_t *entrance;  /* of each processor's private caches: busy until then, in thousandths */
    uint32_t line_shift; /* of a coherence line */
    uint64_t set_bits;   /* bits of a line number; lines that differ here are in different private sets */
    uint32_t page_shift;
    uint32_t page_miss_cycles;
    uint32_t private_cycles; /* to miss in all private levels */
    uint32_t walk_cycles;    /* of a page table walk; 0: translation is free */
    sg_cache pages;          /* TLB of each processor */
    sg_cache level[SG_MAX_LEVELS];
    sg_filter *filter;
    /* What each processor last searched for in vain; address 0: that may have changed. */
    sg_place *found;
    sg_dir dir;
    const sg_net_ops *ops;
    void *net;
    sg_alias alias;
    /* Called when the private caches of `p` lose a line; NULL: nobody wants to know. */
    void (*lost)(uint32_t p, uint64_t line, int invalidated);
    uint64_t *others; /* scratch bitmap: holders without the requester */
    uint64_t *told;   /* scratch bitmap: those that must drop their copy, if they differ from the holders */
    /* A multi-node machine: each node is a memory system of its own (sg_mem_node.c); the machine's own one
     * uses only these four and the directories' store. */
    struct sg_mem **node;
    uint32_t nodes;
    sg_divisor node_processors;
    uint32_t first; /* of a node: its first processor's number in the machine */
    /* Idealised machines (sg_mem_ideal.c); otherwise all 0. */
    uint32_t ideal;
    uint64_t alone, alone_step; /* when the previous transaction began on its own, and the time between two */
    uint64_t own_memory;        /* cycles of a fetch from the node's own memory */
};

/* The node of processor `*p`, which becomes its number within the node. */
static inline sg_mem *sg_mem_part(const sg_mem *mem, uint32_t *p)
{
    if (__builtin_expect(!mem->node, 1))
        return (sg_mem *)mem;
    uint32_t node = (uint32_t)sg_quotient(*p, &mem->node_processors);
    *p -= node * (uint32_t)mem->node_processors.by;
    return mem->node[node];
}

/* The memory system of a node, for what all nodes have in common. */
static inline const sg_mem *sg_mem_any(const sg_mem *mem)
{
    return mem->node ? mem->node[0] : mem;
}

/* ---- sg_mem_create.c ---- */

/* `store` holds the directory of a node; NULL: it holds itself. `sparse`: see sg_cache_create. */
sg_mem *sg_mem_create_one(const sg_config *config, sg_dir *store, int sparse, char *error,
                          unsigned error_size);

void sg_mem_destroy_one(sg_mem *mem);
/* Calls `lost` when a processor's private caches lose a line. */
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

/* The machine's address for the program's, as processor `p` uses it. */
static inline uint64_t sg_mem_global(const sg_mem *mem, uint32_t p, uint64_t address)
{
    uint64_t offset = address - mem->alias.low;
    if (offset >= mem->alias.bytes)
        return address;
    return SG_ALIAS_BASE + sg_quotient(p, &mem->alias.group) * mem->alias.bytes + offset;
}

/* The inverse: an address of another rank stays a machine address, also in the caches of `p`. */
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
    return home ? sg_dir_node(home) : 0;
}

/* ---- sg_mem_shared.c ---- */

/* The shared cache of processor `p`. */
static inline uint32_t sg_group_of(const sg_mem *mem, uint32_t p)
{
    return (uint32_t)sg_quotient(p, &mem->group);
}

void sg_mem_write_back(sg_mem *mem, uint32_t p, uint64_t line, uint64_t now, sg_outcome *out);
/* Puts a private cache's victim into the shared cache of its group. */
void sg_shared_keep(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, int dirty, uint64_t now,
                    sg_outcome *out);
/* Does the shared cache of `p` keep lines of this address? */
static inline int sg_shared_keeps(const sg_mem *mem, uint32_t p, uint64_t address)
{
    return mem->has_shared &&
           (!mem->remote_only || sg_mem_home_of(mem, address) != mem->ops->node_of(mem->net, p));
}

void sg_shared_drop(sg_mem *mem, sg_line *entry, uint64_t line);
/* The inclusive shared cache of `p` gets a line that `p` now has; its processors lose what it evicts. */
void sg_shared_include(sg_mem *mem, uint32_t p, sg_line *entry, uint64_t line, uint64_t now, sg_outcome *out);
/* Which shared cache supplies a line that several may have: the one with the dirty copy, or any; -1 if memory
 * is nearer than a clean copy in a network cache. */
int sg_shared_choose(const sg_mem *mem, const sg_line *entry, uint64_t line, int *dirty);
/* Serves a fetch from the requester's own shared cache; returns the state of the new copy, or SG_INVALID if a
 * transaction is needed anyway. */
enum sg_copy sg_shared_try(sg_mem *mem, sg_line *entry, sg_request *r, sg_outcome *out);

/* ---- sg_mem_limited.c ---- */

/* A limited directory does not know all holders: a write broadcasts, or a read evicts one copy. */
void sg_limited_targets(sg_mem *mem, const sg_line *entry, sg_request *r);
/* The holder that a limited directory drops in favour of a new one loses its copy. */
void sg_limited_give_up(sg_mem *mem, sg_line *entry, const sg_request *r, sg_outcome *out);

/* ---- sg_mem_ideal.c ---- */

void sg_ideal_open(sg_mem *mem, const sg_config *config);
/* Makes the levels of `config` so large that nothing is ever evicted. */
void sg_ideal_levels(sg_config *config);
/* One transaction of an idealised machine. */
void sg_ideal_transact(sg_mem *mem, const sg_request *request, sg_reply *reply);

/* sg_mem.c, for the prefetcher: fetches the line of `address`, absent from the private caches of `p`, into
 * the private levels from `level` on, by a read at `now` that nobody waits for. Returns the cycles until it
 * arrives, of which `waited` were spent waiting for others, or UINT64_MAX if it cannot be fetched,
 * SG_BRING_LATER if it can be once its page has had its hint fault. Counts effects on others in `out`. */
#define SG_BRING_LATER (UINT64_MAX - 1)
uint64_t sg_mem_bring(sg_mem *mem, uint32_t p, uint64_t address, uint32_t level, enum sg_claim claim,
                      uint64_t now, sg_outcome *out, int *remote, uint64_t *waited);
int sg_mem_has(const sg_mem *mem, uint32_t p, uint64_t address);

/* sg_homes.c */
struct sg_homes *sg_homes_create(const sg_config *config);
void sg_homes_destroy(struct sg_homes *homes);
/* What is known of a page that `processor` touches first: its node, and whether it stays there. */
uint32_t sg_homes_choose(const sg_mem *mem, uint32_t processor, uint64_t address);

/* ---- sg_mem_balance.c ---- */

/* After the network and the directory. Returns 0, or -1 if the host has no memory. */
int sg_balance_open(sg_mem *mem, const sg_config *config);
/* At mem->mark_at or later: the system marks pages. */
void sg_balance_mark(sg_mem *mem, uint64_t now);

static inline void sg_balance_look(sg_mem *mem, uint64_t now)
{
    if (__builtin_expect(now >= mem->mark_at, 0))
        sg_balance_mark(mem, now);
}

/* The first reference of a marked page. */
void sg_balance_fault(sg_mem *mem, uint32_t *home, sg_request *r, sg_outcome *out);
/* A prefetch meets a marked page. It returns 0, which ends the stream. At a pace above 1, where a page has
 * far more faults per step than in a long run, the prefetch takes the fault itself and goes on, because the
 * pace does not shorten the time that a stream needs to start again. */
int sg_balance_ahead(sg_mem *mem, uint32_t *home, sg_request *r, sg_outcome *out);

/* sg_mem_prefetch.c */
struct sg_prefetch *sg_prefetch_create(const sg_config *config);
void sg_prefetch_destroy(struct sg_prefetch *prefetch);
/* Was the line of `address` prefetched for `p` and not used since? */
int sg_prefetch_awaits(const sg_mem *mem, uint32_t p, uint64_t address);
/* The processor uses the line now: returns how long it must wait for it, and forgets it. */
uint64_t sg_prefetch_use(sg_mem *mem, uint32_t p, uint64_t address, uint64_t now, int *remote);
/* A miss, or the first use of a prefetched line, at `address`: fetches what will be needed next. */
void sg_prefetch_next(sg_mem *mem, uint32_t p, uint64_t address, int writes, uint64_t now, sg_outcome *out);
/* Does a store to `address` continue a stream that fills line after line? */
int sg_prefetch_fills(const sg_mem *mem, uint32_t p, uint64_t address);
/* A line of `p` is written back: it delays lines in flight. */
void sg_prefetch_wrote(sg_mem *mem, uint32_t p, uint64_t now);

#endif
