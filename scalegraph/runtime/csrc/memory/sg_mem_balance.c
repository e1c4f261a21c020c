/* Automatic NUMA balancing, as Linux does it (kernel/sched/fair.c): the system marks the pages of a process,
 * a window at a time, in the order of their addresses. The first reference of a marked page that leaves the
 * private caches is a hint fault. The page moves to the node of the faulting processor if its previous hint
 * fault was on that node, or if there was none. After each pass over all pages the time between two windows
 * follows from the faults: longer if most pages are where they are used, or are used by several processors.
 *
 * Marking costs nothing here. What moves is only the home: lines in caches stay there. */
#include <stdlib.h>

#include "sg_mem_state.h"

#define PERIOD_SLOTS     10u           /* NUMA_PERIOD_SLOTS */
#define PERIOD_THRESHOLD 7u            /* NUMA_PERIOD_THRESHOLD */
#define MOST_BYTES       (2560u << 20) /* MAX_SCAN_WINDOW: marked in the shortest time of a pass, at most */

struct sg_balance {
    uint64_t least, most; /* cycles of a pass */
    uint64_t bytes;       /* a window of one process */
    uint64_t period;      /* cycles from one window to the next; 0: nothing was marked yet */
    uint64_t at;          /* the chunk where marking goes on */
    /* Faults since the last pass began. Private: by the processor of the page's previous fault. */
    uint64_t local, remote, own, shared;
    uint32_t fault_cycles, migrate_cycles;
    uint32_t pace; /* 1: normal, or already in force */
    int hastened;
};

int sg_balance_open(sg_mem *mem, const sg_config *config)
{
    mem->mark_at = UINT64_MAX;
    if (config->balancing_delay_cycles == 0 || config->placement != SG_PLACE_FIRST_TOUCH || mem->attraction ||
        mem->ops->nodes(mem->net) < 2)
        return 0;
    mem->balance = malloc(sizeof *mem->balance);
    if (!mem->balance)
        return -1;
    *mem->balance = (struct sg_balance){.least = config->balancing_least_cycles,
                                        .most = config->balancing_most_cycles,
                                        .bytes = config->balancing_bytes,
                                        .fault_cycles = config->balancing_fault_cycles,
                                        .migrate_cycles = config->balancing_migrate_cycles,
                                        .pace = config->balancing_pace};
    mem->mark_at = config->balancing_delay_cycles;
    return 0;
}

static uint32_t share(uint32_t cycles, uint32_t pace)
{
    return (cycles + pace / 2) / pace;
}

void sg_mem_hasten(sg_mem *mem, uint64_t now)
{
    struct sg_balance *b = mem->balance;
    for (uint32_t i = 0; i < mem->nodes; i++)
        sg_mem_hasten(mem->node[i], now);
    if (!b || b->pace <= 1)
        return;
    if (mem->mark_at > now)
        mem->mark_at = now + (mem->mark_at - now) / b->pace;
    b->least /= b->pace;
    b->most /= b->pace;
    b->period /= b->pace;
    b->fault_cycles = share(b->fault_cycles, b->pace);
    b->migrate_cycles = share(b->migrate_cycles, b->pace);
    b->pace = 1;
    b->hastened = 1;
}

/* Pages in a window of every process of the node: each is marked on its own, at the same times. */
static uint64_t window_pages(const sg_mem *mem)
{
    uint64_t processes = 1, pages = mem->balance->bytes >> mem->page_shift;
    if (mem->alias.bytes > 0)
        processes = (mem->processors + mem->alias.group.by - 1) / mem->alias.group.by;
    return processes * (pages > 0 ? pages : 1);
}

/* Cycles between two windows if a pass takes `least`, and if it takes `most`. */
static uint64_t shortest(const sg_mem *mem, uint64_t *longest)
{
    const struct sg_balance *b = mem->balance;
    uint64_t window = window_pages(mem), windows = (mem->touched + window - 1) / window;
    uint64_t fast = MOST_BYTES / b->bytes, least;
    windows = windows > 0 ? windows : 1;
    fast = fast > 0 ? fast : 1;
    least = b->least / (windows < fast ? windows : fast);
    least = least > 0 ? least : 1;
    *longest = b->most / windows > least ? b->most / windows : least;
    return least;
}

