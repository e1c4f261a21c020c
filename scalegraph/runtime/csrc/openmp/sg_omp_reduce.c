/* Task reductions: each team member has private copies of the variables, which the program's own code
 * initialises and combines; the runtime only provides their addresses.
 *
 * The compiler describes a construct's variables in a record of words: number of variables, size of one
 * member's copies, alignment (later: address of all copies), allocator, next record, one word of ours, end of
 * all copies, then three words per variable: address, offset within the copies, one word of ours. */
#include "sg_omp.h"

enum { COUNT, BYTES, MEMORY, ALLOCATOR, NEXT, HEAD, END, VARIABLES };
enum { ADDRESS, OFFSET, RECORD, VARIABLE_WORDS };

static void *new_copies(size_t alignment, size_t size)
{
    void *memory = NULL;
    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (posix_memalign(&memory, alignment, size > 0 ? size : 1) != 0)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the copies of a task reduction");
    memset(memory, 0, size);
    return memory;
}

/* No other thread runs until all records are complete. */
static void fill_in(uintptr_t *data, uintptr_t *outer, uintptr_t *first, uint32_t members)
{
    for (uintptr_t *record = data;; record = (uintptr_t *)record[NEXT]) {
        if (first != NULL) {
            record[MEMORY] = first[MEMORY];
            record[END] = first[END];
            first = (uintptr_t *)first[NEXT];
        } else {
            size_t size = record[BYTES] * members;
            record[MEMORY] = (uintptr_t)new_copies(record[MEMORY], size);
            record[END] = record[MEMORY] + size;
        }
        record[HEAD] = record == data; /* lets unregistering stop where an outer construct's records begin */
        if (record[NEXT] == 0) {
            record[NEXT] = (uintptr_t)outer;
            return;
        }
    }
}

void sg_reductions_register(uintptr_t *data, uintptr_t *outer, uintptr_t *first, uint32_t members)
{
    fill_in(data, outer, first, members);
    if (first != NULL)
        return;
    for (uintptr_t *record = data; record != outer; record = (uintptr_t *)record[NEXT])
        sg_reference_range((void *)record[MEMORY], record[END] - record[MEMORY], SG_WRITE, sg_now->site);
}

SG_API void GOMP_taskgroup_reduction_unregister(uintptr_t *data)
{
    do {
        free((void *)data[MEMORY]);
        data = (uintptr_t *)data[NEXT];
    } while (data != NULL && !data[HEAD]);
}

void sg_reductions_share(sg_thread *t, sg_work *work, bool first, uintptr_t *data)
{
    sg_taskgroup *group = sg_taskgroup_start(t);
    group->workshare = true;
    uintptr_t *outer = group->before != NULL ? group->before->reductions : NULL;
    uintptr_t *copies = work->reductions;
    if (first)
        work->reductions = data;
    group->reductions = data;
    sg_reductions_register(data, outer, first ? NULL : copies, t->team->size);
}

SG_API void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    sg_thread *t = sg_member(SG_CALLER);
    uintptr_t *data = t->task->group->reductions;
    sg_taskgroup_end(t);
    if (t->member == 0)
        GOMP_taskgroup_reduction_unregister(data);
    if (!cancelled)
        sg_team_barrier(SG_CALLER);
}

/* ---- finding a task's copies ---- */

static uintptr_t *variable_at(uintptr_t *record, uintptr_t address)
{
    for (uintptr_t i = 0; i < record[COUNT]; i++) {
        uintptr_t *variable = record + VARIABLES + i * VARIABLE_WORDS;
        if (variable[ADDRESS] == address)
            return variable;
    }
    return NULL;
}

static uintptr_t address_at(const uintptr_t *record, uintptr_t offset)
{
    for (uintptr_t i = 0; i < record[COUNT]; i++) {
        const uintptr_t *variable = record + VARIABLES + i * VARIABLE_WORDS;
        if (variable[OFFSET] == offset)
            return variable[ADDRESS];
    }
    return 0;
}

/* `place`: the variable or any member's copy of it; becomes the address of member `member`'s copy. */
static bool remap(uintptr_t *record, uintptr_t *place, uint32_t member, uintptr_t *original)
{
    for (; record != NULL; record = (uintptr_t *)record[NEXT]) {
        uintptr_t offset;
        uintptr_t *variable = variable_at(record, *place);
        if (variable != NULL)
            offset = variable[OFFSET];
        else if (*place >= record[MEMORY] && *place < record[END])
            offset = (*place - record[MEMORY]) % record[BYTES];
        else
            continue;
        if (original != NULL)
            *original = variable != NULL ? *place : address_at(record, offset);
        *place = record[MEMORY] + member * record[BYTES] + offset;
        return true;
    }
    return false;
}

SG_API void GOMP_task_reduction_remap(size_t count, size_t originals, void **places)
{
    sg_thread *t = sg_member(SG_CALLER);
    sg_taskgroup *group = t->task->group;
    uintptr_t *records = group != NULL ? group->reductions : NULL;
    uintptr_t *words = (uintptr_t *)places;
    for (size_t i = 0; i < count; i++)
        if (!remap(records, &words[i], t->member, i < originals ? &words[count + i] : NULL))
            sg_stop(SG_STATUS_CRASHED,
                    "in_reduction at 0x%llx: no task reduction around it has the variable at %p",
                    (unsigned long long)(uintptr_t)SG_CALLER, places[i]);
}
