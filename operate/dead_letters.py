"""`make dead-letters`: lists, shows, redrives and discards dead letters, one or many (ADR 0077).

The work is done by the function operator-dead-letters of the stack. It handles as much as one call has time for; this
program calls again until nothing is left, and says how to go on if it was stopped.
"""

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError

from delayer_client.operator.bulk import DONE, Bulk, Unfinished, Where
from delayer_client.operator.credentials import ONCE
from delayer_client.operator.dead_letters import DeadLetters
from delayer_client.operator.errors import Interrupted, OperatorError
from delayer_client.operator.function import OperatorFunction
from delayer_client.transport.proxies import aws_client
from operate.function import Say, add_stack, printable

FUNCTION: Final = "operator-dead-letters"
CONDITIONS: Final = ("prefix", "reason", "from", "until", "owner", "group", "action")


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    made = argparse.ArgumentParser(
        prog="make dead-letters ARGS=…",
        description="Lists, shows, redrives and discards dead letters and failed schedules of a stack. It uses the "
        "credentials and the region that the AWS CLI would use (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, …), which "
        f"need the permission lambda:InvokeFunction on <stack>-{FUNCTION}.",
        epilog="Example: redrive --reason 'HTTP 503' --from 2026-11-21T09:00:00Z --dry-run. The exit status is 0 if "
        "everything was looked at, 1 if not.",
    )
    add_stack(made)
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="keys, reasons and times, without bodies")
    listing.add_argument("--prefix", default="", metavar="TEXT", help="how the keys begin, such as failed/")
    show = commands.add_parser("show", help="one dead letter, with its body")
    show.add_argument("key", metavar="KEY")
    add_command_for_many(commands, "redrive", "send schedules on their way again: what is overdue fires at once")
    add_command_for_many(commands, "discard", "delete dead letters, and end what has no other end as dropped")
    return made


def add_command_for_many(commands: Any, name: str, what: str) -> None:
    """A command that takes one key, or conditions that must all hold."""
    added = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    added.add_argument("key", metavar="KEY", nargs="?", help="one dead letter, by its key")
    added.add_argument("--all", action="store_true", help="without any condition: all that are stored")
    added.add_argument("--prefix", metavar="TEXT", help="key begins so: dead-lettered/ or failed/")
    added.add_argument("--reason", metavar="TEXT", help="part of the reason for which it was stored")
    added.add_argument("--from", metavar="TIME", help="stored at this time or later, like 2026-11-21T09:00:00Z")
    added.add_argument("--until", metavar="TIME", help="stored before this time (default: now)")
    added.add_argument("--owner", metavar="NAME", help="schedules of this owner")
    added.add_argument("--group", metavar="NAME", help="schedules of this group")
    added.add_argument("--action", metavar="TYPE", help="schedules with an action of this type: http-request")
    added.add_argument("--dry-run", action="store_true", help="change nothing; show counts, and examples by reason")
    added.add_argument("--per-second", type=int, metavar="N", help="schedules per second (default: 50; 10 to 1000)")
    added.add_argument("--after", default="", metavar="KEY", help="go on after this key, as a stopped run has printed")


def main(argv: Sequence[str] | None = None, say: Say = print, make: Any = aws_client, sleep: Any = time.sleep) -> int:
    """The exit status."""
    made = parser()
    given = vars(made.parse_args(argv))
    problem = contradiction(given)
    if problem:
        made.error(problem)
    try:
        function = OperatorFunction(make("lambda", config=ONCE), f"{given['stack']}-{FUNCTION}")
        return carry_out(given, DeadLetters(function), say, sleep)
    except (OperatorError, BotoCoreError) as error:
        print(printable(str(error)), file=sys.stderr)
        return 1


