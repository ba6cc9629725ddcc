"""An action is one small function: this is what its author imports (docs/extend/extending.md).

class SlackPost(Action):
    \"\"\"A message in a Slack channel.\"\"\"

    channel: Annotated[str, Meta(pattern="^#[a-z0-9_-]{1,80}$", description="The channel.")]


@executor("slack-post")
def handler(message: Message[SlackPost]) -> Result:
    ...
    return Done("HTTP 200")
"""

import os
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, get_args, get_type_hints

import msgspec
from attrs import field, frozen

from delayer.actions.rules.addresses import HOST
from delayer.actions.rules.model import (
    LARGEST_PAYLOAD,
    LONGEST_ATTEMPT,
    ActionType,
    Done,
    Message,
    Refused,
    Result,
    Retry,
    problem_in,
)
from delayer.engines.process import setting
from delayer.extension.action import Action, Meta, as_text, schema_of
from delayer.schedule.instants import Malformed
from delayer.schedule.messages import ExecutorMessage
from delayer.schedule.retrying import allows_another, policy_of

if TYPE_CHECKING:
    from delayer.engines.aws.telemetry import Handler
    from delayer.engines.ports import Metric
    from delayer.signing.ports import Signs
    from delayer.wiring.environment import Environment

__all__ = ["Action", "Done", "Message", "Meta", "Refused", "Result", "Retry", "executor", "setting"]

Fields = TypeVar("Fields", bound=Action)
OWN_QUEUE: Final = "OWN_QUEUE"  # the template sets it for an executor of Delayer's own stack


@frozen(kw_only=True)
class Executor(Generic[Fields]):
    """A function for one type of action: the handler of a Lambda, and port Target."""

    kind: str
    attempt: Callable[[Message[Fields]], Result]
    fields: type[Fields]
    action_type: ActionType
    seconds: float = LONGEST_ATTEMPT  # that an attempt may take
    _decoder: msgspec.json.Decoder[Fields] = field(init=False)

    @_decoder.default
    def _make_decoder(self) -> msgspec.json.Decoder[Fields]:
        return msgspec.json.Decoder(self.fields)

    def check(self, message: ExecutorMessage) -> None:
        """Raises Malformed if the action is not one of this class: it was stored under another one (ADR 0088)."""
        self._fields_of(message)

    def __call__(self, message: ExecutorMessage) -> Result:
        """One attempt."""
        return self.attempt(self.message_of(message))

    def message_of(self, message: ExecutorMessage) -> Message[Fields]:
        """As the function receives it. Raises Malformed."""
        schedule = message.schedule
        return Message(
            action=self._fields_of(message),
            payload=schedule.definition.payload,
            schedule_id=schedule.id,
            owner=schedule.owner,
            point_in_time=schedule.point_in_time,
            attempt=message.attempt,
            seconds_left=self.seconds,
            has_next=allows_another(policy_of(schedule.definition), message.attempt),
        )

    def _fields_of(self, message: ExecutorMessage) -> Fields:
        try:
            return self._decoder.decode(message.schedule.definition.action)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Malformed(f"not an action {self.kind} as this version knows it: {error}") from error


