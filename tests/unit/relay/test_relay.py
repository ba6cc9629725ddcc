"""From the delayer queue to the queue of the action, once, at its time."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.dead_letters.model import decode as decode_dead_letter
from delayer.engines.ports import NotBegun, Outgoing, ReceivedMessage
from delayer.flow.room import Answer, Line
from delayer.ledger.model import EventType, State, named
from delayer.relay import rules as relaying
from delayer.schedule.instants import HOUR, MINUTE, SECOND, STALE_AFTER, Millis
from delayer.schedule.messages import MAX_BYTES, DelayerMessage, ExecutorMessage, decode, encode
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_rows, put_row
from tests.samples import NOW, a_claim, a_delayer_message, an_id
from tests.transitions import take_out
from tests.world import LEAD, LEASE, World


def delivered(*messages: DelayerMessage) -> list[ReceivedMessage]:
    return [ReceivedMessage(message_id=f"m{at}", body=encode(message)) for at, message in enumerate(messages)]


def handed_over(queue: MemoryQueue) -> list[ExecutorMessage]:
    return [decode(one.body, ExecutorMessage) for one in queue.messages]


class Watched(MemoryQueue):
    """Remembers when each send took place."""

    times: list[Millis] = []  # noqa: RUF012 - set for each test

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        self.times = [*self.times, self.clock.now()]
        return super().send(messages)


def test_a_due_message_is_claimed_and_handed_over() -> None:
    world = World()
    message = a_delayer_message(NOW - 5)
    assert world.relay(delivered(message)) == []
    [handed] = handed_over(world.http_queue)
    row = world.ledger.read(message.schedule.id)
    assert row
    assert (row.state, row.nonce, row.attempt) == (State.CLAIMED, message.nonce, 1)
    assert (handed.fence, handed.nonce, handed.attempt) == (row.fence, message.nonce, 1)
    assert handed.schedule == message.schedule
    assert row.lease_until == NOW + LEASE


def test_early_ones_are_held_and_handed_over_in_due_order_each_within_its_lead() -> None:
    world = World()
    world.http_queue = Watched(clock=world.clock)
    world.build()
    messages = [a_delayer_message(NOW + offset) for offset in (2_900, 300, 400, 1_000)]
    assert world.relay(delivered(*messages)) == []
    assert [one.schedule.point_in_time - NOW for one in handed_over(world.http_queue)] == [300, 400, 1_000, 2_900]
    assert world.http_queue.times == [NOW + 150, NOW + 750, NOW + 2_650], "the second goes along with the first"
    assert LEAD == 250


def test_a_message_far_too_early_goes_back_as_it_is() -> None:
    """Not a failed attempt, and the same nonce: a longer wait, not a new copy. Only its hops are counted."""
    world = World()
    due = NOW + 10 * MINUTE + 999
    early = delivered(a_delayer_message(due))
    assert world.relay(early) == []
    [again] = world.delayer_queue.messages
    assert again.body == encode(a_delayer_message(due, hops=1))
    assert again.visible_at == NOW + 10 * MINUTE
    assert all_rows(world.ledger) == {}
    assert world.http_queue.sent == 0


def test_a_message_received_again_within_the_lease_comes_back_later() -> None:
    world = World()
    message = delivered(a_delayer_message())
    world.relay(message)
    assert world.relay(message) == ["m0"]
    assert world.http_queue.sent == 1


def test_a_message_received_again_after_the_lease_is_handed_over_again_and_overtakes() -> None:
    """The first may have died before it sent. If it did not, its message finds another fencing token in the row."""
    world = World()
    message = delivered(a_delayer_message())
    world.relay(message)
    world.clock.move(LEASE)
    assert world.relay(message) == []
    first, second = handed_over(world.http_queue)
    row = world.ledger.read(first.schedule.id)
    assert row
    assert row.fence == second.fence != first.fence


def test_a_second_copy_is_dropped() -> None:
    world = World()
    world.relay(delivered(a_delayer_message(nonce="n1")))
    world.clock.move(20 * LEASE)
    assert world.relay(delivered(a_delayer_message(nonce="n2"))) == []
    assert world.http_queue.sent == 1


def test_two_copies_in_one_batch_are_one() -> None:
    world = World()
    batch = delivered(a_delayer_message(nonce="n1"), a_delayer_message(nonce="n2"))
    assert world.relay(batch) == []
    assert world.http_queue.sent == 1


def test_what_has_ended_is_dropped() -> None:
    for state in (State.CANCELLED, State.EXECUTED, State.DEAD_LETTERED):
        world = World()
        put_row(world.ledger, a_claim(state=state))
        assert world.relay(delivered(a_delayer_message())) == []
        assert world.http_queue.sent == 0


def test_a_copy_a_month_late_is_dead_lettered() -> None:
    world = World()
    message = a_delayer_message(NOW - STALE_AFTER - 1)
    assert world.relay(delivered(message)) == []
    assert world.http_queue.sent == 0
    [letter] = world.store.objects.values()
    assert decode_dead_letter(letter).body == encode(message)


def test_what_cannot_be_read_is_dead_lettered_and_its_neighbours_go_on() -> None:
    world = World()
    bodies = ["{not json", encode(a_delayer_message(id="no id")), encode(a_delayer_message())]
    batch = [ReceivedMessage(message_id=f"m{at}", body=body) for at, body in enumerate(bodies)]
    assert world.relay(batch) == []
    assert world.http_queue.sent == 1
    assert sorted(decode_dead_letter(one).body for one in world.store.objects.values()) == sorted(bodies[:2])


def test_an_action_without_an_executor_waits_unclaimed_and_its_neighbours_go_on() -> None:
    """A stack that lost an action, or has it only later: a cancel is still possible, and nobody has to redrive it."""
    world = World()
    message = a_delayer_message(action='{"type": "fax"}')
    assert world.relay(delivered(message, a_delayer_message(NOW - 1))) == ["m0"]
    assert world.ledger.read(message.schedule.id) is None
    assert world.store.objects == {}
    assert [one.schedule.id for one in handed_over(world.http_queue)] == [an_id(NOW - 1)]


def test_what_is_too_large_for_its_queue_is_dead_lettered_unclaimed_and_its_neighbours_go_on() -> None:
    """Its claim would tell a cancel that it will be handed over, and no queue would take it."""
    world = World()
    large = a_delayer_message(NOW, randomness=bytes(8), payload=f'"{"x" * MAX_BYTES}"')
    assert world.relay(delivered(large, a_delayer_message(NOW))) == []
    [handed] = handed_over(world.http_queue)
    assert handed.schedule.id == an_id()
    row = world.ledger.read(large.schedule.id)
    assert row
    assert (row.state, row.fence) == (State.DEAD_LETTERED, "")
    [letter] = [decode_dead_letter(content) for content in world.store.objects.values()]
    assert "too large" in letter.reason
    assert letter.body == encode(large)


def test_an_unknown_version_waits_and_its_neighbours_go_on() -> None:
    """A deploy that is rolled back leaves such messages: the next one reads them."""
    world = World()
    newer = ReceivedMessage(message_id="newer", body='{"v": 99}')
    assert world.relay([newer, *delivered(a_delayer_message())]) == ["newer"]
    assert world.store.objects == {}
    assert world.http_queue.sent == 1


def test_what_our_own_code_fails_at_waits_and_its_neighbours_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad deploy must not make dead letters of everything within seconds."""
    world, decide = World(), relaying.decide

    def fails_at_one(message: DelayerMessage, *arguments: Any) -> Any:
        if message.schedule.id == an_id():
            raise ZeroDivisionError
        return decide(message, *arguments)

    monkeypatch.setattr(relaying, "decide", fails_at_one)
    assert world.relay(delivered(a_delayer_message(), a_delayer_message(NOW - 1))) == ["m0"]
    assert world.store.objects == {}
    assert world.http_queue.sent == 1


