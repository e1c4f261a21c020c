"""Synthetic figures of every kind, with extremes that real studies have sooner or later."""

from __future__ import annotations

import math

from scalegraph.figures.figure import (
    Axis,
    Bars,
    Cell,
    Column,
    Dot,
    Field,
    Figure,
    Grid,
    Handle,
    Line,
    Mark,
    Plot,
    Row,
    Source,
    SourceLine,
    Surface,
    Table,
)

NAN = float("nan")
POWERS = (1, 2, 4, 8, 16, 32, 64)


def _n(values: tuple[int, ...]) -> Axis:
    return Axis("Processors N", scale="log2", ticks=tuple(float(v) for v in values))


def _time(n: int) -> float:
    return 0.08 / n + 0.00004 * n + 0.001


def time_over_n(counts: tuple[int, ...] = POWERS) -> Figure:
    x = tuple(float(n) for n in counts)
    y = tuple(_time(n) for n in counts)
    lines = (
        Line(
            "simulated on KSR-1",
            x,
            y,
            "time",
            processors=counts,
            tips=tuple(f"N = {n}\nT_para = {1e3 * t:.4f} ms\nrun 3f{n:04d}" for n, t in zip(counts, y, strict=True)),
            low=tuple(0.95 * t for t in y),
            high=tuple(1.06 * t for t in y),
        ),
        Line("ideal", x, tuple(y[0] / n for n in counts), "ideal", "computed", style="thin", markers=False),
    )
    best = min(counts, key=_time)
    marks = (Mark("p_x = 45", x=45.0), Mark("fastest", x=float(best), y=_time(best))) if len(counts) > 1 else ()
    return Figure(
        "Execution time over N",
        "The program is fastest at 45 processors; beyond that, added barrier execution outweighs the extra processors.",
        (Plot(_n(counts), Axis("Execution time", "s"), lines, marks=marks),),
        notes=("Five repetitions; bars show the range.", "N = 48 was cancelled and is left out."),
        view="time",
    )


def speedup_many(series: int = 5) -> Figure:
    x = tuple(float(n) for n in POWERS)
    lines = [Line("ideal", x, x, "ideal", "computed", style="thin", markers=False)]
    origins = ("simulated", "measured", "imported", "predicted", "computed")
    for i in range(series):
        y = tuple(n / (1 + 0.004 * (i + 1) * n) for n in x)
        band = {"low": tuple(0.9 * v for v in y), "high": tuple(1.1 * v for v in y)} if i % 5 in (1, 3) else {}
        lines.append(Line(f"{200 * (i + 1)} balls", x, y, f"series:{i}", origins[i % 5], processors=POWERS, **band))
    return Figure(
        "Speedup",
        "Larger problems scale further: 1,000 balls keep half of the processors busy up to 64.",
        (Plot(_n(POWERS), Axis("Speedup"), tuple(lines)),),
        view="speedup",
    )


def overheads(counts: tuple[int, ...] = POWERS, horizontal: bool = False) -> Figure:
    x = tuple(float(n) for n in counts)
    parts = (
        ("busy", "busy", tuple(0.08 for _ in counts)),
        ("memory stall", "memory_stall", tuple(0.01 + 0.0004 * n for n in counts)),
        ("idle: barrier wait", "idle", tuple(0.002 * math.log2(n) for n in counts)),
        ("idle: sequential part", "idle:1", tuple(0.0006 * (n - 1) for n in counts)),
        ("primitives", "primitive", tuple(0.0001 * n for n in counts)),
    )
    if horizontal:
        names = tuple(f"region with a rather long name {i}" for i in range(len(counts)))
        return Figure(
            "Loss by region",
            "Most is lost in region 3.",
            (
                Plot(
                    Axis("Lost time", "s"),
                    Axis("Region", scale="category", categories=names),
                    bars=Bars(tuple(float(i) for i in range(len(counts))), parts, horizontal=True),
                ),
            ),
            view="regions",
        )
    return Figure(
        "Overhead patterns",
        "Memory stalls overtake everything else from 32 processors on.",
        (Plot(_n(counts), Axis("Sum over processors", "s"), bars=Bars(x, parts, processors=counts)),),
        view="overheads",
    )


