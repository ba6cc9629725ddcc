"""Every metric of Delayer's own, from the list in the port, with the comment beside each."""

from functools import cache

from docs.hooks.reference.comments import beside, users
from docs.hooks.reference.stack import alarms
from docs.hooks.reference.text import ROOT, linked, listed, sentence

PORT = "shared/delayer/engines/ports.py"
UNITS = {"Count": "Count", "Lateness": "Milliseconds"}
NOT_COUNTING = ("delayer.engines.ports.", "delayer.engines.memory.")  # the port itself, and what notes its calls


@cache
def described() -> dict[str, tuple[str, str]]:
    """Unit and description of each."""
    return {name: (unit, text) for kind, unit in UNITS.items() for name, text in beside(PORT, kind).items()}


@cache
def counted_in() -> dict[str, list[str]]:
    """The modules, and the functions, that count each."""
    found = users(frozenset(described()), (ROOT / "shared/delayer", ROOT / "functions"))
    return {name: [one for one in modules if not one.startswith(NOT_COUNTING)] for name, modules in found.items()}


def metrics() -> str:
    """A section for each, in the order of the alphabet."""
    return "\n".join(section(name) for name in sorted(described()))


def section(name: str) -> str:
    """What it counts, where, and which alarm watches it."""
    unit, text = described()[name]
    lines = {
        "Unit": unit,
        "Watched by": listed([alarms.link(entry) for entry in alarms.of_metric(name)]) or "no alarm",
        "Counted in": listed([f"`{module}`" for module in counted_in()[name]]),
    }
    facts = "\n".join(f"- **{title}**: {said}" for title, said in lines.items())
    return f"### `{name}`\n\n{linked(sentence(text))}\n\n{facts}\n"
