"""Series of one minute, whose times are spread over the minute. No input or output here."""

from collections.abc import Iterable
from datetime import UTC, datetime

from attrs import frozen

from bench.load.arrivals import Arrival
from bench.load.calls import Call, with_json
from bench.load.due_times import MINUTE
from local.receiver import ReceivedRequest

SERIES = "x-series"  # the headers by which an arrival says which occurrence it is
TIME = "x-time"


@frozen(kw_only=True)
class NewSeries:
    """A series that is to be created. All instants are epoch milliseconds."""

    number: int
    first: int  # its first time
    occurrences: int
    target: str  # URL that is called each minute

    def times(self) -> list[int]:
        """When it is due."""
        return [self.first + minute * MINUTE for minute in range(self.occurrences)]


def spread(count: int, start: int, minutes: int, target: str) -> list[NewSeries]:
    """So many series, each once a minute, at equal distances within the minute."""
    return [
        NewSeries(number=number, first=start + number * MINUTE // count, occurrences=minutes, target=target)
        for number in range(count)
    ]


def post(new: NewSeries) -> Call:
    """POST /series."""
    first = instant(new.first)
    action = {
        "type": "http-request",
        "url": new.target,
        "headers": {SERIES: str(new.number), TIME: "<delayer.occurrence.time>"},
    }
    # On a machine that is too slow for them, the times that pass are made up: what is late must not look lost.
    repeat = {"every": "PT1M", "anchor": first, "from": first, "count": new.occurrences, "onMissed": "all"}
    return with_json("POST", "/series", {"repeat": repeat, "action": action}, 201, {})


def due_of(series: Iterable[NewSeries]) -> dict[str, int]:
    """Each occurrence, and when it is due."""
    return {key(new.number, instant(at)): at for new in series for at in new.times()}


def arrivals_of(requests: Iterable[ReceivedRequest]) -> list[Arrival]:
    """What has reached the target, by occurrence."""
    return [
        Arrival(schedule_id=key(request.headers.get(SERIES, ""), request.headers.get(TIME, "")), at_ms=request.at_ms)
        for request in requests
    ]


def key(number: int | str, time: str) -> str:
    """One occurrence of all of them."""
    return f"{number}@{time}"


def instant(at: int) -> str:
    """As Delayer writes it."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
