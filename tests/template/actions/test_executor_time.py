"""An executor begins no attempt that it could not bring to its end, and has time for attempts all the same."""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from delayer.actions.rules.model import LONGEST_ATTEMPT, Done, Refused, Result, Retry
from delayer.dead_letters.dead_letter import DeadLetters
from delayer.engines.aws.bounded_calls import MARGIN, MOST_MARGIN
from delayer.engines.aws.clients import CONFIG
from delayer.engines.aws.each import IN_TIME
from delayer.engines.ports import ReceivedMessage
from delayer.ledger.model import LedgerChange
from delayer.ledger.rules import stopped
from delayer.schedule.instants import MAX_HOLD, SECOND
from delayer.schedule.messages import ExecutorMessage, encode
from delayer.wiring.executor import ATTEMPT
from tests.cfn import consumed, functions, resources
from tests.looking import put_row
from tests.running.of_each import of_each
from tests.samples import NOW, a_claim, an_executor_message, an_id
from tests.world import SUSPECTS, World

EXECUTORS = sorted(name for name in functions() if name.startswith("executor-"))
ENDINGS: dict[str, Result] = {
    "executed": Done("HTTP 204"),
    "tried again": Retry(detail="HTTP 503"),
    "failed": Refused("HTTP 404"),
}


def longest_call(config: Any) -> float:
    """Seconds of one call that hangs in each of its attempts, with botocore's longest pauses between them."""
    retries = config.retries
    attempts = retries.get("total_max_attempts") or retries["max_attempts"] + 1
    pauses = sum(2**pause for pause in range(attempts - 1))
    seconds: float = attempts * (config.connect_timeout + config.read_timeout) + pauses
    return seconds


class Counted:
    """Counts the calls of what it stands for."""

    def __init__(self, of: Any, calls: list[str]) -> None:
        self.of, self.calls = of, calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            return getattr(self.of, name)(*arguments)

        return call


def calls_of(ending: Result, has_twin: bool) -> list[str]:
    """The calls of AWS for a suspect, which has the most of them, and `attempt` where its target is reached.

    `has_twin`: the row changes during the attempt, so that a write is in vain.
    """
    world, calls = World(), list[str]()
    world.clock.sleep_until(NOW)
    put_row(world.ledger, a_claim())
    ledger = Counted(world.ledger_in_batches, calls)

    def target(message: ExecutorMessage) -> Result:
        calls.append("attempt")
        row = world.ledger.read(an_id())
        if has_twin and row:
            world.ledger.write([LedgerChange(row=stopped(row, NOW), over=row)])
        return ending

    letters = DeadLetters(
        clock=world.clock,
        ledger=ledger,
        dead_letter_store=Counted(world.store, calls),
        observer=world.observer,
        source="executor",
    )
    execute = evolve(
        world.execute,
        ledger_in_batches=ledger,
        own_queue=Counted(world.http_queue, calls),
        target=target,
        dead_letters=letters,
    )
    guarded = evolve(world.guarded_execute, trials=Counted(world.trials, calls), dead_letters=letters, handle=execute)
    suspect = ReceivedMessage(message_id="m", body=encode(an_executor_message()), source=SUSPECTS)
    assert guarded([suspect]) == []
    return calls


BEFORE = ["unfinished", "passed", "begin", "read_each", "attempt"]
AFTER = ["finish", "note_pass"]  # with a time of their own: what they need in vain changes nothing for the schedule


def outcome_of(ending: Result, has_twin: bool) -> list[str]:
    """The calls that write what came of an attempt."""
    calls = calls_of(ending, has_twin)
    assert (calls[: len(BEFORE)], calls[-len(AFTER) :]) == (BEFORE, AFTER)
    return calls[len(BEFORE) : -len(AFTER)]


def test_the_calls_are_counted() -> None:
    assert outcome_of(ENDINGS["executed"], has_twin=False) == ["write"]
    assert outcome_of(ENDINGS["failed"], has_twin=True) == ["put", "write", "write"]


def test_an_attempt_that_begins_has_time_for_its_worst_case() -> None:
    """It lasts as long as it may, and every call of AWS after it succeeds at the last moment.

    If the function were ended in between, an attempt that was made would be made again, and nine neighbours with it.
    """
    calls = max(len(outcome_of(ending, has_twin)) for ending in ENDINGS.values() for has_twin in (False, True))
    assert LONGEST_ATTEMPT + calls * (longest_call(CONFIG) + IN_TIME) <= ATTEMPT


@of_each(EXECUTORS)
def test_an_executor_has_time_for_attempts(executor: str) -> None:
    """After the longest hold, and one call that hung. If more of them hang, its messages come again later.

    What a suspect needs before its attempt cannot make it outlive its function, nor can what is noted after it: no call
    goes on after the deadline (ADR 0073).
    """
    timeout = functions()[executor]["Timeout"]
    assert timeout - min(timeout * MARGIN, MOST_MARGIN) >= MAX_HOLD / SECOND + longest_call(CONFIG) + ATTEMPT
    for queue, function in consumed().items():
        assert function != executor or resources("AWS::SQS::Queue")[queue]["VisibilityTimeout"] > timeout
