/* Creates the memory system from its configuration, and destroys it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sg_huge.h"
#include "sg_mem_state.h"

#define PAGES_WAYS 8u

static int power_of_two(uint64_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

#define REFUSE(...)                                                                                          \
    do {                                                                                                     \
        snprintf(error, error_size, __VA_ARGS__);                                                            \
        return -1;                                                                                           \
    } while (0)

int sg_mem_is_free(const sg_config *config)
{
    int free = config->levels == 1 && config->level[0].hit_cycles == 0 && config->page_miss_cycles == 0 &&
               config->translation_walk_cycles == 0 && config->network == SG_NET_LOCAL &&
               sg_config_node_processors(config) == 1 && config->prefetch == SG_PREFETCH_NONE;
    for (uint32_t i = 0; i < config->network_parameters.count; i++) {
        const sg_parameter *parameter = &config->network_parameters.parameter[i];
        free = free && (parameter->value == 0 || strcmp(parameter->name, "modules") == 0);
    }
    return free;
}

static int check_levels(const sg_config *config, char *error, unsigned error_size)
{
    uint32_t before = 1;
    for (uint32_t k = 0; k < config->levels; k++) {
        const sg_cache_level *l = &config->level[k];
        if (!power_of_two(l->line_bytes) || l->line_bytes < before ||
            l->line_bytes > config->coherence_line_bytes)
            REFUSE("machine.level.%u.line_bytes: expected a power of two, not smaller than that of the level "
                   "before nor larger than the coherence line of %u, got %u",
                   k, config->coherence_line_bytes, l->line_bytes);
        uint64_t sets = l->size_bytes / l->line_bytes / l->ways;
        if (l->size_bytes % ((uint64_t)l->line_bytes * l->ways) != 0 || sets == 0 ||
            (k == 0 && !power_of_two(sets)))
            REFUSE("machine.level.%u.size_bytes: expected lines times ways times a %s, got %llu", k,
                   k == 0 ? "power of two" : "whole number", (unsigned long long)l->size_bytes);
        if (l->shared_by > 1 && (k + 1 != config->levels || k == 0))
            REFUSE("machine.level.%u.shared_by: expected 1; only the last of several levels may be shared",
                   k);
        before = l->line_bytes;
        if (k + 1 < config->levels && config->level[k + 1].shared_by == 1)
            continue;
        if (l->line_bytes != config->coherence_line_bytes)
            REFUSE("machine.level.%u.line_bytes: expected the coherence line of %u, got %u", k,
                   config->coherence_line_bytes, l->line_bytes);
    }
    if (!power_of_two(config->coherence_line_bytes))
        REFUSE("machine.coherence.line_bytes: expected a power of two, got %u", config->coherence_line_bytes);
    if (config->translation_walk_cycles != 0 && !power_of_two(config->translation_entries))
        REFUSE("machine.translation_entries: expected a power of two, got %u", config->translation_entries);
    if (!power_of_two(config->page_bytes) || config->page_bytes < config->coherence_line_bytes)
        REFUSE("machine.page_bytes: expected a power of two, at least a coherence line, got %u",
               config->page_bytes);
    return 0;
}

/* A network supports either its own protocol or any directory. */
static int check_protocol(const sg_mem *mem, const sg_config *config, char *error, unsigned error_size)
{
    static const enum sg_network made_for[] = {[SG_COH_RING_SNOOP] = SG_NET_RING,
                                               [SG_COH_LINKED_LIST] = SG_NET_HYPERNODE,
                                               [SG_COH_SNOOP] = SG_NET_BUS};
    static const char *const names[] = {
        [SG_COH_RING_SNOOP] = "ring_snoop", [SG_COH_LINKED_LIST] = "linked_list", [SG_COH_SNOOP] = "snoop"};
    for (unsigned kind = 0; kind < sizeof names / sizeof *names; kind++)
        if (names[kind] && (config->coherence == kind) != (config->network == made_for[kind]))
            REFUSE("machine.coherence.kind: %s and the network '%s' need each other", names[kind],
                   sg_net_table[made_for[kind]]->name);
    if (mem->attraction && (mem->has_shared || config->placement != SG_PLACE_FIRST_TOUCH))
        REFUSE("machine.coherence.kind: ring_snoop needs private caches only and placement first_touch");
    if (mem->attraction && mem->owned)
        REFUSE("machine.coherence.owned: expected 0; an attraction memory has no memory to keep a line from");
    if (mem->has_shared && (mem->pointers || config->network == SG_NET_BUS || config->network == SG_NET_MESH))
        REFUSE("machine.level.%u.shared_by: expected 1; a bus, a mesh and a limited directory need private "
               "caches only",
               mem->private_levels);
    if (config->level[config->levels - 1].remote_only && config->network != SG_NET_HYPERNODE)
        REFUSE("machine.level.%u.remote_only: expected 0; only the network 'hypernode' has a network cache",
               config->levels - 1);
    if (config->prefetch != SG_PREFETCH_NONE &&
        (config->prefetch_level == 0 || config->prefetch_level >= mem->private_levels))
        REFUSE("machine.prefetch.level: expected a private level behind the first, got %u",
               config->prefetch_level);
    if (config->write_allocate != SG_ALLOCATE_ALWAYS &&
        (config->prefetch != SG_PREFETCH_STRIDE || config->network != SG_NET_NUMA))
        REFUSE("machine.write_allocate: expected always; others need the network 'numa' and a prefetcher of "
               "kind stride");
    return 0;
}

