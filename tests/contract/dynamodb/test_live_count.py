"""How many schedules of an owner are live: the same, however often and in whatever order it was heard."""

from itertools import permutations, product
from typing import Any

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import ONLY, Item, Put, entry_key
from delayer.engines.store.store import Store
from delayer.history.ports import LiveCount
from delayer.history.repository import COUNT_PARTS, SPAN, StoredLiveCount
from delayer.schedule.instants import DAY, SECOND
from delayer.schedule.schedule_id import RANDOM_BYTES
from tests.clients import ERRORS, OTHER_REASONS, Failing, Wrapped, cancelled
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import NOW, OWNER, an_id

ADAPTER = StoredLiveCount
EXPIRY = NOW + 90 * DAY
STARTED, ENDED = "started", "ended"


@pytest.fixture
def live_count(store: Store) -> StoredLiveCount:
    return StoredLiveCount(store=store, table=create_table(store, "list", "entry"))


def hear(live_count: LiveCount, what: str, schedule_id: str = an_id(), owner: str = OWNER) -> None:
    if what == STARTED:
        live_count.started(owner, schedule_id, EXPIRY)
    else:
        live_count.ended(owner, schedule_id, EXPIRY)


def test_an_owner_without_schedules_has_none(live_count: LiveCount) -> None:
    assert live_count.live(OWNER, NOW) == 0


@pytest.mark.parametrize("times", [1, 2, 3, pytest.param(4, marks=pytest.mark.thorough)])
def test_whatever_is_heard_of_twice_or_in_another_order_counts_once(live_count: LiveCount, times: int) -> None:
    """Live is what has begun and has not ended, at each moment: an end that is heard of first is not undone."""
    for number, heard in enumerate(product([STARTED, ENDED], repeat=times)):
        owner, schedule_id = f"owner {number}", an_id(NOW + number)
        for at, what in enumerate(heard):
            hear(live_count, what, schedule_id, owner)
            assert live_count.live(owner, NOW) == (STARTED in heard[: at + 1] and ENDED not in heard[: at + 1]), heard


def test_several_are_counted_side_by_side_in_any_order(live_count: LiveCount) -> None:
    """Two that end and one that does not."""
    first, second, third = (an_id(NOW + at) for at in range(3))
    events = [(STARTED, first), (ENDED, first), (STARTED, second), (ENDED, second), (STARTED, third)]
    for number, order in enumerate(list(permutations(events))[::11]):
        owner = f"owner {number}"
        ids = {
            one: an_id(NOW + at, randomness=number.to_bytes(RANDOM_BYTES, "big")) for at, (_, one) in enumerate(events)
        }
        heard: set[tuple[str, str]] = set()
        for what, one in order:
            hear(live_count, what, ids[one], owner)
            heard.add((what, one))
            live = [one for one in ids if (STARTED, one) in heard and (ENDED, one) not in heard]
            assert live_count.live(owner, NOW) == len(live)
        assert live_count.live(owner, NOW) == 1


def test_many_are_counted(live_count: LiveCount) -> None:
    """More than the parts that a count is spread over."""
    ids = [an_id(NOW + at) for at in range(3 * COUNT_PARTS)]
    for schedule_id in ids:
        hear(live_count, STARTED, schedule_id)
    assert live_count.live(OWNER, NOW) == len(ids)
    for schedule_id in ids[5:]:
        hear(live_count, ENDED, schedule_id)
    assert live_count.live(OWNER, NOW) == 5


def test_each_owner_has_its_own(live_count: LiveCount) -> None:
    hear(live_count, STARTED, an_id())
    hear(live_count, STARTED, an_id(NOW + 1), "somebody else")
    hear(live_count, STARTED, an_id(NOW + 2), "somebody else")
    hear(live_count, ENDED, an_id(NOW + 3), "a third")
    assert [live_count.live(owner, NOW) for owner in (OWNER, "somebody else", "a third")] == [1, 2, 0]


def test_ends_alone_are_never_below_0(live_count: LiveCount) -> None:
    """And take nothing from what begins afterwards."""
    for at in range(COUNT_PARTS):
        hear(live_count, ENDED, an_id(NOW + at))
        assert live_count.live(OWNER, NOW) == 0
    hear(live_count, STARTED, an_id(NOW + COUNT_PARTS))
    assert live_count.live(OWNER, NOW) == 1


def test_what_is_long_over_does_not_count(live_count: LiveCount) -> None:
    """Whatever was lost of their ends: the count heals by itself."""
    for at in range(-3, 3):
        hear(live_count, STARTED, an_id(NOW + at * 28 * DAY))
    assert live_count.live(OWNER, NOW) == 4, "these four weeks, the last, and twice as many to come"
    assert live_count.live(OWNER, NOW + 84 * DAY) == 1
    assert live_count.live(OWNER, NOW + 280 * DAY) == 0


