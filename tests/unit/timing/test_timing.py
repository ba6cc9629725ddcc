"""A schedule without a time: what its client is told, before and after a policy has decided, and what is never lost."""

import json
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.accept.rules.listing import admit_listing
from delayer.accept.rules.status import Expired, Status, TooEarly, TooLate
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.cancel import Cancelled, Stop
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.list_schedules import ListSchedules
from delayer.accept.use_cases.lookup import Lookup
from delayer.accept.use_cases.replace import Replaced
from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.history.model import LifecycleRecord, of_record
from delayer.http.problem import Invalid
from delayer.jobs import use_cases as cancel_group
from delayer.jobs.use_cases import BeginCancelGroup, CancelGroup
from delayer.ledger.model import State
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, is_undecided, key_of
from delayer.schedule.tables import WAITING
from delayer.timing.ask import EnqueueTiming, TimingNet
from delayer.timing.decide import Decide
from delayer.timing.rules import At, Chosen, TimeRefused
from delayer.wiring.build import build
from tests.looking import all_rows, put_row, take_row
from tests.tables import preceded
from tests.world import ACTION, START, World

OWNER = "owner"
WHEN = {"policy": "spread", "seconds": 3600}


@define(slots=False)
class Timing:
    """A stack, and a policy whose answers are those of a script."""

    world: World = field(factory=World)
    chosen: Chosen | Exception = field(default=At(START + HOUR))
    _read: int = 0

    def __attrs_post_init__(self) -> None:
        ports = self.world.ports
        self.lookup = build(Lookup, ports("lookup"))
        self.stop = build(Stop, ports("stop"))
        self.list = build(ListSchedules, ports("list"))
        self.enqueue = build(EnqueueTiming, ports("timing"))
        self.net = build(TimingNet, ports("net"))
        self.decide = build(Decide, ports("decide"), choose=self.choose)

    def choose(self, schedule: Schedule) -> Chosen:
        if isinstance(self.chosen, Exception):
            raise self.chosen
        return self.chosen

    def post(self, **more: Any) -> str:
        body = {"when": WHEN, "action": ACTION, "payload": {"n": 1}, **more}
        answer = self.world.accept(json.dumps(body).encode(), OWNER)
        assert isinstance(answer, Accepted)
        return answer.schedule_id

    def read_stream(self) -> None:
        stream = self.world.feed.records[WAITING]
        new, self._read = stream[self._read :], len(stream)
        assert self.enqueue(new) == []

    def messages(self) -> list[str]:
        return [one.body for one in self.world.policy_queue.messages]

    def ask(self) -> list[str]:
        """All messages that are in the queue, once. They stay in it."""
        batch = [ReceivedMessage(message_id=str(at), body=body) for at, body in enumerate(self.messages())]
        return self.decide(batch)

    def run(self) -> None:
        self.read_stream()
        assert self.ask() == []

    def status(self, schedule_id: str) -> Status:
        found = self.lookup.by_id(schedule_id, OWNER)
        assert isinstance(found, Status), found
        return found

    def state(self, schedule_id: str) -> State:
        return self.status(schedule_id).state

    def tick(self, later: Millis) -> None:
        self.world.clock.sleep_until(self.world.clock.now() + later)
        self.net()


@pytest.fixture
def timing() -> Timing:
    return Timing()


def test_it_waits_and_is_then_the_schedule_with_its_time(timing: Timing) -> None:
    accepted = timing.post()
    assert is_undecided(accepted)
    assert timing.state(accepted) is State.UNDECIDED
    timing.run()
    found = timing.status(accepted)
    assert (found.schedule_id, found.state) == (accepted, State.SCHEDULED)
    assert not is_undecided(found.decided_as)
    assert found.original
    assert found.original.schedule.point_in_time == START + HOUR
    assert found.original.schedule.definition.when == "", "it has its time"
    assert all_rows(timing.world.waiting_records) == {}


def test_it_fires_once_at_its_time(timing: Timing) -> None:
    accepted = timing.post()
    timing.run()
    assert timing.ask() == [], "a message that comes twice"
    timing.world.run_until(START + HOUR + MINUTE)
    [(at, message)] = timing.world.target.reached
    assert at >= START + HOUR
    assert message.schedule.id == timing.status(accepted).decided_as
    assert timing.state(accepted) is State.EXECUTED


