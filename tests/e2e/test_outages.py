"""What an engine does after a crash: it is the same folder that goes on."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from delayer.schedule.instants import HOUR, SECOND
from local.receiver import Receiver
from tests.e2e.client import EngineClient, now, sleep_until
from tests.e2e.engine import RunningEngine


@pytest.fixture
def client(tmp_path: Path, receiver: Receiver) -> Iterator[EngineClient]:
    """Of an engine of its own: others would not like it to be killed."""
    with (
        RunningEngine(tmp_path / "data") as engine,
        closing(EngineClient(engine, receiver, "e2e-outages")) as client,
    ):
        yield client


@pytest.mark.promise(2)
@pytest.mark.promise(4)
def test_what_came_due_while_it_was_dead_fires_once_and_all_else_is_as_it_was(client: EngineClient) -> None:
    """It takes some seconds: two engines start, and what is due in one comes due between them."""
    engine = client.engine
    fired = client.schedule("/fired-before", now())
    client.ended(fired.id, "executed")
    cancelled = client.schedule("/cancelled-before", now() + SECOND)
    assert client.delayer.cancel(cancelled.id)
    due = now() + SECOND
    overdue = client.schedule("/overdue", due, payload="kept")
    far = client.schedule("/far", now() + HOUR)
    engine.kill()
    sleep_until(due + SECOND // 2)
    engine.start()
    [request] = client.arrivals("/overdue")
    assert (request.body, request.headers["idempotency-key"]) == (b'"kept"', overdue.id)
    found = client.ended(overdue.id, "executed")
    assert found.lateness_ms is not None
    assert found.lateness_ms >= SECOND // 2
    assert client.delayer.get(fired.id).state == "executed"
    assert client.delayer.get(far.id).state == "scheduled"
    assert client.delayer.cancel(far.id)
    assert client.receiver.of("/cancelled-before") == []
    assert [len(client.receiver.of(path)) for path in ("/fired-before", "/overdue")] == [1, 1]


def test_an_attempt_that_the_crash_has_cut_is_made_again_with_the_same_key(client: EngineClient) -> None:
    """It takes some seconds: two engines start."""
    client.receiver.answer("/cut", 503)
    posted = client.schedule("/cut", now())
    client.arrivals("/cut")
    client.engine.kill()
    client.receiver.answer("/cut", 200)
    client.engine.start()
    client.ended(posted.id, "executed")
    assert {one.headers["idempotency-key"] for one in client.receiver.of("/cut")} == {posted.id}
