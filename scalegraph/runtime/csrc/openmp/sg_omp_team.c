/* Teams: fork and join. Workers are in sg_omp_worker.c. */
#include "sg_omp.h"

#include <stdio.h>

/* ---- team descriptors ---- */

static void help(void)
{
    sg_tasks_help(sg_self());
}

static void drain(void)
{
    sg_tasks_drain(sg_self());
    sg_self()->team->work_cancelled = false;
}

static bool waits_for_tasks(void)
{
    const sg_pool *pool = sg_self()->team->pool;
    return pool != NULL && pool->unfinished != 0;
}

static bool sees_tasks(void)
{
    return sg_tasks_wait(sg_self()->team->pool);
}

static const sg_barrier_duty duty = {help, drain, waits_for_tasks, sees_tasks};

static sg_barrier *new_barrier(uint32_t size)
{
    sg_barrier *barrier = sg_barrier_new(size);
    sg_barrier_employ(barrier, &duty);
    return barrier;
}

/* `spare`: descriptors for reuse. */
static sg_team *get_team(sg_team **spare, uint32_t size)
{
    while (*spare != NULL && (*spare)->size != size)
        spare = &(*spare)->next;
    sg_team *team = *spare;
    if (team != NULL) {
        *spare = team->next;
        return team;
    }
    team = sg_new(sizeof *team);
    team->size = size;
    team->address = sg_variables_of(1, SG_OWN_TEAM);
    if (sg->docks) /* otherwise other variables would move */
        team->dock = sg_variables_of(2, SG_OWN_TEAM);
    team->starting = sg_new(size * sizeof *team->starting);
    team->barrier = team->join = new_barrier(size);
    if (sg->omp->cancellation)
        team->join = new_barrier(size);
    team->implicit = sg_new(size * sizeof *team->implicit);
    uint64_t lines = sg_variables_of(size, SG_OWN_TASK);
    for (uint32_t i = 0; i < size; i++)
        team->implicit[i] = (sg_task){.address = lines + i * sg_line_bytes(), .team = team, .implicit = true};
    return team;
}

static void put_team(sg_team **spare, sg_team *team)
{
    team->next = *spare;
    *spare = team;
}

/* A member has left a nested team; the last one returns it for reuse. An outermost team is returned by its
 * master and reused by that master only: a member still leaving it may even help the next team, because it
 * will be the same member there. */
void sg_team_leave_nested(sg_team *team)
{
    if (--team->users == 0)
        put_team(&sg->omp->spare_teams, team);
}

static void open_team(sg_team *team, const sg_thread *t, sg_taskgroup *group)
{
    sg_omp *omp = sg->omp;
    bool bounds = t->id == 0 && team->level == 1;
    sg_barrier_bound(team->barrier, bounds);
    sg_barrier_bound(team->join, bounds);
    team->users = team->size;
    team->cancelled = team->work_cancelled = false;
    sg_icv icv = t->task->icv;
    if (team->level < omp->threads_count)
        icv.threads = omp->threads_list[team->level];
    if (team->level < omp->bind_count)
        icv.bind = (uint8_t)omp->bind_list[team->level];
    for (uint32_t i = 0; i < team->size; i++) {
        sg_task *task = &team->implicit[i];
        task->icv = icv;
        task->group = group;
        task->children = 0;
        task->final = false;
    }
}

/* ---- a thread's position in its teams ---- */

static void save(sg_team *team, const sg_thread *t)
{
    team->parent = t->team;
    team->master_member = t->member;
    team->master_work = t->work;
    team->master_turn = t->turn;
    team->master_chunk = t->ordered_chunk;
    team->master_last = t->ordered_last;
    team->master_in_ordered = t->in_ordered;
    team->master_task = t->task;
    team->master_partition_first = t->partition_first;
    team->master_partition_count = t->partition_count;
}

static void restore(const sg_team *team, sg_thread *t)
{
    t->team = team->parent;
    t->member = team->master_member;
    t->work = team->master_work;
    t->turn = team->master_turn;
    t->ordered_chunk = team->master_chunk;
    t->ordered_last = team->master_last;
    t->in_ordered = team->master_in_ordered;
    t->task = team->master_task;
    t->partition_first = team->master_partition_first;
    t->partition_count = team->master_partition_count;
}

