"""Connections, their secrets and tokens in memory."""

from attrs import Factory, define, evolve

from delayer.core.connections.connection import MOST, Connection, SecretNote, SeriesUse, Use
from delayer.core.connections.tokens import TokenRow
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.ports.connections import ConnectionPage, Full, UsePage
from delayer.ports.unavailable import Unavailable

SERIES = "series#"


@define
class MemoryTokens:
    """Port TokenRows."""

    rows: dict[tuple[str, str], TokenRow] = Factory(dict)

    def read(self, owner: str, name: str) -> TokenRow | None:
        return self.rows.get((owner, name))

    def write(self, row: TokenRow, over: TokenRow | None) -> bool:
        key = (row.owner, row.name)
        present = self.rows.get(key)
        if present == row:
            return True
        if _version_of_token(present) != _version_of_token(over):
            return False
        self.rows[key] = row
        return True


@define
class MemoryConnections:
    """Port Connections."""

    tokens: MemoryTokens = Factory(MemoryTokens)
    rows: dict[tuple[str, str], Connection] = Factory(dict)
    noted: dict[tuple[Millis, str], SecretNote] = Factory(dict)
    named_by: dict[tuple[str, str], dict[str, Use]] = Factory(dict)

    def read(self, owner: str, name: str) -> Connection | None:
        return self.rows.get((owner, name))

    def listed(self, owner: str, after: str, at_most: int) -> ConnectionPage:
        rest = sorted(name for whose, name in self.rows if whose == owner and name > after)
        return ConnectionPage(
            connections=tuple(self.rows[owner, name] for name in rest[:at_most]),
            more=rest[at_most - 1] if len(rest) > at_most else "",
        )

    def uses(self, owner: str, name: str, after: str, at_most: int) -> UsePage:
        found = self.named_by.get((owner, name), {})
        rest = sorted((entry for entry in found if not after or entry < after), reverse=True)
        return UsePage(
            uses=tuple(found[entry] for entry in rest[:at_most]),
            more=rest[at_most - 1] if len(rest) > at_most else "",
        )

    def write(
        self,
        row: Connection,
        over: Connection | None,
        named: SecretNote | None = None,
        left: SecretNote | None = None,
    ) -> bool:
        present = self.rows.get((row.owner, row.name))
        if present == row:
            return True
        if _version(present) != _version(over) or not self._is_vouched(named):
            return False
        if over is None and sum(whose == row.owner for whose, _ in self.rows) >= MOST:
            raise Full
        self.rows[row.owner, row.name] = row
        if named:
            self.forget(named)
        if left:
            self.note(left)
        return True

    def _is_vouched(self, named: SecretNote | None) -> bool:
        if named is None:
            return True
        noted = self.noted.get((named.since, named.secret))
        return noted is not None and not noted.doomed

    def remove(self, over: Connection, left: SecretNote) -> bool:
        key = (over.owner, over.name)
        if (present := self.rows.get(key)) is None:
            return True
        if _version(present) != _version(over):
            return False
        del self.rows[key]
        self.tokens.rows.pop(key, None)
        self.note(left)
        return True

    def note(self, note: SecretNote) -> None:
        self.noted[note.since, note.secret] = note

    def notes(self, before: Millis, at_most: int) -> tuple[SecretNote, ...]:
        return tuple(self.noted[key] for key in sorted(self.noted) if key[0] < before)[:at_most]

    def doom(self, note: SecretNote) -> bool:
        key = (note.since, note.secret)
        if key not in self.noted:
            return False
        self.noted[key] = evolve(note, doomed=True)
        return True

    def forget(self, note: SecretNote) -> None:
        self.noted.pop((note.since, note.secret), None)

    # ------------------------------------------------------------ for the transactions of other tables

    def check(self, owner: str, name: str) -> None:
        """Raises Unavailable unless it is there and open, as a transaction that names it fails."""
        row = self.rows.get((owner, name))
        if row is None or row.closing:
            raise Unavailable("its connection was closed meanwhile")

    def join(self, owner: str, name: str, schedule_id: str) -> None:
        """A schedule names it."""
        entry = f"{address_of(schedule_id).due:015d}#{schedule_id}"
        self.named_by.setdefault((owner, name), {})[entry] = Use(schedule_id=schedule_id)

    def leave(self, owner: str, name: str, schedule_id: str) -> None:
        """Another has taken its place."""
        self.named_by.get((owner, name), {}).pop(f"{address_of(schedule_id).due:015d}#{schedule_id}", None)

    def name_in_series(self, owner: str, series: str, use: SeriesUse) -> None:
        """A series names it, or has named it."""
        uses = self.named_by.setdefault((owner, use.connection), {})
        uses[f"{SERIES}{series}"] = Use(series=series, until=use.until)


def _version(row: Connection | None) -> tuple[int, str] | None:
    return (row.revision, row.secret) if row else None


def _version_of_token(row: TokenRow | None) -> tuple[int, str, Millis] | None:
    return (row.revision, row.secret, row.fetched_at) if row else None