def gaps() -> Figure:
    x = tuple(float(n) for n in POWERS)
    y = (1.0, NAN, 0.8, 0.7, NAN, NAN, 0.2)
    return Figure(
        "Efficiency with missing runs",
        "Three of seven runs failed.",
        (
            Plot(
                _n(POWERS),
                Axis("Efficiency", limits=(0.0, 1.05)),
                (
                    Line("efficiency", x, y, "efficiency", processors=POWERS),
                    Line("all missing", x, (NAN,) * 7, "latency", processors=POWERS),
                ),
                marks=(Mark("held at 0.5", y=0.5),),
            ),
        ),
        view="gaps",
    )


def wide_log() -> Figure:
    counts = tuple(2**i for i in range(11))
    x = tuple(float(n) for n in counts)
    return Figure(
        "Work needed",
        "Work grows by six orders of magnitude.",
        (
            Plot(
                _n(counts),
                Axis("Work W", "op", scale="log10"),
                (Line("time bound", x, tuple(1e3 * n**2 for n in x), "series:0", processors=counts),),
            ),
        ),
        view="work",
    )


def matrix(size: int = 6, *, holes: bool = True) -> Figure:
    counts = tuple(2**i for i in range(size)) if size <= 11 else tuple(range(1, size + 1))
    names = tuple(str(n) for n in counts)
    rows = []
    for i, a in enumerate(counts):
        cells: list[Cell | None] = []
        for j, b in enumerate(counts):
            if j < i:
                cells.append(None)
            elif holes and j - i > 3 and i % 2 == 0:
                cells.append(Cell((None, None, None), reason="an efficiency of 0.5 is not reached up to 2,048 balls"))
            else:
                v = (a / b) ** 0.4
                w: float | None = (a / b) ** 0.7
                if holes and j - i == 3:
                    w = None
                cells.append(Cell((v, w, (a / b) ** 0.9), reason="" if w is not None else "not reached", tip=""))
        rows.append(tuple(cells))
    return Figure(
        "Scalability matrix",
        "From 4 to 16 processors the program keeps 0.57 of its scalability by the time bound.",
        (
            Grid(
                "N",
                "N′",
                names,
                names,
                tuple(rows),
                ("time bound", "efficiency 0.5 held", "memory bound"),
                row_processors=counts,
                column_processors=counts,
            ),
        ),
        notes=("Multiplicativity residual: 0.8 %.",),
        view="matrix",
    )


def profile(rows: int = 12) -> Figure:
    made = [Row(("whole program", 0.31, 1.0, 1, 1_234_567), 0, "0", "billiard.c:1")]
    kinds = ("main", "init_balls", "parallel loop (omp for, dynamic)", "find_collision", "barrier", "update_queue")
    for i in range(1, rows):
        share = 0.5 / i
        value = None if i == 4 else share * 0.31
        made.append(
            Row(
                (f"{kinds[i % 6]} at line {10 * i}", value, share, 4 ** (i % 9), int(1e6 / i)),
                1 + i % 3,
                str(i),
                f"billiard.c:{10 * i}",
            )
        )
    return Figure(
        "Execution profile",
        "Half of all time is spent in find_collision.",
        (
            Table(
                (
                    Column("Region"),
                    Column("Time", "s", "time"),
                    Column("Share", "", "busy"),
                    Column("Calls"),
                    Column("Cycles", "cycles", "memory_stall"),
                ),
                tuple(made),
            ),
        ),
        view="profile",
    )


_PROGRAM = """#include <stdio.h>
#include <omp.h>

/* Moves every ball for one step of time,
   then waits for all. */
static double step(double *x, const double *v, int n, double dt)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+:sum) schedule(static)
    for (int i = 0; i < n; i++) {
        x[i] += v[i] * dt; // position
        sum += x[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *name = "billiard \\"one\\"";
    double x[1000] = {0}, v[1000] = {1.5e-3};
    for (int s = 0; s < 100; s++)
        printf("%s %f\\n", name, step(x, v, 1000, 0.01));
    return 0;
}
"""


def source() -> Figure:
    lines = []
    for number, text in enumerate(_PROGRAM.splitlines(), 1):
        region = 1 if 6 <= number <= 15 else 2 if number >= 17 else 0
        if 9 <= number <= 13:
            region = 3
        inserted = text
        if number == 7:
            inserted = "{ SCALEGRAPH_SCOPE(1);"
        if number == 10:
            inserted = text.replace("{", "{ SCALEGRAPH_SCOPE(3);")
        if number == 18:
            inserted = "{ SCALEGRAPH_SCOPE(2);"
        values = (0.012 * (number % 4), 1200.0 * number) if region == 3 else ()
        lines.append(SourceLine(number, text, inserted, values, region))
    columns = (Column("Busy", "s", "busy"), Column("Misses", "", "miss"))
    return Figure(
        "Source with costs",
        "Line 11 misses the cache most.",
        (Source("billiard.c", columns, tuple(lines)),),
        view="source",
    )


