"""Random small thread programs with deterministic results, whatever the processors and the order of events.

A program is a sequence of acts that all its threads run through in the same order without meeting in between, so that
several acts are in progress at a time. Each act has its own mutexes, semaphores and so on. It changes shared data by
sums protected by what is tested, and checks invariants in between. No act can block for ever: several locks are taken
in a fixed order, and every wait is for something that a thread gives before it waits itself. The same seed gives the
same program in every version of Python.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.runtime.random_parts import WORK, joined
from tests.runtime.thread_files import Files
from tests.runtime.thread_parts import HELPERS, PRELUDE, Act


class Generator(Files):
    """Writes one program."""

    def program(self) -> str:
        """Return the C function `program_SEED` and what it needs."""
        kinds: list[Callable[[str], Act]] = [
            self.mutex,
            self.recursive,
            self.errorcheck,
            self.ordered,
            self.spin,
            self.readers,
            self.buffer,
            self.ring,
            self.places,
            self.in_vain,
            self.semaphores,
            self.pool,
            self.barrier,
            self.crowd,
            self.once,
            self.keys,
            self.children,
            self.detached,
            self.cancelled,
            self.robust,
            self.futex,
            self.spinning,
            self.sleep,
            self.c11,
            self.stream,
            self.tokens,
            self.events,
            self.pushed,
            self.raised,
        ]
        acts = []
        for _ in range(self.number(2, 5)):
            self.acts += 1
            acts.append(self.random.choice(kinds)(f"_{self.seed}_{self.acts}"))
        lines = [line for act in acts for line in act.data]
        lines += [f"static void *run_{self.seed}(void *argument)", "{", "int me = (int)(long)argument;", "(void)me;"]
        for act in acts:
            lines += ["{", *act.body, "}"]
        lines += ["return NULL;", "}", f"static void program_{self.seed}(void)", "{", f"pthread_t t[{self.threads}];"]
        lines += [line for act in acts for line in act.begin]
        lines += [f"for (long i = 0; i < {self.threads}; i++)"]
        lines += [f"check(pthread_create(&t[i], NULL, run_{self.seed}, (void *)i) == 0);"]
        lines += [f"for (int i = 0; i < {self.threads}; i++)", "check(pthread_join(t[i], NULL) == 0);"]
        lines += [line for act in acts for line in act.end]
        return "\n".join([*lines, 'printf("faults %lu\\n", faults);', "}"]) + "\n"

    # ---- threads come and go ----

    def keys(self, n: str) -> Act:
        data = [
            f"static pthread_key_t k{n}[2];",
            f"static word v{n};",
            f"static void gone{n}(void *value)",
            "{",
            f"add(&v{n}, (word)value);",
            self.pick("", "sched_yield();"),
            "if ((word)value > 1000)",
            f"pthread_setspecific(k{n}[0], (void *)((word)value - 1000));",
            "}",
            f"static void *child{n}(void *number)",
            "{",
            "word own = (word)number + 1;",
            f"pthread_setspecific(k{n}[0], (void *)(own + 2000));",
            f"pthread_setspecific(k{n}[1], (void *)own);",
            "sched_yield();",
            f"check(pthread_getspecific(k{n}[1]) == (void *)own);",
            self.pick("return NULL;", "pthread_exit(NULL);"),
            "}",
        ]
        begin = [f"check(pthread_key_create(&k{n}[{i}], gone{n}) == 0);" for i in range(2)]
        body = [self.pause(), *self.spawn(f"child{n}", self.number(1, 3))]
        return Act(data, begin, body, [self.show(f"v{n}")])

    def children(self, n: str) -> Act:
        join = self.pick(
            "check(pthread_join(child[k], &result) == 0);",
            "while (pthread_tryjoin_np(child[k], &result) != 0) sched_yield();",
            f"{{ struct timespec until = after_us({self.number(1, 60)}); while (pthread_timedjoin_np(child[k], "
            f"&result, &until) != 0) until = after_us({self.number(1, 90)}); }}",
        )
        many = self.number(1, 4)
        data = [
            f"static void *child{n}(void *number)",
            "{",
            f"void *result = (void *)work((word)number, {self.number(1, 200)});",
            self.pick("return result;", "pthread_exit(result);"),
            "}",
            f"static word v{n};",
        ]
        body = self.rounds(
            *self.create(f"child{n}", many),
            self.pause(),
            f"for (int k = 0; k < {many}; k++)",
            "{",
            "void *result;",
            join,
            f"add(&v{n}, (word)result);",
            "}",
            most=3,
        )
        return Act(data, [], body, [self.show(f"v{n}")])

    def detached(self, n: str) -> Act:
        """Return an act: children that nobody joins report their end."""
        many = self.number(1, 3)
        data = [
            f"static sem_t s{n};",
            f"static word v{n};",
            f"static void *child{n}(void *number)",
            "{",
            self.pick("pthread_detach(pthread_self());", "usleep(10); pthread_detach(pthread_self());"),
            f"add(&v{n}, work((word)number, {self.number(1, 99)}));",
            f"sem_post(&s{n});",
            "return NULL;",
            "}",
        ]
        body = [
            f"for (long k = 0; k < {many}; k++)",
            "{",
            "pthread_t child;",
            f"check(pthread_create(&child, NULL, child{n}, (void *)k) == 0);",
            "}",
            f"for (int k = 0; k < {many}; k++)",
            f"take(&s{n}, {self.how()});",
        ]
        return Act(data, [f"sem_init(&s{n}, 0, 0);"], body, [self.show(f"v{n}")])

    def cancelled(self, n: str) -> Act:
        """Return an act: children that would wait for ever, cancelled early or late, count themselves out."""
        wait = self.pick(
            f"sem_wait(&s{n});",
            f"{{ struct timespec until = after_us(1000000000); sem_timedwait(&s{n}, &until); }}",
            "usleep(1000);",
            "sleep(1000);",
            "pthread_testcancel();",
            "condition",
        )
        inside = [f"for (;;) {wait}"]
        if wait == "condition":
            inside = [
                f"pthread_mutex_lock(&m{n});",
                f"pthread_cleanup_push(unlock, &m{n});",
                f"for (;;) pthread_cond_wait(&c{n}, &m{n});",
                "pthread_cleanup_pop(1);",
            ]
        elif wait == "pthread_testcancel();":
            inside = ["for (;;) { pthread_testcancel(); sched_yield(); }"]
        data = [
            f"static sem_t s{n};",
            f"static pthread_mutex_t m{n};",
            f"static pthread_cond_t c{n} = PTHREAD_COND_INITIALIZER;",
            f"static word v{n};",
            f"static void *child{n}(void *number)",
            "{",
            "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);",
            f"pthread_cleanup_push(count, &v{n});",
            "if ((long)number % 2 == 0) sched_yield();",
            "pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);",
            *inside,
            "pthread_cleanup_pop(1);",
            "return NULL;",
            "}",
        ]
        many = self.number(1, 3)
        body = self.rounds(
            *self.create(f"child{n}", many),
            self.pause(),
            f"for (int k = 0; k < {many}; k++)",
            "{",
            "void *result;",
            self.pick("", f"work((word)k, {self.number(1, 300)});", "usleep(30);"),
            "check(pthread_cancel(child[k]) == 0);",
            "check(pthread_join(child[k], &result) == 0 && result == PTHREAD_CANCELED);",
            "}",
            most=4,
        )
        return Act(data, [f"sem_init(&s{n}, 0, 0);", self.make(f"m{n}", "NORMAL")], body, [self.show(f"v{n}")])

    def robust(self, n: str) -> Act:
        """Return an act: children end while holding the mutex; each next owner is told."""
        data = [
            f"static pthread_mutex_t m{n};",
            f"static word v{n}, dead{n};",
            f"static void enter{n}(void)",
            "{",
            f"int error = pthread_mutex_lock(&m{n});",
            f"if (error == EOWNERDEAD) {{ dead{n}++; error = pthread_mutex_consistent(&m{n}); }}",
            "check(error == 0);",
            "}",
            f"static void *child{n}(void *number)",
            "{",
            f"enter{n}();",
            f"v{n} += {self.busy('(word)number')};",
            "return NULL;",
            "}",
        ]
        begin = [f"make_mutex(&m{n}, PTHREAD_MUTEX_{self.pick('NORMAL', 'ERRORCHECK', 'RECURSIVE')}, 1, 0);"]
        body = [self.pause(), *self.spawn(f"child{n}", self.number(1, 3))]
        return Act(data, begin, body, [f"enter{n}();", self.show(f"v{n}"), self.show(f"dead{n}")])

    # ---- other ways ----

    def futex(self, n: str) -> Act:
        body = self.rounds(
            self.pause(), f"futex_lock(&f{n});", f"v{n} += {self.busy('(word)r')};", f"futex_unlock(&f{n});"
        )
        return Act([f"static int f{n};", f"static word v{n};"], [], body, [self.show(f"v{n}")])

    def spinning(self, n: str) -> Act:
        body = self.rounds(
            f"while (__atomic_load_n(&turn{n}, __ATOMIC_ACQUIRE) % {self.threads} != me) sched_yield();",
            f"v{n} = mix(v{n} + (word)me);",
            f"__atomic_fetch_add(&turn{n}, 1, __ATOMIC_RELEASE);",
            most=4,
        )
        return Act([f"static int turn{n};", f"static word v{n};"], [], body, [self.show(f"v{n}")])

    def sleep(self, n: str) -> Act:
        time = f"(struct timespec){{0, {self.number(0, 90)} * 1000 * (me + 1)}}"
        body = self.rounds(
            self.pick(f"nanosleep(&{time}, NULL);", f"thrd_sleep(&{time}, NULL);", "sched_yield();", "usleep(0);"),
            f"add(&v{n}, {self.busy('(word)me')});",
            most=4,
        )
        return Act([f"static word v{n};"], [], body, [self.show(f"v{n}")])

    def c11(self, n: str) -> Act:
        kind = self.pick("mtx_plain", "mtx_timed", "mtx_plain | mtx_recursive")
        body = [
            f"call_once(&o{n}, first{n});",
            *self.rounds(
                self.pause(),
                f"check(mtx_lock(&m{n}) == thrd_success);",
                f"while (turn{n} % {self.threads} != me)",
                f"check(cnd_wait(&c{n}, &m{n}) == thrd_success);",
                f"turn{n}++;",
                f"v{n} = mix(v{n} + (word)me);",
                f"cnd_broadcast(&c{n});",
                f"mtx_unlock(&m{n});",
                most=5,
            ),
        ]
        data = [
            f"static mtx_t m{n};",
            f"static cnd_t c{n};",
            f"static once_flag o{n} = ONCE_FLAG_INIT;",
            f"static int turn{n};",
            f"static word v{n};",
            f"static void first{n}(void) {{ v{n} = {self.number(1, 99)}; }}",
        ]
        begin = [f"mtx_init(&m{n}, {kind});", f"cnd_init(&c{n});"]
        return Act(data, begin, body, [self.show(f"v{n}")])

    def stream(self, n: str) -> Act:
        body = self.rounds(
            self.pause(),
            "flockfile(stdout);",
            self.pick("", "flockfile(stdout); funlockfile(stdout);"),
            f"__atomic_store_n(&v{n}, __atomic_load_n(&v{n}, __ATOMIC_RELAXED) + {self.busy('(word)me')}, "
            "__ATOMIC_RELAXED); /* the C library says that flockfile calls nobody back, so v must not be kept */",
            "funlockfile(stdout);",
            most=6,
        )
        return Act([f"static word v{n};"], [], body, [self.show(f"v{n}")])


def source(seeds: range) -> str:
    """Return a C program that runs the programs whose seeds are its arguments."""
    return joined([PRELUDE + WORK + HELPERS, *(Generator(seed).program() for seed in seeds)], seeds)
