"""The seven schedules of the loop-scheduling paper on its five kernels, and its study of alpha."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from papers_tables.studies import Studies, markdown
from scalegraph.figures.figure import Plot
from scalegraph.subjects.schedule_runs import ScheduleRuns, saving, schedule_runs

KERNELS: Final = (
    ("loops-sor", "SOR (Fig. 1)"),
    ("loops-jacobi", "JI (Fig. 2)"),
    ("loops-closure-random", "TC, random (Fig. 3)"),
    ("loops-closure-clique", "TC, clique (Fig. 4)"),
    ("loops-matmul", "MM (Fig. 5)"),
    ("loops-adjoint", "AC (Fig. 6)"),
)
# A tenth of the paper's sweeps, because all sweeps are alike; the request has all 500.
FEWER: Final = {"loops-sor": {"n": 1024, "sweeps": 50}, "loops-alpha": {"n": 1024, "sweeps": 50}}
MACHINES: Final = ("ksr1", "convex-exemplar")
COMPARED: Final = ("static", "SE", "EA", "LA", "CA", "GA", "HA")
LITERATURE: Final = ("guided", "TSS", "FAC2", "AF", "AWF-B", "steal", "RAND")
MANY: Final = (  # the most imbalanced kernels; the second takes hours on 256 processors
    ("loops-adjoint", ("ML", *COMPARED[1:], *LITERATURE)),
    ("loops-closure-clique", ("ML", *COMPARED[1:])),
)
MANY_COUNTS: Final = (8, 16, 64, 256)
ALPHAS: Final = ("N/P", "N/P^2", "32", "4")


def _runs(studies: Studies, request: str, study: str, machine: dict[str, object]) -> ScheduleRuns:
    path = studies.shipped(request, study, machine=machine, **_fewer(request))
    session = studies.session
    found = schedule_runs(session.study_data(session.open(path)))
    if found is None:
        raise ValueError(f"{path}: no runs under schedules")
    return found


def _beside(runs: ScheduleRuns, name: str, processors: int, other: str = "runtime=ML") -> str:
    """Return by how many per cent *name* takes longer than *other*."""
    longer = -saving(runs.runs[other, processors], runs.runs[name, processors])
    return f"{100 * longer:+.1f}"


def pictures(studies: Studies, folder: Path) -> None:
    """Write the paper's seven figures on the KSR-1 into *folder*: time over N by schedule; alpha on 8 processors."""
    for request, _ in KERNELS:
        path = studies.shipped(request, f"{request}-ksr1", machine={"name": "ksr1"}, **_fewer(request))
        _picture(studies, "schedules", path, folder / f"{request}.png", most=10)
    machine = {"name": "ksr1", "overrides": {"disturbance.kind": "ticks"}}
    path = studies.shipped("loops-alpha", "loops-alpha-ticks", machine=machine, **_fewer("loops-alpha"))
    _picture(studies, "schedule-parameters", path, folder / "loops-alpha.png")


def _picture(studies: Studies, view: str, study: Path, path: Path, **options: object) -> None:
    """Write a view's plots, without its tables, to *path*."""
    figure = studies.session.view(study, view, **options)
    plots = tuple(panel for panel in figure.panels if isinstance(panel, Plot))
    studies.session.write(replace(figure, panels=plots), path, size_cm=(16, 10))


def _fewer(request: str) -> dict[str, object]:
    return {"parameters": FEWER[request]} if request in FEWER else {}


def times(studies: Studies) -> list[str]:
    """Return the time on 8 processors under ML, and by how much the other schedules take longer."""
    rows = []
    for request, title in KERNELS:
        for machine in MACHINES:
            runs = _runs(studies, request, f"{request}-{machine}", {"name": machine})
            names = ["" if name == "static" else f"runtime={name}" for name in COMPARED]
            time = runs.runs["runtime=ML", 8].time_s or 0.0
            rows.append([f"{title}, {machine}", f"{time:.3f} s", *(_beside(runs, name, 8) for name in names)])
    return markdown(["N = 8; % more than ML", "ML", *COMPARED], rows)


def alpha(studies: Studies) -> list[str]:
    """Return by how much EA and CA take longer than ML for each alpha, without and with clock ticks."""
    rows = []
    for title, ticks in (("quiet", {}), ("ticks", {"disturbance.kind": "ticks"})):
        machine = {"name": "ksr1", "overrides": ticks}
        runs = _runs(studies, "loops-alpha", f"loops-alpha-{title}", machine)
        for schedule in ("EA", "CA"):
            for value in ALPHAS:
                name = f"runtime={schedule},alpha={value}"
                rows.append([title, schedule, value, *(_beside(runs, name, processors) for processors in runs.counts)])
    return markdown(["ksr1", "schedule", "alpha", *(f"N = {n}" for n in (2, 4, 6, 8))], rows)


def many(studies: Studies) -> list[str]:
    """Return by how much the paper's and other published schedules take longer than ML on more processors."""
    rows = []
    for request, compared in MANY:
        names = [f"runtime={name}" for name in compared]
        values = {"machine": {"name": "ksr1"}, "processors": MANY_COUNTS}
        path = studies.shipped(request, f"{request}-many", schedules={"compare": names, "advise": False}, **values)
        runs = schedule_runs(studies.session.study_data(studies.session.open(path)))
        if runs is None:
            raise ValueError(f"{path}: no runs under schedules")
        title = dict(KERNELS)[request]
        rows.append([f"{title}: ML, s", *(f"{runs.runs['runtime=ML', n].time_s or 0.0:.4f}" for n in MANY_COUNTS)])
        for name in ["", *names[1:]]:
            said = name.removeprefix("runtime=") or "static"
            rows.append([f"{said}, % more", *(_beside(runs, name, n) for n in MANY_COUNTS)])
    return markdown(["ksr1", *(f"N = {n}" for n in MANY_COUNTS)], rows)
