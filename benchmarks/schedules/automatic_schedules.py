"""Automatic schedules beside static and the best schedule: the scheduling paper's loops and third-party programs.

    python benchmarks/schedules/automatic_schedules.py --programs DIRECTORY [--only NAME,..] [--keep FILE.json]

For each case of `automatic_schedules.toml`, runs `scalegraph schedules --schedules automatic`, and then `--schedules
all` into the same study. Prints four times: of the program as written, with static loops, with the automatic choice,
and the best of all schedules, including the best schedule for each loop combined. Also prints the number of runs of
both commands, and their choices. Failing cases are printed, too. Nothing is asserted. DIRECTORY holds the programs in
folders REPOSITORY-COMMIT with any commit; without it, only the paper's loops run. The number of processors is 8 on ksr1
and 16 on epyc-7763.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROCESSORS = {"ksr1": 8, "epyc-7763": 16}
COMMAND = [sys.executable, "-c", "from scalegraph.cli.main import main; main()", "schedules"]


def compared(case: dict[str, Any], place: Path | None) -> dict[str, Any]:
    """Run a case; return its times in seconds, choices and numbers of runs."""
    machine = case.get("machine", "epyc-7763")
    count = PROCESSORS[machine]
    words = [*map(str, case.get("parameters", {}).values()), *case.get("args", ())]
    flags = [f"--{key.replace('_', '-')}={case[key]}" for key in ("cflags", "accept_exit") if key in case]
    with tempfile.TemporaryDirectory() as scratch:
        common = [
            *case["sources"],
            "-p",
            str(count),
            "--machine",
            machine,
            "--ldflags=-lm",
            *flags,
            "--json",
            "-o",
            str(Path(scratch) / "s.sgs"),
        ]
        after = ["--", *(word.replace("{N}", str(count)) for word in words)]
        found = {}
        for which in ("automatic", "all"):
            done = subprocess.run(
                [*COMMAND, *common, "--schedules", which, *after],
                cwd=place,
                capture_output=True,
                text=True,
                check=False,
            )
            if not done.stdout.strip():
                raise RuntimeError(done.stderr.strip().splitlines()[-1])
            found[which] = json.loads(done.stdout)
    automatic, everything = found["automatic"], found["all"]
    if not automatic["advice"]:
        raise RuntimeError("does not run")
    times = {one["name"]: one["runs"][0]["time_s"] for one in everything["schedules"] if one["runs"]}
    advice, best = automatic["advice"][0], everything["advice"][0]
    return {
        "written": advice["written_s"],
        "static": times["static"],
        "automatic": advice["time_s"],
        "best": best["time_s"],
        "chosen": advice["schedule"],
        "best_of": best["schedule"],
        "runs": len(automatic["schedules"]) + 1,
        "runs_of_all": len(everything["schedules"]) + 1,
    }


def folder(case: dict[str, Any], programs: Path | None) -> Path | None:
    """Return the folder of a case's sources; None for a shipped program. Raises `RuntimeError` if it is missing."""
    if "repository" not in case:
        return None
    name = str(case["repository"]).rpartition("/")[2]
    there = sorted(programs.glob(f"{name}*")) if programs is not None else []
    if not there:
        raise RuntimeError(f"no checkout of {case['repository']} in --programs")
    found = there[0] / str(case["folder"])
    if not found.is_dir():
        raise RuntimeError(f"no folder {found}")
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, metavar="DIRECTORY", help="directory with the third-party programs")
    parser.add_argument("--only", default="", metavar="NAME,..", help="only these cases")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="save results, and reuse those already saved")
    chosen = parser.parse_args()
    cases = tomllib.loads((HERE / "automatic_schedules.toml").read_text(encoding="utf-8"))["case"]
    kept: dict[str, Any] = {}
    if chosen.keep is not None and chosen.keep.exists():
        kept = json.loads(chosen.keep.read_text(encoding="utf-8"))
    print("case             written    static automatic      best  /static   /best  runs  chosen; best")
    for case in cases:
        if chosen.only and case["name"] not in chosen.only.split(","):
            continue
        try:
            row = kept.get(case["name"]) or compared(case, folder(case, chosen.programs))
        except RuntimeError as error:
            print(f"{case['name']:<15} {error}")
            continue
        kept[case["name"]] = row
        if chosen.keep is not None:
            chosen.keep.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        times = [1e3 * row[name] for name in ("written", "static", "automatic", "best")]
        print(
            f"{case['name']:<15}",
            *(f"{time:9.4g}" for time in times),
            f"{times[2] / times[1]:8.3f}",
            f"{times[2] / times[3]:7.3f}",
            f"{row['runs']:2}/{row['runs_of_all']}",
            f" {row['chosen']}; {row['best_of']}",
            flush=True,
        )
    if kept:
        static, best = ([row["automatic"] / row[name] for row in kept.values()] for name in ("static", "best"))
        print(
            f"times in ms. automatic / static: maximum {max(static):.3f}; automatic / best: mean "
            f"{statistics.fmean(best):.3f}, maximum {max(best):.3f}"
        )


if __name__ == "__main__":
    main()
