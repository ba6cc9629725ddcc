"""Connections: the secrets that actions name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command, group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.prefixes import by_prefix
from delayer_client.cli.reading.values import text_of
from delayer_client.cli.refusals import Failed
from delayer_client.cli.shared import Yes
from delayer_client.cli.showing.table import Column, details, table
from delayer_client.cli.showing.texts import strong
from delayer_client.cli.showing.words import number

if TYPE_CHECKING:
    from delayer_client import Connection
    from delayer_client.cli.session import Session

# By type: the flags it needs, the field of the secret.
TYPES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "api-key": (("header_name",), "value"),
    "basic": (("username",), "password"),
    "bearer": ((), "token"),
    "oauth2-client-credentials": (("token_url", "client_id"), "client_secret"),
}


def types(incomplete: str) -> list[str]:
    """For completion."""
    return [one for one in TYPES if one.startswith(incomplete)]


def _names(ctx: typer.Context, incomplete: str) -> list[str]:
    from delayer_client.cli.fields.types import connection_names

    return connection_names(ctx, incomplete)


Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name.", show_default=False, autocompletion=_names)]


def connection_of(kind: str, given: dict[str, str | None], secret: str, hosts: Sequence[str] = ()) -> Any:
    """Builds the connection that the library takes. Raises NotRead."""
    import delayer_client

    classes = {
        "api-key": delayer_client.ApiKeyConnection,
        "basic": delayer_client.BasicConnection,
        "bearer": delayer_client.BearerConnection,
        "oauth2-client-credentials": delayer_client.OAuth2Connection,
    }
    needed, field = TYPES[kind]
    missing = [name for name in needed if not given.get(name)]
    if missing:
        raise NotRead(f"{kind} needs {', '.join('--' + name.replace('_', '-') for name in missing)}.")
    optional = ("scope", "audience", "client_authentication") if kind.startswith("oauth2") else ()
    extra = [name for name, value in given.items() if value and name not in (*needed, *optional)]
    if extra:
        raise NotRead(f"{kind} has no --{extra[0].replace('_', '-')}.")
    fields: dict[str, Any] = {name: value for name, value in given.items() if value}
    return classes[kind](**fields, **{field: secret}, **({"hosts": list(hosts)} if hosts else {}))


def _secret(session: "Session", given: str | None) -> str:
    if given is not None:
        return text_of(given, "--secret").rstrip("\r\n")
    if not session.surroundings.is_terminal():
        raise NotRead("Give the secret with --secret @file, or --secret - on standard input.")
    return str(typer.prompt("The secret", hide_input=True, err=True))


def whole(session: "Session", one: "Connection") -> Any:
    """All but its secrets."""
    use = one.in_use
    rows = [
        ("Connection", one.name + (" (being deleted)" if one.closing else "")),
        ("Type", one.type),
        ("Hosts", ", ".join(one.hosts or ["any"])),
        ("Header", one.header_name or ""),
        ("User name", one.username or ""),
        ("Token URL", one.token_url or ""),
        ("Client id", one.client_id or ""),
        ("Scope", one.scope or ""),
        ("Audience", one.audience or ""),
        ("Changed", session.both(one.changed_at)),
        ("Used by", f"{number(use.schedules, 'schedule')}, {number(use.series, 'series', 'series')}" if use else ""),
    ]
    return details(rows)


connections = group("connections", "Connections: the secrets that actions name.")


@command(connections, "list", "delayer connections list")
def list_(session: "Session") -> None:
    """List connections."""
    found = list(session.delayer.connections.list())
    columns = [
        Column(title="NAME", cells=[one.name for one in found], rank=0),
        Column(title="TYPE", cells=[one.type for one in found], rank=0),
        Column(title="CHANGED", cells=[session.words(one.changed_at) for one in found], rank=1),
    ]
    if session.as_json:
        session.output.objects(found)
    elif found:
        session.output.show(table(session.console, columns))
    else:
        session.output.note("There are none. Make one with: delayer connections put NAME --type bearer")


@command(connections, "get", "delayer connections get crm")
def get(session: "Session", name: Name) -> None:
    """Show one connection, without its secret."""
    found = session.delayer.connections.get(name)
    session.output.one(found, *([] if session.as_json else [whole(session, found)]))


@command(
    connections,
    "put",
    "delayer connections put crm --type bearer --host api.example.com --secret @token.txt",
    "delayer connections put crm --type oauth2 --token-url https://id.example.com/token --client-id me --secret -",
)
def put(
    session: "Session",
    name: Name,
    kind: Annotated[str, typer.Option("--type", help=", ".join(TYPES) + ".", autocompletion=types)],
    secret: Annotated[
        str | None, typer.Option("--secret", help="The token, password, key: @file, -, or it is asked for.")
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option("--host", help="A host that it is for, such as *.example.com; repeat it for more. Else any."),
    ] = None,
    header_name: Annotated[str | None, typer.Option("--header-name", help="Of api-key.")] = None,
    username: Annotated[str | None, typer.Option("--username", help="Of basic.")] = None,
    token_url: Annotated[str | None, typer.Option("--token-url", help="Of oauth2-client-credentials.")] = None,
    client_id: Annotated[str | None, typer.Option("--client-id", help="Of oauth2-client-credentials.")] = None,
    scope: Annotated[str | None, typer.Option("--scope", help="Of oauth2-client-credentials.")] = None,
    audience: Annotated[str | None, typer.Option("--audience", help="Of oauth2-client-credentials.")] = None,
    client_authentication: Annotated[
        str | None, typer.Option("--client-authentication", help="basic or body, of oauth2-client-credentials.")
    ] = None,
) -> None:
    """Create a connection, or give it other values."""
    try:
        found = by_prefix(kind, TYPES)
    except LookupError as error:
        raise NotRead(f"--type {kind!r} may be any of: {error}.") from error
    if found is None:
        raise NotRead(f"--type {kind!r}: it is one of {', '.join(TYPES)}.")
    given = {
        "header_name": header_name,
        "username": username,
        "token_url": token_url,
        "client_id": client_id,
        "scope": scope,
        "audience": audience,
        "client_authentication": client_authentication,
    }
    new = connection_of(found, given, _secret(session, secret), hosts or ())
    made = session.delayer.connections.put(name, new)
    session.output.one(made, *([] if session.as_json else [whole(session, made)]))


@command(connections, "delete", "delayer connections delete crm")
def delete(
    session: "Session",
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Though live schedules name it: those will fail.")] = False,
    yes: Yes = False,
) -> None:
    """Delete a connection that no live schedule names."""
    if force:
        use = session.delayer.connections.get(name).in_use
        count = number(use.schedules + use.series if use else 0, "live schedule")
        session.agreed(f"Delete {name}, which {count} will miss?", yes)
    session.delayer.connections.delete(name, force=force)
    session.output.show(strong("Deleted:", f" {name}", "green"))


@command(connections, "test", "delayer connections test crm https://crm.example.com/me")
def test(
    session: "Session",
    name: Name,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A URL that is asked for.", show_default=False)],
) -> None:
    """Send one GET with what the connection sets."""
    found = session.delayer.connections.test(name, target)
    session.output.one(found, f"{found.url}: {found.detail}")
    if not found.succeeded:
        raise Failed("The target did not answer 2xx.", Exit.NO)


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(connections, rich_help_panel="Yours")
