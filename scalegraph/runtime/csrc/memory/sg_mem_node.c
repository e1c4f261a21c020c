/* Memory of a multi-node machine: each node has its own caches, directory and network, and cannot access
 * another node's memory. So the same address is different memory on each node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_mem_state.h"

/* If all cache entries together need this much host memory, the sparse layout is used. */
#define MUCH_BYTES (256ull << 20)

/* Bytes of the entries of all caches of `processors` processors. */
static uint64_t cache_bytes(const sg_config *config, uint64_t processors)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < config->levels; k++) {
        const sg_cache_level *l = &config->level[k];
        bytes += l->size_bytes / l->line_bytes / l->shared_by * processors * sizeof(uint64_t);
    }
    return bytes;
}

static sg_mem *create_nodes(sg_config *config, char *error, unsigned error_size)
{
    sg_mem *mem = calloc(1, sizeof *mem);
    uint32_t all = config->processors, each = config->node_processors, nodes = (all + each - 1) / each;
    if (mem)
        mem->node = calloc(nodes, sizeof *mem->node);
    if (!mem || !mem->node) {
        snprintf(error, error_size, "the host has no memory for the simulated machine");
        sg_mem_destroy(mem);
        return NULL;
    }
    mem->processors = all;
    mem->node_processors = sg_divisor_of(each);
    mem->dir.sparse = 1;
    int sparse = cache_bytes(config, all) > MUCH_BYTES;
    for (; mem->nodes < nodes; mem->nodes++) {
        uint32_t first = mem->nodes * each, left = all - first;
        config->processors = left < each ? left : each;
        sg_mem *node = sg_mem_create_one(config, &mem->dir, sparse, error, error_size);
        if (!node)
            break;
        node->first = first;
        mem->node[mem->nodes] = node;
    }
    if (mem->nodes == nodes)
        return mem;
    sg_mem_destroy(mem);
    return NULL;
}

sg_mem *sg_mem_create(const sg_config *config, char *error, unsigned error_size)
{
    if (config->node_processors == 0)
        return sg_mem_create_one(config, NULL, 0, error, error_size);
    sg_config own = *config; /* the machine's description applies to each node */
    own.max_processors = config->node_processors;
    if (config->node_processors < config->processors)
        return create_nodes(&own, error, error_size);
    return sg_mem_create_one(&own, NULL, 0, error, error_size);
}

void sg_mem_destroy(sg_mem *mem)
{
    for (uint32_t i = 0; mem && i < mem->nodes; i++)
        sg_mem_destroy_one(mem->node[i]);
    if (mem)
        free(mem->node);
    sg_mem_destroy_one(mem);
}

/* Adds the node of a resource. */
typedef struct namer {
    uint32_t node;
    sg_usage_visit *visit;
    void *context;
} namer;

static void name_node(void *context, const sg_usage *usage)
{
    const namer *to = context;
    sg_usage named = *usage;
    named.node = to->node + 1;
    to->visit(to->context, &named);
}

void sg_mem_statistics(const sg_mem *mem, sg_usage_visit *visit, void *context)
{
    if (!mem->node)
        mem->ops->statistics(mem->net, visit, context);
    for (uint32_t i = 0; i < mem->nodes; i++) {
        namer to = {i, visit, context};
        mem->node[i]->ops->statistics(mem->node[i]->net, name_node, &to);
    }
}
