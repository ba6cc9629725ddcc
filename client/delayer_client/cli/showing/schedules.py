"""Schedules as people see them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from delayer_client.cli.showing.table import Column, details, table
from delayer_client.cli.showing.words import lateness
from delayer_client.states import has_fired, is_retried, next_time, own_lateness, retry_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from delayer_client import Schedule
    from delayer_client.api.models import HistoryEntry
    from delayer_client.cli.session import Session

STYLES: Final = {
    "undecided": "cyan",
    "decided": "dim",
    "scheduled": "cyan",
    "enqueued": "cyan",
    "claimed": "yellow",
    "executed": "green",
    "failed": "red",
    "cancelled": "dim",
    "replaced": "dim",
    "dropped": "red",
    "dead-lettered": "red",
}


def list_of(session: "Session", found: "Sequence[Schedule]", id_rank: int = 0) -> "RenderableType":
    """One line each."""
    console = session.console
    columns = [
        Column(title="DUE", cells=[due(session, one) for one in found], rank=0),
        Column(
            title="STATE",
            cells=[one.state for one in found],
            rank=0,
            styles=["red" if is_retried(one) else STYLES.get(one.state, "") for one in found],
        ),
        Column(title="RETRY", cells=[retry_in_words(one) for one in found], rank=1, style="red"),
        Column(title="LATE", cells=[lateness(one.lateness_ms) if has_fired(one) else "" for one in found], rank=3),
        Column(title="NAME", cells=[one.name or "" for one in found], rank=4, least=12),
        Column(title="GROUP", cells=[one.group or "" for one in found], rank=6, least=8, style="dim"),
        Column(title="WHAT", cells=[what(one) for one in found], rank=5, least=16),
        Column(title="DETAIL", cells=[detail(one) for one in found], rank=7, least=16, style="dim"),
        Column(title="ID", cells=[one.id for one in found], rank=id_rank, style="dim"),
    ]
    return table(console, columns)


def due(session: "Session", one: "Schedule") -> str:
    """When it is due: from now, or by the clock of the zone that was asked for."""
    said = session.clock if session.flags.zone else session.words
    return said(one.point_in_time) or "undecided"


def what(one: "Schedule") -> str:
    """Its action in short: what it is, and where it goes."""
    if target := one.target:
        return f"{target.type} {short(target.name or '')}".strip()
    action = one.action or {}
    return f"{action.get('type', '')} {host_of(action)}".strip()


def short(name: str) -> str:
    """Of an ARN, or of the URL of a queue, the last part."""
    return name.rpartition(":" if name.startswith("arn:") else "/")[2] or name


def host_of(action: dict[str, Any]) -> str:
    """Of a URL, its host; of an ARN, its last part."""
    for name, value in action.items():
        if isinstance(value, str) and name.lower().endswith("url"):
            return value.partition("://")[2].partition("/")[0]
        if isinstance(value, str) and name.endswith("Arn") and name != "roleArn":
            return value.rpartition(":")[2]
    return ""


def detail(one: "Schedule") -> str:
    """The text that is worth saying beside its state."""
    if one.waiting:
        return f"waits: {one.waiting.reason}"
    return one.detail or (f"→ {one.replaced_by}" if one.replaced_by else "")


def whole(session: "Session", one: "Schedule") -> "list[RenderableType]":
    """All that is known of one."""
    rows = [
        ("Schedule", one.id),
        ("State", _state(one)),
        ("Due", session.both(one.point_in_time)),
        ("Decided as", one.decided_as or ""),
        ("Name", one.name or ""),
        ("Group", one.group or ""),
        ("Tags", ", ".join(f"{key}={value}" for key, value in (one.tags or {}).items())),
        ("Action", text_of(one.action)),
        ("Payload", "too large to be shown" if one.payload_omitted else text_of(one.payload)),
        ("When", text_of(one.when)),
        ("Window", f"{one.window.seconds} s" if one.window else ""),
        ("Precision", one.precision or ""),
        ("On late", f"{one.on_late.do} after {one.on_late.after}" if one.on_late else ""),
        ("Retry", text_of(one.retry.as_json()) if one.retry else ""),
        ("Series", f"{one.series.series_id}, number {one.series.number}" if one.series else ""),
        *progress(session, one),
        ("Hints", "\n".join(one.hints or ())),
    ]
    history = [events(session, one.history)] if one.history else []
    return [details(rows), *history]


def _state(one: "Schedule") -> str:
    """With all that is true of it beside its state."""
    beside = [text for text in (retry_in_words(one), "overdue" if one.overdue else "") if text]
    return f"{one.state} ({', '.join(beside)})" if beside else one.state


def progress(session: "Session", one: "Schedule") -> list[tuple[str, str]]:
    """Says how far it has come."""
    waiting = one.waiting
    return [
        ("Claimed", session.both(one.claimed_at)),
        ("Late", f"{lateness(one.lateness_ms)}, the first attempt" if one.lateness_ms is not None else ""),
        ("Attempt", str(one.attempt or "")),
        ("Next", session.both(next_time(one)) if one.claimed_at or waiting else ""),
        ("Waits", f"{waiting.for_}: {waiting.reason}, since {session.clock(waiting.since)}" if waiting else ""),
        ("Stopped", session.both(one.stopped_at)),
        ("Replaced by", one.replaced_by or ""),
        ("Replaces", one.replaces or ""),
        ("Detail", one.detail or ""),
    ]


def text_of(value: Any) -> str:
    """JSON in one line; empty for None."""
    from delayer_client.calls.decoding import shown

    return "" if value is None else shown(value)


def events(session: "Session", history: "Sequence[HistoryEntry]") -> "RenderableType":
    """Its path."""
    columns = [
        Column(title="EVENT", cells=[one.event for one in history], rank=0),
        Column(title="AT", cells=[clock(session, one) for one in history], rank=0),
        Column(title="ATTEMPT", cells=[_attempt_of(one) for one in history], rank=2),
        Column(title="LATE", cells=[lateness(own_lateness(one)) for one in history], rank=1),
        Column(title="DETAIL", cells=[entry_detail(one) for one in history], rank=3, least=12, style="dim"),
    ]
    return table(session.console, columns)


def clock(session: "Session", one: "HistoryEntry") -> str:
    """To the millisecond: an event is over within one."""
    local = one.at.astimezone(session.zone)
    return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03}"


def entry_detail(one: "HistoryEntry") -> str:
    """The text that the event brought."""
    answer = f"HTTP {one.answer.status} in {one.answer.duration_ms} ms" if one.answer else ""
    by = f"by {one.by}" if one.by else ""
    return ", ".join(part for part in (one.detail or answer, one.replaced_by or "", one.decided_as or "", by) if part)


def _attempt_of(one: "HistoryEntry") -> str:
    """Its number, and whether it counts."""
    return f"{one.attempt or ''}{' probe' if one.probe else ''}"
