"""How many schedules of an owner are live: the same, however often and in whatever order it was heard."""

from itertools import permutations, product
from typing import Any

import pytest

from delayer.aws.headcount import ONLY, PARTS, SPAN, DynamoHeadcount
from delayer.core.instants import DAY, SECOND
from delayer.fakes import MemoryHeadcount
from delayer.ports import Headcount, Unavailable
from tests.clients import ERRORS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.test_registry import OTHER_REASONS, cancelled
from tests.samples import NOW, OWNER, an_id

EXPIRY = NOW + 90 * DAY
BEGUN, ENDED = "begun", "ended"


def adapter(dynamodb: Any) -> DynamoHeadcount:
    return DynamoHeadcount(dynamodb=dynamodb, table=create_table(dynamodb, "list", "entry"))


@pytest.fixture(params=["fake", "dynamodb"])
def headcount(request: pytest.FixtureRequest, dynamodb: Any) -> Headcount:
    return MemoryHeadcount() if request.param == "fake" else adapter(dynamodb)


def hear(headcount: Headcount, what: str, schedule_id: str = an_id(), owner: str = OWNER) -> None:
    if what == BEGUN:
        headcount.begun(owner, schedule_id, EXPIRY)
    else:
        headcount.ended(owner, schedule_id, EXPIRY)


def test_an_owner_without_schedules_has_none(headcount: Headcount) -> None:
    assert headcount.live(OWNER, NOW) == 0


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_whatever_is_heard_of_twice_or_in_another_order_counts_once(headcount: Headcount, times: int) -> None:
    """Live is what has begun and has not ended, at each moment: an end that is heard of first is not undone."""
    for number, heard in enumerate(product([BEGUN, ENDED], repeat=times)):
        owner, schedule_id = f"owner {number}", an_id(NOW + number)
        for at, what in enumerate(heard):
            hear(headcount, what, schedule_id, owner)
            assert headcount.live(owner, NOW) == (BEGUN in heard[: at + 1] and ENDED not in heard[: at + 1]), heard


def test_several_are_counted_side_by_side_in_any_order(headcount: Headcount) -> None:
    """Two that end and one that does not."""
    first, second, third = (an_id(NOW + at) for at in range(3))
    told = [(BEGUN, first), (ENDED, first), (BEGUN, second), (ENDED, second), (BEGUN, third)]
    for number, order in enumerate(list(permutations(told))[::7]):
        owner = f"owner {number}"
        ids = {one: an_id(NOW + at, randomness=number.to_bytes(10, "big")) for at, (_, one) in enumerate(told)}
        heard: set[tuple[str, str]] = set()
        for what, one in order:
            hear(headcount, what, ids[one], owner)
            heard.add((what, one))
            live = [one for one in ids if (BEGUN, one) in heard and (ENDED, one) not in heard]
            assert headcount.live(owner, NOW) == len(live)
        assert headcount.live(owner, NOW) == 1


def test_many_are_counted(headcount: Headcount) -> None:
    """More than the parts that a count is spread over."""
    ids = [an_id(NOW + at) for at in range(3 * PARTS)]
    for schedule_id in ids:
        hear(headcount, BEGUN, schedule_id)
    assert headcount.live(OWNER, NOW) == len(ids)
    for schedule_id in ids[5:]:
        hear(headcount, ENDED, schedule_id)
    assert headcount.live(OWNER, NOW) == 5


def test_each_owner_has_its_own(headcount: Headcount) -> None:
    hear(headcount, BEGUN, an_id())
    hear(headcount, BEGUN, an_id(NOW + 1), "somebody else")
    hear(headcount, BEGUN, an_id(NOW + 2), "somebody else")
    hear(headcount, ENDED, an_id(NOW + 3), "a third")
    assert [headcount.live(owner, NOW) for owner in (OWNER, "somebody else", "a third")] == [1, 2, 0]


def test_ends_alone_are_never_below_0(headcount: Headcount) -> None:
    """And take nothing from what begins afterwards."""
    for at in range(PARTS):
        hear(headcount, ENDED, an_id(NOW + at))
        assert headcount.live(OWNER, NOW) == 0
    hear(headcount, BEGUN, an_id(NOW + PARTS))
    assert headcount.live(OWNER, NOW) == 1


def test_what_is_long_over_does_not_count(headcount: Headcount) -> None:
    """Whatever was lost of their ends: the count heals by itself."""
    for at in range(-3, 3):
        hear(headcount, BEGUN, an_id(NOW + at * 28 * DAY))
    assert headcount.live(OWNER, NOW) == 4, "these four weeks, the last, and twice as many to come"
    assert headcount.live(OWNER, NOW + 84 * DAY) == 1
    assert headcount.live(OWNER, NOW + 280 * DAY) == 0


# ------------------------------------------------------------ the adapter alone


