"""Regions of a C or C++ file: functions, loops and OpenMP constructs found in its syntax trees.

Every reading of the file (see ``conditionals.py``) is parsed by itself. A `Site` is a candidate region with the bytes
it spans; anything the parser was not sure about is left out, with a remark.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Final, Literal

from tree_sitter import Language, Node, Parser

from scalegraph.base.errors import Fault
from scalegraph.base.source_regions import LIBRARY
from scalegraph.instrument.conditionals import Conditionals, readable
from scalegraph.instrument.conditionals import Reading as Branches
from scalegraph.instrument.headers import library_call
from scalegraph.instrument.lexer import Directive, Lexed, Token, balanced
from scalegraph.instrument.pragmas import Construct, construct
from scalegraph.instrument.tree import (
    LOOPS,
    descend,
    errors,
    function_name,
    has_foreign_case,
    has_skeleton,
    hiding_macros,
    is_small,
    is_whole_statement,
    only_loop,
    walk,
)

Detail = Literal["functions", "outer", "all"]

_STATEMENTS: Final = LOOPS | {
    "compound_statement",
    "expression_statement",
    "if_statement",
    "switch_statement",
    "return_statement",
    "goto_statement",
    "break_statement",
    "continue_statement",
    "labeled_statement",
    "try_statement",
    "throw_statement",
    "co_return_statement",
}
_LISTS: Final = frozenset(("compound_statement", "case_statement"))
_DECLARATIONS: Final = frozenset(("declaration", "type_definition", "struct_specifier", "enum_specifier"))
_JUMPS: Final = frozenset(
    (
        "return_statement",
        "goto_statement",
        "break_statement",
        "continue_statement",
        "throw_statement",
        "co_return_statement",
    )
)

_COMPLEX: Final = frozenset(("complex", "_Complex", "__complex__", "imaginary", "_Imaginary"))
_REAL: Final = frozenset(("float", "double", "long"))


@dataclass(frozen=True, slots=True)
class Site:
    """A candidate region.

    *start*, *end*: bytes of the statement (of the body for a function). *lead*: the first directive that must stay
    directly before the statement, None if there is none. *tail*: the directive itself for a stand-alone construct.
    *inner*: the probe goes right after the opening brace.
    """

    kind: str
    name: str
    start: int
    end: int
    lead: Directive | None = None
    tail: Directive | None = None
    line: int = 0
    inner: bool = False
    order: int = 0  # outer before inner for equal spans
    declares: bool = False  # its declarations must stay visible after it


@dataclass(slots=True)
class Reading:
    """Candidates and remarks from one reading of the file."""

    sites: list[Site] = field(default_factory=list)
    remarks: list[Fault] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)  # statement lists, for phases
    statements: list[tuple[int, int]] = field(default_factory=list)  # statements in these lists
    declarations: list[tuple[int, int]] = field(default_factory=list)
    functions: list[tuple[int, int, str]] = field(default_factory=list)
    extents: dict[int, set[int]] = field(default_factory=dict)  # start of every statement -> its possible ends
    jumps: list[int] = field(default_factory=list)  # return, goto, break, continue
    labels: list[tuple[str, int]] = field(default_factory=list)
    gotos: list[tuple[str, int]] = field(default_factory=list)  # "*" for a computed goto


@cache
def _parser(*, cplusplus: bool) -> Parser:
    if cplusplus:
        import tree_sitter_cpp

        return Parser(Language(tree_sitter_cpp.language()))
    import tree_sitter_c

    return Parser(Language(tree_sitter_c.language()))


class Reader:
    """Finds candidates in one reading of a file."""

    def __init__(
        self,
        lexed: Lexed,
        conditionals: Conditionals,
        view: Branches,
        filename: str,
        detail: Detail,
        *,
        cplusplus: bool = False,
        working: frozenset[str] = frozenset(),
        hiding: frozenset[str] = frozenset(),
    ) -> None:
        self.working = working  # functions of headers, see `headers.working`
        self.lexed, self.conditionals, self.view = lexed, conditionals, view
        self.filename, self.detail, self.cplusplus = filename, detail, cplusplus
        self.text, self.tokens = readable(lexed, conditionals, view)
        self.token_starts = [token.start for token in self.tokens]
        self.out = Reading()
        self.hiding = hiding_macros(lexed) | hiding
        self.chains = self._pragma_chains()

    # -- what stands where -------------------------------------------------------------------------------------

    def tokens_of(self, start: int, end: int) -> list[Token]:
        """Return the tokens of this reading that begin in [start, end)."""
        return self.tokens[bisect.bisect_left(self.token_starts, start) : bisect.bisect_left(self.token_starts, end)]

    def token_before(self, start: int) -> Token | None:
        """Return the last token that begins before *start*."""
        at = bisect.bisect_left(self.token_starts, start)
        return self.tokens[at - 1] if at else None

    def _pragma_chains(self) -> dict[int, list[tuple[Directive, Construct | None]]]:
        """Group pragmas by the offset of the token after them; a stand-alone one separates them from earlier ones."""
        chains: dict[int, list[tuple[Directive, Construct | None]]] = {}
        for directive in self.lexed.directives:
            if directive.name != "pragma" or not self._reads(directive.start):
                continue
            at = bisect.bisect_left(self.token_starts, directive.start)
            key = self.token_starts[at] if at < len(self.token_starts) else len(self.text)
            chains.setdefault(key, []).append((directive, construct(directive)))
        return chains

    def _reads(self, offset: int) -> bool:
        return self.conditionals.is_read(offset, self.view)

    def remark(self, offset: int, message: str) -> None:
        """Report code left uninstrumented."""
        fault = Fault(message, self.filename, self.lexed.line(offset), severity="remark")
        if fault not in self.out.remarks:
            self.out.remarks.append(fault)

    # -- reading -----------------------------------------------------------------------------------------------

    def read(self) -> Reading:
        """Parse and collect."""
        root = _parser(cplusplus=self.cplusplus).parse(self._plain()).root_node
        for node in descend(root, "function_definition"):
            self._function(node)
        return self.out

    def _plain(self) -> bytes:
        """Return the text to parse: the keyword for complex types, unknown to the grammar, is blanked."""
        text = bytearray(self.text)
        for before, token, after in zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False):
            if token.text in _COMPLEX and not _REAL.isdisjoint((before.text, after.text)):
                text[token.start : token.end] = b" " * (token.end - token.start)
        return bytes(text)

    def _function(self, node: Node) -> None:
        body, name = node.child_by_field_name("body"), function_name(node)
        if body is not None and body.type == "try_statement":  # a function try block
            body = body.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or not name:
            return
        inside = self.tokens_of(body.start_byte, body.end_byte)
        if not inside or inside[0].text != "{" or inside[-1].text != "}" or not balanced(inside):
            self.remark(node.start_byte, f"function {name} left without probes: its braces do not pair up")
            return
        reason = self._refusal(node, body)
        if reason:
            self.remark(node.start_byte, f"function {name} left without probes: {reason}")
            return
        self.out.functions.append((body.start_byte, body.end_byte, name))
        walk = _FunctionWalk(self, name, body)
        walk.run(self._structure(body))
        self.out.labels += walk.labels.labels
        self.out.gotos += walk.labels.gotos + [("*", body.start_byte)] * walk.labels.computed
        if walk.found or not is_small(body):
            self.out.sites.append(
                Site(
                    "function",
                    f"function {name}",
                    body.start_byte,
                    body.end_byte,
                    line=self.lexed.line(node.start_byte),
                    inner=True,
                    order=-1,
                )
            )

    def _refusal(self, node: Node, body: Node) -> str:
        """Return why nothing may be planted in a function, "" if it may."""
        specifiers = [self.node_text(child) for child in node.children if child.end_byte <= body.start_byte]
        head = self.text[node.start_byte : body.start_byte].decode("utf-8", "replace")
        words = {token.text for token in self.tokens_of(node.start_byte, body.start_byte)}
        if self.cplusplus:
            if words & {"constexpr", "consteval"}:
                return "what the compiler computes may not call the probes"
        elif "inline" in words | set(specifiers) and "static" not in words and "__inline" not in head:
            return "an inline function with external linkage may not call the probes, whose linkage is internal"
        if words & {"naked", "__naked__", "no_instrument_function", "__no_instrument_function__"}:
            return "its attributes forbid it"
        hiding = sorted({t.text for t in self.tokens_of(body.start_byte, body.end_byte)} & self.hiding)
        if hiding:
            return f"the macro {hiding[0]} hides braces or control flow"
        labels = any(t.text == "__label__" for t in self.tokens_of(body.start_byte, body.end_byte))
        return "it declares local labels" if labels else ""

    def _structure(self, body: Node) -> set[int]:
        """Note statement lists, declarations and jumps, against which phases are checked; return the loops' starts."""
        loops: set[int] = set()
        pending = [(body, body.parent.type if body.parent is not None else "")]
        while pending:  # a node's type is read once: asking takes longer than what follows
            node, around = pending.pop()
            kind = node.type
            if kind in _STATEMENTS:
                self.out.extents.setdefault(node.start_byte, set()).add(node.end_byte)
            if kind in _LISTS:
                self.out.blocks.append((node.start_byte, node.end_byte))
            if around in _LISTS:
                self.out.statements.append((node.start_byte, node.end_byte))
                if kind in _DECLARATIONS:
                    self.out.declarations.append((node.start_byte, node.end_byte))
            if kind in _JUMPS:
                self.out.jumps.append(node.start_byte)
            if kind in LOOPS:
                loops.add(node.start_byte)
            if node.child_count:
                pending.extend((child, kind) for child in reversed(node.children))
        return loops

    def node_text(self, node: Node) -> str:
        """Return the source text of *node*."""
        return self.text[node.start_byte : node.end_byte].decode("utf-8", "replace")


