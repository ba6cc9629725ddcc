"""The ledger in batches: what holds for one change alone holds for each of a batch; and what only a batch can meet.

dynoxide takes no UPDATE with more than one SET, as AWS documents it. So there the changes that DynamoDB does not take
as statements are tried as puts. moto is taught our two statements in `conftest.py`.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.each import PAUSES, statement
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder, Threads
from delayer.engines.store.model import Item
from delayer.engines.store.store import Store
from delayer.engines.workers import WorkerThreads
from delayer.ledger.model import MAX_DETAIL, Arrival, LedgerChange, LedgerRow, State
from delayer.ledger.ports import Conflict, LedgerInBatches, RowMissing, WriteResult, Written
from delayer.ledger.repository import ATTRIBUTES, StoredLedgerInBatches, put_change, to_item
from delayer.schedule.instants import SECOND
from delayer.schedule.schedule_id import IdKind
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.ledger.test_ledger import (
    executed,
    plant,
    test_a_change_goes_by_the_revision_alone,
    test_a_change_of_a_row_that_is_missing_is_not_written,
    test_a_change_of_another_revision_is_a_conflict,
    test_a_change_of_the_current_row,
    test_a_change_repeated_is_no_conflict,
    test_a_first_row_repeated_after_another_write_is_a_conflict,
    test_a_first_row_repeated_is_no_conflict,
    test_a_row_is_redriven,
    test_each_change_is_answered_by_itself_in_their_order,
    test_every_state_is_stored,
    test_many_are_written_and_read_together,
    test_nothing_to_write,
    test_of_two_changes_one_wins,
    test_the_first_row_wins,
    test_there_is_no_row_at_first,
    test_what_is_written_is_read,
    unavailable,
)
from tests.samples import NOW, a_claim, an_id

ADAPTER = StoredLedgerInBatches
__all__ = [
    "test_a_change_goes_by_the_revision_alone",
    "test_a_change_of_a_row_that_is_missing_is_not_written",
    "test_a_change_of_another_revision_is_a_conflict",
    "test_a_change_of_the_current_row",
    "test_a_change_repeated_is_no_conflict",
    "test_a_first_row_repeated_after_another_write_is_a_conflict",
    "test_a_first_row_repeated_is_no_conflict",
    "test_a_row_is_redriven",
    "test_each_change_is_answered_by_itself_in_their_order",
    "test_every_state_is_stored",
    "test_many_are_written_and_read_together",
    "test_nothing_to_write",
    "test_of_two_changes_one_wins",
    "test_the_first_row_wins",
    "test_there_is_no_row_at_first",
    "test_what_is_written_is_read",
]
TRANSIENT = ("ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "InternalServerError")
neighbours = (a_claim(due=NOW + 10**9 + number) for number in count())


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many are put one by one, it does not depend on the machine how far that comes."""
    monkeypatch.setattr("delayer.engines.aws.each.IN_TIME", 60)


def adapter(store: Store) -> StoredLedgerInBatches:
    return StoredLedgerInBatches(store=store, table=create_table(store, "scheduleId"), parallel=InOrder())


def through(client: Wrapped) -> StoredLedgerInBatches:
    """A ledger whose requests a test sees, or answers itself."""
    return evolve(adapter(DynamoStore(client.client)), store=DynamoStore(client))


@define
class InCompany:
    """A change that would come alone has a neighbour, which is always written."""

    ledger: LedgerInBatches

    def read(self, schedule_id: str) -> LedgerRow | None:
        return self.ledger.read(schedule_id)

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        return self.ledger.read_all(schedule_ids)

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        if not changes:
            return self.ledger.write(changes)
        *results, neighbour = self.ledger.write([*changes, LedgerChange(row=next(neighbours))])
        assert neighbour == Written()
        return results


@pytest.fixture
def ledger(store: Store) -> InCompany:
    return InCompany(adapter(store))


@pytest.fixture
def alone(store: Store) -> StoredLedgerInBatches:
    return adapter(store)


def test_each_row_is_read(alone: StoredLedgerInBatches) -> None:
    """Those that there are; one that is asked for twice is answered once."""
    rows = {row.schedule_id: row for row in (a_claim(due=NOW + at) for at in range(3))}
    alone.write([LedgerChange(row=row) for row in rows.values()])
    assert alone.read_each([*rows, *rows, an_id(NOW - 1)]) == rows
    assert alone.read_each([]) == {}


# ------------------------------------------------------------ the adapter alone

