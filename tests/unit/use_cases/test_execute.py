"""Attempts at a target, and how they end."""

import json

import pytest
from attrs import evolve

from delayer.core.executing import Done, Refused, Result, Retry
from delayer.core.instants import MINUTE, SECOND
from delayer.core.ledger import LedgerRow, retried
from delayer.core.lifecycle import State
from delayer.core.set_aside import decode as decode_kept
from delayer.core.wire import ExecutorMessage, decode, encode
from delayer.ports import Delivery
from tests.samples import ACTION, NOW, a_claim, an_executor_message, an_id
from tests.world import World


def delivered(*messages: ExecutorMessage) -> list[Delivery]:
    return [Delivery(f"m{at}", encode(message)) for at, message in enumerate(messages)]


def claimed(*answers: Result) -> World:
    world = World()
    world.ledger.put_if_absent(a_claim())
    world.target.answers = list(answers)
    return world


def the_row(world: World) -> LedgerRow:
    row = world.ledger.read(an_id())
    assert row
    return row


def test_what_the_target_takes_is_executed() -> None:
    world = claimed(Done("HTTP 204"))
    assert world.execute(delivered(an_executor_message())) == []
    row = the_row(world)
    assert (row.state, row.detail, row.revision) == (State.EXECUTED, "HTTP 204", 2)
    assert len(world.target.reached) == 1
    assert world.http_queue.sent == 0
    assert world.observer.counts["Executed"] == 1


def test_it_waits_for_the_point_in_time() -> None:
    world = World()
    world.ledger.put_if_absent(a_claim(NOW + 250))
    world.execute(delivered(an_executor_message(NOW + 250)))
    assert [at for at, _ in world.target.reached] == [NOW + 250]
    assert world.observer.lateness == [0]


def test_far_too_early_it_goes_back() -> None:
    """Only a wrong clock can bring it about."""
    world = World()
    message = an_executor_message(NOW + MINUTE)
    assert world.execute(delivered(message)) == []
    assert world.target.reached == []
    [again] = world.http_queue.messages
    assert decode(again.body, ExecutorMessage) == message
    assert again.visible_at == NOW + MINUTE


def test_lateness_is_that_of_the_first_attempt() -> None:
    world = claimed(Retry("HTTP 503"), Done("ok"))
    world.clock.move(1_500)
    world.execute(delivered(an_executor_message()))
    world.clock.move(SECOND)
    [again] = world.http_queue.receive()
    assert world.execute([again]) == []
    assert world.observer.lateness == [1_500]
    assert world.observer.counts["Late"] == 1


def test_a_retry_is_sent_with_a_delay_and_passes_the_attempt_on() -> None:
    world = claimed(Retry("HTTP 503", 30))
    message = an_executor_message()
    assert world.execute(delivered(message)) == []
    row = the_row(world)
    [following] = world.http_queue.messages
    sent = decode(following.body, ExecutorMessage)
    assert following.visible_at == NOW + 30 * SECOND
    assert (sent.attempt, sent.delivery) == (2, row.delivery)
    assert (row.attempt, row.retry_of, row.state) == (2, message.delivery, State.CLAIMED)
    assert evolve(sent, attempt=1, delivery=message.delivery) == message


def test_the_delivery_that_failed_does_not_attempt_again() -> None:
    """Delivered twice, it sends the next attempt once more; of the two, the target sees one."""
    world = claimed(Retry("HTTP 503"))
    batch = delivered(an_executor_message())
    world.execute(batch)
    assert world.execute(batch) == []
    assert len(world.target.reached) == 1
    assert world.http_queue.sent == 2
    world.clock.move(MINUTE)
    assert world.execute(world.http_queue.receive()) == []
    assert len(world.target.reached) == 2


@pytest.mark.parametrize(("max_attempts", "attempts"), [(1, 1), (3, 3), (None, 10)])
def test_it_gives_up_loudly(max_attempts: int | None, attempts: int) -> None:
    """The body is kept under failed/, the ledger says why, the metric Failed raises the alarm."""
    action = ACTION if max_attempts is None else {**ACTION, "maxAttempts": max_attempts}
    world = claimed(*[Retry("HTTP 503")] * 20)
    world.http_queue.send([])
    waiting = delivered(an_executor_message(action=json.dumps(action)))
    while waiting:
        world.http_queue.settle(waiting, world.execute(waiting))
        world.clock.move(1000 * SECOND)
        waiting = world.http_queue.receive()
    assert len(world.target.reached) == attempts
    row = the_row(world)
    assert row.state is State.FAILED
    assert "HTTP 503" in row.detail
    [key] = world.store.objects
    assert key.startswith(f"failed/{an_id()}/")
    assert world.observer.counts["Failed"] == 1
    assert "failed" in world.observer.warnings


