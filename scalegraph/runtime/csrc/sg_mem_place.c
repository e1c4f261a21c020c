/* Where pages live: by the machine's rule, or where the program asks for. */
#include <stdlib.h>
#include <string.h>

#include "sg_mem_state.h"

struct sg_places {
    sg_policy machine;
    uint32_t block_pages;
    uint32_t processors;
    sg_policy **policy; /* of each processor; NULL: the machine's */
};

struct sg_places *sg_places_create(const sg_config *config)
{
    struct sg_places *places = calloc(1, sizeof *places);
    if (!places)
        return NULL;
    places->machine.kind = config->placement;
    places->machine.node = config->placement_node;
    places->block_pages = config->placement_block_pages;
    places->processors = config->processors;
    places->policy = calloc(config->processors, sizeof *places->policy);
    if (!places->policy) {
        free(places);
        return NULL;
    }
    return places;
}

void sg_places_destroy(struct sg_places *places)
{
    if (!places)
        return;
    for (uint32_t p = 0; p < places->processors; p++)
        free(places->policy[p]);
    free(places->policy);
    free(places);
}

/* The node at place `index`, counted round and round, among those of a bitmap. */
static uint32_t pick(const sg_mem *mem, const uint64_t *nodes, uint64_t index)
{
    uint32_t count = sg_mem_nodes(mem), set = 0;
    for (uint32_t n = 0; n < count && n < SG_POLICY_NODES; n++)
        set += (uint32_t)sg_bit(nodes, n);
    if (set == 0)
        return (uint32_t)(index % count);
    index %= set;
    for (uint32_t n = 0;; n++)
        if (sg_bit(nodes, n) && index-- == 0)
            return n;
}

static uint32_t choose(const sg_mem *mem, const sg_policy *policy, uint32_t processor, uint64_t address)
{
    uint64_t page = address >> mem->page_shift;
    switch (policy->kind) {
    case SG_PLACE_INTERLEAVE:
        return pick(mem, policy->nodes, page);
    case SG_PLACE_BLOCK:
        return (uint32_t)(page / mem->places->block_pages % sg_mem_nodes(mem));
    case SG_PLACE_NODE:
        return policy->node % sg_mem_nodes(mem);
    default:
        return sg_mem_node_of(mem, processor);
    }
}

uint32_t sg_places_choose(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    const sg_policy *own = mem->places->policy[processor];
    return choose(mem, own ? own : &mem->places->machine, processor, address);
}

uint32_t sg_mem_nodes(const sg_mem *mem)
{
    return mem->ops->nodes(mem->net);
}

uint32_t sg_mem_node_of(const sg_mem *mem, uint32_t processor)
{
    return mem->ops->node_of(mem->net, processor);
}

static uint32_t *home_of(const sg_mem *mem, uint64_t address)
{
    sg_dir *dir = (sg_dir *)&mem->dir;
    return sg_dir_home(dir, sg_dir_chunk(dir, address), address);
}

int64_t sg_mem_page_node(const sg_mem *mem, uint64_t address)
{
    uint32_t home = *home_of(mem, address);
    return home == 0 || (home & SG_DIR_PLACED) ? -1 : (int64_t)home - 1;
}

void sg_mem_place(sg_mem *mem, uint64_t address, uint64_t bytes, const sg_policy *policy)
{
    uint64_t page = 1ull << mem->page_shift, end = address + bytes;
    if (mem->attraction)
        return; /* lines live where they are used */
    for (address &= ~(page - 1); address < end; address += page) {
        uint32_t *home = home_of(mem, address);
        if (*home != 0 && !(*home & SG_DIR_PLACED))
            continue;
        /* First touch is decided at the first touch. */
        *home =
            policy->kind == SG_PLACE_FIRST_TOUCH ? 0 : (choose(mem, policy, 0, address) + 1) | SG_DIR_PLACED;
    }
}

void sg_mem_policy(sg_mem *mem, uint32_t processor, const sg_policy *policy)
{
    sg_policy **own = &mem->places->policy[processor];
    if (!policy || mem->attraction) {
        free(*own);
        *own = NULL;
        return;
    }
    if (!*own)
        *own = malloc(sizeof **own);
    if (*own)
        **own = *policy;
}

const sg_policy *sg_mem_policy_of(const sg_mem *mem, uint32_t processor)
{
    return mem->places->policy[processor];
}