def test_a_cancel_before_the_decision(timing: Timing) -> None:
    accepted = timing.post()
    timing.read_stream()
    assert isinstance(timing.world.cancel(accepted, OWNER), Cancelled)
    assert timing.ask() == []
    assert timing.state(accepted) is State.CANCELLED
    assert all_rows(timing.world.table) == {}


def test_a_cancel_after_the_decision_follows_it(timing: Timing) -> None:
    accepted = timing.post()
    timing.run()
    put = timing.status(accepted).decided_as
    answer = timing.world.cancel(accepted, OWNER)
    assert isinstance(answer, Cancelled)
    assert answer.row.schedule_id == put
    assert timing.state(accepted) is State.CANCELLED
    timing.world.run_until(START + 2 * HOUR)
    assert timing.world.target.reached == []


def test_a_cancel_after_the_claim_says_so(timing: Timing) -> None:
    accepted = timing.post()
    timing.run()
    timing.world.run_until(START + 2 * HOUR)
    answer = timing.world.cancel(accepted, OWNER)
    assert isinstance(answer, TooLate)
    assert answer.row.state is State.EXECUTED


def test_a_late_repeat_of_its_put_brings_nothing_back(timing: Timing) -> None:
    accepted = timing.post()
    record = timing.world.records.read(key_of(accepted))
    assert record
    for over in (lambda: timing.world.cancel(accepted, OWNER), timing.run):
        over()
        timing.world.records.put(record)
        timing.run()
        assert all_rows(timing.world.waiting_records) == {}
    assert all_rows(timing.world.table) == {}


def test_another_time_takes_the_place_of_the_policy(timing: Timing) -> None:
    accepted = timing.post(window={"seconds": 60})
    answer = timing.world.replace.by_id(accepted, OWNER, point_in_time=START + DAY, payload=None)
    assert isinstance(answer, Replaced)
    assert not is_undecided(answer.schedule.id)
    assert START + DAY <= answer.schedule.point_in_time < START + DAY + MINUTE
    assert timing.state(accepted) is State.REPLACED
    timing.run()
    assert list(all_rows(timing.world.table)) == [key_of(answer.schedule.id)]


def test_another_payload_waits_for_its_time_as_before(timing: Timing) -> None:
    accepted = timing.post()
    answer = timing.world.replace.by_id(accepted, OWNER, point_in_time=None, payload='{"n":2}')
    assert isinstance(answer, Replaced)
    assert is_undecided(answer.schedule.id)
    timing.run()
    assert timing.state(accepted) is State.REPLACED
    found = timing.status(answer.schedule.id)
    assert found.original
    assert (found.state, found.original.schedule.definition.payload) == (State.SCHEDULED, '{"n":2}')


def test_a_change_after_the_decision_follows_it(timing: Timing) -> None:
    """Two days take some seconds: each minute of them is played."""
    accepted = timing.post()
    timing.run()
    put = timing.status(accepted).decided_as
    answer = timing.world.replace.by_id(accepted, OWNER, point_in_time=START + DAY, payload=None)
    assert isinstance(answer, Replaced)
    assert answer.previous == put
    assert timing.state(accepted) is State.REPLACED
    timing.world.run_until(START + 2 * DAY)
    assert [message.schedule.id for _, message in timing.world.target.reached] == [answer.schedule.id]


def test_its_name_goes_with_it(timing: Timing) -> None:
    accepted = timing.post(name="n")
    by_name = timing.lookup.by_name("n", OWNER)
    assert isinstance(by_name, Status)
    assert (by_name.schedule_id, by_name.state) == (accepted, State.UNDECIDED)
    timing.run()
    by_name = timing.lookup.by_name("n", OWNER)
    assert isinstance(by_name, Status)
    assert by_name.schedule_id == timing.status(accepted).decided_as
    assert isinstance(timing.world.cancel.by_name("n", OWNER), Cancelled)
    assert timing.state(accepted) is State.CANCELLED


