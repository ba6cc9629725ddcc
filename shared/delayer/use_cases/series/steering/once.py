"""A call that does something once: repeated with the same idempotency key, it has the same answer (ADR 0049, 0098)."""

import hashlib

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.series.series import NoSeries, Refused
from delayer.ports.clock import Clock
from delayer.ports.registry import ReadsRequests, RequestRow
from delayer.use_cases.api.accept import KEY_LIFETIME, KeyReused


@frozen(kw_only=True)
class Began:
    """An occurrence of the series was put, by this call or by an earlier one with the same key."""

    series: str
    schedule_id: str
    time: Millis  # of the occurrence


RunAnswer = Began | KeyReused | Refused | NoSeries


@frozen(kw_only=True)
class Call:
    """Whose call it is, about what, and with which key. The same key with anything else is a mistake."""

    owner: str
    series: str
    command: str
    body: bytes
    key: str  # empty: none

    @property
    def digest(self) -> str:
        """Of all that must be the same again. The keys of schedules are in the same list."""
        return hashlib.sha256(f"{self.command}\n{self.series}\n".encode() + self.body).hexdigest()


@frozen(kw_only=True)
class Once:
    """Looks the key up, and writes its row."""

    clock: Clock
    requests: ReadsRequests

    def earlier(self, call: Call) -> tuple[Began | KeyReused | None, RequestRow | None]:
        """The answer of an earlier call, if there is one; and the row that is in the place, if there is none."""
        row = self.requests.requested(call.owner, call.key) if call.key else None
        if row is None or row.expires_at <= self.clock.now():
            return None, row
        if row.digest != call.digest:
            return KeyReused(), row
        return Began(series=row.series, schedule_id=row.schedule_id, time=row.point_in_time), row

    def row(self, call: Call, began: Began) -> RequestRow | None:
        """What keeps the answer; None without a key."""
        if not call.key:
            return None
        return RequestRow(
            owner=call.owner,
            key=call.key,
            digest=call.digest,
            schedule_id=began.schedule_id,
            point_in_time=began.time,
            expires_at=self.clock.now() + KEY_LIFETIME,
            series=began.series,
        )
