/* Hooks that are part of the program's code: see toolchain/assembler.py, which writes them. */
#ifndef SG_INLINE_H
#define SG_INLINE_H

#include "sg_state.h"

enum sg_inlined_kind {
    SG_INLINED_BLOCK = 1,
    SG_INLINED_READ,
    SG_INLINED_WRITE,
    SG_INLINED_SEGMENT,
    SG_INLINED_LEFT_OUT
};

/* One inlined hook: its code ends at the return address of the call that it may make. */
typedef struct sg_inlined {
    uint64_t start;
    uint32_t length;
    uint32_t slot; /* address of what stands for the executions that count it */
    uint32_t kind;
    uint16_t shift_at, mask_at; /* where the code has the geometry, from its start on */
} sg_inlined;

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
/* What an execution costs there, of a processor of that speed. */
uint64_t *sg_inline_parts(const sg_speed *speed, uint32_t place);
/* Calls `visit` for each inlined hook; false: there are none that references search in line. */
bool sg_inline_each(void (*visit)(const sg_inlined *hook));
/* The slot of a segment, which is not used as memory otherwise, by its place in the executions of an account.
 */
uint64_t *sg_inline_slot(uint32_t place);
/* Makes the program's code writable, or not any more; false: the host does not let us. */
bool sg_inline_open_code(bool writable);
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
