"""What may be changed: a condition negated or dropped, a boundary moved by one, a call or write removed, two effects
swapped, a `raise` removed; in the template, an action of a policy or the condition of a statement removed.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from attrs import frozen

from tests.defects.change import Lines, functions, nth_of, resources

EDGES: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
# What a call of AWS may only do, or has to see: without it, it does more.
CONDITIONS: Final = ("ConditionExpression", "FilterExpression", "ConsistentRead", "KeyConditionExpression")


@frozen
class Place:
    """One possible change: `before`, the `nth` of this text in its function, becomes `after`."""

    function: str
    operator: str
    before: str
    after: str
    nth: int


def places(text: str, swaps_arguments: bool) -> Iterator[Place]:
    """All possible changes of a module. `swaps_arguments`: the wiring's effects are what it hands to whom."""
    lines = Lines(text)
    for name, function, (start, end) in functions(text):
        for operator, (first, last), after in _edits(function, text, lines, swaps_arguments):
            before = text[first:last]
            yield Place(name, operator, before, after, nth_of(text[start:end], before, first - start))


Edit = tuple[str, tuple[int, int], str]  # the operator, where, and what stands there then


def _edits(function: ast.FunctionDef, text: str, lines: Lines, swaps_arguments: bool) -> Iterator[Edit]:
    for node in _own(function):
        yield from _conditions(node, text, lines)
        yield from _boundaries(node, text, lines)
        yield from _removals(node, lines)
        if swaps_arguments and isinstance(node, ast.Call):
            yield from _swapped_arguments(node, text, lines)
        for body in _bodies(node):
            yield from _swaps(body, text, lines)


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions in it, which have names of their own."""
    todo: list[ast.AST] = [function]
    while todo:
        node = todo.pop()
        yield node
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.FunctionDef | ast.ClassDef)]


def _conditions(node: ast.AST, text: str, lines: Lines) -> Iterator[Edit]:
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    tests += [node.value] if isinstance(node, ast.Return) and isinstance(node.value, ast.Compare) else []
    for test in tests:
        start, end = lines.span(test)
        yield "condition negated", (start, end), f"(not ({text[start:end]}))"
    if isinstance(node, ast.BoolOp):
        for dropped in node.values:
            kept = [text[slice(*lines.span(value))] for value in node.values if value is not dropped]
            word = " and " if isinstance(node.op, ast.And) else " or "
            yield "condition dropped", lines.span(node), f"({word.join(kept)})"
    if isinstance(node, ast.match_case) and node.guard:
        yield "condition dropped", lines.span(node.guard), "True"


def _boundaries(node: ast.AST, text: str, lines: Lines) -> Iterator[Edit]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in EDGES:
        before, after = EDGES[type(node.ops[0])]
        start, end = lines.span(node)
        (_, left), (right, _) = lines.span(node.left), lines.span(node.comparators[0])
        yield (
            "boundary moved",
            (start, end),
            text[start:left] + text[left:right].replace(before, after) + text[right:end],
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.FloorDiv):
        for side in (node.left, node.right):
            if isinstance(side, ast.Constant) and type(side.value) is int:
                (start, end), (first, last) = lines.span(node), lines.span(side)
                yield "boundary moved", (start, end), f"({text[start:first]}{side.value + 1}{text[last:end]})"


def _removals(node: ast.AST, lines: Lines) -> Iterator[Edit]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call removed", lines.span(node), "pass"
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    if any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets) and isinstance(node, ast.stmt):
        yield "write removed", lines.span(node), "pass"
    if isinstance(node, ast.Raise):
        yield "raise removed", lines.span(node), "pass"
    if isinstance(node, ast.keyword) and node.arg in CONDITIONS:
        yield "condition dropped", lines.span(node), "**{}"


def _swapped_arguments(node: ast.Call, text: str, lines: Lines) -> Iterator[Edit]:
    named = [one for one in node.keywords if one.arg and isinstance(one.value, ast.Attribute | ast.Call)]
    for one, other in pairwise(named):
        (a, b), (c, d) = lines.span(one.value), lines.span(other.value)
        yield "two effects swapped", (a, d), text[c:d] + text[b:c] + text[a:b]


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body


def _swaps(body: list[ast.stmt], text: str, lines: Lines) -> Iterator[Edit]:
    """Two effects next to each other, of which the second does not need what the first gave."""
    for one, other in pairwise(body):
        if _is_effect(one) and _is_effect(other) and not _given(one) & _used(other):
            (a, b), (c, d) = lines.span(one), lines.span(other)
            yield "two effects swapped", (a, d), text[c:d] + text[b:c] + text[a:b]


def _is_effect(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call)


def _given(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _used(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


# ------------------------------------------------------------ the template

ACTIONS: Final = re.compile(r"Action: \[([^\]]*)\]")
ACTION: Final = re.compile(r'"[a-z]+:[A-Za-z*]+"(?:,\s*)?')
CONDITION: Final = re.compile(r"Condition: (\{(?:[^{}]|\{[^{}]*\})*\})")
A_ROLE: Final = "PolicyDocument"
SHARED: Final = "Shared"  # statements of many roles, which are written once (ADR 0172)


def rights(text: str) -> Iterator[Place]:
    """All possible changes of the policies of the template."""
    for name, (start, end) in resources(text):
        block = text[start:end]
        if A_ROLE not in block and name != SHARED:
            continue
        for operator, first, last, after in _rights_of(block):
            yield Place(name, operator, block[first:last], after, nth_of(block, block[first:last], first))


def _rights_of(block: str) -> Iterator[tuple[str, int, int, str]]:
    for listed in ACTIONS.finditer(block):
        actions = [found[0].rstrip(", \n") for found in ACTION.finditer(listed[1])]
        for one in actions if len(actions) > 1 else []:
            kept = ", ".join(action for action in actions if action != one)
            yield "call removed", listed.start(), listed.end(), f"Action: [{kept}]"
    for condition in CONDITION.finditer(block):
        yield "condition dropped", condition.start(1), condition.end(1), "{}"