def items(dynamodb: Any, headcount: DynamoHeadcount) -> dict[str, list[dict[str, Any]]]:
    """By the kind of list that they are in."""
    found: dict[str, list[dict[str, Any]]] = {}
    for item in dynamodb.scan(TableName=headcount.table)["Items"]:
        found.setdefault(item["list"]["S"].partition("#")[0], []).append(item)
    return found


def test_the_count_and_the_note_are_written_together(dynamodb: Any) -> None:
    """A crash in between would leave a schedule in the count for ever, or out of it."""
    client = Wrapped(dynamodb)
    headcount = DynamoHeadcount(dynamodb=client, table=adapter(dynamodb).table)
    hear(headcount, BEGUN)
    hear(headcount, ENDED)
    assert [name for name, _ in client.calls] == ["transact_write_items"] * 2
    for _, arguments in client.calls:
        note, add = arguments["TransactItems"]
        assert note["Put"]["ConditionExpression"]
        assert add["Update"]["Key"]["list"] == {"S": f"live#{OWNER}"}


def test_the_count_is_spread(dynamodb: Any) -> None:
    """Two transactions on one item at a time refuse each other."""
    headcount = adapter(dynamodb)
    for at in range(20 * PARTS):
        hear(headcount, BEGUN, an_id(NOW + at))
    parts = items(dynamodb, headcount)["live"]
    assert len(parts) == PARTS
    assert max(int(part["count"]["N"]) for part in parts) <= 3 * 20


def test_a_beginning_and_its_end_are_in_the_same_part(dynamodb: Any) -> None:
    headcount = adapter(dynamodb)
    for at in range(PARTS):
        hear(headcount, BEGUN, an_id(NOW + at))
        hear(headcount, ENDED, an_id(NOW + at))
    assert {part["count"]["N"] for part in items(dynamodb, headcount)["live"]} == {"0"}


def test_a_sum_below_0_is_none(dynamodb: Any) -> None:
    """It cannot be; if somebody wrote it, nobody is to get more room by it than all."""
    headcount = adapter(dynamodb)
    key = {"list": {"S": f"live#{OWNER}"}, "entry": {"S": "0"}}
    dynamodb.put_item(TableName=headcount.table, Item={**key, "count": {"N": "-3"}})
    assert headcount.live(OWNER, NOW) == 0


@pytest.mark.parametrize("heard", [[BEGUN], [BEGUN, ENDED], [ENDED]], ids=str)
def test_a_note_expires_and_a_count_long_after_it_matters(dynamodb: Any, heard: list[str]) -> None:
    headcount = adapter(dynamodb)
    for what in heard:
        hear(headcount, what)
    found = items(dynamodb, headcount)
    [note] = found["counted"]
    assert (note["list"], note["entry"]) == ({"S": f"counted#{an_id()}"}, {"S": ONLY})
    assert note["expiresAt"] == {"N": str(EXPIRY // SECOND)}
    over = str((NOW // SPAN + 3) * SPAN // SECOND)
    assert all(part["expiresAt"] == {"N": over} for part in found.get("live", []))


def test_a_beginning_that_is_counted_in_between_makes_the_end_come_again(dynamodb: Any) -> None:
    """The end found no note, and then one: it is heard of once more, and counts then."""
    headcount = adapter(dynamodb)
    calls: list[str] = []

    def overtaken(**asked: Any) -> Any:
        calls.append("transact_write_items")
        if len(calls) == 1:
            hear(headcount, BEGUN)
            raise cancelled("ConditionalCheckFailed", "None")
        return dynamodb.transact_write_items(**asked)

    late = DynamoHeadcount(dynamodb=Wrapped(dynamodb, transact_write_items=overtaken), table=headcount.table)
    with pytest.raises(Unavailable, match="in between"):
        hear(late, ENDED)
    assert headcount.live(OWNER, NOW) == 1
    hear(late, ENDED)
    assert headcount.live(OWNER, NOW) == 0


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_what_failed_is_unavailable(error: Exception) -> None:
    """Never taken for a repeat: it would be left out of the count."""
    headcount = DynamoHeadcount(dynamodb=Failing(error), table="t")
    for what in (BEGUN, ENDED):
        with pytest.raises(Unavailable):
            hear(headcount, what)
    with pytest.raises(Unavailable):
        headcount.live(OWNER, NOW)


@pytest.mark.parametrize("error", ERRORS)
def test_an_end_that_was_noted_by_halves_is_unavailable(error: str) -> None:
    """The transaction found nothing counted; whether the note was written is not known."""

    def refused(**_: Any) -> Any:
        raise cancelled("ConditionalCheckFailed", "None")

    def fails(**_: Any) -> Any:
        raise ERRORS[error]

    client = Wrapped(None, transact_write_items=refused, put_item=fails)
    with pytest.raises(Unavailable):
        hear(DynamoHeadcount(dynamodb=client, table="t"), ENDED)
