"""Studies on disk: one file per study, which survives being killed; opening it runs nothing."""

from scalegraph.store.manifest import FORMAT, Manifest, SourceText
from scalegraph.store.study import Study

__all__ = ["FORMAT", "Manifest", "SourceText", "Study"]
