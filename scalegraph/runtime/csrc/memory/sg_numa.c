/* Where the program wants its pages and its threads: the calls of libnuma, mbind, set_mempolicy.
 *
 * The nodes are the places of the simulated machine where memory is (sockets, hypernodes, controllers of a
 * mesh); a machine with one memory has one node. The definitions are weak, so that they take the place of a
 * libnuma that the program is linked with as a shared library, and stand in for one that the host does not
 * have. A page lives where it was placed when it is touched first; a policy of a thread is inherited by the
 * threads that it makes. */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>

#include "sg_runtime.h"

#define API __attribute__((visibility("default"), used, weak))

/* As in linux/mempolicy.h. */
enum { MPOL_DEFAULT, MPOL_PREFERRED, MPOL_BIND, MPOL_INTERLEAVE, MPOL_LOCAL, MPOL_PREFERRED_MANY };
#define MODE_MASK    0xff /* the rest are flags */
#define MPOL_F_NODE  1ul
#define MPOL_F_ADDR  2ul
#define MPOL_MF_MOVE 6u /* or of all processes */
#define BITS         (8 * sizeof(unsigned long))

/* As in numa.h. */
struct bitmask {
    unsigned long size; /* in bits */
    unsigned long *maskp;
};

/* The policies that threads have asked for; each is kept once. */
typedef struct kept {
    struct kept *next;
    sg_policy policy;
} kept;

uint32_t sg_numa_nodes(void)
{
    uint32_t count = sg_mem_nodes(sg->mem);
    return count < SG_POLICY_NODES ? count : SG_POLICY_NODES;
}

static const sg_policy *keep(const sg_policy *policy)
{
    for (kept *k = sg->policies; k != NULL; k = k->next)
        if (memcmp(&k->policy, policy, sizeof *policy) == 0)
            return &k->policy;
    kept *made = sg_new(sizeof *made);
    *made = (kept){sg->policies, *policy};
    sg->policies = made;
    return &made->policy;
}

static const sg_policy *policy_of(uint32_t processor)
{
    const sg_thread *t = sg->processor[processor].thread;
    return t != NULL ? t->policy : NULL;
}

void sg_numa_open(void)
{
    sg_mem_policies(sg->mem, policy_of);
}

static int fail(int reason)
{
    errno = reason;
    return -1;
}

/* ---- policies ---- */

static sg_policy on_node(uint32_t node)
{
    return (sg_policy){.kind = SG_PLACE_NODE, .node = node};
}

static sg_policy at_first_touch(void)
{
    return (sg_policy){.kind = SG_PLACE_FIRST_TOUCH};
}

/* Pages go round the nodes of `mask`, or all; a single node is that node. */
static sg_policy round_nodes(const unsigned long *mask, unsigned long bits)
{
    sg_policy policy = {.kind = SG_PLACE_INTERLEAVE};
    uint32_t set = 0, last = 0;
    for (uint32_t n = 0; n < sg_numa_nodes(); n++)
        if (mask == NULL || (n < bits && (mask[n / BITS] >> n % BITS & 1) != 0)) {
            policy.nodes[n / 64] |= 1ull << n % 64;
            set++;
            last = n;
        }
    return set == 1 ? on_node(last) : policy;
}

static bool is_empty(const sg_policy *policy)
{
    if (policy->kind != SG_PLACE_INTERLEAVE)
        return false;
    uint64_t any = 0;
    for (uint32_t i = 0; i < SG_POLICY_NODES / 64; i++)
        any |= policy->nodes[i];
    return any == 0;
}

/* What the system's mode and nodes mean; several nodes to bind to are filled in turn. Returns 0 or an errno.
 */
static int read_policy(int mode, const unsigned long *mask, unsigned long bits, sg_policy *policy)
{
    switch (mode & MODE_MASK) {
    case MPOL_DEFAULT:
    case MPOL_LOCAL:
        *policy = at_first_touch();
        return 0;
    case MPOL_PREFERRED:
    case MPOL_PREFERRED_MANY:
        *policy = mask != NULL ? round_nodes(mask, bits) : at_first_touch();
        if (is_empty(policy))
            *policy = at_first_touch();
        return 0;
    case MPOL_BIND:
    case MPOL_INTERLEAVE:
        if (mask == NULL)
            return EINVAL;
        *policy = round_nodes(mask, bits);
        return is_empty(policy) ? EINVAL : 0;
    default:
        return EINVAL;
    }
}

static void set_policy(const sg_policy *policy)
{
    sg_thread *t = sg_self();
    if (t != NULL)
        t->policy = policy != NULL ? keep(policy) : NULL;
}