def test_a_refusal_ends_it_for_good(timing: Timing) -> None:
    """With the reason; its name is free, and it can be neither changed nor cancelled."""
    timing.chosen = TimeRefused("there is no business hour")
    accepted = timing.post(name="n")
    timing.run()
    found = timing.status(accepted)
    assert found.row
    assert (found.state, found.row.detail) == (State.FAILED, "there is no business hour")
    assert all_rows(timing.world.waiting_records) == {}
    assert isinstance(timing.world.cancel(accepted, OWNER), TooLate)
    assert isinstance(timing.world.replace.by_id(accepted, OWNER, point_in_time=START + DAY, payload="1"), TooLate)
    assert timing.post(name="n") != accepted


def test_a_time_beyond_what_an_id_holds_is_refused(timing: Timing) -> None:
    timing.chosen = At(START + 4000 * DAY)
    accepted = timing.post()
    timing.run()
    assert timing.state(accepted) is State.FAILED


def test_nothing_is_lost_if_the_function_is_broken_for_a_day(timing: Timing) -> None:
    """The day takes some seconds: each minute of it is played."""
    timing.chosen = RuntimeError("a defect")
    accepted = timing.post()
    timing.read_stream()
    assert timing.ask() == ["0"]
    assert timing.world.observer.counts["NotDecided"] == 1
    for _ in range(24):
        timing.tick(HOUR)
        assert timing.ask()
    assert timing.state(accepted) is State.UNDECIDED
    timing.chosen = At(START + HOUR)
    timing.ask()
    timing.world.run_until(timing.world.clock.now() + MINUTE)
    assert timing.state(accepted) is State.EXECUTED
    assert len(timing.world.target.reached) == 1, "late, and once"


def test_the_net_finds_what_no_event_has_reported(timing: Timing) -> None:
    accepted = timing.post()
    for _ in range(4):
        timing.tick(MINUTE)
    assert len(timing.messages()) == 1
    timing.ask()
    assert timing.state(accepted) is State.SCHEDULED
    timing.tick(MINUTE)


def test_the_net_finds_all_that_was_accepted_in_one_minute(timing: Timing) -> None:
    """However many they are: what was first is no reason to leave out the last, each time again.

    It takes seconds: there are 5,000.
    """
    record = timing.world.records.read(key_of(timing.post()))
    assert record
    ids = build(Ids, timing.world.ports("ids"))
    for _ in range(5_000):
        timing.world.records.put(ids.issue_for(0, record.definition, OWNER, kind=IdKind.UNDECIDED))
    timing.tick(3 * MINUTE)
    assert len(timing.messages()) == 5_001


def test_what_waits_for_a_policy_that_is_gone_waits(timing: Timing) -> None:
    accepted = timing.post(when={"policy": "next-business-hour"})  # the world has no queue of it
    timing.read_stream()
    assert timing.messages() == []
    assert timing.state(accepted) is State.UNDECIDED


def test_no_margin_is_counted_from_its_id(timing: Timing) -> None:
    """Years later it can still be cancelled; and once nothing is known of it any more, nobody is told a story."""
    old, gone = timing.post(), timing.post()
    timing.world.records.delete([key_of(gone)])  # as if its ledger row had expired, long after it fired
    timing.world.clock.sleep_until(START + 500 * DAY)
    assert timing.state(old) is State.UNDECIDED
    assert isinstance(timing.stop(old, OWNER), TooEarly)
    assert isinstance(timing.world.cancel(old, OWNER), Cancelled)
    assert isinstance(timing.world.cancel(gone, OWNER), Expired)
    assert isinstance(timing.lookup.by_id(gone, OWNER), Expired)
    assert isinstance(timing.world.replace.by_id(gone, OWNER, point_in_time=START, payload=None), Expired)
    assert isinstance(timing.stop(gone, OWNER), Expired), (
        "it may have fired: to say that it is too early would be untrue"
    )


def test_a_stop_follows(timing: Timing) -> None:
    accepted = timing.post()
    assert isinstance(timing.stop(accepted, OWNER), TooEarly)
    timing.run()
    assert isinstance(timing.stop(accepted, OWNER), TooEarly)


def test_its_history_goes_on_with_the_schedule_that_has_its_time(timing: Timing) -> None:
    accepted = timing.post()
    timing.run()
    row = timing.world.ledger.read(accepted)
    assert row
    assert (row.state, row.detail, row.decided_as) == (
        State.DECIDED,
        "by spread",
        timing.status(accepted).decided_as,
    )


