"""Asks the class of an action in another stack for its description."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from delayer.actions.rules.invocation import DESCRIBE, QUESTION, as_action, describe, described
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import CannotRegister
from delayer.engines.ports import Function, NoAnswer


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

    executor_remote: Function  # executor-remote

    def __call__(self, function: str) -> ActionType:
        """Raises CannotRegister with the reason."""
        try:
            answer = self.executor_remote.ask({QUESTION: DESCRIBE, "function": function})
        except NoAnswer as error:
            raise CannotRegister(f"executor-remote did not answer: {error}") from error
        match answer:
            case Mapping() if isinstance(reason := answer.get("error"), str):
                raise CannotRegister(reason)
        try:
            return as_action(answer)
        except ValueError as error:
            raise CannotRegister(str(error)) from error
