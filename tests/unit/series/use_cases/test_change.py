"""The answer of a PATCH says at which occurrence it takes effect, and so it is."""

import json
import random
from collections.abc import Callable, Mapping

import pytest
from attrs import evolve

from delayer.accept.rules.status import decide_replace
from delayer.accept.use_cases.cancel import Cancel, Cancelled
from delayer.engines.ports import Unavailable
from delayer.history.model import SeriesRefuses
from delayer.http.problem import Invalid
from delayer.ledger.model import LedgerChange, State
from delayer.recurrence.rule import parse_rule
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.schedule_id import key_of
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.rules import text_of
from delayer.series.rules.series import NoSeries, Overlap, SeriesDefinition, SeriesState
from delayer.series.rules.series import changed as with_changes
from delayer.series.use_cases.change import Change, SeriesChanged
from delayer.series.use_cases.create import SeriesCreated
from delayer.series.use_cases.halt import ROUNDS
from delayer.series.use_cases.resume import Resumed
from delayer.series.use_cases.step import occurrence
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.looking import all_rows, put_definition, put_name, put_row
from tests.samples import OWNER, a_claim
from tests.unit.series.steering.stage import ID, MINUTELY, Stage
from tests.world import START, World


def new_payload(definition: SeriesDefinition) -> SeriesDefinition:
    return evolve(definition, definition=evolve(definition.definition, payload='"new"'))


def to_rule(repeat: Mapping[str, object]) -> Change:
    return lambda definition: evolve(definition, repeat=text_of(parse_rule(repeat, START)))


def changed(stage: Stage, change: Change = new_payload) -> SeriesChanged:
    answer = stage.change(OWNER, ID, change, "a session")
    assert isinstance(answer, SeriesChanged)
    return answer


def test_the_occurrence_that_waits_is_replaced_by_one_with_the_same_number() -> None:
    stage = Stage()
    answer = changed(stage)
    assert answer.put
    assert (answer.number, answer.replaced, answer.put.point_in_time) == (1, stage.first, START + MINUTE)
    row = stage.world.ledger.read(stage.first)
    assert row
    assert (row.state, row.replaced_by, row.by) == (State.REPLACED, answer.put.id, "a session")
    assert (stage.cursor.current, stage.definition.revision, stage.cursor.definition_revision) == (answer.put.id, 2, 2)
    stage.run_until(START + 2 * MINUTE + SECOND)
    assert stage.fired == [(1, START + MINUTE, "new"), (2, START + 2 * MINUTE, "new")]


def test_one_that_finds_the_current_one_claimed_takes_the_step() -> None:
    stage = Stage()
    stage.world.run_until(START + MINUTE + SECOND)
    answer = changed(stage)
    assert (answer.number, answer.replaced, stage.cursor.number) == (2, "", 2)
    stage.deliver()
    assert stage.cursor.number == 2, "its event comes afterwards"
    stage.run_until(START + 2 * MINUTE + SECOND)
    assert stage.fired == [(1, START + MINUTE, "old"), (2, START + 2 * MINUTE, "new")]


def test_whenever_it_comes_it_takes_effect_where_its_answer_says() -> None:
    """At forty moments, which takes some seconds: four minutes pass each time, in small steps."""
    draws = random.Random("patch")
    for _ in range(40):
        stage = Stage()
        stage.run_until(START + MINUTE + draws.randint(-2_000, 2_000), every=draws.choice([100, 700, 5_000]))
        answer = changed(stage)
        stage.run_until(START + 4 * MINUTE + 10 * SECOND, every=5 * SECOND)
        assert [number for number, _, _ in stage.fired] == [1, 2, 3, 4]
        assert next(number for number, _, payload in stage.fired if payload == "new") == answer.number


def test_with_overlap_skip_it_waits_for_the_end() -> None:
    stage = Stage(overlap=Overlap.SKIP)
    stage.world.run_until(START + MINUTE + SECOND)
    put_row(stage.world.ledger, a_claim(schedule_id=stage.first))
    answer = changed(stage)
    assert (answer.number, answer.put, stage.cursor.current) == (2, None, stage.first)


def test_of_a_paused_series_it_is_the_first_after_the_resume() -> None:
    stage = Stage()
    stage.halt.pause(OWNER, ID)
    assert changed(stage).number == 2
    resumed = stage.resume(OWNER, ID)
    assert isinstance(resumed, Resumed)
    stage.run_until(START + 70 * SECOND)
    assert stage.fired == [(2, START + MINUTE, "new")]


