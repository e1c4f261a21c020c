/* The memory of a machine of several nodes: each node has caches, a directory and a network of its own, and
 * nobody reaches the memory of another. The same address is therefore other memory on each node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_mem_state.h"

sg_mem *sg_mem_create_nodes(const sg_config *config, char *error, unsigned error_size)
{
    sg_mem *mem = calloc(1, sizeof *mem);
    sg_config *own = malloc(sizeof *own);
    uint32_t each = config->node_processors, nodes = (config->processors + each - 1) / each;
    if (mem)
        mem->node = calloc(nodes, sizeof *mem->node);
    if (!mem || !own || !mem->node) {
        snprintf(error, error_size, "the host has no memory for the simulated machine");
        free(own);
        sg_mem_destroy(mem);
        return NULL;
    }
    *own = *config;
    own->max_processors = each;
    mem->processors = config->processors;
    mem->node_processors = each;
    mem->dir.sparse = 1;
    for (; mem->nodes < nodes; mem->nodes++) {
        uint32_t first = mem->nodes * each, left = config->processors - first;
        own->processors = left < each ? left : each;
        sg_mem *node = sg_mem_create_one(own, &mem->dir, error, error_size);
        if (!node)
            break;
        node->first = first;
        mem->node[mem->nodes] = node;
    }
    free(own);
    if (mem->nodes == nodes)
        return mem;
    sg_mem_destroy(mem);
    return NULL;
}

void sg_mem_destroy_nodes(sg_mem *mem)
{
    for (uint32_t i = 0; i < mem->nodes; i++)
        sg_mem_destroy(mem->node[i]);
    free(mem->node);
}

/* Puts the node before the name of a resource. */
typedef struct namer {
    uint32_t node;
    sg_usage_visit *visit;
    void *context;
} namer;

static void name_node(void *context, const sg_usage *usage)
{
    const namer *to = context;
    char name[96];
    snprintf(name, sizeof name, "node %u %s", to->node, usage->name);
    sg_usage named = *usage;
    named.name = name;
    to->visit(to->context, &named);
}

void sg_mem_statistics_nodes(const sg_mem *mem, sg_usage_visit *visit, void *context)
{
    for (uint32_t i = 0; i < mem->nodes; i++) {
        namer to = {i, visit, context};
        sg_mem_statistics(mem->node[i], name_node, &to);
    }
}

int sg_mem_check_nodes(const sg_mem *mem, char *error, unsigned error_size)
{
    char text[400];
    for (uint32_t i = 0; i < mem->nodes; i++)
        if (sg_mem_check(mem->node[i], text, sizeof text) != 0) {
            snprintf(error, error_size, "node %u: %s", i, text);
            return -1;
        }
    return 0;
}
