"""The registered action types in memory."""

from collections.abc import Mapping

from attrs import Factory, define

from delayer.core.actions.registration import Registrations


@define
class MemoryActions:
    """Port Actions."""

    rows: dict[str, Registrations] = Factory(dict)

    def actions(self) -> Mapping[str, Registrations]:
        return dict(self.rows)

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        if self.rows.get(kind, ()) != over:
            return False
        if registrations:
            self.rows[kind] = registrations
        else:
            self.rows.pop(kind, None)
        return True
