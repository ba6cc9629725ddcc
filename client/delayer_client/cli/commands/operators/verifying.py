"""`delayer verify`: whether a stack keeps what it promises."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.extras import needing
from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.shared import OF_BOTH, Yes
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.table import Column, folding, table

if TYPE_CHECKING:
    from delayer_client.cli.session import Session
    from delayer_client.operator.verify import Report

COLOURS: Final = {"held": "green", "BROKEN": "bold red", "not checked": "yellow"}

TAKES: Final = tuple(name for name in OF_BOTH if name != "owner")  # its schedules are those of whoever has the token


def _shown(session: "Session", report: "Report") -> None:
    found = report.findings
    columns = [
        folding("", [str(one.outcome) for one in found], least=11, styles=[COLOURS[str(one.outcome)] for one in found]),
        folding("PROMISE", [one.promise for one in found], least=16),
        folding("FOUND", [one.detail for one in found], least=16),
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


def _parts(incomplete: str) -> list[str]:
    """For completion."""
    with needing("aws"):
        from delayer_client.operator.verify import PARTS

    return [one for one in PARTS if one.startswith(incomplete)]


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app,
        "verify",
        "delayer verify --only near --only series --yes",
        panel="For operators",
        takes=TAKES,
    )
    def verify(
        session: "Session",
        only: Annotated[
            list[str] | None,
            typer.Option("--only", metavar="PART", help="Only this part.", autocompletion=_parts),
        ] = None,
        skip: Annotated[
            list[str] | None,
            typer.Option("--skip", metavar="PART", help="Without this part.", autocompletion=_parts),
        ] = None,
        bulk: Annotated[int, typer.Option("--bulk", metavar="N", min=1, max=100, help="Schedules in the batch.")] = 100,
        allowed_ms: Annotated[
            int,
            typer.Option("--allowed-ms", metavar="MS", help="How late one may be; in the batch five times as late."),
        ] = 1000,
        canary_seconds: Annotated[
            int,
            typer.Option("--canary-seconds", metavar="S", help="How long to wait for the canary's first figure."),
        ] = 240,
        yes: Yes = False,
    ) -> None:
        """Check what a stack promises by using it, and remove what was made. It takes some minutes.

        It creates about 140 schedules, a series and two queues named delayer-target-verify-…. It calls the API with a
        token, or signs its calls if the stack wants it, with the AWS credentials that it finds. With these it also
        looks into the account; what it cannot check without them, it says. The far schedules take as long as the
        stack's DelayerPeriod and about two minutes more. The exit status is 0 if everything that was asked for was
        checked and held.

        The parts: concurrency, events, pollers, near, bulk, races, refused, signatures, redrive, series, policies,
        relaxed, far, canary.
        """
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
            canary_seconds=canary_seconds,
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was made is removed then, too
        with bar(session, "Verifying", len(parts) + 2, line_every=timedelta()) as moving:
            done: list[str] = []

            @contextmanager
            def step(title: str) -> Iterator[None]:
                moving.at(len(done), title)
                yield
                done.append(title)

            checking: Any = Verification(
                options,
                step=step,
                say=session.output.note,
                profile=session.settings.aws_profile,
                region=session.settings.aws_region,
            )
            try:
                report = checking.run()
            except KeyboardInterrupt:
                session.output.note("Stopped. What was made is removed.")
                raise
        if session.as_json:
            session.output.objects([report.as_dict()])
        else:
            _shown(session, report)
        if report.exit_status:
            raise typer.Exit(Exit.PROBLEMS)
