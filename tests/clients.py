"""boto3 clients that fail as AWS does."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

ERRORS: dict[str, Exception] = {
    code: ClientError({"Error": {"Code": code, "Message": "injected"}}, "Operation")
    for code in (
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "InternalServerError",
        "AccessDeniedException",
        "ResourceNotFoundException",
        "SlowDown",
    )
} | {
    "read timeout": ReadTimeoutError(endpoint_url="https://aws"),
    "connect timeout": ConnectTimeoutError(endpoint_url="https://aws"),
    "no connection": EndpointConnectionError(endpoint_url="https://aws"),
}


def cancelled(*codes: str) -> ClientError:
    reasons = [{"Code": code} for code in codes]
    answer: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(answer, "TransactWriteItems")


OTHER_REASONS = {
    "a conflict": cancelled("None", "TransactionConflict", "None"),
    "throttled": cancelled("ProvisionedThroughputExceeded", "None", "ThrottlingError"),
    "no reasons": cancelled(),
}


if TYPE_CHECKING:

    class AnyClient(Any):  # type: ignore[misc] # what a test puts in the place of a client, of whatever service
        """Passes for any client."""

else:

    class AnyClient:
        """Passes for any client."""


class Failing(AnyClient):
    """Every call raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            raise self.error

        return call


class Wrapped(AnyClient):
    """A client some of whose calls are replaced; all are remembered."""

    def __init__(self, client: Any, **replaced: Callable[..., Any]) -> None:
        self.client = client
        self.replaced = replaced
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self.calls.append((name, arguments))
            replaced = self.replaced.get(name)
            return replaced(**arguments) if replaced else getattr(self.client, name)(**arguments)

        return call
