"""Moves over what can be moved. Nothing at EventBridge is changed: `switching` has the commands for that."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from delayer_client.eventbridge.composing import TAG
from delayer_client.eventbridge.mapping.outcome import Left, Request, Translated

TIMES_SHOWN = 3


class State(StrEnum):
    """What became of one."""

    MOVED = "moved"
    THERE = "there"  # an earlier import has moved it
    READY = "ready"  # it can be moved; this run moves nothing
    REFUSED = "refused"  # by Delayer
    UNKNOWN = "unknown"  # Delayer did not answer: it may be there or not. The import can be repeated
    LEFT = "left"  # it cannot be moved


class Answer(Struct, frozen=True):
    """Of the API: the status, and the document of the body."""

    status: int
    document: Mapping[str, Any] = {}


class Unanswered(Exception):
    """There was no answer, or 5xx after all repeats. The text says why."""


class Destination(Protocol):
    """A Delayer. Each raises Unanswered. What Delayer refuses is an Answer, too."""

    def put_schedule(self, name: str, body: bytes) -> Answer:
        """PUT /schedules/by-name/{name}, with `If-None-Match: *` and the body byte for byte."""

    def put_series(self, name: str, body: bytes) -> Answer:
        """PUT /series/by-name/{name}, with `If-None-Match: *` and the body byte for byte."""

    def get_schedule(self, name: str) -> Answer:
        """GET /schedules/by-name/{name}."""

    def get_series(self, name: str) -> Answer:
        """GET /series/by-name/{name}."""

    def preview_series(self, body: bytes) -> Answer:
        """POST /series/preview."""


class Outcome(Struct, frozen=True, kw_only=True):
    """Of one schedule, or of one target of a rule."""

    item: Translated
    state: State
    reason: str = ""  # unless it is moved, there or ready
    id: str = ""  # of what was moved
    next: tuple[str, ...] = ()  # its next times, as far as Delayer has said


Progress = Callable[[int, int, Outcome], None]  # how many are done, of how many, and the last of them


def apply(
    items: Sequence[Translated],
    destination: Destination | None,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _done, _of, _last: None,
) -> tuple[Outcome, ...]:
    """In their order. A dry run asks for previews of the rules at most, and for nothing without a destination."""
    return tuple(_reported(items, destination, dry_run=dry_run, progress=progress))


def _reported(
    items: Sequence[Translated], destination: Destination | None, *, dry_run: bool, progress: Progress
) -> Iterable[Outcome]:
    for done, item in enumerate(items, 1):
        outcome = _outcome(item, destination, dry_run=dry_run)
        progress(done, len(items), outcome)
        yield outcome


def _outcome(item: Translated, destination: Destination | None, *, dry_run: bool) -> Outcome:
    if isinstance(item, Left):
        return Outcome(item=item, state=State.LEFT, reason=item.reason)
    try:
        if dry_run or destination is None:
            return _tried(item, destination)
        return _moved(item, destination)
    except Unanswered as error:
        return Outcome(item=item, state=State.UNKNOWN, reason=str(error))


def _tried(item: Request, destination: Destination | None) -> Outcome:
    """The rule is asked for. The rest of a series, and a schedule, are checked by the mapping alone."""
    if destination is None or item.kind == "schedule":
        return Outcome(item=item, state=State.READY)
    repeat = msgspec.json.decode(item.body)["repeat"]
    answer = destination.preview_series(msgspec.json.encode({"repeat": repeat, "count": TIMES_SHOWN}))
    if answer.status != 200:
        return Outcome(item=item, state=State.REFUSED, reason=problem_of(answer))
    return Outcome(item=item, state=State.READY, next=tuple(answer.document.get("times", ())))


def _moved(item: Request, destination: Destination) -> Outcome:
    is_series = item.kind == "series"
    answer = (destination.put_series if is_series else destination.put_schedule)(item.name, item.body)
    found = answer.document
    if answer.status in (200, 201):
        next_time = found.get("next") or found.get("pointInTime")
        name = "seriesId" if is_series else "scheduleId"
        times = (str(next_time),) if next_time else ()
        return Outcome(item=item, state=State.MOVED, id=str(found.get(name, "")), next=times)
    if answer.status == 412:
        return _held(item, (destination.get_series if is_series else destination.get_schedule)(item.name))
    return Outcome(item=item, state=State.REFUSED, reason=problem_of(answer))


def _held(item: Request, holder: Answer) -> Outcome:
    """A live one has the name. The tag says whether it is this one."""
    found = holder.document
    if holder.status == 200 and found.get("tags", {}).get(TAG) == item.tag:
        name = "seriesId" if item.kind == "series" else "scheduleId"
        next_time = found.get("next") or found.get("pointInTime")
        times = (str(next_time),) if next_time else ()
        return Outcome(item=item, state=State.THERE, id=str(found.get(name, "")), next=times)
    reason = f"another live {item.kind} is called {item.name}: give the import a prefix for its names"
    return Outcome(item=item, state=State.REFUSED, reason=reason)


def problem_of(answer: Answer) -> str:
    """In words: what the problem says, and of each wrong field what is wrong."""
    found = answer.document
    text = str(found.get("detail") or found.get("title") or "no reason given")
    errors = [f"{one.get('field')}: {one.get('problem')}" for one in found.get("errors", ())]
    return f"{answer.status}: {'; '.join([text, *errors])}"
