"""A target that is down for hours: nobody uses up attempts, and what has waited comes back paced, oldest first."""

import itertools
from collections import Counter
from collections.abc import Callable

import pytest
from attrs import define, evolve, field

from delayer.actions.rules.model import Done, Result, Retry
from delayer.engines.ports import ReceivedMessage
from delayer.execute.rules import Made, carried, made_of
from delayer.flow.rules.block import Block, BlockKind, Party, opened, probing, waiting_for
from delayer.flow.rules.comeback import FASTEST_PACE, FIRST_PACE, IN_A_ROW, STEP, coming_back
from delayer.history.model import of_row
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, OutcomeMessage, decode, encode
from delayer.schedule.schedule import Schedule
from tests.looking import all_rows, put_row
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, an_executor_message, an_id, claimed
from tests.unit.execute.test_execute import delivered as to_executor
from tests.unit.relay.test_relay import delivered as to_relay
from tests.world import START, World

OUTAGE = Retry(detail="HTTP 503", is_outage=True)
PARTY = Party(owner=OWNER, target="http-request target")
PAUSED = opened(PARTY, NOW - 10 * SECOND, "HTTP 503")
BACK = coming_back(probing(evolve(PAUSED, until=NOW - HOUR, since=NOW - 2 * HOUR), "n0", NOW), NOW)


@define(kw_only=True, slots=False)
class Outage(World):
    """Its target answers 503 for a while."""

    until: Millis
    answered: list[tuple[Millis, Schedule]] = field(factory=list, init=False)

    def target_for(self, function: str) -> Callable[[ExecutorMessage], Result]:
        reach = super().target_for(function)

        def answer(message: ExecutorMessage) -> Result:
            reach(message)
            if self.clock.now() < self.until:
                return OUTAGE
            self.answered.append((self.clock.now(), message.schedule))
            return Done("HTTP 200")

        return answer


def after_an_outage(length: Millis, dues: list[Millis], **body: object) -> Outage:
    world = Outage(until=START + length)
    for due in dues:
        world.post(due, **body)  # type: ignore[arg-type]
    world.run_until(START + length + 10 * MINUTE)
    return world


def world_with(*blocks: Block, answers: tuple[Result, ...] = ()) -> World:
    world = World()
    for block in blocks:
        put_row(world.blocks, block)
    world.target.answers = list(answers)
    return world


def circuit(world: World) -> Block:
    blocks: list[Block] = [block for block in all_rows(world.blocks).values() if block.kind is BlockKind.CIRCUIT]
    [block] = blocks
    return block


# ------------------------------------------------------------ hours


def test_three_hours_of_503_fail_nobody_and_all_come_back_paced_and_oldest_first() -> None:
    """Some seconds: eight schedules ask for three hours. Before, the last of them that probed used up its attempts."""
    world = after_an_outage(3 * HOUR, [START + number * 20 * MINUTE for number in range(1, 9)])
    assert {world.row(one).state for one in world.accepted} == {State.EXECUTED}  # type: ignore[union-attr]
    dues = [schedule.point_in_time for _, schedule in world.answered]
    assert sorted(dues[1:]) == dues[1:], "but for the first, which has probed"
    times = [at for at, _ in world.answered]
    assert all(later - earlier >= 900 for earlier, later in itertools.pairwise(times)), "one in a second"
    assert times[-1] - world.until < 5 * MINUTE + 3 * MINUTE, "the longest pause, and the spread"


