"""The cache on disk as the preferences show it: its place, its size, and clearing it."""

from __future__ import annotations

from pathlib import Path

from scalegraph.runtime.cache import cache_root, trim


def place() -> Path:
    """Return the cache directory."""
    return cache_root()


def size() -> int:
    """Return the bytes that the cache takes."""
    total = 0
    for file in cache_root().rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue  # gone meanwhile
    return total


def clear() -> int:
    """Remove every entry of the cache that is not in use; return the bytes that are left."""
    for kind in cache_root().iterdir() if cache_root().is_dir() else ():
        if kind.is_dir():
            trim(kind, 0)
    return size()
