/* The processors that have a thread, the earliest first: a tree whose leaves are their keys and whose other
 * nodes are the smaller one of two below, so that a change of one key is a fixed way to the root without a
 * branch that the host could guess wrong. Private to sg_sched.c. */
#ifndef SG_RUN_QUEUE_H
#define SG_RUN_QUEUE_H

#include "sg_runtime.h"

/* Node 1 is the root, nodes 2 i and 2 i + 1 are below node i; sg->order_leaves leaves come last. The last
 * leaf is the timer's, the others are taken as they are free. */
static inline void order_set(uint32_t leaf, uint64_t key)
{
    uint64_t *node = sg->order;
    uint32_t at = sg->order_leaves + leaf;
    node[at] = key;
    for (; at > 1; at /= 2) {
        uint64_t other = node[at ^ 1];
        key = other < key ? other : key;
        node[at / 2] = key;
    }
}

static inline void order_add(uint32_t id, uint64_t key)
{
    uint32_t leaf = sg->free_leaf[--sg->free_leaves];
    sg->leaf_of[id] = leaf;
    order_set(leaf, key);
}

/* The processor `id` with `key` takes the place of the first, `top`. */
static inline void order_replace(uint32_t top, uint32_t id, uint64_t key)
{
    uint32_t leaf = sg->leaf_of[top];
    sg->leaf_of[id] = leaf;
    order_set(leaf, key);
}

static inline void order_remove(uint32_t id)
{
    uint32_t leaf = sg->leaf_of[id];
    sg->free_leaf[sg->free_leaves++] = leaf;
    order_set(leaf, UINT64_MAX);
}

static inline void order_set_timer(uint64_t key)
{
    order_set(sg->order_leaves - 1, key);
}

static inline void order_open(uint32_t processors)
{
    uint32_t leaves = processors + 1;
    sg->order_leaves = leaves;
    sg->order = sg_new(2 * leaves * sizeof(uint64_t));
    for (uint32_t i = 0; i < 2 * leaves; i++)
        sg->order[i] = UINT64_MAX;
    sg->leaf_of = sg_new(processors * sizeof(uint32_t));
    sg->free_leaf = sg_new(processors * sizeof(uint32_t));
    for (uint32_t i = 0; i < processors; i++)
        sg->free_leaf[sg->free_leaves++] = processors - 1 - i;
}

#endif
