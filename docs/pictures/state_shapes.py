"""The shapes of the pictures of the lifecycle: states, arrows between them, and panels.

A panel is as wide as the narrowest phone needs: its units are pixels there, and each text has twelve or more. Each
arrow says in its attributes which transition it is, so that a test can compare the pictures with the code.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from textwrap import wrap

from delayer.ledger.model import ENDS, TRANSITIONS, EventType, State, Transition

WIDTH = 344
CHIP_WIDTH, CHIP_HEIGHT = 112, 26
LINE, GAP, TITLE = 14, 10, 24
LONGEST_LINE = 33  # characters: it ends before the vertical part of the arrows
BEND = 16  # so far before its end an arrow turns
NORMAL = frozenset(
    {
        EventType.SCHEDULED,
        EventType.DECIDED,
        EventType.ENQUEUED,
        EventType.CLAIMED,
        EventType.EXECUTED,
        EventType.CANCELLED,
        EventType.REPLACED,
    }
)


def is_normal(one: Transition) -> bool:
    """Nothing went wrong before it: whatever leads on from an end belongs to the exceptions."""
    return one.event in NORMAL and one.source not in ENDS


def transitions(*, normal: bool) -> list[Transition]:
    """Those of one of the two pictures. Together they have all."""
    return [one for one in TRANSITIONS if is_normal(one) == normal]


def makers(found: Iterable[Transition]) -> dict[State | None, list[str]]:
    """Who makes them, by the state that they lead from."""
    by: dict[State | None, list[str]] = {}
    for one in found:
        names = by.setdefault(one.source, [])
        names += [] if one.by in names else [one.by]
    return by


def panels(drawn: Sequence[str]) -> str:
    """Beside each other where there is room."""
    style = "display:grid;gap:1.2rem 2.4rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))"
    return f'<div style="{style}">\n' + "\n".join(drawn) + "\n</div>"


def column(drawn: Sequence[str]) -> str:
    """Below each other, as one panel."""
    return '<div style="display:grid;gap:1.2rem;align-content:start">\n' + "\n".join(drawn) + "\n</div>"


def panel(title: str, height: float, shapes: Iterable[str]) -> str:
    """One drawing."""
    return (
        f'<svg role="img" viewBox="0 0 {WIDTH} {height:g}" xmlns="http://www.w3.org/2000/svg" '
        f'style="max-width:26rem" font-family="inherit" font-size="13" fill="currentColor">\n'
        f"<title>{escape(title)}</title>\n" + "\n".join(shapes) + "\n</svg>"
    )


def fan(words: str, event: EventType, target: State, by: Mapping[State | None, Sequence[str]]) -> str:
    """What leads to one state by one event: the states that it leads from, each with who makes it."""
    rows = {
        source: wrap(f"by {', '.join(names)}", LONGEST_LINE, break_on_hyphens=False) for source, names in by.items()
    }
    heights = [height_of(lines) for lines in rows.values()]
    height = TITLE + sum(heights) - GAP
    middle, right = TITLE + (sum(heights[:-1]) + CHIP_HEIGHT) / 2, WIDTH - CHIP_WIDTH / 2 - 1
    shapes = [text(0, 14, words, weight="bold"), chip(right, middle, target)]
    top: float = TITLE
    for source, lines in rows.items():
        y = top + CHIP_HEIGHT / 2
        shapes.append(chip(CHIP_WIDTH / 2 + 1, y, source))
        shapes += [text(2, top + CHIP_HEIGHT + LINE * at, line, faint=True) for at, line in enumerate(lines, 1)]
        line = elbow((CHIP_WIDTH + 4, y), (right - CHIP_WIDTH / 2 - 3, middle))
        shapes.append(of_transition(source, event, target, line))
        top += height_of(lines)
    sources = ", ".join(str(source) for source in by)
    return panel(f"{words}: {event} leads from {sources} to {target}", height + 4, shapes)


def height_of(lines: Sequence[str]) -> float:
    """A state, who makes the transition, and the gap to the next."""
    return CHIP_HEIGHT + LINE * len(lines) + GAP


def of_transition(source: State | None, event: EventType, target: State, shape: str) -> str:
    """A shape that stands for a transition."""
    return f'<g data-source="{source or ""}" data-event="{event}" data-target="{target}">{shape}</g>'


def chip(x: float, y: float, state: State | None) -> str:
    """A state around a point; ends are filled."""
    is_end = state in ENDS
    fill = "var(--md-primary-fg-color)" if is_end else "none"
    colour = "var(--md-primary-bg-color)" if is_end else "currentColor"
    left, top = x - CHIP_WIDTH / 2, y - CHIP_HEIGHT / 2
    radius = CHIP_HEIGHT / 2
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{CHIP_WIDTH}" height="{CHIP_HEIGHT}" rx="{radius:g}" '
        f'fill="{fill}" stroke="currentColor" stroke-width="{0 if is_end else 1.2}"/>'
        + text(x, y + 4.5, str(state), anchor="middle", colour=colour)
    )


def text(
    x: float, y: float, words: str, *, weight: str = "", faint: bool = False, anchor: str = "", colour: str = ""
) -> str:
    """One line."""
    attributes = {
        "text-anchor": anchor,
        "font-weight": weight,
        "font-size": "12" if faint else "",
        "fill": "var(--md-default-fg-color--light)" if faint else colour,
    }
    said = "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
    return f'<text x="{x:g}" y="{y:g}"{said}>{escape(words)}</text>'


def arrow(begin: tuple[float, float], end: tuple[float, float]) -> str:
    """A line with a head, whose ids no other picture of a page can have: it has none."""
    (x1, y1), (x2, y2) = begin, end
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    x, y = x2 - 9 * dx, y2 - 9 * dy
    head = f"{x2:.1f},{y2:.1f} {x - 4.5 * dy:.1f},{y + 4.5 * dx:.1f} {x + 4.5 * dy:.1f},{y - 4.5 * dx:.1f}"
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x:.1f}" y2="{y:.1f}" stroke="currentColor" stroke-width="1.2"/>'
        f'<polygon points="{head}"/>'
    )


def elbow(begin: tuple[float, float], end: tuple[float, float]) -> str:
    """An arrow that turns just before its end, so that it crosses no words."""
    (x1, y1), (x2, y2) = begin, end
    turn = f'<path d="M{x1:g} {y1:g}H{x2 - BEND:g}V{y2:g}" fill="none" stroke="currentColor" stroke-width="1.2"/>'
    return turn + arrow((x2 - BEND, y2), end)
