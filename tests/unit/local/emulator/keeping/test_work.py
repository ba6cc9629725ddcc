"""What the emulator begins by itself is held back until its state is there, and ends before it is saved."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.keeping.work import Asynchronous, Work


class Modules:
    """Those of ministack, with what they have begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.lambda_service: Any = SimpleNamespace(
            _poll_sqs=lambda: self.begin("queues"), _poll_dynamodb_streams=lambda: self.begin("streams")
        )
        self.rules: Any = SimpleNamespace(_tick_scheduled_rules=lambda: self.begin("ticks"))

    def begin(self, what: str) -> bool:
        self.begun.append(what)
        return True

    def all(self) -> list[str]:
        """What is begun in one round of all threads."""
        self.begun.clear()
        self.lambda_service._poll_sqs()
        self.lambda_service._poll_dynamodb_streams()
        self.rules._tick_scheduled_rules()
        return list(self.begun)


@pytest.fixture
def modules() -> Modules:
    return Modules()


@pytest.fixture
def work(modules: Modules) -> Work:
    work = Work()
    work.install(modules.lambda_service, modules.rules)
    return work


def test_nothing_begins_before_the_state_is_there(modules: Modules, work: Work) -> None:
    work.hold()
    assert modules.all() == []
    work.release()
    assert modules.all() == ["queues", "streams", "ticks"]


def test_a_stack_that_comes_to_rest_reads_its_streams_to_the_end(modules: Modules, work: Work) -> None:
    work.rest()
    assert modules.all() == ["streams"]


def test_a_stop_before_the_release_waits_for_no_stream_in_vain(modules: Modules, work: Work) -> None:
    """The marker is on the disk already, so functions may handle what is there."""
    work.hold()
    work.rest()
    assert modules.all() == ["streams"]


def test_a_pass_that_has_begun_is_counted(work: Work) -> None:
    seen = []
    work.gated(lambda: seen.append(work.passes))()
    assert (seen, work.passes) == ([1], 0)


def test_an_asynchronous_invocation_is_under_way_until_its_last_attempt() -> None:
    """ministack has a thread for it, which sleeps between two attempts: nothing is running then."""
    may_end = threading.Event()

    def invoke(_function: Any, _event: Any) -> None:
        service.threading.Thread(target=may_end.wait, daemon=True).start()

    service: Any = SimpleNamespace(invoke_async_with_retry=invoke, threading=threading)
    asynchronous = Asynchronous(service)
    service.threading.Thread(target=may_end.wait, daemon=True).start()  # of something else
    assert asynchronous.count() == 0
    service.invoke_async_with_retry(None, None)
    assert asynchronous.count() == 1
    may_end.set()
    for thread in asynchronous.threads:
        thread.join()
    assert asynchronous.count() == 0
    assert service.threading.Event is threading.Event
