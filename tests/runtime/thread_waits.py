"""Acts for random thread programs: locks, condition variables, semaphores, barriers, once."""

from __future__ import annotations

from tests.runtime.thread_parts import Act, ActParts


class Waits(ActParts):
    """Acts in which threads wait for each other."""

    # ---- mutexes, spin locks, read-write locks ----

    def mutex(self, n: str) -> Act:
        body = self.rounds(self.pause(), self.lock(f"m{n}"), f"v{n} += {self.busy('(word)(me + r)')};")
        body[-1:] = [f"check(pthread_mutex_unlock(&m{n}) == 0);", "}"]
        data = [f"static pthread_mutex_t m{n};", f"static word v{n};"]
        end = [self.show(f"v{n}"), f"check(pthread_mutex_destroy(&m{n}) == 0);"]
        return Act(data, [self.make(f"m{n}")], body, end)

    def recursive(self, n: str) -> Act:
        again = self.number(1, 3)
        body = self.rounds(
            self.pause(),
            self.lock(f"m{n}"),
            f"for (int k = 0; k < {again}; k++)",
            f"check(pthread_mutex_{self.pick('lock', 'trylock')}(&m{n}) == 0);",
            f"word before = v{n}, more = {self.busy('(word)me')};",
            f"v{n} = before + more;",
            f"for (int k = 0; k <= {again}; k++)",
            "{",
            self.pick("", f"check(v{n} == before + more);"),
            f"check(pthread_mutex_unlock(&m{n}) == 0);",
            "}",
        )
        body = [line.replace(f"check(v{n} ==", f"if (k < {again}) check(v{n} ==") for line in body]
        data = [f"static pthread_mutex_t m{n};", f"static word v{n};"]
        return Act(data, [self.make(f"m{n}", "RECURSIVE")], body, [self.show(f"v{n}")])

    def errorcheck(self, n: str) -> Act:
        body = self.rounds(
            self.pause(),
            f"check(pthread_mutex_unlock(&m{n}) == EPERM);",
            self.lock(f"m{n}"),
            f"check(pthread_mutex_lock(&m{n}) == EDEADLK);",
            f"v{n} += {self.busy('(word)me')};",
            f"check(pthread_mutex_unlock(&m{n}) == 0);",
        )
        data = [f"static pthread_mutex_t m{n};", f"static word v{n};"]
        return Act(data, [self.make(f"m{n}", "ERRORCHECK")], body, [self.show(f"v{n}")])

    def ordered(self, n: str) -> Act:
        """Return an act: several locks, taken in the order of their numbers."""
        locks = self.number(2, 4)
        body = self.rounds(
            self.pause(),
            f"int a = (me + r) % {locks}, b = (me * 3 + r * 5 + 1) % {locks};",
            "if (a > b) { int c = a; a = b; b = c; }",
            self.lock(f"m{n}[a]"),
            f"if (a != b) {{ {self.lock(f'm{n}[b]')} v{n}[b] += (word)r; }}",
            f"v{n}[a] += {self.busy('(word)r')};",
            f"if (a != b) check(pthread_mutex_unlock(&m{n}[b]) == 0);",
            f"check(pthread_mutex_unlock(&m{n}[a]) == 0);",
        )
        data = [f"static pthread_mutex_t m{n}[{locks}];", f"static word v{n}[{locks}];"]
        begin = [self.make(f"m{n}[{i}]") for i in range(locks)]
        return Act(data, begin, body, [self.show(f"v{n}[{i}]") for i in range(locks)])

    def spin(self, n: str) -> Act:
        take = self.pick(f"pthread_spin_lock(&s{n});", f"INSIST(pthread_spin_trylock(&s{n}), pthread_spin_lock(&s{n}))")
        body = self.rounds(
            self.pause(), take, f"v{n} += {self.busy('(word)me', 9)};", f"pthread_spin_unlock(&s{n});", most=6
        )
        data = [f"static pthread_spinlock_t s{n};", f"static word v{n};"]
        return Act(data, [f"pthread_spin_init(&s{n}, 0);"], body, [self.show(f"v{n}")])

    def readers(self, n: str) -> Act:
        """Return an act: writers keep two variables equal; some threads give up and try again."""
        writers = self.pick("(me + r) % 3 == 0", "me % 2 == r % 2", "me == 0", "r % 4 != 0")
        kind = self.pick("DEFAULT_NP", "PREFER_WRITER_NONRECURSIVE_NP", "PREFER_READER_NP")

        def take(what: str, tried: str) -> str:
            plain, us = f"pthread_rwlock_{what}lock(&l{n})", self.pick("0", str(self.number(1, 50)))
            return self.pick(f"check({plain} == 0);", f"INSIST({tried}_until(&l{n}, {us}), {plain})")

        body = self.rounds(
            self.pause(),
            f"if ({writers})",
            "{",
            take("wr", "write"),
            f"v{n} += (word)me + 1;",
            f"w{n} += work((word)v{n}, {self.number(1, 20)}) == 3 ? 1 : (word)me + 1;",
            "}",
            "else",
            "{",
            take("rd", "read"),
            f"word seen = v{n};",
            f"check(work(seen, {self.number(1, 20)}) != 3 && w{n} == seen && v{n} == seen);",
            "}",
            f"check(pthread_rwlock_unlock(&l{n}) == 0);",
        )
        data = [f"static pthread_rwlock_t l{n};", f"static word v{n}, w{n};"]
        begin = [
            f"pthread_rwlockattr_t a{n};",
            f"pthread_rwlockattr_init(&a{n});",
            f"pthread_rwlockattr_setkind_np(&a{n}, PTHREAD_RWLOCK_{kind});",
            f"pthread_rwlock_init(&l{n}, &a{n});",
        ]
        return Act(data, begin, body, [self.show(f"v{n}"), f"check(pthread_rwlock_destroy(&l{n}) == 0);"])

    # ---- condition variables ----

    def buffer(self, n: str) -> Act:
        """Return an act: all produce and consume equally; whoever finds the buffer full and must not wait consumes."""
        room, items = self.number(1, 4), self.number(1, 8)
        wake = self.pick("signal", "broadcast", "broadcast")
        body = [
            f"if (me < {self.threads // 2})",
            f"for (int r = 0; r < {items * (self.threads - self.threads // 2)}; r++)",
            "{",
            self.lock(f"m{n}"),
            f"while (filled{n} == {room})",
            f"await(&space{n}, &m{n}, {self.us()});",
            f"check(filled{n} < {room});",
            f"place{n}[filled{n}++] = work((word)(me * 1000 + r), 3);",
            f"pthread_cond_{wake}(&item{n});",
            f"pthread_mutex_unlock(&m{n});",
            "}",
            f"else for (int r = 0; r < {items * (self.threads // 2)}; r++)",
            "{",
            self.lock(f"m{n}"),
            f"while (filled{n} == 0)",
            f"await(&item{n}, &m{n}, {self.us()});",
            f"check(filled{n} > 0);",
            f"v{n} += place{n}[--filled{n}];",
            f"pthread_cond_{wake}(&space{n});",
            f"pthread_mutex_unlock(&m{n});",
            self.pause(),
            "}",
        ]
        data = [
            f"static pthread_mutex_t m{n};",
            f"static pthread_cond_t item{n} = PTHREAD_COND_INITIALIZER, space{n} = PTHREAD_COND_INITIALIZER;",
            f"static word v{n}, place{n}[{room}];",
            f"static int filled{n};",
        ]
        return Act(data, [self.make(f"m{n}")], body, [self.show(f"v{n}"), f"check(filled{n} == 0);"])

    def ring(self, n: str) -> Act:
        """Return an act: a hash chain in thread order, one turn each."""
        body = self.rounds(
            self.pause(),
            self.lock(f"m{n}"),
            f"while (turn{n} % {self.threads} != me)",
            f"await(&c{n}, &m{n}, {self.us()});",
            f"turn{n}++;",
            f"v{n} = mix(v{n} + (word)me);",
            f"pthread_cond_broadcast(&c{n});",
            f"pthread_mutex_unlock(&m{n});",
        )
        data = [
            f"static pthread_mutex_t m{n};",
            f"static pthread_cond_t c{n} = PTHREAD_COND_INITIALIZER;",
            f"static word v{n};",
            f"static int turn{n};",
        ]
        return Act(data, [self.make(f"m{n}")], body, [self.show(f"v{n}")])

    def places(self, n: str) -> Act:
        """Return an act: only a few threads are inside at a time."""
        most = self.number(1, self.threads)
        body = self.rounds(
            self.pause(),
            self.lock(f"m{n}"),
            f"while (inside{n} == {most})",
            f"await(&c{n}, &m{n}, {self.us()});",
            f"check(++inside{n} <= {most});",
            f"pthread_mutex_unlock(&m{n});",
            f"add(&v{n}, {self.busy('(word)r')});",
            self.lock(f"m{n}"),
            f"inside{n}--;",
            f"pthread_cond_signal(&c{n});",
            f"pthread_mutex_unlock(&m{n});",
        )
        data = [
            f"static pthread_mutex_t m{n};",
            f"static pthread_cond_t c{n} = PTHREAD_COND_INITIALIZER;",
            f"static word v{n};",
            f"static int inside{n};",
        ]
        return Act(data, [self.make(f"m{n}")], body, [self.show(f"v{n}"), f"check(inside{n} == 0);"])

    def in_vain(self, n: str) -> Act:
        """Return an act: timed waits for something that never comes."""
        body = self.rounds(
            f"struct timespec until = after_us({self.number(0, 60)} * (me + 1));",
            self.lock(f"m{n}"),
            f"while (pthread_cond_timedwait(&c{n}, &m{n}, &until) != ETIMEDOUT);",
            f"v{n}++;",
            f"pthread_mutex_unlock(&m{n});",
            f"check(sem_timedwait(&s{n}, &until) == -1 && errno == ETIMEDOUT);",
            most=4,
        )
        data = [
            f"static pthread_mutex_t m{n};",
            f"static pthread_cond_t c{n} = PTHREAD_COND_INITIALIZER;",
            f"static sem_t s{n};",
            f"static word v{n};",
        ]
        return Act(data, [self.make(f"m{n}"), f"sem_init(&s{n}, 0, 0);"], body, [self.show(f"v{n}")])

    # ---- semaphores, barriers, once ----

    def semaphores(self, n: str) -> Act:
        """Return an act: one or more tokens go round."""
        tokens = self.number(1, self.threads)
        body = self.rounds(
            self.pause(),
            f"take(&s{n}[me], {self.how()});",
            f"add(&v{n}, {self.busy('(word)(me * 100 + r)')});",
            f"check(sem_post(&s{n}[(me + 1) % {self.threads}]) == 0);",
        )
        data = [f"static sem_t s{n}[{self.threads}];", f"static word v{n};"]
        begin = [f"for (int i = 0; i < {self.threads}; i++)", f"sem_init(&s{n}[i], 0, i < {tokens});"]
        return Act(data, begin, body, [self.show(f"v{n}")])

    def pool(self, n: str) -> Act:
        most = self.number(1, 3)
        body = self.rounds(
            self.pause(),
            f"take(&s{n}, {self.how()});",
            f"check(__atomic_add_fetch(&inside{n}, 1, __ATOMIC_SEQ_CST) <= {most});",
            f"add(&v{n}, {self.busy('(word)r')});",
            f"__atomic_fetch_sub(&inside{n}, 1, __ATOMIC_SEQ_CST);",
            f"sem_post(&s{n});",
        )
        data = [f"static sem_t s{n};", f"static word v{n};", f"static int inside{n};"]
        return Act(data, [f"sem_init(&s{n}, 0, {most});"], body, [self.show(f"v{n}")])

    def barrier(self, n: str) -> Act:
        body = [
            "word own = (word)me;",
            *self.rounds(
                self.pause(),
                f"slot{n}[me] = work(own + (word)r, me);",
                f"int first = pthread_barrier_wait(&b{n}) == PTHREAD_BARRIER_SERIAL_THREAD;",
                f"own = slot{n}[(me + 1) % {self.threads}];",
                f"int second = pthread_barrier_wait(&b{n}) == PTHREAD_BARRIER_SERIAL_THREAD;",
                f"add(&serial{n}, (word)(first + second));",
                most=6,
            ),
            f"add(&v{n}, mix(own));",
        ]
        data = [f"static pthread_barrier_t b{n};", f"static word v{n}, serial{n}, slot{n}[{self.threads}];"]
        end = [self.show(f"v{n}"), self.show(f"serial{n}"), f"check(pthread_barrier_destroy(&b{n}) == 0);"]
        return Act(data, [f"pthread_barrier_init(&b{n}, NULL, {self.threads});"], body, end)

    def crowd(self, n: str) -> Act:
        """Return an act: a barrier for fewer threads than reach it."""
        members = self.random.choice([m for m in range(1, self.threads + 1) if self.threads % m == 0])
        body = self.rounds(
            f"pthread_barrier_wait(&all{n});",
            self.pause(),
            f"__atomic_fetch_add(&come{n}, 1, __ATOMIC_SEQ_CST);",
            f"add(&v{n}, pthread_barrier_wait(&b{n}) == PTHREAD_BARRIER_SERIAL_THREAD);",
            f"int left = __atomic_add_fetch(&gone{n}, 1, __ATOMIC_SEQ_CST);",
            f"check(left <= __atomic_load_n(&come{n}, __ATOMIC_SEQ_CST) / {members} * {members});",
            most=8,
        )
        data = [f"static pthread_barrier_t all{n}, b{n};", f"static word v{n};", f"static int come{n}, gone{n};"]
        begin = [
            f"pthread_barrier_init(&all{n}, NULL, {self.threads});",
            f"pthread_barrier_init(&b{n}, NULL, {members});",
        ]
        return Act(data, begin, body, [self.show(f"v{n}")])

    def once(self, n: str) -> Act:
        times = self.number(1, 4)
        data = [
            f"static pthread_once_t o{n}[{times}];",
            f"static word v{n};",
            f"static void first{n}(void)",
            "{",
            self.pick("", "sched_yield();", "usleep(20);"),
            f"add(&v{n}, {self.busy('5ul')});",
            "}",
        ]
        body = [
            f"for (int r = 0; r < {times}; r++)",
            "{",
            self.pause(),
            f"check(pthread_once(&o{n}[r], first{n}) == 0);",
            f"check(__atomic_load_n(&v{n}, __ATOMIC_RELAXED) != 0);",
            "}",
        ]
        begin = [f"for (int i = 0; i < {times}; i++)", f"o{n}[i] = (pthread_once_t)PTHREAD_ONCE_INIT;"]
        return Act(data, begin, body, [self.show(f"v{n}")])