@pytest.mark.thorough
@pytest.mark.parametrize("together", [False, True])
def test_two_hundred_wait_for_three_hours(together: bool) -> None:
    """Many seconds: each of them asks 40 times. The numbers are in the documentation."""
    space = 0 if together else 53 * SECOND
    world = after_an_outage(3 * HOUR, [START + MINUTE + number * space for number in range(200)])
    assert {world.row(one).state for one in world.accepted} == {State.EXECUTED}  # type: ignore[union-attr]
    times, dues = [at for at, _ in world.answered], [schedule.point_in_time for _, schedule in world.answered]
    places = {due: place for place, due in enumerate(sorted(dues[1:]))}
    assert together or max(abs(places[due] - place) for place, due in enumerate(dues[1:])) <= 8
    in_step = Counter((at - times[0]) // STEP for at in times)
    assert all(number <= 11 * 2**step + 10 for step, number in in_step.items())
    assert times[-1] - times[0] < 3 * MINUTE


def test_what_probes_alone_uses_up_no_attempt() -> None:
    """It fell due when others had opened the circuit: nothing asks the target but its own probes."""
    world = Outage(until=START + 3 * HOUR)
    block = opened(Party(owner="owner", target=PARTY.target), START, "HTTP 503")
    world.blocks.change(block)
    schedule = world.post(START + SECOND, retry={"maxAttempts": 1})
    world.run_until(START + 3 * HOUR + 10 * MINUTE)
    assert schedule
    row = world.row(schedule)
    assert row
    assert row.state is State.EXECUTED
    assert row.attempt == row.probes + 1 == len(world.reached(schedule)) > 30
    events = [of_row(old, new, "") for old, new in world.feed.ledger]
    failed = [event for event in events if event and event.type is EventType.ATTEMPT_FAILED]
    assert [event.attempt for event in failed] == list(range(1, row.probes + 1))
    assert all(event.is_probe for event in failed)


def test_what_has_probed_fails_when_its_age_is_over() -> None:
    world = Outage(until=START + 3 * HOUR)
    world.blocks.change(opened(Party(owner="owner", target=PARTY.target), START, "HTTP 503"))
    schedule = world.post(START + SECOND, retry={"maxAgeSeconds": 600})
    world.run_until(START + HOUR)
    assert schedule
    row = world.row(schedule)
    assert row
    assert row.state is State.FAILED
    assert f"gave up after {row.probes} probes, as maxAgeSeconds (600) ended while it waited" in row.detail
    assert row.at - START <= 11 * MINUTE, "at its end, and not at the next probe"


# ------------------------------------------------------------ a probe


def probed(*answers: Result, row: object = None) -> World:
    world = world_with(PAUSED, answers=answers)
    put_row(world.ledger, row or a_claim())
    assert world.execute(to_executor(an_executor_message())) == []
    return world


def test_a_probe_waits_as_all_others_do_and_its_own_delays_do_not_grow() -> None:
    world = probed(OUTAGE)
    row = world.ledger.read(an_id())
    assert row
    assert (row.attempt, row.probes, row.state) == (2, 1, State.CLAIMED)
    assert row.retry_at >= circuit(world).until
    [again] = world.http_queue.messages
    assert again.visible_at >= circuit(world).until


def test_a_delay_that_the_target_asks_for_counts_if_it_is_longer() -> None:
    world = probed(evolve(OUTAGE, after_seconds=3600))
    row = world.ledger.read(an_id())
    assert row
    assert row.retry_at == NOW + HOUR


@pytest.mark.parametrize("answer", [Retry(detail="no token", reached=False), OUTAGE], ids=["not reached", "no circuit"])
def test_what_reaches_no_target_and_what_is_no_probe_counts(answer: Retry) -> None:
    world = probed(answer) if not answer.reached else world_with(answers=(answer,))
    if answer.reached:
        put_row(world.ledger, a_claim())
        world.execute(to_executor(an_executor_message()))
    row = world.ledger.read(an_id())
    assert row
    assert (row.attempt, row.probes) == (2, 0)


def test_what_is_stopped_while_it_probes_ends() -> None:
    world = probed(OUTAGE)
    row = world.ledger.read(an_id())
    assert row
    put_row(world.ledger, evolve(row, stopped_at=NOW))
    world.clock.move(HOUR)
    assert world.execute(world.http_queue.receive()) == []
    after = world.ledger.read(an_id())
    assert after
    assert after.state is State.DROPPED


def test_the_outcome_of_a_probe_that_is_carried_does_not_count_either() -> None:
    made = Made(message=an_executor_message(), result=OUTAGE, lateness=0, is_probe=True)
    message = decode(encode(carried(made)), OutcomeMessage)
    assert made_of(message).is_probe
    assert "isProbe" not in encode(carried(evolve(made, is_probe=False))), "older code reads what it has always read"
    world = World()
    put_row(world.ledger, a_claim())
    twice = [ReceivedMessage(message_id=name, body=encode(message)) for name in "ab"]
    assert world.execute(twice) == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.attempt, row.probes) == (2, 1)