def combined() -> Figure:
    return Figure(
        "Latency",
        "The latency grows faster than the work from 16 processors on.",
        (time_over_n().panels[0], profile(5).panels[0]),
        view="combined",
    )


def empty() -> Figure:
    return Figure(
        "Scalability matrix",
        empty="The matrix needs runs of at least two processor counts; this study has one. Run more to see it.",
        view="matrix",
    )


def efficiency_held(value: float = 0.5) -> Figure:
    x = tuple(float(n) for n in POWERS)
    line = Line("efficiency", x, tuple(1 / (1 + 0.03 * n) for n in x), "efficiency", processors=POWERS)
    held = Handle("efficiency", "y", value, f"E = {value:g} held", (0.01, 0.99))
    most = Handle("largest", "x", 32.0, "up to N = 32", (2.0, 64.0), "primitive")
    return Figure(
        "Efficiency",
        "Drag the line to hold another efficiency.",
        (Plot(_n(POWERS), Axis("Efficiency", limits=(0.0, 1.05)), (line,), handles=(held, most)),),
        view="efficiency",
    )


def _unit_speed(n: float, size: float) -> float:
    return 12e6 * size / (size + 40 * n) / (1 + 0.004 * n)


def speed_field(value: float = 6e6) -> Figure:
    rows = (64.0, 128.0, 256.0, 512.0, 1024.0)
    columns = tuple(float(n) for n in POWERS)
    values = tuple(tuple(_unit_speed(n, size) if size >= 128 or n < 32 else NAN for n in columns) for size in rows)
    dots = tuple(
        Dot(n, size, _unit_speed(n, size), f"N = {n:g}, size {size:g}\nrun 4a", int(n), origin)
        for size, origin in ((128.0, "simulated"), (512.0, "imported"))
        for n in columns
    )
    field = Field(
        _n(POWERS),
        Axis("Problem size", scale="log2", ticks=rows),
        Axis("Unit speed", "op/s"),
        columns,
        rows,
        values,
        (2e6, 4e6, 8e6, 10e6),
        dots,
        (Handle("speed", "value", value, f"{value / 1e6:g} Mop/s held", (1e6, 11e6)),),
    )
    return Figure("Unit speed", "Along a line the speed of a processor stays.", (field,), view="speed-map")


def speed_surface() -> Figure:
    rows = (64.0, 128.0, 256.0, 512.0, 1024.0)
    columns = tuple(float(n) for n in POWERS)
    heights = tuple(tuple(_unit_speed(n, size) if size >= 128 or n < 32 else NAN for n in columns) for size in rows)
    surface = Surface(
        _n(POWERS), Axis("Problem size", scale="log2", ticks=rows), Axis("Unit speed", "op/s"), columns, rows, heights
    )
    return Figure("Unit speed", "Speed falls with N and rises with the problem.", (surface,), view="speed-surface")


def all_figures() -> dict[str, Figure]:
    """Every figure by a file name."""
    return {
        "time": time_over_n(),
        "time-one-point": time_over_n((8,)),
        "time-1024": time_over_n(tuple(2**i for i in range(11))),
        "time-odd": time_over_n((1, 2, 3, 5, 6, 7, 12, 24, 31, 32, 33, 48, 64, 100, 1024)),
        "speedup": speedup_many(),
        "speedup-20": speedup_many(20),
        "overheads": overheads(),
        "overheads-1024": overheads(tuple(2**i for i in range(11))),
        "overheads-one": overheads((1,)),
        "regions": overheads(horizontal=True),
        "gaps": gaps(),
        "work": wide_log(),
        "matrix": matrix(),
        "matrix-2": matrix(2, holes=False),
        "matrix-20": matrix(20),
        "profile": profile(),
        "profile-long": profile(300),
        "source": source(),
        "combined": combined(),
        "empty": empty(),
        "handles": efficiency_held(),
        "field": speed_field(),
        "surface": speed_surface(),
    }