@pytest.mark.parametrize("later", [10 * MINUTE, 30 * SECOND])
@pytest.mark.parametrize(
    ("change", "payload"),
    [(new_payload, "new"), (to_rule({**MINUTELY, "until": "2030-01-01"}), "old")],
    ids=["payload", "end of the rule"],
)
def test_what_its_owner_has_moved_stays_where_it_is(change: Change, payload: str, later: int) -> None:
    """Put for its time by the rule, it would come at once, or not before."""
    stage = Stage()
    moved = occurrence(stage.resume.ids, stage.definition, ID, 1, START + MINUTE, START + later)
    move = with_changes(stage.cursor, current=moved.id)
    end = decide_replace(stage.first, OWNER, None, moved.id, START)
    assert isinstance(end, LedgerChange)
    transaction = SeriesTransaction(
        cursor=move.cursor, over=move.over, put=(moved,), ends=(end,), delete=(key_of(stage.first),)
    )
    assert stage.world.series.write(transaction)
    stage.run_until(START + later - 20 * SECOND)
    answer = changed(stage, change)
    assert answer.put
    assert (answer.number, answer.replaced, answer.put.point_in_time) == (1, moved.id, START + later)
    stage.run_until(START + later - SECOND)
    assert stage.fired == []
    stage.run_until(START + later + SECOND)
    assert stage.fired == [(1, START + MINUTE, payload)]
    assert stage.cursor.at > START + MINUTE


def test_a_new_rule_begins_at_once() -> None:
    stage = Stage()
    answer = changed(stage, to_rule({**MINUTELY, "every": "PT5M"}))
    assert answer.put
    assert (answer.number, answer.put.point_in_time) == (1, START + 5 * MINUTE)
    stage.run_until(START + 5 * MINUTE + SECOND)
    assert stage.fired == [(1, START + 5 * MINUTE, "old")]


@pytest.mark.parametrize("is_over", [False, True])
def test_an_owner_of_a_longer_name_changes_all_but_the_zone(is_over: bool) -> None:
    """The key of the list of series with a zone has no room for it: the answer would be 503, however often."""
    world, owner = World(), "\u20ac" * 331
    body = json.dumps({"repeat": {"every": "PT1H"}, "action": {"type": "http-request", "url": "http://x/"}})
    created = world.create_series(body.encode(), owner)
    assert isinstance(created, SeriesCreated)
    where = owner, created.series
    if is_over:
        put_row(world.series, evolve(all_rows(world.series)[where], state=SeriesState.ENDED, current=""))
    daily = {"cron": "0 9 * * *", "timeZone": "Europe/Berlin"}
    with pytest.raises(Invalid) as refused:
        world.change_series(*where, to_rule(daily))
    [error] = refused.value.errors
    assert (error.field, error.allowed) == ("repeat.timeZone", "UTC, as the name of its owner has more than 991 bytes")
    assert isinstance(world.change_series(*where, to_rule({"every": "PT2H"})), SeriesChanged)


def test_what_is_done_about_missed_times_is_no_new_rule() -> None:
    """Else the occurrence that waits would be left out where the new rule begins after it."""
    stage = Stage()
    stage.world.clock.sleep_until(START + 10 * MINUTE)
    answer = changed(stage, to_rule({**MINUTELY, "onMissed": "all"}))
    assert answer.put
    assert answer.put.point_in_time == START + MINUTE


def deleted(stage: Stage) -> None:
    """The current occurrence, by its owner; and the series has stepped after it."""
    world = stage.world
    cancel = build(Cancel, world.ports("cancel"), occurrences=use_cases.occurrences(world.ports("cancel")))
    assert isinstance(cancel(stage.cursor.current, OWNER), Cancelled)