def test_neighbours_share_one_request() -> None:
    world = World()
    messages = [a_delayer_message(NOW + at) for at in range(10)]
    assert world.relay(delivered(*messages)) == []
    assert (world.http_queue.sent, world.http_queue.requests) == (10, 1)


class Slow(MemoryQueue):
    """Takes seven seconds to take a message."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        self.clock.sleep_until(self.clock.now() + 7 * SECOND)
        return super().send(messages)


def test_what_there_is_no_time_for_is_given_back_unclaimed() -> None:
    """Killed by its timeout, the function would leave claims behind that nobody handed over."""
    world = World()
    world.http_queue = Slow(clock=world.clock)
    world.build()
    messages = delivered(a_delayer_message(NOW), a_delayer_message(NOW + 2 * SECOND))
    [left] = world.relay(messages)
    assert left == NotBegun("m1")
    assert isinstance(left, NotBegun)
    assert world.http_queue.sent == 1
    assert world.ledger.read(an_id(NOW + 2 * SECOND)) is None


def test_the_claim_tells_how_early_it_was() -> None:
    world = World()
    world.relay(delivered(a_delayer_message(NOW + SECOND)))
    [facts] = [facts for event, _, facts in world.observer.lines if event == "claimed"]
    assert facts == {"early": LEAD}


def late(**changes: Any) -> DelayerMessage:
    """An hour and a second late, with a rule that drops it after an hour."""
    rule = '{"after":"PT1H","do":"drop"}'
    return a_delayer_message(NOW - HOUR - SECOND, **{"on_late": rule, **changes})


def test_what_its_rule_drops_ends_as_dropped() -> None:
    """And its neighbours go on."""
    world = World()
    neighbour = a_delayer_message(NOW - 5)
    assert world.relay(delivered(late(), neighbour)) == []
    row = world.ledger.read(late().schedule.id)
    assert row
    assert (row.state, row.claimed_at, row.detail) == (State.DROPPED, 0, "3601000 ms late; to be dropped after PT1H")
    assert [one.schedule.id for one in handed_over(world.http_queue)] == [neighbour.schedule.id]
    assert world.observer.counts["Dropped"] == 1


def test_a_named_one_is_dropped_over_its_row() -> None:
    world = World()
    put_row(world.ledger, named(late().schedule.id, late().schedule.owner, "n", NOW))
    assert world.relay(delivered(late())) == []
    row = world.ledger.read(late().schedule.id)
    assert row
    assert (row.state, row.name, row.revision) == (State.DROPPED, "n", 2)


def test_what_was_claimed_before_is_not_dropped() -> None:
    """The relay that claimed it may have handed it over: it is claimed again, and goes on."""
    world = World()
    put_row(world.ledger, a_claim(NOW - HOUR - SECOND, now=NOW - HOUR))
    assert world.relay(delivered(late())) == []
    assert [one.schedule.id for one in handed_over(world.http_queue)] == [late().schedule.id]


def test_a_copy_of_what_has_ended_is_not_dropped_again() -> None:
    world = World()
    row = a_claim(NOW - HOUR - SECOND, state=State.EXECUTED)
    put_row(world.ledger, row)
    assert world.relay(delivered(late())) == []
    assert world.ledger.read(late().schedule.id) == row


def test_a_rule_that_cannot_be_read_is_dead_lettered() -> None:
    world = World()
    assert world.relay(delivered(late(on_late="{}"))) == []
    assert len(world.store.objects) == 1


# ------------------------------------------------------------ what is alike, and what waits


def test_of_two_that_are_alike_in_a_batch_one_goes_on() -> None:
    """The one that was sent again more often; the other one is done."""
    world = World()
    assert world.relay(delivered(a_delayer_message(), a_delayer_message(hops=2), a_delayer_message(hops=1))) == []
    assert world.http_queue.sent == 1
    assert world.observer.counts["Claimed"] == 1


def test_what_has_a_successor_asks_for_nothing() -> None:
    """No turn is booked for it, and no probe: the one that follows it is in the queue."""
    world = World()
    early = a_delayer_message(NOW + MINUTE)
    assert world.relay(delivered(early)) == []
    world.clock.move(MINUTE)
    line = asked(world)
    relay = evolve(world.relay, line=line)
    assert relay(delivered(early)) == []
    assert (line.messages, world.http_queue.sent) == ([], 0)
    assert relay(delivered(evolve(early, hops=1))) == []
    assert (line.messages, world.http_queue.sent) == ([evolve(early, hops=1)], 1)


def test_what_the_line_fails_at_waits_and_its_neighbours_go_on() -> None:
    """A defect of ours is no fault of those beside it."""
    world = World()
    relay = evolve(world.relay, line=asked(world, fails_at=an_id()))
    assert relay(delivered(a_delayer_message(), a_delayer_message(NOW - 1), a_delayer_message(NOW - 2))) == ["m0"]
    assert world.http_queue.sent == 2
    assert world.ledger.read(an_id()) is None
    assert [facts for event, name, facts in world.observer.lines if event == "waits"] == [
        {"reason": "ZeroDivisionError()"}
    ]


@define(kw_only=True)
class Asked(Line):
    """Remembers who was asked for, and fails at one."""

    fails_at: str = ""
    messages: list[DelayerMessage] = field(factory=list)

    def line_up(self, messages: Mapping[str, DelayerMessage], ready: Millis) -> dict[str, Answer[DelayerMessage]]:
        if any(one.schedule.id == self.fails_at for one in messages.values()):
            raise ZeroDivisionError
        self.messages.extend(messages.values())
        return Line.line_up(self, messages, ready)


def asked(world: World, fails_at: str = "") -> Asked:
    """In the place of the line of its relay."""
    line = world.relay.line
    return Asked(clock=line.clock, gate=line.gate, turns=line.turns, fails_at=fails_at)


# ------------------------------------------------------------ what the lifecycle does not allow


def test_a_claim_that_is_refused_waits_and_its_neighbours_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of the lifecycle is our own code, too. The neighbour is too early, and sent again."""
    world = World()
    batch = delivered(a_delayer_message(NOW - 3), a_delayer_message(NOW + HOUR))
    take_out(monkeypatch, EventType.CLAIMED)
    assert world.relay(batch) == ["m0"]
    assert world.http_queue.sent == 0
    assert [one.body for one in world.delayer_queue.messages] == [encode(a_delayer_message(NOW + HOUR, hops=1))]
    assert not world.store.objects
    assert not all_rows(world.ledger)


def test_a_second_claim_that_is_refused_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    claim = a_claim(now=NOW - LEASE)
    put_row(world.ledger, claim)
    take_out(monkeypatch, EventType.CLAIMED_AGAIN)
    assert world.relay(delivered(a_delayer_message(), a_delayer_message(NOW - 1))) == ["m0"]
    assert [one.schedule.id for one in handed_over(world.http_queue)] == [an_id(NOW - 1)]
    assert world.ledger.read(an_id()) == claim


def test_a_drop_that_is_refused_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    take_out(monkeypatch, EventType.DROPPED)
    assert world.relay(delivered(late(), a_delayer_message(NOW - 5))) == ["m0"]
    assert [one.schedule.id for one in handed_over(world.http_queue)] == [an_id(NOW - 5)]
    assert world.ledger.read(late().schedule.id) is None
