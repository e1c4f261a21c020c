/* Threads that wait for files, and reading and writing. The files are the host's; a nonblocking attempt shows
 * whether a call would wait. Every call that can change a file rechecks the waiting threads, in order of
 * simulated time. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "sg_arch.h"
#include "sg_files.h"
#include "sg_signal.h"

enum { MOST = 1 << 16 };

static uint64_t owned[MOST / 64] = {0};

typedef struct waiter {
    struct waiter *next;
    sg_thread *thread;
    struct pollfd *file;
    nfds_t count;
} waiter;

static waiter *waiters = NULL; /* in order of arrival */

long sg_files_result(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* ---- simulated descriptors ---- */

bool sg_files_owns(int file)
{
    return file >= 0 && file < MOST && (owned[file / 64] >> file % 64 & 1) != 0;
}

int sg_files_own(int file)
{
    if (file >= 0 && file < MOST && sg != NULL && !sg->alone && sg_self() != NULL)
        owned[file / 64] |= 1ull << file % 64;
    return file;
}

void sg_files_disown(int file)
{
    if (file >= 0 && file < MOST)
        owned[file / 64] &= ~(1ull << file % 64);
}

bool sg_files_simulate(int file, const void *site)
{
    return sg_files_owns(file) && sg != NULL && !sg->finished && sg_enter(site);
}

/* ---- waiting ---- */

int sg_files_ready(struct pollfd *file, nfds_t count)
{
    const struct timespec now = {0, 0};
    const long a[6] = {(long)file, (long)count, (long)&now, 0, 8, 0};
    long found = sg_arch_syscall6(SYS_ppoll, a);
    return (int)found;
}

static void wake(const waiter *w)
{
    if (w->thread->state == SG_BLOCKED || w->thread->interrupted)
        sg_wake(w->thread, sg_now->clock);
}

/* If several threads wait for the same single file, waking one is enough: what it leaves is checked again. */
static bool is_served(const waiter *end, const waiter *w)
{
    for (const waiter *other = waiters; other != end; other = other->next)
        if (w->count == 1 && other->count == 1 && other->file[0].fd == w->file[0].fd &&
            other->file[0].events == w->file[0].events && other->file[0].revents != 0)
            return true;
    return false;
}

static void look(void)
{
    sg_files_tick();
    for (waiter *w = waiters; w != NULL; w = w->next)
        if (w->count == 0 || (!is_served(w, w) && sg_files_ready(w->file, w->count) != 0))
            wake(w);
}

/* No thread can run: waits for files that can change from outside, and a moment for data still in the host's
 * network. */
static bool wait_outside(void)
{
    enum { MOMENT_MS = 200 };
    struct pollfd all[256];
    nfds_t count = 0;
    bool outside = false, sockets = false;
    for (waiter *w = waiters; w != NULL; w = w->next)
        for (nfds_t i = 0; i < w->count && count < 256; i++) {
            struct stat status;
            all[count++] = (struct pollfd){w->file[i].fd, w->file[i].events, 0};
            outside |= !sg_files_owns(w->file[i].fd);
            sockets |= fstat(w->file[i].fd, &status) == 0 && (status.st_mode & S_IFMT) != S_IFIFO;
        }
    if (!outside && !sockets)
        return false;
    const struct timespec moment = {0, MOMENT_MS * 1000000};
    const long a[6] = {(long)all, (long)count, outside ? 0 : (long)&moment, 0, 8, 0};
    if (sg_arch_syscall6(SYS_ppoll, a) <= 0)
        return outside;
    look();
    return true;
}

int sg_files_wait(sg_file_wait wait)
{
    sg_thread *t = sg_self();
    const char *call = t->call;
    struct pollfd few[16], *copy = few;
    sg_settle();
    if (wait.count > 16)
        copy = sg_new(wait.count * sizeof *copy); /* the original may be another rank's static data */
    for (nfds_t i = 0; i < wait.count; i++)
        copy[i] = (struct pollfd){wait.file[i].fd, wait.file[i].events, 0};
    waiter w = {NULL, t, copy, wait.count}, **last = &waiters;
    while (*last != NULL)
        last = &(*last)->next;
    *last = &w;
    sg->files_changed = look;
    sg->wait_for_files = wait_outside;
    uint64_t timer = sg_files_next();
    t->call = wait.call;
    t->breaks = SG_BREAKS;
    sg_posix_wait(SG_CATEGORY_IDLE_WAIT, 0, -1, timer < wait.deadline ? timer : wait.deadline);
    t->breaks = SG_GOES_ON;
    t->call = call;
    for (last = &waiters; *last != &w;)
        last = &(*last)->next;
    *last = w.next;
    sg_posix_test_cancel();
    sg_files_tick();
    return sg_take_broken(t, wait.restarts) ? EINTR : 0;
}

/* ---- calls ---- */

void sg_files_begin(void)
{
    sg_posix_test_cancel();
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_LOCK, sg->config.lock_cycles + 1);
    sg_turn_of_all(sg_now);
    sg_files_tick();
}

