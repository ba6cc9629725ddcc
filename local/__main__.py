"""`python -m local`: the whole stack on this machine, until Ctrl-C."""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from local.demonstration import clock_time, demonstrate, example, lateness_ms
from local.errors import LocalStackError
from local.progress import console, step
from local.receiver import Delivery, Receiver
from local.stack import PROJECT, LocalStack, refuse_used

LAST_PORT = 65533  # the next two are needed, too


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(
        prog="python -m local",
        description="Runs Delayer on this machine: an embedded AWS with the stack of template.yaml in it. "
        "Everything is in memory and gone after Ctrl-C.",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8080,
        help="port of the API; the AWS endpoint takes the next one, the receiver the one after it (default: 8080)",
    )
    parser.add_argument("--delayer-period", metavar="SECONDS", help="template parameter DelayerPeriod, 60 to 840")
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="another template parameter; repeatable"
    )
    parser.add_argument("--no-demo", action="store_true", help="do not schedule the demonstration")
    return parser.parse_args(argv)


def template_parameters(options: argparse.Namespace) -> dict[str, str]:
    """The template parameters of a command line; LocalStackError for one without a value."""
    parameters = {"DelayerPeriod": options.delayer_period} if options.delayer_period else {}
    for given in options.parameter:
        name, equals, value = given.partition("=")
        if not (name and equals):
            raise LocalStackError(f"A parameter is written NAME=VALUE, as in Shards=2, not {given}.")
        parameters[name] = value
    return parameters


def interrupt(_signal_number: int, _frame: FrameType | None) -> None:
    """End on SIGTERM and on SIGINT alike."""
    raise KeyboardInterrupt


def run(options: argparse.Namespace) -> None:
    """Start, demonstrate, explain, serve."""
    parameters = template_parameters(options)
    if not 1 <= options.port <= LAST_PORT:
        raise LocalStackError(f"Port {options.port} cannot be used: choose one from 1 to {LAST_PORT}.")
    refuse_used(options.port)
    refuse_used(options.port + 2)
    with (
        Receiver(options.port + 2) as receiver,
        LocalStack(options.port, parameters, progress=step) as stack,
    ):
        if not options.no_demo:
            show_demonstration(stack, receiver)
        explain(stack, receiver)
        serve(stack, receiver)


def show_demonstration(stack: LocalStack, receiver: Receiver) -> None:
    """Schedule three seconds ahead and show the arrival."""
    with step("Scheduling an HTTP request three seconds ahead, and waiting for it"):
        answer, delivery = demonstrate(stack.api_url, receiver)
    lateness = lateness_ms(answer["pointInTime"], delivery)
    console.print(f"    due {answer['pointInTime']}, arrived {clock_time(delivery.at_ms)}: {lateness} ms late")


def explain(stack: LocalStack, receiver: Receiver) -> None:
    """Say what can be tried now, and where to look."""
    body = json.dumps(example(receiver))
    logs = (stack.folder / "logs").relative_to(Path(PROJECT))
    print(
        f"""
Delayer serves {stack.api_url}. Try:

  curl -i {stack.api_url}/schedules -H 'Content-Type: application/json' \\
    -d '{body}'

What reaches {receiver.url} is shown below.
AWS endpoint:  export AWS_ENDPOINT_URL={stack.aws_endpoint_url} AWS_DEFAULT_REGION=us-east-1 \\
                 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
Logs:          {logs}/<function>.log, and {stack.process.log_file.relative_to(PROJECT)} of the embedded AWS
Everything is in memory and gone after Ctrl-C.
""",
        flush=True,
    )


def serve(stack: LocalStack, receiver: Receiver) -> None:
    """Show what the receiver gets, until interrupted or until the embedded AWS has ended."""
    seen = len(receiver.deliveries)
    while stack.process.is_running():
        with receiver.changed:
            receiver.changed.wait(1)
            new, seen = receiver.deliveries[seen:], len(receiver.deliveries)
        for delivery in new:
            print(shown(delivery), flush=True)
    raise LocalStackError(f"The embedded AWS has ended: {stack.process.last_line()}")


def shown(delivery: Delivery) -> str:
    """One line on what arrived: when, how late, what."""
    due = delivery.headers.get("delayer-point-in-time")
    late = f" ({lateness_ms(due, delivery)} ms late)" if due else ""
    text = delivery.body[:200].decode(errors="replace")
    return f"{clock_time(delivery.at_ms)}{late} {delivery.method} {delivery.path} {text}"


def main() -> int:
    """Run until interrupted; 0 after Ctrl-C, 1 with a sentence on standard error when something failed."""
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets its background jobs ignore SIGINT
        signal.signal(number, interrupt)
    try:
        run(arguments())
    except LocalStackError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; nothing was kept.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