def contradiction(given: dict[str, Any]) -> str:
    """What is wrong with the options; empty if nothing is."""
    if given["command"] not in DONE:
        return ""
    conditions = [name for name in CONDITIONS if given[name]]
    chosen = [bool(given["key"]), bool(conditions), given["all"]]
    if not any(chosen):
        return "give a KEY, or conditions such as --reason, or --all"
    if sum(chosen) > 1:
        return "give only one of these: a KEY, conditions, --all"
    if given["key"] and (given["dry_run"] or given["per_second"] or given["after"]):
        return "--dry-run, --per-second and --after are for many dead letters, not for one KEY"
    return ""


def carry_out(given: dict[str, Any], letters: DeadLetters, say: Say, sleep: Callable[[float], None]) -> int:
    """One command."""
    try:
        match given:
            case {"command": "list", "prefix": prefix}:
                for one in letters.list(prefix):
                    say(printable(f"{one.at:24}  {one.key}  {one.reason}"))
                return 0
            case {"key": str(key), "command": command}:
                say(json.dumps(letters.ask({"command": command, "key": key}), indent=2))
                return 0
        return Run(given, letters, say, sleep)()
    except Interrupted as error:
        raise OperatorError(f"The call failed: {error}") from error


class Run:
    """A command for many, call after call, as a terminal shows it."""

    def __init__(self, given: dict[str, Any], letters: DeadLetters, say: Say, sleep: Callable[[float], None]) -> None:
        self.given = given
        self.say = say
        conditions = {"since" if name == "from" else name: given[name] or "" for name in CONDITIONS}
        self.bulk: Bulk = letters.many(
            given["command"],
            Where(**conditions, everything=given["all"]),
            dry_run=given["dry_run"],
            per_second=given["per_second"] or 0,
            after=given["after"],
            sleep=sleep,
        )
        self.result = self.bulk.result

    def __call__(self) -> int:
        """0: everything was looked at. Otherwise it says how to go on, and the status is 1."""
        try:
            for result in self.bulk.steps():
                if result.is_complete:
                    self._report("Done")
                    return 0
                shown = f"interrupted: {result.problem}" if result.problem else self._counts()
                self.say(printable(f"  {shown}"))
        except KeyboardInterrupt:
            self.say("")
        except Unfinished:
            pass
        except OperatorError:
            if self.result.after:
                self._stopped()
            raise
        self._stopped()
        return 1

    def _stopped(self) -> None:
        self._report("Stopped")
        self.say(f"To go on: {self.command_to_go_on()}")

    def _counts(self) -> str:
        would = "would be " if self.result.is_dry_run else ""
        least = "at least " if self.result.is_least else ""  # what a call did that was not answered is not counted
        return (
            f"{least}{self.result.looked_at:,} looked at, {self.result.matched:,} matched, "
            f"{self.result.done:,} {would}{DONE[self.result.command]}, {self.result.refused.total():,} left as they are"
        )

    def _report(self, word: str) -> None:
        self.say(f"{word}: {self._counts()}.")
        for reason in sorted(self.result.reasons.values(), key=lambda one: -one.number):
            self.say(printable(f"  {reason.number:,} stored because: {reason.text}"))
            for key in reason.sample:
                self.say(printable(f"      {key}"))
        for text, number in self.result.refused.most_common():
            self.say(printable(f"  {number:,} left: {text}"))

    def command_to_go_on(self) -> str:
        """As it is typed into a shell."""
        words = ["--stack", self.given["stack"], self.given["command"]]
        conditions = self.bulk.where.as_sent() | ({"until": self.result.until} if self.result.until else {})
        for name, value in conditions.items():
            words += [f"--{name}", value]
        words += ["--dry-run"] if self.given["dry_run"] else []
        words += ["--per-second", str(self.given["per_second"])] if self.given["per_second"] else []
        words += ["--after", self.result.after] if self.result.after else []
        words += [] if conditions else ["--all"]
        return f"make dead-letters ARGS={shlex.quote(shlex.join(words))}"


if __name__ == "__main__":
    sys.exit(main())
