/* Files through which threads and ranks communicate: pipes, sockets, eventfd, timerfd, signalfd, epoll. A
 * call that would wait for one yields the processor to other threads, in simulated time. */
#ifndef SG_FILES_H
#define SG_FILES_H

#include <poll.h>

#include "sg_posix.h"

/* What a call waits for: one of the `count` files at `file`, or if there are none, an event on any file. */
typedef struct sg_file_wait {
    const char *call;
    struct pollfd *file;
    nfds_t count;
    uint64_t deadline;
    bool restarts; /* a handler with SA_RESTART does not end the wait */
} sg_file_wait;

/* ---- sg_files.c ---- */

/* Do simulated threads communicate through this descriptor, and did one of them call before `site`? */
bool sg_files_simulate(int file, const void *site);
/* Mark a descriptor as simulated, or no longer. sg_files_own returns it, also if it is an error. */
int sg_files_own(int file);
void sg_files_disown(int file);
bool sg_files_owns(int file);
/* Puts the running thread's call into the order of simulated time, and charges it. */
void sg_files_begin(void);
/* The program has done something that may let waiting threads go on. */
void sg_files_happen(void);
/* Waits; returns 0, also at the deadline, or EINTR. */
int sg_files_wait(sg_file_wait wait);
/* Number of files that are ready now. */
int sg_files_ready(struct pollfd *file, nfds_t count);
/* Makes the system call `number` on `file` without waiting; errors are negative. */
long sg_files_attempt(int file, bool *waits, long number, const long a[6]);
/* The same, but waits for `event` if the descriptor is blocking; `deadline` may be SG_NEVER. */
long sg_files_perform(const char *call, int file, short event, uint64_t deadline, long number,
                      const long a[6]);
/* Turns a negative error into errno and -1. */
long sg_files_result(long result);
/* read and write, called before `site`. */
ssize_t sg_files_read(int file, void *to, size_t size, const void *site);
ssize_t sg_files_write(int file, const void *from, size_t size, const void *site);

/* ---- sg_files_clock.c: timerfd and signalfd ---- */

/* Performs everything that is due by now. */
void sg_files_tick(void);
/* Clock at which the next timer is due. */
uint64_t sg_files_next(void);
/* The descriptor has been closed. */
void sg_files_forget(int file);
/* Reads from a signalfd into `to`; -EAGAIN: no signal; 0: `file` is not a signalfd. */
long sg_files_read_signal(int file, void *to, size_t size);

#endif
