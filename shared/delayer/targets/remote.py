"""An action whose function is in another stack: executor-remote invokes it for each attempt (ADR 0090)."""

from collections.abc import Callable

from attrs import frozen

from delayer.core.actions.invocation import as_result, attempt
from delayer.core.actions.registration import Registration
from delayer.core.firing.executing import Result, Retry
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.function import Function, NoAnswer


class NotRegistered(LookupError):
    """No stack has registered the type, or none any more. It is no failure of the target: the message waits."""


@frozen(kw_only=True)
class RemoteTarget:
    """Port Target. `registration` gives the one in force of a type; KeyError if there is none."""

    registration: Callable[[str], Registration]
    function_at: Callable[[str], Function]  # by its ARN

    def check(self, message: ExecutorMessage) -> None:
        """Raises NotRegistered. Whether the action is one of the class, its function says."""
        self._arn_for(message)

    def __call__(self, message: ExecutorMessage) -> Result:
        try:
            return as_result(self.function_at(self._arn_for(message)).ask(attempt(message)))
        except (NoAnswer, ValueError) as error:
            return Retry(detail=str(error))

    def _arn_for(self, message: ExecutorMessage) -> str:
        kind = message.schedule.definition.action_type
        try:
            arn = self.registration(kind).function
        except KeyError:
            arn = ""
        if not arn:
            raise NotRegistered(f"no other stack has registered the type {kind!r}")
        return arn
