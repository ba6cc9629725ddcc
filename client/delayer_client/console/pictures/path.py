"""The path of one schedule: stored, swept, sent to the queue, claimed, its attempts, its end."""

from datetime import UTC, datetime
from typing import Final

from attrs import frozen
from markupsafe import Markup

from delayer_client.api.models import HistoryEntry, Schedule
from delayer_client.console.pictures.svg import element, joined, picture
from delayer_client.console.words.times import duration, iso
from delayer_client.states import BAD, next_time, own_lateness

STEP: Final = 128.0
HEIGHT: Final = 104.0
LINE: Final = 42.0
RADIUS: Final = 9.0
ATTEMPTS: Final = 3  # that are drawn one by one; those between the first and the last two are one station
ENDS: Final = frozenset({"executed", "failed", "cancelled", "decided", "replaced", "dropped", "dead-lettered"})
NEUTRAL: Final = frozenset({"cancelled", "decided", "replaced", "dropped"})


@frozen(kw_only=True)
class Station:
    """One place on the way."""

    name: str
    at: datetime | None = None  # None: it is not known, or it is still to come
    note: str = ""
    look: str = "done"  # done, good, bad, plain, here, ahead


def stations(one: Schedule, now: datetime) -> list[Station]:
    """Where it was, where it is, and what is still to come."""
    history = one.history or []
    found = _merged([_station(entry, one) for entry in history]) if history else _without_history(one)
    return found + _ahead(one, now)


def _station(entry: HistoryEntry, one: Schedule) -> Station:
    if entry.event == "attempt-failed":
        note = "a probe, failed" if entry.probe else "failed"
        return Station(name=f"attempt {entry.attempt}", at=entry.at, note=note, look="bad")
    if entry.event in ENDS:
        return Station(name=entry.event, at=entry.at, note=_end_note(entry, one), look=_look(entry.event))
    note = "about" if entry.estimated else ""
    if entry.event == "redriven" and entry.by:
        note = f"by {entry.by[-14:]}"
    return Station(name=entry.event, at=entry.at, note=note)


def _end_note(entry: HistoryEntry, one: Schedule) -> str:
    late = own_lateness(entry)
    if late is not None:
        return f"{late:,} ms late"
    attempt = entry.attempt or one.attempt
    return f"attempt {attempt}" if attempt and attempt > 1 else ""


def _look(event: str) -> str:
    return "bad" if event in BAD else "plain" if event in NEUTRAL else "good"


def _merged(found: list[Station]) -> list[Station]:
    """Many failed attempts are few stations: the first, how many follow, the last."""
    failed = [place for place, station in enumerate(found) if station.name.startswith("attempt ")]
    if len(failed) <= ATTEMPTS:
        return found
    between = failed[1:-1]
    middle = Station(name=f"{len(between)} attempts", at=found[between[-1]].at, note="failed", look="bad")
    return [
        middle if place == between[0] else station
        for place, station in enumerate(found)
        if place == between[0] or place not in between
    ]


def _without_history(one: Schedule) -> list[Station]:
    found = [Station(name="scheduled", at=one.created_at)]
    if one.state in ("enqueued", "claimed", *ENDS) and one.state != "decided":
        found.append(Station(name="enqueued"))
    if one.claimed_at:
        found.append(Station(name="claimed", at=one.claimed_at))
    if one.state in ENDS:
        found.append(Station(name=one.state, at=one.since, look=_look(one.state)))
    return found


def _ahead(one: Schedule, now: datetime) -> list[Station]:
    due = next_time(one)
    fires = Station(name="fires", at=due, note=_until(due, now), look="ahead")
    match one.state:
        case "undecided":
            return [Station(name="waits", note="for its time", look="here"), Station(name="fires", look="ahead")]
        case "scheduled":
            return [
                Station(name="waits", note="in the table", look="here"),
                Station(name="enqueued", look="ahead"),
                fires,
            ]
        case "enqueued":
            return [Station(name="waits", note=one.waiting.for_ if one.waiting else "in the queue", look="here"), fires]
        case "claimed" if one.next_attempt_at:
            again = _until(due, now) or (one.waiting.for_ if one.waiting else "")
            return [Station(name=f"attempt {one.attempt}", at=due, note=again, look="here")]
        case "claimed":
            return [Station(name=f"attempt {one.attempt or 1}", note="under way", look="here")]
        case _:
            return []


def _until(at: datetime | None, now: datetime) -> str:
    if at is None:
        return ""
    return f"in {duration(at - now)}" if at > now else f"{duration(now - at)} overdue"


def path(one: Schedule, now: datetime) -> Markup:
    """As a line with stations, the latest to the right."""
    found = stations(one, now)
    width = STEP * len(found)
    parts = [_line(place, station) for place, station in enumerate(found[1:])]
    parts += [_drawn(station, place, found, now) for place, station in enumerate(found)]
    said = "; ".join(f"{one.name} {_when(one.at, now)} {one.note}".strip() for one in found)
    return picture(width, HEIGHT, joined(parts), label=f"Its path, in UTC: {said}", class_="path")


def _line(place: int, to: Station) -> Markup:
    begin = STEP * (place + 0.5) + RADIUS + 3
    look = "ahead" if to.look == "ahead" else "walked"
    return element("line", x1=begin, x2=begin + STEP - 2 * RADIUS - 6, y1=LINE, y2=LINE, class_=f"way {look}")


def _drawn(station: Station, place: int, all_of: list[Station], now: datetime) -> Markup:
    x = STEP * (place + 0.5)
    parts = [
        element("circle", cx=x, cy=LINE, r=RADIUS, class_=f"station {station.look}"),
        element("text", station.name, x=x, y=LINE - 22, text_anchor="middle", class_="name"),
        element(
            "text", _when(station.at, now), x=x, y=LINE + 30, text_anchor="middle", class_="at", **_local(station.at)
        ),
        element("text", station.note, x=x, y=LINE + 48, text_anchor="middle", class_=f"note {station.look}"),
    ]
    if place and (passed := _passed(all_of[place - 1], station)):
        parts.append(element("text", passed, x=x - STEP / 2, y=LINE - 6, text_anchor="middle", class_="passed"))
    return joined(parts)


def _passed(before: Station, station: Station) -> str:
    """How long it took; between its two states it waits in the delayer queue."""
    if not (station.at and before.at and station.at > before.at):
        return ""
    milliseconds = round((station.at - before.at).total_seconds() * 1000)
    took = f"{milliseconds} ms" if milliseconds < 1000 else duration(station.at - before.at)
    return f"waited {took}" if (before.name, station.name) == ("enqueued", "claimed") else took


def _local(at: datetime | None) -> dict[str, object]:
    """For static/console.js, which shows it in the browser's zone."""
    return {"data_time": iso(at)} if at else {}


def _when(at: datetime | None, now: datetime) -> str:
    """The time of day, with a date unless it is today."""
    if at is None:
        return ""
    local = at.astimezone(UTC)
    day = "" if local.date() == now.astimezone(UTC).date() else f"{local:%d %b} "
    return day + local.strftime("%H:%M:%S.%f")[:-5]
