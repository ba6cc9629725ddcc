"""`delayer flow`: what waits although it is due."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.commands.operators.dead_letters import by
from delayer_client.cli.options import command, group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.showing.table import Column, table

if TYPE_CHECKING:
    from delayer_client.cli.session import Session

Of = Annotated[str, typer.Option("--of", metavar="OWNER", help="Schedules of this owner; without it of all.")]
Target = Annotated[str, typer.Option("--target", metavar="HOST", help="A host; without it all targets.")]
Connection = Annotated[str, typer.Option("--connection", metavar="NAME", help="A connection of the owner.")]
KINDS = ("suspensions", "circuits", "limits", "malformed")


def _about(**given: str) -> dict[str, str]:
    if not any(given.values()):
        raise NotRead("Say whom it is about: --of OWNER, --target HOST, or both.")
    return given


def _said(session: "Session", found: Any) -> None:
    session.output.one(found, json.dumps(found, ensure_ascii=False))


def _cells(one: Any) -> tuple[str, str, str]:
    """Of whom, of which target, and all else."""
    if not isinstance(one, dict):
        return "", "", str(one)
    rest = {name: value for name, value in one.items() if name not in ("owner", "target")}
    return str(one.get("owner", "")), str(one.get("target", "")), ", ".join(f"{key}: {rest[key]}" for key in rest)


flow = group("flow", "Flow: what waits although it is due. For operators.")


@command(flow, "list", "delayer flow list", for_operators=True)
def list_(session: "Session") -> None:
    """List suspensions, circuits and limits."""
    found = session.operators.flow.list()
    if session.as_json:
        session.output.objects([found])
        return
    rows = [(kind[:-1] if kind != "malformed" else kind, *_cells(one)) for kind in KINDS for one in found.get(kind, ())]
    if not rows:
        session.output.note("Nothing is kept back.")
        return
    titles = (("WHAT", 0, 0), ("OWNER", 1, 8), ("TARGET", 1, 12), ("MORE", 2, 20))
    session.output.show(
        table(
            session.console,
            [
                Column(title=title, cells=[row[place] for row in rows], rank=rank, least=least)
                for place, (title, rank, least) in enumerate(titles)
            ],
        )
    )


@command(flow, "suspend", "delayer flow suspend --target api.example.com --reason 'Being repaired'", for_operators=True)
def suspend(
    session: "Session",
    of: Of = "",
    target: Target = "",
    reason: Annotated[str, typer.Option("--reason", help="The owners of what waits read it.")] = ...,  # type: ignore[assignment]
) -> None:
    """Let all that is due for an owner or a target wait."""
    _said(session, session.operators.flow.suspend(**_about(owner=of, target=target), reason=reason, by=by()))


@command(flow, "release", "delayer flow release --target api.example.com", for_operators=True)
def release(session: "Session", of: Of = "", target: Target = "") -> None:
    """End a suspension. What waits fires within 15 minutes."""
    _said(session, session.operators.flow.release(**_about(owner=of, target=target), by=by()))


@command(flow, "close", "delayer flow close --target api.example.com", for_operators=True)
def close(session: "Session", of: Of = "", target: Target = "") -> None:
    """Close circuits before their targets are probed."""
    _said(session, session.operators.flow.close(**_about(owner=of, target=target), by=by()))


@command(flow, "limit", "delayer flow limit --target api.example.com --rate 10/s", for_operators=True)
def limit(
    session: "Session",
    of: Of = "",
    target: Target = "",
    connection: Connection = "",
    rate: Annotated[str, typer.Option("--rate", help="10/s, 30/m, 100/h.")] = "",
    concurrency: Annotated[str, typer.Option("--concurrency", metavar="N", help="So many at once.")] = "",
) -> None:
    """Limit how often, or how many times at once, they are reached."""
    if not (rate or concurrency):
        raise NotRead("Give --rate, such as 10/s, or --concurrency.")
    about = _about(owner=of, target=target, connection=connection)
    _said(session, session.operators.flow.limit(**about, rate=rate, concurrency=concurrency, by=by()))


@command(flow, "unlimit", "delayer flow unlimit --target api.example.com", for_operators=True)
def unlimit(session: "Session", of: Of = "", target: Target = "", connection: Connection = "") -> None:
    """Take a limit away."""
    about = _about(owner=of, target=target, connection=connection)
    _said(session, session.operators.flow.unlimit(**about, by=by()))


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(flow, rich_help_panel="For operators")
