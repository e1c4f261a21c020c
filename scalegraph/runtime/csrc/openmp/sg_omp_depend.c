/* Dependences between the children of a task: which must complete before which, by the addresses they
 * name. */
#include "sg_alloc.h"
#include "sg_array.h"
#include "sg_omp.h"
#include "sg_table.h"

/* Dependence types as the compiler encodes them in omp_depend_t. */
enum { DEPEND_IN = 1, DEPEND_OUT, DEPEND_INOUT, DEPEND_MUTEXINOUTSET, DEPEND_INOUTSET };

/* Uses of one address by the children of one task: the tasks that the next one must wait for. `in` tasks may
 * run concurrently, and so may the tasks of an inoutset; only members of such a set need to wait for the
 * tasks before it. mutexinoutset is treated like inout, as in libgomp. */
typedef struct entry {
    int kind; /* of the tasks in `latest`: DEPEND_OUT (a single one), DEPEND_IN, DEPEND_INOUTSET */
    sg_task **latest, **earlier; /* `earlier`: before the set in `latest` */
    uint32_t latest_count, latest_room, earlier_count, earlier_room;
} entry;

struct sg_depends {
    sg_table entries;    /* for one task's children, by address */
    sg_task *everything; /* last child that depends on omp_all_memory */
};

/* ---- the table ---- */

static void *own_memory(void *old, size_t size)
{
    bool before = sg_alloc_own(true);
    void *memory = realloc(old, size);
    sg_alloc_own(before);
    if (memory == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the dependences of tasks");
    return memory;
}

static sg_task **larger_tasks(sg_task **old, size_t used, size_t size)
{
    (void)used;
    return own_memory(old, size);
}

static struct sg_depends *depends_of(sg_task *parent)
{
    struct sg_depends *depends = parent->depends;
    if (depends == NULL) {
        depends = parent->depends = own_memory(NULL, sizeof *depends);
        *depends = (struct sg_depends){0};
    }
    return depends;
}

static entry *entry_of(struct sg_depends *depends, uintptr_t address)
{
    sg_table_entry *found = sg_table_make(&depends->entries, address, 16);
    if (found->pointer == NULL) {
        found->pointer = own_memory(NULL, sizeof(entry));
        *(entry *)found->pointer = (entry){0};
    }
    return found->pointer;
}

static void forget(sg_task **tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sg_task_drop(tasks[i]);
}

void sg_depend_drop(sg_task *task)
{
    struct sg_depends *depends = task->depends;
    if (depends == NULL)
        return;
    task->depends = NULL;
    for (uint32_t i = 0; i < depends->entries.size; i++) {
        entry *e = depends->entries.entry[i].pointer;
        if (e == NULL)
            continue;
        forget(e->latest, e->latest_count);
        forget(e->earlier, e->earlier_count);
        free(e->latest);
        free(e->earlier);
        free(e);
    }
    if (depends->everything != NULL)
        sg_task_drop(depends->everything);
    sg_table_drop(&depends->entries);
    free(depends);
}

static void append(sg_task ***tasks, uint32_t *count, uint32_t *room, sg_task *task)
{
    if (*count == *room) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < *count; i++)
            if ((*tasks)[i]->complete)
                sg_task_drop((*tasks)[i]);
            else
                (*tasks)[kept++] = (*tasks)[i];
        *count = kept;
        if (2 * kept >= *room) {
            SG_ARRAY_HOLD_IN(larger_tasks, *tasks, *room, *room, 2);
        }
    }
    task->references++;
    (*tasks)[(*count)++] = task;
}

/* ---- the rules ---- */

static void precede(sg_task *before, sg_task *after)
{
    if (before->complete || before == after)
        return;
    if (before->successors_count > 0 && before->successors[before->successors_count - 1] == after)
        return; /* already, by another address */
    SG_ARRAY_HOLD_IN(larger_tasks, before->successors, before->successors_size, before->successors_count, 4);
    before->successors[before->successors_count++] = after;
    after->references++;
    after->missing++;
}

static void precede_all(sg_task **before, uint32_t count, sg_task *after)
{
    for (uint32_t i = 0; i < count; i++)
        precede(before[i], after);
}

static bool same_set(const entry *e, int kind)
{
    return kind != DEPEND_OUT && e->kind == kind && e->latest_count > 0;
}

/* Makes `task` wait for its predecessors in `e`. */
static void wait_behind(const entry *e, int kind, sg_task *task)
{
    if (same_set(e, kind))
        precede_all(e->earlier, e->earlier_count, task);
    else
        precede_all(e->latest, e->latest_count, task);
}

