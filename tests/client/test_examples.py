"""The examples: short, with a README that runs them, and each does what it says, days of it in a moment."""

import importlib.util
import re
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from delayer_client import Conflict
from delayer_client.testing import Answer, FakeDelayer
from tests.cfn import ROOT

EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*/*.py")) if path.name != "app.py"]


def example(name: str) -> ModuleType:
    [path] = [path for path in EXAMPLES if path.stem == name]
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_short_and_its_readme_runs_it(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 60
    readme = (path.parent / "README.md").read_text()
    assert len(readme.splitlines()) <= 10
    assert f".venv/bin/python {path.relative_to(ROOT)}" in readme
    assert re.match(r"# [A-Z]", readme)


def test_four_are_there() -> None:
    assert {path.stem for path in EXAMPLES} == {"reminders", "trial", "payment", "report"}


def closed(fake: FakeDelayer) -> list[Any]:
    return [(one.action["url"].rpartition("/")[2], one.payload["customer"]) for one in fake.handed_over]


def test_a_trial_ends_once_after_its_notice() -> None:
    fake = FakeDelayer()
    trials = example("trial").Trials(fake.client(), "https://app.example/close")
    for customer in ("ada", "ada", "bob", "eve"):
        trials.begin(customer)
    assert trials.pays("bob")
    assert trials.extend("eve", timedelta(days=7))
    fake.advance(timedelta(days=14, seconds=5))
    assert closed(fake) == [("ends-soon", "ada"), ("close", "ada")]
    assert not trials.pays("ada"), "it is too late, and it says so"
    assert not trials.extend("ada", timedelta(days=7))
    assert not trials.extend("nobody", timedelta(days=7))
    fake.advance(timedelta(days=8))
    assert closed(fake)[2:] == [("ends-soon", "eve"), ("close", "eve")]
    assert not trials.pays("nobody")


def test_a_nightly_report_is_put_again_and_again_and_runs_once_a_night() -> None:
    fake = FakeDelayer()
    report = example("report")
    assert len({report.deploy(fake.client(), "https://app.example/report") for _ in range(3)}) == 1
    fake.advance(timedelta(days=3))
    nights = [one.payload["night"] for one in fake.handed_over]
    assert len(nights) == len(set(nights)) == 3
    assert all("T02:30:00" in night for night in nights), "in Lisbon's winter"


def test_a_payment_is_tried_again_for_a_week_and_ordered_once() -> None:
    fake = FakeDelayer()
    fake.answer(lambda _: Answer.retry("HTTP 503"))
    payment = example("payment")
    made = payment.charge_later(fake.client(), "https://app.example/charge", {"id": "17", "amount": 1700})
    with pytest.raises(Conflict):
        payment.charge_later(fake.client(), "https://app.example/charge", {"id": "17", "amount": 1700})
    fake.advance(timedelta(days=10))
    assert 6 <= len(fake.handed_over) <= 8
    assert fake.client().get(made.id).state == "failed"
