"""Moves over what can be moved. Nothing at EventBridge is changed: `switching` has the commands for that."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from delayer_client.errors import DelayerError
from delayer_client.eventbridge.comparing import begin_of, differences
from delayer_client.eventbridge.composing import TAG
from delayer_client.eventbridge.mapping.expressions import text_of
from delayer_client.eventbridge.mapping.outcome import Kind, Left, Request, Translated

TIMES_SHOWN = 3


class State(StrEnum):
    """The result for one."""

    MOVED = "moved"
    THERE = "there"  # an earlier import has moved it
    READY = "ready"  # it can be moved; this run moves nothing
    REFUSED = "refused"  # by Delayer; or an earlier import has moved it, and otherwise
    UNKNOWN = "unknown"  # Delayer did not answer: it may be there or not. The import can be repeated
    LEFT = "left"  # it cannot be moved


class Answer(Struct, frozen=True):
    """Of the API: the status, and the document of the body."""

    status: int
    document: Mapping[str, Any] = {}


class Unanswered(DelayerError):
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
    """In their order. A dry run changes nothing: it asks for the next times, and for nothing without a destination."""
    return tuple(_reported(items, destination, dry_run=dry_run, progress=progress))


def _reported(
    items: Sequence[Translated], destination: Destination | None, *, dry_run: bool, progress: Progress
) -> Iterable[Outcome]:
    for done, item in enumerate(items, 1):
        outcome = _outcome(item, destination, dry_run=dry_run)
        progress(done, len(items), outcome)
        yield outcome


def _outcome(item: Translated, destination: Destination | None, *, dry_run: bool) -> Outcome:
    try:
        if isinstance(item, Left):
            return _left(item, destination)
        if dry_run or destination is None:
            return _tried(item, destination)
        return _moved(item, destination)
    except Unanswered as error:
        return Outcome(item=item, state=State.UNKNOWN, reason=str(error))


def _left(item: Left, destination: Destination | None) -> Outcome:
    """Refused if both fire it: by an earlier cut-over it was moved, by this one EventBridge goes on."""
    earlier = item.earlier
    if earlier is None or destination is None:
        return Outcome(item=item, state=State.LEFT, reason=item.reason)
    holder = _get(destination, earlier.kind, earlier.name)
    begins = begin_of(holder.document)
    if holder.status != 200 or not _is_of(holder, earlier.tag) or begins > earlier.until:
        return Outcome(item=item, state=State.LEFT, reason=item.reason)
    reason = (
        f"an earlier import has moved it, with an earlier cut-over: now both fire it, until {text_of(earlier.until)}. "
        f"Give that cut-over, or cancel the {earlier.kind} {earlier.name} in Delayer"
    )
    return Outcome(item=item, state=State.REFUSED, reason=reason)


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
    answer = (destination.put_series if item.kind == "series" else destination.put_schedule)(item.name, item.body)
    if answer.status in (200, 201):
        return _in_delayer(item, State.MOVED, answer.document)
    if answer.status == 412:
        return _held(item, _get(destination, item.kind, item.name))
    return Outcome(item=item, state=State.REFUSED, reason=problem_of(answer))


def _held(item: Request, holder: Answer) -> Outcome:
    """A live one has the name. The tag says whether it is this one, and its fields whether it is still the same."""
    if holder.status != 200:
        reason = f"a live {item.kind} is called {item.name}, and it is not shown ({problem_of(holder)})"
        return Outcome(item=item, state=State.UNKNOWN, reason=reason)
    if not _is_of(holder, item.tag):
        reason = f"another live {item.kind} is called {item.name}: give the import a prefix for its names"
        return Outcome(item=item, state=State.REFUSED, reason=reason)
    if different := differences(item, holder.document):
        reason = (
            f"an earlier import has moved it, and it is not the same now: {'; '.join(different)}. Nothing was changed, "
            f"and no command is printed for it. Give the cut-over of that import if it had another; "
            f"or cancel the {item.kind} {item.name} in Delayer, and import again"
        )
        return Outcome(item=item, state=State.REFUSED, reason=reason)
    return _in_delayer(item, State.THERE, holder.document)


def _in_delayer(item: Request, state: State, found: Mapping[str, Any]) -> Outcome:
    next_time = found.get("next") or found.get("pointInTime")
    times = (str(next_time),) if next_time else ()
    name = "seriesId" if item.kind == "series" else "scheduleId"
    return Outcome(item=item, state=state, id=str(found.get(name, "")), next=times)


def _get(destination: Destination, kind: Kind, name: str) -> Answer:
    return (destination.get_series if kind == "series" else destination.get_schedule)(name)


def _is_of(holder: Answer, tag: str) -> bool:
    return bool(holder.document.get("tags", {}).get(TAG) == tag)


def problem_of(answer: Answer) -> str:
    """In words: what the problem says, and of each wrong field what is wrong."""
    found = answer.document
    text = str(found.get("detail") or found.get("title") or "no reason given")
    errors = [f"{one.get('field')}: {one.get('problem')}" for one in found.get("errors", ())]
    return f"{answer.status}: {'; '.join([text, *errors])}"
