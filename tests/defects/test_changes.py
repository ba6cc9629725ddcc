"""The deliberate defects: what may be changed, where it is found again, and how the lists are spread."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.defects import stored
from tests.defects.areas import AREAS, LAYERS, PACKAGE, area_of, layer_of
from tests.defects.change import TEMPLATE, Change, Gone
from tests.defects.covered import Covered, lines_of
from tests.defects.operators import Place, places, rights
from tests.rooms import ROOMS

LISTS = sorted(path.stem for path in stored.FOLDER.glob("*.json"))
CODE = """
class Gate:
    def opens(self, now, key):
        if now >= self.until and key:
            raise Shut("not now")
        self.seen = now
        self.log.note(key)
        self.log.count()
        return now + 1 < self.most
"""
GATE = "shared/delayer/flow/rules/gate.py"
POLICY = """Resources:
  Role:
    Type: AWS::IAM::Role
    PolicyDocument: {Statement: [
      {Action: ["sqs:SendMessage", "sqs:DeleteMessage"], Condition: {Equals: {Key: [a]}}}]}
  Queue:
    Type: AWS::SQS::Queue
"""


def edits(found: list[Place]) -> set[tuple[str, str, str]]:
    return {(one.operator, one.before, one.after) for one in found}


def test_what_may_be_changed_in_a_function() -> None:
    """Each operator that is fixed, and nothing else."""
    test = "now >= self.until and key"
    assert edits(list(places(CODE, swaps_arguments=False))) == {
        ("condition negated", test, f"(not ({test}))"),
        ("condition dropped", test, "(key)"),
        ("condition dropped", test, "(now >= self.until)"),
        ("boundary moved", "now >= self.until", "now > self.until"),
        ("raise removed", 'raise Shut("not now")', "pass"),
        ("write removed", "self.seen = now", "pass"),
        ("call removed", "self.log.note(key)", "pass"),
        ("call removed", "self.log.count()", "pass"),
        (
            "two effects swapped",
            "self.log.note(key)\n        self.log.count()",
            "self.log.count()\n        self.log.note(key)",
        ),
        ("condition negated", "now + 1 < self.most", "(not (now + 1 < self.most))"),
        ("boundary moved", "now + 1 < self.most", "now + 1 <= self.most"),
        ("boundary moved", "now + 1", "(now + 2)"),
    }


def test_an_effect_that_needs_the_one_before_it_is_not_swapped() -> None:
    assert not list(places("def f(a):\n    b = a()\n    c = a(b)\n", swaps_arguments=False))


def test_the_wiring_hands_its_parts_to_each_other_places() -> None:
    found = places("def f(ports):\n    return Cancel(clock=ports.clock, ledger=ports.ledger)\n", swaps_arguments=True)
    swapped = "ports.ledger, ledger=ports.clock"
    assert edits(list(found)) == {("two effects swapped", "ports.clock, ledger=ports.ledger", swapped)}


def test_a_call_of_aws_may_lose_its_condition() -> None:
    [place] = places("def f(self):\n    return self.db.put(Item=1, ConditionExpression=no)\n", swaps_arguments=False)
    assert (place.operator, place.before, place.after) == ("condition dropped", "ConditionExpression=no", "**{}")


def test_what_may_be_changed_in_the_rights() -> None:
    assert edits(list(rights(POLICY))) == {
        ("call removed", 'Action: ["sqs:SendMessage", "sqs:DeleteMessage"]', 'Action: ["sqs:DeleteMessage"]'),
        ("call removed", 'Action: ["sqs:SendMessage", "sqs:DeleteMessage"]', 'Action: ["sqs:SendMessage"]'),
        ("condition dropped", "{Equals: {Key: [a]}}", "{}"),
    }
    assert {one.function for one in rights(POLICY)} == {"Role"}


def change(**given: object) -> Change:
    usual = {"area": "firing", "layer": "rules", "operator": "call removed", "file": "shared/delayer/old.py"}
    return Change(**{**usual, "function": "Gate.opens", "before": "self.log.count()", "after": "pass", **given})  # type: ignore[arg-type] # texts


def tree(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / "shared/delayer").mkdir(parents=True, exist_ok=True)
        (folder / "shared/delayer" / f"{name}.py").write_text(text)
    return folder


def test_a_change_is_made_where_it_says(tmp_path: Path) -> None:
    path, text, line = change().apply(tree(tmp_path, old=CODE))
    assert (path, line) == (tmp_path / "shared/delayer/old.py", 8)
    assert text == CODE.replace("self.log.count()", "pass")


def test_the_second_of_two_equal_places_is_another_than_the_first(tmp_path: Path) -> None:
    twice = CODE.replace("self.log.note(key)", "self.log.count()")
    _, text, line = change(nth=1).apply(tree(tmp_path, old=twice))
    assert line == 8
    assert text.count("self.log.count()") == 1


def test_a_function_that_has_moved_is_found(tmp_path: Path) -> None:
    path, _, _ = change().apply(tree(tmp_path, old="", new=CODE))
    assert path == tmp_path / "shared/delayer/new.py"


def test_a_text_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(Gone, match=r"call removed Gate\.opens"):
        change().apply(tree(tmp_path, old=CODE.replace("count", "add")))


def test_the_lines_of_a_change_are_those_of_its_statement() -> None:
    text = "def f(a):\n    g(\n        a,\n        1 < a,\n    )\n"
    assert list(lines_of(change(before="1 < a"), text, 4)) == [2, 3, 4]


def test_the_tests_of_a_module_itself_are_asked_first() -> None:
    """Then the quickest of each file, in rounds."""
    data, ran = CoverageData(no_disk=True), {}
    for name, seconds in {"a/test_x::1": 1, "a/test_x::2": 2, "b/test_y::1": 3, "c/test_gate::1": 9}.items():
        ran[f"tests/{name.replace('::', '.py::')}"] = float(seconds)
        data.set_context(f"tests/{name.replace('::', '.py::')}|run")
        data.add_lines({"/tree/shared/delayer/flow/rules/gate.py": [5]})
    found = [one.removeprefix("tests/").replace(".py", "") for one in Covered(data, ran).tests_of(GATE, [5])]
    assert found == ["c/test_gate::1", "a/test_x::1", "b/test_y::1", "a/test_x::2"]


def test_of_the_tests_that_run_a_line_as_many_are_asked_as_there_is_time_for() -> None:
    covered = Covered(CoverageData(no_disk=True), {"a": 1.0, "b": 2.0})
    assert covered.within(["a", "b", "unknown: a second"], 3.5) == ["a", "b"]
    assert covered.within(["a", "b", "unknown: a second"], 4) == ["a", "b", "unknown: a second"]


@pytest.mark.parametrize("name", LISTS)
def test_the_listed_changes_have_their_place(name: str) -> None:
    """Two seconds: it reads two hundred files.

    All but a tenth, as functions are rewritten; `make defects` says which are gone. Python reads what they make.
    """
    listed = stored.read(name)
    gone = []
    for one in listed:
        try:
            path, text, _ = one.apply(stored.ROOT)
        except Gone:
            gone.append(one.name)
            continue
        if path.name != TEMPLATE:
            ast.parse(text)
    assert len(gone) <= len(listed) // 10, gone


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_spread_equally_and_at_most_a_twentieth_is_equivalent(name: str) -> None:
    """Where an area has no rights left that no list changes, others of its layers are drawn."""
    listed = stored.read(name)
    assert len(set(listed)) == len(listed)
    of_areas = Counter(one.area for one in listed)
    of_layers = Counter(one.layer for one in listed)
    assert set(of_areas) == {area for area, _ in AREAS}
    assert set(of_layers) == {*LAYERS}
    assert max(of_areas.values()) - min(of_areas.values()) <= 1
    assert max(of_layers.values()) - min(of_layers.values()) <= len(listed) // 10
    assert len([one for one in listed if one.equivalent]) <= len(listed) // 20


def test_each_room_is_drawn_from_and_each_area_has_all_layers() -> None:
    """But for what is for tests, and what authors import, which hands on what others do."""
    files = [path.relative_to(stored.ROOT).as_posix() for path in (stored.ROOT / PACKAGE).rglob("*.py")]
    drawn = {file: layer for file in files if (layer := layer_of(file))}
    assert {*ROOMS} - {file.removeprefix(PACKAGE).partition("/")[0] for file in drawn} == {"extension"}
    of_areas = {(area_of(file), layer) for file, layer in drawn.items()}
    assert of_areas >= {(area, layer) for area, _ in AREAS for layer in ("rules", "use cases", "adapters")}


def test_no_change_is_in_two_lists() -> None:
    every = [one for name in LISTS for one in stored.read(name)]
    assert len({(one.function, one.before, one.after, one.nth, one.file) for one in every}) == len(every)
