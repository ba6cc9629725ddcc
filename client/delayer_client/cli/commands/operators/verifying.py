"""`delayer verify`: whether a stack keeps what it promises."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.extras import needing
from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.table import Column, table

if TYPE_CHECKING:
    from delayer_client.cli.session import Session
    from delayer_client.operator.verify import Report

COLOURS: Final = {"held": "green", "BROKEN": "bold red", "not checked": "yellow"}


def _shown(session: "Session", report: "Report") -> None:
    found = report.findings
    columns = [
        Column(
            title="",
            cells=[str(one.outcome) for one in found],
            rank=0,
            styles=[COLOURS[str(one.outcome)] for one in found],
        ),
        Column(title="PROMISE", cells=[one.promise for one in found], rank=0),
        Column(title="FOUND", cells=[one.detail for one in found], rank=1, least=12),
    ]
    late = report.lateness
    figures = [
        Column(title="LATENESS", cells=[one.part for one in late], rank=0),
        Column(title="SCHEDULES", cells=[str(one.schedules) for one in late], rank=0),
        *(
            Column(title=title, cells=[f"{getattr(one, name)} ms" for one in late], rank=0)
            for title, name in (("P50", "p50"), ("P99", "p99"), ("MAX", "longest"))
        ),
    ]
    session.output.show(table(session.console, columns))
    if late:
        session.output.show("", table(session.console, figures))
    session.output.show(
        "", f"{report.schedules} schedules; it cost about {report.cents:.2f} US cents. {report.conclusion}"
    )


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app,
        "verify",
        "delayer verify --only near --only series --yes",
        panel="For operators",
        for_operators=True,
    )
    def verify(
        session: "Session",
        only: Annotated[list[str] | None, typer.Option("--only", metavar="PART", help="Only this part.")] = None,
        skip: Annotated[list[str] | None, typer.Option("--skip", metavar="PART", help="Without this part.")] = None,
        bulk: Annotated[int, typer.Option("--bulk", metavar="N", min=1, max=100, help="Schedules in the batch.")] = 100,
        allowed_ms: Annotated[int, typer.Option("--allowed-ms", metavar="MS", help="How late one may be.")] = 1000,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    ) -> None:
        """Check what a stack promises by using it, and remove what was made. It takes some minutes."""
        with needing("aws"):
            from delayer_client.operator.verify import PARTS, Options, Verification

        unknown = [one for one in [*(only or ()), *(skip or ())] if one not in PARTS]
        if unknown:
            raise NotRead(f"There is no part {unknown[0]!r}. They are: {', '.join(PARTS)}.")
        parts = tuple(one for one in PARTS if one in (only or PARTS) and one not in (skip or ()))
        session.agreed(f"Use {session.url} with about 140 schedules, a series and two queues?", yes)
        options = Options(
            url=session.url.rstrip("/"),
            token=session.settings.token,
            stack=session.settings.stack or "delayer",
            parts=parts,
            bulk=bulk,
            allowed_ms=allowed_ms,
        )
        with bar(session, "Verifying", len(parts) + 2) as moving:
            done: list[str] = []

            @contextmanager
            def step(title: str) -> Iterator[None]:
                moving.at(len(done), title)
                yield
                done.append(title)

            checking: Any = Verification(
                options, step=step, say=session.output.note, profile=session.settings.aws_profile
            )
            report = checking.run()
        if session.as_json:
            session.output.objects([report.as_dict()])
        else:
            _shown(session, report)
        if report.exit_status:
            raise typer.Exit(Exit.PROBLEMS)
