"""A queue's messages are changed by one thread at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.patches.queues.mappings import HANDLERS, MESSAGES, take_turns

DELIVER = "_deliver_to_sqs"  # ministack's name


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
