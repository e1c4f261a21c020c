"""Random programs that count the iterations of their loops: each must be executed once, under any schedule.

``python -m tests.schedules.generated --count 1000 --native --simulate`` generates 1000 programs and runs each of them
under random schedules, on this host and simulated.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from scalegraph import control, machine
from scalegraph.base.run import RunPoint
from scalegraph.control import native
from scalegraph.link import Job, Simulated, loops
from scalegraph.runtime import schedules

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#define MOST 20000
static int seen[MOST];
static int check(long n, int times) {
  int bad = 0;
  for (long i = 0; i < MOST; i++) { bad += seen[i] != (i < n ? times : 0); seen[i] = 0; }
  return bad;
}
static int at_most(long n, int times) {
  int bad = 0;
  for (long i = 0; i < MOST; i++) { bad += seen[i] > (i < n ? times : 0); seen[i] = 0; }
  return bad;
}
int main(void) {
  int bad = 0;
"""
TAIL = """
  printf("%d wrong\\n", bad);
  return bad != 0;
}
"""


def a_loop(choice: random.Random) -> str:
    """A worksharing loop of random form that counts its iterations and is executed twice."""
    count = choice.choice((0, 1, 5, 64, choice.randrange(2, 900)))
    step = choice.choice((1, 2, 7))
    start = choice.randrange(-50, 50)
    end = start + count * step - choice.randrange(step) if count else start
    clause = choice.choice(
        (
            "",
            "schedule(static)",
            "schedule(static, 3)",
            "schedule(dynamic)",
            "schedule(guided, 2)",
            "schedule(runtime)",
            "schedule(monotonic: dynamic, 2)",
            "schedule(auto)",
        )
    )
    form = choice.choice(("up", "down", "unsigned", "collapse", "ordered", "nowait", "cancel", "nested"))
    mark = '_Pragma("omp atomic") seen'
    if form == "collapse":
        head = f"#pragma omp for collapse(2) {clause}\n  for (int i = 0; i < {count}; i++) for (int j = 0; j < 3; j++)"
        body, total = f"{{ {mark}[i * 3 + j]++; }}", count * 3
    elif form == "down":
        head, total = f"#pragma omp for {clause}\n  for (long i = {end}; i > {start}; i -= {step})", count
        body = f"{{ {mark}[({end} - i) / {step}]++; }}"
    elif form == "unsigned":
        low = 2**64 - 100_000
        span = f"i = {low}ull; i < {low + count * step}ull; i += {step}"
        head = f"#pragma omp for {clause}\n  for (unsigned long long {span})"
        body, total = f"{{ {mark}[(i - {low}ull) / {step}]++; }}", count
    elif form == "ordered":
        head = f"#pragma omp for ordered {clause.replace('monotonic: ', '')}\n  for (int i = 0; i < {count}; i++)"
        body = "{\n#pragma omp ordered\n  { bad_order += last >= i; last = i; seen[i]++; }\n  }"
        total = count
    elif form == "cancel":
        head, total = f"#pragma omp for {clause}\n  for (long i = {start}; i < {end}; i += {step})", count
        stop = f"\n#pragma omp cancel for if (i == {start} + {step} * {choice.randrange(count + 1)})\n"
        body = f"{{ {mark}[(i - {start}) / {step}]++; {stop} }}"
    elif form == "nested":
        head = f"#pragma omp for {clause}\n  for (int i = 0; i < {min(count, 40)}; i++)"
        inner = f"#pragma omp parallel for num_threads(2) {clause}\n  for (int j = 0; j < 5; j++)"
        body, total = f"{{\n{inner}\n  {{ {mark}[i * 5 + j]++; }}\n }}", min(count, 40) * 5
    else:
        more = "nowait" if form == "nowait" else ""
        head, total = f"#pragma omp for {more} {clause}\n  for (long i = {start}; i < {end}; i += {step})", count
        body = f"{{ {mark}[(i - {start}) / {step}]++; }}"
    return (
        "  for (int t = 0; t < 2; t++) { int last = -1, bad_order = 0;\n#pragma omp parallel\n"
        f"  {{\n{head}\n  {body}\n  }}\n  bad += bad_order;\n  }}\n"
        f"  bad += {'at_most' if form == 'cancel' else 'check'}({total}, 2);\n"
    )


def a_program(choice: random.Random) -> str:
    """Return a program of eight such loops."""
    return HEAD + "".join(a_loop(choice) for _ in range(8)) + TAIL


def on_host(source: Path, threads: int, names: list[str]) -> list[str]:
    """Run the program on this host under the schedules *names*; return a text for each error."""
    wrong = []
    with native.built([source.name], cwd=source.parent) as program:
        for name in names:
            done = native.run(program, name, threads, env={"OMP_CANCELLATION": "true"})
            if (done.stdout, done.exit_code) != ("0 wrong\n", 0):
                wrong.append(f"{name}, {threads} threads: {done}")
    return wrong


def simulated(source: Path, processors: int, names: list[str]) -> list[str]:
    """Do the same on the simulated machine."""
    wrong = []
    built = control.build([source.name], loops=any(map(loops.chosen, names)), cwd=source.parent)
    for name in names:
        point = RunPoint(processors=processors)
        job = Job(built, machine.load("ksr1"), point, schedule=name, env={"OMP_CANCELLATION": "true"})
        record = Simulated().run(job)
        if (record.status, record.stdout) != ("ok", "0 wrong\n"):
            wrong.append(f"{name}, {processors} processors: {record.status} {record.message} {record.stdout}")
    return wrong


def check(seed: int, place: Path, *, native_too: bool, simulate: bool, runs: int = 1) -> list[str]:
    """Check the program of *seed* as written and under *runs* schedules; return what is wrong."""
    choice = random.Random(seed)
    source = place / "loops.c"
    source.write_text(a_program(choice))
    names = ["", *choice.sample([one.name for one in schedules.shipped()], runs)]
    threads = choice.choice((1, 2, 3, 8, 64, 256))
    wrong = on_host(source, threads, names) if native_too else []
    return wrong + (simulated(source, threads, names) if simulate else [])


def main() -> None:
    """Check the requested number of programs and print what is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--native", action="store_true", help="run the programs on this host")
    parser.add_argument("--simulate", action="store_true", help="simulate the programs")
    given = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as place:
        for seed in range(given.first, given.first + given.count):
            for text in check(seed, Path(place), native_too=given.native, simulate=given.simulate):
                found += 1
                print(f"seed {seed}: {text}", flush=True)
    print(f"{given.count} programs, {found} wrong")
    raise SystemExit(found != 0)


if __name__ == "__main__":
    main()
