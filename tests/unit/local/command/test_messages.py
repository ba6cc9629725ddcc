"""A request that arrived is shown in one line."""

from local.command.messages import arrival, summary
from local.receiver import ReceivedRequest

REQUEST = ReceivedRequest(
    at_ms=1_500,
    method="POST",
    path="/hello",
    headers={"delayer-point-in-time": "1970-01-01T00:00:01.450Z"},
    body=b"x" * 300,
    status=200,
)


def test_an_arrival_is_shown_with_its_lateness() -> None:
    assert summary(REQUEST) == f"00:00:01.500Z (50 ms late) POST /hello {'x' * 200}"
    due = "1970-01-01T00:00:01.450Z"
    assert arrival(due, REQUEST) == f"due {due}, arrived 00:00:01.500Z: 50 ms late"
