"""The cache on disk, for the preferences: location, size, clearing."""

from __future__ import annotations

from pathlib import Path

from scalegraph.runtime.cache import cache_root, trim


def place() -> Path:
    """Return the cache directory."""
    return cache_root()


def size() -> int:
    """Return the size of the cache in bytes."""
    total = 0
    for file in cache_root().rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue  # deleted in the meantime
    return total


def clear() -> int:
    """Remove every cache entry that is not in use; return the remaining bytes."""
    for kind in cache_root().iterdir() if cache_root().is_dir() else ():
        if kind.is_dir():
            trim(kind, 0)
    return size()
