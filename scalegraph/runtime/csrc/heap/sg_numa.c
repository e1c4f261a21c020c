/* Where the program wants its pages and threads: the libnuma calls.
 *
 * The nodes are the places of the simulated machine that have memory (sockets, hypernodes, controllers of
 * a mesh); a machine with one memory has one node. The definitions are weak, so that they override a
 * libnuma that the program links as a shared library and replace one that the host lacks. */
#include <errno.h>
#include <sched.h>

#include "sg_policy.h"

/* As in numa.h. */
struct bitmask {
    unsigned long size; /* in bits */
    unsigned long *maskp;
};

static const sg_policy *policy_of(uint32_t processor)
{
    const sg_thread *t = sg->processor[processor].thread;
    return t != NULL ? t->policy : NULL;
}

void sg_numa_open(void)
{
    sg_mem_policies(sg->mem, policy_of);
}

/* ---- libnuma: the machine ---- */

API int numa_available(void)
{
    return 0;
}

API int numa_max_node(void)
{
    return (int)sg_numa_nodes() - 1;
}

API int numa_max_possible_node(void)
{
    return (int)sg_numa_nodes() - 1;
}

API int numa_num_configured_nodes(void)
{
    return (int)sg_numa_nodes();
}

API int numa_num_possible_nodes(void)
{
    return (int)sg_numa_nodes();
}

API int numa_num_task_nodes(void)
{
    return (int)sg_numa_nodes();
}

API int numa_num_configured_cpus(void)
{
    return (int)sg->processors;
}

API int numa_num_task_cpus(void)
{
    return (int)sg->processors;
}

API int numa_node_of_cpu(int cpu)
{
    if (cpu < 0 || (uint32_t)cpu >= sg->processors)
        return sg_numa_fail(EINVAL);
    return (int)sg_mem_node_of(sg->mem, (uint32_t)cpu);
}

API int numa_pagesize(void)
{
    return (int)sg->config.page_bytes;
}

/* As firmware reports it for a machine with one kind of link. */
API int numa_distance(int from, int to)
{
    if (from < 0 || to < 0 || from > numa_max_node() || to > numa_max_node())
        return 0;
    return from == to ? 10 : 20;
}

API long long numa_node_size64(int node, long long *unused)
{
    if (node < 0 || node > numa_max_node())
        return sg_numa_fail(EINVAL);
    long long size = (long long)(sg->config.arena_bytes / sg_numa_nodes());
    if (unused != NULL)
        *unused = size;
    return size;
}

API long numa_node_size(int node, long *unused)
{
    long long size = numa_node_size64(node, NULL);
    if (unused != NULL)
        *unused = (long)size;
    return (long)size;
}

/* ---- libnuma: memory ---- */

static void *allocate(size_t bytes, const sg_policy *policy)
{
    size_t page = sg->config.page_bytes > 4096 ? sg->config.page_bytes : 4096;
    void *memory = NULL;
    if (bytes == 0 || posix_memalign(&memory, page, (bytes + page - 1) & ~(page - 1)) != 0)
        return NULL;
    sg_mem_place(sg->mem, sg_now->id, (uint64_t)(uintptr_t)memory, bytes, policy, SG_PLACE_FRESH);
    return memory;
}

static void place(void *memory, size_t bytes, const sg_policy *policy)
{
    sg_mem_place(sg->mem, sg_now->id, (uint64_t)(uintptr_t)memory, bytes, policy, SG_PLACE_UNTOUCHED);
}

API void *numa_alloc_onnode(size_t bytes, int node)
{
    if (node < 0 || node > numa_max_node()) {
        errno = EINVAL;
        return NULL;
    }
    sg_policy policy = sg_policy_node((uint32_t)node);
    return allocate(bytes, &policy);
}

API void *numa_alloc_local(size_t bytes)
{
    const sg_thread *t = sg_self();
    sg_policy policy = sg_policy_node(sg_mem_node_of(sg->mem, t != NULL ? sg_now->id : 0));
    return allocate(bytes, &policy);
}

API void *numa_alloc_interleaved_subset(size_t bytes, struct bitmask *mask)
{
    sg_policy policy = sg_policy_round(mask->maskp, mask->size);
    return sg_policy_is_empty(&policy) ? NULL : allocate(bytes, &policy);
}

API void *numa_alloc_interleaved(size_t bytes)
{
    sg_policy policy = sg_policy_round(NULL, 0);
    return allocate(bytes, &policy);
}

API void *numa_alloc(size_t bytes)
{
    const sg_thread *t = sg_self();
    sg_policy policy = t != NULL && t->policy != NULL ? *t->policy : sg_policy_first_touch();
    return allocate(bytes, &policy);
}

