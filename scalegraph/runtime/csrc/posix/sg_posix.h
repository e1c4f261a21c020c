/* Threads as the program knows them: what the files that serve pthreads, C11 threads, semaphores and futexes
 * share. The functions have the C library's own names, so that not only the program but also its libraries
 * (libstdc++ above all) find these instead of the C library's. */
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

/* Of a thread that the program made, and of main. */
typedef struct sg_posix {
    void *(*start)(void *);
    int (*start_c11)(void *);
    void *argument, *result;
    bool detached, ended;
    bool exiting;         /* its stack is being unwound */
    bool cancelled;       /* somebody wants it to end */
    bool cancel_disabled; /* but not now */
    bool waits;           /* at a cancellation point */
    sg_thread *joiner;
    jmp_buf end;   /* in its first frame */
    bool returned; /* from main */
    __pthread_unwind_buf_t *cleanups;
    struct _Unwind_Exception unwinding;
    sg_destructor *destructors;
    void **values; /* by key; NULL: none has been set */
    char name[16];
    /* Signals, a bit for each. */
    uint64_t blocked, awaited;
    struct sg_signal_info *pending;
    struct sg_handling *handling; /* the innermost handler that runs */
} sg_posix;

typedef struct sg_signal_info {
    struct sg_signal_info *next;
    siginfo_t info;
} sg_signal_info;

typedef struct sg_handling {
    struct sg_handling *outer;
    uint64_t before; /* what was blocked */
    uint64_t frame;
} sg_handling;

/* Notes where the program entered the runtime. False: the simulation has not begun or is over, and nobody
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
/* Values of main by key; they exist before the runtime does. */
extern void *sg_main_values[SG_KEYS];

/* ---- sg_pthread.c ---- */

/* Creates a thread that runs one of the two functions. */
int sg_posix_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                    int (*start_c11)(void *), void *argument);
/* Waits for the thread's end until `deadline`; its number is free then. */
int sg_posix_join(pthread_t handle, void **result, uint64_t deadline);
int sg_posix_detach(pthread_t handle);
void sg_posix_exit(void *result) __attribute__((noreturn));
/* Ends the running thread if somebody wants that: at the beginning and the end of a wait. */
void sg_posix_test_cancel(void);
/* sg_suspend_until at which the thread may be cancelled; after it comes sg_posix_test_cancel. */
bool sg_posix_wait(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline);
/* Runs the destructors of the thread_local variables of the running thread. */
void sg_posix_destroy_data(void);
/* Runs main in the frame that pthread_exit ends. */
int sg_posix_main(int (*run)(void));

/* ---- sg_keys.c ---- */

void sg_keys_destroy(sg_posix *posix);
int sg_once(pthread_once_t *control, void (*function)(void), const void *site);

/* ---- sg_mutex.c ---- */

int sg_mutex_lock(pthread_mutex_t *mutex, uint64_t deadline, const void *site);
int sg_mutex_try(pthread_mutex_t *mutex, const void *site);
int sg_mutex_unlock(pthread_mutex_t *mutex, const void *site);
void sg_mutex_abandon_all(const sg_thread *t);
/* Thread 0 gets the mutexes that it locked before the simulation. */
void sg_mutex_begin(void);

/* ---- sg_condition.c ---- */

int sg_condition_wait(pthread_cond_t *variable, pthread_mutex_t *mutex, uint64_t deadline, const void *site);
int sg_condition_wake(pthread_cond_t *variable, bool all, const void *site);

/* ---- sg_waiting.c: queues by address, deadlines ---- */

sg_queue *sg_futex_queue(const void *address);
/* Wakes the first thread of `queue`; the one that is still on its way there finds itself granted. */
bool sg_grant(sg_queue *queue);
/* Waits in `queue`, in which the running thread stands already, until granted. */
bool sg_wait_granted(enum sg_category category, uint64_t object, uint64_t deadline);

/* The clock at a time of the simulated day, or as much later than now. */
uint64_t sg_deadline(const struct timespec *time);
uint64_t sg_deadline_in(const struct timespec *duration);

#define SG_DATE_S 946684800 /* the day: 2000-01-01 00:00:00 UTC, in seconds since the epoch */

/* A handler has ended the wait of the running thread, whose call does not begin anew (`restartable`). */
static inline bool sg_take_broken(sg_thread *t, bool restartable)
{
    bool broken = t->broken && !(restartable && t->restarts);
    t->broken = false;
    return broken;
}

/* What the program does may let others go on that wait for a file. */
static inline void sg_files_notify(void)
{
    if (SG_UNLIKELY(sg->files_changed != NULL))
        sg->files_changed();
}

/* ---- sg_time.c ---- */

int sg_clock_gettime(clockid_t id, struct timespec *time, const void *site);
/* The running thread sleeps until then; false: a handler has ended that. */
bool sg_sleep(uint64_t deadline, const void *site);
static inline bool sg_is_time(const struct timespec *time)
{
    return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

#endif