/* The TLBs: caches whose lines are pages. */
static int create_pages(sg_mem *mem, const sg_config *config)
{
    sg_cache_level level = {.line_bytes = config->page_bytes, .shared_by = 1};
    mem->walk_cycles = config->translation_walk_cycles;
    if (mem->walk_cycles == 0)
        return 0;
    level.ways = config->translation_entries < PAGES_WAYS ? config->translation_entries : PAGES_WAYS;
    level.size_bytes = (uint64_t)config->translation_entries * config->page_bytes;
    level.replacement = SG_REPLACE_LRU;
    return sg_cache_create(&mem->pages, &level, mem->processors, 0, mem->sparse);
}

/* What the last level keeps, what stores read, and how fast lines come in. */
static void take_present(sg_mem *mem, const sg_config *config)
{
    const sg_cache_level *last = &config->level[config->levels - 1];
    mem->inclusive = mem->has_shared && !last->victim && !(mem->ideal & SG_IDEAL_CACHE);
    mem->claim = config->write_allocate == SG_ALLOCATE_NEVER  ? SG_CLAIM_ONLY
                 : config->write_allocate == SG_ALLOCATE_BUSY ? SG_CLAIM_BUSY
                                                              : SG_CLAIM_READS;
    if (!(mem->ideal & SG_IDEAL_CONTENTION))
        mem->read_millicycles = config->core_read_millicycles;
}

static int create_parts(sg_mem *mem, const sg_config *config, sg_dir *store, char *error, unsigned error_size)
{
    const sg_cache_level *last = &config->level[config->levels - 1];
    mem->has_shared = last->shared_by > 1;
    mem->private_levels = config->levels - mem->has_shared;
    mem->group = sg_divisor_of(mem->has_shared ? last->shared_by : 1);
    mem->attraction = config->coherence == SG_COH_RING_SNOOP;
    mem->remote_only = mem->has_shared && last->remote_only;
    take_present(mem, config);
    if (check_protocol(mem, config, error, error_size) != 0)
        return -1;
    if (mem->has_shared && (mem->processors + last->shared_by - 1) / last->shared_by > 64)
        REFUSE("machine.level.%u.shared_by: expected at most 64 shared caches", mem->private_levels);
    for (uint32_t k = 0; k < config->levels; k++) {
        uint32_t instances = (mem->processors + config->level[k].shared_by - 1) / config->level[k].shared_by;
        if (sg_cache_create(&mem->level[k], &config->level[k], instances, k == 0, mem->sparse) != 0)
            REFUSE("the host has no memory for the caches of %u processors", mem->processors);
        if (mem->ideal & SG_IDEAL_CACHE) /* sparse: a large host page would be mostly empty */
            madvise(mem->level[k].first, mem->level[k].bytes, MADV_NOHUGEPAGE);
        if (k >= mem->private_levels)
            continue;
        mem->private_cycles += config->level[k].hit_cycles;
        mem->set_bits &= mem->level[k].set_mask >> (mem->line_shift - mem->level[k].line_shift);
    }
    mem->filter = calloc(mem->processors, sizeof *mem->filter);
    mem->found = sg_map(mem->processors * sizeof *mem->found);
    if (!mem->filter || !mem->found ||
        sg_dir_create(&mem->dir, mem->line_shift, mem->page_shift, mem->processors, store) != 0)
        REFUSE("the host has no memory for the directory");
    mem->others = calloc(mem->dir.words, sizeof *mem->others);
    for (uint32_t p = 0; p < mem->processors; p++) {
        const sg_cache *c = &mem->level[0];
        sg_set set = sg_cache_set(c, p, 0);
        uint32_t rest_ways = c->way_stride == 1 ? c->ways - 1 : 0;
        mem->filter[p] =
            (sg_filter){set.first, c->set_mask, c->line_shift, set.rest, rest_ways, c->hit_cycles};
    }
    if (create_pages(mem, config) != 0)
        REFUSE("the host has no memory for the pages that %u processors know", mem->processors);
    mem->ops = sg_net_table[config->network];
    mem->told = calloc(mem->dir.words, sizeof *mem->told);
    mem->homes = sg_homes_create(config);
    if (config->prefetch != SG_PREFETCH_NONE)
        mem->prefetch = sg_prefetch_create(config);
    if (mem->read_millicycles > 0)
        mem->entrance = calloc(mem->processors, sizeof *mem->entrance);
    if (mem->read_millicycles > 0 && !mem->entrance)
        REFUSE("the host has no memory for the simulated machine");
    if (!mem->others || !mem->told || !mem->homes || (config->prefetch != SG_PREFETCH_NONE && !mem->prefetch))
        REFUSE("the host has no memory for the simulated machine");
    mem->net = mem->ops->create(config, error, error_size);
    if (!mem->net)
        return -1;
    if (sg_balance_open(mem, config) != 0)
        REFUSE("the host has no memory for the simulated machine");
    if (config->placement == SG_PLACE_NODE && config->placement_node >= mem->ops->nodes(mem->net))
        REFUSE("machine.placement_node: expected a node from 0 to %u, got %u", mem->ops->nodes(mem->net) - 1,
               config->placement_node);
    return 0;
}

