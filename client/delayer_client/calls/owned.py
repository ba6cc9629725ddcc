"""The calls about all else: groups and their jobs, connections, the signing secret, and the actions."""

from datetime import timedelta

from delayer_client.api.base import Model
from delayer_client.api.models import (
    ActionType,
    ActionTypes,
    ApiKeyConnection,
    BasicConnection,
    BearerConnection,
    Connection,
    ConnectionPage,
    ConnectionTest,
    Job,
    OAuth2Connection,
    SigningSecret,
)
from delayer_client.calls.call import Call, Repeat, a, given, nothing, path
from delayer_client.calls.schedules import whole
from delayer_client.calls.times import Seconds

NewConnection = ApiKeyConnection | BasicConnection | BearerConnection | OAuth2Connection


def cancel_group(group: str) -> Call[Job]:
    """DELETE /schedules?group=… It is not repeated: that would cancel what somebody has put into the group since."""
    return Call(method="DELETE", path="/schedules", query={"group": group}, repeat=Repeat.NEVER, read=a(Job))


def job(job_id: str) -> Call[Job]:
    """GET /jobs/{id}."""
    return Call(method="GET", path=path("jobs", job_id), read=a(Job))


def connections(limit: int | None, cursor: str | None) -> Call[ConnectionPage]:
    """GET /connections."""
    query = given(limit=None if limit is None else str(limit), cursor=cursor)
    return Call(method="GET", path="/connections", query=query, read=a(ConnectionPage))


def connection(name: str) -> Call[Connection]:
    """GET /connections/{name}."""
    return Call(method="GET", path=path("connections", name), read=a(Connection))


def put_connection(name: str, new: NewConnection) -> Call[Connection]:
    """PUT /connections/{name}: once it is unclear there is no repeat, which could undo what somebody has put since."""
    return Call(method="PUT", path=path("connections", name), body=_body(new), repeat=Repeat.NEVER, read=a(Connection))


def _body(new: Model) -> dict[str, object]:
    return new.as_json()


def delete_connection(name: str, *, force: bool) -> Call[None]:
    """DELETE /connections/{name}. It is not repeated: somebody may have made another one with the name since."""
    return Call(
        method="DELETE",
        path=path("connections", name),
        query={"force": "true"} if force else {},
        repeat=Repeat.NEVER,
        read=nothing,
    )


def test_connection(name: str, url: str) -> Call[ConnectionTest]:
    """POST /connections/{name}/test: each is a request to the target, so it is not repeated."""
    return Call(
        method="POST",
        path=path("connections", name, "test"),
        body={"url": url},
        repeat=Repeat.NEVER,
        read=a(ConnectionTest),
    )


def actions() -> Call[list[ActionType]]:
    """GET /actions."""
    read = a(ActionTypes)
    return Call(method="GET", path="/actions", read=lambda answer: read(answer).actions)


def signing_secret() -> Call[SigningSecret]:
    """GET /signing-secret."""
    return Call(method="GET", path="/signing-secret", read=a(SigningSecret))


def rotate_signing_secret(overlap: timedelta | Seconds | None) -> Call[SigningSecret]:
    """POST /signing-secret/rotate: a second rotation is refused for ten minutes, so it is not repeated."""
    return Call(
        method="POST",
        path="/signing-secret/rotate",
        body=given(overlapSeconds=None if overlap is None else whole(overlap)),
        repeat=Repeat.NEVER,
        read=a(SigningSecret),
    )
