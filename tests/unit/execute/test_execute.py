"""Attempts at a target, and how they end."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.dead_letters.model import decode as decode_dead_letter
from delayer.engines.memory import ManualClock
from delayer.engines.ports import ReceivedMessage
from delayer.execute.rules import Made, carried, made_of
from delayer.ledger.model import Arrival, EventType, LedgerChange, LedgerRow, State
from delayer.ledger.ports import Written
from delayer.ledger.rules import contested, retried, stopped
from delayer.schedule.instants import MINUTE, SECOND, UnknownVersion
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage, WarmUp, decode, decode_for_executor, encode
from tests.fakes.faults import failed
from tests.looking import all_rows, put_row
from tests.samples import NOW, a_claim, an_executor_message, an_id
from tests.transitions import take_out
from tests.world import World


def delivered(*messages: ExecutorMessage) -> list[ReceivedMessage]:
    return [ReceivedMessage(message_id=f"m{at}", body=encode(message)) for at, message in enumerate(messages)]


def after_a_claim(*answers: Result) -> World:
    world = World()
    put_row(world.ledger, a_claim())
    world.target.answers = list(answers)
    return world


def the_row(world: World) -> LedgerRow:
    row = world.ledger.read(an_id())
    assert row
    return row


def test_what_the_target_takes_is_executed() -> None:
    world = after_a_claim(Done("HTTP 204"))
    assert world.execute(delivered(an_executor_message())) == []
    row = the_row(world)
    assert (row.state, row.detail, row.revision) == (State.EXECUTED, "HTTP 204", 2)
    assert len(world.target.reached) == 1
    assert world.http_queue.sent == 0
    assert world.observer.counts["Executed"] == 1


def test_without_limits_nothing_is_decoded_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody has set costs nothing: each message is read once, when it is handled."""
    read: list[str] = []

    def decoded(body: str) -> ExecutorMessage | OutcomeMessage | WarmUp:
        read.append(body)
        return decode_for_executor(body)

    world = after_a_claim(Done("HTTP 204"))
    batch = delivered(an_executor_message())
    assert evolve(world.execute, decode=decoded)(batch) == []
    assert read == [batch[0].body]


def test_it_waits_for_the_point_in_time() -> None:
    world = World()
    put_row(world.ledger, a_claim(NOW + 250))
    world.execute(delivered(an_executor_message(NOW + 250)))
    assert [at for at, _ in world.target.reached] == [NOW + 250]
    assert world.observer.lateness == [0]


def test_far_too_early_it_stays_in_its_queue() -> None:
    """Only a wrong clock can bring it about. To send it again could make two of it, with one fencing token."""
    world = World()
    assert world.execute(delivered(an_executor_message(NOW + MINUTE))) == ["m0"]
    assert world.target.reached == []
    assert world.http_queue.messages == []


def test_an_attempt_that_could_not_end_in_time_is_not_begun_and_none_is_used_up() -> None:
    """Its function would be ended in the middle of it, and the attempt be made again."""
    world = after_a_claim(Done("HTTP 204"))
    before = the_row(world)
    assert evolve(world.execute, has_time=lambda: False)(delivered(an_executor_message())) == ["m0"]
    assert world.target.reached == []
    assert the_row(world) == before
    assert world.observer.counts == {}
    assert world.execute(delivered(an_executor_message())) == []
    assert the_row(world).attempt == 1


def test_lateness_is_that_of_the_first_attempt() -> None:
    world = after_a_claim(Retry(detail="HTTP 503"), Done("ok"))
    world.clock.move(1_500)
    world.execute(delivered(an_executor_message()))
    world.clock.move(SECOND)
    [again] = world.http_queue.receive()
    assert world.execute([again]) == []
    assert world.observer.lateness == [1_500]
    assert world.observer.counts["Late"] == 1