sg_mem *sg_mem_create_one(const sg_config *config, sg_dir *store, int sparse, char *error,
                          unsigned error_size)
{
    if (check_levels(config, error, error_size) != 0)
        return NULL;
    sg_mem *mem = calloc(1, sizeof *mem);
    if (!mem) {
        snprintf(error, error_size, "the host has no memory for the simulated machine");
        return NULL;
    }
    mem->processors = config->processors;
    mem->sparse = sparse;
    mem->exclusive = config->coherence_exclusive;
    mem->owned = config->coherence_owned;
    mem->broadcast = config->coherence == SG_COH_LIMITED_BROADCAST;
    if (mem->broadcast || config->coherence == SG_COH_LIMITED_NO_BROADCAST)
        mem->pointers = config->coherence_pointers;
    mem->line_shift = (uint32_t)__builtin_ctz(config->coherence_line_bytes);
    mem->set_bits = UINT64_MAX;
    mem->page_shift = (uint32_t)__builtin_ctz(config->page_bytes);
    mem->page_miss_cycles = config->page_miss_cycles;
    sg_ideal_open(mem, config);
    sg_config without = *config;
    if (mem->ideal & SG_IDEAL_CACHE)
        sg_ideal_levels(&without);
    if (create_parts(mem, &without, store, error, error_size) != 0) {
        sg_mem_destroy_one(mem);
        return NULL;
    }
    return mem;
}

void sg_mem_destroy_one(sg_mem *mem)
{
    if (!mem)
        return;
    for (uint32_t k = 0; k < SG_MAX_LEVELS; k++)
        sg_cache_destroy(&mem->level[k]);
    sg_cache_destroy(&mem->pages);
    if (mem->net)
        mem->ops->destroy(mem->net);
    sg_dir_destroy(&mem->dir);
    sg_homes_destroy(mem->homes);
    sg_prefetch_destroy(mem->prefetch);
    free(mem->balance);
    free(mem->filter);
    sg_unmap(mem->found, mem->processors * sizeof *mem->found);
    free(mem->others);
    free(mem->told);
    free(mem->entrance);
    free(mem);
}

void sg_mem_watch(sg_mem *mem, void (*lost)(uint32_t p, uint64_t line, int invalidated))
{
    mem->lost = lost;
    for (uint32_t i = 0; i < mem->nodes; i++)
        mem->node[i]->lost = lost;
}

sg_filter *sg_mem_filter(sg_mem *mem, uint32_t processor)
{
    mem = sg_mem_part(mem, &processor);
    return &mem->filter[processor];
}

void sg_mem_alias(sg_mem *mem, uint64_t low, uint64_t bytes, uint32_t group)
{
    uint64_t room = 1ull << 20;
    while (room < bytes)
        room *= 2;
    mem->alias = (sg_alias){low, room, sg_divisor_of(group)};
    for (uint32_t i = 0; i < mem->nodes; i++)
        mem->node[i]->alias = mem->alias;
}

uint32_t sg_mem_line_bytes(const sg_mem *mem)
{
    return 1u << sg_mem_any(mem)->level[0].line_shift;
}

uint64_t sg_mem_address_of(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    const sg_mem *part = sg_mem_part(mem, &processor);
    return sg_mem_global(part, processor, address);
}
