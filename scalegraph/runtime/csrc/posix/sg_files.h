/* Files through which threads and ranks talk: pipes, sockets, eventfd, timerfd, signalfd, epoll. A call that
 * would wait for one gives the processor to other threads, in simulated time. */
#ifndef SG_FILES_H
#define SG_FILES_H

#include <poll.h>

#include "sg_posix.h"

/* What a call waits for: one of `count` files at `file`, or, without any, that something happens to some
 * file. */
typedef struct sg_file_wait {
    const char *call;
    struct pollfd *file;
    nfds_t count;
    uint64_t deadline;
    bool restarts; /* a handler with SA_RESTART does not end it */
} sg_file_wait;

/* ---- sg_files.c ---- */

/* Is the descriptor one through which simulated threads talk, and does one of them call before `site`? */
bool sg_files_simulate(int file, const void *site);
/* From now on it is, or no longer. Returns it; an error stays one. */
int sg_files_own(int file);
void sg_files_disown(int file);
bool sg_files_owns(int file);
/* The running thread's call is in the order of simulated time, and costs something. */
void sg_files_begin(void);
/* The program has done something that may let others go on. */
void sg_files_happen(void);
/* Waits; 0, or EINTR. At the deadline it returns, too. */
int sg_files_wait(sg_file_wait wait);
/* How many of the files are ready now. */
int sg_files_ready(struct pollfd *file, nfds_t count);
/* The system call `number` on `file`, which does not wait; an error is negative. */
long sg_files_attempt(int file, bool *waits, long number, const long a[6]);
/* The same, which waits for `event` as the program wants it; `deadline` may be SG_NEVER. */
long sg_files_perform(const char *call, int file, short event, uint64_t deadline, long number,
                      const long a[6]);
/* Sets errno: -1. */
long sg_files_result(long result);
/* read and write, called before `site`. */
ssize_t sg_files_read(int file, void *to, size_t size, const void *site);
ssize_t sg_files_write(int file, const void *from, size_t size, const void *site);

/* ---- sg_files_clock.c: timerfd and signalfd ---- */

/* What is due by now has happened. */
void sg_files_tick(void);
/* The clock at which the next timer is due. */
uint64_t sg_files_next(void);
/* The descriptor is closed. */
void sg_files_forget(int file);
/* Reads from a signalfd into `to`; -EAGAIN: there is no signal; 0: `file` is none. */
long sg_files_read_signal(int file, void *to, size_t size);

#endif