def test_a_retry_is_sent_with_a_delay_and_passes_the_attempt_on() -> None:
    world = after_a_claim(Retry(detail="HTTP 503", after_seconds=30))
    message = an_executor_message()
    assert world.execute(delivered(message)) == []
    row = the_row(world)
    [following] = world.http_queue.messages
    sent = decode(following.body, ExecutorMessage)
    assert following.visible_at == NOW + 30 * SECOND
    assert (sent.attempt, sent.fence) == (2, row.fence)
    assert (row.attempt, row.retry_of, row.state) == (2, message.fence, State.CLAIMED)
    assert sent.age_from == NOW, "its age is that of its first attempt, also while a limit keeps it waiting"
    assert evolve(sent, attempt=1, fence=message.fence, age_from=0) == message


def test_a_message_whose_attempt_failed_is_not_attempted_again() -> None:
    """Delivered twice, it sends the next attempt once more; of the two, the target sees one."""
    world = after_a_claim(Retry(detail="HTTP 503"))
    batch = delivered(an_executor_message())
    world.execute(batch)
    assert world.execute(batch) == []
    assert len(world.target.reached) == 1
    assert world.http_queue.sent == 2
    world.clock.move(MINUTE)
    assert world.execute(world.http_queue.receive()) == []
    assert len(world.target.reached) == 2


@pytest.mark.parametrize(("max_attempts", "attempts"), [(1, 1), (3, 3), (None, 10)])
def test_after_the_last_attempt_the_schedule_fails_and_is_counted(max_attempts: int | None, attempts: int) -> None:
    """The body is stored under failed/, the ledger says why, the metric Failed raises the alarm."""
    retry = "" if max_attempts is None else json.dumps({"maxAttempts": max_attempts})
    world = after_a_claim(*[Retry(detail="HTTP 503")] * 20)
    world.http_queue.send([])
    waiting = delivered(an_executor_message(retry=retry))
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
    world = after_a_claim(Refused("HTTP 404"))
    assert world.execute(delivered(an_executor_message())) == []
    assert the_row(world).state is State.FAILED
    [letter] = world.store.objects.values()
    assert decode_dead_letter(letter).body == encode(an_executor_message())


def test_a_target_that_raises_has_had_its_attempt() -> None:
    """A defect of an executor is retried like any failure, and takes no neighbour along."""
    world = after_a_claim()
    answer = world.target.__call__

    def raises(message: ExecutorMessage) -> Result:
        if message.schedule.id == an_id():
            raise ZeroDivisionError("what the target said\n" * 10_000)
        return answer(message)

    neighbour = an_executor_message(NOW + 1)
    put_row(world.ledger, a_claim(NOW + 1))
    execute = evolve(world.execute, target=raises)
    assert execute(delivered(an_executor_message(), neighbour)) == []
    assert (the_row(world).attempt, the_row(world).state) == (2, State.CLAIMED)
    assert [message.schedule.id for _, message in world.target.reached] == [neighbour.schedule.id]
    assert "the target raised" in world.observer.warnings
    assert the_row(world).detail == "the executor failed: ZeroDivisionError", "and nothing of what it said"


def test_a_target_that_returns_no_result_has_had_its_attempt() -> None:
    """An author who forgets `return`: what is not counted would be repeated for ever."""
    world = after_a_claim()
    nothing: Any = lambda message: None  # noqa: E731 - a Target by name only
    assert evolve(world.execute, target=nothing)(delivered(an_executor_message())) == []
    assert (the_row(world).attempt, the_row(world).state) == (2, State.CLAIMED)
    assert the_row(world).detail == "the executor returned no Done, Retry or Refused"


def test_what_cannot_be_attempted_now_comes_again_and_uses_up_nothing() -> None:
    """Also if it has a single attempt. Its neighbour goes on."""
    world = after_a_claim()
    answer = world.target.__call__

    def target(message: ExecutorMessage) -> Result:
        if message.schedule.id == an_id():
            raise NotAttempted("no other stack has registered the type")
        return answer(message)

    neighbour = an_executor_message(NOW + 1)
    put_row(world.ledger, a_claim(NOW + 1))
    before = the_row(world)
    batch = delivered(an_executor_message(retry='{"maxAttempts": 1}'), neighbour)
    assert evolve(world.execute, target=target)(batch) == ["m0"]
    assert world.observer.warnings == ["not attempted: it comes again"], "no defect"
    assert the_row(world) == before
    assert world.execute(batch[:1]) == []
    assert the_row(world).state is State.EXECUTED


