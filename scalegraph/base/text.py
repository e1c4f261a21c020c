"""Safe display of text from files of others: control characters become visible; and lists in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scalegraph.base.patterns import pattern

# Control characters except tab and line feed, characters that change text direction or have no width (names could be
# forged), line separators, and bytes that are not UTF-8 (surrogates).
HIDDEN: Final = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BYTES: Final = range(0xDC80, 0xDD00)  # how Python represents bytes that are not UTF-8


def visible(text: str) -> str:
    r"""Return *text* with each character of `HIDDEN` escaped as, ``\x1b`` or ``\u202e``; tabs and lines stay."""
    return HIDDEN.sub(_escape, text)


def one_line(text: str) -> str:
    """Return *text* as `visible` does, also escaping line feeds and tabs."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code in _BYTES:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return *names* in words: ``a``, ``a and b``, ``a, b and c``."""
    return ", ".join(names[:-1]) + (f" {last} " if len(names) > 1 else "") + "".join(names[-1:])
