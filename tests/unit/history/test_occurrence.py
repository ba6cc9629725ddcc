"""What an occurrence is put with."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.history.model import NUMBER, TIME, Occurrence, definition_for, occurrence_of
from delayer.schedule.instants import Malformed, parse_instant
from delayer.schedule.schedule import Definition
from tests.samples import a_definition

AT = parse_instant("2027-03-26T09:00:00Z")
SEVENTH = Occurrence(series="0a1b", number=7, time=AT)


def test_it_bears_its_series_and_no_group() -> None:
    put = definition_for(a_definition(group="orders"), SEVENTH)
    assert json.loads(put.series) == {"seriesId": "0a1b", "number": 7, "time": "2027-03-26T09:00:00.000Z"}
    assert (put.group, occurrence_of(put)) == ("", SEVENTH)


def test_a_plain_schedule_is_of_no_series() -> None:
    assert occurrence_of(a_definition()) is None


@pytest.mark.parametrize("text", ["{}", "[]", '{"seriesId":"","number":1,"time":"2027-03-26T09:00:00Z"}', "{"])
def test_what_is_no_occurrence_is_malformed(text: str) -> None:
    with pytest.raises(Malformed, match="not an occurrence"):
        occurrence_of(a_definition(series=text))


def test_time_and_number_take_the_place_of_the_placeholders() -> None:
    """In the payload wherever they stand in a string, and in the values of the headers."""
    action = {
        "type": "http-request",
        "url": f"http://target/{TIME}",
        "headers": {"X-Run": f"{NUMBER} at {TIME}", "Y": "ä"},
    }
    payload = json.dumps({"run": NUMBER, "list": [f"at {TIME}!", 1.50]})
    put = definition_for(a_definition(action=json.dumps(action, ensure_ascii=False), payload=payload), SEVENTH)
    sent = json.loads(put.action)
    assert sent["headers"] == {"X-Run": "7 at 2027-03-26T09:00:00.000Z", "Y": "ä"}
    assert sent["url"] == action["url"], "only headers and payload"
    assert put.payload == '{"run": "7", "list": ["at 2027-03-26T09:00:00.000Z!", 1.5]}'


@given(st.text(), st.integers(0, 10**9))
def test_without_a_placeholder_it_stays_byte_for_byte(text: str, number: int) -> None:
    definition = a_definition(
        payload=json.dumps(text), action=json.dumps({"type": "x", "headers": {"a": text}}, indent=1)
    )
    put = definition_for(definition, Occurrence(series="s", number=number, time=AT))
    assert (put.payload, put.action) == (definition.payload, definition.action)


@given(st.lists(st.sampled_from([TIME, NUMBER, "é", '"', "x"])), st.integers(0, 10**12))
def test_it_is_never_longer(parts: list[str], number: int) -> None:
    """What was accepted fits into the record and the message of each occurrence."""
    definition = a_definition(payload=json.dumps("".join(parts), ensure_ascii=False))
    put: Definition = definition_for(definition, Occurrence(series="s", number=number, time=AT))
    assert len(put.payload) <= len(definition.payload)
    assert json.loads(put.payload) is not None
