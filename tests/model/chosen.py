"""Which spaces and guards of the models are searched every day: the small ones. `make test-all` searches all."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pytest

from tests.model.guard import Guard
from tests.model.models import MODELS
from tests.model.search import search
from tests.proofs.stored import stored

STEPS: Final = 8_000  # of a space: fewer take less than half a second
STATES: Final = 2_500  # that are visited until what a guard prevents is found; the same
ON_RECORD: Final = {
    "schedule": {"spaces": stored()["spaces"], "guards": stored()["guards"]},
    **stored()["models"],
}


def spaces(model: str, choices: Iterable[str] | None = None) -> list[Any]:
    """The choices of a model. The smallest is searched every day, however big it is."""
    sizes = _sizes(model, "spaces", "steps")
    names = list(MODELS[model].spaces if choices is None else choices)
    least = min(sizes.get(name, 0) for name in names)
    return [_param(name, name, sizes.get(name, 0) > max(STEPS, least)) for name in names]


def guards(model: str, of: Iterable[Guard[Any, Any]]) -> list[Any]:
    """The guards of a model."""
    sizes = _sizes(model, "guards", "states")
    return [_param(guard, guard.name, sizes.get(guard.name, 0) > STATES) for guard in of]


def check_space(model: str, choice: str, found: Any) -> None:
    """Nothing is wrong in it, and it is as big as it was: only a change of behaviour changes that."""
    assert not found.wrong, (found.wrong, [label for label, _ in found.way])
    assert (found.states, found.steps) == _of(model, "spaces", choice, "states", "steps"), MENDED


def check_guard(model: str, guard: Guard[Any, Any]) -> None:
    """Without it something goes wrong, in as few steps as on record."""
    found = guard.search(MODELS[model].search if model in MODELS else search)
    assert found.wrong
    assert (found.wrong, len(found.way)) == _of(model, "guards", guard.name, "violation", "steps"), MENDED


MENDED: Final = (
    "If the behaviour was changed on purpose, `make record ARGS=--help` says how to bring the record up to date"
)


def _of(model: str, part: str, name: str, *what: str) -> tuple[Any, ...]:
    """What is on record of one of them; what is not is nothing that could be found."""
    found: Mapping[str, Any] = ON_RECORD[model][part].get(name, {})
    return tuple(found.get(one) for one in what)


def _sizes(model: str, part: str, what: str) -> dict[str, int]:
    """What is not on record is small: it is searched every day until it is."""
    return {name: found[what] for name, found in ON_RECORD[model][part].items()}


def _param(thing: Any, name: str, is_big: bool) -> Any:
    return pytest.param(thing, id=name, marks=pytest.mark.thorough if is_big else ())
