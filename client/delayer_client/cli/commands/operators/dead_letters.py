"""`delayer dead-letters`: what was given up, or has failed."""

import json
import shlex
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from attrs import asdict, frozen

from delayer_client.cli.exits import Exit
from delayer_client.cli.options import CONTEXT, command, functions_group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.refusals import Failed
from delayer_client.cli.shared import OF_FUNCTIONS, SHOWN, By, Of, Yes, up_to
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.table import Column, folding, one_line, table
from delayer_client.cli.showing.words import number
from delayer_client.errors import DelayerError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from delayer_client.cli.session import Session
    from delayer_client.operator import Bulk, BulkResult, DeadLetter, Where

WIDE = 120  # columns, for a key beside its reason
Key = Annotated[str | None, typer.Argument(metavar="KEY", help="One, by its key.", show_default=False)]
Prefix = Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Its key begins so: failed/, dead-lettered/.")]


@frozen(kw_only=True)
class Conditions:
    """Which ones, as it was given."""

    prefix: Prefix = ""
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="A part of why it was stored.")] = ""
    since: Annotated[str, typer.Option("--since", "--from", metavar="TIME", help="Stored then or later.")] = ""
    until: Annotated[str, typer.Option("--until", metavar="TIME", help="Stored before.")] = ""
    owner: Of = ""
    group: Annotated[str, typer.Option("--group", "-g", help="Schedules of this group.")] = ""
    action: Annotated[str, typer.Option("--action", metavar="TYPE", help="Schedules with this type of action.")] = ""
    everything: Annotated[bool, typer.Option("--all", help="All that are stored.")] = False

    def read(self, session: "Session", key: str | None) -> "Where | None":
        """The conditions; None beside a key. Raises NotRead unless it is clear what is meant."""
        from delayer_client.calls.times import instant
        from delayer_client.operator import Where

        given: dict[str, Any] = {name: value for name, value in asdict(self).items() if value}
        if sum(map(bool, (key, given.keys() - {"everything"}, self.everything))) != 1:
            raise NotRead("Give one of these: a KEY, or conditions such as --reason 'HTTP 503', or --all.")
        for name in given.keys() & {"since", "until"}:
            given[name] = instant(session.moment(given[name]))
        return None if key else Where(**given)


@frozen(kw_only=True)
class Pace:
    """How many are gone through."""

    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only; change nothing.")] = False
    per_second: Annotated[
        int,
        typer.Option(
            "--per-second",
            metavar="N",
            help="So many schedules a second, 10 to 1000; otherwise 50.",
            show_default=False,
        ),
    ] = 0
    after: Annotated[
        str, typer.Option("--after", metavar="KEY", help="Go on after this key, as a stopped run has said.")
    ] = ""


def _result(found: "BulkResult") -> dict[str, Any]:
    reasons = {one.text: {"matched": one.number, "sample": list(one.sample)} for one in found.reasons.values()}
    return {
        "lookedAt": found.looked_at,
        "matched": found.matched,
        found.outcome: found.done,
        "refused": dict(found.refused),
        **({"atLeast": True} if found.is_least else {}),
        **({"reasons": reasons, "dryRun": True} if found.is_dry_run else {}),
    }


def _words(found: "BulkResult") -> str:
    least = "at least " if found.is_least else ""  # what a call did that was not answered is not counted
    done = f"would be {found.outcome}" if found.is_dry_run else found.outcome
    left = "".join(f"\n  {count:,} left: {reason}" for reason, count in found.refused.most_common())
    return (
        f"{least}{number(found.looked_at, 'dead letter')} looked at, {found.matched:,} matched; "
        f"{number(found.done, 'schedule')} {done}, {found.refused.total():,} left as they are.{left}"
    )


def _reasons(found: "BulkResult") -> Iterator[str]:
    """Keys on lines of their own, whole: they are copied."""
    for one in sorted(found.reasons.values(), key=lambda one: -one.number):
        yield f"  {one.number:,} stored because: {one.text}"
        yield from (f"      {key}" for key in one.sample)


def carried_out(session: "Session", run: "Bulk", title: str) -> "BulkResult":
    """To the end. If it is stopped, it says what was done, and how to go on; what stopped it is raised."""
    try:
        with bar(session, title) as shown:
            for result in run.steps():
                shown.at(result.done or result.looked_at)
                if result.problem:
                    session.output.note(f"A call was interrupted: {result.problem}")
    except (KeyboardInterrupt, DelayerError) as error:
        if isinstance(error, KeyboardInterrupt) or run.result.after != run.after:
            session.output.note(_stopped(run))
        raise
    return run.result


