/* Hooks that are part of the program's code: see toolchain/assembler.py, which writes them. */
#ifndef SG_INLINE_H
#define SG_INLINE_H

#include "sg_state.h"

/* How many segments of code are counted in line. */
uint32_t sg_inline_slots(void);
/* Reads the table of inlined hooks and makes sg->slots; the numbers of blocks are known. */
void sg_inline_open(void);
/* The observers know what they watch: the hooks get costs, and the geometry of the first cache level. */
void sg_inline_begin(const sg_filter *first);
/* Costs of slots that are all the same, for sg_processor.slot_parts. */
const uint64_t *sg_inline_same_parts(uint64_t parts);
/* Where the executions of the block are counted whose inlined hook returns to `site`; 0: it is not inlined.
 */
uint32_t sg_inline_place(const void *site);
/* The program has crashed at `site`: what it has not referenced any more is not counted. */
void sg_inline_crashed(sg_processor *p, uintptr_t site);

/* The account of the current region of `p`. */
static inline void sg_account_set(sg_processor *p, sg_account *account)
{
    p->account->parts = p->parts;
    p->parts = account->parts;
    p->account = account;
    p->executed = (uintptr_t)account + p->executed_from;
}

/* `p` counts executions of blocks apart while it is the lone processor. */
void sg_inline_count_apart(sg_processor *p, bool apart);

/* The inlined hooks count a segment of code when it begins. A hook in it at `site` lets others run: what
 * comes behind it in the segment is taken from the account meanwhile. */
static inline sg_behind sg_behind_of(const void *site)
{
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    return SG_LIKELY(offset <= sg->text_high - sg->text_low) ? sg->behind[offset] : (sg_behind){0, 0};
}

static inline void sg_behind_take(sg_processor *p, sg_behind behind)
{
    p->account->reads -= behind.reads;
    p->account->writes -= behind.writes;
}

/* The thread goes on, perhaps on another processor. */
static inline void sg_behind_give(sg_behind behind)
{
    sg_now->account->reads += behind.reads;
    sg_now->account->writes += behind.writes;
}

#endif
