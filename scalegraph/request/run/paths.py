"""Costs by sampled call path, added to the runs of a study."""

from __future__ import annotations

from scalegraph.base.run import RunRecord
from scalegraph.store import Study


def keeping_paths(study: Study, target: str) -> dict[str, RunRecord]:
    """Give the runs of *study* on *target* costs by sampled call path; return the changed ones, by key."""
    from scalegraph.request.model.sampled_paths import with_regions

    regions, changed = with_regions(study.manifest.regions, study.runs(output=True, target=target))
    if changed:
        study.set_manifest(study.manifest.model_copy(update={"regions": regions}))
        study.add_runs(changed)
    return {record.point.key: record for record in changed}
