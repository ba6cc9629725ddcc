"""Runs the stack until Ctrl-C: starts it, demonstrates it, explains it, and shows the requests that arrive."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from local.command import keeping, messages, options
from local.command.demonstration import demonstrate, obstacle_in
from local.command.progress import console, step
from local.errors import EmulatorError
from local.printable import printable
from local.project import PROJECT
from local.receiver import Receiver
from local.signatures import Signatures
from local.stack.emulated_stack import EmulatedStack
from local.stack.ports import refuse_used
from local.stack.process import STATE


def main() -> int:
    """Run until interrupted. 0 after Ctrl-C; 1 with a sentence if something failed, or if a state was not saved."""
    on_interrupts(interrupt)
    keep = None
    try:
        given = options.parse()
        keep = given.keep
        run(given)
    except EmulatorError as error:
        print(printable(str(error)), file=sys.stderr)  # it may quote what a request or a function has said
        return 1
    except KeyboardInterrupt:
        print(f"\n{keeping.interrupted(keep)}")
        return 1 if keep else 0
    return 0


def on_interrupts(handler: Callable[[int, FrameType | None], None]) -> None:
    """What Ctrl-C does, and what SIGTERM does."""
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets its background jobs ignore SIGINT
        signal.signal(number, handler)


def interrupt(_signal_number: int, _frame: FrameType | None) -> None:
    """End on SIGTERM in the same way as on SIGINT."""
    raise KeyboardInterrupt


def run(given: options.Options) -> None:
    """Start, demonstrate, explain, serve."""
    refuse_used(given.port)
    refuse_used(given.port + 2)
    with (
        Receiver(given.port + 2) as receiver,
        EmulatedStack(given.port, given.parameters, progress=step, starts_functions=False, keep=given.keep) as stack,
        saved_at_the_end(stack),
    ):
        if note := keeping.begun(stack):
            print(note)
        obstacle = obstacle_in(given.parameters)
        signatures = Signatures(stack.api_url)
        if given.demonstrates and not obstacle and not restores(stack):
            show_demonstration(stack, receiver, signatures)
        shown = len(receiver.requests)
        print(messages.explanation(stack, receiver, obstacle), flush=True)
        stack.start_functions()
        serve(stack, receiver, signatures, shown)


def restores(stack: EmulatedStack) -> bool:
    """Whether it begins with a state: then there is no need for a demonstration."""
    return stack.keeper is not None and stack.keeper.restores


@contextmanager
def saved_at_the_end(stack: EmulatedStack) -> Iterator[None]:
    """Save the state however the run ends, as long as the emulator is there. Nothing for a stack that keeps none."""
    try:
        yield
    except KeyboardInterrupt:
        if stack.keep is None:
            raise
        save(stack)
    except EmulatorError:
        if stack.keep and stack.process.is_running():
            save(stack)
        raise


def save(stack: EmulatedStack) -> None:
    """Bring it to rest, save, and say what was saved. A second Ctrl-C ends the waiting, a third one the saving."""
    hurry = threading.Event()

    def again(number: int, frame: FrameType | None) -> None:
        if hurry.is_set():
            interrupt(number, frame)
        hurry.set()

    on_interrupts(again)
    print()
    with step("Finishing what is under way (Ctrl-C: without waiting)"):
        saved = stack.save(hurry.is_set)
    print(keeping.ended(saved, str(stack.folder.relative_to(PROJECT) / STATE)))


def show_demonstration(stack: EmulatedStack, receiver: Receiver, signatures: Signatures) -> None:
    """Schedule three seconds ahead and show the arrival."""
    with step("Scheduling an HTTP request three seconds ahead, and waiting for it"):
        schedule, arrived = demonstrate(stack.api_url, receiver)
    line = messages.arrival(schedule["pointInTime"], arrived, signatures.checked(arrived))
    console.print(f"    {line}", markup=False, soft_wrap=True)


def serve(stack: EmulatedStack, receiver: Receiver, signatures: Signatures, shown: int) -> None:
    """Show what the receiver gets after the first so many, until interrupted or until the emulator has ended."""
    while stack.process.is_running():
        with receiver.changed:
            receiver.changed.wait(1)
            new, shown = receiver.requests[shown:], len(receiver.requests)
        for request in new:
            print(messages.summary(request, signatures.checked(request)), flush=True)
    raise EmulatorError(f"The emulator has ended: {stack.process.last_line()}")
