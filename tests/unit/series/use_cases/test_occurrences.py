"""What is done to one occurrence by its own id, beside the cursor of its series."""

from itertools import permutations

import pytest
from attrs import evolve

from delayer.accept.rules.status import TooLate
from delayer.accept.use_cases.cancel import Cancel, Cancelled
from delayer.accept.use_cases.replace import Replaced
from delayer.dead_letters.dead_letter import DeadLetters, Undeliverable
from delayer.engines.ports import Unavailable
from delayer.history.model import Occurrence, SeriesRefuses, occurrence_of
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR, MINUTE
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.schedule_id import IdKind, kind_of
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.series import KEPT_AT_LEAST, MAX_BESIDE, SeriesState
from delayer.series.use_cases.halt import Halt, Halted
from delayer.series.use_cases.resume import Resume, Resumed
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.looking import put_row
from tests.samples import OWNER
from tests.unit.series.use_cases.test_step import ID, Every, Stage
from tests.world import START


def as_its_owner(stage: Stage) -> Cancel:
    ports = stage.world.ports("cancel")
    return build(Cancel, ports, occurrences=use_cases.occurrences(ports))


def paused(stage: Stage) -> None:
    assert isinstance(a_halt(stage).pause(OWNER, ID), Halted)


def a_halt(stage: Stage) -> Halt:
    return build(Halt, stage.world.ports("halt"))


def patched(stage: Stage, schedule_id: str) -> object:
    return stage.world.replace.by_id(schedule_id, OWNER, point_in_time=START + HOUR, payload=None)


def dead_lettered(stage: Stage, schedule_id: str) -> str:
    """A schedule of the table is a dead letter before its claim; where it is stored."""
    world = stage.world
    schedule = world.stored(schedule_id)
    body = encode(DelayerMessage(schedule=schedule, nonce="n1"))
    copy = Undeliverable(body=body, reason="why", schedule_id=schedule.id, owner=OWNER, nonce="n1")
    build(DeadLetters, world.ports("delayer-relay")).take(copy)
    [key] = world.store.objects
    return key


# ------------------------------------------------------------ its own DELETE


def test_a_cancel_of_the_current_one_gives_up_its_time_and_the_series_goes_on() -> None:
    stage = Stage()
    assert isinstance(as_its_owner(stage)(stage.first, OWNER), Cancelled)
    assert (stage.cursor.current, stage.cursor.passed) == (stage.first, START + MINUTE)
    stage.happen(EventType.CANCELLED, stage.first)
    assert (stage.cursor.number, stage.cursor.at) == (2, START + 2 * MINUTE)
    assert stage.dues == [START + 2 * MINUTE]


def test_a_cancel_of_what_a_pause_has_cancelled_gives_up_its_time_too() -> None:
    """Its owner has said that this one is not to come. The answer is the same as before the pause."""
    stage = Stage()
    paused(stage)
    for _ in range(2):
        before = stage.cursor.revision
        assert isinstance(as_its_owner(stage)(stage.first, OWNER), Cancelled)
        assert stage.cursor.passed == START + MINUTE
    assert stage.cursor.revision == before, "a repeat writes nothing"
    resume = build(Resume, stage.world.ports("resume"))
    assert isinstance(evolve(resume, rule_of=stage.step.rule_of)(OWNER, ID), Resumed)
    assert stage.cursor.at == START + 2 * MINUTE
    a_halt(stage).delete(OWNER, ID)
    before = stage.cursor.revision
    assert isinstance(as_its_owner(stage)(stage.cursor.current, OWNER), Cancelled)
    assert stage.cursor.revision == before, "nothing is put of a series that is cancelled"


def test_a_cancel_of_one_that_is_not_current_any_more_leaves_the_cursor() -> None:
    stage = Stage()
    stage.happen()
    before = stage.cursor
    assert isinstance(as_its_owner(stage)(stage.first, OWNER), Cancelled)
    assert stage.cursor == before


def test_a_cancel_after_the_claim_is_too_late_and_changes_nothing() -> None:
    stage = Stage()
    stage.world.run_until(START + MINUTE)
    before = stage.cursor
    assert isinstance(as_its_owner(stage)(stage.first, OWNER), TooLate)
    assert stage.cursor == before


def test_a_cancel_that_others_overtake_decides_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, tries = Stage(), []
    write = stage.series.write

    def overtaken(transaction: SeriesTransaction) -> bool:
        tries.append(transaction)
        if len(tries) == 1:
            change = evolve(stage.cursor, revision=stage.cursor.revision + 1)
            assert write(SeriesTransaction(cursor=change, over=stage.cursor))
        return write(transaction)

    monkeypatch.setattr(type(stage.series), "write", lambda _, transaction: overtaken(transaction))
    assert isinstance(as_its_owner(stage)(stage.first, OWNER), Cancelled)
    assert len(tries) == 2


# ------------------------------------------------------------ its own PATCH


