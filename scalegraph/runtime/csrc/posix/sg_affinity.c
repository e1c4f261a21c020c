/* Processor affinity: how many processors the program sees (those of the run), and where a thread may run. */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <sys/sysinfo.h>

#include "sg_arch.h"
#include "sg_posix.h"
#include "sg_rank.h"

SG_API long sysconf(int name)
{
    if ((name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN) && sg != NULL)
        return sg->own_processors;
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}

SG_API int get_nprocs(void)
{
    return sg != NULL ? (int)sg->own_processors : 1;
}

SG_API int get_nprocs_conf(void)
{
    return get_nprocs();
}

SG_API int sched_getcpu(void)
{
    return (int)sg_now->id;
}

SG_API int getcpu(unsigned *processor, unsigned *node)
{
    if (processor != NULL)
        *processor = sg_now->id;
    if (node != NULL)
        *node = 0;
    return 0;
}

/* Distinguishes threads; the process's own number is that of main. */
SG_API pid_t gettid(void)
{
    return getpid() + (sg_self() != NULL ? (pid_t)sg_self()->id : 0);
}

static sg_thread *thread_of_pid(pid_t pid)
{
    uint32_t id = pid == 0 ? (uint32_t)sg_self_id() : (uint32_t)(pid - getpid());
    return id < sg->threads && sg->thread[id]->state != SG_UNUSED ? sg->thread[id] : NULL;
}

static int get_places(const sg_thread *t, size_t size, cpu_set_t *set)
{
    if (size < (sg->processors + 7) / 8)
        return EINVAL;
    memset(set, 0, size);
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg_thread_fits(t, i))
            ((unsigned char *)set)[i / 8] |= (unsigned char)(1u << i % 8);
    return 0;
}

/* A process may use only its own processors. */
static bool belongs(const sg_thread *t, uint32_t processor)
{
    return t->rank == NULL || (t->rank->places[processor / 64] >> processor % 64 & 1) != 0;
}

static int set_places(sg_thread *t, size_t size, const cpu_set_t *set)
{
    uint64_t *places = sg_new(SG_MAX_PROCESSORS / 8), any = 0;
    for (uint32_t i = 0; i < sg->processors && i / 8 < size; i++)
        if (((const unsigned char *)set)[i / 8] >> i % 8 & 1 && belongs(t, i))
            any |= places[i / 64] |= 1ull << i % 64;
    if (any == 0)
        return EINVAL;
    t->places = places;
    if (t == sg_self())
        sg_give_way(sg_now, sg_now->site); /* moves it if it may not stay */
    return 0;
}

static int fail(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

SG_API int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    sg_thread *t = sg_enter(SG_CALLER) ? thread_of_pid(process) : NULL;
    return fail(t == NULL ? ESRCH : get_places(t, size, set));
}

SG_API int sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set)
{
    sg_thread *t = sg_enter(SG_CALLER) ? thread_of_pid(process) : NULL;
    return fail(t == NULL ? ESRCH : set_places(t, size, set));
}

SG_API int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *set)
{
    const sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    return t == NULL ? ESRCH : get_places(t, size, set);
}

SG_API int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *set)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    return t == NULL ? ESRCH : set_places(t, size, set);
}