def moved_early_and_executed(stage: Stage) -> None:
    """The current occurrence is due half a minute before its time, and is executed then."""
    stage.world.replace.by_id(stage.first, OWNER, point_in_time=START + MINUTE // 2, payload=None)
    stage.world.run_until(START + MINUTE // 2 + SECOND)


@pytest.mark.parametrize("is_stepped", [True, False], ids=["after its step", "before its step"])
@pytest.mark.parametrize(
    "bounds",
    [
        {"until": "2030-01-01T00:00:00Z"},
        {"from": "2026-11-21T07:00:30Z"},
        {"from": "2026-11-20T07:00:00Z"},
        {"count": 1_000},
        {"timeZone": "Europe/Lisbon"},
        {"anchor": "2026-11-21T06:00:00Z"},
    ],
    ids=["end", "later beginning", "earlier beginning", "count", "zone of exact times", "anchor in step"],
)
@pytest.mark.parametrize("give_up", [deleted, moved_early_and_executed])
def test_the_same_times_with_other_bounds_take_nothing_back(
    give_up: Callable[[Stage], None], bounds: Mapping[str, object], *, is_stepped: bool
) -> None:
    """The first time is cancelled, or was executed before it came. Its minute fires no second time."""
    stage = Stage()
    give_up(stage)
    if is_stepped:
        stage.deliver()
    early = len(stage.world.target.reached)
    changed(stage, to_rule({**MINUTELY, **bounds}))
    stage.run_until(START + 3 * MINUTE + SECOND)
    assert [time for _, time, _ in stage.fired[early:]] == [START + 2 * MINUTE, START + 3 * MINUTE]
    assert [number for number, _, _ in stage.fired[early:]] == [2, 3]


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
def test_another_end_loses_nothing_of_what_waits_for_an_end(overlap: Overlap) -> None:
    """With `queue-one`, the last time that passed while one ran comes after it, whatever the end of the rule is."""
    stage = Stage(overlap=overlap)
    stage.world.run_until(START + MINUTE)
    stage.world.clock.sleep_until(START + 2 * MINUTE + 30 * SECOND)
    changed(stage, to_rule({**MINUTELY, "until": "2030-01-01T00:00:00Z"}))
    stage.run_until(START + 3 * MINUTE + SECOND)
    queued = [START + 2 * MINUTE] if overlap is Overlap.QUEUE_ONE else []
    assert [time for _, time, _ in stage.fired] == [START + MINUTE, *queued, START + 3 * MINUTE]


def test_a_rule_that_begins_earlier_has_an_earlier_time() -> None:
    stage = Stage()
    assert changed(stage, to_rule({**MINUTELY, "from": "2026-11-21T10:00:00Z"})).cursor.at == START + HOUR
    answer = changed(stage, to_rule(MINUTELY))
    assert (answer.number, answer.cursor.at) == (1, START + MINUTE)


def test_a_rule_that_has_no_time_left_ends_the_series() -> None:
    stage = Stage()
    answer = changed(stage, to_rule({**MINUTELY, "until": "2026-11-21T08:00:00Z"}))
    assert (answer.cursor.state, answer.put, answer.replaced) == (SeriesState.ENDED, None, stage.first)
    row = stage.world.ledger.read(stage.first)
    assert row
    assert row.state is State.CANCELLED
    stage.run_until(START + 3 * MINUTE)
    assert stage.fired == []
    assert stage.cursor.expires_at, "it is over"


def test_a_new_rule_revives_a_series_that_has_ended() -> None:
    stage = Stage(repeat={**MINUTELY, "until": "2026-11-21T09:01:00Z"})
    stage.run_until(START + 2 * MINUTE)
    assert stage.cursor.state is SeriesState.ENDED
    answer = changed(stage, to_rule(MINUTELY))
    assert (answer.cursor.state, answer.number, answer.cursor.expires_at) == (SeriesState.ACTIVE, 2, 0)
    stage.run_until(START + 3 * MINUTE + SECOND)
    assert [number for number, _, _ in stage.fired] == [1, 2]


def test_one_that_has_ended_and_lost_its_name_is_not_revived() -> None:
    stage = Stage(repeat={**MINUTELY, "until": "2026-11-21T09:01:00Z"})
    put_definition(stage.world.series, ID, evolve(stage.definition, name="nightly"))
    put_name(stage.world.series, stage.cursor, "nightly")
    stage.run_until(START + 2 * MINUTE)
    put_name(stage.world.series, evolve(stage.cursor, series="another"), "nightly")
    answer = stage.change(OWNER, ID, to_rule(MINUTELY))
    assert answer == SeriesRefuses("it was over, and another series has its name now")
    assert stage.cursor.state is SeriesState.ENDED


def test_what_is_cancelled_or_not_there_is_not_changed() -> None:
    stage = Stage()
    assert stage.change("somebody", ID, new_payload) == NoSeries()
    stage.halt.delete(OWNER, ID)
    assert stage.change(OWNER, ID, new_payload) == SeriesRefuses("the series is cancelled")


@pytest.mark.parametrize("times", [1, ROUNDS])
def test_one_that_is_overtaken_reads_again(times: int) -> None:
    """Another call changes the series each time this one has read it."""
    stage = Stage()
    left = [times]

    def overtaken(definition: SeriesDefinition) -> SeriesDefinition:
        if left[0]:
            left[0] -= 1
            changed(stage, lambda one: evolve(one, definition=evolve(one.definition, tags='{"by":"another"}')))
        return new_payload(definition)

    if times == ROUNDS:
        with pytest.raises(Unavailable):
            stage.change(OWNER, ID, overtaken)
        return
    answer = changed(stage, overtaken)
    assert (answer.definition.revision, json.loads(answer.definition.definition.tags)) == (3, {"by": "another"})


def test_the_action_of_the_new_definition_has_its_own_traits() -> None:
    """Its secrets are masked by them, when an occurrence is shown."""
    stage = Stage()
    secret = json.dumps({"type": "http-request", "url": "http://target/", "headers": {"Authorization": "x"}})
    answer = changed(stage, lambda one: evolve(one, definition=evolve(one.definition, action=secret)))
    assert answer.put
    assert answer.put.traits == answer.definition.traits
    assert stage.cursor.at == START + MINUTE < START + HOUR


def test_if_its_rule_fails_an_alarm_rings_and_only_once() -> None:
    """The current one is claimed, so the change takes the step; the zone is not in the tz database any more."""
    stage = Stage()
    broken = evolve(stage.definition, repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}')
    put_definition(stage.world.series, ID, broken)
    stage.world.run_until(START + MINUTE + SECOND)
    assert changed(stage).cursor.state is SeriesState.FAILED
    assert stage.world.observer.counts["SeriesFailed"] == 1
    assert changed(stage).cursor.state is SeriesState.FAILED
    assert stage.world.observer.counts["SeriesFailed"] == 1
