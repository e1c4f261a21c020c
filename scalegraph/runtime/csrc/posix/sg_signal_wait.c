/* Calls that wait for a signal. */
#include <errno.h>

#include "sg_signal.h"

/* Waits for a signal in `set` until `deadline`; returns its number, or a negative error. */
static int await(uint64_t set, siginfo_t *info, uint64_t deadline)
{
    sg_posix *posix = sg_posix_of(sg_self());
    sg_posix_test_cancel();
    while (!sg_signal_take(set, info)) {
        if (sg_now->clock >= deadline)
            return -EAGAIN;
        posix->awaited = set;
        sg_self()->breaks = SG_BREAKS;
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, 0, -1, deadline);
        sg_self()->breaks = SG_GOES_ON;
        posix->awaited = 0;
        sg_posix_test_cancel();
        if (sg_take_broken(sg_self(), false) && (sg_signal_pending(sg_self()) & set) == 0)
            return -EINTR;
    }
    return info->si_signo;
}

int __wrap_sigwait(const sigset_t *set, int *number);
SG_API int __wrap_sigwait(const sigset_t *set, int *number)
{
    siginfo_t info;
    int got = sg_enter(SG_CALLER) ? 0 : -EINVAL;
    while (got == 0 || got == -EINTR)
        got = await(sg_signal_bits(set), &info, SG_NEVER);
    if (got < 0)
        return -got;
    *number = got;
    return 0;
}

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time);
SG_API int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    siginfo_t own;
    if (!sg_enter(SG_CALLER) || (time != NULL && !sg_is_time(time)))
        return errno = EINVAL, -1;
    int got = await(sg_signal_bits(set), info != NULL ? info : &own,
                    time != NULL ? sg_deadline_in(time) : SG_NEVER);
    return got < 0 ? (errno = -got, -1) : got;
}

int __wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info);
SG_API int __wrap_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    siginfo_t own;
    if (!sg_enter(SG_CALLER))
        return errno = EINVAL, -1;
    int got = await(sg_signal_bits(set), info != NULL ? info : &own, SG_NEVER);
    return got < 0 ? (errno = -got, -1) : got;
}

/* Waits until a handler has run. */
static int wait_for_handler(void)
{
    sg_thread *t = sg_self();
    do {
        t->breaks = SG_BREAKS;
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, 0, -1, SG_NEVER);
        t->breaks = SG_GOES_ON;
        sg_posix_test_cancel();
    } while (!sg_take_broken(t, false));
    return errno = EINTR, -1;
}

int __wrap_pause(void);
SG_API int __wrap_pause(void)
{
    if (!sg_enter(SG_CALLER))
        return errno = EINTR, -1;
    sg_posix_test_cancel();
    return wait_for_handler();
}

int __wrap_sigsuspend(const sigset_t *set);
SG_API int __wrap_sigsuspend(const sigset_t *set)
{
    if (!sg_enter(SG_CALLER))
        return errno = EINTR, -1;
    sg_posix *posix = sg_posix_of(sg_self());
    uint64_t before = posix->blocked, pending = sg_signal_pending(sg_self());
    sg_posix_test_cancel();
    bool at_once = (pending & ~sg_signal_bits(set)) != 0;
    sg_signal_block(sg_signal_bits(set));
    int result = at_once ? (errno = EINTR, -1) : wait_for_handler();
    sg_signal_block(before);
    errno = EINTR;
    return result;
}
