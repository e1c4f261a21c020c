/* Critical sections, atomic operations without a machine instruction, locks. */
#include "sg_omp.h"

typedef struct nest_lock { /* 8 bytes: the least that a Fortran variable provides */
    uint32_t owner;        /* number of the task; 0: free */
    uint32_t depth;
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

/* ---- simple locks ---- */

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

/* ---- nestable locks: a task may set one it already holds ---- */

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
    nest_lock *nest = lock;
    uint32_t me = sg_task_number(sg_member(SG_CALLER)->task);
    if (nest->owner != me) {
        sg_lock_acquire(sg_lock_at(lock));
        nest->owner = me;
    } else {
        sg_touch(sg_now, (uint64_t)(uintptr_t)lock, SG_WRITE, SG_CATEGORY_PRIM_LOCK);
    }
    nest->depth++;
}

SG_API void omp_unset_nest_lock(void *lock)
{
    nest_lock *nest = lock;
    sg_now->site = SG_CALLER;
    if (--nest->depth == 0) {
        nest->owner = 0;
        sg_lock_release(sg_lock_at(lock));
    }
}

SG_API int omp_test_nest_lock(void *lock)
{
    nest_lock *nest = lock;
    uint32_t me = sg_task_number(sg_member(SG_CALLER)->task);
    if (nest->owner != me) {
        if (!sg_lock_try(sg_lock_at(lock)))
            return 0;
        nest->owner = me;
    }
    return (int)++nest->depth;
}
