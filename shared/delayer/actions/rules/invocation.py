"""How executor-remote and a function in another stack speak to each other (ADR 0090): JSON, in both directions."""

from typing import Any, Final, assert_never

from attrs import evolve

from delayer.actions.rules import model
from delayer.actions.rules.model import ActionType, Done, Refused, Result, Retry
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import ExecutorMessage, encode

# The field with the name of the question, a text. What lambda-invoke and step-start send has an object in this field
# (`enveloped` in delayer.targets.aws_call): if that reaches an executor, it is a question which it does not know.
QUESTION: Final = "delayer"
DESCRIBE: Final = "describe"
ATTEMPT: Final = "attempt"
MOST_SECONDS: Final = 14 * 86_400  # that a target may ask for, until the next attempt


def describe() -> dict[str, Any]:
    """Asks what the class of the action says."""
    return {QUESTION: DESCRIBE}


def attempt(message: ExecutorMessage) -> dict[str, Any]:
    """Asks for an attempt."""
    return {QUESTION: ATTEMPT, "message": encode(message)}


def described(action: ActionType) -> dict[str, Any]:
    """The answer to DESCRIBE."""
    return {"action": model.encode(action)}


def as_action(content: object) -> ActionType:
    """The inverse. Raises ValueError with a reason of ours."""
    match content:
        case {"action": str(text)}:
            try:
                return model.decode(text)
            except UnknownVersion as error:
                raise ValueError("the function was built with a newer Delayer: use the layer of this one") from error
            except Malformed as error:
                raise ValueError("what the function says of its action cannot be read") from error
    raise ValueError("the function does not answer as an executor: its handler is not made by @executor")


def answered(result: Result) -> dict[str, Any]:
    """The answer to ATTEMPT. Only what did not come to its target says so: it is rare, and older ones do not."""
    answer = _written(result)
    return answer if isinstance(result, Done) or result.reached else {**answer, "reached": False}


def _written(result: Result) -> dict[str, Any]:
    match result:
        case Done(detail):
            return {"outcome": "done", "detail": detail}
        case Retry(detail=detail, after_seconds=after, is_outage=is_outage):
            return {"outcome": "retry", "detail": detail, "afterSeconds": after, "isOutage": is_outage}
        case Refused(detail):
            return {"outcome": "refused", "detail": detail}
    assert_never(result)


def as_result(content: object) -> Result:
    """The inverse. Raises ValueError for what is no answer. A detail is made printable and short, whoever wrote it.

    A function that was built with an older Delayer does not say `isOutage`: then it is none.
    """
    result = _read(content)
    if isinstance(result, Done) or not isinstance(content, dict) or content.get("reached") is not False:
        return result
    return evolve(result, reached=False)


def _read(content: object) -> Result:
    match content:
        case {"outcome": "done", "detail": str(detail)}:
            return Done(detail)
        case {"outcome": "retry", "detail": str(detail), "afterSeconds": int(after), **more} if after >= 0:
            at_most = min(int(after), MOST_SECONDS)
            return Retry(detail=detail, after_seconds=at_most, is_outage=more.get("isOutage") is True)
        case {"outcome": "retry", "detail": str(detail), "afterSeconds": None, **more}:
            return Retry(detail=detail, is_outage=more.get("isOutage") is True)
        case {"outcome": "refused", "detail": str(detail)}:
            return Refused(detail)
    raise ValueError("what the function returned is no Done, Retry or Refused")
