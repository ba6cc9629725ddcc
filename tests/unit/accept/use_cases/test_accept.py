"""Accepting: one put, at the address that is in the id."""

import contextlib
import json
from collections import Counter

import pytest
from attrs import evolve

from delayer.accept.rules.request import KeyReused
from delayer.accept.rules.status import NameTaken
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.once import KEY_LIFETIME, ROUNDS
from delayer.engines.ports import Unavailable
from delayer.engines.store.store import WriteRefused
from delayer.history.ports import Member
from delayer.http.problem import Invalid, NotJson, TooLarge
from delayer.ledger.model import State
from delayer.ledger.rules import ended
from delayer.schedule.instants import MINUTE, SECOND, minute_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Shards, is_genuine, key_of
from delayer.schedule.table_change import ChangeKind
from delayer.schedule.tables import SCHEDULES
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.looking import all_members, all_rows, put_row
from tests.samples import ACTION, OWNER
from tests.tables import preceded
from tests.world import KEY, START, World


def body(**fields: object) -> bytes:
    return json.dumps({"delaySeconds": 90, "action": ACTION, **fields}).encode()


def accepted(world: World, given_body: bytes, key: str = "", owner: str = OWNER) -> Schedule:
    answer = world.accept(given_body, owner, key)
    assert isinstance(answer, Accepted)
    return world.stored(answer.schedule_id)


def test_the_schedule_is_filed_at_its_address() -> None:
    world = World()
    schedule = accepted(world, body(payload={"a": 1}))
    assert all_rows(world.table) == {key_of(schedule.id): schedule}
    assert (schedule.point_in_time, schedule.created_at, schedule.owner) == (START + 90 * SECOND, START, OWNER)
    assert (schedule.definition.payload, json.loads(schedule.definition.action)) == ('{"a": 1}', ACTION)
    assert is_genuine(schedule.id, OWNER, key=KEY)
    assert world.observer.counts["Accepted"] == 1


def test_one_write_and_no_other() -> None:
    """Due in a second or in ten years: nothing here knows of the delayer period."""
    for seconds in (0, 1, 315_576_000):
        world = World()
        world.accept(body(delaySeconds=seconds), OWNER)
        assert [change.kind for change in world.feed.records[SCHEDULES]] == [ChangeKind.INSERT]
        assert all_rows(world.ledger) == {}
        assert world.delayer_queue.sent == 0


def test_an_overdue_schedule_is_filed_under_now_and_keeps_its_point_in_time() -> None:
    world = World()
    fields = {"pointInTime": START / 1000 - 60, "action": ACTION}
    schedule = accepted(world, json.dumps(fields).encode())
    assert schedule.point_in_time == START - MINUTE
    assert schedule.address.due == START


@pytest.mark.parametrize(
    ("given_body", "error"), [(b"", NotJson), (b"{}", Invalid), (b" " * 262_145, TooLarge)], ids=str
)
def test_what_is_refused_writes_nothing(given_body: bytes, error: type[Exception]) -> None:
    world = World()
    with pytest.raises(error):
        world.accept(given_body, OWNER)
    assert all_rows(world.table) == {}
    assert world.control.shards() is None, "not even a control row"


def test_the_control_row_says_which_shards_are_used_before_the_first_put() -> None:
    world = World(shards=5)
    world.accept(body(), OWNER)
    current = world.control.shards()
    assert current == Shards(highest=4, since=minute_of(START) - 5)


def test_a_writer_with_fewer_shards_does_not_lower_the_row() -> None:
    world = World(shards=2)
    world.control.raise_shards(Shards(highest=33, since=7))
    world.accept(body(), OWNER)
    assert world.control.shards() == Shards(highest=33, since=7)


def test_a_cold_start_reads_first_and_writes_nothing_that_is_there() -> None:
    """A thousand that start at once do not write to one item; later calls ask nothing."""
    world, plan = World(), FaultPlan()
    world.accept(body(), OWNER)
    world.spoiled, world.plan = "accept", plan
    world.build()
    world.accept(body(), OWNER)
    assert plan.seen == ["StoredControl.get", "StoredControl.get", "StoredRecords.write"], "shards, and the key of ids"
    world.accept(body(), OWNER)
    assert plan.seen[3:] == ["StoredRecords.write"]


def test_the_first_start_of_a_stack_raises_the_shards() -> None:
    world = World(spoiled="accept", shards=5)
    world.accept(body(), OWNER)
    shards, raised, id_keys = ["get"], ["write", "get"], ["get"]
    requests = [f"StoredControl.{one}" for one in [*shards, *raised, *id_keys]]
    assert world.plan.seen == [*requests, "StoredRecords.write"]


