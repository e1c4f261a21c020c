"""Random small OpenMP programs with deterministic results, whatever the team sizes and the order of events.

They are free of races by construction: shared data is changed by sums under `atomic`, a lock or a reduction; data that
depends on an order (a hash chain) is ordered by the construct under test. A program prints one line for each of its
variables. The same seed gives the same program in every version of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.runtime import openmp_files
from tests.runtime.random_parts import WORK, Parts, joined

PRELUDE = """\
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#if __GNUC__ >= 12
#define STRICT strict:
#else
#define STRICT
#endif
#if __GNUC__ < 11 /* a task that is complete at its end */
typedef int omp_event_handle_t;
#define detach(event) if(0)
#define omp_fulfill_event(event) (void)event
#endif

"""

ADD = """\
static void add(word *sum, word x)
{
#pragma omp atomic
    *sum += x;
}

static void show(int program, int variable, word value)
{
    printf("%d.%d %lx\\n", program, variable, value);
}
"""

SCHEDULES = ("static", "static, 1", "static, 3", "dynamic", "dynamic, 2", "guided", "guided, 2", "runtime", "auto")


@dataclass(frozen=True)
class Where:
    """What surrounds a statement."""

    depth: int = 0  # depth of nested statements
    levels: int = 0  # depth of nested parallel regions
    team: bool = False  # all members of a team execute it, so it may be a worksharing construct or a barrier
    tasks: int = 0  # depth of nested explicit tasks
    locked: bool = False  # within critical, ordered or a lock: no further one, no tasks
    repeats: int = 1  # estimate of how often it is executed, to limit the program's length


class Generator(Parts):
    """Writes one program; `variables` counts its results."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.variables = 0
        self.names = 0

    def program(self, number: int) -> str:
        """Return the C function `program_NUMBER`."""
        body: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            body += self.statement(Where())
        lines = [f"static void program_{number}(void)", "{", "    signal(SIGUSR1, on_signal);"]
        if self.variables:
            lines.append(f"    static word v[{self.variables}];")
        lines += ["    " + line if not line.startswith("#") else line for line in body]
        lines += [f"    for (int i = 0; i < {self.variables}; i++)", f"        show({number}, i, v[i]);", "}"]
        return "\n".join(lines) + "\n"

    # ---- small parts ----

    def variable(self) -> str:
        self.variables += 1
        return f"v[{self.variables - 1}]"

    def name(self) -> str:
        self.names += 1
        return f"x{self.names}"

    def schedule(self) -> str:
        return f" schedule({self.random.choice(SCHEDULES)})" if self.chance(75) else ""

    def busy(self, seed: str) -> str:
        return f"work({seed}, {self.number(1, 60)})"

    def threads(self, where: Where) -> str:
        """Return the thread clause; nested regions set their size, to limit the number of threads."""
        if where.levels > 0:
            return f" num_threads({self.number(1, 3)})"
        return f" num_threads({self.number(1, 9)})" if self.chance(30) else ""

    # ---- statements ----

    def statement(self, where: Where) -> list[str]:
        choices: list[Callable[[Where], list[str]]] = [self.sum]
        if where.depth < 5 and where.repeats <= 400:
            choices += [self.serial_loop, *self.constructs(where)]
        return self.random.choice(choices)(replace(where, depth=where.depth + 1))

    def constructs(self, where: Where) -> list[Callable[[Where], list[str]]]:
        found: list[Callable[[Where], list[str]]] = []
        if where.locked:
            return found
        found += [self.critical, self.lock]
        if where.levels < 3:
            found += [self.files, self.parallel, self.parallel_for, self.parallel_ordered]
            found += [self.parallel_sections, self.doacross]
        if where.tasks < 3:
            found += [self.task, self.taskloop, self.chain, self.readers, self.recursion]
            if where.levels > 0:  # libgomp 12 crashes where a group with reductions has no team
                found.append(self.group)
            if where.levels == 1 and where.tasks == 0 and where.repeats <= 3:  # so that the task is deferred
                found.append(self.detached)
        if where.team:
            found += [self.loop, self.loop_reduction, self.single, self.sections, self.barrier, self.master] * 2
            found += [self.ordered, self.task_reduction_loop]
        if where.levels == 0 and where.tasks == 0:
            found += [self.parallel, self.parallel_for] * 3 + [self.parallel_task_reduction, self.target]
        if where == Where(depth=where.depth):
            found.append(self.teams)
        return found

    def block(self, where: Where, most: int = 3) -> list[str]:
        lines = ["{"]
        for _ in range(self.number(1, most)):
            lines += self.statement(where)
        return [*lines, "}"]

    def sum(self, where: Where) -> list[str]:
        steps = self.busy(f"{self.number(1, 999)}ul")
        return [f"add(&{self.variable()}, {steps});"]

    def serial_loop(self, where: Where) -> list[str]:
        i, count = self.name(), self.number(1, 4)
        inner = replace(where, repeats=where.repeats * count)
        return [f"for (int {i} = 0; {i} < {count}; {i}++)", *self.block(inner, 2)]

    def parallel(self, where: Where) -> list[str]:
        flags = ""
        if self.chance(20):
            flags = f" proc_bind({self.random.choice(('close', 'spread', 'master'))})"
        if self.chance(10):
            flags += f" if({self.number(0, 1)})"
        inner = replace(where, levels=where.levels + 1, team=True, tasks=0, repeats=where.repeats * 3)
        return [f"#pragma omp parallel{self.threads(where)}{flags}", *self.block(inner, 4)]

    def iterations(self, where: Where, head: str, tail: str = "") -> list[str]:
        """Return a loop over `i` under the directive *head*, with independent iterations."""
        i, count = self.name(), self.number(0, 40)
        loop = f"for (int {i} = 0; {i} < {count}; {i}++)"
        if self.chance(25):
            loop = f"for (unsigned long {i} = {3 * count}; {i} > 0; {i} -= 3)"
        inner = replace(where, team=False, repeats=where.repeats * max(count, 1))
        body = [f"add(&{self.variable()}, {self.busy(f'(word){i}')});", *tail.replace("@", i).splitlines()]
        if self.chance(40) and inner.repeats <= 400:
            body += self.statement(inner)
        return [head, loop, "{", *body, "}"]

    def loop(self, where: Where) -> list[str]:
        nowait = " nowait" if self.chance(40) else ""
        if self.chance(20):
            i, j, v = self.name(), self.name(), self.variable()
            return [
                f"#pragma omp for collapse(2){self.schedule()}{nowait}",
                f"for (int {i} = 0; {i} < {self.number(0, 9)}; {i}++)",
                f"for (long {j} = {self.number(5, 9)}; {j} > 0; {j} -= 2)",
                f"add(&{v}, {self.busy(f'(word)({i} * 100 + {j})')});",
            ]
        return self.iterations(where, f"#pragma omp for{self.schedule()}{nowait}")

    def loop_reduction(self, where: Where) -> list[str]:
        """Return a loop with a reduction into a shared variable: one of the program's, changed only by this loop."""
        i, v = self.name(), self.variable()
        return [
            "{",
            f"word {i} = 0;",
            f"#pragma omp for{self.schedule()} nowait",
            f"for (int k = 0; k < {self.number(0, 50)}; k++)",
            f"{i} += {self.busy('(word)k')};",
            f"add(&{v}, {i});",
            "}",
        ]

    def parallel_for(self, where: Where) -> list[str]:
        r, v = self.name(), self.variable()
        inner = replace(where, levels=where.levels + 1, tasks=0)
        operator, start = self.random.choice((("+", "0"), ("^", "7"), ("*", "3")))
        head = f"#pragma omp parallel for{self.threads(where)}{self.schedule()} reduction({operator}:{r})"
        tail = f"{r} {operator}= {self.busy('(word)@')} | 1;"
        return ["{", f"word {r} = {start};", *self.iterations(inner, head, tail), f"add(&{v}, {r});", "}"]

    def ordered_body(self, head: str, chain: str) -> list[str]:
        i = self.name()
        schedule = self.schedule()
        return [
            f"{head} ordered{schedule}",
            f"for (int {i} = 0; {i} < {self.number(1, 25)}; {i}++)",
            "{",
            f"word y = {self.busy(f'(word){i}')};",
            "#pragma omp ordered",
            f"{chain} = mix({chain} + y);",
            "}",
        ]

    def parallel_ordered(self, where: Where) -> list[str]:
        h, v = self.name(), self.variable()
        body = self.ordered_body(f"#pragma omp parallel for{self.threads(where)}", h)
        return ["{", f"word {h} = {self.number(1, 99)};", *body, f"add(&{v}, {h});", "}"]

    def ordered(self, where: Where) -> list[str]:
        """Return an ordered loop; within a team the chain is the first member's variable, passed to all."""
        h, p, v = self.name(), self.name(), self.variable()
        return [
            "{",
            f"word {h} = 5, *{p};",
            f"#pragma omp single copyprivate({p})",
            f"{p} = &{h};",
            *self.ordered_body("#pragma omp for", f"*{p}"),
            "#pragma omp single",
            f"add(&{v}, *{p});",
            "}",
        ]

    def parallel_sections(self, where: Where) -> list[str]:
        inner = replace(where, levels=where.levels + 1, team=False, tasks=0)
        lines = [f"#pragma omp parallel sections{self.threads(where)}", "{"]
        for _ in range(self.number(1, 5)):
            lines += ["#pragma omp section", *self.block(inner, 2)]
        return [*lines, "}"]

    def sections(self, where: Where) -> list[str]:
        inner = replace(where, team=False)
        lines = ["#pragma omp sections" + (" nowait" if self.chance(30) else ""), "{"]
        for _ in range(self.number(1, 4)):
            lines += ["#pragma omp section", *self.block(inner, 2)]
        return [*lines, "}"]

    def single(self, where: Where) -> list[str]:
        inner = replace(where, team=False)
        if self.chance(25):
            c, v = self.name(), self.variable()
            value = self.busy(f"{self.number(1, 99)}ul")
            single = [f"#pragma omp single copyprivate({c})", f"{c} = {value};"]
            return ["{", f"word {c};", *single, f"add(&{v}, {c});", "}"]
        return ["#pragma omp single" + (" nowait" if self.chance(40) else ""), *self.block(inner, 4)]

    def master(self, where: Where) -> list[str]:
        return ["#pragma omp master", *self.block(replace(where, team=False), 2)]

    def files(self, where: Where) -> list[str]:
        return self.random.choice(openmp_files.STATEMENTS)(self.variable(), self.name(), self.number(1, 9))

    def barrier(self, where: Where) -> list[str]:
        return ["#pragma omp barrier"]

    def critical(self, where: Where) -> list[str]:
        v = self.variable()
        return [f"#pragma omp critical(c{v[2:-1]})", f"{v} += {self.busy('3ul')};"]

    def lock(self, where: Where) -> list[str]:
        v, a = self.variable(), self.name()
        lines = ["{", f"static omp_nest_lock_t {a};", f"static int {a}_made;", f"#pragma omp critical({a})"]
        lines += ["{", f"if (!{a}_made)", f"omp_init_nest_lock(&{a});", f"{a}_made = 1;", "}"]
        lines += [f"omp_set_nest_lock(&{a});", f"omp_set_nest_lock(&{a});", f"{v} += {self.busy('9ul')};"]
        return [*lines, f"omp_unset_nest_lock(&{a});", f"omp_unset_nest_lock(&{a});", "}"]

    def doacross(self, where: Where) -> list[str]:
        a, i, j, v = self.name(), self.name(), self.name(), self.variable()
        n, m = self.number(2, 8), self.number(2, 6)
        return [
            "{",
            f"word {a}[{n}][{m}] = {{{{1}}}};",
            f"#pragma omp parallel for{self.threads(where)} ordered(2){self.schedule()}",
            f"for (int {i} = 1; {i} < {n}; {i}++)",
            f"for (int {j} = 1; {j} < {m}; {j}++)",
            "{",
            f"word y = {self.busy(f'(word){i}')};",
            f"#pragma omp ordered depend(sink: {i} - 1, {j}) depend(sink: {i}, {j} - 1)",
            f"{a}[{i}][{j}] = mix({a}[{i} - 1][{j}] + 3 * {a}[{i}][{j} - 1] + y);",
            "#pragma omp ordered depend(source)",
            "}",
            f"add(&{v}, {a}[{n - 1}][{m - 1}]);",
            "}",
        ]

    # ---- tasks ----

    def clauses(self) -> str:
        kinds = ("", "", "", " untied", " mergeable", " if(0)", " final(1)", f" priority({self.number(0, 9)})")
        return self.random.choice(kinds)

    def task(self, where: Where) -> list[str]:
        inner = replace(where, team=False, tasks=where.tasks + 1)
        lines = [f"#pragma omp task{self.clauses()}", *self.block(inner, 3)]
        if self.chance(60):
            i, count = self.name(), self.number(1, 12)
            inner = replace(inner, repeats=where.repeats * count)
            body = [f"add(&{self.variable()}, {self.busy(f'(word){i}')});", *self.statement(inner)]
            lines = [f"for (int {i} = 0; {i} < {count}; {i}++)", "{"]
            lines += [f"#pragma omp task firstprivate({i}){self.clauses()}", "{", *body, "}", "}"]
        if self.chance(50):
            lines.append("#pragma omp taskwait" if self.chance(80) else "#pragma omp taskyield")
        return lines

    def taskloop(self, where: Where) -> list[str]:
        size = self.random.choice(("", " grainsize({})", " num_tasks({})", " grainsize(STRICT {})"))
        options = size.format(self.number(1, 12)) + self.random.choice(("", " nogroup", " untied", " if(0)"))
        inner = replace(where, tasks=where.tasks + 1)
        if self.chance(50) or where.levels == 0:
            return self.iterations(inner, f"#pragma omp taskloop{options}")
        r, v = self.name(), self.variable()
        head = f"#pragma omp taskloop{options.replace(' nogroup', '')} reduction(+:{r})"
        tail = f"{r} += {self.busy('(word)@')};"
        return ["{", f"word {r} = 0;", *self.iterations(inner, head, tail), f"add(&{v}, {r});", "}"]

    def chain(self, where: Where) -> list[str]:
        """Return tasks that change one variable in the order of their creation."""
        h, i, v = self.name(), self.name(), self.variable()
        kind = self.random.choice(("inout", "out"))
        return [
            "{",
            f"word {h} = 1;",
            f"for (int {i} = 0; {i} < {self.number(2, 12)}; {i}++)",
            "{",
            f"#pragma omp task firstprivate({i}) shared({h}) depend({kind}: {h}){self.clauses()}",
            f"{h} = mix({h} + {self.busy(f'(word){i}')});",
            "}",
            "#pragma omp taskwait",
            f"add(&{v}, {h});",
            "}",
        ]

    def readers(self, where: Where) -> list[str]:
        """Return a wavefront: each cell depends on two neighbours; then a task that waits only for the last cell."""
        a, v, n = self.name(), self.variable(), self.number(2, 6)
        wait = f"#pragma omp taskwait depend(in: {a}[{n - 1}][{n - 1}])"
        last = [f"#pragma omp task shared({a}) depend(in: {a}[{n - 1}][{n - 1}]) if(0)", ";"]
        return [
            "{",
            f"word {a}[{n}][{n}] = {{{{1}}}};",
            f"for (int i = 0; i < {n}; i++)",
            f"for (int j = 0; j < {n}; j++)",
            "{",
            "int up = i > 0 ? i - 1 : 0, left = j > 0 ? j - 1 : 0;",
            f"#pragma omp task firstprivate(i, j, up, left) shared({a}) depend(in: {a}[up][j], {a}[i][left]) \\",
            f"    depend(inout: {a}[i][j])",
            f"{a}[i][j] = mix({a}[up][j] + 5 * {a}[i][left] + {self.busy('(word)i')});",
            "}",
            *([wait] if self.chance(50) else last),
            f"add(&{v}, {a}[{n - 1}][{n - 1}]);",
            "#pragma omp taskwait",
            "}",
        ]

    def recursion(self, where: Where) -> list[str]:
        """Return two levels of tasks with results on their parents' stacks."""
        a, v, n = self.name(), self.variable(), self.number(1, 4)
        return [
            "{",
            f"word {a}[{n}];",
            f"for (int i = 0; i < {n}; i++)",
            "{",
            f"#pragma omp task firstprivate(i) shared({a}){self.clauses()}",
            "{",
            "word b[3];",
            "for (int j = 0; j < 3; j++)",
            "{",
            f"#pragma omp task firstprivate(i, j) shared(b){self.clauses()}",
            f"b[j] = {self.busy('(word)(3 * i + j)')};",
            "}",
            "#pragma omp taskwait",
            f"{a}[i] = b[0] + 2 * b[1] + 3 * b[2];",
            "}",
            "}",
            "#pragma omp taskwait",
            f"for (int i = 0; i < {n}; i++)",
            f"add(&{v}, {a}[i]);",
            "}",
        ]

    def group(self, where: Where) -> list[str]:
        """Return a task group with a reduction over two generations of tasks."""
        r, i, v = self.name(), self.name(), self.variable()
        return [
            "{",
            f"word {r} = {self.number(0, 9)};",
            f"#pragma omp taskgroup task_reduction(+: {r})",
            f"for (int {i} = 0; {i} < {self.number(1, 12)}; {i}++)",
            "{",
            f"#pragma omp task firstprivate({i}) in_reduction(+: {r}){self.clauses()}",
            "{",
            f"{r} += {self.busy(f'(word){i}')};",
            f"#pragma omp task firstprivate({i}) in_reduction(+: {r})",
            f"{r} += {self.busy(f'(word){i} + 77')};",
            "}",
            "}",
            f"add(&{v}, {r});",
            "}",
        ]

    def detached(self, where: Where) -> list[str]:
        """Return a task that completes when another one says so."""
        e, h, v = self.name(), self.name(), self.variable()
        return [
            "{",
            f"omp_event_handle_t {e} = 0;",
            f"word {h} = 2;",
            "#pragma omp taskwait",
            "#pragma omp taskgroup",
            "{",
            f"#pragma omp task detach({e}) shared({h}) depend(out: {h})",
            f"{h} = {self.busy('4ul')};",
            f"#pragma omp task firstprivate({e})",
            f"omp_fulfill_event({e});",
            f"#pragma omp task shared({h}) depend(in: {h})",
            f"add(&{v}, {h});",
            "}",
            "}",
        ]

    def task_reduction_loop(self, where: Where) -> list[str]:
        """Return a worksharing loop with a reduction in which tasks of its iterations take part."""
        r, p, v = self.name(), self.name(), self.variable()
        return [
            "{",
            f"word {r} = 0, *{p};",
            f"#pragma omp single copyprivate({p})",
            f"{p} = &{r};",
            f"word *q = {p};",
            "#pragma omp barrier",
            f"#pragma omp for{self.schedule()}",
            f"for (int k = 0; k < {self.number(1, 20)}; k++)",
            "{",
            "#pragma omp task firstprivate(k, q)",
            f"add(q, {self.busy('(word)k')});",
            "}",
            "#pragma omp single",
            f"add(&{v}, *{p});",
            "}",
        ]

    def parallel_task_reduction(self, where: Where) -> list[str]:
        r, v = self.name(), self.variable()
        directive = self.random.choice(("parallel", "parallel for", "parallel sections"))
        task = [f"#pragma omp task in_reduction(+: {r})", f"{r} += {self.busy('8ul')};"]
        inside = {
            "parallel": ["{", *task, "}"],
            "parallel for": [f"for (int k = 0; k < {self.number(1, 20)}; k++)", "{", *task, "}"],
            "parallel sections": ["{", *task, "#pragma omp section", *task, "}"],
        }[directive]
        head = f"#pragma omp {directive}{self.threads(where)} reduction(task, +: {r})"
        return ["{", f"word {r} = 1;", head, *inside, f"add(&{v}, {r});", "}"]

    def target(self, where: Where) -> list[str]:
        r, v = self.name(), self.variable()
        directive = self.random.choice(("parallel for", "teams distribute parallel for", "teams distribute"))
        return [
            "{",
            f"word {r} = 1;",
            f"#pragma omp target {directive} map(tofrom: {r}) reduction(+: {r})",
            f"for (int k = 0; k < {self.number(1, 30)}; k++)",
            f"{r} += {self.busy('(word)k')};",
            f"add(&{v}, {r});",
            "}",
        ]

    def teams(self, where: Where) -> list[str]:
        v = self.variable()
        return [
            f"#pragma omp teams num_teams({self.number(1, 4)})",
            "#pragma omp distribute parallel for",
            f"for (int k = 0; k < {self.number(1, 30)}; k++)",
            f"add(&{v}, {self.busy('(word)k')} + (word)omp_get_num_teams());",
        ]


def source(seeds: range) -> str:
    """Return a C program that runs the programs whose seeds are its arguments."""
    head = openmp_files.PRELUDE + PRELUDE + WORK + ADD + openmp_files.HELPERS
    return joined([head, *(Generator(seed).program(seed) for seed in seeds)], seeds)
