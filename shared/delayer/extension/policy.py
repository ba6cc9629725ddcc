"""A policy decides when a schedule is due: this is what its author imports (docs/use/policies.md).

class NextFullHour(Policy):
    \"\"\"The next full hour.\"\"\"


@policy("next-full-hour")
def handler(asked: Asked[NextFullHour]) -> Chosen:
    return At(-(-asked.now // HOUR) * HOUR)
"""

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_args, get_type_hints

import msgspec
from attrs import field, frozen

from delayer.engines.ports import Clock
from delayer.engines.process import setting
from delayer.extension.action import Action, Meta, as_text, schema_of
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Malformed
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import random_part_of
from delayer.timing.rules import Asked, At, Chosen
from delayer.timing.rules import TimeRefused as Refused

if TYPE_CHECKING:
    from delayer.engines.aws.telemetry import Handler
    from delayer.wiring.environment import Environment

__all__ = ["DAY", "HOUR", "MINUTE", "SECOND", "Asked", "At", "Chosen", "Meta", "Policy", "Refused", "policy", "setting"]

IN_LAMBDA: Final = "AWS_LAMBDA_FUNCTION_NAME"  # Lambda's own
WRITE_ONLY: Final = '"writeOnly":true'  # how a field of a schema says that it is one
NAMED_BY: Final = "policy"  # the field of `when` that has the name
MILLISECONDS: Final = range(10**12, 10**14)  # from 2001 to 5138: no instant of today in seconds or microseconds


class Policy(Action):
    """The fields of a policy, written as those of an action. It has no secrets: all that reads the schedule sees it."""


Fields = TypeVar("Fields", bound=Policy)


@frozen(kw_only=True)
class Decider(Generic[Fields]):
    """A policy with its class."""

    name: str
    choose: Callable[[Asked[Fields]], Chosen]
    fields: type[Fields]
    clock: Callable[[], Clock]
    _decoder: msgspec.json.Decoder[Fields] = field(init=False)

    @_decoder.default
    def _make_decoder(self) -> msgspec.json.Decoder[Fields]:
        return msgspec.json.Decoder(self.fields)

    @property
    def schema(self) -> str:
        """JSON Schema of `when`, as JSON text. Raises TypeError if a field of it is declared as secret."""
        schema = as_text(schema_of(self.fields, self.name, NAMED_BY))
        if WRITE_ONLY in schema:
            raise TypeError(f"the policy {self.name} has a secret, which everybody would see who sees the schedule")
        return schema

    def __call__(self, schedule: Schedule) -> Chosen:
        """When the schedule is due. Raises Malformed if this version does not know such fields: it waits."""
        try:
            fields = self._decoder.decode(schedule.definition.when)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Malformed(f"not a policy {self.name} as this version knows it: {error}") from error
        chosen = self.choose(
            Asked(
                policy=fields,
                now=self.clock().now(),
                accepted_at=schedule.created_at,
                schedule_id=schedule.id,
                owner=schedule.owner,
                payload=schedule.definition.payload,
                key=random_part_of(schedule.id),
            )
        )
        if not isinstance(chosen, At | Refused) or (isinstance(chosen, At) and not isinstance(chosen.instant, int)):
            raise TypeError(f"{self.name} returned neither At, with whole milliseconds, nor Refused")
        if isinstance(chosen, At) and chosen.instant not in MILLISECONDS:  # it must neither fire at once, nor end
            raise ValueError(f"{self.name} returned {chosen}: no instant of our time in milliseconds since 1970")
        return chosen


def policy(name: str) -> "Callable[[Callable[[Asked[Fields]], Chosen]], LambdaPolicy[Fields]]":
    """Makes a function the policy of this name. Its folder is `functions/policy-<name>`.

    The function returns `At` or `Refused`. If it raises, it is asked again two minutes later, for as long as it takes.
    """

    def decorate(choose: Callable[[Asked[Fields]], Chosen]) -> LambdaPolicy[Fields]:
        return LambdaPolicy(name, choose)

    return decorate


def _class_of(choose: Callable[[Asked[Fields]], Chosen]) -> type[Fields]:
    """The class in `asked: Asked[…]`."""
    hints = [hint for name, hint in get_type_hints(choose).items() if name != "return"]
    classes = get_args(hints[0]) if len(hints) == 1 else ()
    if len(classes) != 1 or not issubclass(classes[0], Policy):
        raise TypeError(f"{choose.__name__} takes one argument, `asked: Asked[…]`, with a class of its own fields")
    found: type[Fields] = classes[0]
    return found


class LambdaPolicy(Generic[Fields]):
    """Lambda calls this, with a message of the policy's queue."""

    def __init__(self, name: str, choose: Callable[[Asked[Fields]], Chosen]) -> None:
        self.target = Decider(name=name, choose=choose, fields=_class_of(choose), clock=lambda: self.ports.clock)
        if IN_LAMBDA in os.environ:
            _ = self._of_queue  # at the cold start, which has more of a processor than a call

    @cached_property
    def ports(self) -> "Environment":
        """The function has these at hand: logs, metrics, the clock."""
        from delayer.wiring.environment import Environment

        return Environment(f"policy-{self.target.name}")

    @cached_property
    def _of_queue(self) -> "Handler":
        from delayer.wiring.consumers import policy_handler

        return policy_handler(self.ports, self.target)

    def __call__(self, event: Any, context: object) -> Any:
        """One invocation."""
        return self._of_queue(event, context)
