"""What a person does with the records that wait for one."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve

from delayer.core.instants import MINUTE, SECOND, Millis, format_instant, minute_of
from delayer.core.ledger import STALE_AFTER, Keep, decide_set_aside
from delayer.core.lifecycle import ENDS, State, may_follow
from delayer.core.set_aside import Shelf
from delayer.core.sweeping import Shards
from delayer.core.wire import DelayerMessage, decode, encode
from delayer.fakes import MemoryQueue
from delayer.ports import Delivery, Outgoing, Unavailable
from delayer.use_cases.operate import DROPPABLE, PAGE, REOPENABLE, Impossible, Operate
from delayer.use_cases.set_aside import Copy
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, a_kept, an_executor_message, an_id
from tests.world import PERIOD, World

GOLDEN = Path(__file__).parents[2] / "golden/v1"
RECORD = (GOLDEN / "stream-remove.json").read_text()
DISCARDED = "aws/lambda/stream-enqueuer/discarded"


def set_aside(body: str = "", due: Millis = NOW) -> tuple[World, Operate, str]:
    """A world with one record set aside, and its key."""
    world = World()
    copy = Copy(
        body=body or encode(a_delayer_message(due)), reason="why", schedule_id=an_id(due), owner=OWNER, nonce="n1"
    )
    world._set_aside("delayer-relay").keep(copy)
    [key] = world.store.objects
    return world, world.operate, key


def told(schedule_id: str, outcome: str, due: Millis = NOW) -> dict[str, object]:
    return {"scheduleId": schedule_id, "pointInTime": format_instant(due), "outcome": outcome, "settled": True}


def ended(world: World) -> State:
    row = world.ledger.read(an_id())
    assert row
    return row.state


def test_list_and_show() -> None:
    _, operate, key = set_aside()
    line = {
        "key": key,
        "scheduleId": an_id(),
        "reason": "why",
        "source": "delayer-relay",
        "at": format_instant(NOW),
    }
    assert operate.list() == {"kept": [line]}
    assert operate.list("failed/") == {"kept": []}
    assert operate.show(key) == {**line, "body": encode(a_delayer_message())}


def test_what_lambda_put_there_is_listed_and_shown_too() -> None:
    """The stream's failure destination is the same bucket."""
    world, operate, key = set_aside()
    world.store.objects[DISCARDED] = b'{"payload": "{}"}\xff'
    assert [line["key"] for line in operate.list()["kept"]] == [DISCARDED, key]
    assert "event source mapping" in operate.list("aws/")["kept"][0]["reason"]
    assert operate.show(DISCARDED)["body"].startswith('{"payload"')


@pytest.mark.parametrize("body", [encode(a_delayer_message()), encode(an_executor_message(attempt=7)), RECORD])
def test_put_back_fires_once_more(body: str) -> None:
    """Whatever it was when it was kept, with all its attempts; then it is kept no longer."""
    world, operate, key = set_aside(body)
    answer = operate.put_back(key)
    assert answer == {"schedules": [told(an_id(), "put back")], "unreadable": 0, "stillKept": False}
    assert world.store.objects == {}
    world.run_until(NOW + MINUTE)
    assert [message.attempt for _, message in world.target.reached] == [1]
    assert ended(world) is State.EXECUTED


@pytest.mark.parametrize("ahead", [10 * MINUTE, 3 * 60 * MINUTE])
def test_put_back_before_its_time_waits_for_it(ahead: Millis) -> None:
    """In the delayer queue if it is near, else in the table."""
    world, operate, key = set_aside(due=NOW + ahead)
    world.control.raise_shards(Shards(highest=3, since=minute_of(NOW)))
    operate.put_back(key)
    assert bool(world.table.rows) == (ahead > PERIOD)
    world.run_until(NOW + ahead + MINUTE)
    assert [at for at, _ in world.target.reached] == [NOW + ahead]


def test_put_back_of_what_failed() -> None:
    world = World()
    world.ledger.put_if_absent(a_claim(state=State.FAILED, revision=9))
    kept = a_kept(shelf=Shelf.FAILED, body=encode(an_executor_message(attempt=10)))
    world.store.keep(kept)
    world.operate.put_back(kept.key)
    world.run_until(NOW + MINUTE)
    assert len(world.target.reached) == 1
    assert ended(world) is State.EXECUTED


