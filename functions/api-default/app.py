"""Calls that have no route: another method, or another path. They get a problem, as every call does that cannot be."""

from typing import Any

from delayer.aws.http import answers, problems
from delayer.aws.telemetry import Telemetry
from delayer.core.routes import methods_of

telemetry = Telemetry("api-default")


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    methods = methods_of(str(event.get("rawPath") or ""))
    return problems.no_such_method(methods) if methods else problems.no_such_path()