def test_after_an_end_the_target_is_not_reached() -> None:
    world = World()
    put_row(world.ledger, a_claim(state=State.EXECUTED))
    assert world.execute(delivered(an_executor_message())) == []
    assert world.target.reached == []


def test_a_message_with_an_overtaken_fencing_token_is_refused() -> None:
    """The row names an attempt: its message has arrived."""
    world = World()
    put_row(world.ledger, a_claim(retry_of="d0"))
    assert world.execute(delivered(an_executor_message(fence="another"))) == []
    assert world.target.reached == []
    assert the_row(world) == a_claim(retry_of="d0")


def test_a_first_attempt_overtaken_by_a_new_claim_is_left_in_the_queue() -> None:
    """A row of an older version does not say that it is contested, and this may be the only copy (ADR 0043)."""
    world = after_a_claim()
    failed = world.execute(delivered(an_executor_message(fence="another")))
    assert failed == [delivered(an_executor_message(fence="another"))[0].message_id]
    assert world.target.reached == []
    assert the_row(world) == a_claim()


def test_without_a_claim_it_is_dead_lettered() -> None:
    world = World()
    assert world.execute(delivered(an_executor_message())) == []
    assert world.target.reached == []
    assert the_row(world).state is State.DEAD_LETTERED
    assert len(world.store.objects) == 1


def test_what_cannot_be_read_is_dead_lettered_and_its_neighbours_go_on() -> None:
    world = after_a_claim()
    bad = [
        ReceivedMessage(message_id="bad", body="{not json"),
        ReceivedMessage(message_id="worse", body=encode(an_executor_message(id="no id"))),
    ]
    assert world.execute([*bad, *delivered(an_executor_message())]) == []
    assert the_row(world).state is State.EXECUTED
    assert sorted(decode_dead_letter(one).body for one in world.store.objects.values()) == sorted(
        one.body for one in bad
    )


def test_the_outcome_is_written_once_for_twins() -> None:
    """A message that SQS hands out twice at a time may reach the target twice, with one idempotency key; it ends
    once."""
    world = after_a_claim()
    world.execute(delivered(an_executor_message(), an_executor_message()))
    assert the_row(world).state is State.EXECUTED
    assert the_row(world).revision == 2


def test_a_twin_that_is_refused_sends_what_the_other_may_have_died_before() -> None:
    """One twin has written the retry and not sent it yet; the other is turned down, and its message is deleted."""
    world = after_a_claim()

    def meanwhile(message: ExecutorMessage) -> Result:
        row = the_row(world)
        assert world.ledger.write([LedgerChange(row=retried(row, "d2", NOW), over=row)]) == [Written()]
        return Refused("no")

    assert evolve(world.execute, target=meanwhile)(delivered(an_executor_message())) == []
    [following] = [decode(one.body, ExecutorMessage) for one in world.http_queue.messages]
    row = the_row(world)
    assert following.attempt == row.attempt == 2
    assert following.fence != "d2", "the other may still send its own: the two must not have one token"
    assert row.arrival is Arrival.CONTESTED
    assert row.state is State.CLAIMED
    assert world.store.objects == {}


def test_a_retry_that_is_sent_once_more_keeps_the_delay_that_the_target_asked_for() -> None:
    """And has a token of its own, so that the target sees one of the two."""
    world = after_a_claim(Retry(detail="HTTP 429", after_seconds=300))
    batch = delivered(an_executor_message())
    world.execute(batch)
    world.clock.move(90 * SECOND)
    assert world.execute(batch) == []
    first, second = world.http_queue.messages
    assert first.visible_at == second.visible_at == NOW + 300 * SECOND
    fences = [decode(one.body, ExecutorMessage).fence for one in (first, second)]
    assert fences[0] != fences[1]
    world.clock.move(300 * SECOND)
    world.target.answers = [Retry(detail="HTTP 503")] * 2
    assert world.execute(world.http_queue.receive()) == []
    assert len(world.target.reached) == 2


