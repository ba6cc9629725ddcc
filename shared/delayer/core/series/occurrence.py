"""An occurrence: the schedule that a series puts, which says whose it is, which one, and for which time."""

from typing import Annotated, Final

import msgspec
from attrs import evolve, frozen
from msgspec import Raw

from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import Millis, format_instant, parse_instant
from delayer.core.schedule.malformed import Malformed
from delayer.core.schemas.json_text import write

TIME: Final = "<delayer.occurrence.time>"  # placeholders in the payload and in the headers of the action; what takes
NUMBER: Final = "<delayer.occurrence.number>"  # their place is shorter, so that no schedule grows over its limit


@frozen(kw_only=True)
class Occurrence:
    """Which one it is. `time` is what the rule says, wherever its owner has moved the schedule."""

    series: str
    number: int  # 0: of a run-now or a backfill, which have no number in the rule
    time: Millis


class _Stored(msgspec.Struct, rename={"series": "seriesId"}):
    series: Annotated[str, msgspec.Meta(min_length=1)]
    number: Annotated[int, msgspec.Meta(ge=0)]
    time: str


_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_STORED: Final = msgspec.json.Decoder(_Stored)


@frozen
class SeriesRefuses:
    """It is an occurrence, and its series takes no such change now. `reason` is for the client."""

    reason: str


@frozen
class NotCurrent:
    """No series has this schedule as its current occurrence: the ledger row alone decides."""


def occurrence_of(definition: Definition) -> Occurrence | None:
    """Which occurrence of which series a schedule is; None if it is of no series. Raises Malformed."""
    return occurrence_in(definition.series)


def occurrence_in(text: str) -> Occurrence | None:
    """The same, of the field of a definition alone."""
    if not text:
        return None
    try:
        stored = _STORED.decode(text)
        return Occurrence(series=stored.series, number=stored.number, time=parse_instant(stored.time))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Malformed(f"not an occurrence: {error}") from error


def definition_for(definition: Definition, occurrence: Occurrence) -> Definition:
    """What an occurrence is put with: that of the series, with its placeholders replaced. It is in no group."""
    time, number = format_instant(occurrence.time), str(occurrence.number)
    stored = _Stored(series=occurrence.series, number=occurrence.number, time=time)
    return evolve(
        definition,
        action=_in_headers(definition.action, time, number),
        payload=_filled(definition.payload, time, number),
        group="",
        series=msgspec.json.encode(stored).decode(),
    )


def _filled(text: str, time: str, number: str) -> str:
    """Neither needs an escape within a string of JSON."""
    return text.replace(TIME, time).replace(NUMBER, number)


def _in_headers(action: str, time: str, number: str) -> str:
    """Only the values of headers are read: nothing else of the action can change."""
    if TIME not in action and NUMBER not in action:  # nearly always: then it stays byte for byte
        return action
    try:
        document = _MEMBERS.decode(action)
        headers = _MEMBERS.decode(document["headers"])
    except (msgspec.MsgspecError, UnicodeError, RecursionError, KeyError):
        return action
    filled = {name: _filled(bytes(value).decode(), time, number) for name, value in headers.items() if _is_text(value)}
    return write({**document, "headers": {**headers, **{name: Raw(text.encode()) for name, text in filled.items()}}})


def _is_text(value: Raw) -> bool:
    return bytes(value).startswith(b'"')
