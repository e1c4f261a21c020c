/* Tasks. A function that becomes a task gets a stand-in, which notes when it runs: the first `STANDINS`
 * functions do, time of further ones counts as waiting where they run. */
#include <dlfcn.h>

#include "sgm.h"

typedef void body(void *);
typedef void copier(void *, void *);

enum { STANDINS = 64, REDUCTION = 1 << 12, DETACH = 1 << 13 };

typedef struct standin {
    body *function;
    uint32_t region;
} standin;

static standin standins[STANDINS];
static int64_t used, lock;

static void run(const standin *who, void *data)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SGM_COMPUTING), region = t->region;
    t->region = who->region;
    who->function(data);
    t = sgm_self();
    sgm_switch(t, before);
    t->region = region;
}

#define ONE(n)                                                                                               \
    static void run_##n(void *data)                                                                          \
    {                                                                                                        \
        run(&standins[0x##n], data);                                                                         \
    }
/* clang-format off */
#define EACH(X) \
    X(00) X(01) X(02) X(03) X(04) X(05) X(06) X(07) X(08) X(09) X(0a) X(0b) X(0c) X(0d) X(0e) X(0f) \
    X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(1a) X(1b) X(1c) X(1d) X(1e) X(1f) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(2a) X(2b) X(2c) X(2d) X(2e) X(2f) \
    X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(3a) X(3b) X(3c) X(3d) X(3e) X(3f)
/* clang-format on */
#define NAME(n) run_##n,
EACH(ONE)
static body *const runners[STANDINS] = {EACH(NAME)};

/* The stand-in of `function` in `region`, the function itself if there are no more. */
static body *standin_of(body *function, uint32_t region)
{
    for (int64_t at = 0;; at++) {
        if (at == __atomic_load_n(&used, __ATOMIC_ACQUIRE)) {
            bool mine = !__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE);
            if (mine && at == used && at < STANDINS) {
                standins[at] = (standin){function, region};
                __atomic_store_n(&used, at + 1, __ATOMIC_RELEASE);
            }
            if (mine)
                __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
            if (at >= STANDINS)
                return function;
            at--;
            continue;
        }
        if (standins[at].function == function && standins[at].region == region)
            return runners[at];
    }
}

SGM_API void GOMP_task(body *function, void *data, copier *copy, long size, long align, bool deferred,
                       unsigned flags, void **depends, int priority, void *detach)
{
    sgm_thread *t = sgm_self();
    uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_TASK);
    body *shown = (flags & (REDUCTION | DETACH)) != 0 ? function : standin_of(function, t->region);
    SGM_REAL(GOMP_task)(shown, data, copy, size, align, deferred, flags, depends, priority, detach);
    t = sgm_self();
    t->counters[SG_COUNTER_TASKS]++;
    sgm_switch(t, before);
}

#define LOOP(name, number)                                                                                   \
    SGM_API void name(body *function, void *data, copier *copy, long size, long align, unsigned flags,       \
                      unsigned long tasks, int priority, number start, number end, number step)              \
    {                                                                                                        \
        sgm_thread *t = sgm_self();                                                                          \
        uint32_t before = sgm_switch(t, SG_CATEGORY_PRIM_TASK);                                              \
        SGM_REAL(name)                                                                                       \
        (standin_of(function, t->region), data, copy, size, align, flags, tasks, priority, start, end,       \
         step);                                                                                              \
        t = sgm_self();                                                                                      \
        t->counters[SG_COUNTER_TASKS]++;                                                                     \
        sgm_switch(t, before);                                                                               \
    }
LOOP(GOMP_taskloop, long)
LOOP(GOMP_taskloop_ull, unsigned long long)

#define WAIT(name, parameters, given)                                                                        \
    SGM_API void name parameters                                                                             \
    {                                                                                                        \
        uint32_t before = sgm_switch(sgm_self(), SG_CATEGORY_IDLE_TASK);                                     \
        SGM_REAL(name) given;                                                                                \
        sgm_switch(sgm_self(), before);                                                                      \
    }
WAIT(GOMP_taskwait, (void), ())
WAIT(GOMP_taskgroup_end, (void), ())
WAIT(GOMP_taskwait_depend, (void **depends), (depends))
