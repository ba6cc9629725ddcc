"""What keeps coming back is handled alone; a killer is given up, and nothing else."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define, evolve

from delayer.actions.rules.model import Done
from delayer.dead_letters.model import decode
from delayer.engines.ports import NotBegun, Outgoing, ReceivedMessage, Unavailable
from delayer.execute.rules import Made, carried
from delayer.ledger.model import State
from delayer.recovery import guard
from delayer.recovery.guard import read_of_suspect
from delayer.recovery.repository import StoredTrials
from delayer.recovery.rules import PROOFS, Trial
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.schedule.messages import WARM_UP, encode
from tests.fakes.faults import Crash, Fault, FaultPlan, faulty
from tests.looking import all_rows, put_row, take_row
from tests.samples import NOW, a_claim, a_delayer_message, an_executor_message, an_id
from tests.world import START, SUSPECTS, World


def a_suspect(body: str = "", sent_at: int = START) -> ReceivedMessage:
    body = body or encode(a_delayer_message())
    return ReceivedMessage(message_id="m", body=body, source=SUSPECTS, sent_at=sent_at)


def test_a_suspect_that_is_handled_leaves_nothing_behind() -> None:
    world = World()
    assert world.guarded_relay([a_suspect()]) == []
    assert world.http_queue.sent == 1
    assert all_rows(world.trials) == {}


def test_a_suspect_that_waits_is_no_killer() -> None:
    """A thousand deliveries in an outage, each with its answer given: it fires when the outage is over."""
    world = World()
    healthy = world.relay
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    for _ in range(1_000):
        world.trials.note_pass("relay", world.clock.now())
        assert world.guarded_relay([a_suspect()]) == ["m"]
    world.relay = healthy
    assert world.guarded_relay([a_suspect()]) == []
    assert world.store.objects == {}


def test_what_its_function_dies_of_while_others_pass_is_dead_lettered_and_its_neighbours_fire() -> None:
    """The batch of ten dies with it twice; then each is handled alone."""
    world = World()
    healthy = world.relay

    def dies_of_one(batch: Sequence[ReceivedMessage]) -> list[str]:
        if any(an_id(NOW) in one.body for one in batch):
            raise Crash("out of memory")
        return healthy(batch)

    world.relay = dies_of_one  # type: ignore[assignment] # only called
    for at in range(10):
        world.delayer_queue.send([Outgoing(body=encode(a_delayer_message(NOW + at)))])
        take_row(world.ledger, an_id(NOW + at))
    world.ticking = False
    world.run_until(START + 10 * MINUTE)
    assert world.http_queue.sent == 9
    canary = a_delayer_message(NOW + HOUR)
    for minute in range(10):  # the traffic of others, once a minute
        world.guarded_relay([ReceivedMessage(message_id="c", body=encode(canary), source="delayer")])
        world.run_until(START + (11 + minute) * MINUTE)
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert letter.schedule_id == an_id(NOW)
    assert "died of it 5 times" in letter.reason
    row = world.ledger.read(an_id(NOW))
    assert row
    assert row.state is State.DEAD_LETTERED


def test_when_all_die_nobody_is_given_up() -> None:
    world = World()

    def dies(batch: Sequence[ReceivedMessage]) -> list[str]:
        raise Crash("a bad deploy")

    world.relay = dies  # type: ignore[assignment] # only called
    for _ in range(100):
        with pytest.raises(Crash):
            world.guarded_relay([a_suspect()])
        world.clock.move(MINUTE)
    assert world.store.objects == {}


def test_what_waits_for_three_days_is_dead_lettered() -> None:
    """SQS would delete it after fourteen."""
    world = World()
    newer = a_suspect('{"v": 99}')
    assert world.guarded_relay([newer]) == ["m"]
    world.clock.move(3 * DAY + 1)
    assert world.guarded_relay([newer]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert (letter.body, letter.reason) == ('{"v": 99}', "it could not be handled for three days")


def test_an_action_that_nobody_does_any_more_is_named() -> None:
    """Its executor, or its stack, was taken out."""
    world, schedule = World(), a_delayer_message().schedule
    definition = evolve(schedule.definition, action='{"type":"report-make"}')
    gone = encode(evolve(a_delayer_message(), schedule=evolve(schedule, definition=definition)))
    assert world.guarded_relay([a_suspect(gone)]) == ["m"]
    world.clock.move(3 * DAY + 1)
    assert world.guarded_relay([a_suspect(gone)]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert letter.reason == "it could not be handled for three days; the type of its action is 'report-make'"


def test_after_an_outage_of_four_days_it_is_tried_once_more_before_it_is_given_up() -> None:
    world = World()
    world.clock.move(4 * DAY)
    assert world.guarded_relay([a_suspect()]) == []
    assert world.http_queue.sent == 1
    assert world.store.objects == {}


def test_our_own_exception_is_no_killer() -> None:
    """Whatever the function raises, it is alive; the message waits for a better version of it."""
    world = World()
    healthy = world.relay

    def raises(batch: Sequence[ReceivedMessage]) -> list[str]:
        raise KeyError("a defect")

    world.relay = raises  # type: ignore[assignment] # only called
    for _ in range(100):
        world.clock.move(MINUTE)
        world.trials.note_pass("relay", world.clock.now())
        assert world.guarded_relay([a_suspect()]) == ["m"]
    world.relay = healthy
    assert world.guarded_relay([a_suspect()]) == []
    assert world.store.objects == {}


def test_half_an_outage_makes_no_killer() -> None:
    """The end of a run cannot be noted at once: it is tried again, so that the next run does not count as one more."""
    world = World()
    healthy = world.relay
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    for _ in range(20):
        world.clock.move(MINUTE)
        flaky = Flaky(world.trials, failures=3)
        assert evolve(world.guarded_relay, trials=flaky, handle=world.relay)([a_suspect()]) == ["m"]
        assert all_rows(world.trials) == {}
    world.relay = healthy
    assert world.guarded_relay([a_suspect()]) == []
    assert world.store.objects == {}


def test_a_killer_that_cannot_be_stored_at_once_is_stored_later_with_its_schedule() -> None:
    """An outage of S3 is no reason to take reading it for what kills."""
    world = World()
    world.trials.begin(digest(a_suspect()), Trial(began=START, proofs=PROOFS - 1))
    world.trials.note_pass("relay", START)
    without_store = evolve(world.guarded_relay, dead_letters=NoStore())  # type: ignore[arg-type] # it has what is called
    for _ in range(10):
        world.clock.move(MINUTE)
        assert without_store([a_suspect()]) == ["m"]
    assert world.guarded_relay([a_suspect()]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert letter.schedule_id == an_id()
    assert all_rows(world.trials) == {}


class NoStore:
    """S3 does not answer."""

    def take(self, copy: Any) -> None:
        raise Unavailable("S3 is down")


def digest(suspect: ReceivedMessage) -> str:
    return hashlib.sha256(suspect.body.encode()).hexdigest()[:32]


@define
class Flaky:
    """Control rows of which the first calls that note an end fail."""

    trials: StoredTrials
    failures: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.trials, name)

    def finish(self, suspect: str) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise Unavailable("throttled")
        self.trials.finish(suspect)

    def finish_all(self, messages: Sequence[str]) -> None:
        for message in messages:
            self.finish(message)


def test_an_outcome_that_is_given_up_says_that_the_target_accepted() -> None:
    """A redrive would be a second firing: who reads the dead letter must know."""
    world = World()
    put_row(world.ledger, a_claim())
    made = Made(message=an_executor_message(), result=Done("HTTP 200"), lateness=0)
    world.execute = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    world.clock.move(4 * DAY)
    assert world.guarded_execute([a_suspect(encode(carried(made)))]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert letter.reason.startswith("do not redrive it, the target accepted attempt 1 (HTTP 200): ")
    assert letter.schedule_id == an_id()


def test_what_cannot_be_read_is_stored_unread_and_the_log_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(body: str) -> None:
        raise KeyError("a defect")

    world, suspect = World(), a_suspect(sent_at=START - 4 * DAY)
    monkeypatch.setattr(guard, "message_in", raises)
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    assert world.guarded_relay([suspect]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert (letter.schedule_id, letter.body) == ("", suspect.body)
    assert "a suspect that cannot be read" in world.observer.warnings


def test_if_even_reading_it_kills_it_is_stored_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(body: str) -> None:
        raise Crash("out of memory")

    world, suspect = World(), a_suspect(sent_at=START - 4 * DAY)
    monkeypatch.setattr(guard, "message_in", dies)
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    for _ in range(PROOFS):
        with pytest.raises(Crash):
            world.guarded_relay([suspect])
    assert world.guarded_relay([suspect]) == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert (letter.schedule_id, letter.body) == ("", suspect.body)


def test_a_note_whose_answer_was_lost_is_no_run_that_died_of_reading() -> None:
    """It would be stored unread, and its schedule would have no end (seeds 4375 and 8598)."""
    world = World()
    for _ in range(2 * PROOFS):
        trials = faulty(world.trials, FaultPlan(Fault.AFTER, 1))  # the first call asks, the second one notes
        with pytest.raises(Unavailable):
            read_of_suspect(trials, "suspect", lambda: "read", world.clock, world.observer)
    assert read_of_suspect(world.trials, "suspect", lambda: "read", world.clock, world.observer) == "read"


@pytest.mark.parametrize("at", range(4))
def test_a_fault_of_the_control_rows_makes_it_wait_or_leaves_a_trace_and_loses_nothing(at: int) -> None:
    """What was handled is done, whether its end is noted or not."""
    world = World(spoiled="relay", plan=FaultPlan())
    world.plan.fault, world.plan.at = Fault.BEFORE, at
    failed = world.guarded_relay([a_suspect()])
    world.plan.fault = None
    if failed:
        assert world.guarded_relay([a_suspect()]) == []
    assert world.http_queue.sent == 1
    assert world.store.objects == {}


def test_others_are_noted_once_a_minute() -> None:
    world = World()
    for at in range(120):
        body = encode(a_delayer_message(NOW - at))
        world.guarded_relay([ReceivedMessage(message_id="m", body=body, source="delayer")])
        world.clock.move(1000)
    assert world.trials.passed("relay") == START + 60_000


# ------------------------------------------------------------ what comes back


def sent(world: World, *instants: int) -> None:
    """Messages in the delayer queue, whose schedules have no row in the ledger yet."""
    for at in instants:
        world.delayer_queue.send([Outgoing(body=encode(a_delayer_message(at)))])


def test_what_was_throttled_a_hundred_times_is_handled_with_the_others_and_is_no_suspect() -> None:
    """No function has seen it: nothing is known of it, and nothing is noted when it was handled."""
    world = World()
    sent(world, NOW, NOW + 1)
    for _ in range(100):
        world.delayer_queue.receive()
        world.clock.move(world.delayer_queue.visibility)
    batches: list[int] = []
    healthy = world.relay

    def counted(batch: Sequence[ReceivedMessage]) -> list[str]:
        batches.append(len(batch))
        return healthy(batch)

    world.relay = counted  # type: ignore[assignment] # only called
    assert world.guarded_relay(world.delayer_queue.receive()) == []
    assert (batches, world.http_queue.sent, all_rows(world.trials)) == ([2], 2, {})


def test_what_comes_for_the_first_time_costs_no_note() -> None:
    world = World(spoiled="relay", plan=FaultPlan())
    sent(world, NOW)
    world.guarded_relay(world.delayer_queue.receive())
    assert [one for one in world.plan.seen if one.startswith("StoredTrials")] == ["StoredTrials.write"]
    assert world.trials.passed("relay") == START, "that is what was written"


def test_a_suspect_is_handled_alone_and_those_beside_it_are_received_at_once() -> None:
    world = World()
    sent(world, NOW, NOW + 1, NOW + 2)
    batch = [evolve(one, receives=2) for one in world.delayer_queue.receive()]
    world.trials.begin(digest(batch[1]), Trial(began=START))
    assert world.guarded_relay(batch) == [batch[0].message_id, batch[2].message_id]
    assert world.http_queue.sent == 1
    assert all_rows(world.trials) == {}
    assert world.delayer_queue.visible() == 2


def test_beside_others_a_suspect_is_not_touched() -> None:
    """It would take them along."""
    world = World()
    sent(world, NOW)
    [received] = world.delayer_queue.receive()
    suspect = evolve(received, receives=2)
    world.trials.begin(digest(suspect), Trial(began=START))
    assert not world.guarded_relay.admits(suspect)
    assert world.http_queue.sent == 0
    assert world.delayer_queue.visible() == 0
    world.clock.move(guard.COMES_AGAIN * SECOND)
    assert world.delayer_queue.visible() == 1, "it comes again in a while"
    assert world.guarded_relay([suspect]) == []


def test_what_was_seen_and_left_comes_again_in_half_a_minute() -> None:
    """The visibility timeout is for what Lambda finds no room for."""
    world = World()
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    sent(world, NOW)
    assert world.guarded_relay(world.delayer_queue.receive())
    world.clock.move(29_999)
    assert world.delayer_queue.visible() == 0
    world.clock.move(1)
    assert world.delayer_queue.visible() == 1


def test_what_was_not_begun_comes_again_at_once() -> None:
    """And its neighbours do not: what was done with them may not be known yet."""
    world = World()
    sent(world, NOW, NOW + 1, NOW + 2)
    batch = world.delayer_queue.receive()
    world.relay = lambda batch: [batch[0].message_id, NotBegun(batch[1].message_id)]  # type: ignore[assignment] # only called
    left = world.guarded_relay(batch)
    assert sorted(left) == sorted(one.message_id for one in batch[:2])
    world.delayer_queue.settle(batch, left)
    assert [one.body for one in world.delayer_queue.receive()] == [batch[1].body]
    world.clock.move(29_999)
    assert world.delayer_queue.visible() == 0
    world.clock.move(1)
    assert world.delayer_queue.visible() == 1


def test_what_raises_comes_again_in_half_a_minute_and_leaves_no_note() -> None:
    world = World()

    def raises(batch: Sequence[ReceivedMessage]) -> list[str]:
        raise KeyError("a defect")

    world.relay = raises  # type: ignore[assignment] # only called
    sent(world, NOW)
    for _ in range(5):
        with pytest.raises(KeyError):
            world.guarded_relay(world.delayer_queue.receive())
        world.clock.move(30_000)
        assert world.delayer_queue.visible() == 1
    assert all_rows(world.trials) == {}


@pytest.mark.parametrize("fails", ["any_unfinished", "begin_all"])
def test_what_has_come_back_waits_while_its_run_cannot_be_noted_and_the_others_do_not(fails: str) -> None:
    """The notes cannot be read, or a new one cannot be written: each by itself."""
    world = World()
    sent(world, NOW, NOW + 1)
    again, fresh = world.delayer_queue.receive()
    again = evolve(again, receives=2)
    broken: Any = Failing(world.trials, fails)
    assert evolve(world.guarded_relay, trials=broken)([again, fresh]) == [again.message_id]
    assert world.http_queue.sent == 1


def test_a_killer_keeps_its_proofs_while_the_notes_cannot_be_read() -> None:
    """Handled beside others, as if nothing were noted, it would take them along; and its note would begin anew."""
    world = World()
    sent(world, NOW, NOW + 1)
    killer, other = (evolve(one, receives=5) for one in world.delayer_queue.receive())
    world.trials.begin(guard.key_of(killer), Trial(began=START, proofs=4))
    broken: Any = Failing(world.trials, "any_unfinished")
    left = evolve(world.guarded_relay, trials=broken)([killer, other])
    assert left == [killer.message_id, other.message_id]
    assert world.http_queue.sent == 0
    assert all_rows(world.trials) == {guard.key_of(killer): Trial(began=START, proofs=4)}


@define
class Failing:
    """Control rows of which one operation fails."""

    trials: StoredTrials
    name: str

    def __getattr__(self, name: str) -> Any:
        if name == self.name:
            raise Unavailable("throttled")
        return getattr(self.trials, name)


def test_where_there_are_many_suspects_what_is_new_does_not_wait_for_them_all() -> None:
    """After a bad deploy all that came back is noted. Every other time the others go first, so neither starves."""
    world = World()
    sent(world, *range(NOW, NOW + 9), NOW + 100)
    *suspects, fresh = world.delayer_queue.receive()
    for one in suspects:
        world.trials.begin(guard.key_of(one), Trial(began=START))
    odd = [evolve(one, receives=3) for one in suspects]
    assert set(world.guarded_relay([*odd, fresh])) == {one.message_id for one in odd}
    assert world.http_queue.sent == 1, "the one that nothing is noted of"
    even = [evolve(one, receives=4) for one in suspects]
    assert world.guarded_relay([*even, evolve(fresh, message_id="another")])[0] == even[1].message_id
    assert world.http_queue.sent == 2, "the suspect whose turn it was"
    assert guard.key_of(even[0]) not in all_rows(world.trials)
    left = [evolve(one, receives=5) for one in suspects[1:]]
    assert len(world.guarded_relay(left)) == 7, "if nothing is beside them, it is always one's turn"


def test_a_warm_up_tells_nothing_of_what_a_function_dies_of() -> None:
    """Each minute one passes, and all of them are alike. Nothing is given up, noted or held back by them (ADR 0165)."""
    world = World()

    def dies(batch: Sequence[ReceivedMessage]) -> list[str]:
        raise Crash("of each attempt")

    world.execute = dies  # type: ignore[assignment] # only called
    warm_up = ReceivedMessage(message_id="w", body=WARM_UP, source="executor", receives=7)
    suspect = ReceivedMessage(message_id="m", body=encode(an_executor_message()), source=SUSPECTS, sent_at=START)
    for _ in range(100):
        with pytest.raises(Crash):
            world.guarded_execute([suspect])
        assert world.guarded_execute([warm_up]) == []
        world.clock.move(MINUTE)
    assert world.store.objects == {}
    assert set(all_rows(world.trials)) == {guard.key_of(suspect)}
    assert world.guarded_execute.admits(warm_up)
    assert world.guarded_execute.end([warm_up], [], world.clock.now()) == []
    assert set(all_rows(world.trials)) == {guard.key_of(suspect)}, "nothing is noted of it"
    world.trials.begin(guard.key_of(warm_up), Trial(began=START))  # left by an earlier release
    handled: list[ReceivedMessage] = []
    world.execute = lambda batch: handled.extend(batch) or []  # type: ignore[assignment, func-returns-value]
    other = evolve(suspect, source="executor", body=encode(an_executor_message(NOW + 1)))
    assert world.guarded_execute([warm_up, other]) == []
    assert handled == [other]


def test_what_waits_in_its_queue_for_three_days_is_dead_lettered_too() -> None:
    world = World()
    world.delayer_queue.send([Outgoing(body='{"v": 99}')])
    for days in (0, 1, 3, 4):
        world.clock.move(START + days * DAY - world.clock.now())
        [received] = world.delayer_queue.receive()
        failed = world.guarded_relay([received])
        world.delayer_queue.settle([received], failed)
    assert world.delayer_queue.messages == []
    [letter] = [decode(one) for one in world.store.objects.values()]
    assert letter.reason == "it could not be handled for three days"


def test_what_waits_for_half_an_hour_is_counted_so_that_an_alarm_rings() -> None:
    """SQS leaves it out of the age of the oldest message once it was received three times."""
    world = World()
    world.relay = lambda batch: [one.message_id for one in batch]  # type: ignore[assignment] # only called
    sent(world, NOW)
    for _ in range(61):
        world.guarded_relay(world.delayer_queue.receive())
        assert world.observer.counts["NotHandled"] == 0
        world.clock.move(30_000)
    world.guarded_relay(world.delayer_queue.receive())
    assert world.observer.counts["NotHandled"] == 1


def test_what_is_never_begun_for_half_an_hour_is_counted_too() -> None:
    """It comes again and again at once, and nobody would hear of it."""
    world = World()
    world.relay = lambda batch: [NotBegun(one.message_id) for one in batch]  # type: ignore[assignment] # only called
    sent(world, NOW)
    for _ in range(61):
        world.guarded_relay(world.delayer_queue.receive())
        assert world.observer.counts["NotHandled"] == 0
        world.clock.move(30_000)
    world.guarded_relay(world.delayer_queue.receive())
    assert world.observer.counts["NotHandled"] == 1


def test_what_raises_for_half_an_hour_is_counted_too() -> None:
    """The function is alive, and has nothing else to tell it by."""
    world = World()

    def raises(batch: Sequence[ReceivedMessage]) -> list[str]:
        raise KeyError("a defect")

    world.relay = raises  # type: ignore[assignment] # only called
    sent(world, NOW)
    for _ in range(62):
        assert world.observer.counts["NotHandled"] == 0
        with pytest.raises(KeyError):
            world.guarded_relay(world.delayer_queue.receive())
        world.clock.move(30_000)
    assert world.observer.counts["NotHandled"] == 1