@pytest.mark.parametrize("asked", [{"pointInTime": "2026-11-21T10:00:00Z"}, {"delaySeconds": 3600}])
def test_a_window_opens_at_its_time_and_ends_in_time(timing: Timing, asked: dict[str, Any]) -> None:
    body = {**asked, "window": {"seconds": 900}, "action": ACTION}
    answer = timing.world.accept(json.dumps(body).encode(), OWNER)
    assert isinstance(answer, Accepted)
    assert START + HOUR < answer.point_in_time < START + HOUR + 900 * SECOND
    stored = timing.world.stored(answer.schedule_id)
    assert json.loads(stored.definition.window) == {"seconds": 900, "from": "2026-11-21T10:00:00.000Z"}
    changed = timing.world.replace.by_id(answer.schedule_id, OWNER, point_in_time=None, payload="1")
    assert isinstance(changed, Replaced)
    assert changed.schedule.point_in_time == answer.point_in_time, "its time is not moved again"


def test_a_window_is_behind_the_decided_time(timing: Timing) -> None:
    accepted = timing.post(window={"seconds": 900})
    timing.run()
    found = timing.status(accepted).original
    assert found
    assert START + HOUR < found.schedule.point_in_time < START + HOUR + 900 * SECOND


def test_the_cancel_of_a_group_follows_a_decision_that_comes_in_between(timing: Timing) -> None:
    """It has read the last page of the group; then the decision puts another member behind it.

    It takes a second: its hours are played.
    """
    accepted = timing.post(group="g")
    timing.read_stream()
    world = timing.world
    job = build(BeginCancelGroup, world.ports("begin"))("g", OWNER, OWNER)

    def decided() -> None:
        assert timing.ask() == []

    ledger = preceded(world.ledger, decided, ["get_many"])
    work = evolve(build(CancelGroup, world.ports("work")), ledger=ledger)
    batch = world.group_queue.receive()
    world.group_queue.settle(batch, work(batch))
    assert timing.state(accepted) is State.CANCELLED
    done = world.jobs.read(OWNER, job.job_id)
    assert done
    assert (done.cancelled, done.handed_over) == (1, 0)
    world.run_until(START + 2 * HOUR)
    assert world.target.reached == []


def test_what_was_removed_by_hand_is_stored_again(timing: Timing) -> None:
    accepted, named = timing.post(), timing.post(name="mine")
    timing.read_stream()
    timing.world.waiting_records.delete([key_of(accepted), key_of(named)])
    timing.read_stream()
    assert set(all_rows(timing.world.waiting_records)) == {key_of(accepted), key_of(named)}
    timing.run()
    assert [timing.state(one) for one in (accepted, named)] == [State.SCHEDULED, State.SCHEDULED]


def test_what_has_ended_is_not_stored_again(timing: Timing) -> None:
    decided, cancelled = timing.post(), timing.post()
    timing.read_stream()
    assert isinstance(timing.world.cancel(cancelled, OWNER), Cancelled)
    assert timing.ask() == []
    timing.read_stream()
    assert all_rows(timing.world.waiting_records) == {}
    assert timing.status(decided).decided_as


def test_a_removal_is_looked_at_again_if_the_ledger_does_not_answer(timing: Timing) -> None:
    def mute() -> None:
        raise Unavailable("it does not answer")

    accepted = timing.post()
    timing.read_stream()
    timing.world.waiting_records.delete([key_of(accepted)])
    [removed] = timing.world.feed.records[WAITING][-1:]
    silent = preceded(timing.world.ledger, mute, ["get_many"])
    assert evolve(timing.enqueue, ledger=silent)([removed]) == [removed.sequence]
    assert timing.enqueue([removed, removed]) == [], "it may come twice"
    assert timing.state(accepted) is State.UNDECIDED


