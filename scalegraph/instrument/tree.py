"""Queries on a syntax tree and its tokens, independent of regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from scalegraph.instrument.lexer import Directive, Lexed, Token, balanced

LOOPS: Final = frozenset(("for_statement", "for_range_loop", "while_statement", "do_statement"))
_FOR: Final = ("for_statement", "for_range_loop")
# The size of an accessor or one-line helper; a probe in it would cost more than the function.
SMALL_FUNCTION_STATEMENTS: Final = 8
_BLOCKS: Final = frozenset(("compound_statement", "case_statement", "labeled_statement", "else_clause"))
_NAMES: Final = frozenset(
    (
        "identifier",
        "field_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
        "operator_cast",
        "template_function",
    )
)
_WITHOUT_CASES: Final = ("expression", "expression_statement", "declaration")
_CLASSES: Final = frozenset(("class_specifier", "struct_specifier", "union_specifier"))
_HEADED: Final = LOOPS | {"if_statement", "switch_statement"}


def walk(node: Node) -> Iterator[Node]:
    """Yield *node* and everything below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if current.child_count:
            stack.extend(reversed(current.children))


def descend(node: Node, kind: str) -> Iterator[Node]:
    """Yield the nodes of type *kind* below *node*."""
    return (found for found in walk(node) if found.type == kind)


def errors(node: Node) -> Iterator[Node]:
    """Yield nodes that the parser did not understand or made up."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_error or current.is_missing:
            yield current
        if current.has_error:  # it or something below it
            stack.extend(reversed(current.children))


def is_whole_statement(node: Node) -> bool:
    """Return whether *node* is a whole statement, in a place where a compound statement could stand."""
    parent = node.parent
    return parent is not None and (parent.type in _BLOCKS or parent.type in _HEADED)


def only_loop(node: Node | None) -> Node | None:
    """Return the for loop that the body of the loop *node* consists of or begins with."""
    body = node.child_by_field_name("body") if node is not None else None
    while body is not None and body.type == "compound_statement":
        body = next((child for child in body.named_children if child.type in _FOR), None)
    return body if body is not None and body.type in _FOR else None


def has_foreign_case(node: Node) -> bool:
    """Return whether a case label inside *node* belongs to a switch around it."""
    pending = [node]
    while pending:
        current = pending.pop()
        kind = current.type
        if kind == "case_statement":
            return True
        if kind != "switch_statement" and not kind.endswith(_WITHOUT_CASES):
            pending.extend(current.children)
    return False


def has_skeleton(tokens: list[Token]) -> bool:
    """Return whether brackets alone prove that *tokens* are a whole loop with a braced body, or a block.

    This rescues statements with something inside that the grammar does not know, such as a type as a macro argument.
    """
    texts = [token.text for token in tokens]
    if {"case", "default", "goto"}.intersection(texts):
        return False
    at = 0
    if texts[0] == "do":
        at = _past(texts, 1) if texts[1:2] == ["{"] else len(texts)
        return texts[at : at + 2] == ["while", "("] and texts[_past(texts, at + 1) :] == [";"]
    if texts[0] in ("for", "while") and texts[1:2] == ["("]:
        at = _past(texts, 1)
    return texts[at : at + 1] == ["{"] and _past(texts, at) == len(texts)


def _past(texts: list[str], at: int) -> int:
    """Return the index after the bracket that closes the one at *at*."""
    depth = 0
    for number in range(at, len(texts)):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(texts[number], 0)
        if depth == 0:
            return number + 1
    return len(texts)


def function_name(node: Node) -> str:
    """Return the name of the function that a definition defines, "" if it has none."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator") or next(
            (c for c in declarator.named_children if c.type.endswith("declarator")), None
        )
    while declarator is not None and declarator.type not in _NAMES:
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next(
            (c for c in declarator.named_children if c.type.endswith("declarator") or c.type in _NAMES), None
        )
    if declarator is None or not declarator.text:
        return ""
    return "".join([*_classes(node), declarator.text.decode("utf-8", "replace")])


def _classes(node: Node) -> list[str]:
    """Return the classes of a member function, each with its ``::``."""
    names: list[str] = []
    above = node.parent
    while above is not None:
        name = above.child_by_field_name("name") if above.type in _CLASSES else None
        if name is not None and name.text:
            names.insert(0, name.text.decode("utf-8", "replace") + "::")
        above = above.parent
    return names


def is_small(body: Node) -> bool:
    """Return whether a function has no loop, no call and few statements, so that its cost goes to its callers."""
    statements = 0
    for node in walk(body):
        if node.type in LOOPS or node.type in ("call_expression", "goto_statement") or node.is_error:
            return False
        statements += node.type.endswith("_statement") or node.type == "declaration"
    return statements - 1 <= SMALL_FUNCTION_STATEMENTS


def hiding_macros(lexed: Lexed) -> set[str]:
    """Return this file's macros whose text has unbalanced braces or case labels."""
    hiding = set()
    for directive in lexed.directives:
        if directive.name == "define" and len(directive.tokens) > 1:
            text = _replacement(directive)
            if not balanced(text) or any(token.text in ("case", "default") for token in text):
                hiding.add(directive.tokens[0].text)
    return hiding


def _replacement(directive: Directive) -> list[Token]:
    """Return the replacement list of a #define, without parameters."""
    tokens = list(directive.tokens)
    if len(tokens) > 1 and tokens[1].text == "(" and tokens[1].start == tokens[0].end:
        close = next((i for i, token in enumerate(tokens) if token.text == ")"), len(tokens) - 1)
        return tokens[close + 1 :]
    return tokens[1:]