def test_put_back_of_a_batch_that_lambda_discarded() -> None:
    """Of what was removed; what was inserted stands in the table."""
    world = World()
    removed = json.loads(RECORD)
    inserted = {**removed, "eventName": "INSERT", "dynamodb": {"NewImage": removed["dynamodb"]["OldImage"]}}
    payload = json.dumps({"Records": [inserted, removed]})
    world.store.objects[DISCARDED] = json.dumps({"payload": payload}).encode()
    world.operate.put_back(DISCARDED)
    assert world.delayer_queue.sent == 1
    assert world.store.objects == {}


def test_a_body_that_holds_something_unreadable_stays() -> None:
    """It goes only when nothing is lost with it."""
    world = World()
    removed = json.loads(RECORD)
    garbled = {**removed, "dynamodb": {**removed["dynamodb"], "OldImage": {}}}
    world.store.objects[DISCARDED] = json.dumps({"payload": {"Records": [garbled, removed]}}).encode()
    answer = world.operate.put_back(DISCARDED)
    assert (answer["unreadable"], answer["stillKept"]) == (1, True)
    assert world.delayer_queue.sent == 1
    assert DISCARDED in world.store.objects


def test_of_several_those_that_can_be_are_put_back() -> None:
    world, operate, _ = set_aside()
    first = json.loads(RECORD)
    other_id = an_id(NOW + 1)
    image = {**first["dynamodb"]["OldImage"], "due": {"S": f"{NOW + 1}#{other_id}"}}
    second = {**first, "dynamodb": {**first["dynamodb"], "OldImage": image}}
    world.ledger.rows[an_id()] = a_claim(state=State.EXECUTED)
    world.store.objects[DISCARDED] = json.dumps({"payload": {"Records": [first, second]}}).encode()
    answer = operate.put_back(DISCARDED)
    assert [one["outcome"] for one in answer["schedules"]] == ["not put back: it is executed", "put back"]
    assert DISCARDED not in world.store.objects


def test_put_back_twice_after_a_crash_fires_once() -> None:
    """It died before it discarded the body: of the two copies, the ledger lets one through."""
    world, operate, key = set_aside()
    content = world.store.objects[key]
    operate.put_back(key)
    world.store.objects[key] = content
    operate.put_back(key)
    nonces = {decode(one.body, DelayerMessage).nonce for one in world.delayer_queue.messages}
    assert len(nonces) == 2
    assert "" not in nonces
    world.run_until(NOW + 10 * MINUTE)
    assert len(world.target.reached) == 1


def test_the_body_of_what_is_claimed_is_not_deleted() -> None:
    """Whoever keeps it may be about to write the end: then it is the only copy."""
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim()
    told_of = operate.put_back(key)
    assert [one["outcome"] for one in told_of["schedules"]] == ["not put back: it is claimed; look again later"]
    assert told_of["stillKept"] is True
    assert list(world.store.objects) == [key]


def test_what_its_owner_has_stopped_is_not_put_back() -> None:
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim(state=State.SET_ASIDE, stopped_at=NOW)
    assert operate.put_back(key)["stillKept"] is True
    assert world.delayer_queue.sent == 0
    assert operate.throw_away(key)["schedules"] == [told(an_id(), "dropped")]


def test_what_has_no_row_gets_one() -> None:
    """Its set-aside may have died before the mark; one that comes late loses against the row."""
    world, operate, key = set_aside()
    world.ledger.rows.clear()
    operate.put_back(key)
    row = world.ledger.rows[an_id()]
    assert (row.state, row.revision, bool(row.nonce)) == (State.SCHEDULED, 1, True)
    assert decide_set_aside(row, "another") is Keep.ALREADY


@pytest.mark.parametrize("state", sorted(set(State) - REOPENABLE - {State.CLAIMED, State.ENQUEUED}))
def test_what_ended_otherwise_is_not_put_back(state: State) -> None:
    """Nor is its body needed any more."""
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim(state=state)
    assert operate.put_back(key)["schedules"] == [told(an_id(), f"not put back: it is {state}")]
    assert world.ledger.rows[an_id()] == a_claim(state=state)
    assert world.delayer_queue.sent == 0
    assert world.store.objects == {}


@pytest.mark.parametrize("state", sorted(ENDS & REOPENABLE))
def test_what_is_put_back_is_in_the_table_of_states(state: State) -> None:
    assert may_follow(state, State.ENQUEUED)


