"""Studies on disk. One file per study; it survives being killed, and opening it runs nothing."""

from scalegraph.store.manifest import FORMAT, Manifest, SourceText
from scalegraph.store.study import Study

__all__ = ["FORMAT", "Manifest", "SourceText", "Study"]
