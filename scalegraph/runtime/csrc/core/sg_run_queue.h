/* The processors that have a thread, earliest first: a tournament tree with the keys as leaves; each inner
 * node is the smaller of its two children, so changing a key takes a fixed path to the root without branches
 * that the host could mispredict. If ranks have several threads, each rank's processors have leaves below a
 * node of their own. Private to sg_sched.c. */
#ifndef SG_RUN_QUEUE_H
#define SG_RUN_QUEUE_H

#include "sg_runtime.h"

/* Node 1 is the root, nodes 2 i and 2 i + 1 are the children of node i; the sg->run_queue_leaves leaves come
 * last. The last leaf is the timer's, the others come from a free list. */
static inline void sg_run_queue_set(uint32_t leaf, uint64_t key)
{
    uint64_t *node = sg->run_queue, at = sg->run_queue_leaves + leaf;
    node[at] = key;
    for (; at > 1; at /= 2) {
        uint64_t other = node[at ^ 1];
        key = other < key ? other : key;
        node[at / 2] = key;
    }
}

static inline void sg_run_queue_add(uint32_t id, uint64_t key)
{
    if (SG_LIKELY(!sg->grouped))
        sg->leaf_of[id] = sg->free_leaf[--sg->free_leaves];
    sg_run_queue_set(sg->leaf_of[id], key);
}

/* Processor `id` with `key` takes the place of the first one, `top`. */
static inline void sg_run_queue_replace(uint32_t top, uint32_t id, uint64_t key)
{
    uint32_t leaf = sg->leaf_of[top];
    sg->leaf_of[id] = leaf;
    sg_run_queue_set(leaf, key);
}

static inline void sg_run_queue_remove(uint32_t id)
{
    uint32_t leaf = sg->leaf_of[id];
    if (SG_LIKELY(!sg->grouped))
        sg->free_leaf[sg->free_leaves++] = leaf;
    sg_run_queue_set(leaf, UINT64_MAX);
}

static inline void sg_run_queue_set_timer(uint64_t key)
{
    sg_run_queue_set(sg->run_queue_leaves - 1, key);
}

/* Number of the next processor, or SG_TIMER; UINT64_MAX: none. It stays in the running rank as long as that
 * is not too far ahead of the others, because switching ranks is slow on the host. */
static inline uint64_t sg_run_queue_next(void)
{
    uint64_t first = sg_first_key(), own = sg->run_queue[sg->group_node];
    if (SG_UNLIKELY(sg->grouped) && own - first <= sg->slack && own >> SG_KEY_BITS <= sg->timer &&
        own != UINT64_MAX && !sg->coroutine[own & SG_KEY_MASK].exact)
        return own & SG_KEY_MASK;
    return first == UINT64_MAX ? first : first & SG_KEY_MASK;
}

/* Number of the processor after `first`, if nothing changes until then; UINT64_MAX: none. */
static inline uint64_t sg_run_queue_after(uint32_t first)
{
    const uint64_t *node = sg->run_queue;
    uint64_t key = UINT64_MAX;
    for (uint64_t at = sg->run_queue_leaves + sg->leaf_of[first]; at > 1; at /= 2) {
        uint64_t other = node[at ^ 1];
        key = other < key ? other : key;
    }
    return key == UINT64_MAX ? key : key & SG_KEY_MASK;
}

/* Prefers the processors of `rank`. */
static inline void sg_run_queue_prefer(uint32_t rank)
{
    sg->group_node = sg->grouped ? (sg->run_queue_leaves >> sg->group_shift) + rank : 1;
}

/* Leaves for ranks with several processors, a power of two for each rank; the timer's comes after them. */
static inline uint32_t sg_run_queue_group(uint32_t processors)
{
    uint32_t leaves = 2;
    while (1u << sg->group_shift < sg->own_processors)
        sg->group_shift++;
    while (leaves < (sg->ranks + 1) << sg->group_shift)
        leaves *= 2;
    for (uint32_t i = 0; i < processors; i++)
        sg->leaf_of[i] = (i / sg->own_processors << sg->group_shift) + i % sg->own_processors;
    return leaves;
}

static inline void sg_run_queue_open(uint32_t processors)
{
    sg->leaf_of = sg_new(processors * sizeof(uint32_t));
    uint32_t leaves = sg->grouped ? sg_run_queue_group(processors) : processors + 1;
    sg->run_queue_leaves = leaves;
    sg->run_queue = sg_new(2 * leaves * sizeof(uint64_t));
    for (uint32_t i = 0; i < 2 * leaves; i++)
        sg->run_queue[i] = UINT64_MAX;
    sg->free_leaf = sg_new(processors * sizeof(uint32_t));
    for (uint32_t i = 0; i < processors; i++)
        sg->free_leaf[sg->free_leaves++] = processors - 1 - i;
    sg_run_queue_prefer(0);
}

#endif