API long set_mempolicy(int mode, const unsigned long *mask, unsigned long bits)
{
    sg_policy policy;
    int wrong = read_policy(mode, mask, bits, &policy);
    if (wrong != 0)
        return fail(wrong);
    set_policy((mode & MODE_MASK) == MPOL_DEFAULT ? NULL : &policy);
    return 0;
}

API long mbind(void *start, unsigned long bytes, int mode, const unsigned long *mask, unsigned long bits,
               unsigned flags)
{
    sg_policy policy;
    uint64_t address = (uint64_t)(uintptr_t)start;
    int wrong = address % sg->config.page_bytes != 0 && address % 4096 != 0 ? EINVAL : 0;
    if (wrong == 0)
        wrong = read_policy(mode, mask, bits, &policy);
    if (wrong != 0)
        return fail(wrong);
    sg_mem_place(sg->mem, address, bytes, &policy,
                 (flags & MPOL_MF_MOVE) != 0 ? SG_PLACE_MOVE : SG_PLACE_UNTOUCHED);
    return 0;
}

static void tell_nodes(const sg_policy *policy, unsigned long *mask, unsigned long bits)
{
    for (uint32_t n = 0; mask != NULL && n < bits; n++) {
        bool set =
            policy != NULL && n < sg_numa_nodes() &&
            (policy->kind == SG_PLACE_NODE ? n == policy->node : (policy->nodes[n / 64] >> n % 64 & 1) != 0);
        unsigned long bit = 1ul << n % BITS;
        mask[n / BITS] = set ? mask[n / BITS] | bit : mask[n / BITS] & ~bit;
    }
}

API long get_mempolicy(int *mode, unsigned long *mask, unsigned long bits, void *address, unsigned long flags)
{
    const sg_thread *t = sg_self();
    const sg_policy *policy = t != NULL ? t->policy : NULL;
    if (flags == (MPOL_F_NODE | MPOL_F_ADDR)) {
        if (t != NULL) /* the page is touched by this */
            sg_reference_range(address, 1, SG_READ, SG_CALLER);
        int64_t node = sg_mem_page_node(sg->mem, (uint64_t)(uintptr_t)address);
        if (mode != NULL)
            *mode = node < 0 ? 0 : (int)node;
        return 0;
    }
    if (flags != 0)
        return fail(EINVAL);
    if (mode != NULL)
        *mode = policy == NULL                        ? MPOL_DEFAULT
                : policy->kind == SG_PLACE_NODE       ? MPOL_BIND
                : policy->kind == SG_PLACE_INTERLEAVE ? MPOL_INTERLEAVE
                                                      : MPOL_LOCAL;
    tell_nodes(policy, mask, bits);
    return 0;
}

long sg_numa_call(long number, const long a[6])
{
    long result;
    if (number == SYS_mbind)
        result = mbind((void *)a[0], (unsigned long)a[1], (int)a[2], (const unsigned long *)a[3],
                       (unsigned long)a[4], (unsigned)a[5]);
    else if (number == SYS_set_mempolicy)
        result = set_mempolicy((int)a[0], (const unsigned long *)a[1], (unsigned long)a[2]);
    else
        result = get_mempolicy((int *)a[0], (unsigned long *)a[1], (unsigned long)a[2], (void *)a[3],
                               (unsigned long)a[4]);
    return result < 0 ? -errno : result;
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
        return fail(EINVAL);
    return (int)sg_mem_node_of(sg->mem, (uint32_t)cpu);
}

API int numa_pagesize(void)
{
    return (int)sg->config.page_bytes;
}

/* As the firmware of a machine with links of one kind says it. */
API int numa_distance(int from, int to)
{
    if (from < 0 || to < 0 || from > numa_max_node() || to > numa_max_node())
        return 0;
    return from == to ? 10 : 20;
}

API long long numa_node_size64(int node, long long *unused)
{
    if (node < 0 || node > numa_max_node())
        return fail(EINVAL);
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
    sg_mem_place(sg->mem, (uint64_t)(uintptr_t)memory, bytes, policy, SG_PLACE_FRESH);
    return memory;
}

static void place(void *memory, size_t bytes, const sg_policy *policy)
{
    sg_mem_place(sg->mem, (uint64_t)(uintptr_t)memory, bytes, policy, SG_PLACE_UNTOUCHED);
}

API void *numa_alloc_onnode(size_t bytes, int node)
{
    if (node < 0 || node > numa_max_node()) {
        errno = EINVAL;
        return NULL;
    }
    sg_policy policy = on_node((uint32_t)node);
    return allocate(bytes, &policy);
}