def _stopped(run: "Bulk") -> str:
    """A count that went on from a key would leave out what stands before it, and so would the run after it."""
    if run.dry_run:
        return "Stopped while counting: nothing was changed. Repeat the command as it was."
    given = (("--until", run.result.until), ("--after", run.result.after))
    more = shlex.join(word for option in given if option[1] for word in option)
    on = f"To go on, repeat the command with: {more}" if more else "To go on, repeat the command: that does no harm."
    return f"Stopped: {_words(run.result)}\n{on}"


def many(
    session: "Session", what: Literal["redrive", "discard"], conditions: "Where", pace: Pace, *, yes: bool, by: str
) -> None:
    """Counts, asks, and does it. Raises Declined, NotRead."""
    run = partial(
        session.operators.dead_letters.many,
        what,
        conditions,
        per_second=pace.per_second,
        after=pace.after,
        sleep=session.surroundings.sleep,
    )
    if pace.dry_run or not yes:
        counted = carried_out(session, run(dry_run=True), "Counting")
        for line in _reasons(counted):
            session.output.show(line) if pace.dry_run else session.output.note(line)
        if pace.dry_run:
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
    done = carried_out(session, run(by=by), what.capitalize())
    session.output.one(_result(done), _words(done))


def one(session: "Session", what: Literal["redrive", "discard"], key: str, by: str) -> None:
    """By its key. Raises Failed if it is still stored."""
    letters = session.operators.dead_letters
    found = letters.redrive(key, by=by) if what == "redrive" else letters.discard(key, by=by)
    outcomes = ", ".join(f"{it.get('scheduleId', '?')}: {it.get('outcome', '?')}" for it in found.get("schedules", ()))
    session.output.one(found, outcomes or json.dumps(found))
    if found.get("stillStored"):
        raise Failed("It is still stored: not all of it could be handled.", Exit.NO)


def _listed(session: "Session", found: "list[DeadLetter]") -> "Iterator[RenderableType]":
    """A line for each; two in a window that is too narrow for a key and a reason. A key is whole: it is copied."""
    from rich.text import Text

    times = [it.at[:19].replace("T", " ") for it in found]
    if session.console.width < WIDE:
        for at, it in zip(times, found, strict=True):
            yield Text(one_line(f"{at}  {it.reason}"))
            yield Text(f"  {one_line(it.key)}", style="dim")
        return
    keys = Column(title="KEY", cells=[it.key for it in found], rank=0, style="dim")
    columns = [Column(title="AT", cells=times, rank=0), folding("REASON", [it.reason for it in found], 24), keys]
    yield table(session.console, columns)


def add(app: typer.Typer) -> None:
    """Adds them."""
    letters = functions_group(
        "dead-letters",
        "Dead letters: what was given up, or has failed.",
        "operator-dead-letters",
        [CONTEXT.replace(name="yes", annotation=Yes, default=False)],
    )

    @command(letters, "list", "delayer dead-letters list --prefix failed/", takes=OF_FUNCTIONS)
    def list_(
        session: "Session",
        prefix: Prefix = "",
        limit: Annotated[int | None, up_to("50 at a terminal, all into a pipe or with --json")] = None,
    ) -> None:
        """List dead letters: keys, reasons and times, without bodies. Into a pipe it lists all."""
        is_seen = session.console.is_terminal and not session.as_json
        wanted = limit or (SHOWN if is_seen else None)
        found = list(islice(session.operators.dead_letters.list(prefix), wanted))
        if session.as_json:
            named = ({"key": it.key, "scheduleId": it.schedule_id, "reason": it.reason, "at": it.at} for it in found)
            session.output.objects({name: text for name, text in it.items() if text} for it in named)
            return
        if not found:
            session.output.note("There are none.")
            return
        session.output.show(*_listed(session, found))
        if len(found) == wanted:
            session.output.note(f"The first {number(len(found), 'dead letter')}; --limit shows more, --json all.")

    @command(letters, "show", "delayer dead-letters show failed/2026-11-23/040q42.json", takes=OF_FUNCTIONS)
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
        session: "Session", conditions: Conditions, pace: Pace, key: Key = None, yes: Yes = False, *, by: By
    ) -> None:
        where = conditions.read(session, key)
        if where:
            many(session, what, where, pace, yes=yes, by=by)
        elif pace != Pace():
            raise NotRead("--dry-run, --per-second and --after are for many dead letters, not for one KEY.")
        else:
            one(session, what, str(key), by)

    run.__doc__, run.__name__ = text, what
    lines = (f"delayer dead-letters {what} --reason 'HTTP 503' --dry-run", f"delayer dead-letters {what} --all --yes")
    command(letters, what, *lines, takes=OF_FUNCTIONS)(run)