/* Records `task` as a predecessor of later tasks. */
static void enter(entry *e, int kind, sg_task *task)
{
    if (!same_set(e, kind)) {
        if (kind == DEPEND_OUT) {
            forget(e->earlier, e->earlier_count);
            e->earlier_count = 0;
            forget(e->latest, e->latest_count);
        } else { /* a set begins: the latest tasks precede it */
            forget(e->earlier, e->earlier_count);
            sg_task **tasks = e->earlier;
            uint32_t room = e->earlier_room;
            e->earlier = e->latest;
            e->earlier_count = e->latest_count;
            e->earlier_room = e->latest_room;
            e->latest = tasks;
            e->latest_room = room;
        }
        e->latest_count = 0;
        e->kind = kind;
    }
    append(&e->latest, &e->latest_count, &e->latest_room, task);
}

/* ---- decoding the compiler's arguments ---- */

typedef struct dependence {
    uintptr_t address;
    int kind;
} dependence;

static int kind_of(uintptr_t type)
{
    switch (type) {
    case DEPEND_IN:
    case DEPEND_INOUTSET:
        return (int)type;
    case DEPEND_OUT:
    case DEPEND_INOUT:
    case DEPEND_MUTEXINOUTSET:
        return DEPEND_OUT;
    default:
        sg_stop(SG_STATUS_CRASHED, "a depend object of an unknown type, %llu, was used at 0x%llx",
                (unsigned long long)type, (unsigned long long)(uintptr_t)sg_now->site);
    }
}

/* Dependences of a clause: {count, outs, addresses: outs first}, or {0, count, outs, mutexinoutsets, ins,
 * addresses in this order, then depend objects: pairs of address and type}. */
static uint32_t dependence_count(void **depend)
{
    return (uint32_t)(uintptr_t)(depend[0] != NULL ? depend[0] : depend[1]);
}

static dependence dependence_at(void **depend, uint32_t i)
{
    if (depend[0] != NULL)
        return (dependence){(uintptr_t)depend[2 + i], i < (uintptr_t)depend[1] ? DEPEND_OUT : DEPEND_IN};
    uintptr_t outs = (uintptr_t)depend[2] + (uintptr_t)depend[3], plain = outs + (uintptr_t)depend[4];
    if (i < plain)
        return (dependence){(uintptr_t)depend[5 + i], i < outs ? DEPEND_OUT : DEPEND_IN};
    uintptr_t *object = depend[5 + i];
    return (dependence){object[0], kind_of(object[1])};
}

/* Makes `task` wait for everything registered so far and, if `last`, everything later wait for it. */
static void all_memory(struct sg_depends *depends, sg_task *task, bool last)
{
    for (uint32_t i = 0; i < depends->entries.size; i++) {
        const entry *e = depends->entries.entry[i].pointer;
        if (e == NULL)
            continue;
        precede_all(e->latest, e->latest_count, task);
        precede_all(e->earlier, e->earlier_count, task);
    }
    if (!last)
        return;
    if (depends->everything != NULL)
        sg_task_drop(depends->everything);
    depends->everything = task;
    task->references++;
}

static void touch(uint64_t address, enum sg_access kind)
{
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_TASK, sg->config.task_cycles);
    sg_touch(sg_now, address, kind, SG_CATEGORY_PRIM_TASK);
}

/* Nothing here waits for its turn, so the predecessors cannot complete in between. */
static void relate(sg_task *task, sg_task *parent, void **depend, bool register_too)
{
    uint32_t count = dependence_count(depend);
    struct sg_depends *depends = depends_of(parent);
    if (count > 0 && depends->everything != NULL)
        precede(depends->everything, task);
    for (uint32_t i = 0; i < count; i++) {
        dependence d = dependence_at(depend, i);
        const sg_table_entry *found;
        if (d.address == 0 && d.kind == DEPEND_OUT)
            all_memory(depends, task, register_too);
        else if ((found = sg_table_find(&depends->entries, d.address)) != NULL)
            wait_behind(found->pointer, d.kind, task);
    }
    /* A task may name an address twice; then `out` takes precedence. */
    for (uint32_t i = 0; i < 2 * count && register_too; i++) {
        dependence d = dependence_at(depend, i % count);
        if ((d.kind == DEPEND_OUT) != (i < count))
            continue;
        entry *e = entry_of(depends, d.address);
        if (e->latest_count == 0 || e->latest[e->latest_count - 1] != task)
            enter(e, d.kind, task);
    }
}

void sg_depend_register(sg_task *task, void **depend)
{
    touch(task->parent->address, SG_RMW);
    relate(task, task->parent, depend, true);
}

void sg_depend_wait(sg_thread *t, void **depend)
{
    sg_task *parent = t->task;
    if (parent->depends == NULL)
        return;
    touch(parent->address, SG_RMW);
    sg_task *fence = sg_task_new(t, parent, NULL);
    fence->fence = true;
    relate(fence, parent, depend, false);
    if (fence->missing != 0)
        sg_task_wait(t, &fence->missing, NULL, fence->address);
    fence->complete = true;
    sg_task_drop(fence);
}
