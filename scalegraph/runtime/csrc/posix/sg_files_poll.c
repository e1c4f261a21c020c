/* Calls that wait for several files: poll, select, epoll. Without files they just sleep. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "sg_arch.h"
#include "sg_files.h"
#include "sg_signal.h"

/* Clock of a time relative to now; `time` NULL: never. */
static uint64_t deadline_in(const struct timespec *time)
{
    return time == NULL ? SG_NEVER : sg_deadline_in(time);
}

static struct timespec milliseconds(int time)
{
    return (struct timespec){time / 1000, time % 1000 * 1000000l};
}

/* Sets the signal mask for the duration of a call; returns the previous one. */
static uint64_t begin(const sigset_t *mask)
{
    uint64_t before = sg_posix_of(sg_self())->blocked;
    sg_files_begin();
    if (mask != NULL)
        sg_signal_block(sg_signal_bits(mask));
    return before;
}

static long end(const sigset_t *mask, uint64_t before, long result)
{
    if (mask != NULL)
        sg_signal_block(before);
    return sg_files_result(result);
}

/* ---- poll ---- */

static long poll_until(const char *call, struct pollfd *file, nfds_t count, uint64_t deadline)
{
    for (;;) {
        long ready = sg_files_ready(file, count);
        if (ready != 0 || sg_now->clock >= deadline)
            return ready;
        if (sg_files_wait((sg_file_wait){call, file, count, deadline, false}) != 0)
            return -EINTR;
    }
}

SG_API int poll(struct pollfd *file, nfds_t count, int timeout)
{
    struct timespec time = milliseconds(timeout);
    const long a[6] = {(long)file, (long)count, timeout < 0 ? 0 : (long)&time, 0, 8, 0};
    if (sg == NULL || sg->alone || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_ppoll, a));
    uint64_t before = begin(NULL);
    return (int)end(NULL, before, poll_until("poll", file, count, deadline_in(timeout < 0 ? NULL : &time)));
}

int __poll_chk(struct pollfd *file, nfds_t count, int timeout, size_t room);
SG_API int __poll_chk(struct pollfd *file, nfds_t count, int timeout, size_t room)
{
    (void)room;
    return poll(file, count, timeout);
}

SG_API int ppoll(struct pollfd *file, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    const long a[6] = {(long)file, (long)count, (long)time, (long)mask, 8, 0};
    if (sg == NULL || sg->alone || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_ppoll, a));
    uint64_t before = begin(mask);
    return (int)end(mask, before, poll_until("ppoll", file, count, deadline_in(time)));
}

/* ---- select ---- */

typedef struct sets {
    fd_set *reading, *writing, *except;
} sets;

static long select_now(int count, sets *s)
{
    const struct timespec now = {0, 0};
    const long a[6] = {count, (long)s->reading, (long)s->writing, (long)s->except, (long)&now, 0};
    return sg_arch_syscall6(SYS_pselect6, a);
}

static bool has(const fd_set *set, int file)
{
    return set != NULL && FD_ISSET(file, set);
}

static long select_until(const char *call, int count, sets wanted, uint64_t deadline)
{
    struct pollfd file[FD_SETSIZE];
    fd_set kept[3];
    fd_set *const given[3] = {wanted.reading, wanted.writing, wanted.except};
    nfds_t files = 0;
    for (int i = 0; i < 3; i++)
        if (given[i] != NULL)
            kept[i] = *given[i];
    for (int i = 0; i < count && i < FD_SETSIZE; i++) {
        short events =
            (short)((has(wanted.reading, i) ? POLLIN : 0) | (has(wanted.writing, i) ? POLLOUT : 0) |
                    (has(wanted.except, i) ? POLLPRI : 0));
        if (events != 0)
            file[files++] = (struct pollfd){i, events, 0};
    }
    for (;;) {
        long ready = select_now(count, &wanted);
        if (ready != 0 || sg_now->clock >= deadline)
            return ready;
        int error = sg_files_wait((sg_file_wait){call, file, files, deadline, false});
        for (int i = 0; i < 3; i++)
            if (given[i] != NULL)
                *given[i] = kept[i];
        if (error != 0)
            return -error;
    }
}

