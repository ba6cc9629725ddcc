"""A stop that does not come to rest: what no function has read from a stream is saved, and fires after the start."""

import shutil
import time

import pytest

from delayer.schedule.instants import SECOND
from local.keeping.beginning import Choice
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import Client, now
from tests.e2e.local.ports import three_free


@pytest.mark.thorough
def test_a_record_that_nobody_has_read_is_carried_over_the_stop() -> None:
    """The record of the insert is all that tells of a schedule that is due so soon: no tick would look for it.

    It takes half a minute: a stack starts twice.
    """
    port = three_free()
    stack = EmulatedStack(port, keep=Choice.CLEAN)
    try:
        with Receiver() as receiver:
            with stack:
                functions = stack.client("lambda")
                for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
                    if mapping["FunctionArn"].endswith(":delayer-stream-enqueuer"):
                        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
                posted = Client(stack, receiver).schedule("/carried", now() + SECOND)
                saved = stack.save(hurry=lambda: True)
                assert saved.left["stream records for stream-enqueuer"] >= 1
                assert saved.manifest.carried >= 1
            assert receiver.of("/carried") == []
            with EmulatedStack(port, keep=Choice.CLEAN) as again:
                client = Client(again, receiver)
                client.arrivals("/carried")
                client.ledger_state(posted.id, "executed", 30)
                time.sleep(1)  # a second one would be there by then
                assert len(receiver.of("/carried")) == 1
                assert again.save().left == {}, "and nothing of it is left"
    finally:
        shutil.rmtree(stack.folder, ignore_errors=True)
