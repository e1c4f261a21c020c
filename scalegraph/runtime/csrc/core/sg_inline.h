/* Hooks inlined in the program's code: toolchain/csrc writes them. */
#ifndef SG_INLINE_H
#define SG_INLINE_H

#include "sg_account.h"
#include "sg_mem.h"
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
    uint32_t slot; /* address of the slot that counts its executions */
    uint32_t kind;
    uint16_t shift_at, mask_at; /* offsets of the geometry in its code */
} sg_inlined;

/* How many segments of code are counted inline. */
uint32_t sg_inline_slots(void);
/* Reads the table of inlined hooks and fills sg->slots; block numbers are known. */
void sg_inline_open(void);
/* Call when the observers know what they watch: sets the hooks' costs, and the geometry of the first cache
 * level. */
void sg_inline_begin(const sg_filter *first);
/* Equal costs for all slots, for sg_processor.slot_parts. */
const uint64_t *sg_inline_same_parts(uint64_t parts);
/* Index in an account's executions of the block whose inlined hook returns to `site`; 0: not inlined. */
uint32_t sg_inline_place(const void *site);
/* Cost of an execution there, on a processor of that speed. */
uint64_t *sg_inline_parts(const sg_speed *speed, uint32_t place);
/* Calls `visit` for each inlined hook; false: no references search the filter inline. */
bool sg_inline_each(void (*visit)(const sg_inlined *hook));
/* The slot of a segment, by its index in an account's executions; slots are not otherwise used as memory. */
uint64_t *sg_inline_slot(uint32_t place);
/* Makes the program's code writable, or read-only again; false: the host does not allow it. */
bool sg_inline_open_code(bool writable);
/* The program has crashed at `site`: uncounts the references it did not reach. */
void sg_inline_crashed(sg_processor *p, uintptr_t site);

/* What may have changed in an account: its sums, or its executions, too. */
enum { SG_SUMS_CHANGED = 1, SG_ALL_CHANGED = 3 };

static inline void sg_account_change(sg_account *account, uint64_t what)
{
    if (SG_UNLIKELY(account->changed == 0)) {
        account->next_changed = sg->changed;
        sg->changed = account;
    }
    account->changed |= what;
}

/* Makes `account` the account of p's current region. */
static inline void sg_account_set(sg_processor *p, sg_account *account)
{
    p->account->parts = p->parts;
    p->parts = account->parts;
    p->account = account;
    sg_account_change(account, SG_ALL_CHANGED);
    p->executed = (uintptr_t)account + p->executed_from;
}

/* Whether `p` counts executions separately because it is the lone processor. */
void sg_inline_count_apart(sg_processor *p, bool apart);

/* Inlined hooks count a segment of code when it begins. If a hook in it at `site` lets others run, the part
 * of the segment after it is meanwhile taken out of the account. */
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

/* The thread continues, perhaps on another processor. */
static inline void sg_behind_give(sg_behind behind)
{
    sg_now->account->reads += behind.reads;
    sg_now->account->writes += behind.writes;
}

#endif
