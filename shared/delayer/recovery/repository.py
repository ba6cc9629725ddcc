"""The control rows of suspects: `suspect#<digest>` and `passed#<function>`."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NUMBER, Mapped, always
from delayer.engines.store.model import Change, Delete, Is, Key, Put, Some, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.recovery.rules import Trial
from delayer.schedule.instants import DAY, SECOND, Millis

KEPT_FOR: Final[Millis] = 30 * DAY  # a row that was never deleted; SQS keeps no message longer than 14 days
TRIAL: Final[Mapped[Trial]] = Mapped(Trial, "a trial", version=None, began=always(NUMBER), proofs=always(NUMBER))


@frozen(kw_only=True)
class StoredTrials:
    """Keeps a control row for each suspect."""

    store: Store
    table: str

    def unfinished(self, suspect: str) -> Trial | None:
        row = self.store.get(self.table, _suspect(suspect))
        return TRIAL.row(row) if row else None

    def begin(self, suspect: str, trial: Trial) -> None:
        self.store.write(self._put(suspect, trial))

    def finish(self, suspect: str) -> None:
        self.store.write(Delete(self.table, _suspect(suspect)))

    def any_unfinished(self, messages: Sequence[str]) -> set[str]:
        rows = self.store.get_many(self.table, [_suspect(one) for one in messages])
        return {row["name"].removeprefix("suspect#") for row in rows}

    def begin_all(self, messages: Sequence[str], began: Millis) -> None:
        if self.store.write_all([self._put(one, Trial(began=began)) for one in messages]):
            raise Unavailable("begin a run: not all rows are written")

    def finish_all(self, messages: Sequence[str]) -> None:
        if self.store.write_all([Delete(self.table, _suspect(one)) for one in messages]):
            raise Unavailable("finish a run: not all rows are deleted")

    def note_pass(self, function: str, now: Millis) -> None:
        is_later = Some((lacks("passedAt"), Is("passedAt", now, "<")))
        try:
            self.store.write(Change(self.table, _passed(function), put={"passedAt": now}, when=is_later))
        except WriteRefused:
            return  # one that was later, or the same

    def passed(self, function: str) -> Millis | None:
        row = self.store.get(self.table, _passed(function))
        return NUMBER.load(row.get("passedAt", 0)) if row else None

    def _put(self, suspect: str, trial: Trial) -> Put:
        expires = (trial.began + KEPT_FOR) // SECOND
        return Put(self.table, _suspect(suspect), {**TRIAL.item(trial), "expiresAt": expires})


def _suspect(digest: str) -> Key:
    return row_key(f"suspect#{digest}")


def _passed(function: str) -> Key:
    return row_key(f"passed#{function}")
