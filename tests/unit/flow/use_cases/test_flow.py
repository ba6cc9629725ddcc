"""What is due waits while its owner or its target is suspended, or the circuit of its target is open."""

import json
from collections.abc import Sequence

import pytest
from attrs import define, evolve, fields, frozen

from delayer.actions.ports import NotAttempted, Target
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.engines.ports import Unavailable
from delayer.execute.execute import Execute, Write
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party, opened, probing
from delayer.flow.rules.comeback import IN_A_ROW
from delayer.flow.use_cases.breaker import MOST_IN_ALL
from delayer.flow.words import suspended
from delayer.ledger.model import Arrival, LedgerRow, State
from delayer.ledger.rules import taken
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage, decode
from tests.fakes.faults import Fault, FaultPlan
from tests.looking import all_rows, empty, put_row
from tests.samples import NOW, OWNER, a_claim, a_delayer_message, an_executor_message, an_id, claimed
from tests.tables import preceded
from tests.unit.execute.test_execute import delivered as to_executor
from tests.unit.flow.use_cases.asked import occupied
from tests.unit.relay.test_relay import delivered as to_relay
from tests.world import World

OUTAGE = Retry(detail="HTTP 503", is_outage=True)
PARTY = Party(owner=OWNER, target="http-request target")
PROBED = probing(opened(PARTY, NOW - 20 * SECOND, "HTTP 503"), "n1", NOW)
OF_OWNER = suspended(Party(owner=OWNER, target=EVERY), NOW, "it floods", "")


@define
class Reads:
    """How many requests read the blocks. While it is down, none is answered."""

    number: int = 0
    is_down: bool = False

    def __call__(self) -> None:
        if self.is_down:
            raise Unavailable("down")
        self.number += 1


def reads_of(world: World, *blocks: Block) -> Reads:
    """With these blocks, each read of which is counted from now on."""
    reads = Reads()
    for block in blocks:
        put_row(world.blocks, block)
    world.blocks = preceded(world.blocks, reads, ["query"])
    return reads


def world_with(*blocks: Block, answers: tuple[Result, ...] = ()) -> World:
    world = World()
    for block in blocks:
        put_row(world.blocks, block)
    world.target.answers = list(answers)
    return world


def circuit(world: World) -> Block:
    [block] = world.blocks.rows(latest=True).blocks
    assert block.kind is BlockKind.CIRCUIT
    return block


# ------------------------------------------------------------ the relay


@pytest.mark.parametrize(
    "party", [Party(owner=OWNER, target=EVERY), Party(owner=EVERY, target=PARTY.target), PARTY], ids=str
)
def test_what_is_suspended_waits_unclaimed_with_the_same_nonce(party: Party) -> None:
    """So it can still be cancelled."""
    world = world_with(suspended(party, NOW, "", ""))
    due = to_relay(a_delayer_message())
    assert world.relay(due) == []
    [again] = world.delayer_queue.messages
    assert decode(again.body, DelayerMessage) == a_delayer_message(hops=1)
    assert all_rows(world.ledger) == {}
    assert world.http_queue.sent == 0


def test_after_its_release_it_fires() -> None:
    world = world_with(OF_OWNER)
    world.relay(to_relay(a_delayer_message()))
    world.clock.move(MINUTE)
    world.blocks.remove(OF_OWNER)
    assert world.relay(to_relay(a_delayer_message(hops=1))) == []
    assert world.http_queue.sent == 1


def test_others_go_on() -> None:
    world = world_with(suspended(Party(owner="another", target=EVERY), NOW, "", ""))
    world.relay(to_relay(a_delayer_message()))
    assert world.http_queue.sent == 1


def test_an_open_circuit_lets_one_probe_through_after_its_pause() -> None:
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    first, second = a_delayer_message(nonce="n1"), a_delayer_message(nonce="n2", randomness=bytes(8))
    assert world.relay(to_relay(first, second)) == []
    assert world.http_queue.sent == 1
    assert circuit(world).probe == "n1"
    assert len(world.delayer_queue.messages) == 1


