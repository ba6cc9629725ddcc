"""The record: what the proofs find, as `make record` wrote it."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.simulation.story.story import Story

RECORD: Final = Path(__file__).with_name("record.json")
LONG: Final = 20_000  # steps: one story in ten takes more, and all of these together twice as many as all the others


def stored() -> dict[str, Any]:
    """The record."""
    record: dict[str, Any] = json.loads(RECORD.read_text())
    return record


def as_text(record: dict[str, Any]) -> str:
    """A line for each bug, guard and space, so that the diff of two records can be read."""
    parts = [f'"{name}": {_lines(part, 1)}' for name, part in record.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lines(part: Any, depth: int) -> str:
    if not isinstance(part, dict) or not any(isinstance(thing, dict) for thing in part.values()):
        return json.dumps(part)
    lines = [f"{' ' * depth}{json.dumps(name)}: {_lines(thing, depth + 1)}" for name, thing in part.items()]
    return "{\n" + ",\n".join(lines) + f"\n{' ' * (depth - 1)}}}"


def short_story(on_record: dict[str, Any]) -> Story:
    """The story that finds a bug: that of its seed, without all that is not needed for it; the whole, if it is not
    made short yet.
    """
    if on_record.get("acts") is None:
        return Story(seed=on_record["seed"])
    surprises = frozenset((label, number) for label, number in on_record["surprises"])
    return Story(seed=on_record["seed"], acts=tuple(on_record["acts"]), surprises=surprises)


def is_long(seed: int) -> bool:
    """Whether the story of a seed took many steps when it was recorded. What is not on record is short."""
    steps = _steps()
    return seed < len(steps) and steps[seed] > LONG


@cache
def _steps() -> list[int]:
    steps: list[int] = stored()["stories"]["steps"]
    return steps