void sg_team_enter(sg_team *team, sg_thread *t, uint32_t member)
{
    t->team = team;
    t->member = member;
    t->work = team->works;
    sg_turn_reset(&t->turn);
    t->in_ordered = false;
    t->task = &team->implicit[member];
    if (SG_UNLIKELY(team->shown))
        sg_omp_show_affinity(t, NULL);
}

/* ---- initial teams ---- */

/* A new thread starts without a team; it gets an initial team when it first needs one. */
static void begin_thread(sg_thread *t)
{
    t->team = NULL;
    t->task = NULL;
    t->start = NULL;
    t->yields = 0;
    t->place = 0;
    t->partition_first = 0;
    t->partition_count = sg->omp->places_count;
}

static void open_initial(sg_team *team, sg_thread *t, const sg_icv *icv)
{
    team->root = team;
    team->level = team->active_level = 0;
    team->parent = NULL;
    team->busy = 1;
    team->league_size = 1;
    team->league_rank = 0;
    team->users = 1;
    team->works = sg_work_new();
    team->implicit[0].icv = *icv;
    team->implicit[0].group = NULL;
    team->implicit[0].children = 0;
    sg_team_enter(team, t, 0);
}

static void give_team(sg_thread *t)
{
    if (t->initial == NULL)
        t->initial = get_team(&sg->omp->spare_teams, 1);
    open_initial(t->initial, t, &sg->omp->icv);
    t->partition_first = 0;
    t->partition_count = sg->omp->places_count;
    if (sg->omp->icv.bind != SG_BIND_FALSE && t != &sg->omp->outside)
        sg_place_member(t->team, t, 0, 0);
}

void sg_team_enter_initial(sg_thread *t)
{
    sg_team *team = get_team(&sg->omp->spare_teams, 1);
    save(team, t);
    sg_team *parent = team->parent;
    open_initial(team, t, &sg->omp->icv);
    team->parent = parent;
}

void sg_team_leave_initial(sg_thread *t)
{
    sg_team *team = t->team;
    sg_work_pass(t, t->work);
    restore(team, t);
    put_team(&sg->omp->spare_teams, team);
}

/* ---- fork and join ---- */

uint32_t sg_team_size(const sg_thread *t, unsigned threads)
{
    const sg_icv *icv = &t->task->icv;
    const sg_team *team = t->team;
    if (threads == 1 || team->active_level >= icv->max_active_levels)
        return 1;
    uint32_t size = threads != 0 ? threads : icv->threads;
    if (icv->dynamic && size > sg->own_processors)
        size = sg->own_processors;
    uint32_t busy = team->root->busy;
    if (icv->thread_limit != UINT32_MAX) {
        uint32_t left = icv->thread_limit > busy ? icv->thread_limit - busy + 1 : 1;
        size = size < left ? size : left;
    }
    uint32_t most = sg->most_threads > busy ? sg->most_threads - busy : 1;
    if (size > most) {
        char remark[160];
        snprintf(remark, sizeof remark,
                 "the program asks for a team of more threads than the %u it can have when simulated: the "
                 "team has fewer",
                 sg->most_threads);
        sg_warn(remark);
        size = most;
    }
    return size;
}

static sg_work *first_work(const sg_loop *loop, uint64_t sections, uint32_t members)
{
    sg_work *work = sg_work_new();
    work->prepared = true;
    if (loop != NULL)
        sg_work_prepare(work, loop, members);
    else if (sections != 0)
        sg_work_prepare(work, &(sg_loop){.schedule = SG_DYNAMIC, .total = sections, .chunk = 1}, members);
    return work;
}

static void begin_phase(const sg_thread *t, const sg_team *team)
{
    if (t->id == 0 && team->level == 1)
        sg_observe_phase(sg_phase_place(team->site, SG_PHASE_FORK));
}

