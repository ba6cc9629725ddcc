"""The rule of a series: RULE and the flags beside it."""

import re
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import astuple, frozen

from delayer_client.cli.reading.rules import rule
from delayer_client.cli.reading.zones import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delayer_client import Repeat
    from delayer_client.cli.session import Session

PANEL = "When"
TimeZone = Annotated[
    str | None,
    typer.Option("--time-zone", metavar="ZONE", help="Of the rule; that of --zone otherwise.", rich_help_panel=PANEL),
]
Anchor = Annotated[
    str | None,
    typer.Option("--anchor", metavar="TIME", help="Of 'every …': a time of the rule.", rich_help_panel=PANEL),
]
From = Annotated[str | None, typer.Option("--from", metavar="TIME", help="No time before it.", rich_help_panel=PANEL)]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="No time after it.", rich_help_panel=PANEL)]
Count = Annotated[int | None, typer.Option("--count", metavar="N", help="So many times in all.", rich_help_panel=PANEL)]
OnMissed = Annotated[
    str | None,
    typer.Option("--on-missed", help="After an outage: skip, once, or all.", rich_help_panel=PANEL),
]
DstGap = Annotated[
    str | None,
    typer.Option("--dst-gap", help="Times that are left out in spring: shift or skip.", rich_help_panel=PANEL),
]
DstOverlap = Annotated[
    str | None,
    typer.Option("--dst-overlap", help="Times that are there twice in autumn: first or both.", rich_help_panel=PANEL),
]


@frozen(kw_only=True)
class TimesFlags:
    """The rule of the times, as it was given."""

    time_zone: TimeZone = None
    anchor: Anchor = None
    from_: From = None
    until: Until = None

    def read(self, session: "Session", text: str) -> "Repeat":
        """The rule. Raises NotRead."""
        from delayer_client import Repeat

        written = rule(text)
        zone = self.time_zone or (name_of(session.zone) if _by_the_clock(written) else None)
        return Repeat(
            cron=written.get("cron"),
            every=written.get("every"),
            time_zone=zone,
            anchor=_time(session, self.anchor, zone),
            from_=_time(session, self.from_, zone),
            until=_time(session, self.until, zone),
        )


@frozen(kw_only=True)
class RuleFlags(TimesFlags):
    """All of a rule."""

    count: Count = None
    on_missed: OnMissed = None
    dst_gap: DstGap = None
    dst_overlap: DstOverlap = None

    @property
    def are_given(self) -> bool:
        """Whether any is."""
        return any(one is not None for one in astuple(self))

    def changed(self, session: "Session", text: str | None, before: "Repeat") -> "Repeat":
        """The rule of a series, of which what is not given stays; `none` takes an end or the like away."""
        from delayer_client import Dst, Repeat

        written = rule(text) if text else {"cron": before.cron, "every": before.every}
        zone = self.time_zone or before.time_zone
        keeps_anchor = _kind(written) == _kind({"cron": before.cron, "every": before.every})
        old_dst = before.dst or Dst()
        return Repeat(
            cron=written.get("cron"),
            every=written.get("every"),
            time_zone=zone,
            anchor=_or(session, self.anchor, zone, before.anchor if keeps_anchor else None),
            from_=_or(session, self.from_, zone, before.from_),
            until=_or(session, self.until, zone, before.until),
            count=before.count if self.count is None else self.count,
            on_missed=self.on_missed or before.on_missed,
            dst=Dst(gap=self.dst_gap or old_dst.gap, overlap=self.dst_overlap or old_dst.overlap),
        )

    def read(self, session: "Session", text: str) -> "Repeat":
        """The rule. Raises NotRead."""
        from msgspec.structs import replace

        from delayer_client import Dst

        dst = Dst(gap=self.dst_gap, overlap=self.dst_overlap) if self.dst_gap or self.dst_overlap else None
        return replace(super().read(session, text), count=self.count, on_missed=self.on_missed, dst=dst)


def _kind(written: "Mapping[str, str | None]") -> str:
    """Says which kind of rule an anchor may belong to: an exact length, or days and months by the clock. A cron
    expression has none.
    """
    cron, every = written.get("cron") or "", written.get("every") or ""
    if cron:
        return "exact" if re.match(r"rate\(\d+ (minute|hour)", cron) else "days" if cron.startswith("rate(") else "cron"
    return "exact" if every.startswith("PT") else "days"


def _or(session: "Session", given: str | None, zone: str | None, before: str | None) -> str | None:
    return before if given is None else None if given == "none" else _time(session, given, zone)


def _by_the_clock(written: dict[str, str]) -> bool:
    """Whether its times depend on a zone: `rate(…)` and hours do not."""
    if cron := written.get("cron"):
        return not cron.startswith("rate(")
    return not written["every"].startswith("PT")


def _time(session: "Session", text: str | None, zone: str | None) -> str | None:
    """A time that the clocks of the rule leave out is sent as it is written: the days after it have that time."""
    from delayer_client.calls.times import instant

    if not text:
        return None
    found = session.written(text)
    if found.left_out and found.at.tzinfo and name_of(found.at.tzinfo) == zone:
        return found.left_out.isoformat()
    return instant(found.at)
