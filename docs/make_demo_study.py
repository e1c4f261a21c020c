"""Generate the study that the demonstration opens: ``python docs/make_demo_study.py`` (about a minute).

Runs ``resources/requests/demo.toml`` into ``resources/studies/demo.sgstudy``, without its traces, which are too large
to ship. The study's request still asks for them, so the window offers these runs. Run this script after every change of
the result format, of simulated numbers, or of the demonstration's program or machine.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

from scalegraph.base.resources import resource_dir
from scalegraph.request import Session
from scalegraph.request.model import shipped

TARGET = Path(__file__).parent.parent / "resources" / "studies" / "demo.sgstudy"


def main() -> int:
    """Generate the study; return the exit code."""
    session = Session()
    request = session.load(resource_dir("requests") / "demo.toml")
    program = request.program.model_copy(update={"directory": ""})  # keeps this computer's paths out of the file
    request = request.model_copy(update={"program": program})
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / TARGET.name
        with session.submit(request.model_copy(update={"trace": None}), path) as study:
            failed = [run.point.label() for run in study.runs() if not run.ok]
            asked = request.model_dump(mode="json", exclude_defaults=True)
            kept = {**study.manifest.request, "trace": asked["trace"]}
            study.set_manifest(study.manifest.model_copy(update={"request": kept}))
            shipped.mark(study)
            count = len(study)
        connection = sqlite3.connect(path)
        connection.execute("VACUUM")
        connection.close()
        content = path.read_bytes()
    if failed:
        print("The study is not written; these runs failed:", "; ".join(failed), file=sys.stderr)
        return 1
    if str(Path.cwd()).encode() in content or str(TARGET.parent.parent).encode() in content:
        print("The study is not written; it contains a path of this computer.", file=sys.stderr)
        return 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(content)
    print(f"{TARGET}: {count} runs, {len(content) / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
