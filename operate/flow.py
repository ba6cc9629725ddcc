"""`make flow`: shows what waits although it is due, suspends owners and targets, limits them, closes circuits.

The work is done by the function operator-flow of the stack (ADR 0110).
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError

from delayer_client.operator.credentials import ONCE
from delayer_client.operator.errors import Interrupted, OperatorError
from delayer_client.operator.function import OperatorFunction
from delayer_client.transport.proxies import aws_client
from operate.function import Say, add_stack, printable

FUNCTION: Final = "operator-flow"
TARGET: Final = (
    "a host (api.example.com), a host and its port (api.example.com:8443), or a type of action and what names its "
    "target ('sqs-send https://sqs…'), as `list` shows it"
)
ALL: Final = "(all)"
SUSPENSIONS: Final = ("owner", "target", "since", "by", "reason")
LIMITS: Final = ("owner", "target", "rate", "booked", "concurrency", "since", "by")
CIRCUITS: Final = ("owner", "target", "state", "since", "until", "pauses", "reason")


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    made = argparse.ArgumentParser(
        prog="make flow ARGS=…",
        description="Shows what waits although it is due, suspends and releases owners and targets, limits how often, "
        "or how many times at once, they are reached, and closes the circuits of targets. It uses the credentials and "
        f"the region that the AWS CLI would use (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, …), which need the "
        f"permission lambda:InvokeFunction on <stack>-{FUNCTION}.",
        epilog="Example: suspend --target api.example.com --reason 'maintenance until noon'. The exit status is 0 if "
        "the command was carried out, also if there was nothing to change, and 1 if not.",
    )
    add_stack(made)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="suspensions, circuits, and how much is in the delayer queue")
    suspend = add_command(commands, "suspend", "let all that is due for an owner, a target, or both wait")
    suspend.add_argument("--reason", required=True, metavar="TEXT", help="why: the owners of what waits read it")
    add_command(commands, "release", "take back a suspension; what waits fires within 15 minutes")
    add_command(commands, "close", "close the circuits of an owner, a target, or both, before they are probed")
    limit = add_command(
        commands,
        "limit",
        "limit how often, or how many times at once, a target, an owner's, or a connection is reached",
    )
    limit.add_argument(
        "--connection", default="", metavar="NAME", help="instead of a target: a connection of the owner"
    )
    limit.add_argument("--rate", default="", metavar="RATE", help="attempts: 10/s, 30/m or 100/h; 1/h to 1000/s")
    limit.add_argument("--concurrency", default="", metavar="NUMBER", help="attempts at a time: 1 to 1000")
    unlimit = add_command(commands, "unlimit", "remove a limit; what waits for it fires within 15 minutes")
    unlimit.add_argument(
        "--connection", default="", metavar="NAME", help="instead of a target: a connection of the owner"
    )
    what = "remove a row that this version of Delayer cannot read"
    discard = commands.add_parser("discard", help=what, description=f"{what[0].upper()}{what[1:]}.")
    discard.add_argument("block", metavar="BLOCK", help="as `list` shows it")
    discard.add_argument("--by", default="", metavar="NAME", help="who you are; the log keeps it")
    return made


def add_command(commands: Any, name: str, what: str) -> argparse.ArgumentParser:
    """A command about an owner, a target, or both."""
    added: argparse.ArgumentParser = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    added.add_argument("--owner", default="", metavar="NAME", help="schedules of this owner (default: of all)")
    added.add_argument("--target", default="", metavar="TARGET", help=f"{TARGET} (default: all targets)")
    added.add_argument("--by", default="", metavar="NAME", help="who you are; `list` shows it to other operators")
    return added


def main(argv: Sequence[str] | None = None, say: Say = print, make: Any = aws_client) -> int:
    """The exit status."""
    made = parser()
    given = vars(made.parse_args(argv))
    if given["command"] not in ("list", "discard") and not (given["owner"] or given["target"]):
        made.error("give --owner, --target, or both")
    if given.get("connection") and given["target"]:
        made.error("give --target or --connection, not both")
    if given["command"] == "limit" and not (given["rate"] or given["concurrency"]):
        made.error("give --rate, --concurrency, or both")
    function = f"{given.pop('stack')}-{FUNCTION}"
    try:
        result = OperatorFunction(make("lambda", config=ONCE), function)(given)
    except Interrupted as error:
        print(printable(f"The call failed: {error}. To repeat it does no harm."), file=sys.stderr)
        return 1
    except (OperatorError, BotoCoreError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    for line in lines(given["command"], result):
        say(printable(line))
    return 0


def lines(command: str, result: dict[str, Any]) -> list[str]:
    """What a command came to."""
    match command:
        case "list":
            return listed(result)
        case "suspend":
            done = "Suspended:" if result["changed"] else "It was suspended before, with this reason:"
            return [done, *table(SUSPENSIONS, [result["suspension"]])]
        case "release":
            return released(result)
        case "limit":
            done = "Limited:" if result["changed"] else "It was limited so before:"
            return [done, *table(LIMITS, [limit_row(result["limit"])])]
        case "unlimit":
            removed = [limit_row(one) for one in result["removed"]]
            return ["Removed:", *table(LIMITS, removed)] if removed else ["There is no such limit."]
        case "discard":
            return [f"Discarded: {key}" for key in result["discarded"]] or ["There is no such row."]
        case _:
            closed = result["closed"]
            return ["Closed:", *table(CIRCUITS, closed)] if closed else ["There is no such circuit."]


def listed(result: dict[str, Any]) -> list[str]:
    """All there is. For whom a message waits is not counted anywhere; the logs know (docs/use/flow.md)."""
    suspensions, circuits, queue = result["suspensions"], result["circuits"], result["delayerQueue"]
    malformed = result["malformed"]
    return [
        *(["Suspensions:", *table(SUSPENSIONS, suspensions)] if suspensions else ["Nothing is suspended."]),
        *(["Circuits:", *table(CIRCUITS, circuits)] if circuits else ["No circuit is open."]),
        *(["Limits:", *table(LIMITS, [limit_row(one) for one in result["limits"]])] if result["limits"] else []),
        *(["Rows that this version cannot read:", *(f"  {key}" for key in malformed)] if malformed else []),
        f"In the delayer queue are about {queue['delayed']:,} delayed messages and {queue['ready']:,} that are ready: "
        "what waits, and what is due within minutes.",
    ]


def limit_row(limit: dict[str, Any]) -> dict[str, Any]:
    """How far ahead its line is booked: so long waits who comes now."""
    return {**limit, "booked": f"{limit['bookedSeconds']:,} s" if limit.get("rate") else ""}


def released(result: dict[str, Any]) -> list[str]:
    """With what else keeps back some of the same schedules."""
    done = result["released"]
    others = result["stillSuspended"]
    return [
        *(["Released:", *table(SUSPENSIONS, done)] if done else ["There is no such suspension."]),
        *(["Still suspended:", *table(SUSPENSIONS, others)] if others else []),
    ]


def table(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Columns as wide as what is in them."""
    cells = [[name.upper() for name in names], *[[cell(row, name) for name in names] for row in rows]]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    return [
        "  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    ]


def cell(row: dict[str, Any], name: str) -> str:
    """Without an owner or a target it is about all of them."""
    return str(row.get(name, ALL if name in ("owner", "target") else ""))


if __name__ == "__main__":
    sys.exit(main())