void sg_parallel_begin(void (*function)(void *), void *data, uint32_t size, unsigned flags,
                       const sg_loop *loop, uint64_t sections, sg_taskgroup *group)
{
    sg_thread *t = sg_self();
    sg_team *parent = t->team, *root = parent->root;
    sg_team *team = get_team(parent == root ? &root->spare : &sg->omp->spare_teams, size);
    if (size > sg->team_max)
        sg->team_max = size;
    if (SG_UNLIKELY(sg->config.balancing_pace > 1))
        sg_mem_hasten(sg->mem, sg_now->clock);
    team->root = root;
    team->level = parent->level + 1;
    team->active_level = parent->active_level + (size > 1);
    team->function = function;
    team->data = data;
    team->site = sg_now->site;
    team->frame = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
    team->region = sg_region(t);
    team->works = first_work(loop, sections, size);
    team->shown = sg->omp->display_affinity && sg->omp->displayed != size;
    if (team->shown)
        sg->omp->displayed = size;
    if (t->id == 0 && parent->level == 0)
        sg_observe_parallel(true);
    save(team, t);
    open_team(team, t, group);
    if (size > 1) {
        const sg_config *config = &sg->config;
        sg_synchronise(); /* what the master wrote alone does not race with its team */
        sg_observe_marks(SG_MARK_FORK, size);
        sg_observe_runtime(true);
        begin_phase(t, team);
        uint64_t from = sg_now->clock;
        root->busy += size - 1;
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_FORK_JOIN, config->fork_cycles);
        sg_touch(sg_now, team->address, SG_WRITE, SG_CATEGORY_PRIM_FORK_JOIN);
        sg_workers_start(team, flags, from);
        sg_observe_team_started(from);
        sg_observe_runtime(false);
        sg_place_member(team, t, 0, flags);
    } else {
        begin_phase(t, team);
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_FORK_JOIN, sg->config.alone_cycles);
    }
    sg_team_enter(team, t, 0);
}

void sg_parallel_end(void)
{
    sg_thread *t = sg_self();
    sg_team *team = t->team;
    sg_team_join(t, team);
    if (t->id == 0 && team->level == 1)
        sg_observe_parallel(false);
    if (team->cancelled)
        sg_barrier_mend(team->barrier);
    team->root->busy -= team->size - 1;
    restore(team, t);
    if (team->level == 1)
        put_team(&team->root->spare, team);
    else
        sg_team_leave_nested(team);
}

void sg_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags, const sg_loop *loop,
                 uint64_t sections, const void *site)
{
    if (SG_UNLIKELY(sg_now->thread == NULL) && !sg_begin_early(site))
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program has a parallel region at 0x%llx after its end, which the simulator does not "
                "support",
                (unsigned long long)(uintptr_t)site);
    sg_thread *t = sg_member(site);
    sg_parallel_begin(function, data, sg_team_size(t, threads), flags, loop, sections, NULL);
    sg_call_program(function, data);
    sg_parallel_end();
}

void sg_omp_open(void)
{
    static const sg_observer openmp = {.name = "OpenMP", .thread_begins = begin_thread};
    sg_observer_register(&openmp);
    sg_omp_renew();
}

void sg_omp_renew(void)
{
    sg_omp *omp = sg->omp = sg_new(sizeof *omp);
    omp->give_team = give_team;
    omp->critical = sg_lock_new(0);
    omp->atomic = sg_lock_new(0);
    sg_lock_name(omp->critical, SG_LOCK_CRITICAL);
    sg_lock_name(omp->atomic, SG_LOCK_ATOMIC);
    sg_omp_environment();
}

/* ---- compiler entry points ---- */

SG_API void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    sg_parallel(function, data, threads, flags, NULL, 0, SG_CALLER);
}

SG_API void GOMP_parallel_sections(void (*function)(void *), void *data, unsigned threads, unsigned count,
                                   unsigned flags)
{
    sg_parallel(function, data, threads, flags, NULL, count, SG_CALLER);
}

SG_API unsigned GOMP_parallel_reductions(void (*function)(void *), void *data, unsigned threads,
                                         unsigned flags)
{
    sg_thread *t = sg_member(SG_CALLER);
    uint32_t size = sg_team_size(t, threads);
    uintptr_t *records = *(uintptr_t **)data;
    sg_taskgroup *outer = t->task->group, *group = sg_taskgroup_start(t);
    t->task->group = outer;
    group->before = NULL;
    group->reductions = records;
    sg_reductions_register(records, NULL, NULL, size);
    sg_parallel_begin(function, data, size, flags, NULL, 0, group);
    sg_call_program(function, data);
    sg_parallel_end();
    sg_taskgroup_drop(group);
    return size;
}

/* ---- entry points before gcc 5: the caller runs its own part ---- */

SG_API void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads)
{
    sg_parallel_begin(function, data, sg_team_size(sg_member(SG_CALLER), threads), 0, NULL, 0, NULL);
    sg_self()->team->frame = UINT64_MAX;
}

SG_API void GOMP_parallel_end(void)
{
    sg_member(SG_CALLER);
    sg_parallel_end();
}
