"""How many schedules of an owner are live: the same, however often and in whatever order it was heard."""

from itertools import permutations, product
from typing import Any

import pytest

from delayer.aws.dynamodb.items.attributes import ONLY
from delayer.aws.dynamodb.live_count import PARTS, SPAN, DynamoLiveCount
from delayer.core.schedule.instants import DAY, SECOND
from delayer.core.schedule.schedule_id import RANDOM_BYTES
from delayer.fakes import MemoryLiveCount
from delayer.ports.live_count import LiveCount
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, OTHER_REASONS, Failing, Wrapped, cancelled
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER, an_id

ADAPTER = DynamoLiveCount
EXPIRY = NOW + 90 * DAY
STARTED, ENDED = "started", "ended"


def adapter(dynamodb: Any) -> DynamoLiveCount:
    return DynamoLiveCount(dynamodb=dynamodb, table=create_table(dynamodb, "list", "entry"))


@pytest.fixture
def live_count(dynamodb_or_fake: Any) -> LiveCount:
    return MemoryLiveCount() if dynamodb_or_fake is None else adapter(dynamodb_or_fake)


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
    ids = [an_id(NOW + at) for at in range(3 * PARTS)]
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
    for at in range(PARTS):
        hear(live_count, ENDED, an_id(NOW + at))
        assert live_count.live(OWNER, NOW) == 0
    hear(live_count, STARTED, an_id(NOW + PARTS))
    assert live_count.live(OWNER, NOW) == 1


def test_what_is_long_over_does_not_count(live_count: LiveCount) -> None:
    """Whatever was lost of their ends: the count heals by itself."""
    for at in range(-3, 3):
        hear(live_count, STARTED, an_id(NOW + at * 28 * DAY))
    assert live_count.live(OWNER, NOW) == 4, "these four weeks, the last, and twice as many to come"
    assert live_count.live(OWNER, NOW + 84 * DAY) == 1
    assert live_count.live(OWNER, NOW + 280 * DAY) == 0


# ------------------------------------------------------------ the adapter alone


def items(dynamodb: Any, live_count: DynamoLiveCount) -> dict[str, list[dict[str, Any]]]:
    """By the kind of list that they are in."""
    found: dict[str, list[dict[str, Any]]] = {}
    for item in dynamodb.scan(TableName=live_count.table)["Items"]:
        found.setdefault(item["list"]["S"].partition("#")[0], []).append(item)
    return found


def test_the_count_and_the_note_are_written_together(dynamodb: Any) -> None:
    """A crash in between would leave a schedule in the count for ever, or out of it."""
    client = Wrapped(dynamodb)
    live_count = DynamoLiveCount(dynamodb=client, table=adapter(dynamodb).table)
    hear(live_count, STARTED)
    hear(live_count, ENDED)
    assert [name for name, _ in client.calls] == ["transact_write_items"] * 2
    for _, arguments in client.calls:
        note, add = arguments["TransactItems"]
        assert note["Put"]["ConditionExpression"]
        assert add["Update"]["Key"]["list"] == {"S": f"live#{OWNER}"}


def test_the_count_is_spread(dynamodb: Any) -> None:
    """Two transactions on one item at a time refuse each other."""
    live_count = adapter(dynamodb)
    for at in range(8 * PARTS):
        hear(live_count, STARTED, an_id(NOW + at))
    parts = items(dynamodb, live_count)["live"]
    assert len(parts) == PARTS
    assert max(int(part["count"]["N"]) for part in parts) <= 3 * 8


def test_a_beginning_and_its_end_are_in_the_same_part(dynamodb: Any) -> None:
    live_count = adapter(dynamodb)
    for at in range(PARTS):
        hear(live_count, STARTED, an_id(NOW + at))
        hear(live_count, ENDED, an_id(NOW + at))
    assert {part["count"]["N"] for part in items(dynamodb, live_count)["live"]} == {"0"}


def test_a_sum_below_0_is_none(dynamodb: Any) -> None:
    """It cannot be; if somebody wrote it, nobody is to get more room by it than all."""
    live_count = adapter(dynamodb)
    key = {"list": {"S": f"live#{OWNER}"}, "entry": {"S": "0"}}
    dynamodb.put_item(TableName=live_count.table, Item={**key, "count": {"N": "-3"}})
    assert live_count.live(OWNER, NOW) == 0


@pytest.mark.parametrize("heard", [[STARTED], [STARTED, ENDED], [ENDED]], ids=str)
def test_a_note_expires_and_a_count_long_after_it_matters(dynamodb: Any, heard: list[str]) -> None:
    live_count = adapter(dynamodb)
    for what in heard:
        hear(live_count, what)
    found = items(dynamodb, live_count)
    [note] = found["counted"]
    assert (note["list"], note["entry"]) == ({"S": f"counted#{an_id()}"}, {"S": ONLY})
    assert note["expiresAt"] == {"N": str(EXPIRY // SECOND)}
    over = str((NOW // SPAN + 3) * SPAN // SECOND)
    assert all(part["expiresAt"] == {"N": over} for part in found.get("live", []))


def test_a_beginning_that_is_counted_in_between_makes_the_end_come_again(dynamodb: Any) -> None:
    """The end found no note, and then one: it is heard of once more, and counts then."""
    live_count = adapter(dynamodb)
    calls: list[str] = []

    def overtaken(**asked: Any) -> Any:
        calls.append("transact_write_items")
        if len(calls) == 1:
            hear(live_count, STARTED)
            raise cancelled("ConditionalCheckFailed", "None")
        return dynamodb.transact_write_items(**asked)

    late = DynamoLiveCount(dynamodb=Wrapped(dynamodb, transact_write_items=overtaken), table=live_count.table)
    with pytest.raises(Unavailable, match="in between"):
        hear(late, ENDED)
    assert live_count.live(OWNER, NOW) == 1
    hear(late, ENDED)
    assert live_count.live(OWNER, NOW) == 0


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_what_failed_is_unavailable(error: Exception) -> None:
    """Never taken for a repeat: it would be left out of the count."""
    live_count = DynamoLiveCount(dynamodb=Failing(error), table="t")
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
        hear(DynamoLiveCount(dynamodb=client, table="t"), ENDED)