def executor(
    kind: str,
    *,
    fair_by: str = "",
    reaches: str = "",
    payload: Mapping[str, Any] | None = None,
    largest_payload: int = LARGEST_PAYLOAD,
    seconds: float = LONGEST_ATTEMPT,
    internal: bool = False,
    metrics: "Collection[Metric] | None" = None,
    signs: bool = False,
) -> Callable[[Callable[[Message[Fields]], Result]], "LambdaExecutor[Fields]"]:
    """Makes a function the executor of this type of action. Its folder is `functions/executor-<kind>`.

    `fair_by` is the field (as the API spells it) that names the target: messages for one target do not make
    those for others wait. With `host:` before it, only the host of a URL counts. `reaches` is the field that an owner
    policy looks at, behind its sort: `host:url`, `queue:queueUrl`, `topic:…`, `function:…`, `stateMachine:…`,
    `eventBus:…`. If it is not given, and `fair_by` has `host:`, it is that host. `payload` is the JSON Schema of
    the payload, if not any will do, and `largest_payload` its limit in bytes: the API refuses what is beyond.

    An attempt that takes longer than `seconds`, 30 at most, is a failed one, even if the function goes on. With
    `metrics`, the function writes these and no others. No client can see or schedule what is `internal`. One that
    `signs` has `handler.sign` ready from its start, for requests whose target can check who sends them (ADR 0104).

    The function returns `Done`, `Retry` or `Refused`. If it raises, that is a failed attempt.
    """

    if not 0 < seconds <= LONGEST_ATTEMPT:
        raise ValueError(f"seconds={seconds:g}: an attempt may take up to {LONGEST_ATTEMPT:g} seconds")

    def decorate(attempt: Callable[[Message[Fields]], Result]) -> LambdaExecutor[Fields]:
        fields = _class_of(attempt)
        schema = schema_of(fields, kind)
        _check_fair_by(kind, fair_by, schema["properties"])
        if problem := problem_in(reaches, schema["properties"]):
            raise ValueError(f"reaches={reaches!r}: {problem}")
        described = ActionType(
            type=kind,
            schema=as_text(schema),
            fair_by=fair_by,
            payload=as_text(payload) if payload else "",
            largest_payload=largest_payload,
            internal=internal,
            reaches=reaches,
        )
        return LambdaExecutor(
            Executor(kind=kind, attempt=attempt, fields=fields, action_type=described, seconds=seconds),
            metrics,
            signs=signs,
        )

    return decorate


def _check_fair_by(kind: str, fair_by: str, fields: Collection[str]) -> None:
    """A field that is not there would put all targets into one group, and nobody would notice."""
    name = fair_by.removeprefix(HOST)
    if name and name not in fields:
        known = ", ".join(field for field in fields if field != "type") or "none"
        raise ValueError(f"fair_by={fair_by!r}: {kind} has no field {name!r}. Its fields as the API has them: {known}")


def _class_of(attempt: Callable[[Message[Fields]], Result]) -> type[Fields]:
    """The class in `message: Message[…]`."""
    hints = [hint for name, hint in get_type_hints(attempt).items() if name != "return"]
    classes = get_args(hints[0]) if len(hints) == 1 else ()
    if len(classes) != 1 or not issubclass(classes[0], Action):
        raise TypeError(f"{attempt.__name__} takes one argument, `message: Message[…]`, with a class of its own fields")
    found: type[Fields] = classes[0]
    return found


class LambdaExecutor(Generic[Fields]):
    """Lambda calls this. In Delayer's own stack it consumes a queue; in another, executor-remote invokes it."""

    def __init__(
        self, target: Executor[Fields], metrics: "Collection[Metric] | None" = None, *, signs: bool = False
    ) -> None:
        self.target = target
        self._metrics = metrics
        if os.environ.get(OWN_QUEUE):  # the engine of one machine says that there is none
            _ = self._of_queue  # at the cold start, which has more of a processor than a call
            _ = self.sign if signs else None

    @cached_property
    def ports(self) -> "Environment":
        """The function of one of Delayer's own executors has these at hand: logs, metrics, the clock."""
        from delayer.wiring.environment import Environment

        return Environment(f"executor-{self.target.kind}", self._metrics)

    @cached_property
    def sign(self) -> "Signs":
        """The headers by which a target knows that an attempt is Delayer's."""
        from delayer.wiring.use_cases import sign

        return sign(self.ports)

    @cached_property
    def _of_queue(self) -> "Handler":
        from delayer.wiring.executor import handler_of

        own = {self.target.kind: self.target.action_type}
        return handler_of(self.ports, self.target, self.target.check, self.target.seconds, own)

    def __call__(self, event: Any, context: object) -> Any:
        """One invocation: a batch of the queue, or a question of Delayer's."""
        if "delayer" in event:
            from delayer.extension.invoked import answer

            return answer(self.target, event, context)
        return self._of_queue(event, context)
