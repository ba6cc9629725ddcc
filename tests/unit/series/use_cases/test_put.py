"""PUT of a series by its name: it is created, or goes on under its id by the new definition."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.accept.use_cases.cancel import Cancel
from delayer.engines.ports import Unavailable
from delayer.http.problem import Invalid
from delayer.ledger.model import EventType, State
from delayer.owners.rules import OverQuota, Quotas
from delayer.schedule.instants import HOUR, MINUTE, format_instant
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.admission import admit_named_series
from delayer.series.rules.series import Cursor, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.change import SeriesChanged
from delayer.series.use_cases.create import NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.series.use_cases.put import PutSeries
from delayer.series.use_cases.step import StepSeries
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.samples import OWNER
from tests.unit.series.use_cases.test_create import body, created, delete
from tests.world import START, World

EVERY_HOUR = {"every": "PT1H", "anchor": format_instant(START)}


def put(world: World, only_new: bool = False, use_case: PutSeries | None = None, **fields: Any) -> Any:
    request = admit_named_series(body(**fields), "n", world.clock.now(), world.actions)
    return (use_case or build(PutSeries, world.ports("put")))(request, OWNER, only_new=only_new, by="by")


def cursor_of(world: World, series: str) -> Cursor:
    cursor = world.series.cursor(OWNER, series)
    assert cursor
    return cursor


def test_it_creates_the_first_series_of_a_name() -> None:
    world = World()
    answer = put(world)
    assert isinstance(answer, SeriesCreated)
    assert answer.name == "n"
    assert world.series.named(OWNER, "n") == answer.series


def test_the_live_series_of_the_name_keeps_its_id_and_gets_the_new_definition() -> None:
    world = World()
    first = put(world)
    world.clock.move(MINUTE)
    second = put(world, repeat=EVERY_HOUR, payload=2)
    assert isinstance(second, SeriesChanged)
    assert (second.cursor.series, second.number, second.replaced) == (first.series, 1, first.occurrence)
    assert (second.cursor.at, second.definition.definition.payload) == (START + HOUR, "2")
    assert second.definition.created_at == START
    row = world.ledger.read(first.occurrence)
    assert row
    assert (row.state, row.by) == (State.REPLACED, "by")


def test_the_same_document_again_changes_no_time() -> None:
    """A rule that begins with its creation does not begin anew with each deployment of its owner."""
    world = World()
    first = put(world, repeat={"every": "PT1H"})
    world.clock.move(20 * MINUTE)
    again = put(world, repeat={"every": "PT1H", "onMissed": "all"}, payload=2)
    assert (again.cursor.at, again.cursor.number, again.definition.on_missed) == (START + HOUR, 1, "all")
    assert put(world, repeat={"every": "PT2H"}).cursor.at == START + 20 * MINUTE + 2 * HOUR
    assert first.at == START + HOUR


def test_a_rule_that_is_refused_now_is_created_no_more() -> None:
    world = World()
    with pytest.raises(Invalid):
        put(world, repeat={"cron": "cron(0 10 ? * JAN *)"})
    assert not world.series.named(OWNER, "n")


@pytest.mark.parametrize("bounds", [{"until": "2030-01-01T00:00:00Z"}, {"count": 9}], ids=["end", "count"])
def test_the_same_times_with_another_end_go_on_where_they_are(bounds: dict[str, Any]) -> None:
    """What its owner has cancelled stays cancelled, and no time is moved: not by the moment of the PUT either."""
    world = World()
    first = put(world, repeat={"every": "PT1H"})
    cancel = build(Cancel, world.ports("cancel"), occurrences=use_cases.occurrences(world.ports("cancel")))
    cancel(first.occurrence, OWNER)
    build(StepSeries, world.ports("step"))(Happened(schedule_id=first.occurrence, kind=EventType.CANCELLED))
    world.clock.move(20 * MINUTE)
    again = put(world, repeat={"every": "PT1H", **bounds})
    assert (again.cursor.at, again.cursor.number) == (START + 2 * HOUR, 2)


def test_a_count_that_is_used_up_begins_anew() -> None:
    """It was admitted, as it has times from now on: so the PUT ends nothing."""
    world = World()
    put(world, repeat={"every": "PT1H"})
    world.clock.move(3 * HOUR - MINUTE)
    again = put(world, repeat={"every": "PT1H", "count": 2})
    assert (again.cursor.state, again.cursor.at) == (SeriesState.ACTIVE, START + 4 * HOUR - MINUTE)


def test_a_series_that_is_over_gives_its_name_to_a_new_one() -> None:
    world = World()
    first = put(world)
    delete(world, first)
    second = put(world)
    assert isinstance(second, SeriesCreated)
    assert second.series != first.series


def test_one_that_has_ended_is_not_revived_by_it() -> None:
    world = World()
    first = put(world, repeat={**EVERY_HOUR, "count": 1})
    build(StepSeries, world.ports("step"))(Happened(schedule_id=first.occurrence, kind=EventType.CLAIMED))
    assert cursor_of(world, first.series).state is SeriesState.ENDED
    second = put(world)
    assert isinstance(second, SeriesCreated)
    assert cursor_of(world, first.series).state is SeriesState.ENDED


def test_a_call_that_only_creates_changes_nothing() -> None:
    world = World()
    first = put(world, only_new=True)
    assert put(world, only_new=True, payload=2) == SeriesNameTaken(first.series)
    assert cursor_of(world, first.series).revision == 1


def test_who_is_overtaken_finds_the_other_one() -> None:
    """Somebody else creates the series, or it ends, between the look and the write."""
    world = World()
    use_case = build(PutSeries, world.ports("put"))
    left = [1]

    class Late:
        def __getattr__(self, name: str) -> Any:
            return getattr(world.series, name)

        def create(self, transaction: SeriesTransaction) -> bool:
            if left:
                left.pop()
                created(world, body(name="n"))
            return world.series.create(transaction)

    answer = put(world, use_case=evolve(use_case, series=Late()), payload=2)
    assert isinstance(answer, SeriesChanged)
    assert answer.definition.definition.payload == "2"


def test_who_is_always_overtaken_gives_up() -> None:
    world = World()

    class Busy:
        def __getattr__(self, name: str) -> Any:
            return getattr(world.series, name)

        def create(self, transaction: SeriesTransaction) -> bool:
            return False

    with pytest.raises(Unavailable):
        put(world, use_case=evolve(build(PutSeries, world.ports("put")), series=Busy()))


def test_a_new_one_needs_room_and_events() -> None:
    with pytest.raises(OverQuota):
        put(World(limits=Quotas(live=1)))
    world = World()
    world.settings = evolve(world.settings, has_events=False)
    assert put(world) == NoLifecycle()


def test_the_name_in_the_body_is_that_in_the_path() -> None:
    world = World()
    assert isinstance(put(world, name="n"), SeriesCreated)
    for name, wrong in (("n", body(name="other")), ("a b", body()), (".", body())):
        with pytest.raises(Invalid) as refused:
            admit_named_series(wrong, name, START, world.actions)
        assert [error.field for error in refused.value.errors] == ["name"]
    assert json.loads(body())["action"]