seconds = st.integers(0, 2**40).map(lambda number: number * SECOND)
instants = st.one_of(st.just(0), st.integers(1, 2**48))
texts = st.one_of(st.just(""), st.text(st.characters(codec="utf-8"), max_size=40))
any_rows = st.builds(
    LedgerRow,
    schedule_id=st.just(an_id()),
    owner=st.text(st.characters(codec="utf-8"), min_size=1, max_size=40),
    state=st.sampled_from(State),
    revision=st.integers(1, 10**6),
    at=instants,
    expires_at=seconds,
    nonce=texts,
    lease_until=instants,
    claimed_at=instants,
    attempt=st.integers(0, 20),
    fence=texts,
    retry_of=texts,
    retry_at=instants,
    age_from=instants,
    arrival=st.sampled_from(Arrival),
    detail=st.text(st.characters(codec="utf-8"), max_size=MAX_DETAIL),
    name=texts,
    replaced_by=texts,
    decided_as=texts,
    stopped_at=instants,
    lateness=instants,
    by=texts,
    attempted_at=instants,
    answer=texts,
)


@pytest.fixture(scope="module")
def one_table(store_of_statements: Store) -> StoredLedgerInBatches:
    return adapter(store_of_statements)


@settings(max_examples=30)  # every attribute is in some of them, and is missing in some
@given(before=any_rows, after=any_rows)
def test_an_update_leaves_what_a_put_leaves(
    one_table: StoredLedgerInBatches, before: LedgerRow, after: LedgerRow
) -> None:
    """Whatever the row had before, and whatever of it its reader has changed in its own copy.

    It takes a second or two: each of thirty examples is four requests.
    """
    plant(one_table, to_item(before))
    after = evolve(after, revision=before.revision + 1)
    read = evolve(before, answer="", detail="what its reader thinks of it")
    assert InCompany(one_table).write([LedgerChange(row=after, over=read)]) == [Written()]
    assert one_table.store.get(one_table.table, {"scheduleId": before.schedule_id}) == to_item(after)


def test_every_attribute_of_a_row_is_named_in_an_update() -> None:
    """Also one that a later field of the row will have."""
    texts = {
        "schedule_id": an_id(kind=IdKind.OCCURRENCE),
        "owner": "o",
        "state": State.CLAIMED,
        "arrival": Arrival.TAKEN,
    }
    full: dict[str, Any] = {
        one.name: texts.get(one.name, "x" if one.type is str else 7 * SECOND) for one in LedgerRow.__attrs_attrs__
    }
    assert sorted(to_item(LedgerRow(**full))) == sorted(ATTRIBUTES)


@pytest.mark.parametrize(("number", "requests"), [(2, [2]), (25, [25]), (26, [25]), (60, [25, 25, 10])])
def test_a_batch_is_one_request_for_25_changes(partiql: Any, number: int, requests: list[int]) -> None:
    """One that is left over is put."""
    client = Wrapped(partiql)
    ledger = through(client)
    rows = [a_claim(due=NOW + at) for at in range(number)]
    assert ledger.write([LedgerChange(row=row) for row in rows]) == [Written()] * number
    assert ledger.write([LedgerChange(row=executed(row), over=row) for row in rows]) == [Written()] * number
    batches = [len(arguments["Statements"]) for name, arguments in client.calls if name == "batch_execute_statement"]
    puts = [name for name, _ in client.calls if name == "put_item"]
    assert (batches, len(puts)) == (requests * 2, 2 * (number % 25 == 1))
    assert ledger.read_all([row.schedule_id for row in rows]) == {row.schedule_id: executed(row) for row in rows}


def test_rows_that_were_there_are_read_in_one_request(partiql: Any) -> None:
    """An INSERT is not answered with the item that it met. Our own is no conflict, as its answer may have been lost."""
    ledger = adapter(DynamoStore(partiql))
    rows = [a_claim(due=NOW + at) for at in range(4)]
    ledger.write([LedgerChange(row=row) for row in rows])
    client = Wrapped(partiql)
    again = [rows[0], evolve(rows[1], nonce="n2"), a_claim(due=NOW + 9), evolve(rows[3], nonce="n2")]
    results = evolve(ledger, store=DynamoStore(client)).write([LedgerChange(row=row) for row in again])
    assert results == [Written(), Conflict(rows[1]), Written(), Conflict(rows[3])]
    assert [name for name, _ in client.calls] == ["batch_execute_statement", "batch_get_item"]
    assert client.calls[1][1]["RequestItems"][ledger.table]["ConsistentRead"] is True


def test_a_row_that_has_expired_meanwhile_is_put(partiql: Any) -> None:
    """Between the INSERT that it refused and the read."""
    ledger = adapter(DynamoStore(partiql))
    row, neighbour = a_claim(nonce="n2"), a_claim(due=NOW + 1)
    ledger.write([LedgerChange(row=a_claim())])

    def expired(**asked: Any) -> Any:
        partiql.delete_item(TableName=ledger.table, Key={"scheduleId": {"S": row.schedule_id}})
        return partiql.batch_get_item(**asked)

    client = Wrapped(partiql, batch_get_item=expired)
    results = evolve(ledger, store=DynamoStore(client)).write([LedgerChange(row=row), LedgerChange(row=neighbour)])
    assert results == [Written(), Written()]
    assert ledger.read(row.schedule_id) == row


