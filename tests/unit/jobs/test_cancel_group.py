"""Many schedules at a time: listed page by page, and cancelled in the background."""

import json
from contextlib import suppress

import pytest
from attrs import define, evolve, fields

from delayer.accept.rules.listing import admit_listing, cursor_after
from delayer.accept.rules.request import Listing
from delayer.accept.use_cases.cancel import Cancel, CancelAnswer
from delayer.accept.use_cases.list_schedules import Listed, ListSchedules
from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.http.problem import Invalid
from delayer.jobs.rules import JobRow
from delayer.jobs.use_cases import BeginCancelGroup, CancelGroup, outgoing
from delayer.ledger.model import IllegalTransition, State
from delayer.schedule.instants import DAY, MINUTE, SECOND, STALE_AFTER
from delayer.wiring.build import build
from tests.cfn import resources
from tests.fakes.faults import Crash, Fault, FaultPlan, Faulty, faulty
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_rows, empty
from tests.tables import preceded
from tests.unit.accept.use_cases.test_accept import accepted, body
from tests.world import START, World

OWNER = "owner"
QUEUES = resources("AWS::SQS::Queue")
GROUP = "g"


@define(slots=False)
class Stand:
    """A world, and the use cases of groups."""

    world: World
    plan: FaultPlan

    def __attrs_post_init__(self) -> None:
        world, plan = self.world, self.plan
        self.jobs, self.queue = world.jobs, world.group_queue
        self.list = build(ListSchedules, world.ports("list"))
        self.begin = build(BeginCancelGroup, world.ports("begin"))
        self.work = evolve(
            build(CancelGroup, world.ports("work")),
            registry=faulty(world.registry, plan),
            ledger=faulty(world.ledger, plan),
            jobs=faulty(self.jobs, plan),
            cancel=evolve(world.cancel, ledger=faulty(world.ledger, plan)),
            group_queue=faulty(self.queue, plan),
        )

    def members(self, number: int, seconds: int = 3600, group: str = GROUP) -> list[str]:
        """So many, due a second apart."""
        bodies = [body(delaySeconds=seconds + at, group=group) for at in range(number)]
        return [accepted(self.world, one, owner=OWNER).id for one in bodies]

    def run(self) -> JobRow:
        """Until no message is left. The job that was begun last."""
        while True:
            self.world.clock.move(120 * SECOND)
            if not (batch := self.queue.receive()):
                last: JobRow = max(all_rows(self.jobs).values(), key=lambda row: int(row.job_id.removeprefix("n")))
                return last
            try:
                self.queue.settle(batch, self.work(batch))
            except Crash:
                continue

    def work_on_one_page(self) -> None:
        """One delivery, which has time for no more."""
        world = self.world

        class Slow(Cancel):
            def __call__(self, schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
                world.clock.move(1)
                return world.cancel(schedule_id, owner, detail, by)

        slow = Slow(**{one.name: getattr(world.cancel, one.name) for one in fields(Cancel)})
        batch = self.queue.receive(1)
        self.queue.settle(batch, evolve(self.work, cancel=slow, budget=0)(batch))

    def states(self, ids: list[str]) -> list[State]:
        rows = all_rows(self.world.ledger)
        return [rows[one].state for one in ids]


def a_stand(fault: Fault | None = None, at: int = -1) -> Stand:
    return Stand(World(), FaultPlan(fault, at))


def a_listing(**query: str) -> Listing:
    return admit_listing({"group": GROUP, **query})


# ------------------------------------------------------------ listing


@pytest.mark.parametrize(("number", "limit"), [(0, 3), (1, 3), (3, 3), (7, 3), (250, 100), (101, 100)])
def test_all_are_listed_page_by_page_in_due_order(number: int, limit: int) -> None:
    stand = a_stand()
    ids = stand.members(number)
    stand.members(2, group="another")
    listed: list[str] = []
    query = {"limit": str(limit)}
    while True:
        page = stand.list(a_listing(**query), OWNER)
        assert len(page.schedules) <= limit
        listed += [found.schedule_id for found in page.schedules]
        if not page.after:
            break
        query["cursor"] = cursor_after(page.after)
    assert listed == ids


def test_each_has_its_state_of_the_moment() -> None:
    stand = a_stand()
    waiting = stand.members(1)
    soon = stand.members(1, seconds=60)
    stand.world.run_until(START + 2 * MINUTE)
    page = stand.list(a_listing(), OWNER)
    states = [(found.schedule_id, found.state) for found in page.schedules]
    assert states == [(soon[0], State.EXECUTED), (waiting[0], State.SCHEDULED)]
    only = stand.list(a_listing(state="executed"), OWNER)
    assert [found.schedule_id for found in only.schedules] == soon


def test_bounds_are_from_and_before() -> None:
    stand = a_stand()
    ids = stand.members(4)
    page = stand.list(a_listing(**{"from": "2026-11-21T10:00:01Z", "to": "2026-11-21T10:00:03Z"}), OWNER)
    assert [found.schedule_id for found in page.schedules] == ids[1:3]


def test_a_filter_that_nothing_passes_comes_back_with_a_cursor() -> None:
    """A thousand are looked at for one page: the next one goes on from there. It takes two seconds: they are posted."""
    stand = a_stand()
    ids = stand.members(1002)
    page = stand.list(a_listing(state="executed"), OWNER)
    assert (page.schedules, page.after) == ((), ids[999])
    assert stand.list(a_listing(state="executed", cursor=cursor_after(page.after)), OWNER).after == ""


def test_a_list_has_each_member_once_while_others_fire() -> None:
    """Between the pages some fire, and some are added. It takes two seconds: a thousand are posted."""
    stand = a_stand()
    there = stand.members(1_000)
    soon = stand.members(50, seconds=1000)
    listed: list[str] = []
    query = {"limit": "100"}
    while True:
        page = stand.list(a_listing(**query), OWNER)
        listed += [found.schedule_id for found in page.schedules]
        if not page.after:
            break
        query["cursor"] = cursor_after(page.after)
        stand.world.clock.move(20 * SECOND)
        if len(listed) % 200 == 0:
            stand.world.run_until(stand.world.clock.now() + SECOND)
            stand.members(1, seconds=1500)
    assert len(listed) == len(set(listed))
    assert set(there) | set(soon) <= set(listed)


def test_a_page_ends_before_it_is_too_large() -> None:
    """Lambda answers with six MiB at most. One is always shown, however large."""
    stand = a_stand()
    payload = "x" * 250_000
    bodies = [body(delaySeconds=3600 + at, group=GROUP, payload=payload) for at in range(14)]
    ids = [accepted(stand.world, one, owner=OWNER).id for one in bodies]
    listed: list[str] = []
    query = {"limit": "100"}
    sizes = []
    while True:
        page = stand.list(a_listing(**query), OWNER)
        sizes.append(len(page.schedules))
        listed += [found.schedule_id for found in page.schedules]
        if not page.after:
            break
        query["cursor"] = cursor_after(page.after)
    assert listed == ids
    assert sizes == [5, 5, 4]


def test_a_page_ends_when_looking_takes_too_long() -> None:
    """Short of the function's timeout; the next one goes on from there."""
    stand = a_stand()
    ids = stand.members(300)
    slow = preceded(stand.world.ledger, lambda: stand.world.clock.move(3 * SECOND), ["get_many"])
    page = evolve(stand.list, ledger=slow)(a_listing(state="executed"), OWNER)
    assert (page.schedules, page.after) == ((), ids[49])


def test_all_of_an_owner_are_listed_by_the_journal() -> None:
    """Of every group and of none, each with its state of the moment; those that are too old are passed over."""
    stand = a_stand()
    old = stand.members(3, seconds=60)
    stand.world.run_until(START + 2 * MINUTE)
    ids = [*stand.members(2), *stand.members(2, group="another", seconds=4000)]
    ids.append(accepted(stand.world, body(delaySeconds=5000), owner=OWNER).id)
    accepted(stand.world, body(delaySeconds=5000), owner="another")
    everything = admit_listing({"limit": "3"})
    assert stand.list(everything, OWNER).schedules == (), "no event has arrived in the journal yet"
    stand.world.update_journal()
    first = stand.list(everything, OWNER)
    assert [found.state for found in first.schedules] == [State.EXECUTED] * 3
    second = stand.list(admit_listing({"limit": "3", "cursor": cursor_after(first.after)}), OWNER)
    rest = stand.list(admit_listing({"limit": "3", "cursor": cursor_after(second.after)}), OWNER)
    assert [found.schedule_id for found in (*first.schedules, *second.schedules, *rest.schedules)] == [*old, *ids]
    stand.world.clock.move(30 * DAY)
    empty(stand.world.ledger)
    assert stand.list(admit_listing({"from": "2026-11-21T00:00:00Z", "to": "2026-11-21T09:30:00Z"}), OWNER) == Listed(
        schedules=(), after=""
    )


def test_without_a_journal_only_groups_are_listed() -> None:
    stand = a_stand()
    ids = stand.members(1)
    off = evolve(stand.list, listed_journal=None)
    assert [found.schedule_id for found in off(a_listing(), OWNER).schedules] == ids
    with pytest.raises(Invalid) as caught:
        off(admit_listing({}), OWNER)
    assert caught.value.errors[0].field == "group"


def test_another_owner_lists_nothing() -> None:
    stand = a_stand()
    ids = stand.members(3)
    assert stand.list(a_listing(), "another").schedules == ()
    with pytest.raises(Invalid):
        stand.list(a_listing(cursor=cursor_after(ids[0])), "another")


# ------------------------------------------------------------ cancelling


def test_a_group_is_cancelled_and_counted() -> None:
    stand = a_stand()
    ids = stand.members(120)
    others = stand.members(2, group="another")
    job = stand.begin(GROUP, OWNER)
    assert (job.found, job.finished_at) == (0, 0)
    done = stand.run()
    assert (done.found, done.cancelled, done.handed_over, done.ended) == (120, 120, 0, 0)
    assert done.finished_at
    assert stand.states(ids) == [State.CANCELLED] * 120
    assert not any(one in all_rows(stand.world.ledger) for one in others)


def test_members_that_were_handed_over_or_have_ended_are_counted_separately() -> None:
    stand = a_stand()
    [fired] = stand.members(1, seconds=60)
    [taken_back] = stand.members(1)
    stand.members(3)
    stand.work.cancel(taken_back, OWNER)
    stand.world.run_until(START + 2 * MINUTE)
    stand.begin(GROUP, OWNER)
    done = stand.run()
    assert (done.found, done.cancelled, done.handed_over, done.ended) == (5, 3, 1, 1)
    assert all_rows(stand.world.ledger)[fired].state is State.EXECUTED


def test_a_defect_at_one_member_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm of unexpected errors says that it is there."""
    stand = a_stand()
    ids = stand.members(3)
    cancel = Cancel.__call__

    def defective(self: Cancel, schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
        if schedule_id == ids[0]:
            raise IllegalTransition(schedule_id)
        return cancel(self, schedule_id, owner, detail, by)

    monkeypatch.setattr(Cancel, "__call__", defective)
    stand.begin(GROUP, OWNER)
    done = stand.run()
    assert (done.found, done.cancelled, done.handed_over) == (3, 2, 1), "it may still fire"
    assert stand.world.observer.counts["Unexpected"] == 1
    assert stand.states(ids[1:]) == [State.CANCELLED] * 2


def test_what_joins_afterwards_is_left_alone() -> None:
    stand = a_stand()
    stand.members(2)
    stand.begin(GROUP, OWNER)
    stand.world.clock.move(1)
    [late] = stand.members(1, seconds=7200)
    assert stand.run().found == 2
    assert late not in all_rows(stand.world.ledger)


@pytest.mark.parametrize(("late", "found"), [(0, 1), (1, 0), (DAY, 0)])
def test_what_is_too_old_is_not_looked_at(late: int, found: int) -> None:
    """As everywhere: what is as old as it may be is not too old."""
    stand = a_stand()
    stand.members(1, seconds=60)
    stand.world.clock.move(MINUTE + STALE_AFTER + late - 2 * MINUTE)  # which `run` waits for
    stand.begin(GROUP, OWNER)
    assert stand.run().found == found


def test_a_long_job_goes_on_with_the_next_message() -> None:
    stand = a_stand()
    stand.members(120)
    stand.work = evolve(stand.work, budget=-1)
    stand.begin(GROUP, OWNER)
    [message] = stand.queue.messages
    assert stand.work([ReceivedMessage(message_id="m", body=message.body)]) == []
    assert len(stand.queue.messages) == 2, "nothing was done, and the job was sent on"
    stand.work = evolve(stand.work, budget=0)
    assert stand.run().cancelled == 120


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", range(0, 67, 3))
def test_a_crash_anywhere_and_the_counts_are_exact(fault: Fault, at: int) -> None:
    stand = a_stand(fault, at)
    ids = stand.members(60)
    [fired] = stand.members(1, seconds=60)
    stand.world.run_until(START + 2 * MINUTE)
    stand.begin(GROUP, OWNER)
    done = stand.run()
    assert len(stand.plan.seen) > at, "there is no such request"
    assert (done.found, done.cancelled, done.handed_over, done.ended) == (61, 60, 1, 0)
    assert stand.states([*ids, fired]) == [State.CANCELLED] * 60 + [State.EXECUTED]


def test_two_deliveries_of_a_job_count_once() -> None:
    stand = a_stand()
    stand.members(120)
    job = stand.begin(GROUP, OWNER)
    other = evolve(stand.work, budget=0)
    other([ReceivedMessage(message_id="twin", body=outgoing(job, "t").body)])
    stand.queue.send([outgoing(job, "t")])
    done = stand.run()
    assert (done.found, done.cancelled) == (120, 120)


def test_a_job_of_an_unknown_version_waits() -> None:
    stand = a_stand()
    body = json.dumps({"v": 2, "owner": "o", "job": "j"})
    assert stand.work([ReceivedMessage(message_id="m", body=body)]) == ["m"]


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_message_that_is_no_job_is_dropped(text: str) -> None:
    stand = a_stand()
    assert stand.work([ReceivedMessage(message_id="m", body=text)]) == []
    assert stand.world.observer.warnings == ["not a job"]


def test_a_job_that_cannot_be_sent_is_no_promise() -> None:
    stand = a_stand()
    begin = evolve(stand.begin, group_queue=Faulty(stand.queue, FaultPlan(Fault.BEFORE, 0)))
    with pytest.raises(Unavailable):
        begin(GROUP, OWNER)


def test_twenty_calls_cancel_each_member_once() -> None:
    """They are one job, which passes through the group twice: the second time there is nothing to write."""
    stand = a_stand()
    ids = stand.members(60)
    jobs = {stand.begin(GROUP, OWNER).job_id for _ in range(20)}
    assert len(jobs) == 1
    done = stand.run()
    writes = [name for name in stand.plan.seen if name == "StoredLedger.write"]
    assert len(writes) == 60
    assert (done.job_id, done.calls, done.found, done.cancelled) == (jobs.pop(), 20, 60, 60)
    assert stand.states(ids) == [State.CANCELLED] * 60


def test_a_later_call_reaches_what_joined_before_it() -> None:
    """Whenever it comes while the job is under way; what joins after it is left alone."""
    stand = a_stand()
    stand.members(60)
    first = stand.begin(GROUP, OWNER)
    stand.work_on_one_page()
    [more] = stand.members(1, seconds=50)
    second = stand.begin(GROUP, OWNER)
    stand.world.clock.move(1)
    [late] = stand.members(1, seconds=7200)
    assert second.job_id == first.job_id
    done = stand.run()
    assert (done.found, done.cancelled) == (61, 61)
    assert stand.states([more]) == [State.CANCELLED]
    assert late not in all_rows(stand.world.ledger)


def test_a_call_after_the_end_is_a_job_of_its_own() -> None:
    stand = a_stand()
    stand.members(3)
    first = stand.begin(GROUP, OWNER)
    stand.run()
    stand.world.clock.move(SECOND)
    stand.members(2, seconds=9000)
    second = stand.begin(GROUP, OWNER)
    assert second.job_id != first.job_id
    done = stand.run()
    assert (done.found, done.cancelled, done.ended) == (5, 2, 3)
    earlier = stand.jobs.read(OWNER, first.job_id)
    assert earlier
    assert (earlier.found, earlier.cancelled) == (3, 3), "its counts stay"


def test_calls_that_join_all_the_time_do_not_stop_the_job() -> None:
    """No page is done again because of them."""
    stand = a_stand()
    stand.members(120)
    stand.begin(GROUP, OWNER)
    cancel = stand.work.cancel

    class Joining(Cancel):
        def __call__(self, schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
            stand.begin(GROUP, OWNER)
            return cancel(schedule_id, owner, detail, by)

    joining = Joining(**{one.name: getattr(cancel, one.name) for one in fields(Cancel)})
    stand.work = evolve(stand.work, cancel=joining)
    done = stand.run()
    assert (done.calls, done.found, done.cancelled) == (121, 120, 120)
    assert stand.plan.seen.count("StoredLedger.write") == 120


def test_what_has_ended_is_counted_without_a_write() -> None:
    """An old group has many members that were executed long ago."""
    stand = a_stand()
    stand.members(55, seconds=60)
    stand.world.run_until(START + 3 * MINUTE)
    stand.begin(GROUP, OWNER)
    assert stand.run().handed_over == 55
    assert "StoredLedger.write" not in stand.plan.seen


@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER])
@pytest.mark.parametrize("at", range(3))
def test_a_call_whose_predecessor_died_gets_its_job_done(fault: Fault, at: int) -> None:
    """The job may have no message: each call sends its own."""
    stand = a_stand()
    ids = stand.members(3)
    plan = FaultPlan(fault, at)
    dying = evolve(stand.begin, jobs=faulty(stand.jobs, plan), group_queue=faulty(stand.queue, plan))
    with suppress(Crash):
        dying(GROUP, OWNER)
    assert len(plan.seen) == at + 1, "it died there"
    job = stand.begin(GROUP, OWNER)
    done = stand.run()
    assert (done.job_id, bool(done.finished_at)) == (job.job_id, True)
    assert stand.states(ids) == [State.CANCELLED] * 3
    assert sum(not one.finished_at for one in all_rows(stand.jobs).values()) == 0


def test_one_owner_does_not_hold_up_the_others() -> None:
    """A thousand groups of one owner, then one of another: with two at work, it is the second to be received."""
    stand = a_stand()
    for at in range(1000):
        stand.begin(f"g{at}", OWNER)
    accepted(stand.world, body(delaySeconds=3600, group=GROUP), owner="another")
    job = stand.begin(GROUP, "another")
    [first], [second] = stand.queue.receive(1), stand.queue.receive(1)
    assert (OWNER in first.body, "another" in second.body) == (True, True)
    assert stand.queue.receive(1) == [], "of each owner one job is at work"
    stand.queue.settle([second], stand.work([second]))
    done = stand.jobs.read("another", job.job_id)
    assert done
    assert (done.cancelled, bool(done.finished_at)) == (1, True)


def test_a_long_job_does_not_hold_up_the_other_groups_of_its_owner() -> None:
    """It continues behind them."""
    stand = a_stand()
    stand.members(120)
    stand.members(3, group="small")
    stand.begin(GROUP, OWNER)
    small = stand.begin("small", OWNER)
    stand.work = evolve(stand.work, budget=0)

    for _ in range(2):
        stand.work_on_one_page()
    done = stand.jobs.read(OWNER, small.job_id)
    assert done
    assert done.finished_at
    assert stand.run().finished_at


def test_a_job_outlasts_an_outage_of_a_day() -> None:
    """Of the ledger: the message stays in its queue, as the template sets it, and then the job is done."""
    stand = a_stand()
    ids = stand.members(3, seconds=90_000)
    stand.begin(GROUP, OWNER)
    stand.queue.max_receives = QUEUES["GroupQueue"]["RedrivePolicy"]["maxReceiveCount"]
    stand.queue.visibility = QUEUES["GroupQueue"]["VisibilityTimeout"] * SECOND
    stand.queue.dead_letters = dead = MemoryQueue(clock=stand.world.clock)
    healthy = stand.work

    def timeout() -> None:
        raise Unavailable("timeout")

    down = preceded(stand.world.ledger, timeout, ["get_many"])
    while stand.world.clock.now() < START + DAY:
        if batch := stand.queue.receive(1):
            stand.queue.settle(batch, evolve(healthy, ledger=down)(batch))
        stand.world.clock.move(10 * SECOND)
    assert dead.messages == []
    assert stand.run().cancelled == 3
    assert stand.states(ids) == [State.CANCELLED] * 3


def test_an_empty_group_is_done_at_once() -> None:
    stand = a_stand()
    stand.begin(GROUP, OWNER)
    done = stand.run()
    assert (done.found, bool(done.finished_at)) == (0, True)