@pytest.mark.parametrize("state", sorted(ENDS & DROPPABLE))
def test_what_is_thrown_away_is_in_the_table_of_states(state: State) -> None:
    assert may_follow(state, State.DROPPED)


def test_what_is_a_month_late_is_not_put_back() -> None:
    """Its ledger row may be about to expire; the body stays, for whoever POSTs it anew."""
    world, operate, key = set_aside()
    world.clock.move(STALE_AFTER + 1)
    answer = operate.put_back(key)
    assert "29 days" in answer["schedules"][0]["outcome"]
    assert answer["stillKept"]
    assert key in world.store.objects
    assert world.delayer_queue.sent == 0


@pytest.mark.parametrize(
    "body", ["{not json", "[]", '"text"', "{}", '{"dynamodb": {}}', '{"eventName": "REMOVE", "dynamodb": 1}']
)
def test_what_nobody_can_read_is_not_put_back(body: str) -> None:
    world = World()
    kept = a_kept(body=body, schedule_id="")
    world.store.keep(kept)
    with pytest.raises(Impossible, match="no schedule can be read"):
        world.operate.put_back(kept.key)
    assert kept.key in world.store.objects


class Down(MemoryQueue):
    """Takes nothing."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        return list(range(len(messages)))


def test_a_record_that_could_not_be_sent_is_still_kept() -> None:
    world, operate, key = set_aside()
    with pytest.raises(Unavailable):
        evolve(operate, delayer_queue=Down(clock=world.clock)).put_back(key)
    assert key in world.store.objects
    operate.put_back(key)
    assert world.delayer_queue.sent == 1


def test_throw_away_ends_it_as_dropped() -> None:
    world, operate, key = set_aside()
    assert operate.throw_away(key) == {"schedules": [told(an_id(), "dropped")]}
    assert world.store.objects == {}
    assert ended(world) is State.DROPPED
    world.relay([Delivery("m", encode(a_delayer_message()))])
    assert world.http_queue.sent == 0


@pytest.mark.parametrize("state", sorted(ENDS - DROPPABLE))
def test_throw_away_leaves_another_end(state: State) -> None:
    """What failed stays failed."""
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim(state=state)
    assert operate.throw_away(key) == {"schedules": [told(an_id(), f"it stays {state}")]}
    assert world.ledger.rows[an_id()] == a_claim(state=state)
    assert world.store.objects == {}


def test_throw_away_of_what_is_on_its_way_waits() -> None:
    """Its body may be needed again."""
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim()
    with pytest.raises(Impossible, match="on its way"):
        operate.throw_away(key)
    assert key in world.store.objects


def test_throw_away_of_what_the_ledger_does_not_know() -> None:
    """What Lambda discarded had no chance to write its end."""
    world = World()
    world.store.objects[DISCARDED] = json.dumps({"payload": {"Records": [json.loads(RECORD)]}}).encode()
    world.operate.throw_away(DISCARDED)
    assert ended(world) is State.DROPPED
    assert world.store.objects == {}


def test_a_long_list_comes_page_by_page() -> None:
    world = World()
    for at in range(PAGE * 2 + 1):
        world.store.keep(a_kept(body=str(at)))
    operate, after, pages = world.operate, "", []
    while True:
        page = operate.list("", after)
        pages.append([line["key"] for line in page["kept"]])
        if "next" not in page:
            break
        after = page["next"]
    assert [len(page) for page in pages] == [PAGE, PAGE, 1]
    assert [key for page in pages for key in page] == sorted(world.store.objects)


def test_what_nobody_can_read_can_be_thrown_away() -> None:
    world = World()
    kept = a_kept(body="{not json", schedule_id="")
    world.store.keep(kept)
    assert world.operate.throw_away(kept.key) == {"schedules": []}
    assert world.store.objects == {}


def test_a_key_that_is_not_there() -> None:
    operate = World().operate
    for command in (operate.show, operate.put_back, operate.throw_away):
        with pytest.raises(Impossible, match="list what is"):
            command("set-aside/x/y.json")


def test_seconds_count() -> None:
    """An overdue schedule goes with no delay, another with what is left of its time, rounded down."""
    for due, delay in ((NOW - MINUTE, 0), (NOW + 90_999, 90)):
        world, operate, key = set_aside(due=due)
        operate.put_back(key)
        assert world.delayer_queue.messages[0].visible_at == NOW + delay * SECOND
