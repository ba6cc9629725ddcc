"""What a list shows of its schedules beside their states: what they do, whose group they are in (ADR 0127)."""

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.api.status import Status, outline_of
from delayer.core.history.events import Original
from delayer.ports.journal import ReadsBeginnings
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable


@frozen(kw_only=True)
class Outlines:
    """One page of a list."""

    journal: ReadsBeginnings | None  # None: it is switched off
    actions: Mapping[str, ActionType]
    observer: Observer

    def __call__(self, found: Sequence[Status], owner: str) -> list[Status]:
        """Each with its outline, if its record is in the table, or if the journal knows it: it is asked once."""
        known = self._known([one.schedule_id for one in found if one.original is None], owner)
        return [self._outlined(one, one.original or known.get(one.schedule_id)) for one in found]

    def _known(self, ids: Sequence[str], owner: str) -> Mapping[str, Original]:
        """If the journal does not answer, a list says less, and nothing else is wrong with it."""
        try:
            return self.journal.beginnings(owner, ids) if self.journal and ids else {}
        except Unavailable as error:
            self.observer.warn("journal not read", error=str(error))
            return {}

    def _outlined(self, status: Status, original: Original | None) -> Status:
        return evolve(status, outline=outline_of(original, self.actions)) if original else status
