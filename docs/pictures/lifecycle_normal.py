"""The normal path of a schedule, and how its owner ends it earlier: made from the table of the lifecycle."""

from delayer.ledger.model import EventType, State, Transition
from docs.pictures.state_shapes import (
    CHIP_HEIGHT,
    arrow,
    chip,
    column,
    fan,
    makers,
    of_transition,
    panel,
    panels,
    text,
    transitions,
)

STEP = 92  # from one state to the next
TOP = 76
LEFT, RIGHT = 62, 240
PLACES = {
    State.SCHEDULED: (LEFT, TOP),
    State.ENQUEUED: (LEFT, TOP + STEP),
    State.CLAIMED: (LEFT, TOP + 2 * STEP),
    State.EXECUTED: (LEFT, TOP + 3 * STEP),
    State.UNDECIDED: (RIGHT, TOP),
    State.DECIDED: (RIGHT, TOP + STEP),
}
NOTES = {
    State.SCHEDULED: "with a time",
    State.UNDECIDED: "without a time",
}
BY_ITS_OWNER = {
    EventType.CANCELLED: "Its owner cancels it",
    EventType.REPLACED: "Its owner replaces it",
}


def draw() -> str:
    """The path downwards; beside it, or below on a phone, what its owner may do."""
    normal = transitions(normal=True)
    return panels([path(normal), column([end(normal, event, words) for event, words in BY_ITS_OWNER.items()])])


def path(normal: list[Transition]) -> str:
    """From the request to the end."""
    steps = [one for one in normal if one.event not in BY_ITS_OWNER]
    shapes = [chip(*place, state) for state, place in PLACES.items()]
    for source, target in dict.fromkeys((one.source, one.target) for one in steps):
        together = [one for one in steps if (one.source, one.target) == (source, target)]
        shapes += step(together[0], makers(together)[source])
    x, y = PLACES[State.DECIDED]
    shapes += [
        text(x - 56, y + 32, "Another schedule has", faint=True),
        text(x - 56, y + 47, "its time from now on.", faint=True),
    ]
    return panel(
        "The normal path: scheduled, enqueued, claimed, executed; or undecided, then decided",
        TOP + 3 * STEP + CHIP_HEIGHT,
        shapes,
    )


def step(one: Transition, by: list[str]) -> list[str]:
    """An arrow, and beside it the event and who makes it."""
    x, y = PLACES[one.target]
    begin = PLACES[one.source][1] + CHIP_HEIGHT / 2 + 2 if one.source else 20
    words = [text(x + 10, begin + 18, one.event, weight="bold")] if one.source else []
    names = by if one.source else [NOTES[one.target]]
    words += [
        text(x + 10, begin + 18 + 15 * (number + bool(one.source)), name, faint=True)
        for number, name in enumerate(names)
    ]
    dot = "" if one.source else f'<circle cx="{x:g}" cy="14" r="6"/>'
    line = dot + arrow((x, begin), (x, y - CHIP_HEIGHT / 2 - 2))
    return [of_transition(one.source, one.event, one.target, line), *words]


def end(normal: list[Transition], event: EventType, words: str) -> str:
    """From which states its owner may end it."""
    found = [one for one in normal if one.event is event]
    return fan(words, event, found[0].target, makers(found))
