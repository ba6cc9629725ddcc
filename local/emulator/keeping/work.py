"""The emulator begins this work by itself: ticks, rules, batches of queues and of streams. It can be told to
wait.

A stack that gets back its state begins nothing before all of it is there, or a tick would judge by half of it. One that
comes to rest begins nothing new, but its streams go on: their records are not saved, if there is another way.
"""

import threading
from collections.abc import Callable
from typing import Any


class Work:
    """`begins`: ticks, rules and queues. `reads`: streams."""

    def __init__(self) -> None:
        self.begins = self.reads = True
        self.passes = 0  # in which something may be begun right now
        self.turn = threading.Lock()

    def install(self, lambda_service: Any, rules: Any) -> None:
        """The arguments are ministack's modules. After all other corrections: it has to be around them."""
        for module, name in ((lambda_service, "_poll_sqs"), (rules, "_tick_scheduled_rules")):
            setattr(module, name, self.gated(getattr(module, name)))
        start = lambda_service._poll_dynamodb_streams
        lambda_service._poll_dynamodb_streams = lambda: start() if self.reads else False

    def gated(self, do: Callable[[], Any]) -> Callable[[], Any]:
        """The same, unless nothing is to be begun."""

        def gate() -> Any:
            with self.turn:
                if not self.begins:
                    return False
                self.passes += 1
            try:
                return do()
            finally:
                with self.turn:
                    self.passes -= 1

        return gate

    def hold(self) -> None:
        """Begin nothing until released."""
        self.begins = self.reads = False

    def rest(self) -> None:
        """Begin nothing any more, but for what is in the streams; also if it was never released."""
        with self.turn:
            self.begins, self.reads = False, True

    def release(self) -> None:
        """Begin."""
        self.begins = self.reads = True


class Asynchronous:
    """The asynchronous invocations that are under way, also while one waits for its next attempt."""

    def __init__(self, lambda_service: Any) -> None:
        self.threads: list[threading.Thread] = []
        self.turn = threading.Lock()
        self.inside = threading.local()  # whether this thread is starting one
        self.invoke = lambda_service.invoke_async_with_retry
        lambda_service.threading = ThreadsOf(self)
        lambda_service.invoke_async_with_retry = self.invoked

    def invoked(self, function: Any, event: Any) -> None:
        """As ministack: a thread for each."""
        self.inside.starts = True
        try:
            self.invoke(function, event)
        finally:
            self.inside.starts = False

    def note(self, thread: threading.Thread) -> None:
        """Remember a thread that is being made, if it is one of these."""
        if getattr(self.inside, "starts", False):
            with self.turn:
                self.threads = [one for one in self.threads if one.is_alive() or one.ident is None] + [thread]

    def count(self) -> int:
        """How many are under way."""
        with self.turn:
            return sum(one.is_alive() for one in self.threads)


class ThreadsOf:
    """The module `threading` for ministack's Lambda, with a `Thread` that is noted."""

    def __init__(self, asynchronous: Asynchronous) -> None:
        self.asynchronous = asynchronous

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)

    def Thread(self, *arguments: Any, **named: Any) -> threading.Thread:  # noqa: N802 - the name of the class
        """A thread."""
        thread = threading.Thread(*arguments, **named)
        self.asynchronous.note(thread)
        return thread
