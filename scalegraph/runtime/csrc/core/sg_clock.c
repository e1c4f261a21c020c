/* What a clock says in the middle of a basic block.
 *
 * A block's whole cost is charged when the block is entered, even for code after a clock reading. So a
 * reading subtracts the part after it, and likewise the part after each call on the stack. Straight-line
 * code between two readings thus takes the time it should. The stack is walked only if the function that
 * reads the clock is called by others for that purpose. */
#include <unwind.h>

#include "sg_runtime.h"

enum { FRAMES = 24 }; /* of libraries and the runtime, between the reading and the program */

typedef struct sg_clock_place {
    uint64_t address;
    uint32_t block;
    float share; /* of the block, after the call */
    bool led;    /* the function itself is called by such a call */
} place;

static uint64_t weight(const uint16_t *ops)
{
    uint64_t sum = 0;
    for (int op = 0; op < SG_OP_COUNT; op++)
        sum += (uint64_t)ops[op] * sg->config.op_millicycles[op];
    return sum;
}

void sg_clock_open(const sg_clock_row *rows, size_t count)
{
    place *places = sg->clock_places = sg_new((count + 1) * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        const sg_clock_row *row = &rows[i];
        if (row->probe < sg->text_low || row->probe > sg->text_high)
            continue;
        uint32_t block = sg->block_index[row->probe - sg->text_low];
        uint64_t whole = weight(row->whole), behind = weight(row->behind);
        if (sg->timing != NULL) {
            whole += weight(row->whole_libraries);
            behind += weight(row->behind_libraries);
        }
        float share = whole == 0 ? 0 : behind < whole ? (float)behind / (float)whole : 1;
        places[sg->clock_places_count++] = (place){row->address, block, share, row->led != 0};
    }
}

static const place *place_at(uint64_t address)
{
    const place *places = sg->clock_places;
    size_t low = 0, count = sg->clock_places_count, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (places[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && places[low].address == address ? &places[low] : NULL;
}

/* A walk up the callers of a reading. */
typedef struct walk {
    const place *first; /* already counted */
    double parts;
    uint32_t others;
    bool begun;
} walk;

static double behind(const place *at)
{
    return (double)sg_speed_of(sg_now->id)->blocks[at->block].parts * (double)at->share;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
    walk *w = argument;
    const place *at = place_at(_Unwind_GetIP(context));
    if (at != NULL) {
        w->parts += at != w->first ? behind(at) : 0;
        w->begun = true;
        return at->led ? _URC_NO_REASON : _URC_NORMAL_STOP;
    }
    return w->begun || ++w->others == FRAMES ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

int64_t sg_clock_ahead(void)
{
    int64_t ahead = sg->skipped + sg->expected;
    if (SG_UNLIKELY(sg_observed.ahead != NULL))
        ahead += sg_observed.ahead(sg_now->clock);
    return ahead > -(int64_t)sg_now->clock ? ahead : -(int64_t)sg_now->clock;
}

uint64_t sg_clock_now(const void *site)
{
    uint64_t now = (uint64_t)((int64_t)sg_now->clock + sg_clock_ahead());
    sg_thread *t = sg_now->thread;
    if (t == NULL)
        return now;
    if (sg->clock_places_count == 0)
        return t->told = now > t->told ? now : t->told;
    const place *at = place_at((uint64_t)(uintptr_t)site);
    walk w = {.first = at, .parts = at != NULL ? behind(at) : 0};
    if (at == NULL || at->led)
        _Unwind_Backtrace(add_frame, &w);
    uint64_t cycles = (uint64_t)(w.parts / SG_PARTS);
    now = cycles < now ? now - cycles : 0;
    return t->told = now > t->told ? now : t->told; /* a clock never goes back */
}