@pytest.mark.parametrize("name", [{}, {"name": "mine"}], ids=["", "named"])
@pytest.mark.parametrize("end", [State.CANCELLED, State.FAILED])
def test_an_end_is_known_as_long_as_its_record_may_wait(timing: Timing, end: State, name: dict[str, str]) -> None:
    """Its record could not be deleted, and its policy is gone for months: then it comes back."""
    accepted = timing.post(**name)
    timing.read_stream()
    record = all_rows(timing.world.waiting_records)[key_of(accepted)]
    if end is State.CANCELLED:
        assert isinstance(timing.world.cancel(accepted, OWNER), Cancelled)
    else:
        timing.chosen = TimeRefused("never")
        assert timing.ask() == []
    put_row(timing.world.waiting_records, record)
    timing.world.clock.sleep_until(START + 399 * DAY)
    ledger, now = timing.world.ledger, timing.world.clock.now()
    for one, row in all_rows(ledger).items():
        if row.expires_at <= now:
            take_row(ledger, one)
    timing.chosen = At(now)
    assert timing.ask() == []
    assert timing.state(accepted) is end
    assert all_rows(timing.world.waiting_records) == {}


def test_a_decided_row_is_kept_no_longer_than_the_schedule_that_has_the_time(timing: Timing) -> None:
    accepted = timing.post()
    timing.run()
    assert all_rows(timing.world.ledger)[accepted].expires_at == START + HOUR + 30 * DAY


def test_what_can_be_seen_from_the_fields_alone_is_not_accepted(timing: Timing) -> None:
    with pytest.raises(Invalid) as refused:
        timing.post(when={"policy": "next-business-hour", "timeZone": "Europe/Atlantis", "holidays": ["2026-02-30"]})
    assert {one.field for one in refused.value.errors} == {"when.timeZone", "when.holidays.0"}


def test_a_list_has_it_once(timing: Timing) -> None:
    """Of all that its owner has; the state can be asked for."""
    accepted, waits = timing.post(), timing.post()
    timing.read_stream()
    message = timing.messages()[0]
    assert timing.decide([ReceivedMessage(message_id="1", body=message)]) == []
    changes = timing.world.feed.records[WAITING]
    events = [of_record(one.kind, one.row, one.sequence, START) for one in changes if isinstance(one.row, Schedule)]
    assert timing.world.announce([LifecycleRecord(sequence="1", event=one) for one in events]) == []
    timing.world.update_journal()
    put = timing.status(accepted).decided_as

    def listed(query: dict[str, str]) -> set[tuple[str, State]]:
        return {(one.schedule_id, one.state) for one in timing.list(admit_listing(query), OWNER).schedules}

    assert listed({}) == {(waits, State.UNDECIDED), (put, State.SCHEDULED)}
    assert listed({"state": "decided"}) == {(accepted, State.DECIDED)}


def test_a_time_before_its_acceptance_is_that_of_its_acceptance(timing: Timing) -> None:
    """It is not decades late, and no rule for lateness ends it."""
    accepted = timing.post(onLate={"after": "PT1H", "do": "drop"})
    timing.chosen = At(START - 3_000 * DAY)
    timing.run()
    found = timing.status(accepted).original
    assert found
    assert found.schedule.point_in_time == START


def test_the_cancel_of_a_group_has_what_is_decided_after_the_call(timing: Timing) -> None:
    """Its job begins late, since another job of its owner runs before it."""
    accepted = timing.post(group="g")
    timing.read_stream()
    world = timing.world
    build(BeginCancelGroup, world.ports("begin"))("g", OWNER, OWNER)
    world.clock.sleep_until(START + MINUTE)
    assert timing.ask() == []
    batch = world.group_queue.receive()
    world.group_queue.settle(batch, build(CancelGroup, world.ports("work"))(batch))
    assert timing.state(accepted) is State.CANCELLED


def test_the_cancel_of_a_group_counts_once_what_is_decided_in_between(
    timing: Timing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page has what was accepted, and a page to come has the schedule with the time."""
    monkeypatch.setattr(cancel_group, "AT_A_TIME", 1)
    accepted, other = timing.post(group="g"), timing.post(group="g")
    timing.read_stream()
    world = timing.world
    job = build(BeginCancelGroup, world.ports("begin"))("g", OWNER, OWNER)

    def decided() -> None:
        assert timing.ask() == []

    ledger = preceded(world.ledger, decided, ["get_many"])
    work = evolve(build(CancelGroup, world.ports("work")), ledger=ledger)
    batch = world.group_queue.receive()
    world.group_queue.settle(batch, work(batch))
    assert [timing.state(one) for one in (accepted, other)] == [State.CANCELLED, State.CANCELLED]
    done = world.jobs.read(OWNER, job.job_id)
    assert done
    assert (done.finished_at > 0, done.found, done.cancelled) == (True, 2, 2)
