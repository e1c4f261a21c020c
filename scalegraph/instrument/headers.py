"""Functions of a program's own headers that are worth a region where a source calls them.

Headers get no probes. The work of a header library (parallel loops in templates, thread pools) would be charged to the
whole calling function, so each source statement that calls such a function becomes a region.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor

from scalegraph.base.patterns import pattern
from scalegraph.instrument.tree import function_name, is_whole_statement
from scalegraph.runtime.compiler import is_foreign
from scalegraph.runtime.languages import Language, language_of

_MOST_BYTES: Final = 2 << 20  # of headers read for one source
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_DEFINE: Final = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\\\n]|\\.|\\\r?\n)*)", re.MULTILINE)
_DIRECTORY: Final = ("-I", "-isystem", "-iquote", "-idirafter")
_QUERY: Final = """
(function_definition) @function
[(for_statement) (while_statement) (do_statement) (for_range_loop)] @loop
(preproc_call) @directive
(call_expression function: (_) @call)
"""
_ALGORITHMS: Final = (
    "sort|stable_sort|nth_element|accumulate|reduce|transform|transform_reduce|for_each|for_each_n|copy|fill|iota|"
    "inner_product|partial_sum|inclusive_scan|exclusive_scan|generate|count_if|find_if|max_element|min_element|unique|"
    "partition|thread|jthread|async|lock_guard|unique_lock|scoped_lock"
)
_WORKS: Final = pattern(rf"P?MPI_\w+|pthread_\w+|omp_\w+|std::(?:{_ALGORITHMS})")


@dataclass
class _Function:
    """A function of a header: whether it *works* by itself, and the names that it *calls*."""

    name: str
    works: bool = False
    calls: set[str] = field(default_factory=set)


def working(
    source: Path, text: str, options: Sequence[str] = (), cwd: Path | None = None, language: Language | None = None
) -> frozenset[str]:
    """Return the functions in the program's own headers of *source* that loop, share work out, wait or communicate.

    *text*: of the source; *options*: of its compilation in *cwd*, for the header directories. A function counts if it
    calls another that counts, a class if its constructor does. Headers of the compiler and the system are ignored.
    """
    language = language or language_of(str(source))
    if language != "c++":  # header-only libraries are written in it
        return frozenset()
    directories = [(cwd or source.parent) / one for one in _directories(options)]
    found: list[_Function] = []
    for content in _headers(source.parent, text.encode("utf-8", "surrogateescape"), directories):
        found += _functions(content)
    names = {one.name for one in found if one.works}
    while more := {one.name for one in found if one.name not in names and one.calls & names}:
        names |= more
    return frozenset(names)


def hiding(source: Path, text: str, options: Sequence[str] = (), cwd: Path | None = None) -> frozenset[str]:
    """Return the macros with unbalanced braces in the program's own headers of *source*, and in *options*.

    As `working`. Where a statement ends cannot be told without them.
    """
    directories = [(cwd or source.parent) / one for one in _directories(options)]
    contents = _headers(source.parent, text.encode("utf-8", "surrogateescape"), directories)
    found = {name.decode() for content in contents for name, said in _DEFINE.findall(content) if not _closes(said)}
    for at, option in enumerate(options):
        word = options[at + 1] if option == "-D" and at + 1 < len(options) else option.removeprefix("-D")
        name, _, value = word.partition("=")
        if option.startswith("-D") and not _closes(value.encode("utf-8", "surrogateescape")):
            found.add(name.partition("(")[0])
    return frozenset(found)


def _closes(text: bytes) -> bool:
    return text.count(b"{") == text.count(b"}")


def library_call(node: Node, names: frozenset[str]) -> str:
    """Return which of the functions *names* the statement *node* calls first; "" if none or not a whole statement.

    Lambdas in it are handled separately, and of an ``if`` only the condition counts. A declaration calls the
    constructors of the classes that it names.
    """
    declares = node.type == "declaration"
    if declares:
        if node.parent is None or node.parent.type != "compound_statement":
            return ""
    elif node.type not in ("expression_statement", "return_statement", "if_statement") or not is_whole_statement(node):
        return ""
    searched = node.child_by_field_name("condition") if node.type == "if_statement" else node
    stack = [searched] if searched is not None else []
    while stack:
        one = stack.pop()
        if one.type == "lambda_expression":
            continue
        text = ""
        if one.type == "call_expression" and (function := one.child_by_field_name("function")) is not None:
            text = (function.text or b"").decode("utf-8", "replace")
        elif one.type == "type_identifier" and (declares or _is_made(one)):
            text = (one.text or b"").decode("utf-8", "replace")
        if text and last_name(text) in names:
            return _shown(text)
        stack.extend(reversed(one.children))
    return ""


def _is_made(name: Node) -> bool:
    """Return whether a class name constructs an object here: after ``new``, or as a template argument."""
    above = name.parent
    while above is not None and above.type in ("qualified_identifier", "template_type", "type_descriptor"):
        above = above.parent
    return above is not None and above.type in ("new_expression", "template_argument_list")


def _shown(text: str) -> str:
    """Return the name of the callee as written but without template arguments, in one word."""
    return _plain(text).strip().rpartition(" ")[2]


def _plain(text: str) -> str:
    """Return *text* without template arguments."""
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def last_name(text: str) -> str:
    """Return the last part of a callee's name: ``for_each`` of ``par::pool<T>::for_each<F>`` and of ``p.for_each``."""
    return re.split(r"::|->|\.", _plain(text))[-1].strip()


