"""How operators write limits, what their owners read, and whom they count."""

import json

import pytest

from delayer.flow.rules.block import EVERY, Party, party_of
from delayer.flow.rules.limit import limits_about, line_of, parties_of
from delayer.flow.words import NoLimit, concurrency_written, limited, rate_shown, rate_written, reason_of
from tests.samples import NOW, OWNER, a_schedule

TARGET = "http-request target"
CRM = Party(owner=OWNER, target="connection crm")


@pytest.mark.parametrize(
    ("text", "every"),
    [("1/s", 1_000_000), ("10/s", 100_000), ("1000/s", 1_000), ("30/m", 2_000_000), ("100/h", 36_000_000)],
)
def test_a_rate_is_read_and_shown(text: str, every: int) -> None:
    assert rate_written(text) == every
    assert rate_shown(every) == text


def test_a_rate_that_does_not_come_out_even_is_shown_as_it_was_written() -> None:
    for text in ("3/s", "7/m", "999/s", "11/h", "333/m"):
        assert rate_written(rate_shown(rate_written(text))) == rate_written(text)


@pytest.mark.parametrize("text", ["10", "0/s", "10/d", "1001/s", "-1/s", "1.5/s", " 1/s", "10000000000/h", "1/s\n"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(NoLimit, match="give one like 10/s"):
        rate_written(text)


def test_nothing_is_no_limit() -> None:
    assert (rate_written(""), rate_shown(0)) == (0, "")


def test_how_many_at_a_time_is_read_and_said() -> None:
    party = Party(owner=OWNER, target="http-request a.example")
    assert [concurrency_written(text) for text in ("", "1", "1000")] == [0, 1, 1_000]
    assert reason_of(party, 0, 5) == "at most 5 attempts at a time reach a.example"
    assert reason_of(party, 100_000, 1) == "at most 1 attempt at a time, and 10 a second, reach a.example"


@pytest.mark.parametrize("text", ["0", "1001", "-1", "1.5", "10/s", " 1", "five", "1\n"])
def test_what_is_no_number_of_attempts_is_refused(text: str) -> None:
    with pytest.raises(NoLimit, match="1 to 1000"):
        concurrency_written(text)


@pytest.mark.parametrize(
    ("party", "every", "reason"),
    [
        (Party(owner=OWNER, target="http-request a.example"), 100_000, "at most 10 a second reach a.example"),
        (Party(owner=EVERY, target="sqs-send q"), 2_000_000, "at most 30 a minute reach q"),
        (Party(owner=OWNER, target=EVERY), 1_000_000, "at most 1 a second reach the targets of this owner"),
        (
            Party(owner=OWNER, target="connection c"),
            36_000_000,
            "at most 100 an hour reach the targets of connection c",
        ),
    ],
)
def test_its_owners_read_what_it_is(party: Party, every: int, reason: str) -> None:
    assert reason_of(party, every) == reason


def test_a_limit_that_is_changed_or_set_anew_has_another_line() -> None:
    first = limited(Party(owner=OWNER, target=TARGET), NOW, 100_000, "eve")
    changed = limited(first.party, NOW + 1, 200_000, "", over=first)
    anew = limited(first.party, NOW + 2, 100_000, "")
    assert (changed.since, changed.revision) == (NOW, 2)
    assert len({line_of(first), line_of(changed), line_of(anew)}) == 3


def test_a_limit_counts_what_its_party_covers_and_what_uses_its_connection() -> None:
    action = {"type": "http-request", "url": "http://target/", "connection": "crm"}
    schedule = a_schedule(action=json.dumps(action))
    parties = parties_of(party_of(schedule, "host:url"), schedule)
    every = {name: limited(party, NOW, 1_000 * (at + 1), "") for at, (name, party) in enumerate({
        "target": Party(owner=OWNER, target=TARGET),
        "owner": Party(owner=OWNER, target=EVERY),
        "all": Party(owner=EVERY, target=TARGET),
        "connection": Party(owner=OWNER, target="connection crm"),
        "another connection": Party(owner=OWNER, target="connection erp"),
        "another owner's": Party(owner="another", target="connection crm"),
        "another owner": Party(owner="another", target=EVERY),
    }.items())}  # fmt: skip
    about = limits_about(every.values(), parties)
    assert about == (every["connection"], every["all"], every["owner"], every["target"]), "the slowest first"
