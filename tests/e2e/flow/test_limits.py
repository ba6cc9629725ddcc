"""A target that is limited to ten attempts a second gets no more, retries counted, and everything in the end."""

import pytest

from delayer.schedule.instants import SECOND
from delayer_client import Backoff, Retry
from tests.e2e.client import PATIENCE, Client, now, until
from tests.e2e.flow.test_waiting import cancelled, flow, posted

MANY = 60
FAIL_ONCE = range(3, MANY, 10)
OWNER = "limited"


@pytest.mark.thorough
def test_none_is_attempted_before_its_turn_and_nothing_is_lost(client: Client) -> None:
    """It takes a quarter of a minute: sixty and their retries, ten a second."""
    host = client.receiver.url.removeprefix("http://")
    said = flow(client, "limit", "--owner", OWNER, "--target", host, "--rate", "10/s", "--by", "eve")
    assert "10/s" in said
    due = now() + 2 * client.known
    retry = Retry(max_attempts=3, backoff=Backoff(first=2, factor=1, max=2))
    for number in FAIL_ONCE:
        client.receiver.fail_first(f"/limited/{number}", 1, status=429)
    ids = [posted(client, OWNER, f"{client.receiver.url}/limited/{at}", due, retry=retry) for at in range(MANY)]
    for schedule_id in ids:
        client.ended(schedule_id, "executed", owner=OWNER)
    made = sorted(one.at_ms for at in range(MANY) for one in client.receiver.of(f"/limited/{at}"))
    assert len(made) == MANY + len(FAIL_ONCE), "each once, and again what has failed"
    assert made[0] >= due
    for before, at in enumerate(made):  # a machine that pauses has several arrive together, but none before its turn
        assert before <= (at - due) * 10 / SECOND + 1, "ten a second since they were due"
    assert made[-1] - made[0] >= (len(made) - 2) * SECOND // 10, "ten a second"
    assert made[-1] - made[0] <= 25 * SECOND, "and not much fewer"
    assert "10/s" in flow(client, "list")
    assert "Removed:" in flow(client, "unlimit", "--owner", OWNER, "--target", host)
    assert "There is no such limit." in flow(client, "unlimit", "--owner", OWNER, "--target", host)


@pytest.mark.thorough
def test_what_waits_for_its_turn_says_so_and_can_be_cancelled(client: Client) -> None:
    """It takes some seconds: each command is a process."""
    host = client.receiver.url.removeprefix("http://")
    flow(client, "limit", "--owner", "hourly", "--target", host, "--rate", "1/m")
    due = now() + 2 * client.known
    ids = [posted(client, "hourly", f"{client.receiver.url}/hourly/{at}", due) for at in range(3)]
    delayer = client.delayer_of("hourly")
    # The first has its turn at once, the next one in a minute.
    found = until(
        lambda: [delayer.get(one) for one in ids],
        lambda found: sorted(one.state for one in found) == ["enqueued", "enqueued", "executed"],
        PATIENCE,
    )
    enqueued = [one for one in found if one.state == "enqueued"]
    for one in enqueued:
        assert one.waiting
        assert (one.waiting.for_, one.waiting.reason) == ("limit", f"at most 1 a minute reach {host}")
        assert cancelled(client, "hourly", one.id).state == "cancelled"
    flow(client, "unlimit", "--owner", "hourly", "--target", host)
