"""A test asks through the public names of a module: what is private may change, and no test with it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cfn import ROOT
from tests.running.of_each import of_each

OURS = ("delayer", "local", "bench", "operate", "tests")
PATH = re.compile(rf"(?:{'|'.join(OURS)})(?:\.\w+)*\._[a-z]\w*(?:\.\w+)*")  # as monkeypatch and mock take it
NAME = re.compile(r"_[a-z]\w*")
SOME = re.compile(r"(?<!\w)_[a-z]")
# Of Python and of those that install and start it; a key of CloudWatch's metrics in logs, and of AWS's errors; where
# attrs keeps a hash.
OF_OTHERS = {"sys._getframe", "os._exit", "_distutils_hack", "_virtualenv", "_aws", "__type", "_attrs_cached_hash"}
OF_CLICK = {"_protected_args"}  # where it keeps what comes before the name of a command
OF_MINISTACK = {  # what it has no public names for: `local` replaces or keeps some of it, and a test looks at it
    "_HANDLERS",
    "_access_keys",
    "_account_region_from_function_config",
    "_act_create_queue",
    "_act_send_message",
    "_apply_filter_criteria",
    "_batch_execute_statement",
    "_bucket_versioning",
    "_buckets",
    "_build_change_record",
    "_collect_msgs",
    "_delete_item",
    "_delete_messages_for_esm",
    "_deliver_to_sqs",
    "_dlq_sweep",
    "_dynamodb_stream_positions",
    "_dynamodb_stream_table_from_arn_spec",
    "_emit_stream_event",
    "_esm_inflight",
    "_esms",
    "_evaluate_conditions",
    "_evaluate_rules",
    "_execute_function",
    "_execute_function_with_config_scope",
    "_expire_retained",
    "_get_func_record_for_qualifier",
    "_index_members",
    "_iter_all_esms",
    "_match_esm_filter",
    "_object_versions",
    "_parse_partiql",
    "_partiql_insert",
    "_partiql_key_target",
    "_partiql_update",
    "_poll_dynamodb_streams",
    "_poll_sqs",
    "_queues",
    "_queues_lock",
    "_rebuild_queue_name_index",
    "_receive_messages_for_esm",
    "_request_account_id",
    "_request_region",
    "_resolve_parameters",
    "_resources",
    "_secrets",
    "_sessions",
    "_sqs_esm_concurrency",
    "_stacks",
    "_tables",
    "_tick_scheduled_rules",
    "_tick_schedules",
    "_tokenize",
    "_workers",
}
# A deliberate bug takes the place of a line, which may be in something private.
FILES = sorted({*(ROOT / "tests").rglob("*.py")} - {ROOT / "tests/machine/bugs.py"})


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
    if not SOME.search(text):
        return  # to parse all tests takes seconds
    tree = ast.parse(text)
    own = own_names(tree)
    for node in ast.walk(tree):
        for name in named_by(node, own):
            if name in OF_OTHERS or name.rpartition(".")[2] in OF_MINISTACK | OF_CLICK:
                continue
            if any(is_private(part) for part in name.split(".")):
                yield f"{getattr(node, 'lineno', 0)}: {name}"


@of_each(FILES)
def test_no_test_touches_a_private_name_of_another_module(path: Path) -> None:
    """It takes two seconds: all tests are parsed."""
    assert list(private_names(path.read_text())) == []


@of_each(
    [
        "from delayer.flow.x import _y",
        "from tests._x import y",
        "import tests.world\ntests.world.World()._build()",
        "world._build = None",
        "class Mine(World):\n    def build(self) -> None:\n        self._build()",
        'patch.setattr(Relay, "_send", None)',
        'getattr(world, "_x")',
        'patch("delayer.engines.x._y", None)',
        'patch.object(Relay, "_send", None)',
        'changes = ((enqueue.Enqueue, "_send", f),)',
        "import delayer.flow._x as y",
        "import json, delayer.flow._x",
        "evolve(world, _y=1)",
        'vars(x)["_y"]',
        "class Mine:\n    def __init__(self) -> None:\n        self._x = 1\n\nworld._x",
        "def _build(): ...\nworld._build()",
    ]
)
def test_it_is_seen(text: str) -> None:
    assert list(private_names(text))


@of_each(
    [
        "self.__class__",
        "class A:\n    def _b(self) -> None:\n        self._b()",
        "for _ in x: pass",
        "def _a(): ...\n_a()",
        "class A:\n    def __init__(self) -> None:\n        self._x = 1\n        print(self._x)",
        "import _thread",
        'patch.setattr(Relay, "send", None)',
        'name = "__class__"',
    ]
)
def test_what_is_its_own_is_its_own_business(text: str) -> None:
    assert list(private_names(text)) == []
