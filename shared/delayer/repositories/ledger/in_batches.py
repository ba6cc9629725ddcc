"""The ledger for those who change and read many rows at a time: one request for up to 25 changes (ADR 0116)."""

from collections.abc import Sequence

from attrs import frozen

from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.ports.ledger import WriteResult, Written
from delayer.ports.unavailable import Unavailable
from delayer.repositories.ledger.ledger import KEY, StoredLedger, answer_of, from_item, put_change
from delayer.store.items import StoredItem
from delayer.store.store import Answer, Refused
from delayer.store.writes import Put


@frozen(kw_only=True)
class StoredLedgerInBatches(StoredLedger):
    """Port LedgerInBatches."""

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        return {item[KEY]: _read(item) for item in self.items(schedule_ids)}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        """Nothing is done by the threads of the pool: all of them may wait for what this one writes for them."""
        made = [self._put(change) for change in changes]
        answers = iter(self.store.write_each([one for one in made if isinstance(one, Put)]))
        return [
            _result(change, next(answers) if isinstance(one, Put) else one)
            for change, one in zip(changes, made, strict=True)
        ]

    def _put(self, change: LedgerChange) -> Put | Unavailable:
        try:
            return put_change(self.table, change)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one change, its neighbours have their answers
            return Unavailable(f"write ledger: {error!r}")


def _result(change: LedgerChange, answer: Answer) -> WriteResult:
    if answer is None:
        return Written()
    return answer_of(change.row, answer.item) if isinstance(answer, Refused) else answer


def _read(item: StoredItem) -> LedgerRow | Unavailable:
    try:
        return from_item(item)
    except Unavailable as error:
        return error
