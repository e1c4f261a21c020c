"""The time or rate that a program prints about itself, found by a pattern, with its unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from scalegraph.measurements.mapping import SECONDS
from scalegraph.measurements.table import durations

_NUMBER: Final = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")
_WORD: Final = re.compile(r"\s*[(\[]?\s*(?P<unit>[A-Za-zµμ]+)\b")
_RATE: Final = re.compile(r"\s*[(\[]?\s*(?P<unit>[A-Za-zµμ][\w.]*(?:\s*/\s*\w+)?)")
_IN: Final = re.compile(r"(?:[(\[]\s*|\bin\s+)(?P<unit>[A-Za-zµμ]+)\s*[)\]]?\s*[:=]?\s*$")
_PREFIXED: Final = re.compile(
    r"(?P<prefix>[kKMGTPE])(?P<two>i?)(?P<what>B|b|bit|bits|byte|bytes|[Ff][Ll][Oo][Pp][Ss]?|[Oo][Pp][Ss]?|LUP|UP|LUPS|UPS"
    r"|TEPS|cells?|it|iter|particles?|atoms?|updates?|zones?|Hz)(?P<ps>ps|s)?"
)
_DAY: Final = 86400.0
_LONGEST: Final = 200


@dataclass(frozen=True)
class Reported:
    """What was printed: *seconds* of a time or *rate* with its *unit*; the matching *text*; *remarks*."""

    text: str
    seconds: float | None = None
    rate: float | None = None
    unit: str = ""
    remarks: tuple[str, ...] = ()


def fault(text: str) -> str:
    """Return what is wrong with the pattern *text*; empty if nothing is."""
    try:
        found = re.compile(text)
    except re.error as error:
        return f"is not a regular expression: {error}"
    if found.groups < 1:
        return r"has no group around the number; expected parentheses, as in 'Elapsed: (\S+) s'"
    return ""


def time(pattern: str, output: str) -> Reported:
    """Return the time that *output* reports: the number in the first group of the pattern's last match.

    The unit is the group named ``unit``, or else the word after the number or before it (``in ms:``), or else seconds,
    with a remark. Raises `ValueError` if nothing matches or it is not a time.
    """
    found, many = _last(pattern, output)
    text = _value(found)
    whole = found[0].strip()[:_LONGEST]
    value = durations.seconds(text)
    unit, remarks = "", _remarks(many)
    if value is None:
        number, unit = _number(text), _unit(found, output)
        if unit and unit.lower() not in SECONDS:
            raise ValueError(f"'{whole}': '{unit}' is not a unit of time")
        value = number * SECONDS.get(unit.lower(), 1.0)
        if not unit:
            remarks += ("the output gives no unit for its time; seconds are assumed",)
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"'{whole}' is not a time above 0")
    return Reported(whole, seconds=value, unit=unit or "s", remarks=remarks)


def rate(pattern: str, output: str) -> Reported:
    """Return the rate that *output* reports, as `time` does; its unit is the text after the number.

    Prefixes are resolved, and the unit's time becomes a second, so that runs may print MB/s as well as GB/s.
    """
    found, many = _last(pattern, output)
    whole = found[0].strip()[:_LONGEST]
    value = _number(_value(found))
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"'{whole}' is not a rate above 0")
    end = found.end(_group(found))
    behind = _RATE.match(output[end : end + _LONGEST].split("\n", 1)[0])
    unit = found.groupdict().get("unit") or (behind["unit"] if behind else "")
    factor, plain = _plain(re.sub(r"\s", "", unit))
    return Reported(whole, rate=value * factor, unit=plain[:100], remarks=_remarks(many))


def _plain(unit: str) -> tuple[float, str]:
    """Return a rate's *unit* as a factor and a unit without prefix per second: ``MB/s`` is (1e6, "B/s")."""
    what, slash, per = unit.partition("/")
    factor = 1.0
    if slash and (seconds := _DAY if per.lower() == "day" else SECONDS.get(per.lower())):
        factor, per = 1 / seconds, "s"
    if found := _PREFIXED.fullmatch(what):
        base = 1024 if found["two"] else 1000
        factor *= base ** ("kmgtpe".index(found["prefix"].lower()) + 1)
        what = found["what"] + ("/s" if found["ps"] and not slash else "")
    return factor, what + (f"/{per}" if slash else "")


def _last(pattern: str, output: str) -> tuple[re.Match[str], int]:
    last, many = None, 0
    for found in re.finditer(pattern, output, re.MULTILINE):
        last, many = found, many + 1
    if last is None:
        raise ValueError(f"nothing in its output matches '{pattern}'")
    return last, many


def _remarks(many: int) -> tuple[str, ...]:
    return (f"the output has {many} places that match the pattern; the last one is used",) if many > 1 else ()


def _group(found: re.Match[str]) -> int:
    """Return the index of the group with the number: the first one that is not the unit."""
    unit = found.re.groupindex.get("unit")
    return 2 if unit == 1 and found.re.groups > 1 else 1


def _value(found: re.Match[str]) -> str:
    return (found[_group(found)] or "").strip().rstrip(",;)]")


def _number(text: str) -> float:
    """Return the number at the beginning of *text*; raise `ValueError` if there is none."""
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"'{text[:_LONGEST]}' is not a number")
    return float(match[0].replace("_", "").lower().replace("d", "e"))


def _unit(found: re.Match[str], output: str) -> str:
    """Return the unit of the number in *found*; empty if there is none."""
    if named := found.groupdict().get("unit"):
        return named
    text = _value(found)
    number = _NUMBER.match(text)
    if number and (own := text[number.end() :].strip()):  # 12.5ms
        return own
    end = found.end(_group(found))
    line = output[end : end + 40].split("\n", 1)[0]
    if (behind := _WORD.match(line)) and behind["unit"].lower() in SECONDS:
        return behind["unit"]
    before = output[: found.start(_group(found))].rsplit("\n", 1)[-1]
    if (said := _IN.search(before)) and said["unit"].lower() in SECONDS:
        return said["unit"]
    return ""