void sg_files_happen(void)
{
    if (waiters != NULL)
        look();
}

long sg_files_attempt(int file, bool *waits, long number, const long a[6])
{
    long flags = sg_arch_syscall(SYS_fcntl, file, F_GETFL, 0, 0);
    *waits = flags >= 0 && (flags & O_NONBLOCK) == 0;
    if (*waits)
        sg_arch_syscall(SYS_fcntl, file, F_SETFL, flags | O_NONBLOCK, 0);
    long result = sg_arch_syscall6(number, a);
    if (*waits)
        sg_arch_syscall(SYS_fcntl, file, F_SETFL, flags, 0);
    return result;
}

/* May a write without a reader raise a signal? */
static bool may_raise(long number, const long a[6])
{
    long flags = number == SYS_sendto ? a[3] : number == SYS_sendmsg ? a[2] : 0;
    return (flags & MSG_NOSIGNAL) == 0;
}

long sg_files_perform(const char *call, int file, short event, uint64_t deadline, long number,
                      const long a[6])
{
    struct pollfd one = {file, event, 0};
    for (;;) {
        bool waits;
        long result = sg_files_attempt(file, &waits, number, a);
        if (result == -EPIPE && may_raise(number, a))
            sg_signal_raise(SIGPIPE);
        if (result != -EAGAIN || !waits || sg_now->clock >= deadline) {
            sg_files_happen();
            return result;
        }
        if (sg_files_wait((sg_file_wait){call, &one, 1, deadline, true}) != 0)
            return -EINTR;
    }
}

/* ---- reading ---- */

static long simulated_read(int file, void *to, size_t size, const void *site)
{
    const long a[6] = {file, (long)to, (long)size, 0, 0, 0};
    sg_files_begin();
    long got = sg_files_read_signal(file, to, size);
    struct pollfd one = {file, POLLIN, 0};
    while (got == -EAGAIN && (sg_arch_syscall(SYS_fcntl, file, F_GETFL, 0, 0) & O_NONBLOCK) == 0) {
        if (sg_files_wait((sg_file_wait){"read", &one, 1, SG_NEVER, true}) != 0)
            return -EINTR;
        got = sg_files_read_signal(file, to, size);
    }
    if (got == 0)
        got = sg_files_perform("read", file, POLLIN, SG_NEVER, SYS_read, a);
    if (got > 0)
        sg_reference_range(to, (size_t)got, SG_WRITE, site);
    return got;
}

ssize_t sg_files_read(int file, void *to, size_t size, const void *site)
{
    if (sg_files_simulate(file, site))
        return sg_files_result(simulated_read(file, to, size, site));
    return sg_files_result(sg_arch_syscall(SYS_read, file, (long)to, (long)size, 0));
}

SG_API ssize_t read(int file, void *to, size_t size)
{
    return sg_files_read(file, to, size, SG_CALLER);
}

ssize_t __read_chk(int file, void *to, size_t size, size_t room);
SG_API ssize_t __read_chk(int file, void *to, size_t size, size_t room)
{
    return sg_files_read(file, to, size < room ? size : room, SG_CALLER);
}

SG_API ssize_t readv(int file, const struct iovec *part, int count)
{
    const long a[6] = {file, (long)part, count, 0, 0, 0};
    if (!sg_files_simulate(file, SG_CALLER))
        return sg_files_result(sg_arch_syscall6(SYS_readv, a));
    sg_files_begin();
    return sg_files_result(sg_files_perform("readv", file, POLLIN, SG_NEVER, SYS_readv, a));
}

