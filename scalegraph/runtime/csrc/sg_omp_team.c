/* Parallel regions: fork, join, and the workers that wait in between. */
#include <stdio.h>

#include "sg_omp.h"

/* ---- worksharing constructs of a team ---- */

sg_work *sg_work_new(void)
{
    sg_omp *omp = sg->omp;
    sg_work *work = omp->spare;
    if (work == NULL) {
        work = sg_new(sizeof *work);
        work->address = sg_variables(1);
        return work;
    }
    omp->spare = work->next;
    uint64_t address = work->address;
    void *memory = work->memory;
    size_t size = work->memory_size;
    *work = (sg_work){.address = address, .memory = memory, .memory_size = size};
    return work;
}

/* `p` is done with `work` and with everything before it. */
void sg_work_pass(sg_processor *p, sg_work *work)
{
    if (++work->passed == p->team->size) {
        work->next = sg->omp->spare;
        sg->omp->spare = work;
    }
}

sg_work *sg_work_enter(sg_processor *p, bool *first)
{
    sg_work *before = p->work, *work = before->next;
    if (work == NULL)
        work = before->next = sg_work_new();
    sg_work_pass(p, before);
    p->work = work;
    p->static_trip = 0;
    p->in_ordered = false;
    *first = !work->prepared;
    work->prepared = true;
    return work;
}

void sg_work_prepare(sg_work *work, const sg_loop *loop)
{
    work->schedule = loop->schedule;
    work->start = loop->start;
    work->end = loop->end;
    work->step = loop->step;
    work->total = loop->total;
    work->chunk = loop->chunk;
    work->ordered = loop->ordered;
}

/* ---- fork and join ---- */

static sg_barrier *barrier_for(uint32_t members)
{
    sg_barrier **barrier = &sg->omp->barriers[members];
    if (*barrier == NULL)
        *barrier = sg_barrier_new(members);
    return *barrier;
}

/* A worker's life: it waits until a team wants it, works, joins, and waits again. */
static void worker(void)
{
    sg_processor *p = sg_now;
    for (;;) {
        sg_team *team = p->start;
        p->start = NULL;
        p->team = team;
        p->member = p->id;
        p->work = team->works;
        p->static_trip = 0;
        p->worked = true;
        p->site = team->site;
        sg_regions_reset(p, team->region);
        sg_touch(p, team->address, SG_READ, SG_LEAF_PRIM_FORK_JOIN);
        sg_refresh_limit(p);
        team->function(team->data);
        sg_regions_reset(p, team->region);
        p->site = team->site;
        sg_tasks_finish(p);
        sg_barrier *barrier = team->barrier;
        uint32_t member = p->member;
        sg_work_pass(p, p->work);
        sg_barrier_wait(barrier, p, member, SG_LEAF_PRIM_FORK_JOIN);
        sg_regions_reset(p, 0);
        if (p->start == NULL)
            sg_suspend(p, SG_LEAF_IDLE_SERIAL, 0, -1);
    }
}

static void start_worker(sg_processor *q, sg_team *team, uint64_t when)
{
    q->start = team;
    if (q->state == SG_UNUSED) {
        sg_charge(q, SG_LEAF_IDLE_NOT_STARTED, when);
        sg_sched_start(q, worker);
    } else if (q->state == SG_BLOCKED && q->wait_leaf == SG_LEAF_IDLE_SERIAL) {
        sg_wake(q, when);
    } /* else it is still on its way out of the last join and will see q->start */
}

static sg_work *first_work(const sg_loop *loop, uint64_t sections)
{
    sg_work *work = sg_work_new();
    work->prepared = true;
    if (loop != NULL)
        sg_work_prepare(work, loop);
    else if (sections != 0)
        sg_work_prepare(work, &(sg_loop){.schedule = SG_DYNAMIC, .total = sections, .chunk = 1});
    return work;
}

static uint32_t team_size(sg_processor *p, unsigned threads)
{
    sg_omp *omp = sg->omp;
    uint32_t size = threads != 0 ? threads : omp->threads;
    if (p->team->active_level >= 1 || omp->max_active_levels < 1)
        return 1;
    if (size > sg->processors) {
        if (!omp->capped) {
            char text[200];
            snprintf(text, sizeof text,
                     "the program asked for a team of %u threads and got the %u processors of the run", size,
                     sg->processors);
            sg_warn(text);
            omp->capped = true;
        }
        size = sg->processors;
    }
    return size;
}

/* A region with one member: nested, or not worth a team. */
static void run_alone(sg_processor *p, void (*function)(void *), void *data, const sg_loop *loop,
                      uint64_t sections)
{
    sg_team team = {
        .size = 1,
        .level = p->team->level + 1,
        .active_level = p->team->active_level,
        .parent = p->team,
        .parent_member = p->member,
        .works = first_work(loop, sections),
        .barrier = barrier_for(1),
        .site = p->site,
        .region = sg_region(p),
    };
    sg_work *work = p->work;
    uint64_t trip = p->static_trip;
    bool in_ordered = p->in_ordered;
    uint64_t chunk = p->ordered_chunk, last = p->ordered_last;
    p->team = &team;
    p->member = 0;
    p->work = team.works;
    p->static_trip = 0;
    function(data);
    sg_tasks_finish(p);
    sg_work_pass(p, p->work);
    p->work = work;
    p->static_trip = trip;
    p->in_ordered = in_ordered;
    p->ordered_chunk = chunk;
    p->ordered_last = last;
    p->member = team.parent_member;
    p->team = team.parent;
}

