/* Teams: every parallel region goes through here, so that its threads know each other and their loops. */
#include <dlfcn.h>
#include <omp.h>
#include <stdlib.h>

#include "sgn.h"

#define API __attribute__((visibility("default")))

typedef void body(void *);

/* A region being executed. */
typedef struct region {
    body *function;
    void *data;
    const sgn_loop *loop;
    sgn_team team;
    struct region *next; /* next region waiting to be found by its data */
} region;

static int64_t waiting_lock;
static region *waiting;

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        sg_stop(SG_STATUS_UNSUPPORTED, "libgomp has no %s; is it older than gcc 10?", name);
    return found;
}

static void execute(region *r)
{
    sgn_member member = {.team = &r->team};
    member.number = (uint32_t)omp_get_thread_num();
    member.members = (uint32_t)omp_get_num_threads();
    sgn_acquire(&r->team.lock); /* makes visible what the thread that began the region wrote */
    sgn_release(&r->team.lock);
    sgn_member *before = sgn_become(&member);
    if (r->loop != NULL)
        sgn_begin(&member, r->loop);
    r->function(r->data);
    sgn_become(before);
    sgn_acquire(&r->team.lock);
    sgn_release(&r->team.lock);
}

static void execute_region(void *data)
{
    execute(data);
}

static region *open_region(body *function, void *data, const sgn_loop *loop)
{
    region *r = sg_new(sizeof *r);
    sgn_acquire(&r->team.lock);
    r->function = function;
    r->data = data;
    r->loop = loop;
    sgn_release(&r->team.lock);
    return r;
}

static void close_region(region *r)
{
    sgn_acquire(&r->team.lock);
    sgn_release(&r->team.lock);
    sgn_disband(&r->team);
    free(r);
}

void sgn_parallel(body *function, void *data, unsigned threads, unsigned flags, const sgn_loop *loop)
{
    static void (*parallel)(body *, void *, unsigned, unsigned);
    if (parallel == NULL)
        parallel = (void (*)(body *, void *, unsigned, unsigned))real("GOMP_parallel");
    region *r = open_region(function, data, loop);
    parallel(execute_region, r, threads, flags);
    close_region(r);
}

void sgn_parallel_real(void (*parallel)(body *, void *, unsigned, long, long, long, long, unsigned),
                       body *function, void *data, unsigned threads, long start, long end, long step,
                       long chunk, unsigned flags)
{
    region *r = open_region(function, data, NULL);
    parallel(execute_region, r, threads, start, end, step, chunk, flags);
    close_region(r);
}

void sgn_parallel_real_runtime(void (*parallel)(body *, void *, unsigned, long, long, long, unsigned),
                               body *function, void *data, unsigned threads, long start, long end, long step,
                               unsigned flags)
{
    region *r = open_region(function, data, NULL);
    parallel(execute_region, r, threads, start, end, step, flags);
    close_region(r);
}

API void GOMP_parallel(body *function, void *data, unsigned threads, unsigned flags)
{
    sgn_parallel(function, data, threads, flags, NULL);
}

API void GOMP_parallel_sections(body *function, void *data, unsigned threads, unsigned count, unsigned flags)
{
    static void (*parallel)(body *, void *, unsigned, unsigned, unsigned);
    if (parallel == NULL)
        parallel = (void (*)(body *, void *, unsigned, unsigned, unsigned))real("GOMP_parallel_sections");
    region *r = open_region(function, data, NULL);
    parallel(execute_region, r, threads, count, flags);
    close_region(r);
}

/* libgomp reads the data of a region with task reductions: such a region is found by its address. */
static void execute_found(void *data)
{
    sgn_acquire(&waiting_lock);
    region *r = waiting;
    while (r->data != data)
        r = r->next;
    sgn_release(&waiting_lock);
    execute(r);
}

API unsigned GOMP_parallel_reductions(body *function, void *data, unsigned threads, unsigned flags)
{
    static unsigned (*parallel)(body *, void *, unsigned, unsigned);
    if (parallel == NULL)
        parallel = (unsigned (*)(body *, void *, unsigned, unsigned))real("GOMP_parallel_reductions");
    region *r = open_region(function, data, NULL);
    sgn_acquire(&waiting_lock);
    r->next = waiting;
    waiting = r;
    sgn_release(&waiting_lock);
    unsigned members = parallel(execute_found, data, threads, flags);
    sgn_acquire(&waiting_lock);
    region **at = &waiting;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    sgn_release(&waiting_lock);
    close_region(r);
    return members;
}
