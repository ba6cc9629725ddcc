"""The command line of `python -m operate.restore`."""

import argparse
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from delayer.schedule.instants import Millis, parse_instant
from operate.restore.tables import OF_SCHEDULES, TABLES

NEVER = "never"


@frozen(kw_only=True)
class Options:
    """The options say what is copied, and where to."""

    stack: str = "delayer"
    sources: Mapping[str, str] = field(factory=dict)  # kind of a table -> name of the table that is read
    lost_at: Millis | None = None  # when the ledger was lost; None: nothing can have fired since its copy was made
    rate: int = 200  # items a second
    wait: int | None = None  # seconds for what has begun; None: the longest timeout of a function
    is_dry_run: bool = False
    stays_paused: bool = False
    only: str = ""  # "pause" or "resume": nothing is copied


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line. argparse ends the process with 2 if it is wrong, or if it would fire something twice."""
    made = parser()
    given = made.parse_args(argv)
    sources = {kind: name for kind in TABLES if (name := getattr(given, kind))}
    only = "pause" if given.pause else "resume" if given.resume else ""
    if bool(only) == bool(sources):
        made.error("name at least one table to copy from, or give --pause or --resume alone")
    if "ledger" in sources and not sources.keys().isdisjoint(OF_SCHEDULES) and given.lost_at is None:
        made.error(
            "with --ledger and --schedules or --relaxed, --lost-at is needed: what was due by then may have fired "
            "after the copy of the ledger was made, and waits for a person; 'never' if the schedules come from the "
            "tables themselves, and not from a backup"
        )
    return Options(
        stack=given.stack,
        sources=sources,
        lost_at=None if given.lost_at in (None, NEVER) else given.lost_at,
        rate=given.rate,
        wait=given.wait,
        is_dry_run=given.dry_run,
        stays_paused=given.stays_paused,
        only=only,
    )


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m operate.restore",
        description="Copies the items of restored tables into the tables of a stack: control, ledger, registry, "
        "journal, and the schedules of both lanes last. Only what is missing is written; nothing that stands is "
        "overwritten. It may be repeated. Meanwhile the stack is paused: the minute task alone for schedules, registry "
        "and journal; everything, the API too, for ledger and control. After a failure the stack stays paused: repeat "
        "the command, or use --resume. The exit status is 0 if everything was copied, otherwise it is 1.",
    )
    parser.add_argument("--stack", default="delayer", help="name of the stack that is filled (default: delayer)")
    for kind, table in TABLES.items():
        parser.add_argument(f"--{kind}", default="", metavar="TABLE", help=f"copy {table.what} from this table")
    parser.add_argument(
        "--lost-at",
        type=an_instant,
        metavar="INSTANT",
        help="with --ledger: when it was lost, for example 2026-11-21T09:00:00Z, or never; schedules that were due by "
        "then and have no row become dead letters",
    )
    parser.add_argument("--rate", type=positive, default=200, metavar="N", help="items a second (default: 200)")
    parser.add_argument(
        "--wait",
        type=int,
        metavar="S",
        help="how long to wait at most: for invocations that have begun (default: the longest timeout of a function), "
        "and, if keys were replaced, until no function has the old ones (four minutes)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only count what would be copied")
    parser.add_argument("--stays-paused", action="store_true", help="do not let the stack go on at the end")
    parser.add_argument(
        "--pause", action="store_true", help="only pause the stack: nothing fires, and the API answers 503"
    )
    parser.add_argument("--resume", action="store_true", help="only let a paused stack go on")
    return parser


def an_instant(text: str) -> Millis | str:
    """RFC 3339 with an offset, or `never`; otherwise the error that argparse expects."""
    if text == NEVER:
        return NEVER
    try:
        return parse_instant(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is {error}") from error


def positive(text: str) -> int:
    """A whole number above zero; otherwise the error that argparse expects."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above zero")
    return int(text)
