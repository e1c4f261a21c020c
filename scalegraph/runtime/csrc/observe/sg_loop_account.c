/* What loops cost under their schedules: by loop, schedule and processor, and the first chunks of each
 * individually. Only loops that call the runtime are seen. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_loop_turn.h"
#include "sg_observers.h"
#include "sg_schedules.h"
#include "sg_table.h"

enum {
    MOST_LOOPS = 1 << 12, /* later ones are ignored */
    MOST_KEPT = 1 << 11,  /* chunks per loop */
    MOST_CHUNKS = 1 << 13,
};

/* An account, with working data. */
typedef struct loop_account {
    sg_loop_account record;
    const sg_chosen *chosen;
    uint64_t chunk;
    uint32_t *part; /* by processor: index in the list, + 1 */
} loop_account;

/* A part, and when its processor last left the loop. */
typedef struct loop_part {
    sg_loop_part record;
    uint64_t left, execution;
} loop_part;

static struct {
    loop_account *loop;
    loop_part *part;
    sg_chunk_record *chunk;
    uint32_t loops_count, loops_room, parts_count, parts_room, chunks_count, chunks_room;
    uint64_t executions;
} accounts = {.loops_count = 0};

/* ---- accounts ---- */

static void name_schedule(const sg_scheduled *s, char *name, size_t size)
{
    if (s->chosen->text != NULL)
        snprintf(name, size, "%s", s->chosen->text);
    else if (s->loop.chunk > 0)
        snprintf(name, size, "%s,%" PRIu64, s->schedule->name, s->loop.chunk);
    else
        snprintf(name, size, "%s", s->schedule->name);
}

/* The number of the account of `s`, from 1 on; 0: no room. */
static uint32_t account_of(const sg_scheduled *s)
{
    for (uint32_t i = 0; i < accounts.loops_count; i++) {
        const loop_account *a = &accounts.loop[i];
        if (a->record.address == (uint64_t)(uintptr_t)s->site && a->chosen == s->chosen &&
            a->chunk == s->loop.chunk)
            return i + 1;
    }
    if (accounts.loops_count == MOST_LOOPS)
        return 0;
    SG_ARRAY_HOLD(accounts.loop, accounts.loops_room, accounts.loops_count, 16);
    loop_account *a = &accounts.loop[accounts.loops_count++];
    *a = (loop_account){.chosen = s->chosen,
                        .chunk = s->loop.chunk,
                        .record.address = (uint64_t)(uintptr_t)s->site,
                        .record.region = sg_region(sg_self()),
                        .part = sg_new(sg->config.processors * sizeof *a->part)};
    name_schedule(s, a->record.schedule, sizeof a->record.schedule);
    return accounts.loops_count;
}

static loop_part *part_on(uint32_t account, uint32_t processor)
{
    uint32_t *place = &accounts.loop[account - 1].part[processor];
    if (*place == 0) {
        SG_ARRAY_HOLD(accounts.part, accounts.parts_room, accounts.parts_count, 64);
        accounts.part[accounts.parts_count].record =
            (sg_loop_part){.loop = account - 1, .processor = processor};
        *place = ++accounts.parts_count;
    }
    return &accounts.part[*place - 1];
}

static loop_part *part_of(uint32_t account)
{
    return part_on(account, sg_now->id);
}

sg_loop_part *sg_loop_part_of(uint32_t account, uint32_t processor)
{
    return &part_on(account, processor)->record;
}

static void note_opens(sg_scheduled *s, const sg_loop_turn *turn)
{
    s->account = account_of(s);
    s->execution = ++accounts.executions;
    if (s->account == 0)
        return;
    sg_loop_account *a = &accounts.loop[s->account - 1].record;
    a->executions++;
    a->iterations = s->loop.iterations > a->iterations ? s->loop.iterations : a->iterations;
    a->members = s->loop.members > a->members ? s->loop.members : a->members;
    s->number = (uint32_t)a->executions - 1;
    s->opened = turn->asked;
}

static void note_taken(const sg_scheduled *s, const sg_loop_turn *turn)
{
    const schedule_chunk *c = &turn->chunk;
    unsigned origin = c->owner == UINT32_MAX ? 2 : c->owner != turn->member.number;
    loop_part *part = part_of(s->account);
    part->record.chunks[origin]++;
    part->record.iterations[origin] += c->count;
}

