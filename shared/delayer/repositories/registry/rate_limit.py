"""How much an owner creates, in the registry: list `rate#<owner>`, an entry for each window of time (ADR 0054)."""

from attrs import frozen

from delayer.core.schedule.instants import SECOND, Millis
from delayer.store.conditions import Is, Some, lacks
from delayer.store.items import entry_key
from delayer.store.store import Refused, Store
from delayer.store.writes import Change


@frozen(kw_only=True)
class StoredRateLimit:
    """Port RateLimit."""

    store: Store
    table: str

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        if at_most < 1:
            return False  # the condition would let the first one pass
        change = Change(
            self.table,
            entry_key(f"rate#{owner}", window),
            put={"expiresAt": expires_at // SECOND},
            add={"count": 1},
            when=Some((lacks("count"), Is("count", at_most, "<"))),
        )
        try:
            self.store.write(change)
        except Refused:
            return False
        return True