def test_a_refusal_fails_at_once() -> None:
    world = claimed(Refused("HTTP 404"))
    assert world.execute(delivered(an_executor_message())) == []
    assert the_row(world).state is State.FAILED
    [kept] = world.store.objects.values()
    assert decode_kept(kept).body == encode(an_executor_message())


def test_a_target_that_raises_has_had_its_attempt() -> None:
    """A defect of an executor is retried like any failure, and takes no neighbour along."""
    world = claimed()
    answer = world.target.__call__

    def raises(message: ExecutorMessage) -> Result:
        if message.id == an_id():
            raise ZeroDivisionError
        return answer(message)

    neighbour = an_executor_message(NOW + 1)
    world.ledger.put_if_absent(a_claim(NOW + 1))
    execute = evolve(world.execute, target=raises)
    assert execute(delivered(an_executor_message(), neighbour)) == []
    assert (the_row(world).attempt, the_row(world).state) == (2, State.CLAIMED)
    assert [message.id for _, message in world.target.reached] == [neighbour.id]
    assert "the target raised" in world.observer.warnings


def test_after_an_end_the_target_is_not_reached() -> None:
    world = World()
    world.ledger.put_if_absent(a_claim(state=State.EXECUTED))
    assert world.execute(delivered(an_executor_message())) == []
    assert world.target.reached == []


def test_an_overtaken_delivery_is_refused() -> None:
    """The row tells of an attempt: the delivery it names has arrived."""
    world = World()
    world.ledger.put_if_absent(a_claim(retry_of="d0"))
    assert world.execute(delivered(an_executor_message(delivery="another"))) == []
    assert world.target.reached == []
    assert the_row(world) == a_claim(retry_of="d0")


def test_a_first_delivery_overtaken_by_a_new_claim_is_left_in_the_queue() -> None:
    """The relay that claimed anew may have died before its hand-over: then this is the only copy (ADR 0043)."""
    world = claimed()
    failed = world.execute(delivered(an_executor_message(delivery="another")))
    assert failed == [delivered(an_executor_message(delivery="another"))[0].message_id]
    assert world.target.reached == []
    assert the_row(world) == a_claim()


def test_without_a_claim_it_is_set_aside() -> None:
    world = World()
    assert world.execute(delivered(an_executor_message())) == []
    assert world.target.reached == []
    assert the_row(world).state is State.SET_ASIDE
    assert len(world.store.objects) == 1


def test_what_cannot_be_read_is_set_aside_and_its_neighbours_go_on() -> None:
    world = claimed()
    bad = [Delivery("bad", "{not json"), Delivery("worse", encode(an_executor_message(id="no id")))]
    assert world.execute([*bad, *delivered(an_executor_message())]) == []
    assert the_row(world).state is State.EXECUTED
    assert sorted(decode_kept(one).body for one in world.store.objects.values()) == sorted(one.body for one in bad)


def test_the_outcome_is_written_once_for_twins() -> None:
    """A delivery that SQS hands out twice at a time may reach the target twice, with one idempotency key; it ends
    once."""
    world = claimed()
    world.execute(delivered(an_executor_message(), an_executor_message()))
    assert the_row(world).state is State.EXECUTED
    assert the_row(world).revision == 2


def test_a_twin_that_is_refused_sends_what_the_other_may_have_died_before() -> None:
    """One twin has written the retry and not sent it yet; the other is turned down, and its message is deleted."""
    world = claimed()

    def meanwhile(message: ExecutorMessage) -> Result:
        row = the_row(world)
        assert world.ledger.swap(row, retried(row, "d2", NOW)) is None
        return Refused("no")

    assert evolve(world.execute, target=meanwhile)(delivered(an_executor_message())) == []
    [following] = [decode(one.body, ExecutorMessage) for one in world.http_queue.messages]
    assert (following.delivery, following.attempt) == ("d2", 2)
    assert the_row(world).state is State.CLAIMED
    assert world.store.objects == {}
