"""`make dead-letters`: lists, shows, redrives and discards dead letters, one or many (ADR 0077).

The work is done by the function operator-dead-letters of the stack. It handles as much as one call has time for; this
program calls again until nothing is left, and says how to go on if it was stopped.
"""

import argparse
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import boto3
from botocore.exceptions import BotoCoreError

from operate.function import CONFIG, Failed, Function, Interrupted, Say, add_stack, printable

FUNCTION: Final = "operator-dead-letters"
CONDITIONS: Final = ("prefix", "reason", "from", "until", "owner", "group")
DONE: Final = {"redrive": "redriven", "discard": "discarded"}
PATIENCE: Final = 5  # calls in a row that may fail
PAUSE: Final = 5  # seconds between them


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
    added.add_argument("--dry-run", action="store_true", help="change nothing; show counts, and examples by reason")
    added.add_argument("--per-second", type=int, metavar="N", help="schedules per second (default: 50; 10 to 1000)")
    added.add_argument("--after", default="", metavar="KEY", help="go on after this key, as a stopped run has printed")


def main(argv: Sequence[str] | None = None, say: Say = print, make: Any = boto3.client, sleep: Any = time.sleep) -> int:
    """The exit status."""
    made = parser()
    given = vars(made.parse_args(argv))
    problem = contradiction(given)
    if problem:
        made.error(problem)
    try:
        client = make("lambda", config=CONFIG)
        return carry_out(given, Function(client, f"{given['stack']}-{FUNCTION}"), say, sleep)
    except (Failed, BotoCoreError) as error:
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


def carry_out(given: dict[str, Any], function: Function, say: Say, sleep: Callable[[float], None]) -> int:
    """One command."""
    try:
        match given:
            case {"command": "list", "prefix": prefix}:
                return show_list(function, prefix, say)
            case {"key": str(key), "command": command}:
                say(json.dumps(function({"command": command, "key": key}), indent=2))
                return 0
        return Run(given, function, say, sleep)()
    except Interrupted as error:
        raise Failed(f"The call failed: {error}") from error


def show_list(function: Function, prefix: str, say: Say) -> int:
    """All pages, a line for each."""
    after = ""
    while True:
        page = function({"command": "list", "prefix": prefix, "after": after})
        for one in page["deadLetters"]:
            say(printable(f"{one.get('at', ''):24}  {one['key']}  {one['reason']}"))
        after = page.get("next", "")
        if not after:
            return 0


class Run:
    """A command for many, call after call."""

    def __init__(self, given: dict[str, Any], function: Function, say: Say, sleep: Callable[[float], None]) -> None:
        self.given = given
        self.function = function
        self.say = say
        self.sleep = sleep
        self.done = DONE[given["command"]]
        self.where = {name: given[name] for name in CONDITIONS if given[name]}
        self.after: str = given["after"]
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.reasons: dict[str, dict[str, Any]] = {}

    def __call__(self) -> int:
        """0: everything was looked at. Otherwise it says how to go on, and the status is 1."""
        try:
            if self._is_finished():
                self._report("Done")
                return 0
        except KeyboardInterrupt:
            self.say("")
        except Failed:
            if self.after:
                self._stopped()
            raise
        self._stopped()
        return 1

    def _is_finished(self) -> bool:
        """False: it failed too often without getting any further."""
        failures = 0
        while failures < PATIENCE:
            before = self.after
            more, problem = self._call()
            if not more:
                return True
            failures = failures + 1 if problem and self.after == before else 0
            self.say(printable(f"  interrupted: {problem}" if problem else f"  {self._counts()}"))
            if problem:
                self.sleep(PAUSE)
        return False

    def _stopped(self) -> None:
        self._report("Stopped")
        self.say(f"To go on: {self.command_to_go_on()}")

    def _call(self) -> tuple[bool, str]:
        """Whether there is more, and what went wrong."""
        event = {
            "command": self.given["command"],
            "where": self.where,
            "dryRun": self.given["dry_run"],
            "after": self.after,
        }
        if self.given["per_second"]:
            event["perSecond"] = self.given["per_second"]
        try:
            answer = self.function(event)
        except Interrupted as error:
            return True, str(error)
        self._add(answer)
        self.where["until"] = answer["until"]  # what fails again meanwhile is not met by this run
        self.after = answer.get("next", self.after)
        return "next" in answer, answer.get("interrupted", "")

    def _add(self, answer: dict[str, Any]) -> None:
        for name in ("lookedAt", "matched", self.done):
            self.counts[name] += answer[name]
        self.refused.update(answer["refused"])
        for reason, found in answer.get("reasons", {}).items():
            known = self.reasons.setdefault(reason, {"matched": 0, "sample": found["sample"]})
            known["matched"] += found["matched"]

    def _counts(self) -> str:
        would = "would be " if self.given["dry_run"] else ""
        refused = self.refused.total()
        return (
            f"{self.counts['lookedAt']:,} looked at, {self.counts['matched']:,} matched, "
            f"{self.counts[self.done]:,} {would}{self.done}, {refused:,} left as they are"
        )

    def _report(self, word: str) -> None:
        self.say(f"{word}: {self._counts()}.")
        for reason, found in sorted(self.reasons.items(), key=lambda item: -item[1]["matched"]):
            self.say(printable(f"  {found['matched']:,} stored because: {reason}"))
            for key in found["sample"]:
                self.say(printable(f"      {key}"))
        for reason, number in self.refused.most_common():
            self.say(printable(f"  {number:,} left: {reason}"))

    def command_to_go_on(self) -> str:
        """As it is typed into a shell."""
        words = ["--stack", self.given["stack"], self.given["command"]]
        for name, value in self.where.items():
            words += [f"--{name}", value]
        words += ["--dry-run"] if self.given["dry_run"] else []
        words += ["--per-second", str(self.given["per_second"])] if self.given["per_second"] else []
        words += ["--after", self.after] if self.after else []
        words += [] if self.where else ["--all"]
        return f"make dead-letters ARGS={shlex.quote(shlex.join(words))}"


if __name__ == "__main__":
    sys.exit(main())
