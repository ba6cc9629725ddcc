"""Series as people see them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from delayer_client.cli.showing.schedules import text_of
from delayer_client.cli.showing.table import Column, details, table

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from delayer_client import Series
    from delayer_client.api.models import SeriesHalted
    from delayer_client.cli.session import Session

STYLES: Final = {"active": "green", "waiting": "cyan", "paused": "yellow", "failed": "red"}
STATES: Final = ("active", "paused", "waiting", "ended", "failed", "cancelled")


def list_of(session: "Session", found: "Sequence[Series]") -> "RenderableType":
    """One line each."""
    columns = [
        Column(title="NEXT", cells=[session.words(one.next) for one in found], rank=1),
        Column(
            title="STATE",
            cells=[one.state for one in found],
            rank=0,
            styles=[STYLES.get(one.state, "dim") for one in found],
        ),
        Column(title="NAME", cells=[one.name or "" for one in found], rank=2, least=8),
        Column(title="RULE", cells=[rule(one) for one in found], rank=3, least=10),
        Column(title="GROUP", cells=[one.group or "" for one in found], rank=4, least=8, style="dim"),
        Column(title="ID", cells=[one.id for one in found], rank=0, style="dim"),
    ]
    return table(session.console, columns)


def rule(one: "Series") -> str:
    """In words, if the API has them."""
    repeat = one.repeat
    return one.description or (repeat.cron or repeat.every or "" if repeat else "")


def whole(session: "Session", one: "Series") -> "list[RenderableType]":
    """All that is known of one."""
    now = one.occurrence
    back = one.backfill
    rows = [
        ("Series", one.id),
        ("State", one.state),
        ("Rule", one.description or ""),
        ("Repeat", text_of(one.repeat.as_json()) if one.repeat else ""),
        ("Next", session.both(one.next)),
        ("Occurrence", f"{now.schedule_id}, number {now.number}, due {session.both(now.point_in_time)}" if now else ""),
        ("Waits", f"{now.waiting.for_}: {now.waiting.reason}" if now and now.waiting else ""),
        ("Beside it", "\n".join(one.beside or ())),
        ("Backfill", f"{session.clock(back.from_)} to {session.clock(back.until)}" if back else ""),
        ("Name", one.name or ""),
        ("Group", one.group or ""),
        ("Tags", ", ".join(f"{key}={value}" for key, value in (one.tags or {}).items())),
        ("Overlap", one.overlap or ""),
        ("Action", text_of(one.action)),
        ("Payload", text_of(one.payload)),
        ("Window", f"{one.window.seconds} s" if one.window else ""),
        ("Precision", one.precision or ""),
        ("On late", f"{one.on_late.do} after {one.on_late.after}" if one.on_late else ""),
        ("Retry", text_of(one.retry.as_json()) if one.retry else ""),
        ("Hints", "\n".join(one.hints or ())),
    ]
    return [details(rows)]


def times(session: "Session", found: "Sequence[datetime]") -> "RenderableType":
    """Times of a rule."""
    columns = [
        Column(title="TIME", cells=[f"{at.astimezone(session.zone):%a %Y-%m-%d %H:%M %Z}" for at in found], rank=0),
        Column(title="", cells=[session.words(at) for at in found], rank=0, style="dim"),
    ]
    return table(session.console, columns)


def halted(one: "SeriesHalted") -> "list[RenderableType]":
    """Says how the occurrences ended that were under way."""
    rows = [
        ("Series", one.series_id),
        ("State", one.state),
        ("Cancelled", "\n".join(one.cancelled) or "nothing was under way"),
        ("Handed over", "\n".join(f"{item.schedule_id} ({item.state})" for item in one.claimed)),
    ]
    return [details(rows)]
