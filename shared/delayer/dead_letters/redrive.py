"""The commands of an operator for dead letters and failed schedules: list, show, redrive, discard (ADR 0021)."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from attrs import evolve, frozen

from delayer.actions.rules.message_group import message_group_of
from delayer.dead_letters.model import BROUGHT_BACK, Contents, decode
from delayer.dead_letters.ports import DeadLetterStore
from delayer.dead_letters.rules import ACCEPTED, LeftAsIs, decide_discard, decide_redrive, filed, redriven, settled
from delayer.engines.ports import Clock, Observer, Outgoing, Queue, Unavailable
from delayer.history.model import SeriesRefuses
from delayer.ledger.model import IllegalTransition, LedgerChange, LedgerRow, State, signed
from delayer.ledger.ports import Conflict, Ledger
from delayer.masking.mask import masked_text
from delayer.records.ports import Records
from delayer.schedule.instants import Millis, delay_seconds, format_instant, within_period
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.misfire import asked_for_again
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import is_occurrence

PAGE: Final = 100  # entries of one list
REDRIVEN: Final = "redriven"  # the outcome of a schedule that was
COMES_BACK: Final = (  # a redrive would give it a nonce of its own, and the copy that is brought back would be refused
    "it is brought back by itself every five minutes; if it stays, read the warnings of stream-enqueuer"
)
NO_SCHEDULE: Final = "no schedule can be read from it: show it, POST the schedule again, and discard it"

Report = tuple[dict[str, Any], LedgerRow | None]  # what came of a schedule; its row, if that is to be settled
OPERATOR: Final = "an operator"
OUR_NAMES: Final = ("Keys", "nonce")  # of a stream record and of our messages: no secrets of anybody


class ReopensOccurrences(Protocol):
    """The use case Occurrences."""

    def reopen(self, schedule: Schedule, opened: LedgerChange) -> bool | SeriesRefuses:
        """As there."""
        ...


class Impossible(ValueError):
    """The command cannot be carried out; the text says why and what to do instead."""


@frozen(kw_only=True)
class Redrive:
    """Commands on the dead-letter store."""

    clock: Clock
    ledger: Ledger
    dead_letter_store: DeadLetterStore
    timed_records: Records
    delayer_queue: Queue
    observer: Observer
    occurrences: ReopensOccurrences
    read_dead_letter: Callable[[bytes], Contents]  # never raises
    new_token: Callable[[], str]
    period: Millis
    by: str = OPERATOR  # who gives the commands

    def list(self, prefix: str = "", after: str = "") -> dict[str, Any]:
        """A page of what is stored, without bodies; `next` is the `after` of the page that follows, if there is one."""
        keys = self.dead_letter_store.list(prefix, after, PAGE)
        entries = [_shown(key, content) for key in keys if (content := self.dead_letter_store.get(key)) is not None]
        return {"deadLetters": entries} | ({"next": keys[-1]} if len(keys) == PAGE else {})

    def show(self, key: str) -> dict[str, Any]:
        """One dead letter, with its body, whose secrets are masked (ADR 0067)."""
        content = self._content(key)
        return _shown(key, content) | {"body": masked_text(_body(content), OUR_NAMES)}

    def redrive(self, key: str) -> dict[str, Any]:
        """Opens the ledger again and lets the schedule go on: it fires at its time, at once if it is overdue.

        It is safe to repeat it after a crash: a second copy has another nonce, and the ledger lets one through. The
        body is deleted only when nothing in it is needed any more.
        """
        if key.startswith(BROUGHT_BACK):
            raise Impossible(COMES_BACK)
        contents = self.read_dead_letter(self._content(key))
        if not contents.schedules:
            raise Impossible(NO_SCHEDULE)
        if contents.accepted:
            raise Impossible(ACCEPTED)
        reports = [self.redrive_one(schedule) for schedule in contents.schedules]
        return {
            "schedules": [one for one, _ in reports],
            "malformed": contents.malformed,
            "stillStored": not self.close(key, contents, reports),
        }

    def close(self, key: str, contents: Contents, reports: Sequence[Report]) -> bool:
        """Deletes a body that was redriven if nothing in it is needed any more; whether it is deleted."""
        is_settled = is_whole(contents) and all(one["settled"] for one, _ in reports)
        if is_settled:
            self.dead_letter_store.remove(key)
            for _, row in reports:
                self._settle(row)
        return is_settled

    def discard(self, key: str) -> dict[str, Any]:
        """Ends as dropped what has no other end, and deletes the body. Raises Impossible for what is to be redriven."""
        contents = self.read_dead_letter(self._content(key))
        reports = [self.discard_one(schedule, handed_over=contents.handed_over) for schedule in contents.schedules]
        for one in reports:
            if not one["settled"]:  # its body may be needed again
                raise Impossible(f"{one['scheduleId']} is not discarded: {one['outcome']}")
        self.dead_letter_store.remove(key)
        return {"schedules": reports}

    def redrive_one(self, schedule: Schedule, *, accepted: bool = False) -> Report:
        """Reports the result; and returns the row of one that went to the table, which is to be settled afterwards.

        `accepted` as that of its contents.
        """
        row = self.ledger.read(schedule.id)
        if refusal := decide_redrive(schedule, row, self.clock.now(), accepted=accepted):
            return report(schedule, refusal.reason, settled=refusal.settled), None
        try:
            opened = self._move(schedule, row)
        except IllegalTransition as error:
            return report(schedule, f"not redriven: {error}", settled=False), None
        if isinstance(opened, SeriesRefuses):
            return report(schedule, f"not redriven: {opened.reason}; discard it", settled=False), None
        self.observer.note("redriven", schedule.id, by=self.by)
        return report(schedule, REDRIVEN, settled=True), opened

    def discard_one(self, schedule: Schedule, *, handed_over: bool) -> dict[str, Any]:
        """Reports the result. `handed_over` as that of its contents."""
        row, now = self.ledger.read(schedule.id), self.clock.now()
        decision = decide_discard(schedule, row, now, handed_over=handed_over)
        if isinstance(decision, LeftAsIs):
            return report(schedule, decision.reason, settled=decision.settled)
        self._write(decision)
        self.observer.note("discarded", schedule.id, by=self.by)
        return report(schedule, State.DROPPED, settled=True)

    def _move(self, schedule: Schedule, row: LedgerRow | None) -> LedgerRow | SeriesRefuses | None:
        """To the table if it is due later than the delayer period, else to the delayer queue. The row of the former."""
        now = self.clock.now()
        if not within_period(schedule.address.bucket.minute, now, self.period):
            opened = self._open(schedule, row, "")
            if isinstance(opened, SeriesRefuses):
                return opened
            self.timed_records.put(
                schedule
            )  # as it was: nothing of a definition ever changes, nor when it was accepted
            return opened
        nonce = self.new_token()
        if isinstance(refused := self._open(schedule, row, nonce), SeriesRefuses):
            return refused
        definition = asked_for_again(schedule.definition, schedule.point_in_time, now)
        body = encode(DelayerMessage(schedule=evolve(schedule, definition=definition), nonce=nonce))
        delay = delay_seconds(schedule.point_in_time, now)
        if self.delayer_queue.send(
            [Outgoing(body=body, delay_seconds=delay, message_group=message_group_of(schedule))]
        ):
            raise Unavailable("the delayer queue did not accept it; it is still stored: redrive it again")
        return None

    def _open(self, schedule: Schedule, row: LedgerRow | None, nonce: str) -> LedgerRow | SeriesRefuses:
        opened = evolve(redriven(schedule.id, schedule.owner, row, nonce, self.clock.now()), by=self.by)
        if not is_occurrence(schedule.id):
            self._write(LedgerChange(row=opened, over=row))
            return opened
        written = self.occurrences.reopen(schedule, signed(LedgerChange(row=opened, over=row), self.by))
        if isinstance(written, SeriesRefuses):
            return written
        if not written:
            raise Impossible(f"{schedule.id} or its series was changed in the meantime: try again")
        return opened

    def _settle(self, row: LedgerRow | None) -> None:
        """From here on its record may be dead-lettered again. If its claim was faster, there is nothing to do."""
        if row:
            [result] = self.ledger.write([LedgerChange(row=settled(row), over=row)])
            if isinstance(result, Unavailable):
                raise result

    def _write(self, change: LedgerChange) -> None:
        """An operator decided on the row that was read. If there is another one now, the operator decides again."""
        [result] = self.ledger.write([signed(change, self.by)])
        match result:
            case Conflict(current):
                raise Impossible(f"{current.schedule_id} became {current.state} in the meantime: try again")
            case Unavailable():
                raise result

    def _content(self, key: str) -> bytes:
        content = self.dead_letter_store.get(key)
        if content is None:
            raise Impossible(f"nothing is stored under {key!r}: list what is")
        return content


def is_whole(contents: Contents) -> bool:
    """Whether a command for its schedules is one for all that the body holds."""
    return not contents.malformed and not contents.others


def _shown(key: str, content: bytes) -> dict[str, Any]:
    try:
        letter = decode(content)
    except ValueError:
        return {"key": key, "scheduleId": "", "reason": filed(content).reason}
    return {
        "key": key,
        "scheduleId": letter.schedule_id,
        "reason": letter.reason,
        "source": letter.source,
        "at": format_instant(letter.at),
    }


def _body(content: bytes) -> str:
    try:
        return decode(content).body
    except ValueError:
        return content.decode("utf-8", "replace")


def report(schedule: Schedule, outcome: str, *, settled: bool) -> dict[str, Any]:
    """One schedule in an answer. `settled`: it does not need its stored body any more."""
    return {
        "scheduleId": schedule.id,
        "pointInTime": format_instant(schedule.point_in_time),
        "outcome": str(outcome),
        "settled": settled,
    }
