"""What keeps series going without an event, in memory."""

from attrs import Factory, define

from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.upkeep.net import Place
from delayer.core.series.upkeep.rounds import Directory, Round, is_waiting, is_zoned
from delayer.fakes.tables.series import MemorySeries
from delayer.ports.series import Filed
from delayer.ports.series_upkeep import SeriesKey, SeriesKeys


@define(kw_only=True)
class MemorySeriesUpkeep:
    """Port SeriesUpkeep. Its directories have one part that is not empty."""

    series: MemorySeries

    def look_again(self, filed: Filed, bucket: Bucket) -> None:
        self.series.again[bucket, filed.schedule_id] = filed

    def forget(self, filed: Filed, bucket: Bucket) -> None:
        self.series.again.pop((bucket, filed.schedule_id), None)
        if address_of(filed.schedule_id).bucket == bucket:
            self.series.current.pop(filed.schedule_id, None)

    def carry(self, entry: str, bucket: Bucket, to: Bucket) -> None:
        if (bucket, entry) in self.series.unread:
            self.series.unread.add((to, entry))
            if address_of(entry.partition("#")[2]).bucket != bucket:
                self.series.unread.remove((bucket, entry))

    def listed(self, directory: Directory, part: int, after: str = "", at_most: int = 100) -> SeriesKeys:
        found = sorted(f"{owner}#{one}" for owner, one in self._all(directory)) if not part else []
        rest = [entry for entry in found if entry > after]
        keys = (entry.rpartition("#") for entry in rest[:at_most])
        return SeriesKeys(
            keys=tuple(SeriesKey(owner=owner, series=series) for owner, _, series in keys),
            more=rest[at_most - 1] if len(rest) > at_most else "",
        )

    def _all(self, directory: Directory) -> list[tuple[str, str]]:
        if directory is Directory.WAITING:
            return [key for key, cursor in self.series.cursors_of.items() if is_waiting(cursor)]
        definitions = self.series.definitions_of
        return [key for key, cursor in self.series.cursors_of.items() if is_zoned(cursor, definitions.get(key))]


@define(kw_only=True)
class MemorySeriesProgress:
    """Port SeriesProgress."""

    reached: Place | None = None
    rounds: dict[Directory, Round] = Factory(dict)

    def place(self) -> Place | None:
        return self.reached

    def reach(self, place: Place) -> None:
        if self.reached is None or (self.reached.minute, self.reached.shard) <= (place.minute, place.shard):
            self.reached = place

    def round(self, directory: Directory) -> Round | None:
        return self.rounds.get(directory)

    def note(self, directory: Directory, current: Round) -> None:
        self.rounds[directory] = current