SG_API int select(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict except,
                  struct timeval *restrict timeout)
{
    struct timespec time = {0, 0};
    if (timeout != NULL)
        time = (struct timespec){timeout->tv_sec + timeout->tv_usec / 1000000,
                                 timeout->tv_usec % 1000000 * 1000};
    const struct timespec *until = timeout != NULL ? &time : NULL;
    const long a[6] = {count, (long)reading, (long)writing, (long)except, (long)until, 0};
    if (sg == NULL || sg->alone || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_pselect6, a));
    uint64_t before = begin(NULL), deadline = deadline_in(until);
    long ready = select_until("select", count, (sets){reading, writing, except}, deadline);
    if (timeout != NULL) { /* as on Linux */
        uint64_t now = sg_now->clock;
        double left = deadline > now && ready > 0 ? (double)(deadline - now) / sg->config.clock_hz : 0;
        *timeout = (struct timeval){(time_t)left, (suseconds_t)((left - (double)(time_t)left) * 1e6)};
    }
    return (int)end(NULL, before, ready);
}

SG_API int pselect(int count, fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict except,
                   const struct timespec *restrict time, const sigset_t *restrict mask)
{
    struct timespec kept = time != NULL ? *time : (struct timespec){0, 0};
    const long a[6] = {count, (long)reading, (long)writing, (long)except, time != NULL ? (long)&kept : 0, 0};
    if (sg == NULL || sg->alone || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_pselect6, a));
    uint64_t before = begin(mask);
    return (int)end(mask, before,
                    select_until("pselect", count, (sets){reading, writing, except}, deadline_in(time)));
}

/* ---- epoll ---- */

SG_API int epoll_create1(int flags)
{
    return sg_files_own((int)sg_files_result(sg_arch_syscall(SYS_epoll_create1, flags, 0, 0, 0)));
}

SG_API int epoll_create(int size)
{
    return size > 0 ? epoll_create1(0) : (errno = EINVAL, -1);
}

SG_API int epoll_ctl(int file, int operation, int of, struct epoll_event *event)
{
    if (sg_files_simulate(file, SG_CALLER))
        sg_files_begin();
    long result = sg_arch_syscall(SYS_epoll_ctl, file, operation, of, (long)event);
    if (sg_files_simulate(file, SG_CALLER))
        sg_files_happen();
    return (int)sg_files_result(result);
}

static long epoll_until(const char *call, int file, struct epoll_event *event, int count, uint64_t deadline)
{
    struct pollfd one = {file, POLLIN, 0};
    const long a[6] = {file, (long)event, count, 0, 0, 8};
    for (;;) {
        long ready = sg_arch_syscall6(SYS_epoll_pwait, a);
        if (ready > 0)
            sg_files_happen(); /* others may wait for the rest */
        if (ready != 0 || sg_now->clock >= deadline)
            return ready;
        if (sg_files_wait((sg_file_wait){call, &one, 1, deadline, false}) != 0)
            return -EINTR;
    }
}

SG_API int epoll_pwait(int file, struct epoll_event *event, int count, int timeout, const sigset_t *mask)
{
    struct timespec time = milliseconds(timeout);
    const long a[6] = {file, (long)event, count, timeout, (long)mask, 8};
    if (!sg_files_simulate(file, SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_epoll_pwait, a));
    uint64_t before = begin(mask), deadline = deadline_in(timeout < 0 ? NULL : &time);
    return (int)end(mask, before, epoll_until("epoll_wait", file, event, count, deadline));
}

SG_API int epoll_wait(int file, struct epoll_event *event, int count, int timeout)
{
    struct timespec time = milliseconds(timeout);
    const long a[6] = {file, (long)event, count, timeout, 0, 8};
    if (!sg_files_simulate(file, SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_epoll_pwait, a));
    uint64_t before = begin(NULL), deadline = deadline_in(timeout < 0 ? NULL : &time);
    return (int)end(NULL, before, epoll_until("epoll_wait", file, event, count, deadline));
}

SG_API int epoll_pwait2(int file, struct epoll_event *event, int count, const struct timespec *time,
                        const sigset_t *mask)
{
    if (!sg_files_simulate(file, SG_CALLER))
        return errno = ENOSYS, -1;
    uint64_t before = begin(mask);
    return (int)end(mask, before, epoll_until("epoll_pwait2", file, event, count, deadline_in(time)));
}