API void *numa_alloc_local(size_t bytes)
{
    const sg_thread *t = sg_self();
    sg_policy policy = on_node(sg_mem_node_of(sg->mem, t != NULL ? sg_now->id : 0));
    return allocate(bytes, &policy);
}

API void *numa_alloc_interleaved_subset(size_t bytes, struct bitmask *mask)
{
    sg_policy policy = round_nodes(mask->maskp, mask->size);
    return is_empty(&policy) ? NULL : allocate(bytes, &policy);
}

API void *numa_alloc_interleaved(size_t bytes)
{
    sg_policy policy = round_nodes(NULL, 0);
    return allocate(bytes, &policy);
}

API void *numa_alloc(size_t bytes)
{
    const sg_thread *t = sg_self();
    sg_policy policy = t != NULL && t->policy != NULL ? *t->policy : at_first_touch();
    return allocate(bytes, &policy);
}

API void numa_free(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

API void numa_tonode_memory(void *memory, size_t bytes, int node)
{
    sg_policy policy = on_node((uint32_t)node);
    if (node >= 0 && node <= numa_max_node())
        place(memory, bytes, &policy);
}

API void numa_setlocal_memory(void *memory, size_t bytes)
{
    sg_policy policy = at_first_touch();
    place(memory, bytes, &policy);
}

API void numa_interleave_memory(void *memory, size_t bytes, struct bitmask *mask)
{
    sg_policy policy = round_nodes(mask->maskp, mask->size);
    if (!is_empty(&policy))
        place(memory, bytes, &policy);
}

API void numa_tonodemask_memory(void *memory, size_t bytes, struct bitmask *mask)
{
    numa_interleave_memory(memory, bytes, mask);
}

API void numa_set_preferred(int node)
{
    sg_policy policy = on_node((uint32_t)node);
    set_policy(node >= 0 && node <= numa_max_node() ? &policy : NULL);
}

API int numa_preferred(void)
{
    const sg_thread *t = sg_self();
    return t != NULL && t->policy != NULL && t->policy->kind == SG_PLACE_NODE ? (int)t->policy->node : 0;
}

API void numa_set_localalloc(void)
{
    sg_policy policy = at_first_touch();
    set_policy(&policy);
}

API void numa_set_interleave_mask(struct bitmask *mask)
{
    sg_policy policy = round_nodes(mask->maskp, mask->size);
    set_policy(is_empty(&policy) ? NULL : &policy);
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
        return fail(ENOMEM);
    CPU_ZERO_S(bytes, set);
    for (uint32_t p = 0; p < sg->processors; p++) {
        uint32_t node = sg_mem_node_of(sg->mem, p);
        if (mask == NULL || (node < bits && (mask[node / BITS] >> node % BITS & 1) != 0))
            CPU_SET_S(p, bytes, set);
    }
    int result = sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    return result;
}

API int numa_run_on_node(int node)
{
    unsigned long mask[SG_POLICY_NODES / BITS] = {0};
    if (node < -1 || node > numa_max_node())
        return fail(EINVAL);
    if (node >= 0)
        mask[(unsigned)node / BITS] = 1ul << (unsigned)node % BITS;
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
        return fail(EINVAL);
    if (mask->size < sg->processors)
        return fail(ERANGE);
    memset(mask->maskp, 0, (mask->size + BITS - 1) / BITS * sizeof(unsigned long));
    for (uint32_t p = 0; p < sg->processors; p++)
        if (sg_mem_node_of(sg->mem, p) == (uint32_t)node)
            mask->maskp[p / BITS] |= 1ul << p % BITS;
    return 0;
}

/* ---- libnuma: masks ---- */

API struct bitmask *numa_bitmask_alloc(unsigned bits)
{
    struct bitmask *mask = malloc(sizeof *mask);
    if (mask == NULL)
        return NULL;
    mask->size = bits;
    mask->maskp = calloc((bits + BITS - 1) / BITS + 1, sizeof(unsigned long));
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
        mask->maskp[bit / BITS] |= 1ul << bit % BITS;
    return mask;
}

API struct bitmask *numa_bitmask_clearbit(struct bitmask *mask, unsigned bit)
{
    if (bit < mask->size)
        mask->maskp[bit / BITS] &= ~(1ul << bit % BITS);
    return mask;
}

API int numa_bitmask_isbitset(const struct bitmask *mask, unsigned bit)
{
    return bit < mask->size && (mask->maskp[bit / BITS] >> bit % BITS & 1) != 0;
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
