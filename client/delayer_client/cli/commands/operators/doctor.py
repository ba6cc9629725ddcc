"""`delayer doctor`: what is wrong with a stack, and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.extras import needing
from delayer_client.cli.options import command
from delayer_client.cli.shared import OF_BOTH
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.texts import strong
from delayer_client.cli.showing.words import number

if TYPE_CHECKING:
    from delayer_client.cli.session import Session
    from delayer_client.operator.doctor import Finding

SIGNS: Final = {"ok": "green", "note": "cyan", "unknown": "dim", "warning": "yellow", "problem": "bold red"}
QUIET: Final = ("ok", "note")


def examined(session: "Session") -> "list[Finding]":
    """All findings: of an engine, or of a stack."""
    if data := session.data:
        from delayer_client.operator import OperatorEngine
        from delayer_client.operator.doctor import engine

        return engine.examine(OperatorEngine(Path(data)))
    with needing("aws"):
        from delayer_client.operator.doctor import Doctor

    settings = session.settings
    doctor = Doctor.find(
        session.url,
        settings.stack or "delayer",
        token=settings.token,
        owner=settings.owner,
        profile=settings.aws_profile,
        region=settings.aws_region,
    )
    with bar(session, "Looking", len(doctor.areas)) as shown:
        looked: list[str] = []

        def progress(area: str) -> None:
            shown.at(len(looked), f"Looking at: {area}", len(doctor.areas))
            looked.append(area)

        return doctor.examine(progress)


def shown(session: "Session", found: "list[Finding]", *, everything: bool) -> None:
    """One paragraph for each, the worst last: there the eye is."""
    from rich.text import Text

    order = list(SIGNS)
    for one in sorted(found, key=lambda finding: order.index(str(finding.severity))):
        if str(one.severity) in QUIET and not everything:
            continue
        text = Text()
        text.append(f"{one.severity:<8}", style=SIGNS[str(one.severity)])
        text.append(f"{one.area}: ", style="bold")
        text.append(one.what)
        if one.do:
            text.append(f"\n        → {one.do}")
        if one.link:
            text.append(f"\n        {one.link}", style="dim")
        session.output.show(text)
    quiet = sum(str(one.severity) in QUIET for one in found)
    if quiet and not everything:
        session.output.show(strong(f"{number(quiet, 'thing')} in order", "; --all shows them.", "green"))


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app,
        "doctor",
        "delayer doctor",
        "delayer doctor --json | jq 'select(.severity == \"problem\")'",
        "delayer doctor --data delayer-data",
        panel="For operators",
        takes=(*OF_BOTH, "data"),
    )
    def doctor(
        session: "Session",
        everything: Annotated[bool, typer.Option("--all", help="Also what is in order.")] = False,
    ) -> None:
        """Look at a running stack, and say what is wrong and what to do. The exit status is 6 if there is a problem.

        With --data it looks at an engine on this machine, by the socket in its folder.
        """
        found = examined(session)
        if session.as_json:
            session.output.objects(_documents(found))
        else:
            shown(session, found, everything=everything)
        if any(str(one.severity) == "problem" for one in found):
            raise typer.Exit(Exit.PROBLEMS)


def _documents(found: "list[Finding]") -> list[dict[str, Any]]:
    from delayer_client.operator.doctor import as_dicts

    return as_dicts(found)
