"""The decisions that the model of a series asks for: those of the code, so that a guard can be taken out of them."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from delayer.accept.rules import status as cancellation
from delayer.dead_letters.rules import decide_redrive
from delayer.ledger.rules import decide_claim
from delayer.series.rules import backfill, command, series, stepping


@frozen(kw_only=True)
class Rules:
    """What the functions go by."""

    step: Callable[..., Any] = stepping.decide_step
    stepped: Callable[..., series.CursorChange] = stepping.stepped
    of_row: Callable[..., stepping.Happened | None] = stepping.of_row  # what the net finds
    may_write: Callable[[series.CursorChange, series.Cursor], bool] = series.may_write
    pause: Callable[..., Any] = command.decide_pause
    delete: Callable[..., Any] = command.decide_delete
    resume: Callable[..., Any] = command.decide_resume
    resumed: Callable[..., series.CursorChange] = command.resumed
    patch: Callable[..., Any] = command.decide_patch
    new_times: Callable[[series.NewTimes], series.NewTimes] = lambda times: times  # how a PATCH takes another rule
    beside: Callable[..., Any] = command.decide_beside
    fill: Callable[..., Any] = backfill.decide_backfill
    fill_step: Callable[..., Any] = backfill.decide_backfill_step
    filled: Callable[..., series.CursorChange] = backfill.any_stepped
    fill_resume: Callable[..., Any] = backfill.decide_backfill_resume
    occurrence_delete: Callable[..., Any] = command.decide_occurrence_delete
    gives_up: Callable[[series.CursorChange], bool] = command.gives_up
    occurrence_patch: Callable[..., Any] = command.decide_occurrence_patch
    named: Callable[[series.Cursor], tuple[str, ...]] = lambda cursor: cursor.named
    claim: Callable[..., Any] = decide_claim
    cancel: Callable[..., Any] = cancellation.decide_cancel
    replace: Callable[..., Any] = cancellation.decide_replace
    redrive: Callable[..., Any] = decide_redrive
    known: Callable[[series.CursorChange], series.Cursor] = lambda change: change.cursor  # to the rest of a batch
    overtaken_reads_again: bool = True  # in a batch: what its condition refuses is not settled
    reads_strongly: bool = True  # a batch
    settles_each: bool = True  # not all of a batch, whatever fails of it
    net: bool = True  # a tick asks for series whose current occurrence is over
    one_transaction: bool = True  # the cursor and what is put
    cursor_first: bool = True  # and then what it names is cancelled
    names_what_it_wrote_over: bool = True  # not what was read before
    patch_is_one_transaction: bool = True  # with the ledger row of what is replaced
    any_is_fill: bool = False  # not only what happened to its current one is a reason for the backfill to go on
    beside_until_its_end: bool = True  # not until its claim
    redrive_asks: bool = True  # the cursor, in the transaction that reopens the row
    group_cancels_series: bool = True  # not their occurrences


REAL = Rules()
