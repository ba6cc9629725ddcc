"""Creating a series: cursor, definition, first occurrence, name, place in its group and key, or nothing."""

import contextlib
import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.accept.rules.request import KeyReused
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.once import KEY_LIFETIME, ROUNDS
from delayer.engines.ports import Unavailable
from delayer.history.model import occurrence_of
from delayer.http.problem import Invalid
from delayer.ledger.model import EventType
from delayer.owners.rules import OverQuota, Quotas
from delayer.schedule.instants import DAY, HOUR, MINUTE, format_instant
from delayer.schedule.schedule_id import IdKind, is_genuine, kind_of, point_in_time_of
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.rules import rule_of
from delayer.series.rules.series import KEPT_AT_LEAST, Cursor, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.create import CreateSeries, NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.series.use_cases.halt import Halt, Halted
from delayer.series.use_cases.step import StepSeries
from delayer.wiring.build import build
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.looking import all_rows
from tests.samples import ACTION, OWNER
from tests.world import KEY, START, World

QUARTER = {"every": "PT15M", "anchor": format_instant(START)}


def body(**fields: object) -> bytes:
    return json.dumps({"repeat": QUARTER, "action": ACTION, **fields}).encode()


def a_create(world: World) -> CreateSeries:
    return build(CreateSeries, world.ports("create"))


def created(world: World, given_body: bytes, key: str = "", owner: str = OWNER) -> SeriesCreated:
    answer = a_create(world)(given_body, owner, key)
    assert isinstance(answer, SeriesCreated)
    return answer


def stored(world: World, answer: SeriesCreated) -> tuple[Cursor, SeriesDefinition]:
    cursor, definition = world.series.cursor(OWNER, answer.series), world.series.definition(OWNER, answer.series)
    assert cursor
    assert definition
    return cursor, definition


def delete(world: World, answer: SeriesCreated) -> None:
    assert isinstance(build(Halt, world.ports("halt")).delete(OWNER, answer.series), Halted)


def test_a_series_is_stored_with_its_first_occurrence() -> None:
    world = World()
    answer = created(world, body(payload="no <delayer.occurrence.number>", group="g", overlap="skip", name="n"))
    cursor, definition = stored(world, answer)
    assert (cursor.state, cursor.revision, cursor.number, cursor.at) == (SeriesState.ACTIVE, 1, 1, START + 15 * MINUTE)
    assert (answer.occurrence, answer.at, answer.name) == (cursor.current, cursor.at, "n")
    facts = {"series": answer.series, "state": SeriesState.ACTIVE, "at": cursor.at}
    assert ("series created", cursor.current, facts) in world.observer.lines
    assert (definition.overlap, definition.name, definition.definition.group) == ("skip", "n", "g")
    assert (definition.created_at, definition.revision) == (START, 1)
    occurrence = world.stored(cursor.current)
    assert (kind_of(occurrence.id), is_genuine(occurrence.id, OWNER, key=KEY)) == (IdKind.OCCURRENCE, True)
    assert (occurrence.point_in_time, occurrence.definition.group) == (cursor.at, "")
    assert occurrence.definition.payload == '"no 1"'
    which = occurrence_of(occurrence.definition)
    assert which
    assert (which.series, which.number, which.time) == (answer.series, 1, cursor.at)
    assert world.series.filed(cursor.current)
    assert occurrence.traits == definition.traits
    assert world.observer.counts["Accepted"] == 1


def test_what_is_created_is_stepped() -> None:
    world = World()
    answer = created(world, body())
    build(StepSeries, world.ports("step"))(Happened(schedule_id=answer.occurrence, kind=EventType.CLAIMED))
    cursor, _ = stored(world, answer)
    assert (cursor.number, cursor.at) == (2, START + 30 * MINUTE)


