"""Each suspect is handled by the function whose queue it came from."""

import pytest
from attrs import define, field

from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import ReceivedMessage, Unavailable
from delayer.recovery.dispatch import DispatchSuspects
from delayer.recovery.ports import Absent, Died
from delayer.schedule.instants import MINUTE, SECOND
from delayer.schedule.messages import encode
from tests.fakes.faults import Crash
from tests.looking import all_rows
from tests.samples import an_executor_message
from tests.world import START, World


@define
class Answering:
    """Port Consumers; what each function does."""

    answers: dict[str, object]
    asked: list[str] = field(factory=list)

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        self.asked.append(f"{function} {message.message_id}")
        answer = self.answers.get(function, Absent(function))
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)


def from_(queue: str, message_id: str = "m") -> ReceivedMessage:
    origin = f"delayer-{queue}-0a1b2c3d"
    return ReceivedMessage(message_id=message_id, body="", source="suspects", origin=origin)


def dispatch(answers: dict[str, object], *batch: ReceivedMessage) -> tuple[list[str], list[str], MemoryObserver]:
    consumers, observer = Answering(answers), MemoryObserver()
    failed = DispatchSuspects(consumers=consumers, observer=observer, stack="delayer")(batch)
    return failed, consumers.asked, observer


def test_what_is_done_is_deleted_and_what_is_not_comes_again() -> None:
    answers: dict[str, object] = {"delayer-relay": True, "series-stepper": False}
    failed, asked, observer = dispatch(answers, from_("DelayerQueue", "one"), from_("SeriesQueue", "other"))
    assert (failed, asked) == (["other"], ["delayer-relay one", "series-stepper other"])
    assert observer.lines == [], "the function itself says what keeps it waiting"


@pytest.mark.parametrize("error", [Unavailable("throttled"), Died("out of memory")])
def test_one_whose_function_cannot_be_asked_or_dies_comes_again_alone(error: Exception) -> None:
    """Its neighbours are handled."""
    answers: dict[str, object] = {"delayer-relay": error, "executor-sqs-send": True}
    failed, _, observer = dispatch(answers, from_("DelayerQueue", "one"), from_("executor-sqs-send", "other"))
    assert failed == ["one"]
    assert [line for line, _, _ in observer.lines] == ["a suspect was not handled"]


def test_what_was_for_an_executor_that_is_gone_waits_with_the_unknown_types() -> None:
    failed, asked, _ = dispatch({"executor-remote": False}, from_("executor-taken-out"))
    assert (failed, asked) == (["m"], ["executor-taken-out m", "executor-remote m"])


def test_after_an_outage_of_its_executor_a_schedule_fires_by_itself() -> None:
    """Its last deliveries prove nothing against it, then it is alone until the executor works again."""
    world = World()
    world.http_queue.max_receives = 3  # of a thousand, which take six days
    healthy, broken = world.execute, [True]

    def sometimes(batch: object) -> list[str]:
        if broken[0]:
            raise Crash("a bad deploy")
        return healthy(batch)  # type: ignore[arg-type] # handed on as it came

    world.execute = sometimes  # type: ignore[assignment] # only called
    schedule = world.post(START + SECOND)
    assert schedule is not None
    world.run_until(START + 30 * MINUTE)
    assert world.suspects.sent == 1
    assert world.reached(schedule) == []
    broken[0] = False
    world.run_until(START + 40 * MINUTE)  # the queue of suspects hides a message for 570 s
    assert len(world.reached(schedule)) == 1
    assert world.suspects.messages == []


def test_a_call_that_lambda_turns_away_proves_nothing() -> None:
    """No run has begun: a hundred of them make no killer."""
    world = World()
    schedule = world.post(START + SECOND)
    assert schedule is not None
    message = ReceivedMessage(message_id="m", body=encode(an_executor_message()), source="suspects")
    refused = DispatchSuspects(
        consumers=Answering({"executor-http-request": Unavailable("throttled")}),
        observer=world.observer,
        stack="delayer",
    )
    assert [refused([message]) for _ in range(100)] == [["m"]] * 100
    assert all_rows(world.trials) == {}