def test_all_shards_are_used() -> None:
    world = World(shards=4)
    shards = Counter(accepted(world, body(delaySeconds=3600)).address.shard for _ in range(40))
    assert set(shards) == {0, 1, 2, 3}


def test_the_same_body_twice_is_two_schedules() -> None:
    world = World()
    assert accepted(world, body()).id != accepted(world, body()).id
    assert len(all_rows(world.table)) == 2


# ------------------------------------------------------------ with an idempotency key


def test_the_same_key_brings_the_same_answer() -> None:
    """A relative delay, too: the second call is a minute later, and the answer is that of the first."""
    world = World()
    first = accepted(world, body(), "k1")
    world.clock.move(MINUTE)
    assert world.accept(body(), OWNER, "k1") == Accepted(schedule_id=first.id, point_in_time=START + 90 * SECOND)
    assert len(all_rows(world.table)) == 1
    assert world.observer.counts["Accepted"] == 1


def test_it_is_the_same_answer_when_the_point_in_time_is_long_over() -> None:
    world = World()
    given_body = json.dumps({"pointInTime": START / 1000 + 1, "action": ACTION}).encode()
    first = accepted(world, given_body, "k1")
    world.clock.move(KEY_LIFETIME - 1)
    assert world.accept(given_body, OWNER, "k1") == Accepted(schedule_id=first.id, point_in_time=START + SECOND)


def test_the_same_key_with_another_body_is_a_mistake() -> None:
    world = World()
    accepted(world, body(), "k1")
    assert world.accept(body(payload=1), OWNER, "k1") == KeyReused()
    assert len(all_rows(world.table)) == 1


def test_a_key_is_new_after_a_day_and_to_another_owner() -> None:
    world = World()
    first = accepted(world, body(), "k1")
    other = accepted(world, body(), "k1", owner="another")
    world.clock.move(KEY_LIFETIME)
    later = accepted(world, body(payload=1), "k1")
    assert len({first.id, other.id, later.id}) == 3


def test_what_is_refused_uses_up_no_key() -> None:
    world = World()
    with pytest.raises(Invalid):
        world.accept(body(delaySeconds=-1), OWNER, "k1")
    assert accepted(world, body(), "k1")


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", range(7))
def test_a_crash_anywhere_and_a_retry_make_one_schedule(fault: Fault, at: int) -> None:
    """With a name and a group as well."""
    world = World(spoiled="accept", plan=FaultPlan(fault, at))
    given_body = body(name="invoice-17", group="customer-1")
    with contextlib.suppress(Unavailable, Crash):
        world.accept(given_body, OWNER, "k1")
    assert len(world.plan.seen) > at, "there is no such request"
    world.plan.fault = None
    world.clock.move(SECOND)
    schedule = accepted(world, given_body, "k1")
    assert list(all_rows(world.table)) == [key_of(schedule.id)]
    assert all_members(world.registry, OWNER, "customer-1") == [schedule.id]
    holder = world.registry.named(OWNER, "invoice-17")
    assert holder
    assert holder.schedule_id == schedule.id


# ------------------------------------------------------------ with a name, a group, a rule, tags


def test_a_name_is_taken_while_its_holder_lives() -> None:
    world = World()
    first = accepted(world, body(name="n"))
    assert all_rows(world.ledger)[first.id].name == "n"
    assert world.accept(body(name="n"), OWNER) == NameTaken(first.id)
    assert accepted(world, body(name="n"), owner="another").id != first.id
    put_row(world.ledger, ended(all_rows(world.ledger)[first.id], State.CANCELLED, START))
    assert accepted(world, body(name="n")).id != first.id


def test_a_member_joins_its_group_in_the_same_transaction() -> None:
    world = World()
    schedule = accepted(world, body(group="g", tags={"team": "a"}, onLate={"after": "PT1H", "do": "drop"}))
    assert world.registry.members(OWNER, "g", 0, 2**48, "", 10).members == (
        Member(schedule_id=schedule.id, created_at=START),
    )
    assert all_rows(world.ledger) == {}, "a group costs no ledger row"
    assert (schedule.definition.group, schedule.definition.tags) == ("g", '{"team":"a"}')
    assert schedule.definition.on_late == '{"after":"PT1H","do":"drop"}'


def test_a_name_that_others_take_in_each_round_is_unavailable() -> None:
    """Five rounds, then the client tries again."""
    world, rounds = World(), []

    def others_take_it() -> None:
        rounds.append("a round")
        raise WriteRefused([{}])

    registry = preceded(world.registry, others_take_it, ["transact"])
    with pytest.raises(Unavailable, match="try again"):
        evolve(world.accept, registry=registry)(body(name="n"), OWNER)
    assert len(rounds) == ROUNDS
    assert all_rows(world.table) == {}
