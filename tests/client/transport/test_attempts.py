"""When a call is sent again: whatever happens on the way, a truth is never repeated into a lie."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer_client.calls.call import Answer, Call, Repeat, nothing
from delayer_client.errors import Conflict, NoAnswer, NotFound, Refused, Unavailable
from delayer_client.transport.attempts import NOT_SENT, Attempts, Done, Retrying, Wait, problem_in, retry_after

LOST = [httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut"), httpx.WriteError("cut")]
UNSENT = [httpx.ConnectError("refused"), httpx.ConnectTimeout("far"), httpx.PoolTimeout("full")]
REFUSALS = [404, 409, 422, 429, 500, 503]


def call(repeat: Repeat, method: str = "POST") -> Call[None]:
    return Call(method=method, path="/schedules", body={"a": 1}, read=nothing, repeat=repeat)


def answer(status: int, **headers: str) -> Answer:
    return Answer(status, b'{"message": "said"}', headers)


outcomes = st.lists(st.sampled_from([*LOST, *UNSENT, *REFUSALS, 200]), min_size=8, max_size=8)


def may_be_applied(outcome: object) -> bool:
    return outcome in LOST or (isinstance(outcome, int) and outcome >= 500)


@given(outcomes, st.sampled_from(Repeat), st.integers(0, 4))
def test_what_may_have_been_applied_is_sent_again_only_if_that_is_harmless(
    happened: list[object], repeat: Repeat, times: int
) -> None:
    attempts = Attempts(call(repeat), Retrying(times=times))
    keys, said = set(), None
    number = 0
    for outcome in happened:
        number += 1
        keys.add(attempts.headers.get("Idempotency-Key"))
        try:
            then = (
                attempts.failed(outcome)
                if isinstance(outcome, httpx.TransportError)
                else attempts.answered(answer(int(str(outcome))))
            )
        except NoAnswer as error:
            said = error.may_be_applied
            break
        except Refused:
            break
        if isinstance(then, Done):
            break
        assert 0 < then.seconds <= 20
    assert number <= times + 1
    assert said in (None, any(map(may_be_applied, happened[:number])))
    assert len(keys) == 1, "the same key for all tries"
    assert (None in keys) == (repeat is not Repeat.WITH_KEY)
    if repeat is Repeat.NEVER:
        assert not any(map(may_be_applied, happened[: number - 1])), "it was sent again, although it may be applied"


def test_what_never_reached_the_api_is_not_applied() -> None:
    attempts = Attempts(call(Repeat.NEVER), Retrying(times=2))
    for error in UNSENT[:2]:
        assert isinstance(error, NOT_SENT)
        assert isinstance(attempts.failed(error), Wait)
    with pytest.raises(NoAnswer, match=r"3 times.*nothing was changed") as raised:
        attempts.failed(UNSENT[2])
    assert not raised.value.may_be_applied


def test_what_only_reads_changes_nothing() -> None:
    with pytest.raises(NoAnswer, match="nothing was changed"):
        Attempts(call(Repeat.ALWAYS, "GET"), Retrying(times=0)).failed(LOST[0])


def test_it_waits_as_long_as_the_api_asks_for() -> None:
    attempts = Attempts(call(Repeat.WITH_KEY), Retrying())
    assert attempts.answered(answer(503, **{"retry-after": "7"})) == Wait(7)
    with pytest.raises(Unavailable) as raised:
        attempts.answered(answer(503, **{"retry-after": "700"}))
    assert raised.value.retry_after == 700
    assert retry_after(answer(503, **{"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"})) is None


def test_the_waits_grow_and_are_never_the_same_for_all() -> None:
    attempts = Attempts(call(Repeat.WITH_KEY), Retrying(times=9, first_wait=1, longest_wait=8))
    waits = [attempts.failed(LOST[0]).seconds for _ in range(9)]
    for wait, longest in zip(waits, [1, 2, 4, 8, 8, 8, 8, 8, 8], strict=True):
        assert longest / 2 <= wait <= longest


def test_a_refusal_after_a_lost_answer_knows_of_it() -> None:
    """So that a DELETE whose answer was lost takes 404 for what it is."""
    seen = []

    def refused(problem: Refused, unclear: bool) -> None:
        seen.append((type(problem), unclear))

    for first in (LOST[0], None):
        attempts = Attempts(Call(method="DELETE", path="/x", read=nothing, refused=refused), Retrying())
        if first:
            attempts.failed(first)
        attempts.answered(answer(404))
    assert seen == [(NotFound, True), (NotFound, False)]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"message": "Forbidden"}', "Forbidden"),  # of API Gateway
        (b'{"Message": "slow down"}', "slow down"),
        (b"<html>a proxy</html>", "<html>a proxy</html>"),
        (b"\xff", "�"),
        (b"", "HTTP 409"),
        (b"[1]", "[1]"),
        (
            b'{"type": "urn:delayer:problem:ended", "title": "t", "status": 409, "detail": "It has ended."}',
            "It has ended.",
        ),
    ],
)
def test_whatever_answers_has_a_problem(body: bytes, detail: str) -> None:
    found = problem_in(Answer(409, body))
    assert (found.status, found.detail) == (409, detail)
    with pytest.raises(Conflict, match="409"):
        Attempts(call(Repeat.ALWAYS), Retrying()).answered(Answer(409, body))
