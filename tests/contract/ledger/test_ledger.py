"""The ledger: every change is conditional, and answered by itself: written, or the row that is in the way."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.dead_letters.rules import redriven
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes, to_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder, Threads
from delayer.engines.store.model import Item, Put
from delayer.engines.store.store import Store
from delayer.ledger.model import MAX_DETAIL, LedgerChange, LedgerRow, State
from delayer.ledger.ports import Conflict, Ledger, RowMissing, WriteResult, Written
from delayer.ledger.repository import StoredLedger, from_item, to_item
from delayer.ledger.rules import ended, hopped, retried
from delayer.schedule.instants import DAY, SECOND
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import GOLDEN, NOW, a_claim, an_id

ADAPTER = StoredLedger
SAMPLE = a_claim(nonce="nonce-1", revision=3, attempt=2, fence="fence-2", retry_of="fence-1", detail="HTTP 503")


def adapter(store: Store) -> StoredLedger:
    return StoredLedger(store=store, table=create_table(store, "scheduleId"), parallel=InOrder())


@pytest.fixture
def ledger(store: Store) -> StoredLedger:
    return adapter(store)


def executed(row: LedgerRow) -> LedgerRow:
    return ended(row, State.EXECUTED, NOW, "HTTP 204")


def write(ledger: Ledger, row: LedgerRow, over: LedgerRow | None = None) -> WriteResult:
    """One change."""
    [result] = ledger.write([LedgerChange(row=row, over=over)])
    return result


WAITING = hopped(
    evolve(SAMPLE, enqueued_at=NOW, retry_at=NOW + DAY, age_from=NOW - DAY), "fence-3", NOW, after="fence-2"
)


def test_there_is_no_row_at_first(ledger: Ledger) -> None:
    assert ledger.read(an_id()) is None


@pytest.mark.parametrize("row", [SAMPLE, WAITING], ids=["a retry", "one that waits for long"])
def test_what_is_written_is_read(ledger: Ledger, row: LedgerRow) -> None:
    assert write(ledger, row) == Written()
    assert ledger.read(row.schedule_id) == row
    assert ledger.read(an_id(NOW + 1)) is None


@pytest.mark.parametrize("number", [0, 1, 101])
def test_many_are_written_and_read_together(ledger: Ledger, number: int) -> None:
    """Those that there are; one that is asked for twice is answered once."""
    rows = [a_claim(due=NOW + at) for at in range(number)]
    assert ledger.write([LedgerChange(row=row) for row in rows]) == [Written()] * number
    ids = [row.schedule_id for row in rows]
    assert ledger.read_all([*ids, *ids[:2], an_id(NOW - 1)]) == dict(zip(ids, rows, strict=True))


def test_each_change_is_answered_by_itself_in_their_order(ledger: Ledger) -> None:
    """One that cannot be written stops no other: first rows and later ones, in one list."""
    old, busy, gone, new = (a_claim(due=NOW + at) for at in range(4))
    write(ledger, old)
    write(ledger, busy)
    changes = [
        LedgerChange(row=executed(gone), over=gone),
        LedgerChange(row=new),
        LedgerChange(row=a_claim(due=NOW + 1, nonce="n2")),
        LedgerChange(row=executed(old), over=old),
    ]
    missing, *others = ledger.write(changes)
    assert isinstance(missing, RowMissing)
    assert others == [Written(), Conflict(busy), Written()]
    ids = [one.schedule_id for one in (old, busy, gone, new)]
    assert [ledger.read(one) for one in ids] == [executed(old), busy, None, new]


def test_nothing_to_write(ledger: Ledger) -> None:
    assert ledger.write([]) == []


def test_the_first_row_wins(ledger: Ledger) -> None:
    """And the second write is answered with the row that is there."""
    first, second = a_claim(nonce="n1"), a_claim(nonce="n2")
    assert write(ledger, first) == Written()
    assert write(ledger, second) == Conflict(first)
    assert ledger.read(an_id()) == first


def test_a_first_row_repeated_is_no_conflict(ledger: Ledger) -> None:
    """The SDK repeats what timed out, though it may have been applied."""
    assert write(ledger, a_claim()) == Written()
    assert write(ledger, a_claim()) == Written()


def test_a_first_row_repeated_after_another_write_is_a_conflict(ledger: Ledger) -> None:
    row = a_claim()
    write(ledger, row)
    write(ledger, executed(row), row)
    assert write(ledger, row) == Conflict(executed(row))


def test_a_change_of_the_current_row(ledger: Ledger) -> None:
    row = a_claim()
    write(ledger, row)
    assert write(ledger, executed(row), row) == Written()
    assert ledger.read(an_id()) == executed(row)


def test_of_two_changes_one_wins(ledger: Ledger) -> None:
    """An outcome and a retry, decided on the same row."""
    row = a_claim()
    write(ledger, row)
    assert write(ledger, retried(row, "d2", NOW), row) == Written()
    assert write(ledger, executed(row), row) == Conflict(retried(row, "d2", NOW))
    assert ledger.read(an_id()) == retried(row, "d2", NOW)


def test_a_change_repeated_is_no_conflict(ledger: Ledger) -> None:
    row = a_claim()
    write(ledger, row)
    assert write(ledger, executed(row), row) == Written()
    assert write(ledger, executed(row), row) == Written()


def test_a_change_of_a_row_that_is_missing_is_not_written(ledger: Ledger) -> None:
    """It has expired: nothing is written, and no row comes back. For whoever knows no better it is Unavailable."""
    row = a_claim()
    result = write(ledger, executed(row), row)
    assert isinstance(result, RowMissing)
    assert isinstance(result, Unavailable)
    assert ledger.read(an_id()) is None


def test_a_change_goes_by_the_revision_alone(ledger: Ledger) -> None:
    row = a_claim()
    write(ledger, row)
    assert write(ledger, executed(row), evolve(row, detail="as read by another")) == Written()


def test_a_change_of_another_revision_is_a_conflict(ledger: Ledger) -> None:
    row, current = a_claim(), a_claim(revision=5)
    write(ledger, current)
    assert write(ledger, executed(row), row) == Conflict(current)
    assert write(ledger, executed(row), evolve(row, revision=9)) == Conflict(current)


def test_a_row_is_redriven(ledger: Ledger) -> None:
    """It stays, and its revision goes on: a write decided on an older one fails."""
    row = a_claim(state=State.DEAD_LETTERED)
    write(ledger, row)
    again = evolve(redriven(row.schedule_id, row.owner, row, "n5", NOW), expires_at=row.expires_at)
    assert write(ledger, again, row) == Written()
    assert ledger.read(an_id()) == again
    late = evolve(row, state=State.EXECUTED, revision=row.revision + 1)
    assert write(ledger, late, row) == Conflict(again)


@pytest.mark.parametrize("state", list(State))
def test_every_state_is_stored(ledger: Ledger, state: State) -> None:
    write(ledger, a_claim(state=state))
    row = ledger.read(an_id())
    assert row
    assert row.state is state


# ------------------------------------------------------------ the adapter alone


def test_the_golden_row() -> None:
    """It was written by a version that does not count the generations of messages."""
    item = json.loads((GOLDEN / "ledger-item.json").read_text())
    row = evolve(SAMPLE, generation=0)
    assert from_item(from_attributes(item)) == row
    assert to_attributes(to_item(row)) == item, "the format changed: give it a new version"


def plant(ledger: StoredLedger, item: Item) -> None:
    """As it is, whatever stands there."""
    ledger.store.write(Put(ledger.table, {"scheduleId": item["scheduleId"]}, item))


@pytest.mark.parametrize("change", [{"v": 2}, {"v": None}, {"state": "lost"}, {"state": None}], ids=str)
def test_a_row_that_cannot_be_read_decides_nothing(ledger: StoredLedger, change: dict[str, Any]) -> None:
    """Written by a later version: what it says is not known, so nobody may act as if there were none."""
    plant(ledger, {name: value for name, value in {**to_item(a_claim()), **change}.items() if value is not None})
    with pytest.raises(Unavailable, match="cannot be read"):
        ledger.read(an_id())
    with pytest.raises(Unavailable, match="cannot be read"):
        ledger.read_all([an_id()])


def test_what_is_empty_may_be_missing() -> None:
    """All but the id and the state, of which no row is without."""
    bare = {"v": 1, "scheduleId": an_id(), "state": "claimed"}
    row = LedgerRow(schedule_id=an_id(), owner="", state=State.CLAIMED, revision=0, at=0, expires_at=0)
    assert from_item(bare) == row
    assert to_item(row) == bare


def test_a_row_in_the_way_that_cannot_be_read_concerns_its_own_change_only(ledger: StoredLedger) -> None:
    plant(ledger, {**to_item(a_claim()), "v": 2})
    changes = [LedgerChange(row=a_claim(nonce="n2")), LedgerChange(row=a_claim(due=NOW + 1))]
    malformed_one, neighbour = ledger.write(changes)
    assert isinstance(malformed_one, Unavailable)
    assert not isinstance(malformed_one, RowMissing)
    assert "cannot be read" in str(malformed_one)
    assert neighbour == Written()


def test_a_defect_at_one_change_concerns_that_change_only(
    ledger: StoredLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its neighbours may have been written: whoever asked must learn it."""

    def defective(row: LedgerRow) -> Item:
        if row.nonce == "n2":
            raise RuntimeError("a defect")
        return to_item(row)

    monkeypatch.setattr("delayer.ledger.repository.to_item", defective)
    changes = [LedgerChange(row=a_claim(nonce="n2")), LedgerChange(row=a_claim(due=NOW + 1))]
    defect, neighbour = ledger.write(changes)
    assert isinstance(defect, Unavailable)
    assert "a defect" in str(defect)
    assert neighbour == Written()


