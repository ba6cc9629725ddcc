"""An operator's command decides within seconds what an owner may do, and what was allowed is asked about once more."""

from collections.abc import Callable
from itertools import count

import pytest

from delayer.schedule.instants import SECOND, format_instant
from delayer_client import BearerConnection, NewSchedule, NotAllowed, OAuth2Connection, Problem, Schedule
from delayer_client.operator import OwnerPolicies, Refused
from tests.e2e.client import Client, EngineClient, now, until

KNOWN_AFTER = 12  # seconds


def policies(client: Client) -> OwnerPolicies:
    return client.operator.owner_policies


def posted(client: Client, name: str, path: str, seconds: int = 3600) -> Schedule:
    return client.schedule(path, now() + seconds * SECOND, owner=name)


def forbidden(call: Callable[[], object]) -> Problem:
    """What is said once it is forbidden, in each function that reads the policy anew for itself."""
    problem = until(lambda: refusal(call), seconds=KNOWN_AFTER)
    assert problem
    assert problem.status == 403
    return problem


def path_refused(client: Client, name: str, path: str) -> str:
    """The path, if a batch may not call it, which would be at once; "" if it may."""
    schedule = NewSchedule(action=client.target(path), at=format_instant(now()))
    [answered] = client.delayer_of(name).batch([schedule])
    if answered.error is None:
        return ""
    assert answered.error.status == 403
    return path


def refusal(call: Callable[[], object]) -> Problem | None:
    """Whether the caller may not; all else is raised."""
    try:
        call()
    except NotAllowed as error:
        return error.problem
    return None


@pytest.mark.thorough
def test_a_policy_is_obeyed_within_seconds_and_lifted_again(client: Client) -> None:
    """It takes a dozen seconds: so long a function may go on with what it has read."""
    posted(client, "ruled", "/policy-before")
    operator = policies(client)
    revision = operator.set({"actions": ["http-request"], "hosts": ["api.example.com"]}, "ruled")["revision"]
    problem = forbidden(lambda: posted(client, "ruled", "/policy-refused"))
    assert (problem.type, problem.rule) == ("urn:delayer:problem:forbidden-by-policy", "hosts")
    assert problem.errors
    assert problem.errors[0].field == "action.url"
    in_batches = (f"/policy-refused-{number}" for number in count())
    refused = until(lambda: path_refused(client, "ruled", next(in_batches)), seconds=KNOWN_AFTER)
    posted(client, "free", "/policy-free")  # another owner is not concerned
    with pytest.raises(Refused, match=str(revision)):
        operator.remove("ruled", revision=0)
    assert operator.remove("ruled", revision=revision)["policy"] is None
    until(lambda: not refusal(lambda: posted(client, "ruled", "/policy-after")), seconds=KNOWN_AFTER)
    assert client.receiver.counts.get("/policy-refused", 0) == 0
    assert client.receiver.counts.get(refused, 0) == 0


@pytest.mark.thorough
def test_what_is_forbidden_by_now_is_not_attempted(client: Client) -> None:
    """It was allowed at its creation, a moment before the command; it fails when it is due, and names the rule.

    It takes a quarter of a minute: so long the executor may go on with what it has read.
    """
    late = posted(client, "late", "/policy-late", seconds=KNOWN_AFTER + 3)
    policies(client).set({"hosts": ["*.example.com"]}, "late")
    detail = client.ended(late.id, "failed", owner="late").detail
    assert str(detail).startswith("the owner policy forbids it, by its rule hosts: 127.0.0.1:")
    assert client.receiver.counts.get("/policy-late", 0) == 0


def test_the_answer_is_kept_for_those_who_ask(client: EngineClient) -> None:
    """It takes a second or two: the journal is waited for."""
    keeps = client.delayer_of("keeps")
    kept = keeps.schedule(client.target("/kept-answer", keep_answer=True), at=format_instant(now()))
    last = client.history(kept.id, "executed", owner="keeps")[-1]
    assert last.answer
    assert (last.answer.status, last.detail) == (200, "HTTP 200")
    assert last.answer.duration_ms < 5_000
    assert last.answer.body is not None
    other = posted(client, "keeps", "/not-kept", seconds=0)
    assert client.history(other.id, "executed", owner="keeps")[-1].answer is None
    assert "durationMs" not in "".join(client.engine.lines)


@pytest.mark.thorough
def test_a_connection_is_no_way_around_a_policy(client: Client) -> None:
    """Neither its test call nor its token URL. It takes seconds: so long a function may go on with what it has read."""
    url, calls = f"{client.receiver.url}/policy-tried", client.delayer_of("connecting").connections
    calls.put("crm", BearerConnection(token="t"))
    calls.test("crm", url)
    policies(client).set({"hosts": ["api.example.com"]}, "connecting")
    forbidden(lambda: posted(client, "connecting", "/policy-refused"))
    fetched = OAuth2Connection(token_url=url, client_id="c", client_secret="s")
    problems = {
        "url": forbidden(lambda: calls.test("crm", url)),
        "tokenUrl": forbidden(lambda: calls.put("crm", fetched)),
    }
    for name, problem in problems.items():
        assert problem.errors
        assert (problem.status, problem.rule, problem.errors[0].field) == (403, "hosts", name)
