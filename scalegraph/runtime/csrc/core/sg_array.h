/* Growing arrays. What is behind the items in use is zero. */
#ifndef SG_ARRAY_H
#define SG_ARRAY_H

#include "sg_runtime.h"

/* How many items an array shall have room for that has room for `room` and needs one at `index`; the first
 * time `least`, then twice as many each time. */
static inline size_t sg_array_room(size_t room, size_t index, size_t least)
{
    size_t more = room != 0 ? room : least;
    while (more <= index)
        more *= 2;
    return more;
}

/* Makes room for an item at `index` in the array `items`, which has room for `room` ones. `larger` returns
 * memory that begins with what was there: sg_larger and its like. */
#define SG_ARRAY_HOLD_IN(larger, items, room, index, least)                                                  \
    do {                                                                                                     \
        if (SG_UNLIKELY((index) >= (room))) {                                                                \
            size_t sg_more = sg_array_room(room, index, least);                                              \
            (items) = larger(items, (size_t)(room) * sizeof *(items), sg_more * sizeof *(items));            \
            (room) = (__typeof__(room))sg_more;                                                              \
        }                                                                                                    \
    } while (0)

#define SG_ARRAY_HOLD(items, room, index, least) SG_ARRAY_HOLD_IN(sg_larger, items, room, index, least)

#endif
