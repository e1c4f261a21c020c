"""Statements for random OpenMP programs: team members communicate through pipes and events, and raise signals."""

from __future__ import annotations

from collections.abc import Callable

PRELUDE = """\
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>
"""

HELPERS = """\
static _Thread_local volatile int handled;

static void on_signal(int number)
{
    handled += number == SIGUSR1;
}

"""


def raised(sum_of: str, name: str, count: int) -> list[str]:
    """Return statements that raise signals, each of which must reach the thread that raises it."""
    raises = f"for (int {name} = 0; {name} < {count}; {name}++) raise(SIGUSR1);"
    return ["{", f"int before_{name} = handled;", raises, f"add(&{sum_of}, (word)(handled - before_{name}));", "}"]


def piped(sum_of: str, name: str, count: int) -> list[str]:
    """Return a region whose first section writes what the second one reads, in either order."""
    return [
        "{",
        f"int {name}[2];",
        f"if (pipe({name}) != 0) abort();",
        "#pragma omp parallel sections num_threads(2)",
        "{",
        f"for (word k = 1; k <= {count}; k++) {{ word x = work(k, 30); (void)!write({name}[1], &x, sizeof x); }}",
        "#pragma omp section",
        f"for (word k = 1, x = 0; k <= {count}; k++) {{ struct pollfd p = {{{name}[0], POLLIN, 0}};",
        "(void)!poll(&p, 1, -1);",
        f"(void)!read({name}[0], &x, sizeof x); add(&{sum_of}, mix(x + k)); }}",
        "}",
        f"close({name}[0]); close({name}[1]);",
        "}",
    ]


def counted(sum_of: str, name: str, count: int) -> list[str]:
    """Return a region in which each member adds to an event and takes one from it."""
    return [
        "{",
        f"int {name} = eventfd(0, EFD_SEMAPHORE);",
        f"#pragma omp parallel num_threads({1 + count % 4})",
        f"for (int k = 0; k < {count}; k++) {{ unsigned long one = 1, x = 0; (void)!write({name}, &one, sizeof one);",
        f"(void)!read({name}, &x, sizeof x); add(&{sum_of}, x + work((word)k, 20)); }}",
        f"close({name});",
        "}",
    ]


STATEMENTS: tuple[Callable[[str, str, int], list[str]], ...] = (raised, piped, counted)
