"""Processor time of reading a million values, by format.

    python benchmarks/reading.py [--values 1000000]

The same values are written in every format to a temporary directory: 100 points, 5 repetitions, and as many call paths
as needed. Only reading is timed, from the file to the measurement set, in processor time. The Cube profiles have up to
64 threads, 2,000 call paths and 5 metrics; the reader combines the threads' values, so it keeps fewer of them.
"""

from __future__ import annotations

import argparse
import io
import json
import struct
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.measurements.reader import recognised

POINTS = [(2**exponent, 100 * step) for exponent in range(10) for step in range(1, 11)]
REPETITIONS = 5
CUBE_NODES, CUBE_THREADS, CUBE_METRICS = 2000, 64, 5


def series(count: int) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield the name of each of *count* call paths, and its values of shape (points, repetitions)."""
    chance = np.random.default_rng(1)
    for number in range(count):
        yield f"main->region{number}", chance.random((len(POINTS), REPETITIONS)).tolist()


def write_text(path: Path, count: int) -> None:
    """Write Extra-P text."""
    with path.open("w") as file:
        points = " ".join(f"({p} {n})" for p, n in POINTS)
        file.write(f"PARAMETER p n\nPOINTS {points}\nMETRIC time\n")
        for name, values in series(count):
            file.write(f"REGION {name}\n")
            file.writelines(f"DATA {' '.join(map(repr, row))}\n" for row in values)


def write_json(path: Path, count: int) -> None:
    """Write the newer variant of Extra-P JSON."""
    measured = {
        name: {"time": [{"point": point, "values": row} for point, row in zip(POINTS, values, strict=True)]}
        for name, values in series(count)
    }
    path.write_text(json.dumps({"parameters": ["p", "n"], "measurements": measured}))


def write_lines(path: Path, count: int) -> None:
    """Write JSON lines, one value each."""
    with path.open("w") as file:
        for name, values in series(count):
            for (p, n), row in zip(POINTS, values, strict=True):
                head = f'{{"params":{{"p":{p},"n":{n}}},"callpath":"{name}","metric":"time","value":'
                file.writelines(f"{head}{value!r}}}\n" for value in row)


def write_talpas(path: Path, count: int) -> None:
    """Write TaLPas, one value per line."""
    with path.open("w") as file:
        for name, values in series(count):
            for (p, n), row in zip(POINTS, values, strict=True):
                head = f'{{"parameters":{{"p":{p};"n":{n}}};"metric":"time";"callpath":"{name}";"value":'
                file.writelines(f"{head}{value!r}}}\n" for value in row)


def write_table(path: Path, count: int) -> None:
    """Write a long table."""
    with path.open("w") as file:
        file.write("p,n,region,time [s]\n")
        for name, values in series(count):
            for (p, n), row in zip(POINTS, values, strict=True):
                file.writelines(f"{p},{n},{name},{value!r}\n" for value in row)


def write_cubes(path: Path, _count: int) -> None:
    """Write a directory of Cube4 profiles."""
    for processes in (1, 2, 4, 8, 16, 32, 64):
        for repetition in (1, 2):
            run = path / f"app.p{processes}.n10.r{repetition}"
            run.mkdir(parents=True)
            (run / "profile.cubex").write_bytes(_cubex(min(processes, CUBE_THREADS)))


def _cubex(threads: int) -> bytes:
    def node(index: int) -> str:
        below = "".join(node(child) for child in (2 * index + 1, 2 * index + 2) if child < CUBE_NODES)
        return f'<cnode id="{index}" calleeId="{index}">{below}</cnode>'

    nodes = range(CUBE_NODES)
    regions = "".join(f'<region id="{i}" mod="f.c" begin="{i}" end="-1"><name>r{i}</name></region>' for i in nodes)
    metrics = "".join(
        f'<metric id="{i}" type="INCLUSIVE"><uniq_name>{"time" if i == 0 else f"m{i}"}</uniq_name>'
        f"<dtype>DOUBLE</dtype><uom>sec</uom></metric>"
        for i in range(CUBE_METRICS)
    )
    locations = "".join(f'<location Id="{i}"><name>T</name><rank>{i}</rank></location>' for i in range(threads))
    anchor = (
        f'<?xml version="1.0"?><cube><metrics>{metrics}</metrics><program>{regions}{node(0)}</program><system>'
        f'<systemtreenode Id="0"><name>m</name><locationgroup Id="0"><name>p</name>{locations}</locationgroup>'
        "</systemtreenode></system></cube>"
    )
    body = zlib.compress(np.random.default_rng(threads).random(CUBE_NODES * threads).astype("<f8").tobytes())
    data = b"ZCUBEX.DATA" + struct.pack("<4q", 1, 0, 0, len(body)) + body
    index = b"CUBEX.INDEX" + struct.pack(f"<ihbi{CUBE_NODES}i", 1, 0, 1, CUBE_NODES, *nodes)
    members = {"anchor.xml": anchor.encode()}
    for metric in range(CUBE_METRICS):
        members |= {f"{metric}.data": data, f"{metric}.index": index}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
    return file.getvalue()


FILES: dict[str, Callable[[Path, int], None]] = {
    "text.txt": write_text,
    "new.json": write_json,
    "lines.jsonl": write_lines,
    "talpas.txt": write_talpas,
    "table.csv": write_table,
    "cubes": write_cubes,
}


def main() -> None:
    """Write and read every file; print size, number of values and processor time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=1_000_000)
    count = max(1, parser.parse_args().values // (len(POINTS) * REPETITIONS))
    print(f"{'format':<20}{'MB':>8}{'values':>12}{'processor s':>14}")
    with tempfile.TemporaryDirectory() as directory:
        for name, write in FILES.items():
            path = Path(directory) / name
            write(path, count)
            size = sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*.cubex"))) / 1e6
            reader = recognised(path)[0]
            start = time.process_time()
            found = reader.read(path, CancelToken(), lambda _: None)
            print(
                f"{reader.name:<20}{size:>8.0f}{len(found.values):>12,}{time.process_time() - start:>14.2f}", flush=True
            )


if __name__ == "__main__":
    main()
