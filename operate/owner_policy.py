"""`make owner-policy`: sets, shows, lists, tries and removes what owners may do (ADR 0107).

The work is done by the function operator-owner-policy of the stack.
"""

import argparse
import getpass
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError

from delayer_client.operator.credentials import ONCE
from delayer_client.operator.errors import OperatorError
from delayer_client.operator.function import OperatorFunction
from delayer_client.transport.proxies import aws_client
from operate.function import Say, add_stack, printable

FUNCTION: Final = "operator-owner-policy"
RULES: Final = """\
A policy is a JSON object. Each rule may be left out: then the default counts, and without one nothing but the settings
of the stack. null takes a rule of the default away.
  actions            types of actions: ["http-request", "sqs-send"]
  hosts              of URLs: "api.example.com", "*.example.com"; with a port "api.example.com:8443", or ":*" for any
  queues, topics, functions, stateMachines, eventBuses
                     names or ARNs, with * for any characters of one part: "orders-*"
  createsPerMinute, liveSchedules, series
                     how many; they take the place of the stack's own limits
  payloadBytes       of one schedule
  aheadSeconds       how far ahead a time may be
"""


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    made = argparse.ArgumentParser(
        prog="make owner-policy ARGS=…",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Says what an owner may do, or all who have no policy of their own. It uses the credentials and\n"
        "the region that the AWS CLI would use (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, …), which need the\n"
        f"permission lambda:InvokeFunction on <stack>-{FUNCTION}. A change counts after ten seconds.\n\n{RULES}",
        epilog='Example: set --owner arn:aws:iam::123456789012:role/orders --json \'{"hosts": ["*.example.com"]}\'',
    )
    add_stack(made)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="the default, and the owners that have a policy of their own")
    _add(commands, "show", "what is kept for an owner, and what counts together with the default")
    changing = _add(commands, "set", "put a policy in the place of the one that is there")
    _add_document(changing)
    _add_change(changing)
    _add_change(_add(commands, "remove", "take a policy out: for its owner the default counts"))
    trying = _add(
        commands, "try", "say whether a schedule would be allowed, and by which rule it is not; it counts none"
    )
    trying.add_argument(
        "schedule", metavar="FILE", help="the body of a POST of a schedule or a series; - for the input"
    )
    _add_document(trying)
    return made


def _add(commands: Any, name: str, what: str) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    added.add_argument("--owner", default="", metavar="NAME", help="whose policy (default: the default for all)")
    return added


def _add_document(command: argparse.ArgumentParser) -> None:
    given = command.add_mutually_exclusive_group()
    given.add_argument("--json", metavar="TEXT", help="the policy")
    given.add_argument("--file", metavar="FILE", help="a file with the policy; - for the input")


def _add_change(command: argparse.ArgumentParser) -> None:
    text = "that `show` has shown: if it is another one by now, nothing is changed (default: there is no policy yet)"
    command.add_argument("--revision", type=int, default=0, metavar="N", help=text)
    command.add_argument("--by", metavar="NAME", help="who changes it, for the record (default: your user name)")


def main(argv: Sequence[str] | None = None, say: Say = print, make: Any = aws_client) -> int:
    """The exit status: 1 if it failed; and of `try`, 2 if a rule is against it."""
    made = parser()
    given = vars(made.parse_args(argv))
    try:
        event = event_of(given)
        function = OperatorFunction(make("lambda", config=ONCE), f"{given['stack']}-{FUNCTION}")
        return carry_out(event, function, say)
    except (OperatorError, BotoCoreError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 1


def event_of(given: dict[str, Any]) -> dict[str, Any]:
    """The payload of the invocation. Raises OperatorError."""
    event: dict[str, Any] = {"command": given["command"], "owner": given.get("owner", "")}
    document = _document(given)
    if document is not None:
        event["policy"] = document
    elif given["command"] == "set":
        raise OperatorError("give the policy: --json '{…}' or --file FILE")
    if "revision" in given:
        event |= {"over": given["revision"], "by": given["by"] or getpass.getuser()}
    if "schedule" in given:
        event["schedule"] = _text_of(given["schedule"])
    return event


def _document(given: dict[str, Any]) -> Any:
    text = given.get("json") or (_text_of(given["file"]) if given.get("file") else None)
    try:
        return None if text is None else json.loads(text)
    except ValueError as error:
        raise OperatorError(f"the policy is no JSON: {error}") from error


def _text_of(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, ValueError) as error:
        raise OperatorError(f"{file} cannot be read: {error}") from error


def carry_out(event: dict[str, Any], ask_function: Callable[[dict[str, Any]], dict[str, Any]], say: Say) -> int:
    """One command; a list page by page."""
    result = ask_function(event)
    say(printable(json.dumps(result, indent=2)))
    while "next" in result:
        result = ask_function({**event, "after": result["next"]})
        say(printable(json.dumps(result["owners"], indent=2)))
    return 2 if result.get("allowed") is False else 0


if __name__ == "__main__":
    sys.exit(main())
