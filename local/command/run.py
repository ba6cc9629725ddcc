"""Runs the stack until Ctrl-C: starts it, demonstrates it, explains it, and shows the requests that arrive."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from local.arrivals import arrival, show
from local.command import keeping, messages, options
from local.command.demonstration import demonstrate, obstacle_in
from local.command.interrupts import Interrupts
from local.command.output import allow_unread
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
    interrupts = Interrupts()
    interrupts.install()
    keep = None
    try:
        given = options.parse()
        keep = given.keep
        run(given, interrupts)
    except EmulatorError as error:
        print(printable(str(error)), file=sys.stderr)  # it may quote what a request or a function has said
        return 1
    except KeyboardInterrupt:
        allow_unread()
        print(f"\n{keeping.interrupted(keep)}")
    except BrokenPipeError:  # nobody reads any more, as with `| head`
        allow_unread()
        return 1
    return 0


def run(given: options.Options, interrupts: Interrupts) -> None:
    """Start, and serve. However that ends, the state is saved if it is kept, and no process is left behind."""
    refuse_used(given.port)
    refuse_used(given.port + 2)
    stack = EmulatedStack(
        given.port, given.parameters, progress=step, starts_functions=False, keep=given.keep, tls=given.tls
    )
    with Receiver(given.port + 2) as receiver, ended(stack), saved_at_the_end(stack, interrupts):
        stack.start()
        introduce(given, stack, receiver)


def introduce(given: options.Options, stack: EmulatedStack, receiver: Receiver) -> None:
    """Demonstrate, explain, serve."""
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
def ended(stack: EmulatedStack) -> Iterator[None]:
    """End its processes."""
    try:
        yield
    finally:
        stack.stop()


@contextmanager
def saved_at_the_end(stack: EmulatedStack, interrupts: Interrupts) -> Iterator[None]:
    """Save the state however the run ends, as soon as it has begun anything, and as long as the emulator is there."""
    interrupts.keeps = stack.keep is not None
    try:
        yield
    except BaseException as error:
        interrupts.has_ended = True
        wanted = isinstance(error, KeyboardInterrupt)
        if not stack.has_begun:
            raise
        if stack.process.is_running():
            save(stack, interrupts)
        elif wanted:
            raise EmulatorError(keeping.NOT_SAVED) from None
        if not wanted:
            raise


def save(stack: EmulatedStack, interrupts: Interrupts) -> None:
    """Bring it to rest, save, and say what was saved, if somebody reads it.

    A second Ctrl-C ends the waiting, a third one the saving.
    """
    try:
        allow_unread()
        print()
        with step("Finishing what is under way (Ctrl-C: without waiting)"):
            saved = stack.save(interrupts.hurry.is_set)
    except KeyboardInterrupt:
        raise EmulatorError(keeping.NOT_SAVED) from None
    print(keeping.ended(saved, str(stack.folder.relative_to(PROJECT) / STATE)))


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
