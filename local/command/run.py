"""Runs the stack until Ctrl-C: starts it, demonstrates it, explains it, and shows the requests that arrive."""

import signal
import sys
from types import FrameType

from local.command import messages, options
from local.command.demonstration import demonstrate, obstacle_in
from local.command.progress import console, step
from local.errors import EmulatorError
from local.printable import printable
from local.receiver import Receiver
from local.signatures import Signatures
from local.stack.emulated_stack import EmulatedStack
from local.stack.ports import refuse_used


def main() -> int:
    """Run until interrupted. 0 after Ctrl-C; 1 with a sentence on standard error if something failed."""
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets its background jobs ignore SIGINT
        signal.signal(number, interrupt)
    try:
        run(options.parse())
    except EmulatorError as error:
        print(printable(str(error)), file=sys.stderr)  # it may quote what a request or a function has said
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Nothing was saved.")
    return 0


def interrupt(_signal_number: int, _frame: FrameType | None) -> None:
    """End on SIGTERM in the same way as on SIGINT."""
    raise KeyboardInterrupt


def run(given: options.Options) -> None:
    """Start, demonstrate, explain, serve."""
    refuse_used(given.port)
    refuse_used(given.port + 2)
    with (
        Receiver(given.port + 2) as receiver,
        EmulatedStack(given.port, given.parameters, progress=step, starts_functions=False) as stack,
    ):
        obstacle = obstacle_in(given.parameters)
        signatures = Signatures(stack.api_url)
        if given.demonstrates and not obstacle:
            show_demonstration(stack, receiver, signatures)
        shown = len(receiver.requests)
        print(messages.explanation(stack, receiver, obstacle), flush=True)
        stack.start_functions()
        serve(stack, receiver, signatures, shown)


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
