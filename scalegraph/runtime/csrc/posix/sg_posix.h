/* Threads as the program sees them: declarations shared by the implementations of pthreads, C11 threads,
 * semaphores and futexes. The functions have the C library's own names, so that the program's libraries
 * (above all libstdc++) use these too. */
#ifndef SG_POSIX_H
#define SG_POSIX_H

#include <limits.h>
#include <setjmp.h>
#include <time.h>
#include <unwind.h>

#include "sg_runtime.h"

#define SG_KEYS PTHREAD_KEYS_MAX

/* A destructor of a thread_local variable. */
typedef struct sg_destructor {
    struct sg_destructor *next;
    void (*function)(void *);
    void *object;
} sg_destructor;

/* State of main or of a thread that the program created. */
typedef struct sg_posix {
    void *(*start)(void *);
    int (*start_c11)(void *);
    void *argument, *result;
    bool detached, ended;
    bool exiting;         /* its stack is being unwound */
    bool cancelled;       /* its cancellation was requested */
    bool cancel_disabled; /* but is disabled for now */
    bool waits;           /* at a cancellation point */
    sg_thread *joiner;
    jmp_buf end;   /* in its first frame */
    bool returned; /* from main */
    __pthread_unwind_buf_t *cleanups;
    struct _Unwind_Exception unwinding;
    sg_destructor *destructors;
    void **values; /* by key; NULL: none set */
    char name[16];
    /* Signals, as bit sets. */
    uint64_t blocked, awaited;
    struct sg_signal_info *pending;
    struct sg_handling *handling; /* the innermost handler running */
} sg_posix;

typedef struct sg_signal_info {
    struct sg_signal_info *next;
    siginfo_t info;
} sg_signal_info;

typedef struct sg_handling {
    struct sg_handling *outer;
    uint64_t before; /* the signals blocked before */
    uint64_t frame;
} sg_handling;

/* Records where the program entered the runtime. False: the simulation has not begun or is over, so nobody
 * else runs. */
static inline bool sg_enter(const void *site)
{
    sg_processor *p = sg_now;
    if (SG_UNLIKELY(p->coroutine == NULL))
        return false;
    p->site = site;
    return true;
}

static inline int32_t sg_self_id(void)
{
    return (int32_t)sg_self()->id;
}

/* ---- sg_posix.c ---- */

sg_posix *sg_posix_of(sg_thread *t);
void sg_posix_open(void);
/* Main's values by key; they exist before the runtime does. */
extern void *sg_main_values[SG_KEYS];

/* ---- sg_pthread.c ---- */

/* Creates a thread that runs one of the two functions. */
int sg_posix_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                    int (*start_c11)(void *), void *argument);
/* Waits for the thread's end until `deadline`; then its number can be reused. */
int sg_posix_join(pthread_t handle, void **result, uint64_t deadline);
int sg_posix_detach(pthread_t handle);
void sg_posix_exit(void *result) __attribute__((noreturn));
/* Ends the running thread if it has been cancelled; call before and after a wait. */
void sg_posix_test_cancel(void);
/* sg_suspend_until as a cancellation point; call sg_posix_test_cancel afterwards. */
bool sg_posix_wait(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline);
/* Runs the destructors of the running thread's thread_local variables. */
void sg_posix_destroy_data(void);
/* Runs main in a frame that pthread_exit can return to. */
int sg_posix_main(int (*run)(void));

/* ---- sg_keys.c ---- */

void sg_keys_destroy(sg_posix *posix);
int sg_once(pthread_once_t *control, void (*function)(void), const void *site);

/* ---- sg_mutex.c ---- */

int sg_mutex_lock(pthread_mutex_t *mutex, uint64_t deadline, const void *site);
int sg_mutex_try(pthread_mutex_t *mutex, const void *site);
int sg_mutex_unlock(pthread_mutex_t *mutex, const void *site);
void sg_mutex_abandon_all(const sg_thread *t);
/* Gives thread 0 the mutexes it locked before the simulation. */
void sg_mutex_begin(void);

/* ---- sg_condition.c ---- */

int sg_condition_wait(pthread_cond_t *variable, pthread_mutex_t *mutex, uint64_t deadline, const void *site);
int sg_condition_wake(pthread_cond_t *variable, bool all, const void *site);

/* ---- sg_waiting.c: queues by address, deadlines ---- */

sg_queue *sg_futex_queue(const void *address);
/* Wakes the first thread of `queue`; one that has not gone to sleep yet finds itself granted. */
bool sg_grant(sg_queue *queue);
/* Waits until granted; the running thread is already in `queue`. */
bool sg_wait_granted(enum sg_category category, uint64_t object, uint64_t deadline);

/* Clock of a time of the simulated day, or of a time relative to now. */
uint64_t sg_deadline(const struct timespec *time);
uint64_t sg_deadline_in(const struct timespec *duration);

#define SG_DATE_S 946684800 /* the day: 2000-01-01 00:00:00 UTC, in seconds since the epoch */

/* Has a handler ended the running thread's wait, without a restart of the call (if `restartable`)? */
static inline bool sg_take_broken(sg_thread *t, bool restartable)
{
    bool broken = t->broken && !(restartable && t->restarts);
    t->broken = false;
    return broken;
}

/* Call when the program's action may let threads waiting for files go on. */
static inline void sg_files_notify(void)
{
    if (SG_UNLIKELY(sg->files_changed != NULL))
        sg->files_changed();
}

/* ---- sg_process.c, sg_map.c: system calls ---- */

/* The program sends a signal or maps memory; arguments as for the system call; errors are negative. */
long sg_signal_call(long process, long number);
long sg_map_call(const long a[6]);
long sg_remap_call(const long a[6]);
long sg_attach_call(const long a[6]);

/* ---- sg_time.c ---- */

int sg_clock_gettime(clockid_t id, struct timespec *time, const void *site);
/* Suspends the running thread until then; false: interrupted by a handler. */
bool sg_sleep(uint64_t deadline, const void *site);
static inline bool sg_is_time(const struct timespec *time)
{
    return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

#endif