def test_of_two_relays_one_lets_its_message_through() -> None:
    """Both have read that the pause is over; the row decides."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    one = world.relay
    world.build()
    other = world.relay
    assert other.line.gate.view()
    one.line.gate.view()
    one(to_relay(a_delayer_message(nonce="n1")))
    other(to_relay(a_delayer_message(nonce="n2", randomness=bytes(8))))
    assert world.http_queue.sent == 1
    assert circuit(world).probe == "n1"


def test_a_probe_goes_on_in_an_executor_that_has_not_heard_of_it() -> None:
    """It has read the circuit a second before the relay wrote whose turn it is."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    assert world.execute.room.gate.view()
    world.clock.move(SECOND)
    world.relay(to_relay(a_delayer_message(nonce="n1")))
    assert circuit(world).probe == "n1"
    world.clock.move(SECOND // 2)
    assert world.execute(world.http_queue.receive()) == []
    assert len(world.target.reached) == 1
    assert circuit(world).is_comeback, "it was answered"


def test_what_was_cancelled_while_it_waited_uses_up_no_probe() -> None:
    """Else each of them would keep the others waiting for a minute, though the target is back."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    cancelled, live = a_delayer_message(nonce="n1"), a_delayer_message(nonce="n2", randomness=bytes(8))
    put_row(world.ledger, evolve(claimed(cancelled.schedule, "n1"), state=State.CANCELLED))
    assert world.relay(to_relay(cancelled)) == []
    assert circuit(world).probe == ""
    assert world.relay(to_relay(live)) == []
    assert circuit(world).probe == "n2"
    assert world.http_queue.sent == 1


def test_a_copy_of_what_is_at_its_executor_does_not_give_back_its_probe() -> None:
    """Both have the same nonce. Else another schedule would reach the target at the same time."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    message = a_delayer_message(nonce="n1")
    put_row(world.ledger, evolve(claimed(message.schedule, "n1"), retry_of="d0"))
    assert world.relay(to_relay(message)) == []
    assert circuit(world).probe == "n1"


def test_what_is_dropped_by_its_own_rule_uses_up_no_probe() -> None:
    world = world_with(PROBED)
    dropped = a_delayer_message(NOW - HOUR - SECOND, on_late='{"after":"PT1H","do":"drop"}', nonce="n1")
    assert world.relay(to_relay(dropped)) == []
    assert world.observer.counts["Dropped"] == 1
    assert circuit(world).probe == ""


def test_what_is_stopped_uses_up_no_probe() -> None:
    world = world_with(PROBED)
    put_row(world.ledger, a_claim(stopped_at=NOW))
    assert world.execute(to_executor(an_executor_message())) == []
    assert world.observer.counts["Dropped"] == 1
    assert circuit(world).probe == ""


def test_what_finds_no_room_and_is_too_old_uses_up_no_probe() -> None:
    world = world_with(PROBED)
    put_row(world.ledger, a_claim(age_from=NOW - 2 * DAY))
    with occupied(world.execute.room):
        assert world.execute(to_executor(an_executor_message())) == []
    assert world.observer.counts["Failed"] == 1
    assert {block.probe for block in all_rows(world.blocks).values() if block.kind is BlockKind.CIRCUIT} == {""}


@frozen(kw_only=True)
class Silent(Execute):
    """Its ledger answers no write."""

    def write(self, asked: Sequence[Write]) -> Sequence[LedgerRow | Unavailable | None]:
        return [Unavailable("down") for _ in asked]


@frozen(kw_only=True)
class Overtaken(Execute):
    """Before any write, another message takes the attempt."""

    def write(self, asked: Sequence[Write]) -> Sequence[LedgerRow | Unavailable | None]:
        return [taken(a_claim(arrival=Arrival.CONTESTED), "another") for _ in asked]


def not_now(message: ExecutorMessage) -> Result:
    """Port Target: it cannot reach its target now."""
    raise NotAttempted("what signs it cannot be read")


def not_reached(message: ExecutorMessage) -> Result:
    """Port Target: what never came to its target says nothing about it."""
    return Retry(detail="the executor failed: ValueError", reached=False)


@pytest.mark.parametrize("of_the_copy", [not_now, not_reached])
@pytest.mark.parametrize("named", ["by its relay", "by its executor"])
def test_a_duplicate_of_what_probes_does_not_give_back_its_probe(named: str, of_the_copy: Target) -> None:
    """Both have the same nonce. Else another schedule would reach the target while the first is there.

    Nor does it reach the target itself.
    """
    world = world_with(PROBED if named == "by its relay" else opened(PARTY, NOW - 20 * SECOND, "HTTP 503"))
    put_row(world.ledger, a_claim())
    one = world.execute
    world.build()
    other = evolve(world.execute, target=of_the_copy)
    [first] = to_executor(an_executor_message())
    at_the_target: list[str] = []

    def target(message: ExecutorMessage) -> Result:
        assert other([evolve(first, receipt="of the second delivery")]) == [], "another one waits on"
        at_the_target.append(circuit(world).probe)
        return OUTAGE

    assert evolve(one, target=target)([evolve(first, receipt="of the first delivery")]) == []
    assert at_the_target == ["n1"]
    assert (circuit(world).probe, circuit(world).pauses) == ("", 2), "it has failed"


@pytest.mark.parametrize("named", ["by its relay", "by its executor"])
def test_what_cannot_be_attempted_now_keeps_no_probe(named: str) -> None:
    """It comes again in minutes. Another one probes at once."""
    world = world_with(PROBED if named == "by its relay" else opened(PARTY, NOW - 20 * SECOND, "HTTP 503"))
    put_row(world.ledger, a_claim())
    assert evolve(world.execute, target=not_now)(to_executor(an_executor_message())) == ["m0"]
    assert circuit(world).probe == ""
    assert world.execute(to_executor(an_executor_message())) == []
    assert circuit(world).is_comeback


def test_what_has_no_time_left_keeps_no_probe() -> None:
    world = world_with(PROBED)
    put_row(world.ledger, a_claim(arrival=Arrival.CONTESTED))
    assert evolve(world.execute, has_time=lambda: False)(to_executor(an_executor_message())) == ["m0"]
    assert circuit(world).probe == ""


@pytest.mark.parametrize(("kind", "again"), [(Silent, ["m0"]), (Overtaken, [])])
def test_what_cannot_take_its_attempt_keeps_no_probe(kind: type[Execute], again: list[str]) -> None:
    """It has been named before. Then AWS does not answer, or another message of its schedule was faster."""
    world = world_with(PROBED)
    put_row(world.ledger, a_claim(arrival=Arrival.CONTESTED))
    execute = kind(**{one.name: getattr(world.execute, one.name) for one in fields(Execute)})
    assert execute(to_executor(an_executor_message())) == again
    assert world.target.reached == []
    assert circuit(world).probe == ""


def test_what_finds_no_room_keeps_no_probe_while_it_waits() -> None:
    world = world_with(PROBED)
    put_row(world.ledger, a_claim())
    with occupied(world.execute.room):
        assert world.execute(to_executor(an_executor_message())) == []
    assert world.target.reached == []
    assert {block.probe for block in all_rows(world.blocks).values() if block.kind is BlockKind.CIRCUIT} == {""}


def test_what_a_circuit_keeps_for_too_long_is_handed_over_to_be_given_up() -> None:
    world = world_with(evolve(opened(PARTY, NOW, "HTTP 503"), since=NOW - 2 * DAY))
    late = a_delayer_message(NOW - DAY - 1)
    assert world.relay(to_relay(late)) == []
    assert world.http_queue.sent == 1


def test_what_an_outage_has_made_late_is_not_given_up_when_it_meets_a_circuit() -> None:
    """It has not waited for its target yet. Nor has what was overdue when it was accepted."""
    world = world_with(opened(PARTY, NOW - SECOND, "HTTP 503"))
    world.relay(to_relay(a_delayer_message(NOW - 2 * DAY)))
    assert world.http_queue.sent == 0
    assert len(world.delayer_queue.messages) == 1
    claimed_before = a_claim(NOW - 2 * DAY)
    put_row(world.ledger, claimed_before)
    assert world.execute(to_executor(an_executor_message(NOW - 2 * DAY))) == []
    row = world.ledger.read(claimed_before.schedule_id)
    assert row
    assert row.state is State.CLAIMED
    assert world.target.reached == []


def test_a_suspension_gives_up_nothing() -> None:
    world = world_with(OF_OWNER)
    world.relay(to_relay(a_delayer_message(NOW - 10 * DAY)))
    assert world.http_queue.sent == 0
    assert len(world.delayer_queue.messages) == 1


def test_two_that_are_alike_do_not_become_four() -> None:
    """SQS has delivered one twice, or has not answered a send: one of them goes on."""
    world = world_with(OF_OWNER)
    assert world.relay(to_relay(a_delayer_message(), a_delayer_message())) == []
    assert world.delayer_queue.sent == 1
    world.clock.move(2 * SECOND)
    assert world.relay(to_relay(a_delayer_message())) == [], "one that follows it is in the queue"
    assert world.delayer_queue.sent == 1
    assert world.relay(to_relay(a_delayer_message(hops=1))) == [], "however early it comes: it may be the last one"
    assert world.delayer_queue.sent == 2
    assert world.relay(to_relay(a_delayer_message(hops=1), a_delayer_message())) == []
    assert world.delayer_queue.sent == 2


def test_of_two_the_one_that_was_sent_again_more_often_goes_on() -> None:
    world = world_with(OF_OWNER)
    assert world.relay(to_relay(a_delayer_message(hops=7), a_delayer_message(hops=3))) == []
    [again] = world.delayer_queue.messages
    assert decode(again.body, DelayerMessage).hops == 8


def test_what_is_not_known_to_be_sent_again_comes_back() -> None:
    world = world_with(OF_OWNER)
    world.plan = FaultPlan(Fault.AFTER, 1)  # the read of the blocks, and then the send
    world.spoiled = "relay"
    world.build()
    twice = to_relay(a_delayer_message(), a_delayer_message())
    assert world.relay(twice) == [twice[0].message_id], "one of the two that are alike"
    assert world.relay(to_relay(a_delayer_message())) == []
    assert world.delayer_queue.sent == 2


def test_a_clock_that_was_ahead_loses_nothing() -> None:
    """It is put back by an hour after it has sent one again: that one comes before it is expected, and goes on."""
    world = world_with(OF_OWNER)
    world.clock.move(HOUR)
    world.relay(to_relay(a_delayer_message()))
    world.clock.move(-HOUR)
    assert world.relay(to_relay(a_delayer_message(hops=1))) == []
    assert world.delayer_queue.sent == 2


def test_without_blocks_nothing_is_read_for_a_schedule() -> None:
    """One read in two seconds, however many there are."""
    world = World()
    reads = reads_of(world)
    world.build()
    for number in range(20):
        world.relay(to_relay(a_delayer_message(nonce=f"n{number}", randomness=number.to_bytes(8, "big"))))
    assert reads.number == 1


# ------------------------------------------------------------ the executor


def test_what_was_claimed_before_waits_without_an_attempt() -> None:
    world = world_with(OF_OWNER)
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == []
    assert world.target.reached == []
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.attempt, row.retry_at, row.was_attempted) == (State.CLAIMED, 1, NOW + 5 * SECOND, False)
    [again] = world.http_queue.messages
    assert again.visible_at == row.retry_at


