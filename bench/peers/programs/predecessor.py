"""Runs the functions of the model: the stream's all the time, the others from the start of each minute."""

import sys
import threading
import time

from bench.peers.predecessor.algorithm import POLL_SECONDS
from bench.peers.predecessor.functions import Poller, each_minute, on_stream
from bench.peers.predecessor.store import Store
from bench.peers.programs.commands import serve
from bench.peers.programs.target import send

MINUTE = 60
STREAM_POLL_SECONDS = 0.1
LONG_POLL_SECONDS = 0.05  # within which a waiting receive gets a message


def follow_stream(file: str) -> None:
    """For ever."""
    store = Store(file)
    while True:
        if not on_stream(store, time.time()):
            time.sleep(STREAM_POLL_SECONDS)


def start_each_minute(file: str, at_once: bool) -> None:
    """For ever. A poller runs on as long as it has something to do, but it takes no more than one at a time here."""
    store = Store(file)
    if not at_once:
        time.sleep(MINUTE - time.time() % MINUTE)
    threading.Thread(target=poll, args=(file,), daemon=True).start()
    while True:
        each_minute(store, time.time())
        time.sleep(MINUTE - time.time() % MINUTE)


def poll(file: str) -> None:
    """For ever: the next poller starts when this one ends."""
    store = Store(file)
    poller = Poller(store, send)
    while True:
        deadline = time.time() + POLL_SECONDS
        while not (received := poller.receive(time.time())) and time.time() < deadline:
            time.sleep(LONG_POLL_SECONDS)
        poller.publish(received)


if __name__ == "__main__":
    file, at_once = sys.argv[1], sys.argv[2] == "at-once"
    Store(file).close()
    for target, arguments in ((follow_stream, (file,)), (start_each_minute, (file, at_once))):
        threading.Thread(target=target, args=arguments, daemon=True).start()
    serve({})
