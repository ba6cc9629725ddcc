"""Draws the next due schedules on a time axis."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Final

from markupsafe import Markup

from delayer_client.console.listing.figures import Bar
from delayer_client.console.pictures.svg import element, joined, picture
from delayer_client.console.words.numbers import counted
from delayer_client.console.words.times import duration

WIDTH: Final = 720.0
HEIGHT: Final = 120.0
FLOOR: Final = 94.0
TOP: Final = 14.0
GAP: Final = 2.0
TICKS: Final = 6
MOST: Final = 0.85
# The shortest of these that holds what is known is shown. A sixth of each is a round piece of time.
SPANS: Final = tuple(
    timedelta(minutes=minutes)
    for minutes in (1, 6, 12, 30, 60, 6 * 60, 24 * 60, 6 * 24 * 60, 30 * 24 * 60, 366 * 24 * 60)
)


def span_of(now: datetime, due: Sequence[datetime]) -> timedelta:
    """How much of the time to come is shown: nearly all that is due, and not a lone one at the end of the year."""
    nearly_all = sorted(due)[: ceil(len(due) * MOST)]
    ahead = nearly_all[-1] - now if nearly_all else timedelta()
    return next((span for span in SPANS if ahead < span), SPANS[-1])


def axis(bars: Sequence[Bar]) -> Markup:
    """Bars above an axis, which begins now."""
    begin, end = bars[0].since, bars[-1].until
    most = max(bar.number for bar in bars)
    label = f"{counted(sum(bar.number for bar in bars), 'schedule')} due within {duration(end - begin)}"
    parts = [element("line", x1=0, x2=WIDTH, y1=FLOOR, y2=FLOOR, class_="floor")]
    parts += [_bar(bar, place, len(bars), most) for place, bar in enumerate(bars) if bar.number]
    parts += [_tick(begin, end, place) for place in range(TICKS + 1)]
    if most:
        parts.append(element("text", f"most at once: {most}", x=WIDTH, y=10, text_anchor="end", class_="tick"))
    return picture(WIDTH, HEIGHT, joined(parts), label=label, class_="axis")


def _bar(bar: Bar, place: int, number: int, most: int) -> Markup:
    width = WIDTH / number
    height = max((FLOOR - TOP) * bar.number / most, 3.0)
    text = f"{counted(bar.number, 'schedule')} from {_clock(bar.since)} to {_clock(bar.until)} UTC"
    return element(
        "rect",
        element("title", text),
        x=place * width + GAP / 2,
        y=FLOOR - height,
        width=width - GAP,
        height=height,
        rx=1.5,
        class_="bar",
    )


def _tick(begin: datetime, end: datetime, place: int) -> Markup:
    x = WIDTH * place / TICKS
    anchor = "start" if place == 0 else "end" if place == TICKS else "middle"
    text = "now" if place == 0 else f"+{duration((end - begin) * place / TICKS)}"
    mark = element("line", x1=x, x2=x, y1=FLOOR, y2=FLOOR + 4, class_="floor")
    return mark + element("text", text, x=x, y=FLOOR + 18, text_anchor=anchor, class_="tick")


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%d %b %H:%M:%S")
