/* Idealised memory systems: what would a machine do without contention, distance, or capacity limits?
 *
 * Nothing here is an estimate: the program runs again, on a machine without the one limitation.
 *
 * - contention: every transaction is alone on the machine. It starts so much later than all others that
 *   their reservations are past; the networks need not know. If a transaction waits for a part of itself
 *   (two of its packets on one ring), that counts as its own time, not contention.
 * - network: in addition, a remote fetch costs as much as a fetch from the node's own memory, an upgrade
 *   nothing, and both count as local.
 * - cache: the levels are so large that nothing is evicted: what remains are first references and lines
 *   taken by another processor.
 *
 * Removed code still makes its references, so that the caches stay the same, but its transactions occupy
 * nothing. No time passes for it: otherwise they would all arrive at once, and others would wait. */
#include "sg_mem_state.h"

#define STACKS_APART (17u * 4096u) /* see sg_sched.c: distance between stacks */

static uint64_t least_common(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Does the parameter's name end in "hop_cycles"? These are the steps in which slots move. */
static int is_step(const char *name)
{
    static const char end[] = "hop_cycles";
    unsigned length = 0;
    while (name[length] != '\0')
        length++;
    if (length < sizeof end - 1)
        return 0;
    for (unsigned i = 0; i < sizeof end - 1; i++)
        if (name[length - (sizeof end - 1) + i] != end[i])
            return 0;
    return 1;
}

void sg_ideal_open(sg_mem *mem, const sg_config *config)
{
    uint64_t step = 1, span = 1ull << 22; /* longer than any transaction on its own */
    mem->ideal = config->ideal;
    /* All networks use this name. Those with attraction memory lack it: the last private cache is the memory,
     * and has been searched. */
    mem->own_memory =
        sg_config_u64(config, "memory_cycles") + (sg_config_u64(config, "memory_millicycles") + 999) / 1000;
    const sg_parameters *all = &config->network_parameters;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_step(all->parameter[i].name) && all->parameter[i].value > 0)
            step = least_common(step, all->parameter[i].value);
    if (step > span)
        span = step;
    mem->alone_step = (span + step - 1) / step * step; /* keeps the phase of whatever moves in steps */
}

void sg_ideal_transact(sg_mem *mem, const sg_request *request, sg_reply *reply)
{
    if (mem->ideal & SG_REMOVED)
        return;
    if (!(mem->ideal & (SG_IDEAL_CONTENTION | SG_IDEAL_NETWORK))) {
        mem->ops->transact(mem->net, request, reply);
        return;
    }
    sg_request alone = *request;
    uint64_t busy = 0;
    mem->alone += mem->alone_step;
    alone.now = mem->alone + request->now % mem->alone_step;
    alone.busy = &busy;
    mem->ops->transact(mem->net, &alone, reply);
    reply->cycles += reply->contention;
    reply->contention = 0;
    if (!(mem->ideal & SG_IDEAL_NETWORK) || !reply->remote)
        return;
    reply->cycles = request->kind == SG_UPGRADE ? 0 : mem->own_memory;
    reply->remote = 0;
}

void sg_mem_remove(sg_mem *mem, uint32_t processor, int removed)
{
    sg_mem *part = sg_mem_part(mem, &processor);
    part->ideal = removed ? part->ideal | SG_REMOVED : part->ideal & ~(uint32_t)SG_REMOVED;
}

static uint64_t parts(uint64_t bytes, uint64_t span)
{
    return (bytes + span - 1) / span + 1; /* it may start anywhere */
}

void sg_ideal_levels(sg_config *config)
{
    /* One way for each part of the address space that may map to the same sets: heap, stacks, the runtime's
     * variables, the program's data, libraries and what the program maps itself. */
    uint64_t span = 1ull << 26;
    while (span < config->arena_bytes && span < 1ull << 34)
        span *= 2;
    uint64_t stacks = config->processors * (config->stack_bytes + STACKS_APART);
    uint64_t ways = parts(config->arena_bytes, span) + parts(stacks, span) + 6;
    for (uint32_t k = 0; k < config->levels; k++) {
        sg_cache_level *level = &config->level[k];
        level->ways = (uint32_t)ways;
        level->replacement = SG_REPLACE_LRU; /* nothing is replaced */
        level->size_bytes = span * ways;
    }
}
