"""Building blocks for the acts of random thread programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.runtime.random_parts import Parts

PRELUDE = """\
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

"""

HELPERS = """\
static word faults;

static _Thread_local volatile int handled;

static void on_signal(int number)
{
    handled += number == SIGUSR1;
}

static void add(word *sum, word x)
{
    __atomic_fetch_add(sum, x, __ATOMIC_RELAXED);
}

static void check(int holds)
{
    if (!holds)
        add(&faults, 1);
}

static struct timespec after_us(long us)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    us += time.tv_nsec / 1000;
    return (struct timespec){time.tv_sec + us / 1000000, us % 1000000 * 1000};
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void count(void *sum)
{
    add(sum, 1);
}

static void make_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_setprotocol(&attributes, protocol ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
    check(pthread_mutex_init(mutex, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
}

/* Waits now and then only for a while. */
static void await(pthread_cond_t *condition, pthread_mutex_t *mutex, int us)
{
    struct timespec time = after_us(us);
    int error = us == 0 ? pthread_cond_wait(condition, mutex) : pthread_cond_timedwait(condition, mutex, &time);
    check(error == 0 || (us != 0 && error == ETIMEDOUT));
}

/* Whoever only tries may find it taken whenever he comes: he tries some times. */
enum { TRIES = 20 };

#define INSIST(tried, insist) \\
    for (int tries = 0;; sched_yield()) \\
        if (tries++ == TRIES) { \\
            check((insist) == 0); \\
            break; \\
        } else if ((tried) == 0) { \\
            break; \\
        }

static int take_until(sem_t *semaphore, int us)
{
    struct timespec time = after_us(us);
    int error = us == 0 ? sem_wait(semaphore) : us < 0 ? sem_trywait(semaphore) : sem_timedwait(semaphore, &time);
    check(error == 0 || errno == (us < 0 ? EAGAIN : ETIMEDOUT));
    return error;
}

static void take(sem_t *semaphore, int us)
{
    INSIST(take_until(semaphore, us), sem_wait(semaphore))
}

static int lock_until(pthread_mutex_t *mutex, int us)
{
    struct timespec time = after_us(us);
    int error = us == 0 ? pthread_mutex_trylock(mutex) : pthread_mutex_timedlock(mutex, &time);
    check(error == 0 || error == (us == 0 ? EBUSY : ETIMEDOUT));
    return error;
}

static int read_until(pthread_rwlock_t *lock, int us)
{
    struct timespec time = after_us(us);
    int error = us == 0 ? pthread_rwlock_tryrdlock(lock) : pthread_rwlock_timedrdlock(lock, &time);
    check(error == 0 || error == (us == 0 ? EBUSY : ETIMEDOUT));
    return error;
}

static int write_until(pthread_rwlock_t *lock, int us)
{
    struct timespec time = after_us(us);
    int error = us == 0 ? pthread_rwlock_trywrlock(lock) : pthread_rwlock_timedwrlock(lock, &time);
    check(error == 0 || error == (us == 0 ? EBUSY : ETIMEDOUT));
    return error;
}

static void futex_lock(int *at)
{
    int value = 0;
    if (__atomic_compare_exchange_n(at, &value, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(at, 2, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void futex_unlock(int *at)
{
    if (__atomic_exchange_n(at, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
"""


@dataclass
class Act:
    """The code that an act adds to the program."""

    data: list[str] = field(default_factory=list)  # static variables and functions
    begin: list[str] = field(default_factory=list)  # before the threads are created
    body: list[str] = field(default_factory=list)  # code of thread number `me`
    end: list[str] = field(default_factory=list)  # after they have ended


class ActParts(Parts):
    """Writes the small parts of acts, for a program of `threads` threads."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = seed
        self.threads = self.number(2, 9)
        self.acts = 0

    def busy(self, seed: str, most: int = 40) -> str:
        return f"work({seed}, {self.number(1, most)})"

    def pause(self) -> str:
        """Return something between two steps that takes a different time for each thread."""
        return self.pick(
            "",
            f"add(&faults, work((word)me, me * {self.number(1, 9)}) == 1);",
            "sched_yield();",
            f"if (me == {self.number(0, self.threads - 1)}) usleep({self.number(1, 80)});",
        )

    def us(self) -> str:
        """Return the longest time to wait; 0: for ever."""
        return self.pick("0", "0", f"me % 2 == 0 ? {self.number(1, 60)} : 0", str(self.number(1, 200)))

    def rounds(self, head: str, *body: str, most: int = 12) -> list[str]:
        return [f"for (int r = 0; r < {self.number(1, most)}; r++)", "{", *([head] if head else []), *body, "}"]

    def lock(self, mutex: str) -> str:
        """Return code that takes the mutex in a random way."""
        plain = f"check(pthread_mutex_lock(&{mutex}) == 0);"
        us = self.pick("0", str(self.number(1, 50)))
        return self.pick(plain, f"INSIST(lock_until(&{mutex}, {us}), pthread_mutex_lock(&{mutex}))")

    def make(self, mutex: str, kind: str = "") -> str:
        kind = kind or self.pick("NORMAL", "ERRORCHECK", "RECURSIVE", "ADAPTIVE_NP")
        robust, inherit = (self.pick("0", "0", "1"), self.pick("0", "0", "1"))
        return f"make_mutex(&{mutex}, PTHREAD_MUTEX_{kind}, {robust if kind != 'ADAPTIVE_NP' else 0}, {inherit});"

    def show(self, name: str) -> str:
        return f'printf("{name} %lx\\n", {name});'

    def create(self, function: str, children: int) -> list[str]:
        """Return code that creates children running `function`; its argument is the number of the child."""
        return [
            f"pthread_t child[{children}];",
            f"for (long k = 0; k < {children}; k++)",
            f"check(pthread_create(&child[k], NULL, {function}, (void *)k) == 0);",
        ]

    def spawn(self, function: str, children: int) -> list[str]:
        """Return code that creates and joins children running `function`."""
        return [
            *self.create(function, children),
            f"for (int k = 0; k < {children}; k++)",
            "check(pthread_join(child[k], NULL) == 0);",
        ]

    def how(self) -> str:
        return self.pick("0", "0", str(self.number(1, 80)), "-1", f"me % 2 == 0 ? {self.number(1, 80)} : 0")
