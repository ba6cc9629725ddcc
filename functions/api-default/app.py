"""Calls that have no route: another method, or another path. They get a problem, as every call does that cannot be."""

from typing import Any

from delayer.aws.http import problems, responses
from delayer.aws.runtime.telemetry import Telemetry
from delayer.core.api.routes import methods_of

observer = Telemetry("api-default")


@observer.observed
@problems.responds_with_problems(observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    methods = methods_of(str(event.get("rawPath") or ""))
    return problems.no_such_method(methods) if methods else problems.no_such_path()
