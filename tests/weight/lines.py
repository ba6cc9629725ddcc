"""What a Python file weighs: by its syntax tree and its tokens, so that no style of writing makes it lighter."""

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Final

from attrs import frozen

NO_CODE: Final = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
SAYS_NOTHING: Final = re.compile(r"(?:Port|Part of) \w+\.")  # a docstring that only says which protocol it answers
BLOCKS: Final = ("body", "orelse", "finalbody", "handlers", "cases")  # where statements have statements

Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@frozen(kw_only=True)
class Weight:
    """Of one file, or of several together."""

    lines: int = 0
    code: int = 0  # lines with neither an import nor a docstring; none that is blank or only a comment
    imports: int = 0  # lines
    docstrings: int = 0  # lines of the docstrings of public names
    names: int = 0  # public ones: classes, functions, methods of public classes
    protocols: int = 0
    classes: tuple[str, ...] = ()  # the public ones of the module

    def __add__(self, other: "Weight") -> "Weight":
        return Weight(
            lines=self.lines + other.lines,
            code=self.code + other.code,
            imports=self.imports + other.imports,
            docstrings=self.docstrings + other.docstrings,
            names=self.names + other.names,
            protocols=self.protocols + other.protocols,
            classes=self.classes + other.classes,
        )


def python_files(folder: Path) -> list[Path]:
    """All below it, but for what a tool has put into a folder of its own."""
    found = sorted(folder.rglob("*.py"))
    return [path for path in found if not any(one.startswith(".") for one in path.relative_to(folder).parts)]


def weigh(paths: Iterable[Path]) -> Weight:
    """Of all of them together."""
    return sum(map(_of_file, paths), Weight())


@cache
def _of_file(path: Path) -> Weight:
    return weight_of(path.read_text(encoding="utf-8"))


def weight_of(source: str) -> Weight:
    """Of the text of one file."""
    tree = ast.parse(source)
    nodes = [tree, *statements(tree)]
    imports = {line for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for line in _lines(node)}
    of_docs = {line for node in nodes if (text := _docstring(node)) for line in _lines(text)}
    public = list(_public(tree))
    return Weight(
        lines=len(source.splitlines()),
        code=len(_with_tokens(source) - imports - of_docs),
        imports=len(imports),
        docstrings=sum(len(_lines(text)) for node in public if (text := _docstring(node)) and _says_something(text)),
        names=len(public),
        protocols=sum(isinstance(node, ast.ClassDef) and _is_protocol(node) for node in nodes),
        classes=tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef) and node in public),
    )


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All below it, at whatever depth. The expressions are left out: to walk through them takes seconds."""
    for field in BLOCKS:
        for one in getattr(node, field, ()):
            if isinstance(one, ast.stmt):
                yield one
            yield from statements(one)


def _with_tokens(source: str) -> set[int]:
    """The lines on which something stands; of a text over several lines those that are not blank."""
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    found = {line for one in tokens if one.type not in NO_CODE for line in range(one.start[0], one.end[0] + 1)}
    lines = source.splitlines()
    return {line for line in found if lines[line - 1].strip()}


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _docstring(node: ast.AST) -> ast.Expr | None:
    if not isinstance(node, ast.Module | Named) or not node.body:
        return None
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str())) as text:
            return text
    return None


def _says_something(text: ast.Expr) -> bool:
    return not (isinstance(text.value, ast.Constant) and SAYS_NOTHING.fullmatch(str(text.value.value).strip()))


def _public(node: ast.Module | ast.ClassDef) -> Iterator[Named]:
    """Functions within functions are nobody else's."""
    for one in node.body:
        if isinstance(one, Named) and not one.name.startswith("_"):
            yield one
            if isinstance(one, ast.ClassDef):
                yield from _public(one)


def _is_protocol(node: ast.ClassDef) -> bool:
    """`Protocol`, `typing.Protocol` or `Protocol[…]` among its bases."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return any(ast.unparse(base).rpartition(".")[2] == "Protocol" for base in bases)