def test_changes_are_written_side_by_side_and_answered_in_their_order(ledger: StoredLedger) -> None:
    """As in a function, where ten of them are under way at a time."""
    ledger = evolve(ledger, parallel=Threads())
    there = [a_claim(due=NOW + at) for at in range(0, 30, 3)]
    assert ledger.write([LedgerChange(row=row) for row in there]) == [Written()] * 10
    wanted = [a_claim(due=NOW + at, nonce="n2") for at in range(30)]
    expected = [Conflict(there[at // 3]) if at % 3 == 0 else Written() for at in range(30)]
    assert ledger.write([LedgerChange(row=row) for row in wanted]) == expected


seconds = st.integers(0, 2**40).map(lambda number: number * SECOND)
texts = st.text(st.characters(codec="utf-8"), max_size=MAX_DETAIL)


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
        enqueued_at=st.integers(0, 2**48),
        attempt=st.integers(0, 20),
        fence=texts,
        retry_of=texts,
        detail=texts,
        name=texts,
        replaced_by=texts,
        by=texts,
    )
)
def test_a_row_is_read_as_it_was_written(row: LedgerRow) -> None:
    """What is empty is left out, and read as empty."""
    assert from_item(to_item(row)) == row


def test_a_row_fits_into_one_write_unit() -> None:
    """1,024 bytes, names included, with the longest of everything; the reason is cut to fit."""
    row = evolve(SAMPLE, owner="x" * 256, detail="\u00e4" * 5000, nonce="x" * 16, fence="x" * 16, retry_of="x" * 16)
    row = evolve(row, name="x" * 128, replaced_by=an_id(), enqueued_at=NOW)
    item = to_item(row)
    assert sum(len(name) + len(str(value)) for name, value in item.items()) <= 1024
    assert from_item(item).detail == row.detail


def test_a_long_reason_is_cut_and_a_repeat_is_still_no_conflict(ledger: StoredLedger) -> None:
    row = a_claim(detail="x" * 5000)
    assert write(ledger, row) == Written()
    assert write(ledger, row) == Written()


def test_ttl_is_in_seconds(ledger: StoredLedger) -> None:
    write(ledger, a_claim())
    [item] = every_row(ledger.store, ledger.table)
    assert item["expiresAt"] == (NOW + 30 * DAY) // SECOND


def through(client: Wrapped) -> StoredLedger:
    """A ledger whose requests a test sees, or answers itself."""
    return evolve(adapter(DynamoStore(client.client)), store=DynamoStore(client))


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    """An executor that read an old row might attempt what has ended."""
    client = Wrapped(dynamodb)
    ledger = through(client)
    ledger.read(an_id())
    ledger.read_all([an_id()])
    one, many = [arguments for _, arguments in client.calls]
    assert one["ConsistentRead"] is True
    assert many["RequestItems"][ledger.table]["ConsistentRead"] is True


def test_every_change_is_one_request(dynamodb: Any) -> None:
    """The row in the way comes with the refusal: four writes per schedule, and no read to learn why."""
    client = Wrapped(dynamodb)
    ledger = through(client)
    write(ledger, a_claim())
    write(ledger, a_claim(nonce="n2"))
    write(ledger, executed(a_claim()), a_claim(revision=7))
    assert [name for name, _ in client.calls] == ["put_item", "put_item", "put_item"]
    assert all("ConditionExpression" in arguments for _, arguments in client.calls)


@pytest.mark.parametrize("error", ERRORS)
def test_a_read_that_failed_is_unavailable(error: str) -> None:
    """And not a row that is not there."""
    ledger = StoredLedger(store=DynamoStore(Failing(ERRORS[error])), table="t", parallel=InOrder())
    calls: list[Callable[[], object]] = [lambda: ledger.read(an_id()), lambda: ledger.read_all([an_id()])]
    for call in calls:
        with pytest.raises(Unavailable):
            call()


def unavailable(results: Sequence[WriteResult]) -> list[bool]:
    return [isinstance(result, Unavailable) and not isinstance(result, RowMissing) for result in results]


@pytest.mark.parametrize("error", ERRORS)
def test_a_change_that_failed_is_unavailable_and_its_neighbours_go_on(dynamodb: Any, error: str) -> None:
    """It may have been written or not: it is never taken for a conflict, nor for success."""

    def second_fails(**asked: Any) -> Any:
        if asked["Item"]["scheduleId"]["S"] == an_id(NOW + 1):
            raise ERRORS[error]
        return dynamodb.put_item(**asked)

    ledger = through(Wrapped(dynamodb, put_item=second_fails))
    rows = [a_claim(due=NOW + at) for at in range(3)]
    assert unavailable(ledger.write([LedgerChange(row=row) for row in rows])) == [False, True, False]
    assert [ledger.read(row.schedule_id) for row in rows] == [rows[0], None, rows[2]]
    assert unavailable(ledger.write([LedgerChange(row=executed(row), over=row) for row in rows])) == [
        False,
        True,
        False,
    ]