API void numa_free(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

API void numa_tonode_memory(void *memory, size_t bytes, int node)
{
    sg_policy policy = sg_policy_node((uint32_t)node);
    if (node >= 0 && node <= numa_max_node())
        place(memory, bytes, &policy);
}

API void numa_setlocal_memory(void *memory, size_t bytes)
{
    sg_policy policy = sg_policy_first_touch();
    place(memory, bytes, &policy);
}

API void numa_interleave_memory(void *memory, size_t bytes, struct bitmask *mask)
{
    sg_policy policy = sg_policy_round(mask->maskp, mask->size);
    if (!sg_policy_is_empty(&policy))
        place(memory, bytes, &policy);
}

API void numa_tonodemask_memory(void *memory, size_t bytes, struct bitmask *mask)
{
    numa_interleave_memory(memory, bytes, mask);
}

API void numa_set_preferred(int node)
{
    sg_policy policy = sg_policy_node((uint32_t)node);
    sg_policy_set(node >= 0 && node <= numa_max_node() ? &policy : NULL);
}

API int numa_preferred(void)
{
    const sg_thread *t = sg_self();
    return t != NULL && t->policy != NULL && t->policy->kind == SG_PLACE_NODE ? (int)t->policy->node : 0;
}

API void numa_set_localalloc(void)
{
    sg_policy policy = sg_policy_first_touch();
    sg_policy_set(&policy);
}

API void numa_set_interleave_mask(struct bitmask *mask)
{
    sg_policy policy = sg_policy_round(mask->maskp, mask->size);
    sg_policy_set(sg_policy_is_empty(&policy) ? NULL : &policy);
}

API void numa_set_membind(struct bitmask *mask)
{
    numa_set_interleave_mask(mask);
}

/* ---- libnuma: threads ---- */

/* Binds the running thread to the processors of the nodes in `mask` (NULL: all). */
static int run_on(const unsigned long *mask, unsigned long bits)
{
    size_t bytes = CPU_ALLOC_SIZE(sg->processors);
    cpu_set_t *set = CPU_ALLOC(sg->processors);
    if (set == NULL)
        return sg_numa_fail(ENOMEM);
    CPU_ZERO_S(bytes, set);
    for (uint32_t p = 0; p < sg->processors; p++) {
        uint32_t node = sg_mem_node_of(sg->mem, p);
        if (mask == NULL || (node < bits && (mask[node / SG_MASK_BITS] >> node % SG_MASK_BITS & 1) != 0))
            CPU_SET_S(p, bytes, set);
    }
    int result = sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    return result;
}

API int numa_run_on_node(int node)
{
    unsigned long mask[SG_POLICY_NODES / SG_MASK_BITS] = {0};
    if (node < -1 || node > numa_max_node())
        return sg_numa_fail(EINVAL);
    if (node >= 0)
        mask[(unsigned)node / SG_MASK_BITS] = 1ul << (unsigned)node % SG_MASK_BITS;
    return run_on(node < 0 ? NULL : mask, SG_POLICY_NODES);
}

API int numa_run_on_node_mask(struct bitmask *mask)
{
    return run_on(mask->maskp, mask->size);
}

API void numa_bind(struct bitmask *mask)
{
    run_on(mask->maskp, mask->size);
    numa_set_membind(mask);
}

API int numa_node_to_cpus(int node, struct bitmask *mask)
{
    if (node < 0 || node > numa_max_node())
        return sg_numa_fail(EINVAL);
    if (mask->size < sg->processors)
        return sg_numa_fail(ERANGE);
    memset(mask->maskp, 0, (mask->size + SG_MASK_BITS - 1) / SG_MASK_BITS * sizeof(unsigned long));
    for (uint32_t p = 0; p < sg->processors; p++)
        if (sg_mem_node_of(sg->mem, p) == (uint32_t)node)
            mask->maskp[p / SG_MASK_BITS] |= 1ul << p % SG_MASK_BITS;
    return 0;
}

/* ---- libnuma: masks ---- */

API struct bitmask *numa_bitmask_alloc(unsigned bits)
{
    struct bitmask *mask = malloc(sizeof *mask);
    if (mask == NULL)
        return NULL;
    mask->size = bits;
    mask->maskp = calloc((bits + SG_MASK_BITS - 1) / SG_MASK_BITS + 1, sizeof(unsigned long));
    if (mask->maskp != NULL)
        return mask;
    free(mask);
    return NULL;
}

API void numa_bitmask_free(struct bitmask *mask)
{
    if (mask != NULL)
        free(mask->maskp);
    free(mask);
}

API struct bitmask *numa_allocate_nodemask(void)
{
    return numa_bitmask_alloc(sg_numa_nodes());
}

API struct bitmask *numa_allocate_cpumask(void)
{
    return numa_bitmask_alloc(sg->processors);
}

API struct bitmask *numa_bitmask_setbit(struct bitmask *mask, unsigned bit)
{
    if (bit < mask->size)
        mask->maskp[bit / SG_MASK_BITS] |= 1ul << bit % SG_MASK_BITS;
    return mask;
}

API struct bitmask *numa_bitmask_clearbit(struct bitmask *mask, unsigned bit)
{
    if (bit < mask->size)
        mask->maskp[bit / SG_MASK_BITS] &= ~(1ul << bit % SG_MASK_BITS);
    return mask;
}

API int numa_bitmask_isbitset(const struct bitmask *mask, unsigned bit)
{
    return bit < mask->size && (mask->maskp[bit / SG_MASK_BITS] >> bit % SG_MASK_BITS & 1) != 0;
}

API struct bitmask *numa_bitmask_setall(struct bitmask *mask)
{
    for (unsigned bit = 0; bit < mask->size; bit++)
        numa_bitmask_setbit(mask, bit);
    return mask;
}

API struct bitmask *numa_bitmask_clearall(struct bitmask *mask)
{
    for (unsigned bit = 0; bit < mask->size; bit++)
        numa_bitmask_clearbit(mask, bit);
    return mask;
}

API unsigned numa_bitmask_weight(const struct bitmask *mask)
{
    unsigned weight = 0;
    for (unsigned bit = 0; bit < mask->size; bit++)
        weight += (unsigned)numa_bitmask_isbitset(mask, bit);
    return weight;
}

API struct bitmask *numa_get_mems_allowed(void)
{
    struct bitmask *mask = numa_allocate_nodemask();
    return mask == NULL ? NULL : numa_bitmask_setall(mask);
}
