"""A test asks through the public names of a module: what is private may change, and no test with it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cfn import ROOT

OURS = ("delayer", "local", "bench", "operate", "tests")
PATH = re.compile(rf"(?:{'|'.join(OURS)})(?:\.\w+)*\._[a-z]\w*(?:\.\w+)*")  # as monkeypatch and mock take it
NAME = re.compile(r"_[a-z]\w*")
OF_OTHERS = {"sys._getframe", "_aws", "__type"}  # of Python; a key of CloudWatch's metrics in logs, and of AWS's errors
OF_MINISTACK = {  # what it has no public names for: `local` replaces some of it, and a test looks at what is there
    "_queues_lock",
    "sqs._HANDLERS",
    "_HANDLERS",
    "sqs._queues_lock",
    "sqs._collect_msgs",
    "sqs._act_send_message",
    "engine._evaluate_conditions",
    "engine._evaluate_rules",
    "engine._resolve_parameters",
    "module._evaluate_conditions",
    "_evaluate_conditions",
    "runtime._account_region_from_function_config",
    "_sessions",
    "_workers",
    "_sqs_esm_concurrency",
    "_esm_inflight",
    "_tokenize",
    "dynamodb._batch_execute_statement",
    "dynamodb._partiql_insert",
    "dynamodb._partiql_update",
    "_batch_execute_statement",
    "_emit_stream_event",
    "_partiql_insert",
    "_partiql_key_target",
    "_partiql_update",
    "_parse_partiql",
    "_expire_retained",
    "_dlq_sweep",
    "_collect_msgs",
    "_delete_messages_for_esm",
    "_receive_messages_for_esm",
    "_act_send_message",
    "_act_create_queue",
    "_queues",
    "_deliver_to_sqs",
    "_delete_item",
    "_build_change_record",
    "iam._access_keys",
    "_execute_function_with_config_scope",
    "service._execute_function_with_config_scope",
}
FILES = sorted((ROOT / "tests").rglob("*.py"))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name != "_"


def own_names(tree: ast.Module) -> set[str]:
    """What is defined in this file: functions, classes, variables, attributes."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            names.add(node.attr)
    return names


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def named_by(node: ast.AST, own: set[str]) -> list[str]:
    """The names, with their paths, that one node takes from elsewhere. What a class names of itself is its own."""
    match node:
        case ast.Import(names=aliases):
            return [alias.name for alias in aliases if alias.name.partition(".")[0] in OURS]
        case ast.ImportFrom(module=str(module), names=aliases) if module.partition(".")[0] in OURS:
            return [f"{module}.{alias.name}" for alias in aliases]
        case ast.Attribute(value=value, attr=name) if is_private(name) and not (is_self(value) and name in own):
            return [ast.unparse(node)]
        case ast.keyword(arg=str(name)) if is_private(name):
            return [name]
        case ast.Constant(value=str(text)) if NAME.fullmatch(text) or PATH.fullmatch(text):
            return [text]
    return []


def private_names(text: str) -> Iterator[str]:
    """The private names of others that a file uses: in imports and attributes, as keywords, and as texts."""
    tree = ast.parse(text)
    own = own_names(tree)
    for node in ast.walk(tree):
        for name in named_by(node, own):
            if name not in OF_OTHERS | OF_MINISTACK and any(is_private(part) for part in name.split(".")):
                yield f"{getattr(node, 'lineno', 0)}: {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_touches_a_private_name_of_another_module(path: Path) -> None:
    assert list(private_names(path.read_text())) == []


@pytest.mark.parametrize(
    "text",
    [
        "from delayer.core.x import _y",
        "from tests._x import y",
        "import tests.world\ntests.world.World()._build()",
        "world._build = None",
        "class Mine(World):\n    def build(self) -> None:\n        self._build()",
        'patch.setattr(Relay, "_send", None)',
        'getattr(world, "_x")',
        'patch("delayer.aws.x._y", None)',
        'patch.object(Relay, "_send", None)',
        'changes = ((enqueue.Enqueue, "_send", f),)',
        "import delayer.core._x as y",
        "import json, delayer.core._x",
        "evolve(world, _y=1)",
        'vars(x)["_y"]',
        "class Mine:\n    def __init__(self) -> None:\n        self._x = 1\n\nworld._x",
        "def _build(): ...\nworld._build()",
    ],
)
def test_it_is_seen(text: str) -> None:
    assert list(private_names(text))


@pytest.mark.parametrize(
    "text",
    [
        "self.__class__",
        "class A:\n    def _b(self) -> None:\n        self._b()",
        "for _ in x: pass",
        "def _a(): ...\n_a()",
        "class A:\n    def __init__(self) -> None:\n        self._x = 1\n        print(self._x)",
        "import _thread",
        'patch.setattr(Relay, "send", None)',
        'name = "__class__"',
    ],
)
def test_what_is_its_own_is_its_own_business(text: str) -> None:
    assert list(private_names(text)) == []
