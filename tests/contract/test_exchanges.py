"""Names, and one schedule in place of another: all of it or nothing, and a repeat is no conflict."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve
from botocore.exceptions import ClientError

from delayer.aws.exchanges import DynamoExchanges, from_item, to_item
from delayer.aws.ledger import DynamoLedger
from delayer.aws.schedule_table import DynamoScheduleTable
from delayer.core.instants import HOUR
from delayer.core.ledger import LedgerRow, ended, named
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule
from delayer.fakes import MemoryExchanges, MemoryLedger, MemoryScheduleTable
from delayer.ports import Exchange, Exchanges, Ledger, NameRow, ScheduleTable, Unavailable
from delayer.use_cases.enqueue import key_of
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER, a_claim, a_schedule

OLD = a_schedule()
NEW = a_schedule(NOW + HOUR)
OTHER = a_schedule(NOW + 2 * HOUR)
NAME = "invoice 17"


@define
class Stand:
    """The port, and the two others whose tables it writes to."""

    exchanges: Exchanges
    ledger: Ledger
    schedules: ScheduleTable

    def all_of(self, *schedules: Schedule) -> list[object]:
        """All that can be read of them."""
        rows = [self.ledger.read(one.id) for one in schedules]
        return [*rows, *[self.schedules.read(key_of(one)) for one in schedules], self.exchanges.named(OWNER, NAME)]


def adapter(dynamodb: Any) -> DynamoExchanges:
    return DynamoExchanges(
        dynamodb=dynamodb,
        schedules_table=create_table(dynamodb, "bucket", "due"),
        ledger_table=create_table(dynamodb, "scheduleId"),
        names_table=create_table(dynamodb, "owner", "name"),
    )


@pytest.fixture(params=["fake", "dynamodb"])
def stand(request: pytest.FixtureRequest, dynamodb: Any) -> Stand:
    if request.param == "fake":
        ledger, schedules = MemoryLedger(), MemoryScheduleTable()
        return Stand(MemoryExchanges(schedules=schedules, ledger=ledger), ledger, schedules)
    port = adapter(dynamodb)
    return Stand(
        port,
        DynamoLedger(dynamodb=dynamodb, table=port.ledger_table),
        DynamoScheduleTable(dynamodb=dynamodb, table=port.schedules_table),
    )


def begun(schedule: Schedule, name: str = NAME) -> LedgerRow:
    return named(schedule.id, OWNER, name, NOW)


def name_of(schedule: Schedule, name: str = NAME, owner: str = OWNER) -> NameRow:
    return NameRow(owner=owner, name=name, schedule_id=schedule.id)


def created(schedule: Schedule = OLD) -> Exchange:
    """The first schedule of a name."""
    return Exchange(new=schedule, begun=begun(schedule), name=name_of(schedule))


def replaced(old: Schedule = OLD, new: Schedule = NEW) -> Exchange:
    """A named schedule in place of its namesake."""
    over = begun(old)
    return Exchange(
        new=new,
        begun=begun(new),
        gone=key_of(old),
        ending=evolve(ended(over, State.REPLACED, NOW), replaced_by=new.id),
        over=over,
        name=name_of(new),
        name_over=name_of(old),
    )


def unnamed() -> Exchange:
    """A schedule without a name, and without a row, in place of another."""
    ending = a_claim(state=State.REPLACED, replaced_by=NEW.id)
    return Exchange(new=NEW, gone=key_of(OLD), ending=ending)


def test_nobody_bears_a_name_at_first(stand: Stand) -> None:
    assert stand.exchanges.named(OWNER, NAME) is None


def test_a_named_schedule_has_its_record_its_row_and_its_name(stand: Stand) -> None:
    """At once: whoever sees one of them sees all."""
    assert stand.exchanges.exchange(created())
    assert stand.all_of(OLD) == [begun(OLD), OLD, name_of(OLD)]


def test_a_name_belongs_to_its_owner(stand: Stand) -> None:
    """The same name of somebody else is another."""
    assert stand.exchanges.exchange(created())
    assert stand.exchanges.named("somebody else", NAME) is None
    other = evolve(created(OTHER), name=name_of(OTHER, owner="somebody else"))
    assert stand.exchanges.exchange(other)
    assert stand.exchanges.named(OWNER, NAME) == name_of(OLD)


def test_a_namesake_takes_its_place(stand: Stand) -> None:
    """The old one has its end and no record; the new one all three."""
    stand.exchanges.exchange(created())
    exchange = replaced()
    assert stand.exchanges.exchange(exchange)
    assert stand.all_of(OLD, NEW) == [exchange.ending, begun(NEW), None, NEW, name_of(NEW)]


def test_a_name_moves_on_from_what_has_ended(stand: Stand) -> None:
    """The row of the old one stays as it is."""
    stand.exchanges.exchange(created())
    exchange = evolve(created(NEW), name_over=name_of(OLD))
    assert stand.exchanges.exchange(exchange)
    assert stand.all_of(OLD, NEW) == [begun(OLD), begun(NEW), OLD, NEW, name_of(NEW)]


def test_a_schedule_without_a_row_is_replaced(stand: Stand) -> None:
    stand.schedules.put(OLD)
    assert stand.exchanges.exchange(unnamed())
    assert stand.all_of(OLD, NEW) == [unnamed().ending, None, None, NEW, None]


def test_the_record_of_the_old_one_may_be_gone(stand: Stand) -> None:
    """It has been swept, and waits in the queue: its row alone decides."""
    assert stand.exchanges.exchange(unnamed())
    assert stand.ledger.read(OLD.id) == unnamed().ending


def a_claim_came_first(stand: Stand) -> Exchange:
    stand.schedules.put(OLD)
    stand.ledger.put_if_absent(a_claim())
    return unnamed()


def the_row_went_on(stand: Stand) -> Exchange:
    stand.exchanges.exchange(created())
    stand.ledger.swap(begun(OLD), a_claim(revision=2, name=NAME))
    return replaced()


def the_row_expired(stand: Stand) -> Exchange:
    stand.exchanges.exchange(created())
    row = a_claim(OTHER.point_in_time)
    ending = evolve(ended(row, State.REPLACED, NOW), replaced_by=NEW.id)
    return evolve(replaced(), ending=ending, over=row)


def the_name_was_given(stand: Stand) -> Exchange:
    stand.exchanges.exchange(created())
    return created(NEW)


def the_name_moved_on(stand: Stand) -> Exchange:
    stand.exchanges.exchange(created())
    stand.exchanges.exchange(evolve(created(OTHER), name_over=name_of(OLD)))
    return replaced()


def the_name_is_gone(stand: Stand) -> Exchange:
    stand.ledger.put_if_absent(begun(OLD))
    return replaced()


def the_new_one_has_a_row(stand: Stand) -> Exchange:
    stand.exchanges.exchange(created())
    stand.ledger.put_if_absent(evolve(begun(NEW), name="another"))
    return replaced()


OBSTACLES: list[Callable[[Stand], Exchange]] = [
    a_claim_came_first,
    the_row_went_on,
    the_row_expired,
    the_name_was_given,
    the_name_moved_on,
    the_name_is_gone,
    the_new_one_has_a_row,
]


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda obstacle: obstacle.__name__)
def test_what_changed_meanwhile_stops_all_of_it(stand: Stand, obstacle: Callable[[Stand], Exchange]) -> None:
    """One condition failed: nothing is written, nothing deleted."""
    exchange = obstacle(stand)
    before = stand.all_of(OLD, NEW, OTHER)
    assert stand.exchanges.exchange(exchange) is False
    assert stand.all_of(OLD, NEW, OTHER) == before


@pytest.mark.parametrize("exchange", [created(), replaced(), unnamed()], ids=["created", "replaced", "unnamed"])
def test_a_repeat_is_done_and_writes_nothing(stand: Stand, exchange: Exchange) -> None:
    """Its answer was lost, and the new schedule has moved on meanwhile: its record must not come back."""
    if exchange.over:
        stand.exchanges.exchange(created())
    assert stand.exchanges.exchange(exchange)
    stand.schedules.delete([key_of(exchange.new)])
    assert stand.exchanges.exchange(exchange)
    assert stand.schedules.read(key_of(exchange.new)) is None


@pytest.mark.parametrize("exchange", [created(), replaced()], ids=["created", "replaced"])
def test_a_repeat_is_done_though_the_new_one_is_claimed(stand: Stand, exchange: Exchange) -> None:
    """One of its own rows is proof enough: they were written together."""
    if exchange.over:
        stand.exchanges.exchange(created())
    stand.exchanges.exchange(exchange)
    row = begun(exchange.new)
    stand.ledger.swap(row, ended(row, State.CANCELLED, NOW))
    assert stand.exchanges.exchange(exchange)
    assert stand.ledger.read(exchange.new.id) == ended(row, State.CANCELLED, NOW)


def test_of_two_namesakes_one_takes_the_place(stand: Stand) -> None:
    """Both have read the same."""
    stand.exchanges.exchange(created())
    first, second = replaced(), replaced(new=OTHER)
    assert stand.exchanges.exchange(first)
    assert stand.exchanges.exchange(second) is False
    assert stand.exchanges.named(OWNER, NAME) == name_of(NEW)
    assert stand.schedules.read(key_of(OTHER)) is None


def test_the_stream_sees_both() -> None:
    """The new one takes the fast track if it is due soon, and the REMOVE of the old one is looked into."""
    schedules = MemoryScheduleTable()
    schedules.put(OLD)
    MemoryExchanges(schedules=schedules, ledger=MemoryLedger()).exchange(unnamed())
    assert [str(change.kind) for change in schedules.stream] == ["INSERT", "REMOVE", "INSERT"]


# ------------------------------------------------------------ the adapter alone


def test_the_golden_name() -> None:
    item = {
        "owner": {"S": "arn:aws:iam::123456789012:user/somebody"},
        "name": {"S": "invoice 17"},
        "v": {"N": "1"},
        "scheduleId": {"S": OLD.id},
    }
    assert from_item(item) == name_of(OLD)
    assert to_item(name_of(OLD)) == item, "the format changed: give it a new version"


@pytest.mark.parametrize("change", [{"v": {"N": "2"}}, {"v": None}, {"scheduleId": None}], ids=str)
def test_a_name_that_cannot_be_read_names_nothing(dynamodb: Any, change: dict[str, Any]) -> None:
    """Written by a later version: nobody may act as if it were free."""
    port = adapter(dynamodb)
    item = {name: value for name, value in {**to_item(name_of(OLD)), **change}.items() if value is not None}
    dynamodb.put_item(TableName=port.names_table, Item=item)
    with pytest.raises(Unavailable, match="cannot be read"):
        port.named(OWNER, NAME)


def test_names_are_read_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    evolve(adapter(dynamodb), dynamodb=client).named(OWNER, NAME)
    assert client.calls[0][1]["ConsistentRead"] is True


def test_an_exchange_is_one_request(dynamodb: Any) -> None:
    """Also one that is refused: what stands comes with the refusal. Only the records are without a condition."""
    client = Wrapped(dynamodb)
    port = evolve(adapter(dynamodb), dynamodb=client)
    port.exchange(created())
    port.exchange(replaced())
    port.exchange(replaced(new=OTHER))
    assert [name for name, _ in client.calls] == ["transact_write_items"] * 3
    for _, arguments in client.calls:
        writes = [write for one in arguments["TransactItems"] for write in one.values()]
        assert all(("ConditionExpression" in one) == (one["TableName"] != port.schedules_table) for one in writes)


def cancelled(*codes: str) -> ClientError:
    reasons = [{"Code": code} for code in codes]
    answer: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(answer, "TransactWriteItems")


OTHER_REASONS = {
    "a conflict": cancelled("None", "TransactionConflict", "None"),
    "throttled": cancelled("ProvisionedThroughputExceeded", "None", "ThrottlingError"),
    "no reasons": cancelled(),
}


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_what_failed_is_unavailable(error: Exception) -> None:
    """Whether it took place is not known: never taken for a condition that failed, nor for success."""
    port = DynamoExchanges(dynamodb=Failing(error), schedules_table="s", ledger_table="l", names_table="n")
    with pytest.raises(Unavailable):
        port.exchange(replaced())
    with pytest.raises(Unavailable):
        port.named(OWNER, NAME)


def test_a_condition_that_failed_beside_a_conflict_has_failed() -> None:
    client = Failing(cancelled("None", "TransactionConflict", "None", "ConditionalCheckFailed", "None"))
    port = DynamoExchanges(dynamodb=client, schedules_table="s", ledger_table="l", names_table="n")
    assert port.exchange(replaced()) is False
