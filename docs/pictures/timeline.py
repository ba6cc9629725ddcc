"""Where each millisecond of a firing goes, from bench/timeline/figures.json: bars to scale, at the median."""

from collections.abc import Sequence

from attrs import frozen

from bench.timeline.figures import AFTER_POST, AROUND_DUE, read, shown
from docs.pictures.state_shapes import WIDTH, panel, panels, text

LEFT, RIGHT = 4, WIDTH - 4
ROW, BAR = 40, 10
TOP = 26
ACCENT, QUIET = "var(--md-primary-fg-color)", "var(--md-default-fg-color--lighter)"


@frozen(kw_only=True)
class Bar:
    """From one instant to the next, in milliseconds."""

    words: str
    begin: float
    end: float
    waits: bool = False  # nothing is at work


def draw() -> str:
    """Three drawings with a scale each: after the POST, before the point in time, after it."""
    measured = read()
    at: dict[str, float] = {name: round(measured.instants[name].median) for name in (*AFTER_POST, *AROUND_DUE)}
    return panels([after_post(at), before_due(at), after_due(at)])


def after_post(at: dict[str, float]) -> str:
    """Both begin with the POST."""
    return drawing(
        "After the POST was sent",
        [
            Bar(words="checked, stored, answered 201", begin=0, end=at["answered"]),
            Bar(words="to the delayer queue, through the stream twice", begin=0, end=at["sent"]),
        ],
    )


def before_due(at: dict[str, float]) -> str:
    """The hand-over lead: nearly all of it is waiting, which hides how long the hand-over takes."""
    return drawing(
        "Before the point in time",
        [
            Bar(words="the relay writes the claim", begin=at["claim_began"], end=at["claimed"]),
            Bar(words="hand-over; then the executor waits", begin=at["claimed"], end=0, waits=True),
        ],
    )


def after_due(at: dict[str, float]) -> str:
    """Each begins where the one before ends."""
    return drawing(
        "After the point in time",
        [
            Bar(words="read the ledger, sign, connect, send", begin=0, end=at["reached"]),
            Bar(words="the target answers", begin=at["reached"], end=at["decided"]),
            Bar(words="write the outcome", begin=at["decided"], end=at["written"]),
        ],
    )


def drawing(title: str, bars: Sequence[Bar]) -> str:
    """One scale for all bars of a drawing."""
    least, most = min(bar.begin for bar in bars), max(bar.end for bar in bars)
    scale = (RIGHT - LEFT) / (most - least)
    shapes = [text(0, 14, title, weight="bold")]
    for number, bar in enumerate(bars):
        y = TOP + number * ROW
        x = LEFT + (bar.begin - least) * scale
        width = max((bar.end - bar.begin) * scale, 2)
        shapes.append(text(0, y + 14, bar.words))
        shapes.append(text(WIDTH, y + 14, shown(bar.end - bar.begin), anchor="end"))
        shapes.append(
            f'<rect x="{LEFT}" y="{y + 20}" width="{RIGHT - LEFT}" height="{BAR}" rx="2" fill="none" stroke="{QUIET}"/>'
            f'<rect x="{x:.1f}" y="{y + 20}" width="{width:.1f}" height="{BAR}" rx="2" '
            f'fill="{QUIET if bar.waits else ACCENT}"/>'
        )
    bottom = TOP + len(bars) * ROW
    shapes += [
        text(LEFT, bottom + 8, shown(least), faint=True),
        text(WIDTH, bottom + 8, shown(most), faint=True, anchor="end"),
    ]
    words = "; ".join(f"{bar.words}: {shown(bar.end - bar.begin)}" for bar in bars)
    return panel(f"{title}: {words}", bottom + 14, shapes)
