"""An action whose function is in another stack: executor-remote invokes it for each attempt (ADR 0090)."""

from collections.abc import Callable

from attrs import frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.invocation import as_result, attempt
from delayer.actions.rules.model import Result, Retry
from delayer.actions.rules.registration import Registration
from delayer.engines.ports import Function, NoAnswer, NotInvoked
from delayer.schedule.messages import ExecutorMessage


class NotRegistered(NotAttempted):
    """No stack has registered the type, or none any more."""


@frozen(kw_only=True)
class RemoteTarget:
    """Makes attempts by a function of another stack.

    `registration` gives the one in force of a type; KeyError if there is none.
    """

    registration: Callable[[str], Registration]
    registration_now: Callable[[str], Registration]  # the same, read anew
    function_at: Callable[[str], Function]  # by its ARN

    def __call__(self, message: ExecutorMessage) -> Result:
        """A stack that was deleted or has replaced its function a moment ago costs no attempt. Raises NotRegistered."""
        arn = _arn_for(message, self.registration)
        try:
            try:
                return self._ask(arn, message)
            except NotInvoked:
                current = _arn_for(message, self.registration_now)
                if current == arn:
                    raise
                return self._ask(current, message)
        except NoAnswer as error:
            return Retry(detail=str(error), is_outage=error.is_outage)
        except ValueError as error:
            return Retry(detail=str(error))

    def _ask(self, arn: str, message: ExecutorMessage) -> Result:
        """Raises NoAnswer; ValueError for an answer that is no result."""
        return as_result(self.function_at(arn).ask(attempt(message)))


def _arn_for(message: ExecutorMessage, registration: Callable[[str], Registration]) -> str:
    kind = message.schedule.definition.action_type
    try:
        arn = registration(kind).function
    except KeyError:
        arn = ""
    if not arn:
        raise NotRegistered(f"no other stack has registered the type {kind!r}")
    return arn
