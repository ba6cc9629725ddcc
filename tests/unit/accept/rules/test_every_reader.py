"""What admission takes, each later reader takes: table, queues, events, subscribers, the executor, a policy, a GET."""

import json
import math
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.accept import routes as schedules
from delayer.accept.rules import admission
from delayer.accept.rules.admission import admit
from delayer.accept.rules.status import Status
from delayer.actions.rules.foreign import built_in
from delayer.extension.executor import Action, Done, Message, Meta, Result, executor
from delayer.extension.policy import Asked, At, Chosen, Policy, policy
from delayer.history import cloud_events, received
from delayer.history.model import NUMBER, TIME, Occurrence, definition_for, of_record
from delayer.http import answers
from delayer.http.problem import Invalid
from delayer.ledger.model import State
from delayer.records import repository as schedule_table
from delayer.relay.relay import first_attempt
from delayer.schedule import messages
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.schedule.schedule import Definition
from delayer.schedule.table_change import ChangeKind
from delayer.series.rules.admission import admit_series
from tests.samples import NOW, a_schedule


class Measure(Action):
    """Fields of each sort that a class may have."""

    any: dict[str, Any] = {}  # noqa: RUF012 - msgspec copies it
    number: float | None = None
    below: Annotated[float, Meta(lt=0.1)] | None = None
    tenths: Annotated[float, Meta(multiple_of=0.1)] | None = None
    count: int | None = None
    headers: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    url: str = ""


@executor("measure")
def measure(_message: Message[Measure]) -> Result:
    return Done("done")


class Guess(Policy):
    """The same of a policy."""

    number: float | None = None
    any: dict[str, Any] = {}  # noqa: RUF012 - msgspec copies it


@policy("guess")
def guess(asked: Asked[Guess]) -> Chosen:
    return At(asked.now)


ACTIONS = {**built_in(), "measure": measure.target.action_type}
TO_BE_FILLED = {"X-Run": f"{NUMBER} at {TIME}"}


@pytest.fixture(autouse=True)
def _with_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "policies", lambda: {"guess": guess.target.schema})


def exactly(digits: str) -> Decimal | str:
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of twenty digits
        return digits


def strictly(text: str) -> Any:
    """By another reader than those that are tested."""
    return json.loads(text, parse_float=exactly, parse_int=exactly, parse_constant=pytest.fail)


def read_by_all(definition: Definition) -> dict[str, Any]:
    """What the API shows of it. Raises whatever a reader raises."""
    stored = schedule_table.to_item(a_schedule(**{name: getattr(definition, name) for name in ("action", "payload")}))
    schedule = schedule_table.from_item(stored)
    assert not isinstance(schedule, str)
    body = messages.encode(first_attempt(DelayerMessage(schedule=schedule, nonce="n"), "f"))  # type: ignore[arg-type]
    assert not {"\ufffe", "\uffff"} & set(body), "SQS would refuse it"
    message = messages.decode(body, ExecutorMessage)
    if message.schedule.definition.action_type == "measure":
        measure.target.check(message)
    event = of_record(ChangeKind.INSERT, message.schedule, "c", 0)
    assert event
    received.decode(cloud_events.encode(event))
    shown = Status(schedule_id=message.schedule.id, state=State.SCHEDULED, original=event.original)
    found: dict[str, Any] = strictly(answers.response(200, schedules.shown(shown)).body)
    return found


def text(action: str, payload: str = "1", more: str = '"delaySeconds": 1') -> bytes:
    return f'{{{more}, "action": {{"type": "measure", {action}}}, "payload": {payload}}}'.encode()


TOO_LARGE = ["1e400", "-1e999", "9" * 400, "1e99999999999999999999", "1.8e308", "0e99999999999999999999"]


@pytest.mark.parametrize("number", TOO_LARGE)
@pytest.mark.parametrize(("field", "value"), [("number", "{}"), ("any", '{{"a": [1, {}]}}')])
def test_a_number_that_no_reader_takes_is_refused_at_the_door(number: str, field: str, value: str) -> None:
    path = field if field == "number" else "any.a.1"
    with pytest.raises(Invalid) as of_an_action:
        admit(text(f'"{field}": {value.format(number)}'), NOW, ACTIONS)
    assert [one.field for one in of_an_action.value.errors] == [f"action.{path}"]
    when = f'"when": {{"policy": "guess", "{field}": {value.format(number)}}}'
    with pytest.raises(Invalid) as of_a_policy:
        admit(text('"url": ""', more=when), NOW, ACTIONS)
    assert [one.field for one in of_a_policy.value.errors] == [f"when.{path}"]


def test_what_the_class_itself_would_refuse_is_refused_at_the_door() -> None:
    """0.1 is not below 0.1, in whatever digits; and msgspec finds 0.3 to be no multiple of 0.1, so it never ran."""
    for wrong in ('"count": 1e25', '"below": 0.1', '"below": 0.09999999999999999999999', '"tenths": 0.3'):
        with pytest.raises(Invalid):
            admit(text(wrong), NOW, ACTIONS)
    for right in ('"below": 0.09', '"tenths": 0.2', '"count": 13.0', '"count": 1e19', f'"count": {10**30}'):
        read_by_all(admit(text(right), NOW, ACTIONS).definition)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("1e308", "1E+308"),
        ("-1e20", "-1E+20"),
        ("-0.0", "-0.0"),
        ("-0e5", "-0E+5"),
        ("1.10", "1.10"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("13.0", "13"),  # as a field of the kind int reads it
        ("1e19", "10000000000000000000"),
    ],
)
def test_a_number_does_not_grow(written: str, stored: str) -> None:
    """A list of 1e308 was stored with 309 digits for each, sixty times as long as it came."""
    action = f'"any":{{"a":[{",".join([written] * 100)}]}}'
    found = admit(text(action), NOW, ACTIONS).definition.action
    assert found == f'{{"type":"measure","any":{{"a":[{",".join([stored] * 100)}]}}}}'


