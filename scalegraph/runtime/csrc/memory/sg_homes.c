/* Where pages live: by the machine's rule, or where the program asked for. */
#include <stdlib.h>

#include "sg_mem_state.h"

struct sg_homes {
    sg_policy machine;
    uint32_t block_pages;
    const sg_policy *(*policy_of)(uint32_t processor);
};

struct sg_homes *sg_homes_create(const sg_config *config)
{
    struct sg_homes *homes = calloc(1, sizeof *homes);
    if (!homes)
        return NULL;
    homes->machine.kind = config->placement;
    homes->machine.node = config->placement_node;
    homes->block_pages = config->placement_block_pages;
    return homes;
}

void sg_homes_destroy(struct sg_homes *homes)
{
    free(homes);
}

/* The node at position `index` (wrapping around) among those of a bitmap. */
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
        return (uint32_t)(page / mem->homes->block_pages % sg_mem_nodes(mem));
    case SG_PLACE_NODE:
        return policy->node % sg_mem_nodes(mem);
    default:
        return sg_mem_node_of(mem, processor);
    }
}

uint32_t sg_homes_choose(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    const sg_policy *own = mem->homes->policy_of ? mem->homes->policy_of(mem->first + processor) : NULL;
    uint32_t home = choose(mem, own ? own : &mem->homes->machine, processor, address) + 1;
    return own && own->kind != SG_PLACE_FIRST_TOUCH ? home | SG_DIR_STAYS : home;
}

uint32_t sg_mem_nodes(const sg_mem *mem)
{
    mem = sg_mem_any(mem);
    return mem->ops->nodes(mem->net);
}

uint32_t sg_mem_node_of(const sg_mem *mem, uint32_t processor)
{
    mem = sg_mem_part(mem, &processor);
    return mem->ops->node_of(mem->net, processor);
}

static uint32_t *home_of(const sg_mem *mem, uint64_t address)
{
    sg_dir *dir = (sg_dir *)&mem->dir;
    return sg_dir_home(dir, sg_dir_chunk(dir, address), address);
}

int64_t sg_mem_page_node(const sg_mem *mem, uint32_t processor, uint64_t address)
{
    mem = sg_mem_part(mem, &processor);
    return (int64_t)(*home_of(mem, address) & SG_DIR_NODE) - 1;
}

void sg_mem_place(sg_mem *mem, uint32_t processor, uint64_t address, uint64_t bytes, const sg_policy *policy,
                  enum sg_placing how)
{
    mem = sg_mem_part(mem, &processor);
    uint64_t page = 1ull << mem->page_shift, end = address + bytes;
    if (mem->attraction)
        return; /* lines live where they are used */
    for (address &= ~(page - 1); address < end; address += page) {
        uint32_t *home = home_of(mem, address), touched = *home != 0 && !(*home & SG_DIR_PLACED);
        if (touched && how == SG_PLACE_UNTOUCHED)
            continue;
        if (policy->kind == SG_PLACE_FIRST_TOUCH) {
            if (touched && how != SG_PLACE_FRESH)
                continue;
            *home = 0; /* decided at the first touch */
        } else {
            uint32_t node = (choose(mem, policy, 0, address) + 1) | SG_DIR_STAYS;
            *home = touched && how == SG_PLACE_MOVE ? node : node | SG_DIR_PLACED;
        }
        mem->touched -= touched && how == SG_PLACE_FRESH ? 1 : 0;
    }
}

void sg_mem_policies(sg_mem *mem, const sg_policy *(*policy_of)(uint32_t processor))
{
    for (uint32_t i = 0; i < mem->nodes; i++)
        sg_mem_policies(mem->node[i], policy_of);
    if (!mem->node)
        mem->homes->policy_of = mem->attraction ? NULL : policy_of;
}
