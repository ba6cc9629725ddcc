"""Each rule of a series is taken out, one at a time. The search has to find the violation that the rule prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.ledger.model import EventType, LedgerRow, State
from delayer.ledger.rules import ended_unclaimed
from delayer.schedule.instants import Millis
from delayer.series.rules import backfill, command, stepping
from delayer.series.rules.series import Cursor, CursorChange, NewTimes, Overlap, SeriesDefinition, SeriesState, changed
from delayer.series.rules.stepping import AT_AN_END, Happened, NoStep
from tests.model.guard import Guard
from tests.model.series.configurations import SMALL
from tests.model.series.rules import REAL
from tests.model.series.state import Budget
from tests.samples import OWNER


def _any_id(cursor: Cursor, definition: Any, rule: Any, happened: Happened, now: Millis) -> Any:
    return stepping.decide_step(cursor, definition, rule, evolve(happened, schedule_id=cursor.current), now)


def _any_state(cursor: Cursor, definition: Any, rule: Any, happened: Happened, now: Millis) -> Any:
    return stepping.decide_step(evolve(cursor, state=SeriesState.ACTIVE), definition, rule, happened, now)


def _any_definition(cursor: Cursor, definition: SeriesDefinition, rule: Any, happened: Happened, now: Millis) -> Any:
    same = evolve(definition, revision=cursor.definition_revision)
    return stepping.decide_step(cursor, same, rule, happened, now)


def _at_ends_only(cursor: Cursor, definition: Any, rule: Any, happened: Happened, now: Millis) -> Any:
    decision = stepping.decide_step(cursor, definition, rule, happened, now)
    return decision if happened.kind in AT_AN_END else NoStep("it has not ended")


def _at_the_claim_only(cursor: Cursor, definition: Any, rule: Any, happened: Happened, now: Millis) -> Any:
    decision = stepping.decide_step(cursor, definition, rule, happened, now)
    return decision if happened.kind is EventType.CLAIMED else NoStep("it is not claimed")


def _at_once(cursor: Cursor, definition: SeriesDefinition, rule: Any, happened: Happened, now: Millis) -> Any:
    return stepping.decide_step(cursor, evolve(definition, overlap=Overlap.ALLOW), rule, happened, now)


def _without_looking(schedule_id: str, row: LedgerRow | None, now: Millis) -> Happened:
    return Happened(schedule_id=schedule_id, kind=EventType.CLAIMED)


def _in_secret(change: Any) -> Any:
    """The same write, which leaves the revision as it was."""
    if not isinstance(change, CursorChange):
        return change
    return evolve(change, cursor=evolve(change.cursor, revision=change.over.revision))


def _delete_once(cursor: Cursor) -> Any:
    is_over = cursor.state is SeriesState.CANCELLED
    return command.AlreadyClosed(evolve(cursor, current="", beside=())) if is_over else command.decide_delete(cursor)


def _unnamed(cursor: Cursor, schedule_id: str, over: Any = ()) -> Any:
    change = command.decide_beside(cursor, schedule_id, over)
    return (
        evolve(change, cursor=evolve(change.cursor, beside=cursor.beside))
        if isinstance(change, CursorChange)
        else change
    )


def _current_is_enough(cursor: Cursor, schedule_id: str, over: Any = ()) -> Any:
    is_named = schedule_id in cursor.named
    return changed(cursor) if is_named else command.decide_beside(cursor, schedule_id, over)


def _though_closed(cursor: Cursor, schedule_id: str, over: Any = ()) -> Any:
    return changed(cursor, beside=(*cursor.beside, schedule_id))


def _resumes_at_once(cursor: Cursor, definition: Any, rule: Any, row: LedgerRow | None, now: Millis) -> Any:
    cancelled = ended_unclaimed(cursor.current, OWNER, State.CANCELLED, now, "")
    return command.decide_resume(cursor, definition, rule, row or cancelled, now)


def _resumes_beside(cursor: Cursor, definition: SeriesDefinition, rule: Any, row: Any, now: Millis) -> Any:
    return command.decide_resume(cursor, evolve(definition, overlap=Overlap.ALLOW), rule, row, now)


def _forgets_what_passed(cursor: Cursor, definition: Any, rule: Any, row: Any, now: Millis) -> Any:
    return command.decide_resume(evolve(cursor, passed=0), definition, rule, row, now)


def _same_number(cursor: Cursor, resume: Any, row: Any, schedule_id: str) -> Any:
    change = command.resumed(cursor, resume, row, schedule_id)
    return evolve(change, cursor=evolve(change.cursor, current=cursor.current))


def _patch_forgets(cursor: Cursor, definition: Any, rule: Any, row: Any, now: Millis, times: NewTimes) -> Any:
    return command.decide_patch(evolve(cursor, passed=0), definition, rule, row, now, times)


def _any_other_rule(times: NewTimes) -> NewTimes:
    return times if times is NewTimes.NONE else NewTimes.PATTERN


def _always_current(cursor: Cursor, old: str, new: str, row: Any, over: Any = ()) -> Any:
    return command.decide_occurrence_patch(cursor, old, new, None, over)


def _fills_at_the_claim(cursor: Cursor, definition: Any, rule: Any, happened: Happened) -> Any:
    return backfill.decide_backfill_step(cursor, definition, rule, evolve(happened, kind=EventType.EXECUTED))


def _fills_after_any_id(cursor: Cursor, definition: Any, rule: Any, happened: Happened) -> Any:
    assert cursor.backfill
    own = evolve(happened, schedule_id=cursor.backfill.current)
    return backfill.decide_backfill_step(cursor, definition, rule, own)


def _fills_in_any_state(cursor: Cursor, definition: Any, rule: Any, happened: Happened) -> Any:
    return backfill.decide_backfill_step(evolve(cursor, state=SeriesState.ACTIVE), definition, rule, happened)


def _fills_at_once(cursor: Cursor, rule: Any, row: LedgerRow | None, now: Millis) -> Any:
    cancelled = ended_unclaimed(cursor.current, OWNER, State.CANCELLED, now, "")
    return backfill.decide_backfill_resume(cursor, rule, row or cancelled, now)


def _fills_what_was_given_up(cursor: Cursor, schedule_id: str) -> Any:
    return command.decide_occurrence_delete(evolve(cursor, backfill=None), schedule_id)


def _leaves_the_backfill(cursor: Cursor, old: str, new: str, row: Any, over: Any = ()) -> Any:
    is_fill = cursor.backfill and old == cursor.backfill.current
    return changed(cursor) if is_fill else command.decide_occurrence_patch(cursor, old, new, row, over)


def _revision_alone(change: CursorChange) -> Cursor:
    return evolve(change.over, revision=change.cursor.revision)


ONE_BATCH: Final = Budget(steppers=1, times=2, backfills=1, ends=1)
TWO_BATCHES: Final = Budget(steppers=2, times=1, backfills=1, ends=2)
GUARDS: Final = (
    Guard(
        name="only-the-current-id",
        what="an event of any occurrence steps",
        without=evolve(REAL, step=_any_id),
        possible=SMALL["events twice, late, in any order"],
    ),
    Guard(
        name="revision-in-the-condition",
        what="what was decided from an older cursor is written",
        without=evolve(REAL, may_write=lambda change, current: True),
        possible=SMALL["events twice, late, in any order"],
    ),
    Guard(
        name="active-in-the-decision",
        what="an event steps, whatever the state",
        without=evolve(REAL, step=_any_state),
        possible=SMALL["paused, resumed, deleted"],
    ),
    Guard(
        name="one-transaction",
        what="the cursor is written first, and the occurrence put afterwards",
        without=evolve(REAL, one_transaction=False),
        possible=SMALL["paused, resumed, crash"],
    ),
    Guard(
        name="an-end-steps-too",
        what="only a claim steps",
        without=evolve(REAL, step=_at_the_claim_only),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="the-claim-steps",
        what="with overlap allow, only an end steps",
        without=evolve(REAL, step=_at_ends_only),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="skip-waits-for-the-end",
        what="with overlap skip, a claim steps",
        without=evolve(REAL, step=_at_once),
        possible=SMALL["overlap skip, events lost"],
    ),
    Guard(
        name="net",
        what="nobody looks for series whose event was lost",
        without=evolve(REAL, net=False),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="net-looks-at-the-ledger",
        what="the net steps without knowing what became of the current occurrence",
        without=evolve(REAL, of_row=_without_looking),
        possible=SMALL["events lost"],
    ),
    Guard(
        name="definition-of-the-cursor",
        what="cursor and definition from both sides of a PATCH are used together",
        without=evolve(REAL, step=_any_definition),
        possible=SMALL["overlap queue-one, changed"],
    ),
    Guard(
        name="cursor-first",
        what="the ids are cancelled before the cursor is written",
        without=evolve(REAL, cursor_first=False),
        possible=SMALL["paused, resumed, deleted"],
    ),
    Guard(
        name="names-what-it-wrote-over",
        what="a DELETE cancels what it read before its write",
        without=evolve(REAL, names_what_it_wrote_over=False),
        possible=SMALL["paused, resumed, deleted"],
    ),
    Guard(
        name="pause-raises-the-revision",
        what="a pause leaves the revision as it was",
        without=evolve(REAL, pause=lambda cursor: _in_secret(command.decide_pause(cursor))),
        possible=SMALL["paused, resumed, deleted"],
    ),
    Guard(
        name="repeated-delete-cancels-again",
        what="a DELETE of a series that is cancelled already does nothing",
        without=evolve(REAL, delete=_delete_once),
        possible=SMALL["deleted, crash, run-now"],
    ),
    Guard(
        name="all-that-is-named",
        what="a DELETE cancels the current occurrence only",
        without=evolve(REAL, named=lambda cursor: (cursor.current,)),
        possible=SMALL["deleted, crash, run-now"],
    ),
    Guard(
        name="run-now-is-named",
        what="the cursor does not name what run-now puts",
        without=evolve(REAL, beside=_unnamed),
        possible=SMALL["deleted, crash, run-now"],
    ),
    Guard(
        name="closed-takes-nothing",
        what="run-now puts one, whatever the state",
        without=evolve(REAL, beside=_though_closed),
        possible=SMALL["deleted, crash, run-now"],
    ),
    Guard(
        name="redrive-is-named",
        what="the cursor does not name what is redriven",
        without=evolve(REAL, beside=_unnamed),
        possible=SMALL["given up, redriven, deleted"],
    ),
    Guard(
        name="current-is-named-twice",
        what="a redrive of the current occurrence is not named beside it",
        without=evolve(REAL, beside=_current_is_enough),
        possible=SMALL["given up, redriven, deleted"],
    ),
    Guard(
        name="redrive-asks-the-cursor",
        what="a redrive reads the cursor, and then writes the ledger alone",
        without=evolve(REAL, redrive_asks=False),
        possible=SMALL["given up, redriven, deleted"],
    ),
    Guard(
        name="resume-cancels-first",
        what="a resume does not look whether the pause had cancelled the current occurrence",
        without=evolve(REAL, resume=_resumes_at_once),
        possible=SMALL["paused, resumed, crash"],
    ),
    Guard(
        name="resume-raises-the-revision",
        what="a resume leaves the revision as it was",
        without=evolve(REAL, resumed=lambda *given: _in_secret(command.resumed(*given))),
        possible=SMALL["paused and resumed twice"],
    ),
    Guard(
        name="resume-has-a-new-id",
        what="the cursor keeps the id that the pause has cancelled",
        without=evolve(REAL, resumed=_same_number),
        possible=SMALL["paused and resumed twice"],
    ),
    Guard(
        name="resume-waits-for-the-end",
        what="with overlap skip, a resume puts the next one while the last one runs",
        without=evolve(REAL, resume=_resumes_beside),
        possible=SMALL["overlap skip, paused, resumed"],
    ),
    Guard(
        name="resume-knows-what-passed",
        what="a resume begins at now",
        without=evolve(REAL, resume=_forgets_what_passed),
        possible=SMALL["an occurrence is cancelled, paused, resumed"],
    ),
    Guard(
        name="occurrence-delete-notes-its-time",
        what="the DELETE of an occurrence writes the ledger alone",
        without=evolve(REAL, occurrence_delete=lambda cursor, schedule_id: None),
        possible=SMALL["an occurrence is cancelled, paused, resumed"],
    ),
    Guard(
        name="occurrence-delete-after-a-pause",
        what="the DELETE of an occurrence that a pause has cancelled writes nothing",
        without=evolve(REAL, gives_up=lambda change: False),
        possible=SMALL["an occurrence is cancelled, paused, resumed"],
    ),
    Guard(
        name="patch-knows-what-passed",
        what="a PATCH of a series that has ended begins at now",
        without=evolve(REAL, patch=_patch_forgets),
        possible=SMALL["an occurrence is cancelled, and one changed"],
    ),
    Guard(
        name="bounds-take-nothing-back",
        what="another end of the rule is taken for a rule with other times, which takes back what was cancelled",
        without=evolve(REAL, new_times=_any_other_rule),
        possible=SMALL["an occurrence is cancelled, and the end of the rule is put off"],
    ),
    Guard(
        name="bounds-repeat-nothing",
        what="the same, and puts again what was moved early and executed",
        without=evolve(REAL, new_times=_any_other_rule),
        possible=SMALL["an occurrence is moved early, and the end of the rule is put off"],
    ),
    Guard(
        name="patch-in-one-transaction",
        what="a PATCH writes the cursor first, and then cancels the occurrence that it has replaced",
        without=evolve(REAL, patch_is_one_transaction=False),
        possible=SMALL["changed twice"],
    ),
    Guard(
        name="occurrence-patch-moves-the-cursor",
        what="the PATCH of an occurrence leaves the cursor alone",
        without=evolve(REAL, occurrence_patch=lambda *given: None),
        possible=SMALL["an occurrence is changed, deleted"],
    ),
    Guard(
        name="ended-occurrence-lives-beside",
        what="an occurrence that failed, and is put again by its PATCH, becomes the current one",
        without=evolve(REAL, occurrence_patch=_always_current),
        possible=SMALL["an occurrence is changed, deleted"],
    ),
    Guard(
        name="group-cancels-series",
        what="the cancel of a group cancels occurrences",
        without=evolve(REAL, group_cancels_series=False),
        possible=SMALL["its group is cancelled"],
    ),
    Guard(
        name="beside-until-its-end",
        what="what run-now has put is named until its claim",
        without=evolve(REAL, beside_until_its_end=False),
        possible=SMALL["run-now twice, deleted"],
    ),
    Guard(
        name="backfill-is-named",
        what="a DELETE leaves out the occurrence of the backfill",
        without=evolve(REAL, named=lambda cursor: evolve(cursor, backfill=None).named),
        possible=SMALL["backfill, deleted"],
    ),
    Guard(
        name="backfill-one-at-a-time",
        what="a claim of its occurrence puts the next one of the backfill",
        without=evolve(REAL, fill_step=_fills_at_the_claim),
        possible=SMALL["backfill, events twice"],
    ),
    Guard(
        name="backfill-only-the-current-id",
        what="an event of an earlier occurrence of the backfill puts the next one",
        without=evolve(REAL, any_is_fill=True, fill_step=_fills_after_any_id),
        possible=SMALL["backfill, events twice"],
    ),
    Guard(
        name="backfill-rests-while-closed",
        what="the backfill goes on after a pause or a DELETE",
        without=evolve(REAL, fill_step=_fills_in_any_state),
        possible=SMALL["backfill, deleted"],
    ),
    Guard(
        name="resume-goes-on-with-the-backfill",
        what="a resume leaves the backfill as the pause has left it",
        without=evolve(REAL, fill_resume=lambda *given: None),
        possible=SMALL["backfill, paused, resumed"],
    ),
    Guard(
        name="resume-cancels-the-backfill-first",
        what="a resume does not look whether the pause had cancelled the occurrence of the backfill",
        without=evolve(REAL, fill_resume=_fills_at_once),
        possible=SMALL["backfill, paused, resumed"],
    ),
    Guard(
        name="backfill-knows-what-was-given-up",
        what="the DELETE of an occurrence of the backfill writes the ledger alone",
        without=evolve(REAL, occurrence_delete=_fills_what_was_given_up),
        possible=SMALL["backfill, one of it is cancelled, paused, resumed"],
    ),
    Guard(
        name="occurrence-patch-moves-the-backfill",
        what="the PATCH of an occurrence of the backfill leaves the cursor alone",
        without=evolve(REAL, occurrence_patch=_leaves_the_backfill),
        possible=SMALL["backfill, one of it is changed, deleted"],
    ),
    Guard(
        name="batch-writes-on-its-condition",
        what="a batch writes for the second event of a series what it decided by the read for both",
        without=evolve(REAL, known=lambda change: change.over, may_write=lambda change, current: True),
        possible=ONE_BATCH,
    ),
    Guard(
        name="batch-knows-the-whole-cursor",
        what="of its first write, a batch takes only the revision over to the next",
        without=evolve(REAL, known=_revision_alone),
        possible=ONE_BATCH,
    ),
    Guard(
        name="batch-reads-again",
        what="an event of a batch whose condition fails is settled",
        without=evolve(REAL, overtaken_reads_again=False),
        possible=TWO_BATCHES,
    ),
    Guard(
        name="batch-reads-strongly",
        what="the read for a batch may show what was there before the last write",
        without=evolve(REAL, reads_strongly=False),
        possible=SMALL["batches, two steppers, crash"],
    ),
    Guard(
        name="batch-settles-each",
        what="an event whose write fails is deleted with its batch",
        without=evolve(REAL, settles_each=False),
        possible=SMALL["batches, two steppers, crash"],
    ),
    Guard(
        name="batch-reads-what-belongs-together",
        what="cursor and definition of one read are used together, though a PATCH came in between",
        without=evolve(REAL, step=_any_definition),
        possible=SMALL["batches, changed, torn"],
    ),
)
