/* The memory of a node, if the machine declares its size: static data and heaps of the node's ranks must
 * fit. */
#include "sg_alloc.h"
#include "sg_rank.h"

static uint64_t *left_of = NULL; /* free bytes, by node */

static uint32_t node_of(const sg_rank *rank)
{
    return rank->first_processor / sg_config_node_processors(&sg->config);
}

static void refuse(const sg_rank *rank, uint64_t bytes)
{
    uint64_t all = sg->config.node_memory_bytes;
    uint32_t node = node_of(rank);
    sg_stop(SG_STATUS_OUT_OF_MEMORY,
            "rank %u needs %llu bytes more for its data, but node %u of the machine has %llu bytes of memory "
            "(nodes.memory_mib), of which its ranks have taken %llu",
            rank->number, (unsigned long long)bytes, node, (unsigned long long)all,
            (unsigned long long)(all - left_of[node]));
}

static void refuse_running(uint64_t bytes)
{
    refuse(sg_rank_self(), bytes);
}

static void take(const sg_rank *rank, uint64_t bytes)
{
    uint64_t *left = &left_of[node_of(rank)];
    if (bytes > *left)
        refuse(rank, bytes);
    *left -= bytes;
}

static void refuse_program(uint64_t bytes)
{
    uint64_t all = sg->config.node_memory_bytes;
    sg_stop(SG_STATUS_OUT_OF_MEMORY,
            "the program needs %llu bytes more for its data, but the machine has %llu bytes of memory "
            "(nodes.memory_mib), of which it has taken %llu; choose a smaller size, or a machine with more "
            "memory",
            (unsigned long long)bytes, (unsigned long long)all, (unsigned long long)(all - *left_of));
}

void sg_rank_memory_alone(void)
{
    if (sg->config.node_memory_bytes == 0)
        return;
    left_of = sg_new(sizeof *left_of);
    *left_of = sg->config.node_memory_bytes;
    uint64_t taken = sg_alloc_share(NULL, left_of, refuse_program);
    if (taken > *left_of)
        refuse_program(taken);
    *left_of -= taken;
}

void sg_rank_memory_open(void)
{
    if (sg->config.node_memory_bytes == 0)
        return;
    uint32_t nodes = node_of(sg->all_ranks[sg->ranks - 1]) + 1;
    left_of = sg_new(nodes * sizeof *left_of);
    for (uint32_t i = 0; i < nodes; i++)
        left_of[i] = sg->config.node_memory_bytes;
    for (uint32_t i = 0; i < sg->ranks; i++) {
        const sg_rank *rank = sg->all_ranks[i];
        take(rank, sg_image_bytes());
        take(rank, sg_alloc_share(rank->heap, &left_of[node_of(rank)], refuse_running));
    }
}
