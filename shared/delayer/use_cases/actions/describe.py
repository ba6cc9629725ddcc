"""What the class of an action in another stack says. executor-remote asks: each such function admits its role alone."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.actions.command import Impossible
from delayer.core.actions.invocation import DESCRIBE, QUESTION, as_action, describe, described
from delayer.ports.function import Function, NoAnswer


@frozen(kw_only=True)
class Describe:
    """For executor-remote."""

    function_at: Callable[[str], Function]  # by its ARN

    def __call__(self, function: str) -> dict[str, Any]:
        """{"action": …} as the function says it, or {"error": a sentence}."""
        try:
            return described(as_action(self.function_at(function).ask(describe())))
        except (NoAnswer, ValueError) as error:
            return {"error": str(error)}


@frozen(kw_only=True)
class DescribedByRemote:
    """For the function that registers actions: asks executor-remote."""

    remote: Function  # executor-remote

    def __call__(self, function: str) -> ActionType:
        """Raises Impossible with the reason."""
        try:
            answer = self.remote.ask({QUESTION: DESCRIBE, "function": function})
        except NoAnswer as error:
            raise Impossible(f"executor-remote did not answer: {error}") from error
        match answer:
            case Mapping() if isinstance(reason := answer.get("error"), str):
                raise Impossible(reason)
        try:
            return as_action(answer)
        except ValueError as error:
            raise Impossible(str(error)) from error