def answering(dynamodb: Any, *rounds: Sequence[str]) -> Wrapped:
    """A client of which some statements are answered with an error, without any effect, in each round of requests."""
    left = list(rounds)

    def ask(Statements: Sequence[Any]) -> Any:  # noqa: N803 - as boto3 has it
        codes = left.pop(0) if left else [""] * len(Statements)
        wanted = [one for one, code in zip(Statements, codes, strict=True) if not code]
        answers = iter(dynamodb.batch_execute_statement(Statements=wanted)["Responses"] if wanted else [])
        return {"Responses": [{"Error": {"Code": code}} if code else next(answers) for code in codes]}

    return Wrapped(dynamodb, batch_execute_statement=ask)


@pytest.mark.parametrize("code", [*TRANSIENT, "TransactionConflict"])
def test_a_throttled_statement_is_tried_again_by_itself(partiql: Any, code: str) -> None:
    """HTTP 200 hides it. Its neighbours are not asked for again."""
    client = answering(partiql, ["", code, "", code], ["", code])
    ledger = through(client)
    rows = [a_claim(due=NOW + at) for at in range(4)]
    assert ledger.write([LedgerChange(row=row) for row in rows]) == [Written()] * 4
    assert [len(arguments["Statements"]) for _, arguments in client.calls] == [4, 2, 1]
    assert len(ledger.read_all([row.schedule_id for row in rows])) == 4


def test_what_stays_throttled_is_unavailable(partiql: Any) -> None:
    client = answering(partiql, ["", "ThrottlingError"], *[["ThrottlingError"]] * 20)
    ledger = through(client)
    rows = [a_claim(), a_claim(due=NOW + 1)]
    assert unavailable(ledger.write([LedgerChange(row=row) for row in rows])) == [False, True]
    assert ledger.read(rows[1].schedule_id) is None
    assert len(client.calls) <= len(PAUSES) + 2, "and a read"


@pytest.mark.parametrize("code", ["ValidationError", "AccessDenied", "ItemCollectionSizeLimitExceeded", "NewOnAWS"])
def test_a_statement_that_is_not_taken_is_put(partiql: Any, code: str) -> None:
    """If a put fails as well, it says why."""
    client = answering(partiql, ["", code])
    ledger = through(client)
    rows = [a_claim(), a_claim(due=NOW + 1)]
    assert ledger.write([LedgerChange(row=row) for row in rows]) == [Written()] * 2
    assert [name for name, _ in client.calls] == ["batch_execute_statement", "put_item"]


@pytest.mark.parametrize(("slept", "unwritten", "calls"), [(60.0, [False, False], 3), (60.5, [True, True], 1)])
def test_what_is_begun_is_begun_in_time(
    partiql: Any, monkeypatch: pytest.MonkeyPatch, slept: float, unwritten: list[bool], calls: int
) -> None:
    """What is throttled is asked for again, and what is not taken as a statement is put: at the last moment, too."""
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: now.__setitem__(0, now[0] + slept))
    monkeypatch.setattr("delayer.engines.aws.each.time", clock)
    client = answering(partiql, ["ThrottlingError", "ValidationError"], [""])
    ledger = through(client)
    changes = [LedgerChange(row=a_claim()), LedgerChange(row=a_claim(due=NOW + 1))]
    assert unavailable(ledger.write(changes)) == unwritten
    assert len(client.calls) == calls


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException"])
def test_a_request_that_is_refused_is_made_change_by_change(partiql: Any, code: str) -> None:
    """It may be one of them that DynamoDB does not take: the others are no worse for it. A policy may be on its way."""

    def refused(**_: Any) -> Any:
        raise refusal(code)

    client = Wrapped(partiql, batch_execute_statement=refused)
    rows = [a_claim(), a_claim(due=NOW + 1)]
    results = through(client).write([LedgerChange(row=row) for row in rows])
    assert results == [Written()] * 2


def refusal(code: str) -> Exception:
    return type(ERRORS["ThrottlingException"])({"Error": {"Code": code, "Message": "no"}}, "BatchExecuteStatement")


