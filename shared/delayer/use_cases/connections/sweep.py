"""Deletes the secrets that no row names: of what was replaced or deleted, and of calls that died (ADR 0105)."""

from typing import Final, Protocol

from attrs import frozen

from delayer.core.connections.connection import SWEPT_AFTER, SecretNote
from delayer.ports.clock import Clock
from delayer.ports.connections import NotesSecrets
from delayer.ports.observer import Observer
from delayer.ports.secrets import WritesSecrets
from delayer.ports.unavailable import Unavailable

AT_A_TIME: Final = 10


class SecretsOfSweep(WritesSecrets, Protocol):
    """What it needs of the secrets."""


@frozen(kw_only=True)
class SweepSecrets:
    """Part of each call that writes connections: what earlier ones have left behind, of whatever owner."""

    clock: Clock
    connections: NotesSecrets
    secrets: SecretsOfSweep
    observer: Observer

    def __call__(self) -> None:
        """Whatever happens, the call goes on."""
        try:
            for note in self.connections.notes(self.clock.now() - SWEPT_AFTER, AT_A_TIME):
                if self._deleted(note):
                    self.observer.note("secret swept", secret=note.secret)
        except Unavailable as error:
            self.observer.warn("secrets not swept", error=str(error))

    def away(self, note: SecretNote) -> None:
        """One at once. If that fails, a later sweep finds its note."""
        try:
            self._deleted(note)
        except Unavailable as error:
            self.observer.warn("secret not deleted yet", error=str(error))

    def _deleted(self, note: SecretNote) -> bool:
        """Whether it was: not before it is doomed, so that no row names it any more. Raises Unavailable."""
        if not (note.doomed or self.connections.doom(note)):
            return False
        self.secrets.delete(note.owner, note.secret)
        self.connections.forget(note)
        return True