uint32_t sg_parallel(void (*function)(void *), void *data, unsigned threads, const sg_loop *loop,
                     uint64_t sections, const void *site)
{
    sg_processor *p = sg_now;
    sg_omp *omp = sg->omp;
    const sg_config *config = &sg->config;
    p->site = site;
    uint32_t size = team_size(p, threads);
    if (size > sg->team_max)
        sg->team_max = size;
    if (size <= 1) {
        run_alone(p, function, data, loop, sections);
        return 1;
    }
    sg_team *team = &omp->team, *parent = p->team;
    uint32_t parent_member = p->member;
    sg_work *parent_work = p->work;
    sg_sched_prepare(size);
    team->size = size;
    team->level = parent->level + 1;
    team->active_level = parent->active_level + 1;
    team->parent = parent;
    team->parent_member = parent_member;
    team->function = function;
    team->data = data;
    team->site = site;
    team->region = sg_region(p);
    team->barrier = barrier_for(size);
    team->works = first_work(loop, sections);
    team->pool = NULL;
    sg_charge_site(p, SG_LEAF_PRIM_FORK_JOIN, config->fork_cycles);
    sg_touch(p, team->address, SG_WRITE, SG_LEAF_PRIM_FORK_JOIN);
    for (uint32_t i = 1; i < size; i++) {
        sg_charge_site(p, SG_LEAF_PRIM_FORK_JOIN, config->fork_per_processor_cycles);
        start_worker(&sg->processor[i], team, p->clock);
    }
    p->team = team;
    p->member = 0;
    p->work = team->works;
    p->static_trip = 0;
    function(data);
    p->site = site;
    sg_tasks_finish(p);
    sg_work_pass(p, p->work);
    sg_barrier_wait(team->barrier, p, 0, SG_LEAF_PRIM_FORK_JOIN);
    p->team = parent;
    p->member = parent_member;
    p->work = parent_work;
    return size;
}

void sg_team_barrier(sg_processor *p, const void *site)
{
    p->site = site;
    sg_tasks_finish(p);
    sg_barrier_wait(p->team->barrier, p, p->member, SG_LEAF_PRIM_BARRIER);
}

void sg_omp_open(void)
{
    sg_omp *omp = sg->omp = sg_new(sizeof *omp);
    omp->barriers = sg_new((sg->processors + 1) * sizeof(sg_barrier *));
    omp->threads = sg->processors;
    omp->max_active_levels = 1;
    omp->team.address = sg_variables(1);
    omp->critical = sg_lock_new(0);
    omp->atomic = sg_lock_new(0);
    sg_schedule_parse(sg->config.schedule, omp);
    omp->initial = (sg_team){.size = 1, .barrier = barrier_for(1)};
    for (uint32_t i = 0; i < sg->processors; i++)
        sg->processor[i].team = &omp->initial;
    omp->initial.works = sg_work_new();
    sg->processor[0].work = omp->initial.works;
}

/* ---- entry points of the compiler ---- */

SG_API void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags; /* processor binding: member i is processor i */
    sg_parallel(function, data, threads, NULL, 0, SG_CALLER);
}

SG_API void GOMP_parallel_sections(void (*function)(void *), void *data, unsigned threads, unsigned count,
                                   unsigned flags)
{
    (void)flags;
    sg_parallel(function, data, threads, NULL, count, SG_CALLER);
}

SG_API unsigned GOMP_parallel_reductions(void (*function)(void *), void *data, unsigned threads,
                                         unsigned flags)
{
    (void)function, (void)data, (void)threads, (void)flags;
    sg_now->site = SG_CALLER;
    sg_stop(SG_STATUS_UNSUPPORTED,
            "the program uses a task reduction on a parallel region at 0x%llx, which the simulator does not "
            "support",
            (unsigned long long)(uintptr_t)SG_CALLER);
}

SG_API void GOMP_barrier(void)
{
    sg_team_barrier(sg_now, SG_CALLER);
}

SG_API bool GOMP_barrier_cancel(void)
{
    sg_team_barrier(sg_now, SG_CALLER);
    return false;
}

SG_API bool GOMP_cancel(int which, bool do_cancel)
{
    (void)which, (void)do_cancel; /* as libgomp with OMP_CANCELLATION=false, its default */
    return false;
}

SG_API bool GOMP_cancellation_point(int which)
{
    (void)which;
    return false;
}

SG_API void GOMP_teams_reg(void (*function)(void *), void *data, unsigned teams, unsigned threads,
                           unsigned flags)
{
    (void)teams, (void)threads, (void)flags; /* a league of one team */
    function(data);
}