@pytest.mark.parametrize("error", [one for one in ERRORS if one != "AccessDeniedException"])
def test_a_request_that_failed_leaves_all_unavailable(partiql: Any, error: str) -> None:
    """Any part of it may have been done. Repeated, it is harmless: each finds its own row."""
    ledger = adapter(DynamoStore(partiql))
    rows = [a_claim(due=NOW + at) for at in range(3)]

    def half_done(Statements: Sequence[Any]) -> Any:  # noqa: N803 - as boto3 has it
        partiql.batch_execute_statement(Statements=Statements[::2])
        raise ERRORS[error]

    failing = evolve(ledger, store=DynamoStore(Wrapped(partiql, batch_execute_statement=half_done)))
    first = [LedgerChange(row=row) for row in rows]
    assert unavailable(failing.write(first)) == [True] * 3
    assert ledger.write(first) == [Written()] * 3
    outcomes = [LedgerChange(row=executed(row), over=row) for row in rows]
    assert unavailable(failing.write(outcomes)) == [True] * 3
    assert ledger.write(outcomes) == [Written()] * 3


def test_what_is_put_one_by_one_in_the_end_needs_no_thread_of_whoever_asks(partiql: Any) -> None:
    """Requests are made by threads of their own, which wait for those of the pool: never the other way round."""
    ledger, workers = refusing(partiql), WorkerThreads()
    rows = [a_claim(due=NOW + at) for at in range(20)]
    for number in range(2):
        changes = [LedgerChange(row=row) for row in rows[10 * number : 10 * number + 10]]
        workers.start(number, partial(ledger.write, changes))
    found: dict[int, Any] = {}
    while len(found) < 2:
        found.update(workers.ended(None))
    assert found == {0: [Written()] * 10, 1: [Written()] * 10}


def refusing(dynamodb: Any) -> StoredLedgerInBatches:
    def refused(**_: Any) -> Any:
        raise refusal("ValidationException")

    return evolve(through(Wrapped(dynamodb, batch_execute_statement=refused)), parallel=Threads())


def test_a_row_with_an_attribute_of_a_later_version_is_our_own(store_of_statements: Store) -> None:
    """An UPDATE leaves it standing; it does not make our own row that of a stranger."""
    ledger = adapter(store_of_statements)
    rows = [a_claim(due=NOW + at) for at in range(2)]
    for row in rows:
        plant(ledger, {**to_item(row), "restored": 1})
    outcomes = [LedgerChange(row=executed(row), over=row) for row in rows]
    assert ledger.write(outcomes) == [Written()] * 2
    assert ledger.write(outcomes) == [Written()] * 2


def test_a_defect_at_one_change_concerns_that_change_only(
    alone: StoredLedgerInBatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(row: LedgerRow) -> Item:
        if row.nonce == "n2":
            raise RuntimeError("a defect")
        return to_item(row)

    monkeypatch.setattr("delayer.ledger.repository.to_item", defective)
    rows = [a_claim(), a_claim(due=NOW + 1, nonce="n2"), a_claim(due=NOW + 2)]
    first, defect, last = alone.write([LedgerChange(row=row) for row in rows])
    assert isinstance(defect, Unavailable)
    assert "a defect" in str(defect)
    assert [first, last] == [Written()] * 2
    assert alone.write([LedgerChange(row=row) for row in rows[:2]])[0] == Written(), "the other one alone"


def test_a_row_that_cannot_be_read_concerns_itself_only(alone: StoredLedgerInBatches) -> None:
    """In the way of a change, and among those that are read."""
    plant(alone, {**to_item(a_claim()), "v": 2})
    changes = [LedgerChange(row=a_claim(nonce="n2")), LedgerChange(row=a_claim(due=NOW + 1))]
    malformed_one, neighbour = alone.write(changes)
    assert isinstance(malformed_one, Unavailable)
    assert not isinstance(malformed_one, RowMissing)
    assert neighbour == Written()
    rows = alone.read_each([an_id(), an_id(NOW + 1)])
    assert isinstance(rows[an_id()], Unavailable)
    assert rows[an_id(NOW + 1)] == a_claim(due=NOW + 1)


@pytest.mark.parametrize("error", ERRORS)
def test_a_read_that_failed_is_unavailable(error: str) -> None:
    """And not rows that are not there."""
    ledger = StoredLedgerInBatches(store=DynamoStore(Failing(ERRORS[error])), table="t", parallel=InOrder())
    calls: list[Callable[[], object]] = [lambda: ledger.read(an_id()), lambda: ledger.read_each([an_id()])]
    for call in calls:
        with pytest.raises(Unavailable):
            call()


def test_reads_are_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    ledger = through(client)
    ledger.read_each([an_id()])
    assert client.calls[0][1]["RequestItems"][ledger.table]["ConsistentRead"] is True


def test_a_statement_fits_its_limits() -> None:
    """AWS takes 8,192 characters of a statement, whatever its parameters are."""
    longest = "x" * 255  # the name of a table
    row = a_claim(detail="\u00e4" * 5000)
    for change in (LedgerChange(row=row), LedgerChange(row=executed(row), over=row)):
        made = statement(put_change(longest, change))
        assert len(made["Statement"]) <= 8192
        assert json.dumps(made["Parameters"])
