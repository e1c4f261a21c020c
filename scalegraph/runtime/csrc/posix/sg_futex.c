/* Waiting at an address: futexes, on which libstdc++ builds std::atomic::wait, futures, latches and barriers;
 * and system calls that a program makes by number. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/time.h>

#include "sg_arch.h"
#include "sg_numa.h"
#include "sg_posix.h"

enum { WAIT = 0, WAKE = 1, REQUEUE = 3, CMP_REQUEUE = 4, WAIT_BITSET = 9, WAKE_BITSET = 10, COMMAND = 127 };

static long futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline)
{
    uint64_t at = (uint64_t)(uintptr_t)word;
    sg_touch(sg_now, at, SG_READ, SG_CATEGORY_PRIM_LOCK);
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != value)
        return -EAGAIN;
    sg_queue_add(sg_futex_queue(word), sg_self());
    return sg_wait_granted(SG_CATEGORY_IDLE_WAIT, at, deadline) ? 0 : -ETIMEDOUT;
}

static long futex_wake(const uint32_t *word, long most)
{
    long woken = 0;
    sg_turn(sg_now);
    sg_queue *queue = sg_futex_queue(word);
    while (woken < most && sg_grant(queue))
        woken++;
    return woken;
}

/* Wakes `most` threads and moves `moved` others to wait at another word. */
static long futex_requeue(const uint32_t *word, long most, long moved, const uint32_t *other)
{
    long done = futex_wake(word, most);
    sg_thread *t;
    for (; moved > 0 && (t = sg_queue_take(sg_futex_queue(word))) != NULL; moved--, done++)
        sg_queue_add(sg_futex_queue(other), t);
    return done;
}

static long futex(const uint32_t *word, int operation, long value, long more, const uint32_t *other,
                  uint32_t third)
{
    const struct timespec *time = (const struct timespec *)more;
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles);
    switch (operation & COMMAND) {
    case WAIT:
        return futex_wait(word, (uint32_t)value, time != NULL ? sg_deadline_in(time) : SG_NEVER);
    case WAIT_BITSET:
        return futex_wait(word, (uint32_t)value, time != NULL ? sg_deadline(time) : SG_NEVER);
    case WAKE:
    case WAKE_BITSET:
        return futex_wake(word, value);
    case CMP_REQUEUE:
        sg_turn(sg_now); /* so that nobody changes the word before others are woken */
        if (__atomic_load_n(word, __ATOMIC_RELAXED) != third)
            return -EAGAIN;
        return futex_requeue(word, value, more, other);
    case REQUEUE:
        return futex_requeue(word, value, more, other);
    default:
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program makes the futex call %d, which the simulator does not support",
                operation & COMMAND);
    }
}

/* ---- system calls by number ---- */

static void refuse(const char *name)
{
    sg_stop(SG_STATUS_UNSUPPORTED,
            "the program makes the system call %s at 0x%llx, which the simulator does not support: threads "
            "come from pthreads, C11, C++ or OpenMP, and a simulated program is one process",
            name, (unsigned long long)(uintptr_t)sg_now->site);
}

static long serve(long number, const long a[6])
{
    switch (number) {
    case SYS_futex:
        return futex((const uint32_t *)a[0], (int)a[1], a[2], a[3], (const uint32_t *)a[4], (uint32_t)a[5]);
    case SYS_gettid:
        return gettid();
    case SYS_sched_yield:
        sg_pass(sg_now->site);
        return 0;
    case SYS_getcpu:
        if (a[0] != 0)
            *(unsigned *)a[0] = sg_now->id;
        if (a[1] != 0)
            *(unsigned *)a[1] = sg_mem_node_of(sg->mem, sg_now->id);
        return 0;
    case SYS_mbind:
    case SYS_set_mempolicy:
    case SYS_get_mempolicy:
        return sg_numa_call(number, a);
    case SYS_clock_gettime:
        return sg_clock_gettime((clockid_t)a[0], (struct timespec *)a[1], sg_now->site);
    case SYS_gettimeofday:
        return gettimeofday((struct timeval *)a[0], (void *)a[1]);
    case SYS_kill:
        return sg_signal_call(a[0], a[1]);
    case SYS_tkill:
    case SYS_tgkill:
        return sg_signal_call(number == SYS_tkill ? a[0] : a[1], number == SYS_tkill ? a[1] : a[2]);
    case SYS_mmap:
        return sg_map_call(a);
    case SYS_mremap:
        return sg_remap_call(a);
    case SYS_shmat:
        return sg_attach_call(a);
    case SYS_nanosleep:
        sg_sleep(sg_deadline_in((const struct timespec *)a[0]), sg_now->site);
        return 0;
    case SYS_sched_getaffinity:
        return sched_getaffinity((pid_t)a[0], (size_t)a[1], (cpu_set_t *)a[2]) == 0 ? (long)a[1] : -EINVAL;
    case SYS_sched_setaffinity:
        return sched_setaffinity((pid_t)a[0], (size_t)a[1], (const cpu_set_t *)a[2]) == 0 ? 0 : -EINVAL;
    case SYS_clone:
#ifdef SYS_fork /* newer architectures only have clone */
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_execve:
        refuse(number == SYS_clone ? "clone" : number == SYS_execve ? "execve" : "fork");
        return -ENOSYS;
    default:
        return sg_arch_syscall6(number, a);
    }
}

SG_API long syscall(long number, ...)
{
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    long result = sg_enter(SG_CALLER) ? serve(number, arguments) : sg_arch_syscall6(number, arguments);
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