def _directories(options: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(options):
        for option in _DIRECTORY:
            if word == option and at + 1 < len(options):
                yield options[at + 1]
            elif option == "-I" and word.startswith("-I") and len(word) > 2:
                yield word[2:]


def _headers(place: Path, content: bytes, directories: Sequence[Path]) -> Iterator[bytes]:
    """Yield the content of the headers that *content*, a file in *place*, includes, directly or indirectly."""
    left, seen = _MOST_BYTES, set[Path]()
    todo = [(place, content)]
    while todo:
        place, content = todo.pop()
        for match in _INCLUDE.finditer(content):
            name = (match[1] or match[2]).decode("utf-8", "surrogateescape")
            path = _found(name, [place, *directories] if match[1] else directories)
            if path is None or path in seen:
                continue
            seen.add(path)
            try:
                inner = path.read_bytes()
            except OSError:
                continue
            left -= len(inner)
            if left < 0:
                return
            yield inner
            todo.append((path.parent, inner))


def _found(name: str, directories: Iterable[Path]) -> Path | None:
    for directory in directories:
        path = directory / name
        if path.is_file():
            return None if is_foreign(str(path.resolve())) else path.resolve()
    return None


@cache
def _grammar() -> tuple[Parser, Query]:
    import tree_sitter_cpp

    language = Grammar(tree_sitter_cpp.language())
    return Parser(language), Query(language, _QUERY)


def _functions(content: bytes) -> list[_Function]:
    """Return the functions defined in a header."""
    parser, query = _grammar()
    parts = QueryCursor(query).captures(parser.parse(content).root_node)
    nodes = sorted(parts.get("function", ()), key=lambda node: node.start_byte)
    made = [_Function(last_name(function_name(node)).removeprefix("~")) for node in nodes]
    starts = [node.start_byte for node in nodes]
    for kind in ("loop", "directive", "call"):
        for node in parts.get(kind, ()):
            at = _around(nodes, starts, node)
            if at is None:
                continue
            text = (node.text or b"").decode("utf-8", "replace")
            if kind == "call":
                made[at].calls.add(last_name(text))
            made[at].works |= kind == "loop" or (
                _WORKS.fullmatch(text) is not None if kind == "call" else "omp" in text.split()[:3]
            )
    return [one for one in made if one.name]


def _around(nodes: Sequence[Node], starts: Sequence[int], inner: Node) -> int | None:
    """Return the position of the innermost of *nodes* around *inner*."""
    at = bisect_right(starts, inner.start_byte) - 1
    while at >= 0 and nodes[at].end_byte < inner.end_byte:
        at -= 1
    return at if at >= 0 else None
