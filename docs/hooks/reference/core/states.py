"""The states of a schedule, the transitions between them, and the events that tell of them."""

from functools import cache

from delayer.ledger.model import ENDS, TRANSITIONS, WAITING, EventType, State, Transition
from docs.hooks.reference.comments import beside
from docs.hooks.reference.text import listed, record, sentence, table
from tests import cfn

CODE = "shared/delayer/ledger/model.py"
# Whoever makes a transition is named in the table by a function, or by what several have in common.
BY = {
    "client": "its owner, by a call of the API",
    "policy": "the function of its [policy](docs:reference/policies.md)",
    "executor": "the executor of its [action](docs:actions/index.md)",
}


@cache
def texts(kind: str) -> dict[str, str]:
    """What the code says beside each member of `State` or `EventType`."""
    return {name: sentence(text) for name, text in beside(CODE, kind).items()}


def states() -> str:
    """A section for each."""
    return "\n".join(map(state, State))


def state(one: State) -> str:
    """What it means, how it begins, and what may follow."""
    begins = [item for item in TRANSITIONS if item.target is one and item.source is not one]
    follows = [str(item.target) for item in TRANSITIONS if item.source is one and item.target is not one]
    said = " ".join(part for part in (texts("State")[one], place(one)) if part)
    return f"### `{one}`\n\n{said}\n\n{lines(begins)}\n\n{after(one, follows)}\n"


def lines(items: list[Transition]) -> str:
    """One for each: where it comes from, which event tells of it, who makes it, where that is decided."""
    return "\n".join(
        f"- {other(item)}, with the event [`{item.event}`](#event-{item.event}): by {by(item.by)} ({record(item.adr)})"
        for item in items
    )


def other(item: Transition) -> str:
    """Where a transition comes from."""
    return f"From [`{item.source}`](#{item.source})" if item.source else "New"


def after(one: State, follows: list[str]) -> str:
    """The states that may come next."""
    links = listed([f"[`{name}`](#{name})" for name in dict.fromkeys(follows)], "or")
    if not links:
        return "Nothing follows."
    return f"All the same it may become {links}." if one in ENDS else f"It may become {links}."


def place(one: State) -> str:
    """Whether it is an end, or where a schedule waits."""
    if one in ENDS:
        return "It is an end."
    both = listed(sorted(f"`{name}`" for name in WAITING))
    return f"The ledger does not say which of {both} it is." if one in WAITING else ""


def by(name: str) -> str:
    """Who makes it."""
    return f"[`{name}`](docs:reference/functions/{name}.md)" if name in cfn.functions() else BY[name]


def transitions() -> str:
    """Those that lead to the state that they come from: the event is published, and the state stays."""
    return lines([item for item in TRANSITIONS if item.source is item.target])


def events() -> str:
    """A section for each."""
    return "\n".join(map(event, EventType))


def event(one: EventType) -> str:
    """When it is published, and which states it leads to."""
    leads = listed([f"[`{target}`](#{target})" for target in targets(one)], "or")
    makers = listed(list(dict.fromkeys(by(item.by) for item in TRANSITIONS if item.event is one)), "or")
    facts = f"- **State afterwards**: {leads}\n- **Made by**: {makers}\n"
    return f"### `{one}` {{ #event-{one} }}\n\n{texts('EventType')[one]}\n\n{facts}"


def targets(one: EventType) -> list[str]:
    """The states that an event leads to."""
    return list(dict.fromkeys(str(item.target) for item in TRANSITIONS if item.event is one))


def event_table() -> str:
    """All on one table, for the page about events."""
    rows = [
        (
            f"[`{one}`](docs:reference/states.md#event-{one})",
            texts("EventType")[one],
            listed([f"`{name}`" for name in targets(one)], "or"),
        )
        for one in EventType
    ]
    return table(("event", "when", "state afterwards"), rows)
