"""What a policy may return: an instant in milliseconds, or a refusal. What is neither fires nothing."""

from typing import Annotated

import pytest

from delayer.extension.policy import DAY, SECOND, Asked, At, Chosen, Meta, Policy, Refused, policy
from delayer.extension.policy_harness import NOW, ask
from delayer.timing.rules import TOO_FAR


class Scripted(Policy):
    """Whatever the test says."""

    instant: int = 0


@policy("scripted")
def scripted(asked: Asked[Scripted]) -> Chosen:
    return At(asked.policy.instant)


@policy("careless")
def careless(asked: Asked[Scripted]) -> Chosen:
    return {0: None, 1: 1.5, 2: At(float(NOW))}[asked.policy.instant]  # type: ignore[arg-type, return-value]


@policy("unwilling")
def unwilling(asked: Asked[Scripted]) -> Chosen:
    return Refused("no")


def test_an_instant_and_a_refusal() -> None:
    assert ask(scripted, {"instant": NOW}) == At(NOW)
    assert ask(scripted, {"instant": NOW - 20 * 365 * 86_400 * SECOND}) == At(NOW - 20 * 365 * 86_400 * SECOND)
    assert ask(unwilling) == Refused("no")


def test_a_time_beyond_ten_years_is_shown_as_the_refusal_that_it_becomes() -> None:
    assert ask(scripted, {"instant": NOW + 4_000 * DAY}) == Refused(TOO_FAR)


@pytest.mark.parametrize("number", range(3))
def test_what_is_no_answer_is_a_defect(number: int) -> None:
    with pytest.raises(TypeError, match="careless returned neither At"):
        ask(careless, {"instant": number})


@pytest.mark.parametrize("instant", [NOW // SECOND, 0, -1, NOW * 1_000], ids=["seconds", "zero", "negative", "micro"])
def test_another_unit_is_a_defect(instant: int) -> None:
    """In seconds it would be in 1970, and fire at once; in microseconds it would be refused for good."""
    with pytest.raises(ValueError, match="milliseconds since 1970"):
        ask(scripted, {"instant": instant})


class Indiscreet(Policy):
    """With a field that nobody masks."""

    password: Annotated[str, Meta(extra_json_schema={"writeOnly": True})] = ""


@policy("indiscreet")
def indiscreet(asked: Asked[Indiscreet]) -> Chosen:
    return At(NOW)


def test_it_has_no_secrets() -> None:
    with pytest.raises(TypeError, match="the policy indiscreet has a secret"):
        ask(indiscreet)