/* ---- writing: all of it, as the waiting file accepts it ---- */

static long simulated_write(int file, const char *from, size_t size, const void *site)
{
    size_t done = 0;
    sg_files_begin();
    sg_reference_range(from, size, SG_READ, site);
    do {
        const long a[6] = {file, (long)(from + done), (long)(size - done), 0, 0, 0};
        long put = sg_files_perform("write", file, POLLOUT, SG_NEVER, SYS_write, a);
        if (put < 0)
            return done > 0 ? (long)done : put;
        done += (size_t)put;
    } while (done < size && (sg_arch_syscall(SYS_fcntl, file, F_GETFL, 0, 0) & O_NONBLOCK) == 0);
    return (long)done;
}

ssize_t sg_files_write(int file, const void *from, size_t size, const void *site)
{
    if (sg_files_simulate(file, site))
        return sg_files_result(simulated_write(file, from, size, site));
    return sg_files_result(sg_arch_syscall(SYS_write, file, (long)from, (long)size, 0));
}

SG_API ssize_t write(int file, const void *from, size_t size)
{
    return sg_files_write(file, from, size, SG_CALLER);
}

SG_API ssize_t writev(int file, const struct iovec *part, int count)
{
    const long a[6] = {file, (long)part, count, 0, 0, 0};
    const void *site = SG_CALLER;
    if (!sg_files_simulate(file, site))
        return sg_files_result(sg_arch_syscall6(SYS_writev, a));
    sg_files_begin();
    long put = sg_files_perform("writev", file, POLLOUT, SG_NEVER, SYS_writev, a), done = 0;
    for (int i = 0; i < count && put >= 0; i++) { /* the rest goes in pieces */
        long end = done + (long)part[i].iov_len;
        if (put < end) {
            long gone = put > done ? put - done : 0;
            const char *from = (const char *)part[i].iov_base + gone;
            long more = simulated_write(file, from, (size_t)(end - done - gone), site);
            put = more < 0 ? put : put + more;
        }
        done = end;
    }
    return sg_files_result(put);
}

/* ---- creating and closing descriptors ---- */

SG_API int close(int file)
{
    bool ours = sg_files_owns(file);
    if (ours && sg != NULL && !sg->finished && sg_enter(SG_CALLER))
        sg_files_begin();
    long result = sg_arch_syscall(SYS_close, file, 0, 0, 0);
    if (ours) {
        sg_files_disown(file);
        sg_files_forget(file);
        if (sg_self() != NULL)
            sg_files_happen();
    }
    return (int)sg_files_result(result);
}

static int both(const int files[2], long result)
{
    if (result == 0) {
        sg_files_own(files[0]);
        sg_files_own(files[1]);
    }
    return (int)sg_files_result(result);
}

SG_API int pipe(int files[2])
{
    return both(files, sg_arch_syscall(SYS_pipe2, (long)files, 0, 0, 0));
}

SG_API int pipe2(int files[2], int flags)
{
    return both(files, sg_arch_syscall(SYS_pipe2, (long)files, flags, 0, 0));
}

SG_API int socketpair(int domain, int type, int protocol, int files[2])
{
    return both(files, sg_arch_syscall(SYS_socketpair, domain, type, protocol, (long)files));
}

static int copied(int from, long to)
{
    if (to >= 0 && sg_files_owns(from))
        sg_files_own((int)to);
    return (int)sg_files_result(to);
}

SG_API int dup(int file)
{
    return copied(file, sg_arch_syscall(SYS_dup, file, 0, 0, 0));
}

SG_API int dup3(int from, int to, int flags)
{
    if (from != to && sg_files_owns(to))
        close(to);
    return copied(from, sg_arch_syscall(SYS_dup3, from, to, flags, 0));
}

SG_API int dup2(int from, int to)
{
    if (from == to)
        return (int)sg_files_result(sg_arch_syscall(SYS_fcntl, from, F_GETFD, 0, 0) < 0 ? -EBADF : to);
    return dup3(from, to, 0);
}
