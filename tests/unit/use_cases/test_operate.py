"""What a person does with the records that wait for one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve

from delayer.aws.stream import message_in
from delayer.core.instants import SECOND, format_instant
from delayer.core.ledger import STALE_AFTER
from delayer.core.lifecycle import State
from delayer.core.set_aside import Kept, Shelf, decode
from delayer.core.wire import DelayerMessage, encode
from delayer.core.wire import decode as decode_message
from delayer.fakes import MemoryQueue
from delayer.ports import Delivery, Outgoing, Unavailable
from delayer.use_cases.operate import Impossible, Operate
from delayer.use_cases.set_aside import Copy
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, a_kept, an_executor_message, an_id
from tests.world import World

GOLDEN = Path(__file__).parents[2] / "golden/v1"


def operating(world: World) -> Operate:
    return Operate(
        clock=world.clock,
        ledger=world.ledger,
        store=world.store,
        delayer_queue=world.delayer_queue,
        observer=world.observer,
        read_record=message_in,
        new_nonce=world._tokens,
    )


def set_aside(body: str = "", due: int = NOW) -> tuple[World, Operate, str]:
    """A world with one record set aside, and its key."""
    world = World()
    body = body or encode(a_delayer_message(due))
    world._set_aside("delayer-relay").keep(
        Copy(body=body, reason="why", schedule_id=an_id(due), owner=OWNER, nonce="n1")
    )
    [key] = world.store.objects
    return world, operating(world), key


def test_list_and_show() -> None:
    _, operate, key = set_aside()
    line = {
        "key": key,
        "scheduleId": an_id(),
        "reason": "why",
        "source": "delayer-relay",
        "at": format_instant(NOW),
    }
    assert operate.list() == [line]
    assert operate.list("failed/") == []
    assert operate.show(key) == {**line, "body": encode(a_delayer_message())}


def test_the_list_shows_what_lambda_put_there_too() -> None:
    """The stream's failure destination is the same bucket."""
    world, operate, key = set_aside()
    world.store.objects["aws/lambda/x"] = b'{"requestContext": {}}'
    assert [line["key"] for line in operate.list()] == ["aws/lambda/x", key]
    assert "no kept record" in operate.list("aws/")[0]["reason"]


@pytest.mark.parametrize("body", [encode(a_delayer_message()), encode(an_executor_message(attempt=7))])
def test_put_back_fires_once_more(body: str) -> None:
    """Whatever it was when it was kept: it is claimed under a fresh nonce, fires, and is kept no longer."""
    world, operate, key = set_aside(body)
    answer = operate.put_back(key)
    assert answer["scheduleId"] == an_id()
    assert world.store.objects == {}
    world.run_until(NOW + 60 * SECOND)
    assert len(world.target.reached) == 1
    row = world.ledger.read(an_id())
    assert row
    assert row.state is State.EXECUTED


def test_put_back_of_a_stream_record() -> None:
    """What was set aside before it was ever sent is a record of the stream."""
    world, operate, key = set_aside((GOLDEN / "stream-remove.json").read_text())
    operate.put_back(key)
    [message] = world.delayer_queue.messages
    assert decode_message(message.body, DelayerMessage).payload == '{"order": 17.0}'


def test_put_back_before_its_time_waits_for_it() -> None:
    world, operate, key = set_aside(due=NOW + 600 * SECOND)
    operate.put_back(key)
    world.run_until(NOW + 700 * SECOND)
    assert [at for at, _ in world.target.reached] == [NOW + 600 * SECOND]


def test_put_back_of_what_failed() -> None:
    world = World()
    world.ledger.put_if_absent(a_claim(state=State.FAILED, revision=9))
    kept = a_kept(shelf=Shelf.FAILED, body=encode(an_executor_message(attempt=10)))
    world.store.keep(kept)
    operating(world).put_back(kept.key)
    world.run_until(NOW + 60 * SECOND)
    assert len(world.target.reached) == 1
    assert world.target.reached[0][1].attempt == 1, "with all its attempts"


def test_put_back_twice_after_a_crash_fires_once() -> None:
    """It died before it discarded the body: the nonce in the ledger is used again."""
    world, operate, key = set_aside()
    content = world.store.objects[key]
    operate.put_back(key)
    world.store.objects[key] = content
    operate.put_back(key)
    nonces = {decode_message(one.body, DelayerMessage).nonce for one in world.delayer_queue.messages}
    assert len(nonces) == 1
    world.run_until(NOW + 600 * SECOND)
    assert len(world.target.reached) == 1


@pytest.mark.parametrize("state", [State.EXECUTED, State.CANCELLED, State.REPLACED, State.DROPPED])
def test_what_ended_otherwise_is_not_put_back(state: State) -> None:
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim(state=state)
    with pytest.raises(Impossible, match=f"is {state}: throw"):
        operate.put_back(key)
    assert key in world.store.objects
    assert world.delayer_queue.sent == 0


def test_what_another_copy_holds_is_not_put_back() -> None:
    world, operate, key = set_aside()
    world.ledger.rows[an_id()] = a_claim()
    with pytest.raises(Impossible, match="another copy"):
        operate.put_back(key)


def test_what_is_a_month_late_is_not_put_back() -> None:
    world, operate, key = set_aside()
    world.clock.move(STALE_AFTER + 1)
    with pytest.raises(Impossible, match="29 days"):
        operate.put_back(key)


def test_what_nobody_can_read_is_not_put_back() -> None:
    for body in ("{not json", "[]", '"text"', "{}", '{"dynamodb": {}}', '{"eventName": "REMOVE", "dynamodb": 1}'):
        world = World()
        kept = a_kept(body=body, schedule_id="")
        world.store.keep(kept)
        with pytest.raises(Impossible, match="cannot be read"):
            operating(world).put_back(kept.key)
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
    operate.throw_away(key)
    assert world.store.objects == {}
    row = world.ledger.read(an_id())
    assert row
    assert row.state is State.DROPPED
    world.relay([Delivery("m", encode(a_delayer_message()))])
    assert world.http_queue.sent == 0


def test_throw_away_of_what_failed_leaves_the_end() -> None:
    world = World()
    world.ledger.put_if_absent(a_claim(state=State.FAILED))
    kept = a_kept(shelf=Shelf.FAILED)
    world.store.keep(kept)
    operating(world).throw_away(kept.key)
    assert world.ledger.read(an_id()) == a_claim(state=State.FAILED)
    assert world.store.objects == {}


def test_a_key_that_is_not_there() -> None:
    operate = operating(World())
    for command in (operate.show, operate.put_back, operate.throw_away):
        with pytest.raises(Impossible, match="list what is"):
            command("set-aside/x/y.json")


def test_a_kept_record_says_where_it_came_from() -> None:
    kept: Kept = decode(next(iter(set_aside()[0].store.objects.values())))
    assert kept.source == "delayer-relay"
