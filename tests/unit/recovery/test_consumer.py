"""Which function handles a suspect."""

import pytest

from delayer.recovery.rules import consumer_of
from delayer.schedule.messages import encode
from tests.samples import GOLDEN, a_delayer_message, an_executor_message


@pytest.mark.parametrize(
    ("origin", "function"),
    [
        ("delayer-DelayerQueue-0a1b2c3d", "delayer-relay"),
        ("delayer-SeriesQueue-0a1b2c3d", "series-stepper"),
        ("delayer-executor-http-request-0a1b2c3d", "executor-http-request"),
        ("delayer-executor-taken-out-0a1b2c3d", "executor-taken-out"),
    ],
)
def test_the_queue_that_it_was_moved_from_says_it(origin: str, function: str) -> None:
    """Not the body, which may be what kills."""
    assert consumer_of("nobody can read this", origin, "delayer") == function


def test_the_name_of_the_stack_may_have_hyphens() -> None:
    assert consumer_of("", "my-own-delayer-executor-sqs-send-0a1b2c3d", "my-own-delayer") == "executor-sqs-send"


@pytest.mark.parametrize("origin", ["", "another-DelayerQueue-0a1b2c3d", "delayer-JournalQueue-0a1b2c3d"])
def test_otherwise_the_body_says_it(origin: str) -> None:
    """Somebody moved it here, such as `make move-queues`."""
    event = (GOLDEN / "lifecycle-event.json").read_text()
    outcome = (GOLDEN / "outcome-message.json").read_text()
    assert consumer_of(encode(a_delayer_message()), origin, "delayer") == "delayer-relay"
    assert consumer_of(encode(an_executor_message()), origin, "delayer") == "executor-http-request"
    assert consumer_of(outcome, origin, "delayer") == "executor-http-request"
    assert consumer_of(event, origin, "delayer") == "series-stepper"


@pytest.mark.parametrize("body", ["", "no JSON", "[]", '"text"', "{}", "[" * 100_000, '{"fence": "f", "action": 7}'])
def test_what_nobody_can_read_goes_to_the_relay(body: str) -> None:
    """It makes a dead letter of it."""
    assert consumer_of(body, "", "delayer") == "delayer-relay"