@given(st.integers(1, 50 * 24 * 60), st.integers(0, 10_000), st.booleans())
def test_the_first_occurrence_is_for_the_first_time_to_come(minutes: int, ago: int, has_anchor: bool) -> None:
    """Never for one before the creation, and none is left out; the stored document means the same rule.

    It takes a second: each example has a stack of its own.
    """
    world = World()
    anchor = START - ago * MINUTE
    repeat = {"every": f"PT{minutes}M"} | ({"anchor": format_instant(anchor)} if has_anchor else {})
    answer = created(world, body(repeat=repeat))
    rule = rule_of(stored(world, answer)[1])
    wanted = anchor + ((START - anchor) // (minutes * MINUTE) + 1) * minutes * MINUTE if has_anchor else 0
    assert answer.at == (wanted or START + minutes * MINUTE) == rule.next_after(START)
    assert answer.at == point_in_time_of(answer.occurrence)


def test_a_first_time_beyond_ten_years_is_waited_for() -> None:
    world = World()
    far = {"cron": "0 0 1 1 *", "from": "2050-01-01"}
    answer = created(world, body(repeat=far, name="far"), key="k")
    cursor, _ = stored(world, answer)
    assert (cursor.state, cursor.current, answer.occurrence, cursor.number) == (SeriesState.WAITING, "", "", 0)
    assert format_instant(answer.at) == "2050-01-01T00:00:00.000Z"
    assert all_rows(world.table) == {}
    assert created(world, body(repeat=far, name="far"), key="k") == answer


def test_the_same_key_brings_the_same_answer_and_no_second_series() -> None:
    world = World()
    first = created(world, body(name="n"), key="k")
    world.clock.move(HOUR)
    assert created(world, body(name="n"), key="k") == first
    assert len(all_rows(world.series)) == 1
    assert a_create(world)(body(), OWNER, "k") == KeyReused()
    assert created(world, body(), key="k", owner="somebody").series != first.series
    world.clock.move(KEY_LIFETIME)
    delete(world, first)
    assert created(world, body(name="n"), key="k").series != first.series


def test_a_key_of_a_schedule_is_not_one_of_a_series() -> None:
    world = World()
    schedule = json.dumps({"delaySeconds": 90, "action": ACTION}).encode()
    assert isinstance(world.accept(schedule, OWNER, "k"), Accepted)
    assert a_create(world)(body(), OWNER, "k") == KeyReused()
    created(world, body(), key="other")
    assert world.accept(schedule, OWNER, "other") == KeyReused()


def test_a_name_is_that_of_one_live_series() -> None:
    world = World()
    first = created(world, body(name="n"))
    assert a_create(world)(body(name="n"), OWNER) == SeriesNameTaken(first.series)
    assert isinstance(a_create(world)(body(name="n"), "somebody"), SeriesCreated)
    assert isinstance(
        world.accept(json.dumps({"delaySeconds": 90, "action": ACTION, "name": "n"}).encode(), OWNER), Accepted
    ), "a schedule may be called the same"
    delete(world, first)
    second = created(world, body(name="n"))
    assert world.series.named(OWNER, "n") == second.series != first.series


def test_a_rule_whose_times_are_over_is_refused() -> None:
    world = World()
    for field, repeat in (
        ("repeat.until", {**QUARTER, "until": format_instant(START)}),
        ("repeat.count", {"every": "PT15M", "from": format_instant(START - DAY), "count": 2}),
        ("repeat.cron", {"cron": "0 0 30 2 *"}),
    ):
        with pytest.raises(Invalid) as refused:
            created(world, body(repeat=repeat))
        [error] = refused.value.errors
        assert error.field == field
        assert error.allowed
    assert all_rows(world.series) == {}


def test_without_events_there_are_no_series() -> None:
    world = World()
    world.settings = evolve(world.settings, has_events=False)
    assert a_create(world)(body(), OWNER) == NoLifecycle()


def test_a_series_needs_room_for_itself_and_for_its_occurrence() -> None:
    world = World(limits=Quotas(live=4))
    first = created(world, body())
    world.live_count.started(OWNER, first.occurrence, 0)  # as the journal counts it
    created(world, body())
    with pytest.raises(OverQuota):
        created(world, body())
    created(world, body(), owner="somebody")


def test_a_series_that_is_over_gives_up_its_place() -> None:
    world = World(limits=Quotas(live=2))
    for _ in range(3):
        delete(world, created(world, body()))


@pytest.mark.parametrize("fault", Fault)
def test_creating_is_all_or_nothing(fault: Fault) -> None:
    """Whatever fails in between, a repeat with the same key leads to one series with one occurrence."""
    calls = calls_of_a_creation()
    assert calls[-1] == "StoredSeries.transact"
    for at in range(len(calls)):
        plan = FaultPlan(fault=fault, at=at)
        world = World(spoiled="create", plan=plan)
        with contextlib.suppress(Unavailable, Crash):
            created(world, body(name="n", group="g"), key="k")
        plan.at = -1
        answer = created(world, body(name="n", group="g"), key="k")
        cursor, _ = stored(world, answer)
        assert len(all_rows(world.series)) == len(all_rows(world.table)) == 1
        assert cursor.current == answer.occurrence
        assert world.series.named(OWNER, "n") == answer.series


def calls_of_a_creation() -> list[str]:
    plan = FaultPlan()
    created(World(spoiled="create", plan=plan), body(name="n", group="g"), key="k")
    return plan.seen


def test_who_is_always_overtaken_gives_up() -> None:
    world = World()
    tries = []

    class Busy:
        def create(self, transaction: SeriesTransaction) -> bool:
            tries.append(transaction)
            return False

    with pytest.raises(Unavailable):
        evolve(a_create(world), series=Busy())(body(name="n"), OWNER)  # type: ignore[arg-type] # it has what is called
    assert len(tries) == ROUNDS


def test_its_rows_are_kept_as_long_as_a_dead_letter_may_be_redriven() -> None:
    world = World()
    answer = created(world, body())
    assert stored(world, answer)[0].expires_at == 0
    delete(world, answer)
    assert stored(world, answer)[0].expires_at >= START + KEPT_AT_LEAST