class _FunctionWalk:
    """Walks one function body and adds its loops and constructs to the reading."""

    def __init__(self, reader: Reader, name: str, body: Node) -> None:
        self.reader, self.name, self.body = reader, name, body
        self.found = False
        self.nested: set[int] = set()  # starts of loops that belong to an enclosing construct's loop nest
        self.labels = _Labels(reader, body)

    def run(self, understood: set[int]) -> None:
        """Walk; the loops that begin at *understood* are all that the parser found in the body."""
        self._visit(self.body, loops=0)
        self._standalone()
        for token in self.reader.tokens_of(self.body.start_byte, self.body.end_byte):
            if token.text == "for" and token.start not in understood:
                self.reader.remark(token.start, "loop left without probes: what is around it is not plain C")

    def _visit(self, node: Node, loops: int) -> None:
        pending = [(child, loops) for child in reversed(node.children)]
        while pending:  # not by recursion: a sum of a thousand terms is a thousand levels deep
            child, loops = pending.pop()
            kind = child.type
            if kind == "function_definition":
                continue  # a nested function is walked by itself
            if kind == "lambda_expression":
                self._lambda(child)
                continue
            opaque = False
            self._library(child)
            if kind in _STATEMENTS:
                chain = self.reader.chains.get(child.start_byte, [])
                if (chain or kind in LOOPS) and is_whole_statement(child):
                    opaque = self._statement(child, chain, loops)
            if not opaque and child.child_count:
                inside = loops + (kind in LOOPS)
                pending.extend((below, inside) for below in reversed(child.children))

    def _lambda(self, node: Node) -> None:
        """Walk a lambda; if it has loops or constructs, like the body of a thread, it is a region of its own."""
        body = node.child_by_field_name("body")
        if body is None or body.type != "compound_statement":
            return
        inside = self.reader.tokens_of(body.start_byte, body.end_byte)
        found, self.found = self.found, False
        self._visit(body, loops=0)
        if self.found and not body.has_error and balanced(inside):
            line = self._line(node.start_byte)
            self.reader.out.sites.append(
                Site("function", f"lambda {self.name}:{line}", body.start_byte, body.end_byte, line=line, inner=True)
            )
            self.reader.out.extents.setdefault(body.start_byte, set()).add(body.end_byte)
        self.found |= found

    def _library(self, node: Node) -> None:
        """Add a statement as a region if it calls a header's function that does work."""
        reader = self.reader
        if not reader.working or reader.detail == "functions" or node.start_byte in reader.chains:
            return
        called = library_call(node, reader.working)
        if called and self._is_sound(node):
            line = self._line(node.start_byte)
            reader.out.extents.setdefault(node.start_byte, set()).add(node.end_byte)
            name, declares = f"{LIBRARY} {called}:{line}", node.type == "declaration"
            reader.out.sites.append(Site(LIBRARY, name, node.start_byte, node.end_byte, line=line, declares=declares))

    def _statement(self, node: Node, chain: list[tuple[Directive, Construct | None]], loops: int) -> bool:
        """Add the regions of one statement; return True if nothing inside it may be instrumented."""
        attached = _attached(chain)
        constructs = [made for _, made in attached if made is not None]
        opaque = any(made.opaque for made in constructs)
        self.found |= bool(constructs) or node.type in LOOPS
        if not self._is_sound(node):
            return opaque
        for made in constructs:
            if made.is_loop:
                self._reserve(node, made.depth)
        if any("target" in made.words for made in constructs):
            self.reader.remark(node.start_byte, "OpenMP target construct left without probes")
            return True
        if self.reader.detail == "functions":
            return opaque
        for position, (_, its) in enumerate(attached):
            if its is not None and its.kind:
                self._construct(node, attached, position)
        if node.type in LOOPS and not any(made.is_loop and made.kind for made in constructs):
            self._loop(node, attached, loops)
        return opaque

    def _construct(self, node: Node, attached: list[tuple[Directive, Construct | None]], position: int) -> None:
        made = attached[position][1]
        assert made is not None
        lead: Directive | None = attached[position][0]
        inner = False
        if made.inside:
            following = attached[position + 1 :]
            inner = not following and node.type == "compound_statement"
            lead = following[0][0] if following else None
        line = self._line(made.directive.start)
        name = f"{made.title} {self.name}:{line}"
        self.reader.out.sites.append(
            Site(made.kind, name, node.start_byte, node.end_byte, lead, line=line, inner=inner, order=position)
        )

    def _loop(self, node: Node, attached: list[tuple[Directive, Construct | None]], loops: int) -> None:
        if node.start_byte in self.nested:
            return
        if self.reader.detail == "outer" and loops and not self._contains_construct(node):
            return
        # Everything from the first pragma that needs its loop next stays directly before the loop.
        glued = next((d for d, made in attached if made is None or made.is_loop), None)
        line = self._line(node.start_byte)
        self.reader.out.sites.append(
            Site(
                "loop",
                f"loop {self.name}:{line}",
                node.start_byte,
                node.end_byte,
                glued,
                line=line,
                order=len(attached),
            )
        )

    def _contains_construct(self, node: Node) -> bool:
        return any(
            made is not None and made.kind
            for directive in self.reader.lexed.directives
            if node.start_byte <= directive.start < node.end_byte and (made := construct(directive)) is not None
        )

    def _reserve(self, node: Node, depth: int) -> None:
        """Mark the loops below *node* that a construct needs perfectly nested."""
        depth = depth if depth > 0 else 99
        current: Node | None = node
        for _ in range(depth - 1):
            current = only_loop(current)
            if current is None:
                return
            self.nested.add(current.start_byte)

    def _is_sound(self, node: Node) -> bool:
        """Return whether braces can be put around *node* without changing or breaking anything."""
        reader = self.reader
        tokens = reader.tokens_of(node.start_byte, node.end_byte)
        if (node.has_error and not has_skeleton(tokens)) or not balanced(tokens):
            damage = next(errors(node), node)
            reader.remark(
                node.start_byte,
                f"statement left without probes: line {reader.lexed.line(damage.start_byte)} is not plain C "
                "(a macro that is not an expression?)",
            )
            return False
        before = reader.token_before(node.start_byte)
        parent = node.parent
        if before is None or parent is None:
            return False
        expected = ";{}:" if parent.type in ("compound_statement", "case_statement", "labeled_statement") else ")"
        if before.text not in expected and before.text not in ("else", "do"):
            reader.remark(node.start_byte, f"statement left without probes: '{before.text}' before it is not plain C")
            return False
        if self.labels.entered_from_outside(node):
            reader.remark(node.start_byte, "statement left without probes: a jump leads into it from outside")
            return False
        return True

    def _standalone(self) -> None:
        """Add barriers and stand-alone ordered constructs."""
        reader = self.reader
        if reader.detail == "functions":
            return
        for chain in reader.chains.values():
            for directive, made in chain:
                within = self.body.start_byte < directive.start < self.body.end_byte
                if not within or made is None or not made.standalone or made.kind not in ("barrier", "ordered"):
                    continue
                self.found = True
                owner = self.body.descendant_for_byte_range(directive.start, directive.start)
                before = reader.token_before(directive.start)
                in_block = owner is not None and owner.type in ("compound_statement", "case_statement")
                if in_block and before is not None and before.text in ";{}:":
                    line = self._line(directive.start)
                    name = f"{made.title} {self.name}:{line}"
                    self.reader.out.extents.setdefault(directive.start, set()).add(directive.end)
                    reader.out.sites.append(
                        Site(made.kind, name, directive.start, directive.end, tail=directive, line=line)
                    )

    def _line(self, offset: int) -> int:
        data = self.reader.lexed.data
        while offset < len(data) and data[offset] in b" \t":
            offset += 1
        return self.reader.lexed.line(offset)


