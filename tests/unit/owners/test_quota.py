"""Quotas: so many in a minute, so many live, and each owner for itself."""

import json

import pytest
from attrs import evolve

from delayer.accept.rules.status import NameTaken
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.replace import Replace, Replaced
from delayer.actions.rules.model import Refused
from delayer.engines.ports import Unavailable
from delayer.http.problem import Invalid
from delayer.owners.quota import OWNERS, Buckets, Quota
from delayer.owners.rules import BURST_SECONDS, OverQuota, Quotas
from delayer.schedule.instants import ATTEMPT_OVER, DAY, HOUR, MINUTE, SECOND, Millis
from tests.fakes.faults import FaultPlan, faulty
from tests.looking import all_rows
from tests.unit.accept.use_cases.test_accept import body
from tests.unit.accept.use_cases.test_cancel import a_cancel
from tests.unit.accept.use_cases.test_replace import a_request
from tests.world import ACTION, START, World


def a_replace(world: World) -> Replace:
    return world.replace


def refused(world: World, owner: str = "owner") -> OverQuota:
    with pytest.raises(OverQuota) as caught:
        world.accept(body(), owner)
    return caught.value


def test_an_owner_creates_no_more_in_a_minute_than_the_limit() -> None:
    world = World(limits=Quotas(creates_per_minute=3))
    world.clock.move(20 * SECOND)
    for _ in range(3):
        assert isinstance(world.accept(body(), "owner"), Accepted)
    error = refused(world)
    assert str(error) == "At most 3 schedules may be created in a minute."
    assert error.retry_after == 40 * SECOND
    assert len(all_rows(world.table)) == 3
    assert isinstance(world.accept(body(), "another"), Accepted), "each owner for itself"
    world.clock.move(error.retry_after)
    assert isinstance(world.accept(body(), "owner"), Accepted)


def test_what_is_refused_anyway_is_not_counted() -> None:
    world = World(limits=Quotas(creates_per_minute=1))
    with pytest.raises(Invalid):
        world.accept(b"{}", "owner")
    assert isinstance(world.accept(body(), "owner"), Accepted)


def test_a_repeated_call_with_its_key_is_answered_though_the_quota_is_used_up() -> None:
    world = World(limits=Quotas(creates_per_minute=1, live=1))
    first = world.accept(body(), "owner", "key")
    world.update_journal()
    assert world.accept(body(), "owner", "key") == first


def test_an_owner_has_no_more_live_schedules_than_the_limit() -> None:
    """Until one has ended, in whatever way."""
    world = World(limits=Quotas(live=2))
    first = world.post(START + HOUR)
    second = world.post(START + MINUTE)
    assert first
    assert second
    world.update_journal()
    error = refused(world)
    assert "At most 2 schedules may be live" in str(error)
    assert error.retry_after == MINUTE
    a_cancel(world)(first.id, "owner")
    world.update_journal()
    assert world.live_count.live("owner", START) == 1
    world.post(START + 2 * HOUR)
    world.run_until(START + 2 * MINUTE)
    world.update_journal()
    assert world.live_count.live("owner", START) == 1
    assert isinstance(world.accept(body(), "owner"), Accepted)


def test_a_replacement_needs_no_room() -> None:
    """It takes another's; a new name needs some."""
    world = World(limits=Quotas(live=1))
    replace = a_replace(world)
    first = replace.by_name(a_request(START + HOUR), "owner", "one")
    world.update_journal()
    assert isinstance(first, Replaced)
    second = replace.by_name(a_request(START + 2 * HOUR), "owner", "one")
    assert isinstance(second, Replaced)
    assert second.previous == first.schedule.id
    world.update_journal()
    assert world.live_count.live("owner", START) == 1
    third = replace.by_id(second.schedule.id, "owner", point_in_time=START + DAY, payload=None)
    assert isinstance(third, Replaced)
    with pytest.raises(OverQuota):
        replace.by_name(a_request(), "owner", "two")
    assert world.registry.named("owner", "two") is None


def test_a_replacement_counts_as_a_creation() -> None:
    world = World(limits=Quotas(creates_per_minute=2))
    replace = a_replace(world)
    first = replace.by_name(a_request(), "owner", "one")
    assert isinstance(first, Replaced)
    assert isinstance(replace.by_id(first.schedule.id, "owner", point_in_time=None, payload="2"), Replaced)
    with pytest.raises(OverQuota):
        replace.by_name(a_request(), "owner", "one")
    holder = world.registry.named("owner", "one")
    assert holder
    assert holder.schedule_id != first.schedule.id


def test_a_taken_name_is_said_to_be_taken() -> None:
    world = World(limits=Quotas(live=5, creates_per_minute=5))
    given = json.dumps({"delaySeconds": 90, "action": ACTION, "name": "one"}).encode()
    assert isinstance(world.accept(given, "owner"), Accepted)
    assert isinstance(world.accept(given, "owner"), NameTaken)


class Never:
    """Ports that nobody may ask."""

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        raise AssertionError

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        raise AssertionError

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        raise AssertionError

    def live(self, owner: str, now: Millis) -> int:
        raise AssertionError