def test_a_change_of_the_current_one_makes_an_occurrence_that_is_the_current_one() -> None:
    stage = Stage()
    answer = patched(stage, stage.first)
    assert isinstance(answer, Replaced)
    new = answer.schedule
    assert (answer.previous, stage.cursor.current, stage.cursor.number) == (stage.first, new.id, 1)
    which = Occurrence(series=ID, number=1, time=START + MINUTE)  # the time is what the rule says
    assert (kind_of(new.id), occurrence_of(new.definition)) == (IdKind.OCCURRENCE, which)
    assert stage.dues == [START + HOUR]
    stage.happen(EventType.REPLACED, stage.first)
    assert stage.cursor.number == 1, "the old id steps no more"
    stage.happen(EventType.CLAIMED, new.id)
    assert (stage.cursor.number, stage.cursor.at) == (2, START + 2 * MINUTE)


@pytest.mark.parametrize("state", [SeriesState.PAUSED, SeriesState.CANCELLED])
def test_nothing_of_a_closed_series_is_put_again(state: SeriesState) -> None:
    """The cursor is closed, and its DELETE has not come to the ledger row yet."""
    stage = Stage()
    closed = evolve(stage.cursor, revision=stage.cursor.revision + 1, state=state)
    assert stage.series.write(SeriesTransaction(cursor=closed, over=stage.cursor))
    assert patched(stage, stage.first) == SeriesRefuses(f"the series is {state}")
    assert stage.world.ledger.read(stage.first) is None
    assert stage.dues == [START + MINUTE]


def test_whenever_a_change_and_a_delete_of_the_series_meet_nothing_is_left() -> None:
    """In any order: what the change puts is named by the cursor that the DELETE reads."""
    for acts in sorted(set(permutations(["change", "delete"] * 2))):
        stage = Stage()
        for act in acts:
            if act == "change":
                patched(stage, stage.cursor.current)
            else:
                a_halt(stage).delete(OWNER, ID)
        stage.world.run_out(START + 2 * HOUR)
        assert stage.world.target.reached == []


# ------------------------------------------------------------ a redrive


def test_what_is_redriven_is_named_beside_the_current_one() -> None:
    stage = Stage()
    key = dead_lettered(stage, stage.first)
    stage.happen(EventType.DEAD_LETTERED, stage.first)
    assert stage.world.redrive.redrive(key)["schedules"][0]["outcome"] == "redriven"
    assert stage.cursor.beside == (stage.first,)
    answer = a_halt(stage).delete(OWNER, ID)
    assert isinstance(answer, Halted)
    assert sorted(answer.cancelled) == sorted([stage.first, stage.cursor.current])
    stage.world.run_until(START + HOUR)
    assert stage.world.target.reached == []


def test_what_is_redriven_long_after_the_end_keeps_the_series_from_being_forgotten() -> None:
    stage = Stage(rule=Every(until=START + MINUTE))
    key = dead_lettered(stage, stage.first)
    stage.happen(EventType.DEAD_LETTERED, stage.first)
    assert stage.cursor.state is SeriesState.ENDED
    put_row(stage.series, evolve(stage.cursor, expires_at=stage.world.clock.now() + DAY))
    assert stage.world.redrive.redrive(key)["schedules"][0]["outcome"] == "redriven"
    assert stage.cursor.beside == (stage.first,)
    assert stage.cursor.expires_at >= stage.world.clock.now() + KEPT_AT_LEAST


def test_nothing_of_a_paused_series_is_redriven() -> None:
    stage = Stage()
    key = dead_lettered(stage, stage.first)
    stage.happen(EventType.DEAD_LETTERED, stage.first)
    paused(stage)
    [report] = stage.world.redrive.redrive(key)["schedules"]
    assert report["outcome"] == "not redriven: the series is paused; discard it"
    assert report["settled"] is False
    row = stage.world.ledger.read(stage.first)
    assert row
    assert row.state is State.DEAD_LETTERED
    assert list(stage.world.store.objects) == [key]


def test_what_was_claimed_gives_up_its_place_beside_the_current_one() -> None:
    """There are ten places. What waits needs one; what is claimed, or so old that it cannot fire, does not."""
    stage = Stage()
    key = dead_lettered(stage, stage.first)
    stage.happen(EventType.DEAD_LETTERED, stage.first)
    definition, ids = stage.world.stored(stage.cursor.current).definition, stage.world.accept.ids
    others = [ids.issue_for(START + HOUR, definition, OWNER, kind=IdKind.OCCURRENCE) for _ in range(MAX_BESIDE)]
    full = evolve(stage.cursor, revision=stage.cursor.revision + 1, beside=tuple(one.id for one in others))
    assert stage.series.write(SeriesTransaction(cursor=full, over=stage.cursor))
    [report] = stage.world.redrive.redrive(key)["schedules"]
    assert "waiting beside the current one" in report["outcome"]
    assert isinstance(stage.world.cancel(others[3].id, OWNER), Cancelled)
    [report] = stage.world.redrive.redrive(key)["schedules"]
    assert report["outcome"] == "redriven"
    assert set(stage.cursor.beside) == {stage.first, *(one.id for one in others if one is not others[3])}


def test_a_cancel_that_cannot_read_the_series_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the current one: its row alone would not be the truth."""
    stage = Stage()

    def fails(*_: object) -> None:
        raise Unavailable("no answer")

    monkeypatch.setattr(type(stage.series), "filed", fails)
    with pytest.raises(Unavailable):
        as_its_owner(stage)(stage.first, OWNER)
    assert stage.world.ledger.read(stage.first) is None
