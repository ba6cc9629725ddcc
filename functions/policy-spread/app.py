"""The policy spread: evenly over a window, to spread load."""

from typing import Annotated

from delayer.extension.policy import Asked, At, Chosen, Meta, Policy, policy


class Spread(Policy):
    """Some time within so many seconds after the schedule was accepted, evenly over all schedules."""

    seconds: Annotated[int, Meta(ge=1, le=31_536_000, description="How long the window is, a year at most.")]


@policy("spread")
def handler(asked: Asked[Spread]) -> Chosen:
    """By the random part of its id: the same answer however often it is asked."""
    return At(asked.accepted_at + asked.drawn(asked.policy.seconds))