def test_a_retry_is_not_lost_though_the_message_with_the_last_token_was_never_sent() -> None:
    """A twin found the row, said that it sends another, and died; the message of both was deleted (ADR 0084)."""
    world = after_a_claim(Retry(detail="HTTP 503"), Done("HTTP 200"))
    assert world.execute(delivered(an_executor_message())) == []
    row = the_row(world)
    assert world.ledger.write([LedgerChange(row=contested(row), over=row)]) == [Written()]
    world.clock.move(MINUTE)
    assert world.execute(world.http_queue.receive()) == []
    assert the_row(world).state is State.EXECUTED


@pytest.mark.parametrize("answer", [Done("HTTP 200"), Retry(detail="HTTP 503"), Refused("HTTP 404")], ids=str)
def test_what_is_contested_while_its_attempt_is_made_gets_its_outcome_all_the_same(answer: Result) -> None:
    """The relay has claimed again meanwhile, and its second hand-over has not arrived."""
    world = after_a_claim()

    def meanwhile(message: ExecutorMessage) -> Result:
        row = the_row(world)
        again = evolve(row, revision=row.revision + 1, fence="d2", arrival=Arrival.CONTESTED)
        assert world.ledger.write([LedgerChange(row=again, over=row)]) == [Written()]
        return answer

    message = an_executor_message()
    assert evolve(world.execute, target=meanwhile)(delivered(message)) == []
    row = the_row(world)
    assert row.state is {Done: State.EXECUTED, Retry: State.CLAIMED, Refused: State.FAILED}[type(answer)]
    if isinstance(answer, Retry):
        assert (row.attempt, row.retry_of, row.arrival) == (2, message.fence, Arrival.UNKNOWN)
        assert world.execute(delivered(evolve(message, fence="d2"))) == [], "the second hand-over is overtaken now"
        assert world.http_queue.sent == 1


# ------------------------------------------------------------ outcomes that cannot be written


def closed(world: World, *methods: str) -> World:
    """The ledger or the store does not answer to these calls of the executor."""
    world.execute = evolve(
        world.execute,
        ledger_in_batches=Closed(world.ledger_in_batches, methods),
        dead_letters=evolve(world.execute.dead_letters, dead_letter_store=Closed(world.store, methods)),  # type: ignore[misc]
    )
    return world


class Closed:
    """A port of which some methods do not answer."""

    def __init__(self, port: Any, methods: Sequence[str]) -> None:
        self.port, self.methods = port, methods

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            return failed(name, arguments) if name in self.methods else getattr(self.port, name)(*arguments)

        return call


@pytest.mark.parametrize(
    ("answer", "method", "state"),
    [
        (Done("HTTP 200"), "write", State.EXECUTED),
        (Refused("HTTP 404"), "write", State.FAILED),
        (Refused("HTTP 404"), "put", State.FAILED),
        (Retry(detail="HTTP 503", after_seconds=7), "write", State.CLAIMED),
    ],
    ids=str,
)
def test_an_attempt_is_not_made_again_because_its_outcome_could_not_be_written(
    answer: Result, method: str, state: State
) -> None:
    """In a day without the ledger it would reach its target a thousand times."""
    world = after_a_claim(answer)
    open_again = world.execute
    closed(world, method)
    waiting = delivered(an_executor_message())
    for _ in range(2):
        world.http_queue.settle(waiting, world.execute(waiting))
        world.clock.move(world.http_queue.visibility)
        waiting = world.http_queue.receive()
        assert waiting
    assert len(world.target.reached) == 1
    world.execute = open_again
    world.http_queue.settle(waiting, world.execute(waiting))
    assert the_row(world).state is state
    assert len(world.target.reached) == 1
    if state is State.CLAIMED:
        [following] = world.http_queue.messages
        assert following.visible_at == world.clock.now() + 7 * SECOND
        assert the_row(world).attempt == 2
    else:
        assert world.http_queue.messages == []


def test_an_outcome_that_comes_after_its_end_changes_nothing() -> None:
    world = World()
    ended = a_claim(state=State.EXECUTED)
    put_row(world.ledger, ended)
    for result in (Done("HTTP 200"), Retry(detail="HTTP 503"), Refused("HTTP 404")):
        made = Made(message=an_executor_message(), result=result, lateness=5)
        assert world.execute([ReceivedMessage(message_id="m", body=encode(carried(made)))]) == []
    assert the_row(world) == ended
    assert world.http_queue.messages == []
    assert world.store.objects == {}


