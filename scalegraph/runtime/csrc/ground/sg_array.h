/* Growing arrays. Unused space is zero. */
#ifndef SG_ARRAY_H
#define SG_ARRAY_H

#include "sg_own.h"
#include "sg_state.h"

/* New capacity of an array with room for `room` items that needs one at `index`: `least` at first, then
 * doubling. */
static inline size_t sg_array_room(size_t room, size_t index, size_t least)
{
    size_t more = room != 0 ? room : least;
    while (more <= index)
        more *= 2;
    return more;
}

/* Makes room at `index` in `items`, an array with capacity `room`. `larger` returns memory that starts with
 * the old contents: sg_larger and the like. */
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