def test_digits_are_kept() -> None:
    numbers = ["12345678901234567890123", "0.1000000000000000055511151231257827", "1.10", "1e-7", "1e308"]
    action = f'"any": {{"a": [{", ".join(numbers)}]}}, "url": "http://x/?secret=1"'
    found = read_by_all(admit(text(action), NOW, ACTIONS).definition)
    assert found["action"]["any"]["a"] == [*map(Decimal, numbers)], "also where something beside them is masked"
    assert found["action"]["url"] == "http://x/?***"


def test_a_placeholder_changes_nothing_beside_it() -> None:
    """U+FFFE stays an escape, for SQS refuses the character; and all digits stay."""
    headers = json.dumps({**TO_BE_FILLED, "Y": "\ufffe\uffff é"})
    action = f'"headers": {headers}, "any": {{"\\ufffe": [12345678901234567890123, 1.10, "{TIME}"]}}'
    body = text(action, more='"repeat": {"every": "PT1H"}')
    definition = admit_series(body, NOW, ACTIONS).definition
    put = definition_for(definition, Occurrence(series="s", number=7, time=NOW))
    assert put.action == definition.action.replace(f"{NUMBER} at {TIME}", "7 at 2026-11-21T09:00:00.000Z")
    read_by_all(put)


def test_a_series_that_an_earlier_version_took_goes_on() -> None:
    """`1e400` was stored as Infinity, which is no JSON: each occurrence is a dead letter, and no step fails."""
    stored = Definition(action=f'{{"type":"measure","number":Infinity,"headers":{{"a":"{NUMBER}"}}}}')
    assert definition_for(stored, Occurrence(series="s", number=7, time=NOW)).action == stored.action


digits = st.text("0123456789", min_size=1, max_size=25).map(lambda one: one.lstrip("0") or "0")
number_texts = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    digits | st.sampled_from(["9" * 309, "9" * 400, "1" * 5000]),
    st.just("") | digits.map(lambda one: f".{one}"),
    st.just("") | st.integers(-400, 400).map(lambda one: f"e{one}") | st.just("E99999999999999999999"),
)
texts = st.text(st.characters(codec="utf-8") | st.sampled_from("\ufffe\uffff<>\u2028")).map(json.dumps)
raw_texts = st.text(st.characters(codec="utf-8")).map(lambda one: json.dumps(one, ensure_ascii=False))
values = st.recursive(
    number_texts | texts | raw_texts | st.sampled_from(["null", "true", f'"{TIME}"']),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda found: f"[{', '.join(found)}]")
        | st.dictionaries(texts | raw_texts, inner, max_size=3).map(
            lambda found: "{" + ", ".join(f"{name}: {value}" for name, value in found.items()) + "}"
        )
    ),
    max_leaves=5,
)
fields = st.sampled_from(["number", "below", "tenths", "count", "url", "any"])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(fields, values, max_size=4), values, st.booleans())
@example({"any": '{"a": 1e400}'}, "1e400", True)
def test_whatever_is_taken_is_read_by_all(action: dict[str, str], payload: str, is_series: bool) -> None:
    """Some seconds: numbers of thousands of digits are made, and each is read by all readers."""
    written = {name: f'{{"a": {one}}}' if name == "any" else one for name, one in action.items()}
    members = ", ".join(f'"{name}": {one}' for name, one in written.items())
    given_fields = f'{members}{", " * bool(members)}"headers": {json.dumps(TO_BE_FILLED)}'
    wrong: list[str] | None = None
    try:
        if is_series:
            found = admit_series(text(given_fields, payload, '"repeat": {"every": "PT1H"}'), NOW, ACTIONS).definition
            found = definition_for(found, Occurrence(series="s", number=7, time=NOW))
        else:
            found = admit(text(given_fields, payload), NOW, ACTIONS).definition
    except Invalid as refused:
        wrong = [one.field for one in refused.errors if not one.field.startswith("action.")]
    if wrong is not None:
        assert not wrong
        return
    shown = read_by_all(found)
    expected = strictly("{" + ", ".join(f'"{name}": {one}' for name, one in written.items()) + "}")
    assert is_series or {name: shown["action"][name] for name in expected if name != "url"} == {
        name: one for name, one in expected.items() if name != "url"
    }


@settings(max_examples=50, deadline=None)
@given(number_texts)
def test_a_policy_reads_what_is_taken(number: str) -> None:
    when = f'"when": {{"policy": "guess", "number": {number}, "any": {{"a": {number}}}}}'
    try:
        found = admit(text('"url": ""', more=when), NOW, ACTIONS).definition
    except Invalid:
        assert len(number) > 300 or "99999999999999999999" in number or math.isinf(float(number))
        return
    assert isinstance(guess.target(a_schedule(when=found.when)), At)
    assert strictly(found.when)["number"] == Decimal(number)
