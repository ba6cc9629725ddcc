"""`delayer import eventbridge`: schedules and rules of EventBridge, moved over."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command, group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.shared import AWS, OF_API, Yes
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.table import folding, table
from delayer_client.cli.showing.texts import clean, strong
from delayer_client.cli.showing.words import number

if TYPE_CHECKING:
    from delayer_client.cli.session import Session
    from delayer_client.eventbridge import Found, Options, Report, Translated


def _found(session: "Session", files: list[str], groups: list[str], buses: list[str], region: str) -> "Found":
    from delayer_client.eventbridge import ReadingError, read_account, read_files, session_of

    if files:
        if groups or buses or region:
            raise NotRead("--group, --bus and --region are for an account: of FILES, all is moved.")
        return read_files([Path(one) for one in files])
    settings = session.settings
    if region and session.flags.aws_region and settings.token:  # without a token, calls to Delayer are signed for it
        raise NotRead("--region says where EventBridge is, and a token who calls: leave out --aws-region.")
    try:
        account = session_of(region or settings.aws_region or None, settings.aws_profile or None)
    except ReadingError as error:
        if not region:
            error.add_note("--region names a region.")
        raise
    with bar(session, "Reading EventBridge") as shown:
        return read_account(
            account, groups=groups, buses=buses, progress=lambda what, count: shown.at(count, f"Reading {what}")
        )


def _translated(found: "Found", options: "Options") -> "tuple[Translated, ...]":
    """Raises NotRead for a cut-over that is none."""
    from delayer_client.eventbridge import translate

    try:
        return translate(found, options)
    except ValueError as error:
        if options.cutover is None:
            raise
        raise NotRead(f"--cutover: {error}") from error


def _roles(given: list[str]) -> dict[str, str]:
    found = {}
    for one in given:
        account, equals, role = one.partition("=")
        if not equals:
            raise NotRead(f"--role {one!r}: write it --role 123456789012=arn:aws:iam::123456789012:role/delayer.")
        found[account] = role
    return found


def shown(session: "Session", report: "Report") -> None:
    """A row for each, then what to do."""
    rows = report.rows()
    titles = {"STATE": (2, 8), "AT EVENTBRIDGE": (0, 24), "EXPRESSION": (1, 12), "IN DELAYER": (3, 8)}
    titles["WHY, OR WHAT TO MIND"] = (4, 20)
    columns = [folding(title, [row[place] for row in rows], least) for title, (place, least) in titles.items()]
    if rows:
        session.output.show(table(session.console, columns))
    for gap in report.gaps:
        session.output.error(f"Not read: {gap.what}: {_sentence(gap.why)} {gap.remedy}".rstrip())
    counts = ", ".join(f"{count} {state}" for state, count in report.counts().items())
    session.output.show(strong(counts or "Nothing was found."))
    for place, step in enumerate(report.steps(), 1):
        session.output.show(f"{place}. {step}")
    for line in report.commands():
        _command(session, line)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _command(session: "Session", line: str) -> None:
    """As it is, to be copied; or why it is not shown."""
    if clean(line) == line:
        session.output.show(line)
    else:
        session.output.error(f"No command is given, since a name has signs that cannot be shown: {line}")


def add(app: typer.Typer) -> None:
    """Adds it."""
    importing = group("import", "Move schedules from another scheduler to Delayer.")

    @command(
        importing,
        "eventbridge",
        "delayer import eventbridge --dry-run",
        "delayer import eventbridge schedules/ rules.json --cutover 'tomorrow 6:00 Europe/Lisbon' --yes",
        takes=(*OF_API, *AWS),
    )
    def eventbridge(
        session: "Session",
        files: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="FILE…", help="What get-schedule, list-rules … print; without: the account.", show_default=False
            ),
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Only say what can be moved, and what cannot.")
        ] = False,
        yes: Yes = False,
        cutover: Annotated[
            str | None,
            typer.Option("--cutover", metavar="TIME", help="EventBridge fires before it, Delayer from it on."),
        ] = None,
        prefix: Annotated[str, typer.Option("--prefix", help="Of the names in Delayer.")] = "",
        role: Annotated[
            list[str] | None, typer.Option("--role", metavar="ACCOUNT=ARN", help="For targets in that account.")
        ] = None,
        groups: Annotated[list[str] | None, typer.Option("--group", help="Only this schedule group.")] = None,
        buses: Annotated[list[str] | None, typer.Option("--bus", help="Only this event bus.")] = None,
        region: Annotated[str, typer.Option("--region", help="Of EventBridge.")] = "",
    ) -> None:
        """Move EventBridge's schedules and rules over. Nothing at EventBridge is changed."""
        from delayer_client.cli.commands.operators.destination import ToDelayer
        from delayer_client.eventbridge import Options, Report, apply

        at = session.moment(cutover) if cutover else None
        found = _found(session, files or [], groups or [], buses or [], region)
        options = Options(now=session.now, cutover=at, roles=_roles(role or []), prefix=prefix)
        items = _translated(found, options)
        movable = sum(hasattr(one, "body") for one in items)
        if not dry_run and movable:
            session.agreed(f"Move {movable} of {number(len(items), 'schedule')} to {session.url}?", yes)
        with bar(session, "Moving" if not dry_run else "Looking", len(items)) as moving:
            moved: Any = apply(
                items,
                ToDelayer(session.delayer),
                dry_run=dry_run,
                progress=lambda done, of, _: moving.at(done, total=of),
            )
        report = Report(outcomes=moved, gaps=found.gaps, cutover=at)
        if session.as_json:
            session.output.objects([report.document()])
        else:
            shown(session, report)
        if not report.is_clean:
            raise typer.Exit(Exit.PROBLEMS)

    app.add_typer(importing, rich_help_panel="For operators")
