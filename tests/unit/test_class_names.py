"""A name means one thing: whoever searches for a class finds one."""

import ast
from collections import defaultdict

from tests.cfn import ROOT

LIBRARY = ROOT / "shared"


def public_classes(text: str) -> list[str]:
    """Those at the top level of a module."""
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def test_a_public_class_name_stands_once() -> None:
    """Rename the one that no stranger imports; what `delayer.extension` exports may be an alias. It takes a second."""
    places = defaultdict(list)
    for path in sorted((LIBRARY / "delayer").rglob("*.py")):
        for name in public_classes(path.read_text()):
            places[name].append(str(path.relative_to(LIBRARY)))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_it_is_seen() -> None:
    assert public_classes(
        "class A: ...\nclass _B: ...\ndef f():\n    class C: ...\nclass D(A):\n    class E: ...\n"
    ) == [
        "A",
        "D",
    ]
