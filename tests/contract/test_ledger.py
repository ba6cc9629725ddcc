"""The ledger: every write is conditional, and answers with the row that stands in the way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.aws.ledger import DETAIL, DynamoLedger, from_item, to_item
from delayer.core.instants import DAY, SECOND
from delayer.core.ledger import LedgerRow, ended, reopened, retried
from delayer.core.lifecycle import State
from delayer.fakes import MemoryLedger
from delayer.ports import Ledger, Unavailable, Vanished
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import NOW, a_claim, an_id

GOLDEN = Path(__file__).parents[1] / "golden/v1/ledger-item.json"
SAMPLE = a_claim(
    nonce="nonce-1", revision=3, attempt=2, delivery="delivery-2", retry_of="delivery-1", detail="HTTP 503"
)


def adapter(dynamodb: Any) -> DynamoLedger:
    return DynamoLedger(dynamodb=dynamodb, table=create_table(dynamodb, "scheduleId"))


@pytest.fixture(params=["fake", "dynamodb"])
def ledger(request: pytest.FixtureRequest, dynamodb: Any) -> Ledger:
    return MemoryLedger() if request.param == "fake" else adapter(dynamodb)


def executed(row: LedgerRow) -> LedgerRow:
    return ended(row, State.EXECUTED, NOW, "HTTP 204")


def test_nothing_stands_at_first(ledger: Ledger) -> None:
    assert ledger.read(an_id()) is None


def test_what_is_put_is_read(ledger: Ledger) -> None:
    assert ledger.put_if_absent(SAMPLE) is None
    assert ledger.read(SAMPLE.schedule_id) == SAMPLE
    assert ledger.read(an_id(NOW + 1)) is None


@pytest.mark.parametrize("number", [0, 1, 101])
def test_many_are_read_together(ledger: Ledger, number: int) -> None:
    """Those that stand; asked for twice is told once."""
    rows = [a_claim(due=NOW + at) for at in range(number)]
    for row in rows:
        ledger.put_if_absent(row)
    ids = [row.schedule_id for row in rows]
    assert ledger.read_all([*ids, *ids[:2], an_id(NOW - 1)]) == dict(zip(ids, rows, strict=True))


def test_the_first_put_wins(ledger: Ledger) -> None:
    """And the second is told which one stands."""
    first, second = a_claim(nonce="n1"), a_claim(nonce="n2")
    assert ledger.put_if_absent(first) is None
    assert ledger.put_if_absent(second) == first
    assert ledger.read(an_id()) == first


def test_a_put_repeated_is_no_conflict(ledger: Ledger) -> None:
    """The SDK repeats what timed out, though it may have taken place."""
    assert ledger.put_if_absent(a_claim()) is None
    assert ledger.put_if_absent(a_claim()) is None


def test_a_put_repeated_after_another_write_is_a_conflict(ledger: Ledger) -> None:
    row = a_claim()
    ledger.put_if_absent(row)
    ledger.swap(row, executed(row))
    assert ledger.put_if_absent(row) == executed(row)


def test_a_swap_of_what_stands(ledger: Ledger) -> None:
    row = a_claim()
    ledger.put_if_absent(row)
    assert ledger.swap(row, executed(row)) is None
    assert ledger.read(an_id()) == executed(row)


def test_of_two_swaps_one_wins(ledger: Ledger) -> None:
    """An outcome and a retry, decided on the same row."""
    row = a_claim()
    ledger.put_if_absent(row)
    assert ledger.swap(row, retried(row, "d2", NOW)) is None
    assert ledger.swap(row, executed(row)) == retried(row, "d2", NOW)
    assert ledger.read(an_id()) == retried(row, "d2", NOW)


def test_a_swap_repeated_is_no_conflict(ledger: Ledger) -> None:
    row = a_claim()
    ledger.put_if_absent(row)
    assert ledger.swap(row, executed(row)) is None
    assert ledger.swap(row, executed(row)) is None


def test_a_swap_of_nothing_has_vanished(ledger: Ledger) -> None:
    """Expired: nothing is written, no row comes back from the dead."""
    row = a_claim()
    with pytest.raises(Vanished):
        ledger.swap(row, executed(row))
    assert ledger.read(an_id()) is None


def test_a_swap_goes_by_the_revision_alone(ledger: Ledger) -> None:
    row = a_claim()
    ledger.put_if_absent(row)
    assert ledger.swap(evolve(row, detail="as read by another"), executed(row)) is None


def test_a_swap_on_an_older_revision_fails(ledger: Ledger) -> None:
    row, standing = a_claim(), a_claim(revision=5)
    ledger.put_if_absent(standing)
    assert ledger.swap(row, executed(row)) == standing
    assert ledger.swap(evolve(row, revision=9), executed(row)) == standing


def test_a_row_is_reopened(ledger: Ledger) -> None:
    """It stays, and its revision goes on: a write decided on an older one fails."""
    row = a_claim(state=State.SET_ASIDE)
    ledger.put_if_absent(row)
    again = evolve(reopened(row, "n5", NOW), expires_at=row.expires_at)
    assert ledger.swap(row, again) is None
    assert ledger.read(an_id()) == again
    assert ledger.swap(row, executed(row)) == again


@pytest.mark.parametrize("state", list(State))
def test_every_state_is_kept(ledger: Ledger, state: State) -> None:
    ledger.put_if_absent(a_claim(state=state))
    row = ledger.read(an_id())
    assert row
    assert row.state is state


# ------------------------------------------------------------ the adapter alone


def test_the_golden_row() -> None:
    item = json.loads(GOLDEN.read_text())
    assert from_item(item) == SAMPLE
    assert to_item(SAMPLE) == item, "the format changed: give it a new version"


@pytest.mark.parametrize("change", [{"v": {"N": "2"}}, {"v": None}, {"state": {"S": "lost"}}, {"state": None}], ids=str)
def test_a_row_that_cannot_be_read_decides_nothing(dynamodb: Any, change: dict[str, Any]) -> None:
    """Written by a later version: what it says is not known, so nobody may act as if there were none."""
    ledger = adapter(dynamodb)
    item = {name: value for name, value in {**to_item(a_claim()), **change}.items() if value is not None}
    dynamodb.put_item(TableName=ledger.table, Item=item)
    with pytest.raises(Unavailable, match="cannot be read"):
        ledger.read(an_id())
    with pytest.raises(Unavailable, match="cannot be read"):
        ledger.put_if_absent(a_claim(nonce="n2"))


seconds = st.integers(0, 2**40).map(lambda number: number * SECOND)
texts = st.text(st.characters(codec="utf-8"), max_size=DETAIL)


@given(
    st.builds(
        LedgerRow,
        schedule_id=st.just(an_id()),
        owner=st.text(st.characters(codec="utf-8"), min_size=1),
        state=st.sampled_from(State),
        revision=st.integers(1, 10**6),
        at=st.integers(0, 2**48),
        expires_at=seconds,
        nonce=texts,
        lease_until=st.integers(0, 2**48),
        claimed_at=st.integers(0, 2**48),
        attempt=st.integers(0, 20),
        delivery=texts,
        retry_of=texts,
        detail=texts,
        name=texts,
        replaced_by=texts,
    )
)
def test_a_row_is_read_as_it_was_written(row: LedgerRow) -> None:
    """What is empty is left out, and read as empty."""
    assert from_item(to_item(row)) == row


def test_a_row_fits_into_one_write_unit(dynamodb: Any) -> None:
    """1,024 bytes, names included, with the longest of everything; the reason is cut to fit."""
    row = evolve(SAMPLE, owner="x" * 256, detail="x" * 5000, nonce="x" * 16, delivery="x" * 16, retry_of="x" * 16)
    row = evolve(row, name="x" * 128, replaced_by=an_id())
    item = to_item(row)
    assert sum(len(name) + len(next(iter(value.values()))) for name, value in item.items()) <= 1024
    assert from_item(item).detail == "x" * DETAIL


def test_a_long_reason_is_cut_and_a_repeat_is_still_no_conflict(dynamodb: Any) -> None:
    ledger = adapter(dynamodb)
    row = a_claim(detail="x" * 5000)
    assert ledger.put_if_absent(row) is None
    assert ledger.put_if_absent(row) is None


def test_ttl_is_in_seconds(dynamodb: Any) -> None:
    ledger = adapter(dynamodb)
    ledger.put_if_absent(a_claim())
    [item] = dynamodb.scan(TableName=ledger.table)["Items"]
    assert int(item["expiresAt"]["N"]) == (NOW + 30 * DAY) // SECOND


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    """An executor that read an old row might attempt what has ended."""
    client = Wrapped(dynamodb)
    DynamoLedger(dynamodb=client, table=create_table(dynamodb, "scheduleId")).read(an_id())
    assert client.calls[0][1]["ConsistentRead"] is True


def test_every_write_is_one_request(dynamodb: Any) -> None:
    """The row in the way comes with the refusal: four writes per schedule, and no read to learn why."""
    client = Wrapped(dynamodb)
    ledger = DynamoLedger(dynamodb=client, table=create_table(dynamodb, "scheduleId"))
    ledger.put_if_absent(a_claim())
    ledger.put_if_absent(a_claim(nonce="n2"))
    ledger.swap(a_claim(revision=7), executed(a_claim()))
    assert [name for name, _ in client.calls] == ["put_item", "put_item", "put_item"]
    assert all("ConditionExpression" in arguments for _, arguments in client.calls)


@pytest.mark.parametrize("error", ERRORS)
def test_what_failed_is_unavailable(error: str) -> None:
    """Whether it took place is not known: never taken for a conflict, nor for success."""
    ledger = DynamoLedger(dynamodb=Failing(ERRORS[error]), table="t")
    calls: list[Callable[[], object]] = [
        lambda: ledger.read(an_id()),
        lambda: ledger.put_if_absent(a_claim()),
        lambda: ledger.swap(a_claim(), executed(a_claim())),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()