def a_quota(world: World, limits: Quotas, rate_limit: Never, live_count: Never) -> Quota:
    quota = world.accept.quota
    spending = evolve(quota.spending, quotas=limits, rate_limit=rate_limit)
    return evolve(quota, spending=spending, fail_fast_live_count=live_count)


def test_without_limits_nothing_is_counted_and_nothing_is_read() -> None:
    world = World()
    quota = a_quota(world, Quotas(), Never(), Never())
    accept = evolve(world.accept, quota=quota)
    assert isinstance(accept(body(), "owner"), Accepted)


def test_a_count_that_cannot_be_read_decides_nothing() -> None:
    """The count is only a view: schedules are accepted without it, and a warning is logged."""

    class Down(Never):
        def live(self, owner: str, now: Millis) -> int:
            raise Unavailable(owner)

    world = World()
    quota = a_quota(world, Quotas(live=1), Never(), Down())
    assert isinstance(evolve(world.accept, quota=quota)(body(), "owner"), Accepted)
    assert world.observer.warnings == ["live schedules not counted"]


def test_creations_that_cannot_be_counted_are_not_accepted() -> None:
    """Too many at a time are just what keeps DynamoDB from counting them."""

    class Down(Never):
        def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
            raise Unavailable(owner)

    world = World()
    quota = a_quota(world, Quotas(creates_per_minute=1), Down(), Never())
    with pytest.raises(Unavailable):
        evolve(world.accept, quota=quota)(body(), "owner")
    assert all_rows(world.table) == {}


def test_a_name_whose_holder_has_failed_needs_room() -> None:
    """It gave up its place when it failed."""
    world = World(limits=Quotas(live=1))
    replace = a_replace(world)
    world.target.answers = [Refused("HTTP 404")]
    first = replace.by_name(a_request(START + SECOND), "owner", "one")
    assert isinstance(first, Replaced)
    world.run_until(START + MINUTE)
    assert world.post(START + HOUR)
    world.update_journal()
    assert world.live_count.live("owner", START) == 1
    world.clock.move(ATTEMPT_OVER)
    with pytest.raises(OverQuota):
        replace.by_name(a_request(START + HOUR), "owner", "one")
    with pytest.raises(OverQuota):
        replace.by_id(first.schedule.id, "owner", point_in_time=START + HOUR, payload=None)


def test_what_was_lost_of_the_count_heals() -> None:
    """An end that was never heard of counts for a month or two after it was due, and no longer."""
    world = World(limits=Quotas(live=1))
    lost = world.post(START + MINUTE)
    assert lost
    world.update_journal()
    world.run_until(START + HOUR)
    world.lifecycle_records()  # nobody hears of it
    assert world.live_count.live("owner", world.clock.now()) == 1
    world.clock.move(57 * DAY)
    assert world.live_count.live("owner", world.clock.now()) == 0


# ------------------------------------------------------------ the free limit, in memory


def test_an_owner_creates_no_more_in_a_second_than_the_limit() -> None:
    world = World(limits=Quotas(creates_per_second=2))
    for _ in range(2 * BURST_SECONDS):
        assert isinstance(world.accept(body(), "owner"), Accepted)
    error = refused(world)
    assert str(error) == "At most 2 schedules may be created in a second."
    assert error.retry_after == 500
    assert isinstance(world.accept(body(), "another"), Accepted), "each owner for itself"
    for _ in range(3):
        world.clock.move(500)
        assert isinstance(world.accept(body(), "owner"), Accepted)
        refused(world)


def test_a_burst_of_a_minutes_worth_is_allowed() -> None:
    """And no more, however long the owner did nothing."""
    world = World(limits=Quotas(creates_per_second=1))
    world.accept(body(), "owner")
    world.clock.move(HOUR)
    for _ in range(BURST_SECONDS):
        assert isinstance(world.accept(body(), "owner"), Accepted)
    refused(world)


def test_the_free_limit_writes_and_reads_nothing() -> None:
    world = World(limits=Quotas(creates_per_second=1))
    plan = FaultPlan()
    world.rate_limit, world.live_count = faulty(world.rate_limit, plan), faulty(world.live_count, plan)
    world.build()
    assert isinstance(world.accept(body(), "owner"), Accepted)
    assert plan.seen == []


@pytest.mark.parametrize("step", [-HOUR, 0])
def test_a_clock_that_goes_back_gives_nothing(step: Millis) -> None:
    buckets, limits = Buckets(), Quotas(creates_per_second=1)
    for _ in range(BURST_SECONDS):
        buckets.take("owner", limits, START)
    with pytest.raises(OverQuota):
        buckets.take("owner", limits, START + step)


def test_the_buckets_of_many_owners_do_not_fill_the_memory() -> None:
    """The one that called least recently is forgotten."""
    buckets, limits = Buckets(), Quotas(creates_per_second=1)
    for number in range(3 * OWNERS):
        buckets.take(f"owner {number}", limits, START)
        buckets.take("busy", limits, START + number * SECOND)
    assert len(buckets.owners) == OWNERS
    assert "busy" in buckets.owners


def test_a_change_counts_as_a_creation() -> None:
    world = World(limits=Quotas(creates_per_second=1))
    for _ in range(BURST_SECONDS):
        a_replace(world).by_name(a_request(), "owner", "a-name")
    with pytest.raises(OverQuota):
        a_replace(world).by_name(a_request(), "owner", "a-name")
