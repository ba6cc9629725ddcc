"""`make model` fails if a space of any model is wrong, or if a rule is not missed."""

import pytest
from attrs import evolve

from tests.model.guard import Guard
from tests.model.models import MODELS, Model
from tests.model.search import Found
from tests.model.tables import main, show


def search(possible: str, rule: str = "all") -> Found[str]:
    """Something is wrong where the rule is missed, or where it is wrong from the beginning."""
    wrong = "it is late" if rule == "none" or possible == "bad" else ""
    return Found(states=1000, steps=2000, wrong=wrong, way=(("it happens", "then"),) if wrong else ())


GUARD = Guard(name="rule", what="nobody looks", without="none", possible="good")
SOUND = Model(of="a thing", spaces={"small": "good"}, big={"big": "good"}, search=search, guards=[GUARD])


def test_both_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert show(SOUND)
    printed = capsys.readouterr().out.splitlines()
    assert printed[2:4] == ["| small | 1,000 | 2,000 | none |", "| big | 1,000 | 2,000 | none |"]
    assert printed[4] == "| sum of all | 2,000 | 4,000 | |"
    assert printed[-1] == "| `rule` | nobody looks | 1 | it is late |"


@pytest.mark.parametrize(
    "model",
    [evolve(SOUND, big={"big": "bad"}), evolve(SOUND, guards=[GUARD, evolve(GUARD, without="all")])],
    ids=["a space is wrong", "a rule is not missed"],
)
def test_what_is_not_as_it_must_be_is_said(model: Model) -> None:
    assert not show(model)


def test_the_command_ends_at_the_first_model_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in list(MODELS):
        monkeypatch.setitem(MODELS, name, SOUND)
    assert main(["series", "net"]) == 0
    assert main([]) == 0
    assert capsys.readouterr().out.count("| `rule` |") == 2 + len(MODELS)
    monkeypatch.setitem(MODELS, "net", evolve(SOUND, spaces={"small": "bad"}))
    assert main([]) == 1
    assert capsys.readouterr().out.count("| `rule` |") == 2


def test_a_model_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["seats", "chairs"])
    assert "There is no model chairs" in capsys.readouterr().err
