/* The functions of omp.h, critical sections and locks. */
#include "sg_omp.h"

typedef struct nest_lock { /* omp_nest_lock_t has room for 16 bytes */
    int32_t owner;         /* thread + 1 */
    int32_t depth;
} nest_lock;

/* ---- critical and atomic ---- */

SG_API void GOMP_critical_start(void)
{
    sg_now->site = SG_CALLER;
    sg_lock_acquire(sg->omp->critical);
}

SG_API void GOMP_critical_end(void)
{
    sg_now->site = SG_CALLER;
    sg_lock_release(sg->omp->critical);
}

SG_API void GOMP_critical_name_start(void **name)
{
    sg_now->site = SG_CALLER;
    sg_lock_acquire(sg_lock_at(name));
}

SG_API void GOMP_critical_name_end(void **name)
{
    sg_now->site = SG_CALLER;
    sg_lock_release(sg_lock_at(name));
}

SG_API void GOMP_atomic_start(void)
{
    sg_now->site = SG_CALLER;
    sg_lock_acquire(sg->omp->atomic);
}

SG_API void GOMP_atomic_end(void)
{
    sg_now->site = SG_CALLER;
    sg_lock_release(sg->omp->atomic);
}

/* ---- locks ---- */

SG_API void omp_init_lock(void *lock)
{
    *(int32_t *)lock = 0;
    sg_lock_forget(lock);
}

SG_API void omp_init_lock_with_hint(void *lock, int hint)
{
    (void)hint;
    omp_init_lock(lock);
}

SG_API void omp_destroy_lock(void *lock)
{
    sg_lock_forget(lock);
}

SG_API void omp_set_lock(void *lock)
{
    sg_now->site = SG_CALLER;
    sg_lock_acquire(sg_lock_at(lock));
}

SG_API void omp_unset_lock(void *lock)
{
    sg_now->site = SG_CALLER;
    sg_lock_release(sg_lock_at(lock));
}

SG_API int omp_test_lock(void *lock)
{
    sg_now->site = SG_CALLER;
    return sg_lock_try(sg_lock_at(lock));
}

SG_API void omp_init_nest_lock(void *lock)
{
    *(nest_lock *)lock = (nest_lock){0};
    sg_lock_forget(lock);
}

SG_API void omp_init_nest_lock_with_hint(void *lock, int hint)
{
    (void)hint;
    omp_init_nest_lock(lock);
}

SG_API void omp_destroy_nest_lock(void *lock)
{
    sg_lock_forget(lock);
}

SG_API void omp_set_nest_lock(void *lock)
{
    sg_processor *p = sg_now;
    nest_lock *nest = lock;
    p->site = SG_CALLER;
    if (nest->owner != (int32_t)p->thread->id + 1) {
        sg_lock_acquire(sg_lock_at(lock));
        nest->owner = (int32_t)sg_self()->id + 1;
    } else {
        sg_touch(p, (uint64_t)(uintptr_t)lock, SG_WRITE, SG_LEAF_PRIM_LOCK);
    }
    nest->depth++;
}

SG_API void omp_unset_nest_lock(void *lock)
{
    sg_processor *p = sg_now;
    nest_lock *nest = lock;
    p->site = SG_CALLER;
    if (--nest->depth == 0) {
        nest->owner = 0;
        sg_lock_release(sg_lock_at(lock));
    }
}

SG_API int omp_test_nest_lock(void *lock)
{
    sg_processor *p = sg_now;
    nest_lock *nest = lock;
    p->site = SG_CALLER;
    if (nest->owner != (int32_t)p->thread->id + 1) {
        if (!sg_lock_try(sg_lock_at(lock)))
            return 0;
        nest->owner = (int32_t)sg_self()->id + 1;
    }
    return ++nest->depth;
}

/* ---- questions and settings ---- */

static int ask(int answer)
{
    return answer;
}

#define QUESTION(name, answer)                                                                               \
    SG_API int name(void)                                                                                    \
    {                                                                                                        \
        return ask((int)(answer));                                                                           \
    }

