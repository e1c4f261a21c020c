"""The host's cache levels: geometry as reported by the system, latencies and effective sizes as measured."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from scalegraph.control.calibration.host import CacheLevel, Host

if TYPE_CHECKING:
    from scalegraph.control.calibration.derive import Origins

_FALLBACK = (CacheLevel(1, 32 * 1024, 64, 8, 1), CacheLevel(2, 1024 * 1024, 64, 16, 1))
_MOST_WAYS = 256
_LEAST_WALK: Final = 4  # cycles; anything less is noise


def cache_levels(origins: Origins, host: Host) -> list[dict[str, Any]]:
    """Return the ``[[cache]]`` sections of *host*, nearest level first."""
    described = _described(host)
    levels: list[dict[str, Any]] = []
    before_ns = origins.measured["load_chain"].median  # the first level is part of a load
    for number, level in enumerate(described):
        key = f"cache.{number}"
        source = "system: sysfs" if host.caches else "estimate: the system does not describe its caches"
        is_shared = level.shared_by > 1
        size = level.size_bytes
        if number == 0:
            values: dict[str, Any] = {"hit_cycles": origins.note(f"{key}.hit_cycles", 0, "choice: part of a load")}
        else:
            name = _inside(origins, described[number - 1].size_bytes, size)
            latency = origins.measured[name].median if name else before_ns
            hit = max(0, round((latency - before_ns) * origins.clock_ghz))
            values = {"hit_cycles": _hit(origins, key, hit, name)}
            before_ns = max(before_ns, latency)
            if number + 1 == len(described) and name:
                size = _true_size(origins, described[number - 1].size_bytes, size, latency)
        sized = source if size == level.size_bytes else _say_size(origins, level, size, is_virtual=host.is_virtual)
        size, ways = fit(size, level.line_bytes, level.ways)
        if size != level.size_bytes and sized == source:
            sized += f" says {level.size_bytes // 1024} KiB; rounded"
        levels.append(
            {
                "name": f"l{level.level}",
                "size_kib": origins.note(f"{key}.size_kib", size // 1024, sized),
                "line_bytes": origins.note(f"{key}.line_bytes", level.line_bytes, source),
                "ways": origins.note(f"{key}.ways", ways, source if ways == level.ways else f"{source}, made to fit"),
                **values,
                "shared_by": origins.note(
                    f"{key}.shared_by", level.shared_by, f"{source}, of the processors in use" if is_shared else source
                ),
            }
        )
    return levels


def prefetcher(origins: Origins, host: Host) -> dict[str, Any]:
    """Return the section ``[prefetch]``: how many lines from the last cache are in flight for sequential access.

    Empty if the system reports no second level, or sequential lines take as long as others.
    """
    levels = _described(host)
    name = _inside(origins, levels[-2].size_bytes, levels[-1].size_bytes) if len(levels) > 2 else ""
    ordered = name.replace("chase", "ordered")
    if not name or ordered not in origins.measured:
        return {}
    ahead = round(origins.measured[name].median / origins.measured[ordered].median)
    if ahead < 2:
        return {}
    key = "prefetch"
    return {
        "kind": origins.measured_as(f"{key}.kind", "stride", name, ordered, how="sequential lines are far faster"),
        "level": origins.note(f"{key}.level", 1, "choice: the level above the last cache"),
        "degree": origins.note(f"{key}.degree", 1, "choice: as many as are used"),
        "distance": origins.measured_as(
            f"{key}.distance", min(64, ahead), name, ordered, how="the first over the second: lines in flight"
        ),
        "under_way": origins.measured_as(f"{key}.under_way", ahead, name, ordered, how="the same"),
    }


def misses_under_way(origins: Origins, host: Host) -> tuple[int, tuple[str, ...]]:
    """Return the number of concurrent misses served by the last cache, and the measurements it is based on.

    0 if no working set lies between the last two cache sizes, or the measurements make no sense.
    """
    levels = _described(host)
    name = _inside(origins, levels[-2].size_bytes, levels[-1].size_bytes) if len(levels) > 1 else ""
    visits = origins.numbered("visit")
    names = (name, name.replace("chase", "visit"), f"visit_{visits[0][0]}" if visits else "")
    if not all(one in origins.measured for one in names):
        return 0, ()
    chased, visited, walk = (origins.measured[one].median for one in names)
    return (round(min(64.0, chased / (visited - walk))) if visited > walk else 0), names


def translation(origins: Origins) -> dict[str, Any]:
    """Return the section ``[translation]``: the number of small pages as fast as large ones, and the miss cost.

    The cost is measured with four times as many pages, where every access misses. Empty if there is no difference, as
    on a host without large pages.
    """
    large = dict(origins.numbered("large_pages"))
    small = origins.numbered("small_pages")
    more = {pages: (ns - large[pages]) * origins.clock_ghz for pages, ns in small if pages in large}
    known = max(takewhile(lambda pages: more[pages] < _LEAST_WALK, sorted(more)), default=0)
    walk = round(more.get(4 * known, 0.0))
    if walk < _LEAST_WALK:
        return {}
    names = [f"{kind}_pages_{pages}" for pages in (known, 4 * known) for kind in ("small", "large")]
    return {
        "walk_cycles": origins.measured_as(
            "translation.walk_cycles", walk, *names[2:], how="the difference, accessing one line per page"
        ),
        "entries": origins.measured_as(
            "translation.entries", known, *names[:2], how="the largest number without a difference"
        ),
    }


def _described(host: Host) -> tuple[CacheLevel, ...]:
    """Return at most four levels, all with the coherence line size, and only the last one shared."""
    levels = host.caches[:4] or _FALLBACK
    line = levels[-1].line_bytes
    threads = host.threads_per_core
    share = len(host.processors) // threads // host.sockets
    last = len(levels) - 1
    return tuple(
        CacheLevel(
            level.level,
            level.size_bytes,
            line,
            level.ways,
            _divisor(share, level.shared_by // threads) if number == last and number > 0 else 1,
        )
        for number, level in enumerate(levels)
    )


def _divisor(whole: int, wanted: int) -> int:
    """Return the largest divisor of *whole* that is at most *wanted*: groups of processors have equal sizes."""
    return next(n for n in range(max(1, min(whole, wanted)), 0, -1) if whole % n == 0 or n == 1)


def fit(size: int, line: int, ways: int) -> tuple[int, int]:
    """Return the largest size up to *size*, with ways near *ways*, that gives a power of two of sets."""
    lines = max(1, size // line)
    best: tuple[int, int] | None = None
    for candidate in sorted(range(1, min(_MOST_WAYS, lines) + 1), key=lambda n: (abs(n - ways), n)):
        sets = 1 << ((lines // candidate).bit_length() - 1)
        fitted = sets * candidate * line
        if fitted % 1024 == 0 and (best is None or fitted > best[0]) and abs(candidate - ways) <= ways // 2:
            best = (fitted, candidate)
            if fitted == size:
                break
    return best or (max(1024, line * ways), ways)


def _inside(origins: Origins, smaller: int, size: int) -> str:
    """Return the chase that fits a level of *size* bytes but is far larger than the previous one (*smaller* bytes)."""
    fitting = [(abs(bytes_ - min(size / 2, 4 * smaller)), bytes_) for bytes_, _ in origins.numbered("chase")]
    fitting = [(distance, bytes_) for distance, bytes_ in fitting if 2 * smaller <= bytes_ <= size / 2]
    return f"chase_{min(fitting)[1]}" if fitting else ""


def _hit(origins: Origins, key: str, hit: int, name: str) -> int:
    if not name:
        return int(
            origins.note(f"{key}.hit_cycles", hit, "estimate: no working set lies between this level and the next")
        )
    return int(origins.measured_as(f"{key}.hit_cycles", hit, name, how="minus the previous level"))


def _true_size(origins: Origins, smaller: int, size: int, latency: float) -> int:
    """Return the effective size of the last level on this host: beyond it the latency is nearer to the memory's."""
    middle = (latency + origins.measured["memory_chase"].median) / 2
    true = size
    for bytes_, chased in reversed([item for item in origins.numbered("chase") if smaller < item[0] <= size]):
        if chased <= middle:
            return true
        true = bytes_ // 2
    return max(true, 2 * smaller)


def _say_size(origins: Origins, level: CacheLevel, size: int, *, is_virtual: bool) -> str:
    name = f"chase_{2 * size}"
    text = f"system: sysfs says {level.size_bytes // 1024} KiB"
    if is_virtual:
        text += " (shared with other virtual machines)"
    if name in origins.measured:
        return f"{origins.text(name)}, so memory already; {text.removeprefix('system: ')}"
    return text