class _Labels:
    """Labels of a function and the jumps to them."""

    def __init__(self, reader: Reader, body: Node) -> None:
        self.labels: list[tuple[str, int]] = []
        self.gotos: list[tuple[str, int]] = []
        self.computed = False
        tokens = reader.tokens_of(body.start_byte, body.end_byte)
        if not any(token.text == "goto" for token in tokens):
            return  # then no label matters
        for node in walk(body):
            kind = node.type
            if kind == "labeled_statement" and node.children:
                self.labels.append((reader.node_text(node.children[0]), node.start_byte))
            elif kind == "goto_statement":
                label = node.child_by_field_name("label")
                self.computed |= label is None or label.type != "statement_identifier"
                self.gotos.append((reader.node_text(label) if label is not None else "", node.start_byte))
        self.computed |= any(a.text == "goto" and b.text == "*" for a, b in pairwise(tokens))

    def entered_from_outside(self, node: Node) -> bool:
        """Return whether a goto or a switch outside *node* may jump into it."""
        inside = {name for name, at in self.labels if node.start_byte <= at < node.end_byte}
        if inside and self.computed:
            return True
        if any(name in inside and not node.start_byte <= at < node.end_byte for name, at in self.gotos):
            return True
        return has_foreign_case(node)


def _attached(chain: list[tuple[Directive, Construct | None]]) -> list[tuple[Directive, Construct | None]]:
    """Return the pragmas of *chain* that belong to the statement: those after the last stand-alone one."""
    last = 0
    for i, (directive, made) in enumerate(chain):
        is_phase = bool(directive.tokens) and directive.tokens[0].text == "scalegraph"
        if is_phase or (made is not None and made.standalone):
            last = i + 1
    return chain[last:]