def test_an_outcome_of_which_the_row_has_expired_is_done_with() -> None:
    world = World()
    made = Made(message=an_executor_message(), result=Done("HTTP 200"), lateness=5)
    assert world.execute([ReceivedMessage(message_id="m", body=encode(carried(made)))]) == []
    assert all_rows(world.ledger) == {}


@given(st.sampled_from([Done("ok"), Refused("no"), Retry(detail="later"), Retry(detail="later", after_seconds=0)]))
def test_a_carried_outcome_is_the_same_afterwards(result: Result) -> None:
    made = Made(message=an_executor_message(), result=result, lateness=17)
    assert made_of(decode(encode(carried(made)), OutcomeMessage)) == made


def test_code_that_does_not_know_outcomes_does_not_take_one_for_an_attempt() -> None:
    """After a rollback the older code finds such messages: they wait for the newer one."""
    made = Made(message=an_executor_message(), result=Done("ok"), lateness=17)
    with pytest.raises(UnknownVersion):
        decode(encode(carried(made)), ExecutorMessage)


# ------------------------------------------------------------ what the lifecycle does not allow

OTHER = an_id(NOW - 1)


def with_a_neighbour(*answers: Result) -> tuple[World, list[ReceivedMessage]]:
    """Two claimed schedules; the first gets the first answer."""
    world = after_a_claim(*answers)
    put_row(world.ledger, a_claim(NOW - 1))
    return world, delivered(an_executor_message(), an_executor_message(NOW - 1))


@pytest.mark.parametrize(
    ("event", "answer", "neighbour", "state"),
    [
        (EventType.EXECUTED, Done("ok"), Refused("HTTP 404"), State.FAILED),
        (EventType.FAILED, Refused("HTTP 404"), Done("ok"), State.EXECUTED),
        (EventType.ATTEMPT_FAILED, Retry(detail="HTTP 503"), Done("ok"), State.EXECUTED),
    ],
    ids=str,
)
def test_an_outcome_that_is_refused_waits_and_its_neighbours_go_on(
    event: EventType, answer: Result, neighbour: Result, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempt is not made again: a message that carries its outcome waits for code that can write it."""
    world, batch = with_a_neighbour(answer, neighbour)
    take_out(monkeypatch, event)
    assert world.execute(batch) == []
    [carrier] = world.http_queue.messages
    assert decode(carrier.body, OutcomeMessage).schedule.id == an_id()
    other = world.ledger.read(OTHER)
    assert other
    assert other.state is state
    world.clock.move(MINUTE)
    assert len(world.execute(world.http_queue.receive())) == 1
    assert len(world.target.reached) == 2
    assert the_row(world) == a_claim()


def test_a_stop_that_comes_during_the_hold_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message of a batch reads its row when it is due: not with the batch, when that comes."""
    world, batch = with_a_neighbour(Done("ok"))
    world.clock.move(-SECOND)
    sleep_until = ManualClock.sleep_until

    def stopped_meanwhile(clock: ManualClock, instant: int) -> None:
        row = world.ledger.read(an_id())
        if row and not row.stopped_at:
            assert world.ledger.write([LedgerChange(row=stopped(row, NOW), over=row)]) == [Written()]
        sleep_until(clock, instant)

    monkeypatch.setattr(ManualClock, "sleep_until", stopped_meanwhile)
    assert world.execute(batch) == []
    assert [message.schedule.id for _, message in world.target.reached] == [OTHER]
    assert the_row(world).state is State.DROPPED


def test_a_stop_that_is_refused_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No attempt is made either: its owner asked for none."""
    world, batch = with_a_neighbour(Done("ok"))
    put_row(world.ledger, a_claim(stopped_at=NOW))
    take_out(monkeypatch, EventType.DROPPED)
    assert world.execute(batch) == ["m0"]
    assert [message.schedule.id for _, message in world.target.reached] == [OTHER]
    assert world.store.objects == {}
