"""The two readers of the ledger's stream share its records: series do not wait behind all others (ADR 0166)."""

import json
from typing import Any

import pytest
from ministack.services import lambda_svc

from delayer.engines.aws.expressions import to_attributes
from delayer.ledger.repository import to_item
from delayer.schedule.schedule_id import IdKind, is_occurrence, word_of_kind
from local.emulator.patches.streams import match_what_is_absent
from tests.cfn import logical, resources
from tests.samples import a_claim, an_id

MAPPINGS = resources("AWS::Lambda::EventSourceMapping")
PARTS = ("Ledger", "Occurrences")


@pytest.fixture(autouse=True)
def _as_on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the correction that the emulator makes; it is taken back."""
    monkeypatch.setattr(lambda_svc, "_match_esm_filter", lambda_svc._match_esm_filter)
    match_what_is_absent(lambda_svc)


def test_no_function_reads_a_source_twice() -> None:
    """Lambda answers 409 to a second mapping of the same function and source, whatever its filter."""
    pairs = [(logical(one["FunctionName"]), logical(one["EventSourceArn"])) for one in MAPPINGS.values()]
    assert len(set(pairs)) == len(pairs) > 5


def readers(record: dict[str, Any]) -> list[str]:
    """Which of the two mappings are given it."""
    return [part for part in PARTS if lambda_svc._apply_filter_criteria([record], MAPPINGS[f"StreamLifecycle{part}"])]


def changed(item: dict[str, Any]) -> dict[str, Any]:
    return {"eventName": "MODIFY", "dynamodb": {"NewImage": item, "OldImage": item}}


@pytest.mark.parametrize("kind", IdKind)
def test_each_row_has_one_reader_and_occurrences_have_their_own(kind: IdKind) -> None:
    item = to_attributes(to_item(a_claim(schedule_id=an_id(kind=kind))))
    assert readers(changed(item)) == ["Occurrences" if is_occurrence(item["scheduleId"]["S"]) else "Ledger"]


def test_a_row_that_says_nothing_of_its_kind_is_read_with_the_others() -> None:
    """One of a plain schedule; one that an earlier version has written; what is deleted."""
    item = to_attributes(to_item(a_claim()))
    assert "kind" not in item
    assert readers(changed(item)) == ["Ledger"]
    assert readers({"eventName": "REMOVE", "dynamodb": {"OldImage": item}}) == ["Ledger"]


def patterns_of(part: str) -> list[str]:
    return [one["Pattern"] for one in MAPPINGS[f"StreamLifecycle{part}"]["FilterCriteria"]["Filters"]]


def fitting(item: dict[str, Any]) -> list[str]:
    """Which patterns of the two mappings fit, each by itself."""
    return [
        f"{part} {place}"
        for part in PARTS
        for place, pattern in zip(("first", "second"), patterns_of(part), strict=True)
        if lambda_svc._apply_filter_criteria([changed(item)], {"FilterCriteria": {"Filters": [{"Pattern": pattern}]}})
    ]


@pytest.mark.parametrize("kind", IdKind)
def test_each_row_fits_one_pattern_and_no_other(kind: IdKind) -> None:
    """Else a mistake in one of them would be made up for by another, in the emulator alone."""
    word = word_of_kind(an_id(kind=kind))
    places = {"": "Ledger first", "occurrence": "Occurrences first", "relaxed-occurrence": "Occurrences second"}
    assert fitting(to_attributes(to_item(a_claim(schedule_id=an_id(kind=kind))))) == [places.get(word, "Ledger second")]


def test_they_differ_by_their_functions_and_filters_alone() -> None:
    their_own = {"FilterCriteria": None, "FunctionName": None}
    first, second = ({**MAPPINGS[f"StreamLifecycle{part}"], **their_own} for part in PARTS)
    assert first == second
    assert all(isinstance(json.loads(one), dict) for part in PARTS for one in patterns_of(part))
