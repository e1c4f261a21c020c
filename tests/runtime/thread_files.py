"""Acts for random thread programs: pipes, socket pairs, events, polls, signals."""

from __future__ import annotations

from tests.runtime.thread_parts import Act
from tests.runtime.thread_waits import Waits

WAYS = {
    "read": "check(read(FILE, &x, sizeof x) == sizeof x);",
    "poll": "struct pollfd p = {FILE, POLLIN, 0}; check(poll(&p, 1, -1) == 1 && read(FILE, &x, sizeof x) == sizeof x);",
    "select": "fd_set s; FD_ZERO(&s); FD_SET(FILE, &s); check(select(FILE + 1, &s, 0, 0, 0) == 1);"
    " check(read(FILE, &x, sizeof x) == sizeof x);",
    "epoll": "int q = epoll_create1(0); struct epoll_event e = {.events = EPOLLIN}, got;"
    " epoll_ctl(q, EPOLL_CTL_ADD, FILE, &e); check(epoll_wait(q, &got, 1, -1) == 1); close(q);"
    " check(read(FILE, &x, sizeof x) == sizeof x);",
    "timed": "struct pollfd p = {FILE, POLLIN, 0}; while (poll(&p, 1, 1) != 1) ;"
    " check(read(FILE, &x, sizeof x) == sizeof x);",
}


class Files(Waits):
    """Acts in which threads communicate through files and signals."""

    def tokens(self, n: str) -> Act:
        """Return an act: a token goes round through files and carries a sum."""
        make = self.pick("pipe(f{n}[i])", "socketpair(AF_UNIX, SOCK_STREAM, 0, f{n}[i])", "pipe2(f{n}[i], O_CLOEXEC)")
        take = WAYS[self.pick(*WAYS)].replace("FILE", f"f{n}[me][0]")
        body = self.rounds(
            self.pause(),
            f"word x = 0; {take}",
            f"add(&v{n}, {self.busy('(word)(me * 100 + r)')});",
            f"x += (word)me; check(write(f{n}[(me + 1) % {self.threads}][1], &x, sizeof x) == sizeof x);",
        )
        data = [f"static int f{n}[{self.threads}][2];", f"static word v{n};"]
        begin = [
            f"for (int i = 0; i < {self.threads}; i++)",
            f"check({make.replace('{n}', n)} == 0);",
            f"{{ word x = 0; check(write(f{n}[0][1], &x, sizeof x) == sizeof x); }}",
        ]
        return Act(data, begin, body, [self.show(f"v{n}")])

    def events(self, n: str) -> Act:
        """Return an act: everybody adds to one event, and takes one from it."""
        take = WAYS[self.pick("read", "poll", "select")].replace("FILE", f"f{n}")
        if "poll" in take or "select" in take:
            take = take.replace(" == 1", " >= 0")  # another thread may take it first: then the read waits
        body = self.rounds(
            self.pause(),
            f"unsigned long one = 1, x = 0; check(write(f{n}, &one, sizeof one) == sizeof one);",
            take,
            f"add(&v{n}, (word)x + {self.busy('(word)r')});",
        )
        data = [f"static int f{n};", f"static word v{n};"]
        return Act(data, [f"f{n} = eventfd(0, EFD_SEMAPHORE);"], body, [self.show(f"v{n}")])

    def pushed(self, n: str) -> Act:
        """Return an act: member 0 writes more than a pipe holds; the others read it in pieces."""
        size = self.number(10, 60) * 2000
        piece = self.number(100, 5000)
        body = [
            "if (me == 0) {",
            f"char *all = calloc({size}, 1); for (int i = 0; i < {size}; i++) all[i] = (char)i;",
            f"check(write(f{n}[1], all, {size}) == {size}); close(f{n}[1]); free(all);",
            *(
                [f"char c[{piece}]; long got; while ((got = read(f{n}[0], c, {piece})) > 0)", f"add(&v{n}, (word)got);"]
                if self.threads == 1
                else []
            ),
            "} else {",
            f"char c[{piece}]; long got; while ((got = read(f{n}[0], c, {piece})) > 0)",
            f"{{ word sum = 0; for (long i = 0; i < got; i++) sum += (word)(unsigned char)c[i]; add(&v{n}, sum); }}",
            "}",
        ]
        if self.threads == 1:
            return self.events(n)
        return Act(
            [f"static int f{n}[2];", f"static word v{n};"], [f"check(pipe(f{n}) == 0);"], body, [self.show(f"v{n}")]
        )

    def raised(self, n: str) -> Act:
        """Return an act: everybody raises a signal, sometimes one that it blocks for a while."""
        blocked = self.pick(True, False)
        block = "sigset_t s, old; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, &old);"
        body = self.rounds(
            self.pause(),
            block if blocked else "",
            self.pick("raise(SIGUSR1);", "pthread_kill(pthread_self(), SIGUSR1);"),
            "raise(SIGUSR1); pthread_sigmask(SIG_SETMASK, &old, 0);" if blocked else "",
            f"add(&v{n}, {self.busy('(word)r')});",
        )
        body = ["handled = 0;", *body, f"add(&h{n}, (word)handled);"]
        data = [f"static word v{n}, h{n};"]
        return Act(data, ["signal(SIGUSR1, on_signal);"], body, [self.show(f"v{n}"), self.show(f"h{n}")])
