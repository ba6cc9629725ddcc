"""How many schedules of an owner are live, in the journal table (ADR 0054).

List `live#<owner>` holds counts, one entry for each span of four weeks in which schedules are due, in parts;
`counted#<id>` says whether a schedule is in them.
"""

import zlib
from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.ports.unavailable import Unavailable
from delayer.store.conditions import Condition, Is, Some, lacks
from delayer.store.items import entry_key
from delayer.store.queries import Query, Range
from delayer.store.store import Refused, Store, all_items
from delayer.store.writes import Change, Put

SPAN: Final[Millis] = 28 * DAY
PARTS: Final = 5  # of a span's count: two transactions on one item at a time refuse each other
COUNTED, OVER = "counted", "over"


@frozen(kw_only=True)
class StoredLiveCount:
    """Port LiveCount. Each change is one transaction with the note that the schedule was counted."""

    store: Store
    table: str

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        self._together(self._note(schedule_id, COUNTED, expires_at, lacks("list")), self._add(owner, schedule_id, 1))

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        note = self._note(schedule_id, OVER, expires_at, Is("state", COUNTED))
        if not self._together(note, self._add(owner, schedule_id, -1)) and not self._over_from_the_start(note):
            raise Unavailable("its beginning was counted in between")

    def _over_from_the_start(self, note: Put) -> bool:
        """Its end arrived first: its beginning will not be counted. True also if it is over already."""
        try:
            self.store.write(note._replace(when=Some((lacks("list"), Is("state", OVER)))))
        except Refused:
            return False
        return True

    def _together(self, note: Put, add: Change) -> bool:
        """False: the condition of the note failed, and nothing was written."""
        try:
            self.store.transact([note, add])
        except Refused:
            return False
        return True

    def _note(self, schedule_id: str, state: str, expires_at: Millis, when: Condition) -> Put:
        values = {"state": state, "expiresAt": expires_at // SECOND}
        return Put(self.table, entry_key(f"counted#{schedule_id}"), values, when)

    def _add(self, owner: str, schedule_id: str, number: int) -> Change:
        span, part = address_of(schedule_id).due // SPAN, zlib.crc32(schedule_id.encode()) % PARTS
        expires = (span + 3) * SPAN // SECOND  # long after it has ceased to count
        key = entry_key(f"live#{owner}", f"{span:06d}#{part}")
        return Change(self.table, key, put={"expiresAt": expires}, add={"count": number})

    def live(self, owner: str, now: Millis) -> int:
        first = Range(">=", f"{now // SPAN - 1:06d}")
        query = Query(self.table, {"list": f"live#{owner}"}, within=first, latest=False)
        counted: int = sum(item["count"] for item in all_items(self.store, query))
        return max(counted, 0)