# ------------------------------------------------------------ the adapter alone


def items(live_count: StoredLiveCount) -> dict[str, list[Item]]:
    """By the kind of list that they are in."""
    found: dict[str, list[Item]] = {}
    for item in every_row(live_count.store, live_count.table):
        found.setdefault(item["list"].partition("#")[0], []).append(item)
    return found


def test_the_count_and_the_note_are_written_together(dynamodb: Any) -> None:
    """A crash in between would leave a schedule in the count for ever, or out of it."""
    client = Wrapped(dynamodb)
    live_count = StoredLiveCount(store=DynamoStore(client), table=create_table(dynamodb, "list", "entry"))
    hear(live_count, STARTED)
    hear(live_count, ENDED)
    assert [name for name, _ in client.calls] == ["transact_write_items"] * 2
    for _, arguments in client.calls:
        note, add = arguments["TransactItems"]
        assert note["Put"]["ConditionExpression"]
        assert add["Update"]["Key"]["list"] == {"S": f"live#{OWNER}"}


def test_the_count_is_spread(live_count: StoredLiveCount) -> None:
    """Two transactions on one item at a time refuse each other."""
    for at in range(8 * COUNT_PARTS):
        hear(live_count, STARTED, an_id(NOW + at))
    parts = items(live_count)["live"]
    assert len(parts) == COUNT_PARTS
    assert max(part["count"] for part in parts) <= 3 * 8


def test_a_beginning_and_its_end_are_in_the_same_part(live_count: StoredLiveCount) -> None:
    for at in range(COUNT_PARTS):
        hear(live_count, STARTED, an_id(NOW + at))
        hear(live_count, ENDED, an_id(NOW + at))
    assert {part["count"] for part in items(live_count)["live"]} == {0}


def test_a_sum_below_0_is_none(live_count: StoredLiveCount) -> None:
    """It cannot be; if somebody wrote it, nobody is to get more room by it than all."""
    live_count.store.write(Put(live_count.table, entry_key(f"live#{OWNER}", "0"), {"count": -3}))
    assert live_count.live(OWNER, NOW) == 0


@pytest.mark.parametrize("heard", [[STARTED], [STARTED, ENDED], [ENDED]], ids=str)
def test_a_note_expires_and_a_count_long_after_it_matters(live_count: StoredLiveCount, heard: list[str]) -> None:
    for what in heard:
        hear(live_count, what)
    found = items(live_count)
    [note] = found["counted"]
    assert (note["list"], note["entry"]) == (f"counted#{an_id()}", ONLY)
    assert note["expiresAt"] == EXPIRY // SECOND
    over = (NOW // SPAN + 3) * SPAN // SECOND
    assert all(part["expiresAt"] == over for part in found.get("live", []))


def test_a_beginning_that_is_counted_in_between_makes_the_end_come_again(dynamodb: Any) -> None:
    """The end found no note, and then one: it is heard of once more, and counts then."""
    live_count = StoredLiveCount(store=DynamoStore(dynamodb), table=create_table(dynamodb, "list", "entry"))
    calls: list[str] = []

    def overtaken(**asked: Any) -> Any:
        calls.append("transact_write_items")
        if len(calls) == 1:
            hear(live_count, STARTED)
            raise cancelled("ConditionalCheckFailed", "None")
        return dynamodb.transact_write_items(**asked)

    late = StoredLiveCount(store=DynamoStore(Wrapped(dynamodb, transact_write_items=overtaken)), table=live_count.table)
    with pytest.raises(Unavailable, match="in between"):
        hear(late, ENDED)
    assert live_count.live(OWNER, NOW) == 1
    hear(late, ENDED)
    assert live_count.live(OWNER, NOW) == 0


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_what_failed_is_unavailable(error: Exception) -> None:
    """Never taken for a repeat: it would be left out of the count."""
    live_count = StoredLiveCount(store=DynamoStore(Failing(error)), table="t")
    for what in (STARTED, ENDED):
        with pytest.raises(Unavailable):
            hear(live_count, what)
    with pytest.raises(Unavailable):
        live_count.live(OWNER, NOW)


@pytest.mark.parametrize("error", ERRORS)
def test_an_end_that_was_noted_by_halves_is_unavailable(error: str) -> None:
    """The transaction found nothing counted; whether the note was written is not known."""

    def refused(**_: Any) -> Any:
        raise cancelled("ConditionalCheckFailed", "None")

    def fails(**_: Any) -> Any:
        raise ERRORS[error]

    client = Wrapped(None, transact_write_items=refused, put_item=fails)
    with pytest.raises(Unavailable):
        hear(StoredLiveCount(store=DynamoStore(client), table="t"), ENDED)
