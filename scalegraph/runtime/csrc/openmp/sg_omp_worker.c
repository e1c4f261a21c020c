/* The threads of teams, and how the program's OpenMP library starts them.
 *
 * The members of outermost teams are always the same threads, so that threadprivate data persist. Members of
 * nested teams are taken from idle workers; libgomp keeps no such workers, so there each member of a nested
 * team costs the creation and end of a thread. The simulated system's scheduler (sg_sched.c) decides where
 * threads run, unless they are bound to places.
 *
 * libgomp's master writes each member's work into that thread's own line, and then releases all at once from
 * a central barrier where members wait between regions (the dock). Other libraries release each member as
 * soon as it knows its work.
 *
 * Thread creations do not fully overlap: for half of each, the system holds the lock on the process's
 * memory. */
#include "sg_array.h"
#include "sg_omp.h"

void sg_team_join(sg_thread *t, sg_team *team)
{
    uint32_t member = t->member;
    sg_now->site = team->site;
    sg_tasks_help(t);
    sg_work_pass(t, t->work);
    if (team->size > 1)
        sg_barrier_wait(team->join, member, SG_CATEGORY_PRIM_FORK_JOIN);
    else {
        sg_tasks_drain(t);
        if (team->level == 1 && t->id == 0)
            sg_observe_phase(sg_phase_place(team->site, SG_PHASE_JOIN));
    }
}

static void dock(sg_thread *t)
{
    sg_omp *omp = sg->omp;
    SG_ARRAY_HOLD(omp->docked, omp->docked_room, omp->docked_count, 64);
    omp->docked[omp->docked_count++] = t;
}

/* The two lines of a dock: how many members have arrived, and whether they may go. */
static uint64_t come(const sg_team *team)
{
    return team->dock;
}

static uint64_t go(const sg_team *team)
{
    return team->dock + sg_line_bytes();
}

static void begin_part(const sg_thread *t, const sg_team *team)
{
    if (sg->docks) {
        sg_touch(sg_now, go(team), SG_READ, SG_CATEGORY_PRIM_FORK_JOIN);
        sg_touch(sg_now, t->variable, SG_RMW, SG_CATEGORY_PRIM_FORK_JOIN);
    }
    sg_touch(sg_now, team->address, SG_READ, SG_CATEGORY_PRIM_FORK_JOIN);
}

static void end_part(const sg_team *team)
{
    if (!sg->docks)
        return;
    if (team->level > 1)
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_THREAD, sg->config.thread_cycles);
    else
        sg_touch(sg_now, come(team), SG_RMW, SG_CATEGORY_PRIM_FORK_JOIN);
}

/* A worker's loop: waits until a team needs it, works, joins. */
static void worker(void)
{
    sg_thread *t = sg_self();
    for (;;) {
        sg_team *team = t->start;
        t->start = NULL;
        sg_team_enter(team, t, t->start_member);
        sg_now->site = team->site;
        sg_regions_reset(t, team->region);
        begin_part(t, team);
        sg_refresh_limit(sg_now);
        sg_call_program(team->function, team->data);
        sg_regions_reset(t, team->region);
        bool nested = team->level > 1;
        sg_team_join(t, team);
        end_part(team);
        sg_regions_reset(t, 0);
        if (nested)
            sg_team_leave_nested(team);
        if (t->start != NULL)
            continue;
        if (nested)
            dock(t);
        sg_suspend(SG_CATEGORY_IDLE_SERIAL, 0, -1);
    }
}

/* Thread for member `member`: the same for an outermost team, any worker for a nested one; not yet started if
 * new. */
static sg_thread *get_worker(sg_team *team, uint32_t member)
{
    sg_omp *omp = sg->omp;
    sg_team *root = team->root;
    if (team->level > 1)
        return omp->docked_count > 0 ? omp->docked[--omp->docked_count] : sg_thread_new();
    if (root->workers[member] == NULL)
        root->workers[member] = sg_thread_new();
    return root->workers[member];
}

static void start_worker(sg_team *team, sg_thread *t, uint32_t member, unsigned flags, uint64_t from)
{
    bool fresh = t->processor == NULL;
    bool waits = fresh || (t->state == SG_BLOCKED && t->wait_category == SG_CATEGORY_IDLE_SERIAL);
    t->start = team;
    t->start_member = member;
    sg_place_member(team, t, member, flags);
    sg_observe_member_starts(t, from, waits);
    if (fresh)
        sg_thread_start(t, worker, sg_now->clock);
    else if (waits)
        sg_wake(t, sg_now->clock);
    /* otherwise it is still leaving the last join and will see t->start */
}

/* Prepares all workers at once, so that the host starts their threads in parallel; returns the number of new
 * ones. */
static uint32_t prepare_workers(sg_team *team)
{
    uint32_t size = team->size, missing = 0;
    sg_team *root = team->root;
    if (team->level > 1) {
        uint32_t docked = sg->omp->docked_count;
        missing = size - 1 > docked ? size - 1 - docked : 0;
    } else {
        if (root->workers_count < size) {
            size_t known = root->workers_count * sizeof(sg_thread *);
            root->workers = sg_larger(root->workers, known, size * sizeof(sg_thread *));
            root->workers_count = size;
        }
        for (uint32_t i = 1; i < size; i++)
            missing += root->workers[i] == NULL;
    }
    if (missing > 0)
        sg_thread_prepare(missing);
    return missing;
}

/* Charges the running thread for creating another one. */
static void make_thread(void)
{
    const sg_config *config = &sg->config;
    if (!sg->docks) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_FORK_JOIN, config->create_cycles);
        return;
    }
    sg_turn(sg_now);
    uint64_t wait = sg->making_until > sg_now->clock ? sg->making_until - sg_now->clock : 0;
    sg->making_until = sg_now->clock + wait + config->thread_cycles / 2;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_THREAD, wait + config->thread_cycles);
}

void sg_workers_start(sg_team *team, unsigned flags, uint64_t from)
{
    uint32_t size = team->size, created = prepare_workers(team);
    if (sg->docks && team->level > 1)
        created = size - 1;
    for (uint32_t i = 1; i < size; i++) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_FORK_JOIN, sg->config.fork_per_processor_cycles);
        if (i >= size - created)
            make_thread();
        sg_thread *t = team->starting[i] = get_worker(team, i);
        if (sg->docks)
            sg_touch(sg_now, t->variable, SG_WRITE, SG_CATEGORY_PRIM_FORK_JOIN);
        else
            start_worker(team, t, i, flags, from);
    }
    if (!sg->docks)
        return;
    sg_touch(sg_now, come(team), SG_RMW, SG_CATEGORY_PRIM_FORK_JOIN);
    sg_touch(sg_now, go(team), SG_WRITE, SG_CATEGORY_PRIM_FORK_JOIN);
    for (uint32_t i = 1; i < size; i++)
        start_worker(team, team->starting[i], i, flags, from);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_FORK_JOIN, sg->release_cycles);
}
