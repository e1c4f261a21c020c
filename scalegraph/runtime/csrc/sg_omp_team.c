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

/* `t` is done with `work` and with everything before it. */
void sg_work_pass(sg_thread *t, sg_work *work)
{
    if (++work->passed == t->team->size) {
        work->next = sg->omp->spare;
        sg->omp->spare = work;
    }
}

sg_work *sg_work_enter(sg_thread *t, bool *first)
{
    sg_work *before = t->work, *work = before->next;
    if (work == NULL)
        work = before->next = sg_work_new();
    sg_work_pass(t, before);
    t->work = work;
    t->static_trip = 0;
    t->in_ordered = false;
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
    sg_thread *t = sg_self();
    for (;;) {
        sg_team *team = t->start;
        t->start = NULL;
        t->team = team;
        t->work = team->works;
        t->static_trip = 0;
        sg_now->site = team->site;
        sg_regions_reset(t, team->region);
        sg_touch(sg_now, team->address, SG_READ, SG_LEAF_PRIM_FORK_JOIN);
        sg_refresh_limit(sg_now);
        team->function(team->data);
        sg_regions_reset(t, team->region);
        sg_now->site = team->site;
        sg_tasks_finish();
        sg_barrier *barrier = team->barrier;
        uint32_t member = t->member;
        sg_work_pass(t, t->work);
        sg_barrier_wait(barrier, member, SG_LEAF_PRIM_FORK_JOIN);
        sg_regions_reset(t, 0);
        if (t->start == NULL)
            sg_suspend(SG_LEAF_IDLE_SERIAL, 0, -1);
    }
}

static void start_worker(uint32_t member, sg_team *team, uint64_t when)
{
    sg_thread *t = sg->omp->worker[member];
    if (t == NULL) {
        t = sg->omp->worker[member] = sg_thread_new();
        t->member = member;
        t->places = sg_thread_place(member % sg->processors);
        t->start = team;
        sg_thread_start(t, worker, when);
        return;
    }
    t->start = team;
    if (t->state == SG_BLOCKED && t->wait_leaf == SG_LEAF_IDLE_SERIAL)
        sg_wake(t, when);
    /* else it is still on its way out of the last join and will see t->start */
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

static uint32_t team_size(const sg_thread *t, unsigned threads)
{
    sg_omp *omp = sg->omp;
    uint32_t size = threads != 0 ? threads : omp->threads;
    if (t->team->active_level >= 1 || omp->max_active_levels < 1)
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
static void run_alone(sg_thread *t, void (*function)(void *), void *data, const sg_loop *loop,
                      uint64_t sections)
{
    sg_team team = {
        .size = 1,
        .level = t->team->level + 1,
        .active_level = t->team->active_level,
        .parent = t->team,
        .parent_member = t->member,
        .works = first_work(loop, sections),
        .barrier = barrier_for(1),
        .site = sg_now->site,
        .region = sg_region(t),
    };
    sg_work *work = t->work;
    uint64_t trip = t->static_trip;
    bool in_ordered = t->in_ordered;
    uint64_t chunk = t->ordered_chunk, last = t->ordered_last;
    t->team = &team;
    t->member = 0;
    t->work = team.works;
    t->static_trip = 0;
    function(data);
    sg_tasks_finish();
    sg_work_pass(t, t->work);
    t->work = work;
    t->static_trip = trip;
    t->in_ordered = in_ordered;
    t->ordered_chunk = chunk;
    t->ordered_last = last;
    t->member = team.parent_member;
    t->team = team.parent;
}

/* All workers at once, so that the host starts their threads side by side. */
static void prepare_workers(uint32_t size)
{
    uint32_t missing = 0;
    for (uint32_t i = 1; i < size; i++)
        missing += sg->omp->worker[i] == NULL;
    if (missing > 0)
        sg_thread_prepare(missing);
}

uint32_t sg_parallel(void (*function)(void *), void *data, unsigned threads, const sg_loop *loop,
                     uint64_t sections, const void *site)
{
    sg_processor *p = sg_now;
    sg_thread *t = p->thread;
    sg_omp *omp = sg->omp;
    const sg_config *config = &sg->config;
    p->site = site;
    uint32_t size = team_size(t, threads);
    if (size > sg->team_max)
        sg->team_max = size;
    if (size <= 1) {
        run_alone(t, function, data, loop, sections);
        return 1;
    }
    sg_team *team = &omp->team, *parent = t->team;
    uint32_t parent_member = t->member;
    sg_work *parent_work = t->work;
    prepare_workers(size);
    team->size = size;
    team->level = parent->level + 1;
    team->active_level = parent->active_level + 1;
    team->parent = parent;
    team->parent_member = parent_member;
    team->function = function;
    team->data = data;
    team->site = site;
    team->region = sg_region(t);
    team->barrier = barrier_for(size);
    team->works = first_work(loop, sections);
    team->pool = NULL;
    sg_charge_site(p, SG_LEAF_PRIM_FORK_JOIN, config->fork_cycles);
    sg_touch(p, team->address, SG_WRITE, SG_LEAF_PRIM_FORK_JOIN);
    for (uint32_t i = 1; i < size; i++) {
        sg_charge_site(p, SG_LEAF_PRIM_FORK_JOIN, config->fork_per_processor_cycles);
        start_worker(i, team, p->clock);
    }
    t->team = team;
    t->member = 0;
    t->work = team->works;
    t->static_trip = 0;
    function(data);
    sg_now->site = site;
    sg_tasks_finish();
    sg_work_pass(t, t->work);
    sg_barrier_wait(team->barrier, 0, SG_LEAF_PRIM_FORK_JOIN);
    t->team = parent;
    t->member = parent_member;
    t->work = parent_work;
    return size;
}

void sg_team_barrier(const void *site)
{
    sg_now->site = site;
    sg_tasks_finish();
    const sg_thread *t = sg_self();
    sg_barrier_wait(t->team->barrier, t->member, SG_LEAF_PRIM_BARRIER);
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
    omp->worker = sg_new(sg->processors * sizeof(sg_thread *));
}

void sg_omp_adopt(sg_thread *t)
{
    sg_omp *omp = sg->omp;
    t->team = &omp->initial;
    t->member = 0;
    t->work = sg_work_new();
    t->start = NULL;
    t->task = NULL;
    t->in_ordered = false;
    t->static_trip = 0;
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
    sg_team_barrier(SG_CALLER);
}

SG_API bool GOMP_barrier_cancel(void)
{
    sg_team_barrier(SG_CALLER);
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
