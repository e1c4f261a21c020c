"""Energy by the number of cores: computed with machine files, beside published measurements.

    python benchmarks/energy/energy.py              # both parts
    python benchmarks/energy/energy.py --watts      # only the first part; takes seconds

*Watts* combines the measured times and bytes of `energy.toml` with the watts of the machine file and compares the
result with the measured joules; this isolates the error of the watts. The watts come from other programs (SPEChpc).
*Whole* simulates pi and compares its energy with the measured one. Everything is printed; nothing is fitted or
asserted.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from scalegraph import machine as machines
from scalegraph.analyze.costs.energy import energy
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.machine.model import Machine

HERE = Path(__file__).parent
SIZES = (4_000_000, 8_000_000)  # iterations of pi; the difference is free of the threads' start
MEASURED_AT = {"xeon-8360y": "2400.0", "xeon-8470": "2000.0"}  # MHz, turbo off
PACKAGE_W = 102.8  # xeon-8360y without memory; from the origin of its power.socket_w


def machine_of(table: dict[str, object]) -> Machine:
    """Return the machine of *table* at the measured clock; without memory power if only packages were measured."""
    name = str(table["machine"])
    found = machines.load(name, _clock(name))
    assert found.power is not None
    if table["memory"]:
        return found
    power = found.power.model_copy(update={"socket_w": PACKAGE_W, "memory_j_gb": 0.0})
    return found.model_copy(update={"power": power})


def _clock(name: str) -> dict[str, str]:
    return {"processor.clock_mhz": MEASURED_AT[name], "processor.turbo_cores": "[]", "processor.turbo_clock": "[]"}


def _scalegraph(*words: str) -> str:
    command = [sys.executable, "-c", "from scalegraph.cli.main import main; main()", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def stated(machine: Machine, cores: int, seconds: float, gbytes: float) -> float:
    """Return the joules for *cores* busy cores during *seconds* that move *gbytes* GB from memory."""
    clock = 1e9
    run = RunRecord(
        source="simulated",
        program="p",
        machine=machine.name,
        point=RunPoint(processors=cores),
        time_s=seconds,
        clock_hz=clock,
        categories={"busy_int": round(cores * seconds * clock)},
        counters={"memory_lines": round(gbytes * 1e9 / machine.coherence.line_bytes)},
    )
    found = energy(run, machine)
    assert found is not None
    return found.total_j


def watts(tables: list[dict[str, object]]) -> None:
    """Print the first part: measured times with the machine's watts."""
    for table in tables:
        machine, errors = machine_of(table), []
        print(f"\n{table['title']}\n  {table['source']}\n  cores   measured J   stated J    error")
        bytes_ = table.get("gbytes") or [0.0] * len(table["cores"])  # type: ignore[arg-type]
        for cores, seconds, joules, moved in zip(
            table["cores"], table["seconds"], table["joules"], bytes_, strict=True
        ):  # type: ignore[call-overload]
            value = stated(machine, cores, seconds, moved)
            errors.append(value / joules - 1)
            print(f"  {cores:5} {joules:12.5g} {value:10.5g} {100 * errors[-1]:+7.1f} %")
        _sum(errors)


def _sum(errors: list[float]) -> None:
    sizes = [abs(error) for error in errors]
    print(f"  mean error {100 * statistics.fmean(sizes):.1f} %, largest {100 * max(sizes):.1f} %")


def whole(table: dict[str, object]) -> None:
    """Print the second part: pi simulated with few iterations and extrapolated to 2e9."""
    cores = [int(n) for n in table["cores"]]  # type: ignore[attr-defined]
    changed = {**_clock(str(table["machine"])), "power.socket_w": str(PACKAGE_W), "power.memory_j_gb": "0.0"}
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as place:
            study = str(Path(place) / "pi.sgs")
            _scalegraph(
                "simulate",
                "--exact",
                str(HERE / "energy.c"),
                "--machine",
                str(table["machine"]),
                "-p",
                ",".join(map(str, cores)),
                "--cflags=-O3",
                "--ldflags=-lm",
                "-o",
                study,
                *(word for key, value in changed.items() for word in ("--set", f"{key}={value}")),
                "--",
                str(size),
            )
            for row in json.loads(_scalegraph("analyze", study, "--what", "energy", "--json"))["rows"]:
                found[(size, row["processors"])] = (row["time_s"], row["energy_j"])
    small, large = SIZES
    errors, of_time = [], []
    print("\npi simulated\n  cores  measured s  simulated s   error   measured J  simulated J   error")
    for n, seconds, joules in zip(cores, table["seconds"], table["joules"], strict=True):  # type: ignore[call-overload]
        more = 2e9 / (large - small)
        time, value = (more * (found[(large, n)][k] - found[(small, n)][k]) for k in (0, 1))
        errors.append(value / joules - 1)
        of_time.append(time / seconds - 1)
        print(
            f"  {n:5} {seconds:11.4f} {time:12.4f} {100 * of_time[-1]:+7.1f} % {joules:11.3f} {value:12.3f} "
            f"{100 * errors[-1]:+7.1f} %"
        )
    _sum(errors)
    least = [
        min(zip(column, cores, strict=True))[1] for column in (table["joules"], [found[(large, n)][1] for n in cores])
    ]  # type: ignore[call-overload]
    print(
        f"  minimum energy: measured at {least[0]} cores, simulated at {least[1]}; times: mean error "
        f"{100 * statistics.fmean(map(math.fabs, of_time)):.1f} %"
    )


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watts", action="store_true", help="only the first part")
    chosen = parser.parse_args()
    tables = tomllib.loads((HERE / "energy.toml").read_text(encoding="utf-8"))["program"]
    watts(tables)
    if not chosen.watts:
        whole(tables[0])


if __name__ == "__main__":
    main()