static void spend(loop_part *part, const sg_chunk_spent *spent)
{
    part->record.body += spent->body;
    part->record.stall += spent->stall;
    part->record.asking += spent->asking;
    part->record.lock += spent->lock;
}

static void note_done(const sg_scheduled *s, const sg_loop_turn *turn)
{
    const schedule_chunk *c = &turn->chunk;
    sg_loop_account *a = &accounts.loop[s->account - 1].record;
    spend(part_of(s->account), &turn->spent);
    if (a->kept == MOST_KEPT || accounts.chunks_count == MOST_CHUNKS)
        return;
    a->kept++;
    SG_ARRAY_HOLD(accounts.chunk, accounts.chunks_room, accounts.chunks_count, 256);
    accounts.chunk[accounts.chunks_count++] =
        (sg_chunk_record){.loop = s->account - 1,
                          .execution = s->number,
                          .processor = sg_now->id,
                          .member = turn->member.number,
                          .owner = (int32_t)c->owner,
                          .state = c->state,
                          .first = c->first,
                          .count = c->count,
                          .step = c->step,
                          .control = c->control <= INT64_MAX ? c->control : 0, /* if larger: one at a time */
                          .begin = turn->spent.begin,
                          .end = turn->spent.end,
                          .stall = turn->spent.stall};
}

/* Once the last one leaves, we know how long the others had to wait for it, if nothing else kept them
 * busy. */
static void note_left(const sg_scheduled *s, const sg_loop_turn *turn)
{
    loop_account *a = &accounts.loop[s->account - 1];
    loop_part *part = part_of(s->account);
    spend(part, &turn->spent);
    part->record.executions++;
    part->left = sg_now->clock;
    part->execution = s->execution;
    if (s->finished < s->loop.members)
        return;
    uint64_t last = part->left;
    for (uint32_t i = 0; i < sg->config.processors; i++) {
        const loop_part *one = a->part[i] != 0 ? &accounts.part[a->part[i] - 1] : NULL;
        if (one != NULL && one->execution == s->execution && one->left > last)
            last = one->left;
    }
    for (uint32_t i = 0; i < sg->config.processors; i++) {
        loop_part *one = a->part[i] != 0 ? &accounts.part[a->part[i] - 1] : NULL;
        if (one != NULL && one->execution == s->execution)
            one->record.ending += last - one->left;
    }
    a->record.elapsed += last - s->opened;
}

static void note_loop(enum sg_loop_step step, struct sg_scheduled *s, const struct sg_loop_turn *turn)
{
    if (step == SG_LOOP_OPENS)
        note_opens(s, turn);
    else if (s->account == 0)
        return;
    else if (step == SG_LOOP_TAKEN)
        note_taken(s, turn);
    else if (step == SG_LOOP_DONE)
        note_done(s, turn);
    else
        note_left(s, turn);
}

/* ---- sampling ---- */

static void report_cells(sg_cells *cells)
{
    sg_cells_add(cells, &accounts.loop, &accounts.loop->record.executions, sizeof *accounts.loop,
                 2 * sizeof(uint64_t), accounts.loops_count); /* and elapsed */
    sg_cells_add(cells, &accounts.part, &accounts.part->record.executions, sizeof *accounts.part,
                 sizeof(sg_loop_part) - offsetof(sg_loop_part, executions), accounts.parts_count);
}

/* ---- the result ---- */

static uint64_t put_loops(struct sg_writer *w)
{
    for (uint32_t i = 0; i < accounts.loops_count; i++)
        sg_put(w, &accounts.loop[i].record, sizeof accounts.loop[i].record);
    return accounts.loops_count;
}

static uint64_t put_parts(struct sg_writer *w)
{
    for (uint32_t i = 0; i < accounts.parts_count; i++)
        sg_put(w, &accounts.part[i].record, sizeof accounts.part[i].record);
    return accounts.parts_count;
}

static uint64_t put_chunks(struct sg_writer *w)
{
    sg_put(w, accounts.chunk, accounts.chunks_count * sizeof *accounts.chunk);
    return accounts.chunks_count;
}

static const sg_result_part parts[] = {
    {SG_SECTION_LOOPS, sizeof(sg_loop_account), put_loops},
    {SG_SECTION_LOOP_PARTS, sizeof(sg_loop_part), put_parts},
    {SG_SECTION_CHUNKS, sizeof(sg_chunk_record), put_chunks},
};

const sg_observer sg_observer_loop = {
    .name = "accounts of loops",
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .loop = note_loop,
    .cells = report_cells,
};
