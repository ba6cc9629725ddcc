"""`delayer dead-letters`: what was given up, or has failed."""

import getpass
import json
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command, group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.refusals import Failed
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.table import Column, one_line, table
from delayer_client.cli.showing.words import number

if TYPE_CHECKING:
    from delayer_client.cli.session import Session
    from delayer_client.operator import BulkResult, DeadLetter, Where

SHOWN = 50
WIDE = 120  # columns, for a key beside its reason
Key = Annotated[str | None, typer.Argument(metavar="KEY", help="One, by its key.", show_default=False)]
Prefix = Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Its key begins so: failed/, dead-lettered/.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="A part of why it was stored.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Stored then or later.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Stored before.")]
OfOwner = Annotated[str, typer.Option("--of", metavar="OWNER", help="Schedules of this owner.")]
Group = Annotated[str, typer.Option("--group", "-g", help="Schedules of this group.")]
Action = Annotated[str, typer.Option("--action", metavar="TYPE", help="Schedules with this type of action.")]
All = Annotated[bool, typer.Option("--all", help="All that are stored.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count only; change nothing.")]
PerSecond = Annotated[int, typer.Option("--per-second", metavar="N", help="So many schedules a second.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def by() -> str:
    """Who gives the command, for the history."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def where(session: "Session", **given: Any) -> "Where":
    """The conditions."""
    from delayer_client.calls.times import instant
    from delayer_client.operator import Where

    times = {name: instant(session.moment(given[name])) if given[name] else "" for name in ("since", "until")}
    return Where(**{**given, **times})


def _result(found: "BulkResult") -> dict[str, Any]:
    done = {"redrive": "redriven", "discard": "discarded"}[found.command]
    reasons = {one.text: {"matched": one.number, "sample": list(one.sample)} for one in found.reasons.values()}
    return {
        "lookedAt": found.looked_at,
        "matched": found.matched,
        done: found.done,
        "refused": dict(found.refused),
        **({"atLeast": True} if found.is_least else {}),
        **({"reasons": reasons, "dryRun": True} if found.is_dry_run else {}),
    }


def _words(found: "BulkResult") -> str:
    done = {"redrive": "redriven", "discard": "discarded"}[found.command]
    verb = f"would be {done}" if found.is_dry_run else done
    stays = "".join(f"\n  {count:,} stay as they are: {reason}" for reason, count in found.refused.items())
    least = "at least " if found.is_least else ""  # what a call did that was not answered is not counted
    return (
        f"{least}{number(found.matched, 'dead letter')} matched; {least}{number(found.done, 'schedule')} {verb}.{stays}"
    )


def _reasons(session: "Session", found: "BulkResult") -> Any:
    reasons = sorted(found.reasons.values(), key=lambda one: -one.number)
    columns = [
        Column(title="NUMBER", cells=[f"{one.number:,}" for one in reasons], rank=0),
        Column(title="REASON", cells=[one.text for one in reasons], rank=0, least=20),
        Column(title="SUCH AS", cells=[one.sample[0] if one.sample else "" for one in reasons], rank=1, style="dim"),
    ]
    return table(session.output.errors, columns)


def many(
    session: "Session",
    what: Literal["redrive", "discard"],
    conditions: "Where",
    *,
    dry_run: bool,
    per_second: int,
    yes: bool,
) -> None:
    """Counts, asks, and does it. Raises Declined, NotRead."""
    letters = session.operators.dead_letters
    if dry_run or not yes:
        with bar(session, "Counting") as shown:
            counted = letters.many(what, conditions, dry_run=True)(lambda so_far: shown.at(so_far.looked_at))
        if counted.reasons and not session.as_json:
            session.output.note(_reasons(session, counted))
        if dry_run:
            session.output.one(_result(counted), _words(counted))
            return
        if counted.matched == 0:
            session.output.one(_result(counted), "None matched. Nothing was done.")
            return
        question = (
            f"{what.capitalize()} {number(counted.done, 'schedule')} of {number(counted.matched, 'dead letter')}?"
        )
        session.agreed(question, yes=False)
        conditions.until = counted.until  # what is stored meanwhile was not counted
    run = letters.many(what, conditions, per_second=per_second, by=by())
    with bar(session, f"{what.capitalize()}") as shown:
        done = run(lambda so_far: shown.at(so_far.done))
    session.output.one(_result(done), _words(done))


def one(session: "Session", what: Literal["redrive", "discard"], key: str) -> None:
    """By its key. Raises Failed if it is still stored."""
    letters = session.operators.dead_letters
    found = letters.redrive(key, by=by()) if what == "redrive" else letters.discard(key, by=by())
    outcomes = ", ".join(f"{it.get('scheduleId', '?')}: {it.get('outcome', '?')}" for it in found.get("schedules", ()))
    session.output.one(found, outcomes or json.dumps(found))
    if found.get("stillStored"):
        raise Failed("It is still stored: not all of it could be handled.", Exit.NO)


def chosen(key: str | None, conditions: dict[str, Any], everything: bool) -> None:
    """Raises NotRead unless it is clear what is meant."""
    if sum(map(bool, (key, any(conditions.values()), everything))) != 1:
        raise NotRead("Give a KEY, or conditions such as --reason 'HTTP 503', or --all.")


def _two_lines(at: str, it: "DeadLetter") -> Any:
    """The key on a line of its own, whole: it is copied."""
    from rich.text import Text

    words = Text(one_line(f"{at}  {it.reason}"), no_wrap=True, overflow="ellipsis", end="\n")
    return words.append_text(Text(f"\n  {one_line(it.key)}", style="dim"))


def _listed(session: "Session", found: "list[DeadLetter]") -> Any:
    """A line for each; two in a window that is too narrow for a key and a reason."""
    from rich.console import Group

    times = [it.at[:19].replace("T", " ") for it in found]
    if session.console.width < WIDE:
        return Group(*(_two_lines(at, it) for at, it in zip(times, found, strict=True)))
    columns = [
        Column(title="AT", cells=times, rank=0),
        Column(title="REASON", cells=[it.reason for it in found], rank=0, least=12),
        Column(title="KEY", cells=[it.key for it in found], rank=0, style="dim"),
    ]
    return table(session.console, columns)


def add(app: typer.Typer) -> None:
    """Adds them."""
    letters = group("dead-letters", "Dead letters: what was given up, or has failed. For operators.")

    @command(letters, "list", "delayer dead-letters list --prefix failed/", for_operators=True)
    def list_(
        session: "Session",
        prefix: Prefix = "",
        limit: Annotated[int | None, typer.Option("--limit", "-l", metavar="N", min=1, help="At most so many.")] = None,
    ) -> None:
        """List dead letters."""
        wanted = limit or (None if session.as_json else SHOWN)
        found = list(islice(session.operators.dead_letters.list(prefix), wanted))
        if session.as_json:
            named = ({"key": it.key, "scheduleId": it.schedule_id, "reason": it.reason, "at": it.at} for it in found)
            session.output.objects({name: text for name, text in it.items() if text} for it in named)
            return
        if not found:
            session.output.note("There are none.")
            return
        session.output.show(_listed(session, found))
        if len(found) == wanted:
            session.output.note(f"The first {number(len(found), 'dead letter')}; --limit shows more, --json all.")

    @command(letters, "show", "delayer dead-letters show failed/2026-11-23/040q42.json", for_operators=True)
    def show(
        session: "Session", key: Annotated[str, typer.Argument(metavar="KEY", help="Its key.", show_default=False)]
    ) -> None:
        """Show one dead letter, with its body, whose secrets are masked."""
        from rich.json import JSON

        found = session.operators.dead_letters.show(key)
        session.output.one(found, *([] if session.as_json else [JSON(json.dumps(found)).text]))

    _add_bulk(letters, "redrive", "Send schedules on their way again: what is overdue fires at once.")
    _add_bulk(letters, "discard", "Delete dead letters, and end what has no other end as dropped.")
    app.add_typer(letters, rich_help_panel="For operators")


def _add_bulk(letters: typer.Typer, what: Literal["redrive", "discard"], text: str) -> None:
    def run(
        session: "Session",
        key: Key = None,
        prefix: Prefix = "",
        reason: Reason = "",
        since: Since = None,
        until: Until = None,
        of: OfOwner = "",
        of_group: Group = "",
        action: Action = "",
        everything: All = False,
        dry_run: DryRun = False,
        per_second: PerSecond = 0,
        yes: Yes = False,
    ) -> None:
        conditions = {
            "prefix": prefix,
            "reason": reason,
            "since": since,
            "until": until,
            "owner": of,
            "group": of_group,
            "action": action,
        }
        chosen(key, conditions, everything)
        if key:
            one(session, what, key)
        else:
            selected = where(session, **conditions, everything=everything)
            many(session, what, selected, dry_run=dry_run, per_second=per_second, yes=yes)

    run.__doc__, run.__name__ = text, what
    lines = (f"delayer dead-letters {what} --reason 'HTTP 503' --dry-run", f"delayer dead-letters {what} --all --yes")
    command(letters, what, *lines, for_operators=True)(run)