/* A pass has ended: the faults say how soon the next windows follow. */
static void adapt(sg_mem *mem)
{
    struct sg_balance *b = mem->balance;
    uint64_t longest, least = shortest(mem, &longest), period = b->period;
    uint64_t slot = (period + PERIOD_SLOTS - 1) / PERIOD_SLOTS, faults = b->local + b->remote;
    if (b->local + b->shared == 0) {
        period *= 2;
    } else {
        uint64_t near = b->local * PERIOD_SLOTS / faults, alone = b->own * PERIOD_SLOTS / faults;
        uint64_t ratio = alone >= PERIOD_THRESHOLD ? alone : near;
        if (ratio >= PERIOD_THRESHOLD)
            period += slot * (ratio > PERIOD_THRESHOLD ? ratio - PERIOD_THRESHOLD : 1);
        else
            period -= slot * (PERIOD_THRESHOLD - (near > alone ? near : alone));
    }
    b->period = period < least ? least : period > longest ? longest : period;
    b->local = b->remote = b->own = b->shared = 0;
}

/* Marks the pages of a chunk that were touched and may move; returns how many were touched. */
static uint64_t mark_chunk(const sg_mem *mem, char *chunk)
{
    uint32_t *home = (uint32_t *)(void *)chunk, pages = 1u << (mem->dir.chunk_shift - mem->page_shift);
    uint64_t touched = 0;
    for (uint32_t i = 0; i < pages; i++) {
        if (home[i] == 0 || (home[i] & SG_DIR_PLACED))
            continue;
        touched++;
        if ((home[i] & SG_DIR_STAYS) != SG_DIR_STAYS)
            home[i] |= SG_DIR_MARKED;
    }
    return touched;
}

/* Marks the next window, up to the end of a pass. */
static void mark_window(sg_mem *mem)
{
    struct sg_balance *b = mem->balance;
    uint64_t left = window_pages(mem), longest;
    if (b->period == 0)
        b->period = shortest(mem, &longest);
    char *chunk = sg_dir_next_chunk(&mem->dir, &b->at);
    if (!chunk && b->at > 0) { /* the last window ended with the last page */
        adapt(mem);
        b->at = 0;
        chunk = sg_dir_next_chunk(&mem->dir, &b->at);
    }
    for (; chunk; chunk = sg_dir_next_chunk(&mem->dir, &b->at)) {
        uint64_t marked = mark_chunk(mem, chunk);
        b->at++;
        if (marked >= left)
            return;
        left -= marked;
    }
    adapt(mem);
    b->at = 0;
}

void sg_balance_mark(sg_mem *mem, uint64_t now)
{
    while (mem->mark_at <= now) {
        mark_window(mem);
        mem->mark_at += mem->balance->period;
    }
}

void sg_balance_fault(sg_mem *mem, uint32_t *home, sg_request *r, sg_outcome *out)
{
    struct sg_balance *b = mem->balance;
    uint32_t here = mem->ops->node_of(mem->net, r->processor), last = *home >> SG_DIR_LAST & SG_DIR_NODE;
    int local = here == sg_dir_node(*home), own = last == 0 || last == r->processor + 1;
    int moves = !local && (last == 0 || mem->ops->node_of(mem->net, last - 1) == here);
    b->local += local ? 1 : 0;
    b->remote += local ? 0 : 1;
    b->own += own ? 1 : 0;
    b->shared += own ? 0 : 1;
    *home = (moves ? here + 1 : *home & SG_DIR_NODE) | (r->processor + 1) << SG_DIR_LAST;
    out->count[SG_COUNTER_HINT_FAULTS]++;
    out->count[SG_COUNTER_PAGE_MIGRATIONS] += moves ? 1 : 0;
    sg_mem_stall(out, SG_CATEGORY_STALL_PAGE, b->fault_cycles + (moves ? b->migrate_cycles : 0), &r->now);
}

int sg_balance_ahead(sg_mem *mem, uint32_t *home, sg_request *r, sg_outcome *out)
{
    if (mem->balance->hastened)
        sg_balance_fault(mem, home, r, out);
    return mem->balance->hastened;
}
