"""A queue's messages are changed by one thread at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.queues.mappings import HANDLERS, MESSAGES, scale_as_lambda, take_turns

DELIVER = "_deliver_to_sqs"  # ministack's names
CONCURRENCY, INFLIGHT = "_sqs_esm_concurrency", "_esm_inflight"


class Meeting:
    """Something that must be done alone."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.pause = threading.Event()

    def __call__(self, *_: Any) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.pause.wait(0.01)
        self.inside -= 1


@pytest.mark.parametrize("other", HANDLERS)
def test_a_request_and_a_mapping_take_turns(other: str) -> None:
    meeting = Meeting()
    sqs = SimpleNamespace(
        _queues_lock=threading.Lock(),
        _HANDLERS=dict.fromkeys(HANDLERS, meeting),
        **dict.fromkeys(MESSAGES, meeting),
    )
    take_turns(sqs, SimpleNamespace(**{DELIVER: meeting}))
    with ThreadPoolExecutor(4) as threads:
        for _ in range(2):
            threads.submit(sqs._collect_msgs, {}, 10, 30)
            threads.submit(sqs._HANDLERS[other], {}, "url")
    assert meeting.most == 1


def test_a_mapping_that_has_its_turn_can_go_on() -> None:
    """ministack's own functions hold the lock while they call what is to be called in turn."""
    meeting = Meeting()
    sqs = SimpleNamespace(
        _queues_lock=threading.Lock(),
        _HANDLERS=dict.fromkeys(HANDLERS, meeting),
        **dict.fromkeys(MESSAGES, meeting),
    )
    take_turns(sqs, SimpleNamespace(**{DELIVER: meeting}))
    with sqs._queues_lock:
        sqs._collect_msgs({}, 10, 30)
        sqs._act_send_message({}, "url")
    assert meeting.most == 1


def test_a_mapping_begins_with_five_batches_and_adds_five_a_second_while_one_is_under_way() -> None:
    """Its maximum may be text, as a parameter of a template is."""
    clock, inflight = [100.0], {"a": 0}
    maximum = {"UUID": "a", "ScalingConfig": {"MaximumConcurrency": "12"}}
    service = SimpleNamespace(
        **{CONCURRENCY: lambda esm: esm["ScalingConfig"]["MaximumConcurrency"], INFLIGHT: inflight}
    )
    scale_as_lambda(service, lambda: clock[0])
    allowed = getattr(service, CONCURRENCY)
    assert allowed(maximum) == 5
    inflight["a"] = 5
    clock[0] = 101.0
    assert allowed(maximum) == 10
    clock[0] = 105.0
    assert allowed(maximum) == 12
    inflight["a"] = 0
    assert allowed(maximum) == 5


def test_a_smaller_maximum_holds_from_the_beginning() -> None:
    service = SimpleNamespace(**{CONCURRENCY: lambda _esm: 2, INFLIGHT: {}})
    scale_as_lambda(service)
    assert getattr(service, CONCURRENCY)({"UUID": "a"}) == 2
