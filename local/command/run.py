"""Runs the stack until Ctrl-C: starts it, demonstrates it, explains it, and shows the requests that arrive."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from local.arrivals import arrival, show
from local.command import interrupts, messages, options
from local.command.demonstration import demonstrate, obstacle_in
from local.command.output import allow_unread
from local.command.progress import console, step
from local.errors import EmulatorError
from local.printable import printable
from local.receiver import Receiver
from local.signatures import Signatures
from local.stack.emulated_stack import EmulatedStack
from local.stack.ports import refuse_used


def main() -> int:
    """Run until interrupted. 0 after Ctrl-C; 1 with a sentence if something failed."""
    interrupts.install()
    try:
        run(options.parse())
    except EmulatorError as error:
        print(printable(str(error)), file=sys.stderr)  # it may quote what a request or a function has said
        return 1
    except KeyboardInterrupt:
        allow_unread()
        print("\nStopped.")
    except BrokenPipeError:  # nobody reads any more, as with `| head`
        allow_unread()
        return 1
    return 0


def run(given: options.Options) -> None:
    """Start, and serve. However that ends, no process is left behind."""
    refuse_used(given.port)
    refuse_used(given.port + 2)
    stack = EmulatedStack(given.port, given.parameters, progress=step, starts_functions=False, tls=given.tls)
    with Receiver(given.port + 2) as receiver, ended(stack):
        stack.start()
        introduce(given, stack, receiver)


def introduce(given: options.Options, stack: EmulatedStack, receiver: Receiver) -> None:
    """Demonstrate, explain, serve."""
    obstacle = obstacle_in(given.parameters)
    signatures = Signatures(stack.api_url)
    if given.demonstrates and not obstacle:
        show_demonstration(stack, receiver, signatures)
    shown = len(receiver.requests)
    print(messages.explanation(stack, receiver, obstacle), flush=True)
    stack.start_functions()
    serve(stack, receiver, signatures, shown)


@contextmanager
def ended(stack: EmulatedStack) -> Iterator[None]:
    """End its processes."""
    try:
        yield
    finally:
        stack.stop()


def show_demonstration(stack: EmulatedStack, receiver: Receiver, signatures: Signatures) -> None:
    """Schedule three seconds ahead and show the arrival."""
    with step("Scheduling an HTTP request three seconds ahead, and waiting for it"):
        schedule, arrived = demonstrate(stack.api_url, receiver)
    line = arrival(schedule["pointInTime"], arrived, signatures.checked(arrived))
    console.print(f"    {line}", markup=False, soft_wrap=True)


def serve(stack: EmulatedStack, receiver: Receiver, signatures: Signatures, shown: int) -> None:
    """Show what the receiver gets after the first so many, until interrupted or until the emulator has ended."""
    show(receiver, signatures, stack.process.is_running, shown)
    raise EmulatorError(f"The emulator has ended: {stack.process.last_line()}")