# ------------------------------------------------------------ the pace


def due_now(world: World, number: int) -> None:
    """So many that are as old as the circuit ask at the same moment."""
    messages = [
        a_delayer_message(NOW - 2 * HOUR, nonce=f"n{at}", randomness=at.to_bytes(8, "big")) for at in range(number)
    ]
    for first in range(0, number, 10):
        assert world.relay(to_relay(*messages[first : first + 10])) == []


def test_those_that_ask_at_the_same_moment_go_on_one_after_the_other() -> None:
    """Those that find the line too long ask again, unclaimed, and with the nonce that they had."""
    world = world_with(BACK)
    due_now(world, 30)
    turns = sorted(slot.at for one in world.delayer_queue.messages for slot in decode(one.body, DelayerMessage).slots)
    held = (world.clock.now() - NOW) // SECOND
    assert 0 < len(turns) + world.http_queue.sent <= 11 + held, "ten seconds ahead of when they were asked"
    assert all(later - earlier == SECOND for earlier, later in itertools.pairwise(turns))
    assert len(world.delayer_queue.messages) + world.http_queue.sent == 30


def attempted(world: World, number: int) -> None:
    for at in range(number):
        message = an_executor_message(NOW - 2 * HOUR, randomness=(at + 1).to_bytes(8, "big"), nonce=f"m{at}")
        put_row(world.ledger, claimed(message.schedule, f"m{at}"))
        assert world.execute(to_executor(message)) == []


def test_an_answer_after_a_step_makes_it_faster_and_the_last_step_closes_the_circuit() -> None:
    world = world_with(evolve(BACK, until=NOW))
    attempted(world, 1)
    assert circuit(world).every == FIRST_PACE // 2
    put_row(world.blocks, evolve(BACK, every=FASTEST_PACE, until=NOW, revision=9))
    world.clock.move(3 * SECOND)
    attempted(world, 1)
    assert all_rows(world.blocks) == {}
    assert world.execute.room.gate.view() == (), "whoever has closed it knows that at once"


def test_failures_make_it_slower_and_open_it_again_and_count() -> None:
    """It was known to answer. So these are attempts like any other: else what always fails would hold up the others."""
    world = world_with(evolve(BACK, until=NOW), answers=(OUTAGE,) * 9)
    attempted(world, 1)
    assert circuit(world).every == 2 * FIRST_PACE
    row = world.ledger.read(an_executor_message(NOW - 2 * HOUR, randomness=(1).to_bytes(8, "big")).schedule.id)
    assert row
    assert (row.attempt, row.probes) == (2, 0)
    attempted(world, IN_A_ROW - 1)
    assert circuit(world).is_comeback, "the step is not over"
    attempted(world, 1)
    assert not circuit(world).is_comeback
    assert circuit(world).pauses == BACK.pauses + 1


def test_a_comeback_that_is_over_keeps_nobody_and_a_circuit_may_open_over_it() -> None:
    world = world_with(evolve(BACK, until=NOW - DAY), answers=(OUTAGE,) * 5)
    due_now(world, 10)
    assert world.http_queue.sent == 10
    attempted(world, 5)
    assert (circuit(world).is_comeback, circuit(world).since) == (False, NOW)


def test_it_says_what_it_waits_for_and_no_time_of_a_probe() -> None:
    waiting = waiting_for([BACK], PARTY, 0, NOW)
    assert waiting
    assert (waiting.kind, waiting.until) == (BlockKind.CIRCUIT, 0)
    assert "comes back, the oldest first" in waiting.reason
