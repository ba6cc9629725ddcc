"""`delayer flow`: what waits although it is due."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from attrs import asdict, frozen

from delayer_client.cli.options import command, functions_group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.shared import OF_FUNCTIONS, By, Of
from delayer_client.cli.showing.table import folding, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from delayer_client.cli.session import Session

Target = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="A host (api.example.com), a host and its port (api.example.com:8443), or a type of action and what names "
        "its target ('sqs-send https://sqs…'), as `list` shows it; without it all targets.",
    ),
]
Connection = Annotated[
    str, typer.Option("--connection", metavar="NAME", help="Instead of a target: a connection of the owner.")
]
# What is shown of each.
SUSPENSIONS: Final = ("owner", "target", "since", "by", "reason")
LIMITS: Final = ("owner", "target", "rate", "booked", "concurrency", "since", "by")
CIRCUITS: Final = ("owner", "target", "state", "since", "until", "pauses", "reason")


@frozen(kw_only=True)
class About:
    """The party that a command is about, and the person who gives it."""

    owner: Of = ""
    target: Target = ""
    by: By

    def given(self) -> dict[str, str]:
        """As the stack takes it. Raises NotRead unless it is about somebody."""
        given: dict[str, str] = asdict(self)
        if not (self.owner or self.target):
            raise NotRead("Say whom it is about: --of OWNER, --target TARGET, or both.")
        if self.target and given.get("connection"):
            raise NotRead("Give --target or --connection, not both.")
        return given


@frozen(kw_only=True)
class Limited(About):
    """And what may be limited besides."""

    connection: Connection = ""


def _rows(session: "Session", title: str, shown: Sequence[str], rows: Sequence[dict[str, Any]]) -> "Sequence[Any]":
    """A title and a table below it, whole in any window, for targets are copied; nothing without rows."""
    if not rows:
        return ()
    columns = [folding(name.upper(), [_cell(row, name) for row in rows]) for name in shown]
    return (title, table(session.console, columns))


def _cell(row: dict[str, Any], name: str) -> str:
    """Without an owner or a target it is about all of them. A limit is booked so far ahead: so long waits who comes."""
    if name == "booked":
        return f"{row['bookedSeconds']:,} s" if row.get("rate") else ""
    return str(row.get(name, "(all)" if name in ("owner", "target") else ""))


def _listed(session: "Session", found: dict[str, Any]) -> "Iterator[RenderableType]":
    """All there is. For whom a message waits is not counted anywhere; the logs know (docs/use/flow.md)."""
    queue = found["delayerQueue"]
    yield from _rows(session, "Suspensions:", SUSPENSIONS, found["suspensions"]) or ("Nothing is suspended.",)
    yield from _rows(session, "Circuits:", CIRCUITS, found["circuits"]) or ("No circuit is open.",)
    yield from _rows(session, "Limits:", LIMITS, found["limits"])
    if found["malformed"]:
        yield "\n".join(("Rows that this version cannot read:", *(f"  {key}" for key in found["malformed"])))
    yield (
        f"In the delayer queue are about {queue['delayed']:,} delayed messages and {queue['ready']:,} that are ready: "
        "what waits, and what is due within minutes."
    )


flow = functions_group(
    "flow", "Flow: what waits although it is due. To repeat a command does no harm.", "operator-flow"
)


@command(flow, "list", "delayer flow list", takes=OF_FUNCTIONS)
def list_(session: "Session") -> None:
    """List suspensions, circuits and limits, and how much is in the delayer queue."""
    found = session.operators.flow.list()
    session.output.one(found, *([] if session.as_json else _listed(session, found)))


@command(flow, "suspend", "delayer flow suspend --target api.example.com --reason 'Being repaired'", takes=OF_FUNCTIONS)
def suspend(
    session: "Session",
    about: About,
    reason: Annotated[str, typer.Option("--reason", help="The owners of what waits read it.")] = ...,  # type: ignore[assignment]
) -> None:
    """Let all that is due for an owner, a target, or both wait."""
    found = session.operators.flow.suspend(**about.given(), reason=reason)
    done = "Suspended:" if found["changed"] else "It was suspended before, with this reason:"
    session.output.one(found, *_rows(session, done, SUSPENSIONS, [found["suspension"]]))


@command(flow, "release", "delayer flow release --target api.example.com", takes=OF_FUNCTIONS)
def release(session: "Session", about: About) -> None:
    """End a suspension. What waits fires within 15 minutes."""
    found = session.operators.flow.release(**about.given())
    done = _rows(session, "Released:", SUSPENSIONS, found["released"]) or ("There is no such suspension.",)
    session.output.one(found, *done, *_rows(session, "Still suspended:", SUSPENSIONS, found["stillSuspended"]))


@command(flow, "close", "delayer flow close --target api.example.com", takes=OF_FUNCTIONS)
def close(session: "Session", about: About) -> None:
    """Close the circuits of an owner, a target, or both, before they are probed."""
    found = session.operators.flow.close(**about.given())
    session.output.one(found, *(_rows(session, "Closed:", CIRCUITS, found["closed"]) or ("There is no such circuit.",)))


@command(flow, "limit", "delayer flow limit --target api.example.com --rate 10/s", takes=OF_FUNCTIONS)
def limit(
    session: "Session",
    about: Limited,
    rate: Annotated[str, typer.Option("--rate", help="Attempts: 10/s, 30/m or 100/h; 1/h to 1000/s.")] = "",
    concurrency: Annotated[str, typer.Option("--concurrency", metavar="N", help="Attempts at a time: 1 to 1000.")] = "",
) -> None:
    """Limit how often, or how many times at once, a target, an owner's, or a connection is reached."""
    if not (rate or concurrency):
        raise NotRead("Give --rate, such as 10/s, --concurrency, or both.")
    found = session.operators.flow.limit(**about.given(), rate=rate, concurrency=concurrency)
    done = "Limited:" if found["changed"] else "It was limited so before:"
    session.output.one(found, *_rows(session, done, LIMITS, [found["limit"]]))


@command(flow, "unlimit", "delayer flow unlimit --target api.example.com", takes=OF_FUNCTIONS)
def unlimit(session: "Session", about: Limited) -> None:
    """Take a limit away. Schedules that wait because of it fire within 15 minutes."""
    found = session.operators.flow.unlimit(**about.given())
    session.output.one(found, *(_rows(session, "Removed:", LIMITS, found["removed"]) or ("There is no such limit.",)))


@command(flow, "discard", "delayer flow discard 'limit#1'", takes=OF_FUNCTIONS)
def discard(
    session: "Session",
    block: Annotated[str, typer.Argument(metavar="BLOCK", help="As `list` shows it.", show_default=False)],
    *,
    by: By,
) -> None:
    """Remove a row that this version of Delayer cannot read."""
    found = session.operators.flow.discard(block, by=by)
    done = [f"Discarded: {key}" for key in found["discarded"]]
    session.output.one(found, *(done or ("There is no such row.",)))


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(flow, rich_help_panel="For operators")
