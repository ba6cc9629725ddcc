"""What an owner policy does to schedules and series: at creation, and before each attempt."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.accept.rules.admission import admit
from delayer.accept.use_cases.accept import Accepted
from delayer.engines.ports import Unavailable
from delayer.ledger.model import State
from delayer.owners.known import FRESH_FOR, Permit
from delayer.owners.model import NotAllowed, OwnerPolicy, StoredOwnerPolicy
from delayer.owners.ports import DEFAULT
from delayer.owners.rules import OverQuota, Quotas
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, format_instant
from delayer.schedule.tables import SCHEDULES
from delayer.series.rules.admission import admit_series, admit_series_change
from delayer.series.use_cases.create import SeriesCreated
from delayer.series.use_cases.put import PutSeries
from delayer.wiring.build import build
from tests.world import START, World

HTTP = {"type": "http-request", "url": "https://api.example.com/"}


def set_policy(world: World, owner: str = DEFAULT, **rules: Any) -> None:
    """As the operator does; and ten seconds pass."""
    before = world.owner_policy_rows.owner_policy(owner)
    over = before.revision if before else 0
    new = StoredOwnerPolicy(policy=OwnerPolicy(rules=rules), revision=over + 1)
    assert world.owner_policy_rows.write_owner_policy(owner, new, over)
    world.clock.move(FRESH_FOR)


def body(world: World, seconds: int = 3600, **more: Any) -> bytes:
    due = format_instant(world.clock.now() + seconds * SECOND)
    return json.dumps({"pointInTime": due, "action": HTTP, **more}).encode()


def series(**more: Any) -> bytes:
    return json.dumps({"repeat": {"every": "PT1H"}, "action": HTTP, **more}).encode()


def rule_against(call: Any) -> str:
    with pytest.raises(NotAllowed) as caught:
        call()
    return caught.value.forbidden.rule


def test_each_way_to_create_a_schedule_asks() -> None:
    world = World()
    first = world.accept(body(world, name="n"), "owner")
    assert isinstance(first, Accepted)
    set_policy(world, hosts=("other.example",))
    request = admit(body(world), world.clock.now(), world.actions)
    stored = len(world.feed.records[SCHEDULES])
    assert rule_against(lambda: world.accept(body(world), "owner")) == "hosts"
    assert rule_against(lambda: world.accept(body(world, name="m", group="g"), "owner", "key")) == "hosts"
    assert rule_against(lambda: world.replace.by_name(request, "owner", "n")) == "hosts"
    for change in ({"point_in_time": START + DAY, "payload": None}, {"point_in_time": None, "payload": "1"}):
        assert rule_against(lambda change=change: world.replace.by_id(first.schedule_id, "owner", **change)) == "hosts"
    assert len(world.feed.records[SCHEDULES]) == stored, "nothing was written"


def test_a_repeated_call_with_its_key_is_answered_as_before() -> None:
    world = World()
    posted = body(world)
    first = world.accept(posted, "owner", "key")
    set_policy(world, actions=())
    assert world.accept(posted, "owner", "key") == first


def test_each_way_to_create_an_occurrence_asks() -> None:
    world = World()
    created = world.create_series(series(), "owner")
    assert isinstance(created, SeriesCreated)
    set_policy(world, actions=("sqs-send",))
    put = build(PutSeries, world.ports("put series"))
    request = admit_series(series(name="n"), world.clock.now(), world.actions)
    change = admit_series_change(b'{"payload": 5}', world.clock.now(), world.actions)
    assert rule_against(lambda: world.create_series(series(), "owner")) == "actions"
    assert rule_against(lambda: put(request, "owner")) == "actions"
    assert rule_against(lambda: world.change_series("owner", created.series, change.applied_to)) == "actions"
    assert rule_against(lambda: world.run_series.now("owner", created.series)) == "actions"


def test_how_far_ahead() -> None:
    world = World()
    waits = world.accept(body(world, seconds=7200), "owner")
    assert isinstance(waits, Accepted)
    set_policy(world, aheadSeconds=3600)
    assert rule_against(lambda: world.accept(body(world, seconds=3601), "owner")) == "aheadSeconds"
    assert isinstance(world.accept(body(world, seconds=3600), "owner"), Accepted)
    world.replace.by_id(waits.schedule_id, "owner", point_in_time=None, payload="5")  # its time was allowed once
    rule = {"cron": "0 9 * * *", "timeZone": "UTC"}
    assert rule_against(lambda: world.create_series(series(repeat=rule), "owner")) == "aheadSeconds"


def test_the_numbers_are_in_the_place_of_the_stack_s() -> None:
    world = World(limits=Quotas(creates_per_second=1, creates_per_minute=2, live=50))
    set_policy(world, "owner", createsPerMinute=5, liveSchedules=8)
    world.clock.move(MINUTE)
    for _ in range(5):
        assert isinstance(world.accept(body(world), "owner"), Accepted)
    with pytest.raises(OverQuota, match="At most 5 schedules may be created in a minute"):
        world.accept(body(world), "owner")
    for _ in range(2):
        world.accept(body(world), "another")
    with pytest.raises(OverQuota, match="At most 2 schedules"):
        world.accept(body(world), "another")
    world.clock.move(MINUTE)
    for _ in range(3):
        world.accept(body(world), "owner")
    world.update_journal()
    with pytest.raises(OverQuota, match="At most 8 schedules may be live"):
        world.accept(body(world), "owner")


@pytest.mark.parametrize("at_most", [0, 1, 2])
def test_the_number_of_live_series(at_most: int) -> None:
    world = World()
    set_policy(world, "owner", series=at_most)
    for _ in range(at_most):
        assert isinstance(world.create_series(series(), "owner"), SeriesCreated)
    with pytest.raises(OverQuota, match=f"At most {at_most} series may be live"):
        world.create_series(series(), "owner")
    assert isinstance(world.create_series(series(), "another"), SeriesCreated)


def executed(world: World, schedule_id: str) -> Any:
    world.run_until(START + HOUR)
    return world.ledger.read(schedule_id)


def test_what_was_allowed_and_is_forbidden_by_now_fails_with_the_rule() -> None:
    world = World()
    posted = world.accept(body(world, seconds=1800), "owner")
    assert isinstance(posted, Accepted)
    set_policy(world, "owner", hosts=("other.example",))
    row = executed(world, posted.schedule_id)
    assert (row.state, row.detail) == (
        State.FAILED,
        "the owner policy forbids it, by its rule hosts: api.example.com",
    )
    assert [one for one in world.store.objects if one.startswith("failed/")], "it can be redriven"


def test_what_is_still_allowed_is_attempted() -> None:
    world = World()
    set_policy(world, actions=("http-request",), hosts=("api.example.com",), createsPerMinute=1, aheadSeconds=1800)
    posted = world.accept(body(world, seconds=1800), "owner")
    assert isinstance(posted, Accepted)
    set_policy(world, actions=("http-request",), hosts=("api.example.com",), createsPerMinute=1, aheadSeconds=1)
    assert executed(world, posted.schedule_id).state is State.EXECUTED


def test_what_nobody_can_tell_is_neither_created_nor_attempted() -> None:
    class Down:
        def of(self, owner: str) -> OwnerPolicy:
            raise Unavailable(owner)

    world = World()
    posted = world.accept(body(world, seconds=1800), "owner")
    assert isinstance(posted, Accepted)
    whole = world.execute
    world.execute = evolve(whole, permit=Permit(owner_policies=Down(), action_of=world.actions.get))
    with pytest.raises(Unavailable):
        evolve(world.accept, quota=evolve(world.accept.quota, owner_policies=Down()))(body(world), "owner")
    world.run_until(START + HOUR)
    assert world.ledger.read(posted.schedule_id).state is State.CLAIMED  # type: ignore[union-attr] # it is there
    assert "not attempted: it comes again" in world.observer.warnings
    world.execute = whole
    world.run_until(START + 2 * HOUR)
    assert world.ledger.read(posted.schedule_id).state is State.EXECUTED  # type: ignore[union-attr] # the same
