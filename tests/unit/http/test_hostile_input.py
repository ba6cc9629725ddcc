"""Whatever a client sends, admission answers with a request or with one of its own three refusals."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.accept.rules.admission import MAX_BODY_BYTES, admit, admit_batch, admit_change, admit_named
from delayer.accept.rules.listing import admit_group, admit_listing
from delayer.accept.rules.request import ScheduleRequest
from delayer.actions.rules.foreign import built_in
from delayer.http.json_body import MAX_DEPTH, MAX_ERRORS
from delayer.http.problem import Invalid, NotJson, TooLarge
from delayer.schedule.schedule import check_json
from delayer.schedule.schedule import given as given_of
from tests.samples import NOW, an_id

HTTP = {"type": "http-request", "url": "http://target/"}
SQS = {"type": "sqs-send", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"}
Document = dict[str, Any]


def refusal(call: Callable[..., Any], *given_to_it: Any) -> Any:
    """What it answers. Anything else that it raises fails the test."""
    try:
        return call(*given_to_it)
    except (NotJson, TooLarge) as error:
        return error
    except Invalid as error:
        answer = error
    assert 1 <= len(answer.errors) <= MAX_ERRORS
    assert all(one.problem and len(one.field) + len(one.problem) < 1500 for one in answer.errors)
    return answer


def answers(body: bytes) -> list[Any]:
    """What each call with a body answers; for a batch, that of each of its items, too."""
    batch = refusal(admit_batch, body)
    return [
        refusal(admit, body, NOW, built_in()),
        refusal(admit_named, body, "a-name", NOW, built_in()),
        refusal(admit_change, body, NOW),
        batch,
        *([refusal(admit, one, NOW, built_in()) for one in batch] if isinstance(batch, list) else []),
    ]


def unknown(number: int) -> Document:
    """So many fields that nobody knows."""
    return {f"unknown-{at}": at for at in range(number)}


ODD: tuple[Any, ...] = (
    None,
    True,
    [],
    {},
    "",
    -1,
    10**30,
    1e300,
    "\ud800",
    "\x00",
    "\ufffe",
    [[]],
    {"": {}},
    {"type": []},
)
AROUND = (0, 1, MAX_ERRORS - 2, MAX_ERRORS - 1, MAX_ERRORS, MAX_ERRORS + 1)


@pytest.mark.parametrize("number", AROUND)
@pytest.mark.parametrize("field", ["pointInTime", "delaySeconds", "action", "name", "tags"])
def test_a_list_of_errors_that_is_cut_short_hides_no_error(number: int, field: str) -> None:
    """Fifty unknown fields and no time were a 500: what is not in a list of fifty may be wrong all the same."""
    for value in ODD:
        for rest in ({}, {"action": HTTP, "delaySeconds": 1}):
            found = answers(json.dumps({**unknown(number), **rest, field: value}).encode())
            assert not number or not any(isinstance(one, ScheduleRequest) for one in found)


@pytest.mark.parametrize("document", [{}, {"action": HTTP}, {"payload": 1}])
def test_fifty_unknown_fields_and_no_time(document: Document) -> None:
    body = json.dumps({**unknown(MAX_ERRORS), **document}).encode()
    assert all(isinstance(one, Invalid) for one in answers(body))
    [in_a_batch] = admit_batch(b'{"schedules": [' + body + b"]}")
    assert isinstance(refusal(admit, in_a_batch, NOW, built_in()), Invalid)


LEVELS = (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 900, 960, 9000, 60_000)


@pytest.mark.parametrize("field", ["pointInTime", "action", "tags", "payload", "unknown", "schedules", "action.type"])
def test_no_depth_is_a_defect(field: str) -> None:
    for depth in LEVELS:
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            value = opening * depth + "1" * (closing == "}") + closing * depth
            one = f'"action": {{"type": {value}}}' if field == "action.type" else f'"{field}": {value}'
            found = answers(f'{{"delaySeconds": 1, {one}}}'.encode())
            assert not any(isinstance(answer, ScheduleRequest) for answer in found)


def test_what_can_just_be_read_can_be_shown() -> None:
    """Between the deepest value that the JSON parser reads and the deepest that can be shown, there was a 500."""
    for depth in range(850, 1000):
        body = b'{"delaySeconds": ' + b"[" * depth + b"]" * depth + b"}"
        assert isinstance(refusal(admit, body, NOW, built_in()), NotJson)


def test_of_a_body_in_another_encoding_the_encoding_is_named() -> None:
    """Also if it is no JSON either: whoever mends the encoding first sees the rest."""
    with pytest.raises(NotJson, match="'utf-8' codec can't decode byte 0xff in position 5"):
        admit(b'{"a":\xff', NOW, built_in())


EXPONENTS = ("", "e9999999", "e-9999999", "e99999999999999999999", "E+400000000", "e-400000000")
DIGITS = ("0", "-0", "1", "-1", "9" * 5000, "0." + "0" * 5000, "0." + "0" * 5000 + "1")


@pytest.mark.parametrize("place", ['"delaySeconds"', '"pointInTime"', '"payload"', '"name"', '"delaySeconds": 1, "x"'])
def test_no_number_is_a_defect(place: str) -> None:
    for number in (digits + exponent for digits in DIGITS for exponent in EXPONENTS):
        answers(f'{{"action": {json.dumps(HTTP)}, {place}: {number}}}'.encode())
        answers(f'{{"delaySeconds": 1, "action": {{"type": "http-request", "timeoutSeconds": {number}}}}}'.encode())
        refusal(admit_listing, {"limit": number})


@pytest.mark.parametrize("character", ["a", "\u00e9", "\uffff", "\U00010000", "\ud800", "\x1f"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_what_is_admitted_is_never_larger_than_a_body(character: str, ascii_only: bool) -> None:
    """DynamoDB takes 400 KB for a record: a larger one could never be stored, and would be answered 503 for ever."""
    tags = {f"{at:02}{character * 120}": character * 256 for at in range(50)}
    for length in (0, 90_000, 130_000, 180_000, 230_000):
        document = {"delaySeconds": 1, "action": HTTP, "tags": tags, "payload": "\ufffe" * (length // 3)}
        body = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        answer = refusal(admit, body, NOW, built_in())
        if isinstance(answer, ScheduleRequest):
            assert sum(len(text.encode()) for text in given_of(answer.definition).values()) <= MAX_BODY_BYTES
            assert json.loads(answer.definition.tags) == tags
            check_json(answer.definition)


known = st.sampled_from(
    ["pointInTime", "delaySeconds", "action", "payload", "name", "group", "tags", "onLate", "schedules"]
)
texts = st.text(st.characters(codec=None), max_size=6)  # with halves of surrogate pairs
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(ODD)
trees: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=10
)
good = st.sampled_from(
    [
        ("delaySeconds", 1),
        ("pointInTime", "2026-11-21T09:00:00Z"),
        ("action", HTTP),
        ("action", SQS),
        ("action", {**HTTP, "headers": {"Authorization": "x", "X\n": "\u00e9"}}),
        ("tags", {"a": "b", "": "c"}),
        ("onLate", {"after": "PT1H", "do": "drop"}),
        ("schedules", [{"delaySeconds": 1, "action": HTTP}]),
    ]
)
fields = st.tuples(known | texts, trees) | good
documents = st.builds(
    lambda pairs, number: {**unknown(number), **dict(pairs)}, st.lists(fields, max_size=6), st.sampled_from(AROUND)
)


def text_of(document: Document, ascii_only: bool) -> bytes:
    return json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


@settings(max_examples=150)
@given(documents, st.booleans())
def test_no_tree_is_a_defect(document: Document, ascii_only: bool) -> None:
    answers(text_of(document, ascii_only))


@settings(max_examples=100)
@given(documents, st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=4)), min_size=1, max_size=4))
def test_no_damage_is_a_defect(document: Document, damages: list[tuple[int, bytes]]) -> None:
    body = text_of(document, ascii_only=True)
    for at, damage in damages:
        body = body[: at % len(body)] + damage + body[at % len(body) + len(damage) // 2 :]
        if not body:
            break
    answers(body)


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf{}")
@example(b'{"schedules": [')
@example(b'{"action": {"type": "http-request"}, "action": {}, "action": 1}')
def test_no_bytes_are_a_defect(body: bytes) -> None:
    answers(body)


@given(texts)
@example("\ud800")
@example("a\n")
@example("..")
@example("x" * 200_000)
def test_no_name_is_a_defect(name: str) -> None:
    refusal(admit_named, b'{"delaySeconds": 1}', name, NOW, built_in())


parameters = st.sampled_from(["group", "state", "from", "to", "limit", "cursor"]) | texts
values = texts | st.sampled_from(
    [
        "1",
        "-1",
        "0" * 5000,
        "9" * 5000,
        "\u0661",
        "scheduled",
        "2026-11-21T09:00:00Z",
        "0001-01-01T00:00:00+23:59",
        an_id(),
    ]
)


@settings(max_examples=200)
@given(st.dictionaries(parameters, values, max_size=6), st.sampled_from(AROUND))
@example({"cursor": "MQ"}, 0)
@example({"from": "9999-12-31T23:59:59-23:59"}, MAX_ERRORS)
@example({"limit": "9" * 5000}, MAX_ERRORS)
def test_no_query_is_a_defect(query: dict[str, str], number: int) -> None:
    whole = {**query, **{name: str(value) for name, value in unknown(number).items()}}
    refusal(admit_listing, whole)
    refusal(admit_group, whole)
