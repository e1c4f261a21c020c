/* Memory policies: the calls mbind, set_mempolicy and get_mempolicy, by name and by number.
 *
 * A page is placed when it is first touched; threads inherit the policy of the thread that creates them. */
#include <errno.h>
#include <sys/syscall.h>

#include "sg_policy.h"

/* As in linux/mempolicy.h. */
enum { MPOL_DEFAULT, MPOL_PREFERRED, MPOL_BIND, MPOL_INTERLEAVE, MPOL_LOCAL, MPOL_PREFERRED_MANY };
#define MODE_MASK    0xff /* the rest are flags */
#define MPOL_F_NODE  1ul
#define MPOL_F_ADDR  2ul
#define MPOL_MF_MOVE 6u /* or of all processes */

/* Policies that threads have requested; each distinct one is kept once. */
typedef struct kept {
    struct kept *next;
    sg_policy policy;
} kept;

uint32_t sg_numa_nodes(void)
{
    uint32_t count = sg_mem_nodes(sg->mem);
    return count < SG_POLICY_NODES ? count : SG_POLICY_NODES;
}

int sg_numa_fail(int reason)
{
    errno = reason;
    return -1;
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

sg_policy sg_policy_node(uint32_t node)
{
    return (sg_policy){.kind = SG_PLACE_NODE, .node = node};
}

sg_policy sg_policy_first_touch(void)
{
    return (sg_policy){.kind = SG_PLACE_FIRST_TOUCH};
}

/* Interleaves pages over the nodes of `mask`, or all nodes; with a single node, uses that. */
sg_policy sg_policy_round(const unsigned long *mask, unsigned long bits)
{
    sg_policy policy = {.kind = SG_PLACE_INTERLEAVE};
    uint32_t set = 0, last = 0;
    for (uint32_t n = 0; n < sg_numa_nodes(); n++)
        if (mask == NULL || (n < bits && (mask[n / SG_MASK_BITS] >> n % SG_MASK_BITS & 1) != 0)) {
            policy.nodes[n / 64] |= 1ull << n % 64;
            set++;
            last = n;
        }
    return set == 1 ? sg_policy_node(last) : policy;
}

bool sg_policy_is_empty(const sg_policy *policy)
{
    if (policy->kind != SG_PLACE_INTERLEAVE)
        return false;
    uint64_t any = 0;
    for (uint32_t i = 0; i < SG_POLICY_NODES / 64; i++)
        any |= policy->nodes[i];
    return any == 0;
}

/* Decodes the system's mode and nodes; binding to several nodes fills them in turn. Returns 0 or an errno. */
static int read_policy(int mode, const unsigned long *mask, unsigned long bits, sg_policy *policy)
{
    switch (mode & MODE_MASK) {
    case MPOL_DEFAULT:
    case MPOL_LOCAL:
        *policy = sg_policy_first_touch();
        return 0;
    case MPOL_PREFERRED:
    case MPOL_PREFERRED_MANY:
        *policy = mask != NULL ? sg_policy_round(mask, bits) : sg_policy_first_touch();
        if (sg_policy_is_empty(policy))
            *policy = sg_policy_first_touch();
        return 0;
    case MPOL_BIND:
    case MPOL_INTERLEAVE:
        if (mask == NULL)
            return EINVAL;
        *policy = sg_policy_round(mask, bits);
        return sg_policy_is_empty(policy) ? EINVAL : 0;
    default:
        return EINVAL;
    }
}

void sg_policy_set(const sg_policy *policy)
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
        return sg_numa_fail(wrong);
    sg_policy_set((mode & MODE_MASK) == MPOL_DEFAULT ? NULL : &policy);
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
        return sg_numa_fail(wrong);
    sg_mem_place(sg->mem, sg_now->id, address, bytes, &policy,
                 (flags & MPOL_MF_MOVE) != 0 ? SG_PLACE_MOVE : SG_PLACE_UNTOUCHED);
    return 0;
}

static void tell_nodes(const sg_policy *policy, unsigned long *mask, unsigned long bits)
{
    for (uint32_t n = 0; mask != NULL && n < bits; n++) {
        bool set =
            policy != NULL && n < sg_numa_nodes() &&
            (policy->kind == SG_PLACE_NODE ? n == policy->node : (policy->nodes[n / 64] >> n % 64 & 1) != 0);
        unsigned long bit = 1ul << n % SG_MASK_BITS;
        mask[n / SG_MASK_BITS] = set ? mask[n / SG_MASK_BITS] | bit : mask[n / SG_MASK_BITS] & ~bit;
    }
}

API long get_mempolicy(int *mode, unsigned long *mask, unsigned long bits, void *address, unsigned long flags)
{
    const sg_thread *t = sg_self();
    const sg_policy *policy = t != NULL ? t->policy : NULL;
    if (flags == (MPOL_F_NODE | MPOL_F_ADDR)) {
        if (t != NULL) /* this touches the page */
            sg_reference_range(address, 1, SG_READ, SG_CALLER);
        int64_t node = sg_mem_page_node(sg->mem, sg_now->id, (uint64_t)(uintptr_t)address);
        if (mode != NULL)
            *mode = node < 0 ? 0 : (int)node;
        return 0;
    }
    if (flags != 0)
        return sg_numa_fail(EINVAL);
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
