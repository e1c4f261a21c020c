"""From advice to runs: the next point of a study whose program can be run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import EventSink, ignore
from scalegraph.request.model import Bound, Request, Scaling, Speedups

if TYPE_CHECKING:
    from scalegraph.analyze.advise import Advice
    from scalegraph.request.session import Session
    from scalegraph.store import Manifest


def request_of(manifest: Manifest, entry: Advice, file: str) -> Request:
    """Return the request of the study for the one point of *entry*.

    Raises:
        InputError: the study has no request that could be run; it holds measurements.

    """
    if not manifest.request.get("program"):
        raise InputError(Fault("holds no program that could be run; run the point yourself and import it", file=file))
    request = Request.model_validate(manifest.request)
    known = {name: value for name, value in entry.parameters.items() if name in request.parameters}
    return request.model_copy(
        update={
            "processors": (entry.processors,),
            "parameters": {**request.base(), **known},
            "bound": (Bound(),),
            "scaling": Scaling(),
            "what_if": (),
            "speedups": Speedups(),
        }
    )


def run_next(
    session: Session, path: Path, entry: Advice, emit: EventSink = ignore, cancel: CancelToken | None = None
) -> None:
    """Run the point of *entry* into the study at *path*, which keeps its own request. Raises as `Session.submit`."""
    manifest = session.open(path).manifest
    request = request_of(manifest, entry, str(path))
    with session.submit(request, path, emit, cancel) as study:
        study.set_manifest(manifest)
