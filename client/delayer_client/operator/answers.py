"""The answer of an operator's function, wherever it runs."""

from typing import Any

from delayer_client.operator.errors import Interrupted, OperatorError, Refused


def result_of(function: str, has_failed: bool, content: Any) -> dict[str, Any]:
    """The result of one command. Raises Refused, with the function's own words; Interrupted, if it has failed."""
    if has_failed:
        why = content.get("errorMessage", content) if isinstance(content, dict) else content
        raise Interrupted(f"{function} failed: {why}")
    if not isinstance(content, dict) or "ok" not in content:
        raise OperatorError(f"{function} does not answer as an operator's function does: {str(content)[:200]}")
    if not content["ok"]:
        raise Refused(content["error"])
    result: dict[str, Any] = content["result"]
    return result
