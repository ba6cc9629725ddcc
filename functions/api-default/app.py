"""Calls that have no route: another method, or another path. They get a problem, as every call does that cannot be."""

from delayer.engines.aws.telemetry import Telemetry
from delayer.http.answers import Response, no_such_method, no_such_path
from delayer.http.requests import ApiRequest
from delayer.http.routing import methods_of
from delayer.lambdas.api import behind_the_api_for_anybody

observer = Telemetry("api-default")


@behind_the_api_for_anybody(observer)
def handler(request: ApiRequest) -> Response:
    """One call."""
    methods = methods_of(request.path)
    return no_such_method(methods) if methods else no_such_path()