QUESTION(omp_get_num_threads, sg_self()->team->size)
QUESTION(omp_get_thread_num, sg_self()->member)
QUESTION(omp_get_max_threads, sg->omp->threads)
QUESTION(omp_get_num_procs, sg->processors)
QUESTION(omp_in_parallel, sg_self()->team->active_level > 0)
QUESTION(omp_get_dynamic, sg->omp->dynamic)
QUESTION(omp_get_nested, sg->omp->max_active_levels > 1)
QUESTION(omp_get_max_active_levels, sg->omp->max_active_levels)
QUESTION(omp_get_supported_active_levels, 1)
QUESTION(omp_get_thread_limit, sg->processors)
QUESTION(omp_get_level, sg_self()->team->level)
QUESTION(omp_get_active_level, sg_self()->team->active_level)
QUESTION(omp_get_cancellation, 0)
QUESTION(omp_in_final, 0)
QUESTION(omp_get_proc_bind, 1)
QUESTION(omp_get_num_places, sg->processors)
QUESTION(omp_get_place_num, sg_now->id)
QUESTION(omp_get_partition_num_places, sg->processors)
QUESTION(omp_get_default_device, 0)
QUESTION(omp_get_num_devices, 0)
QUESTION(omp_get_initial_device, 0)
QUESTION(omp_is_initial_device, 1)
QUESTION(omp_get_num_teams, 1)
QUESTION(omp_get_team_num, 0)
QUESTION(omp_get_max_teams, 1)
QUESTION(omp_get_teams_thread_limit, sg->processors)
QUESTION(omp_get_max_task_priority, 0)

SG_API int omp_get_place_num_procs(int place)
{
    return place >= 0 && place < (int)sg->processors;
}

SG_API void omp_get_place_proc_ids(int place, int *ids)
{
    if (omp_get_place_num_procs(place))
        ids[0] = place;
}

SG_API void omp_get_partition_place_nums(int *places)
{
    for (uint32_t i = 0; i < sg->processors; i++)
        places[i] = (int)i;
}

SG_API void omp_set_num_threads(int threads)
{
    sg->omp->threads = threads > 0 ? (uint32_t)threads : 1;
}

SG_API void omp_set_dynamic(int dynamic)
{
    sg->omp->dynamic = dynamic != 0;
}

SG_API void omp_set_nested(int nested)
{
    sg->omp->max_active_levels = nested ? INT32_MAX : 1;
    if (nested)
        sg_warn("nested parallel regions run on one processor");
}

SG_API void omp_set_max_active_levels(int levels)
{
    if (levels >= 0)
        sg->omp->max_active_levels = levels;
    if (levels > 1)
        sg_warn("nested parallel regions run on one processor");
}

SG_API void omp_set_default_device(int device)
{
    (void)device;
}

SG_API void omp_set_num_teams(int teams)
{
    (void)teams;
}

SG_API void omp_set_teams_thread_limit(int limit)
{
    (void)limit;
}

SG_API void omp_set_schedule(unsigned kind, int chunk)
{
    static const enum sg_schedule kinds[] = {SG_STATIC, SG_STATIC, SG_DYNAMIC, SG_GUIDED, SG_STATIC};
    unsigned base = kind & 0x7fffffff;
    if (base < sizeof kinds / sizeof kinds[0]) {
        sg->omp->schedule = kinds[base];
        sg->omp->chunk = chunk > 0 && base != 4 ? (uint64_t)chunk : 0;
        sg->omp->monotonic = kind >> 31;
    }
}

SG_API void omp_get_schedule(unsigned *kind, int *chunk)
{
    *kind = (unsigned)sg->omp->schedule + 1;
    *chunk = (int)sg->omp->chunk;
    if (sg->omp->schedule != SG_STATIC && *chunk == 0)
        *chunk = 1;
}

static const sg_team *team_at(int level, uint32_t *member)
{
    const sg_team *team = sg_self()->team;
    *member = sg_self()->member;
    if (level < 0 || level > (int)team->level)
        return NULL;
    while ((int)team->level > level) {
        *member = team->parent_member;
        team = team->parent;
    }
    return team;
}

SG_API int omp_get_ancestor_thread_num(int level)
{
    uint32_t member;
    return team_at(level, &member) != NULL ? (int)member : -1;
}

SG_API int omp_get_team_size(int level)
{
    uint32_t member;
    const sg_team *team = team_at(level, &member);
    return team != NULL ? (int)team->size : -1;
}

SG_API double omp_get_wtime(void)
{
    return (double)sg_now->clock / sg->config.clock_hz;
}

SG_API double omp_get_wtick(void)
{
    return 1.0 / sg->config.clock_hz;
}

SG_API void omp_display_env(int verbose)
{
    (void)verbose;
}

SG_API int omp_pause_resource(int kind, int device)
{
    (void)kind, (void)device;
    return 0;
}

SG_API int omp_pause_resource_all(int kind)
{
    (void)kind;
    return 0;
}
