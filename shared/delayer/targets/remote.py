"""An action whose function is in another stack: executor-remote invokes it for each attempt (ADR 0090)."""

from collections.abc import Callable

from attrs import frozen

from delayer.core.actions.invocation import as_result, attempt
from delayer.core.actions.registration import Registration
from delayer.core.firing.executing import Result, Retry
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.functions import Functions, NoAnswer


class NotRegistered(LookupError):
    """No stack has registered the type, or none any more. It is no failure of the target: the message waits."""


@frozen(kw_only=True)
class RemoteTarget:
    """Port Target. `registration` gives the one in force of a type; KeyError if there is none."""

    registration: Callable[[str], Registration]
    functions: Functions

    def check(self, message: ExecutorMessage) -> None:
        """Raises NotRegistered. Whether the action is one of the class, its function says."""
        self._function_for(message)

    def __call__(self, message: ExecutorMessage) -> Result:
        try:
            return as_result(self.functions.ask(self._function_for(message), attempt(message)))
        except (NoAnswer, ValueError) as error:
            return Retry(detail=str(error))

    def _function_for(self, message: ExecutorMessage) -> str:
        kind = message.schedule.definition.action_type
        try:
            function = self.registration(kind).function
        except KeyError:
            function = ""
        if not function:
            raise NotRegistered(f"no other stack has registered the type {kind!r}")
        return function
