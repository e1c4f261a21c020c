/* timerfd and signalfd. Each is an eventfd of the host that is made ready when a timer is due in simulated
 * time, or a signal is pending. */
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "sg_arch.h"
#include "sg_files.h"
#include "sg_signal.h"

typedef struct special {
    struct special *next;
    int file;
    bool is_timer;
    uint64_t due, interval; /* clocks; SG_NEVER: not set */
    uint64_t signals;       /* bit set */
    const sg_rank *rank;
    bool is_ready; /* signals are pending */
} special;

static special *specials = NULL;

static special *find(int file, bool is_timer)
{
    special *s = specials;
    while (s != NULL && (s->file != file || s->is_timer != is_timer))
        s = s->next;
    return s;
}

static void add(int file, uint64_t number)
{
    sg_arch_syscall(SYS_write, file, (long)&number, sizeof number, 0);
}

/* Empties the eventfd. */
static void drain(int file)
{
    uint64_t number;
    bool waits;
    const long a[6] = {file, (long)&number, sizeof number, 0, 0, 0};
    sg_files_attempt(file, &waits, SYS_read, a);
}

static special *make(int file, bool is_timer)
{
    special *s = sg_new(sizeof *s);
    *s = (special){.next = specials, .file = file, .is_timer = is_timer, .due = SG_NEVER};
    specials = s;
    return s;
}

static int make_event(int flags)
{
    return sg_files_own((int)sg_files_result(sg_arch_syscall(SYS_eventfd2, 0, flags, 0, 0)));
}

void sg_files_forget(int file)
{
    for (special **at = &specials; *at != NULL;)
        if ((*at)->file == file)
            *at = (*at)->next;
        else
            at = &(*at)->next;
}

void sg_files_tick(void)
{
    for (special *s = specials; s != NULL; s = s->next) {
        if (s->is_timer && s->due <= sg_now->clock) {
            uint64_t count = s->interval > 0 ? (sg_now->clock - s->due) / s->interval + 1 : 1;
            add(s->file, count);
            s->due = s->interval > 0 ? s->due + count * s->interval : SG_NEVER;
        }
        bool ready = !s->is_timer && (sg_signals_of(s->rank) & s->signals) != 0;
        if (ready && !s->is_ready)
            add(s->file, 1);
        else if (!s->is_timer && !ready && s->is_ready)
            drain(s->file);
        s->is_ready = ready;
    }
}

uint64_t sg_files_next(void)
{
    uint64_t first = SG_NEVER;
    for (const special *s = specials; s != NULL; s = s->next)
        first = s->is_timer && s->due < first ? s->due : first;
    return first;
}

/* ---- timerfd ---- */

SG_API int timerfd_create(int clock, int flags)
{
    int file;
    if (sg == NULL || sg->alone || sg_self() == NULL)
        return (int)sg_files_result(sg_arch_syscall(SYS_timerfd_create, clock, flags, 0, 0));
    file = make_event((flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0) | (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0));
    if (file >= 0)
        make(file, true);
    return file;
}

static struct timespec duration_of(uint64_t cycles)
{
    double ns = (double)cycles / sg->config.clock_hz * 1e9;
    return (struct timespec){(time_t)(ns / 1e9), (long)((uint64_t)ns % 1000000000u)};
}

static void tell(const special *s, struct itimerspec *time)
{
    uint64_t now = sg_now->clock;
    time->it_interval = duration_of(s->interval);
    time->it_value = duration_of(s->due == SG_NEVER ? 0 : s->due > now ? s->due - now : 1);
}

static uint64_t length_of(const struct timespec *time)
{
    return time->tv_sec == 0 && time->tv_nsec == 0 ? 0 : sg_deadline_in(time) - sg_now->clock;
}

SG_API int timerfd_settime(int file, int flags, const struct itimerspec *time, struct itimerspec *before)
{
    special *s = find(file, true);
    if (s == NULL || !sg_enter(SG_CALLER))
        return (int)sg_files_result(
            sg_arch_syscall(SYS_timerfd_settime, file, flags, (long)time, (long)before));
    if (!sg_is_time(&time->it_value) || !sg_is_time(&time->it_interval))
        return errno = EINVAL, -1;
    sg_files_begin();
    if (before != NULL)
        tell(s, before);
    drain(file);
    bool stops = time->it_value.tv_sec == 0 && time->it_value.tv_nsec == 0;
    s->due = stops                       ? SG_NEVER
             : flags & TFD_TIMER_ABSTIME ? sg_deadline(&time->it_value)
                                         : sg_deadline_in(&time->it_value);
    s->interval = length_of(&time->it_interval);
    sg_files_happen();
    return 0;
}

SG_API int timerfd_gettime(int file, struct itimerspec *time)
{
    const special *s = find(file, true);
    if (s == NULL || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall(SYS_timerfd_gettime, file, (long)time, 0, 0));
    sg_files_begin();
    tell(s, time);
    return 0;
}

/* ---- signalfd ---- */

SG_API int signalfd(int file, const sigset_t *set, int flags)
{
    if (sg == NULL || sg->alone || !sg_enter(SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall(SYS_signalfd4, file, (long)set, 8, flags));
    special *s = find(file, false);
    if (file >= 0 && s == NULL)
        return errno = EINVAL, -1;
    if (file < 0) {
        file =
            make_event((flags & SFD_NONBLOCK ? EFD_NONBLOCK : 0) | (flags & SFD_CLOEXEC ? EFD_CLOEXEC : 0));
        if (file < 0)
            return -1;
        s = make(file, false);
    }
    s->signals = sg_signal_bits(set);
    s->rank = sg->rank;
    sg_files_tick();
    return file;
}

long sg_files_read_signal(int file, void *to, size_t size)
{
    special *s = find(file, false);
    struct signalfd_siginfo *out = to;
    size_t count = 0;
    siginfo_t info;
    if (s == NULL)
        return 0;
    if (size < sizeof *out)
        return -EINVAL;
    for (; (count + 1) * sizeof *out <= size && sg_signal_take(s->signals, &info); count++)
        out[count] = (struct signalfd_siginfo){
            .ssi_signo = (uint32_t)info.si_signo,
            .ssi_code = info.si_code,
            .ssi_pid = (uint32_t)info.si_pid,
            .ssi_uid = info.si_uid,
            .ssi_int = info.si_value.sival_int,
            .ssi_ptr = (uint64_t)(uintptr_t)info.si_value.sival_ptr,
        };
    sg_files_tick();
    return count == 0 ? -EAGAIN : (long)(count * sizeof *out);
}

/* ---- eventfd: the C library's own functions would block without us noticing ---- */

SG_API int eventfd(unsigned value, int flags)
{
    return sg_files_own((int)sg_files_result(sg_arch_syscall(SYS_eventfd2, value, flags, 0, 0)));
}

SG_API int eventfd_read(int file, eventfd_t *value)
{
    return read(file, value, sizeof *value) == sizeof *value ? 0 : -1;
}

SG_API int eventfd_write(int file, eventfd_t value)
{
    return write(file, &value, sizeof value) == sizeof value ? 0 : -1;
}