def test_the_longer_it_is_suspended_the_more_rarely_it_asks() -> None:
    """Also what was put off before, whose attempt has another time by now."""
    world = world_with(OF_OWNER)
    world.clock.move(10 * MINUTE)
    put_row(world.ledger, evolve(a_claim(), retry_at=NOW + 9 * MINUTE))
    world.execute(to_executor(an_executor_message()))
    [again] = world.http_queue.messages
    assert 225 * SECOND < again.visible_at - world.clock.now() <= 5 * MINUTE


def test_what_its_relay_let_through_as_a_probe_is_not_put_off() -> None:
    """Though the executor has read the blocks before the relay wrote."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    world.execute.room.gate.view()
    world.relay(to_relay(a_delayer_message(nonce="n1")))
    assert world.execute(world.http_queue.receive(1)) == []
    assert len(world.target.reached) == 1
    assert circuit(world).is_comeback


def test_a_probe_that_comes_late_asks_like_all_others() -> None:
    """Another one may have taken its place by now."""
    late = probing(opened(PARTY, NOW - MINUTE, "HTTP 503"), "n1", NOW - MINUTE)
    world = World()
    put_row(world.blocks, late)
    gate = world.execute.room.gate
    assert gate.closed(a_delayer_message().schedule, "n1") is None
    assert circuit(world).probe_until == NOW + MINUTE


def test_it_fails_when_it_is_too_old_and_says_why() -> None:
    world = world_with(evolve(opened(PARTY, NOW, "no answer from target in time"), since=NOW - 2 * DAY))
    put_row(world.ledger, a_claim(NOW - DAY - 1))
    message = an_executor_message(NOW - DAY - 1)
    assert world.execute(to_executor(message)) == []
    row = world.ledger.read(message.schedule.id)
    assert row
    assert row.state is State.FAILED
    assert "without an attempt" in row.detail
    assert "maxAgeSeconds (86400)" in row.detail
    assert "no answer from target in time" in row.detail
    assert row.lateness == DAY + 1


def fail_in_a_row(world: World, number: int, nonce: str = "n1") -> None:
    for at in range(number):
        message = an_executor_message(randomness=at.to_bytes(8, "big"), nonce=nonce)
        put_row(world.ledger, claimed(message.schedule, nonce))
        assert world.execute(to_executor(message)) == []


def test_five_failures_in_a_row_open_a_circuit() -> None:
    world = world_with(answers=(OUTAGE,) * IN_A_ROW)
    fail_in_a_row(world, IN_A_ROW - 1)
    assert world.blocks.rows(latest=True).blocks == ()
    fail_in_a_row(world, 1)
    block = circuit(world)
    assert (block.party, block.reason, block.until) == (PARTY, "HTTP 503", NOW + 10 * SECOND)
    assert world.observer.counts["CircuitOpened"] == 1


@pytest.mark.parametrize("answer", [Done("HTTP 200"), Refused("HTTP 404"), Retry(detail="HTTP 429")], ids=str)
def test_any_answer_in_between_says_that_the_target_is_there(answer: Result) -> None:
    world = world_with(answers=(*(OUTAGE,) * (IN_A_ROW - 1), answer, *(OUTAGE,) * (IN_A_ROW - 1)))
    fail_in_a_row(world, 2 * IN_A_ROW - 1)
    assert world.blocks.rows(latest=True).blocks == ()


def test_the_owner_of_another_target_is_not_harmed() -> None:
    """Nor the same target for another owner: nobody can shut out others by sending to a dead path of it."""
    world = world_with(answers=(OUTAGE,) * IN_A_ROW)
    fail_in_a_row(world, IN_A_ROW)
    retries = world.http_queue.sent
    elsewhere = a_delayer_message(action=json.dumps({"type": "http-request", "url": "http://other/"}))
    world.relay(to_relay(elsewhere, a_delayer_message(owner="another", nonce="n9", randomness=bytes(range(8)))))
    assert world.http_queue.sent == retries + 2


def probed(answer: Result) -> World:
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"), answers=(answer,))
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == []
    assert len(world.target.reached) == 1
    return world


@pytest.mark.parametrize("answer", [Done("HTTP 200"), Refused("HTTP 404"), Retry(detail="HTTP 429")], ids=str)
def test_a_probe_that_is_answered_begins_a_comeback(answer: Result) -> None:
    """What has waited is let through at a pace: test_comeback.py."""
    assert circuit(probed(answer)).is_comeback


@pytest.mark.parametrize(
    "answer",
    [Refused("its connection was deleted", reached=False), Retry(detail="no token", reached=False)],
    ids=["refused", "retry"],
)
def test_a_probe_that_never_reaches_the_target_only_gives_its_turn_back(answer: Result) -> None:
    """It says nothing about the target: the circuit stays as it was, and another one may probe at once."""
    block = circuit(probed(answer))
    assert (block.until, block.pauses, block.probe, block.probe_until) == (NOW, 1, "", 0)


def test_a_probe_that_the_owner_policy_forbids_does_not_close_the_circuit() -> None:
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    world.execute = evolve(world.execute, permit=lambda _: Refused("forbidden by now", reached=False))
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == []
    assert world.target.reached == []
    assert circuit(world).probe == ""


def test_what_never_reaches_its_target_neither_counts_as_a_failure_nor_as_an_answer() -> None:
    unreached = Retry(detail="no token", reached=False)
    world = world_with(answers=(*(OUTAGE,) * (IN_A_ROW - 1), unreached, OUTAGE))
    fail_in_a_row(world, IN_A_ROW)
    assert world.blocks.rows(latest=True).blocks == ()
    fail_in_a_row(world, 1)
    assert circuit(world).party == PARTY


def test_a_probe_that_fails_opens_it_for_longer() -> None:
    world = probed(OUTAGE)
    block = circuit(world)
    assert (block.until, block.pauses, block.probe) == (NOW + 20 * SECOND, 2, "")


def test_a_circuit_that_was_closed_by_command_meanwhile_stays_closed() -> None:
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"), answers=(OUTAGE,))
    put_row(world.ledger, a_claim())
    reach = world.target.__call__

    def closed_meanwhile(message: object) -> Result:
        empty(world.blocks)
        return reach(message)  # type: ignore[arg-type]

    world.target_for = lambda function: closed_meanwhile  # type: ignore[method-assign]
    world.build()
    world.execute(to_executor(an_executor_message()))
    assert world.blocks.rows(latest=True).blocks == ()


def test_if_the_blocks_cannot_be_read_what_is_due_waits() -> None:
    world = World()
    reads_of(world).is_down = True
    world.build()
    put_row(world.ledger, a_claim())
    assert world.execute(to_executor(an_executor_message())) == ["m0"]
    assert world.relay(to_relay(a_delayer_message(nonce="n2", randomness=bytes(8)))) == ["m0"]
    assert world.target.reached == []


@pytest.mark.parametrize("idle", [29 * SECOND, DAY])
def test_while_the_blocks_cannot_be_read_what_was_suspended_waits_and_nothing_else(idle: Millis) -> None:
    world = World()
    reads = reads_of(world, suspended(Party(owner="another", target=EVERY), NOW, "it floods", ""))
    world.build()
    world.relay(to_relay(a_delayer_message()))
    reads.is_down = True
    world.clock.move(idle)
    other = a_delayer_message(nonce="n3", randomness=bytes(range(8)), owner="another", due=world.clock.now())
    claimed = world.http_queue.sent
    assert world.relay(to_relay(a_delayer_message(nonce="n2", randomness=bytes(8), due=world.clock.now()))) == []
    assert world.relay(to_relay(other)) == []
    assert world.http_queue.sent == claimed + 1


@pytest.mark.parametrize(("owners", "targets"), [(1, 40), (MOST_IN_ALL, 1)])
def test_many_dead_targets_fill_no_table(owners: int, targets: int) -> None:
    """Neither of one owner, nor of all of them."""
    world = World()
    for number in range(max(owners, targets)):
        owner = OWNER if owners == 1 else f"owner {number}"
        world.blocks.change(opened(Party(owner=owner, target=f"http-request {number}.example"), NOW, ""))
    world.target.answers = [OUTAGE] * IN_A_ROW
    fail_in_a_row(world, IN_A_ROW)
    assert len(world.blocks.rows(latest=True).blocks) == max(owners, targets)


def test_a_defect_of_the_executor_says_nothing_about_its_target() -> None:
    """Whoever was to probe has not asked: the circuit stays, and another one may probe at once."""
    world = world_with(opened(PARTY, NOW - 10 * SECOND, "HTTP 503"))
    put_row(world.ledger, a_claim())

    def broken(message: object) -> Result:
        raise ValueError(message)

    world.target_for = lambda function: broken  # type: ignore[method-assign]
    world.build()
    world.execute(to_executor(an_executor_message()))
    assert (circuit(world).probe, circuit(world).pauses) == ("", 1)
