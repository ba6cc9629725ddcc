"""`delayer serve` and what belongs to it: the durable scheduler of one machine, its tokens and its keys."""

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from attrs import evolve, frozen

from delayer_client.cli.exits import Exit
from delayer_client.cli.extras import needing
from delayer_client.cli.options import command
from delayer_client.cli.profiles import VARIABLES
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.refusals import Failed
from delayer_client.scaffold.new_action import INTO, NameRules, NotMade, new_action

if TYPE_CHECKING:
    from delayer.serve.door.incoming import Application
    from delayer.serve.service import Options
    from delayer_client.cli.session import Session

PANEL: Final = "One machine"
OTHERS: Final = "Who calls from elsewhere"
DATA: Final = "delayer-data"
CONSOLE: Final = ("starlette", "jinja2", "python_multipart")  # packages of the extra `console`
PREFIX: Final = "DELAYER_"
KNOWN: Final = frozenset({*VARIABLES.values(), "DELAYER_CONFIG", "DELAYER_TRACEBACK", "DELAYER_SECRETS_KEY"})


class Scope(StrEnum):
    """Of a token."""

    READ = "read"
    WRITE = "write"
    OPERATOR = "operator"


@frozen(kw_only=True)
class Address:
    """Where it listens, and who may call then."""

    host: Annotated[
        str, typer.Option("--host", metavar="IP", help="Any other address needs --tokens, and TLS or --behind-proxy.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535, help="0: a free one.")] = 8080
    tokens: Annotated[
        str,
        typer.Option(
            "--tokens", metavar="FILE", help="Who may call, as `delayer token` writes it.", rich_help_panel=OTHERS
        ),
    ] = ""
    tls_cert: Annotated[
        str, typer.Option("--tls-cert", metavar="FILE", help="PEM, with its chain.", rich_help_panel=OTHERS)
    ] = ""
    tls_key: Annotated[
        str, typer.Option("--tls-key", metavar="FILE", help="PEM, without a password.", rich_help_panel=OTHERS)
    ] = ""
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="A proxy in front ends TLS, and says who calls.", rich_help_panel=OTHERS),
    ] = False
    private_targets: Annotated[
        str,
        typer.Option(
            "--private-targets",
            metavar="CIDR,…",
            help="Networks of private targets. Without it: all on 127.0.0.1, none elsewhere.",
            rich_help_panel=OTHERS,
        ),
    ] = ""


@frozen(kw_only=True)
class Work:
    """Says what it does."""

    attempts: Annotated[int, typer.Option("--attempts", metavar="N", min=1, max=1_000, help="At a time.")] = 64
    journal_days: Annotated[
        int, typer.Option("--journal-days", metavar="N", min=1, max=3_650, help="So long a history is kept.")
    ] = 90
    actions: Annotated[
        list[str] | None,
        typer.Option("--actions", metavar="DIR", help="A folder of actions of your own; several times."),
    ] = None
    events: Annotated[
        str, typer.Option("--events", metavar="URL", help="Where signed events are POSTed.", show_default=False)
    ] = ""


def said(text: str) -> None:
    """Prints it. If nobody reads any more, the engine goes on."""
    with suppress(OSError):
        print(text, flush=True)


def unknown(environment: Mapping[str, str]) -> list[str]:
    """Variables that look like settings, and are none."""
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in KNOWN)


def options(data: str, address: Address, work: Work) -> "Options":
    """As the engine takes them. Raises NotRead, Missing."""
    with needing("serve"):
        from delayer.serve.door.address import Listening
        from delayer.serve.service import Options

    folders = tuple(map(Path, work.actions or ()))
    if missing := [str(one) for one in folders if not one.is_dir()]:
        raise NotRead(f"--actions: there is no folder {missing[0]}.")
    if work.events and not work.events.startswith(("http://", "https://")):
        raise NotRead(f"--events: give a URL such as https://example.com/events; this is {work.events!r}.")
    return Options(
        data=Path(data),
        listening=Listening(
            host=address.host,
            port=address.port,
            tokens=_file(address.tokens),
            certificate=_file(address.tls_cert),
            key=_file(address.tls_key),
            behind_proxy=address.behind_proxy,
            private_targets=address.private_targets,
        ),
        attempts=work.attempts,
        journal_days=work.journal_days,
        actions=folders,
        events=work.events,
        beside=beside(address, Path(data)),
        say=said,
    )


def beside(address: Address, data: Path) -> dict[str, "Application"]:
    """The console. It calls the API of its own port, so it needs one that is known, and has neither TLS nor a token."""
    if address.tls_cert or not address.port or not all(map(find_spec, CONSOLE)):
        return {}
    from delayer.serve.door.when_asked import MadeWhenAsked

    name = "[::1]" if ":" in address.host else "localhost"
    return {"/console": MadeWhenAsked(lambda: _console(f"http://{name}:{address.port}", data))}


def _console(url: str, data: Path) -> "Application":
    from delayer_client.console import application, place_of
    from delayer_client.operator import OperatorEngine
    from delayer_client.transport.credentials import Nothing

    engine = OperatorEngine(data)
    return application(evolve(place_of(url, credentials=Nothing()), operator=lambda: engine))


def _file(text: str) -> Path | None:
    return Path(text) if text else None


@contextmanager
def refusing() -> Iterator[None]:
    """Turns a refusal of the engine into its sentence and its exit status. A defect is told whole, for its log."""
    from delayer.serve.refusal import Refusal

    try:
        yield
    except Refusal as refusal:
        raise Failed(str(refusal), Exit(refusal.status)) from refusal
    except Exception as error:
        traceback.print_exc()
        raise Failed(f"The engine has ended by a defect of its own: {error!r}. Start it again.", Exit.NO) from error


def serve_(session: "Session", address: Address, work: Work) -> None:
    """Serve Delayer on this machine: the whole scheduler in one process, its data in one folder.

    The folder is delayer-data in this one, unless --data names another.

    It listens on 127.0.0.1 for programs of this machine, and nothing it has accepted is lost by a crash. Ctrl-C or
    SIGTERM ends it: attempts under way are waited for, 30 seconds at most; what is cut off is attempted again when it
    starts. A second Ctrl-C waits for nothing.

    The exit status is 0 after that, 2 for wrong use, and 1 for what may pass by itself: a port in use, another engine
    on the folder, a disk that fails. A service manager starts it again after 1.
    """
    chosen = options(session.settings.data or DATA, address, work)
    with needing("serve"):
        from delayer.serve.service import serve
    for name in unknown(os.environ):
        session.output.note(f"{name} is no setting of `delayer serve`: its settings are its flags.")
    with refusing():
        serve(chosen)


def token_(
    session: "Session",
    owner: Annotated[str, typer.Argument(metavar="OWNER", help="Whose schedules it is for.", show_default=False)],
    file: Annotated[str, typer.Option("--file", metavar="FILE", help="That `delayer serve --tokens` reads.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option("--scope", help="Several times; otherwise read and write.", show_default=False),
    ] = None,
) -> None:
    """Make a token for callers of an engine, and print it this once: the file has its hash alone.

    An engine reads the file when it starts.
    """
    with needing("serve"):
        from delayer.serve.door.tokens import new_token

    scopes = [one.value for one in scope or (Scope.READ, Scope.WRITE)]
    with refusing():
        made = new_token(Path(file), owner, scopes)
    session.output.one({"token": made, "owner": owner, "scopes": scopes}, made)
    if not session.as_json:
        may = ", ".join(scopes)
        session.output.note(f"Keep it: it is shown only now. Its owner is {owner}, its scopes are: {may}.")


def new_action_(
    session: "Session",
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The type of the action, such as slack-post.", show_default=False)
    ],
    into: Annotated[str, typer.Option("--into", metavar="DIR", help="The folder around it.")] = INTO,
) -> None:
    """Make an action of your own for an engine: a folder with a function, a test and a page about it.

    It works already: it accepts schedules, and is done with each when it is due.
    """
    with needing("serve"):
        from delayer.actions.rules.foreign import LONGEST_TYPE, TYPE, built_in

    rules = NameRules(pattern=TYPE, longest=LONGEST_TYPE, taken=built_in())
    try:
        files = new_action(name, Path(into), rules)
    except NotMade as error:
        raise Failed(str(error), Exit.USAGE) from error
    session.output.one({"files": list(map(str, files))}, "\n".join(f"Wrote {one}." for one in files))
    if not session.as_json:
        session.output.note(f"Run it: delayer serve --actions {into}. Test it: pytest {files[0].parent}")


def renew_keys_(session: "Session") -> None:
    """Make a new key for the secrets of an engine, and encrypt them anew with it. The engine must be stopped.

    The new key is added to the file secrets.key in the data folder. If the keys are in DELAYER_SECRETS_KEY, add a new
    one there first, behind the others: then the secrets are encrypted with that. Former keys stay where they are, for
    backups; afterwards the engine does not need them.
    """
    with needing("serve"):
        from delayer.serve.data.renewal import renew_keys

    with refusing():
        done = renew_keys(Path(session.settings.data or DATA))
    values = "the value of 1 connection" if done.values == 1 else f"the values of {done.values:,} connections"
    shown = {"key": done.key, "values": done.values, "former": list(done.former)}
    session.output.one(shown, f"Key {done.key} encrypts the signing keys and {values} from now on.")
    if done.former and not session.as_json:
        session.output.note(f"The engine does not need these any more: {', '.join(done.former)}.")


def add(app: typer.Typer) -> None:
    """Adds them."""
    command(
        app,
        "serve",
        "delayer serve",
        "delayer serve --data /var/lib/delayer --port 9000 --attempts 200",
        "delayer serve --host 0.0.0.0 --tokens tokens.txt --behind-proxy --private-targets 10.0.0.0/8",
        panel=PANEL,
        takes=("data",),
    )(serve_)
    command(
        app,
        "token",
        "delayer token team-blue --file tokens.txt",
        "delayer token reports --file tokens.txt --scope read",
        panel=PANEL,
        takes=("json",),
    )(token_)
    command(
        app,
        "new-action",
        "delayer new-action slack-post",
        "delayer new-action slack-post --into /srv/delayer/actions",
        panel=PANEL,
        takes=("json",),
    )(new_action_)
    command(
        app,
        "renew-keys",
        "delayer renew-keys",
        "delayer renew-keys --data /var/lib/delayer",
        panel=PANEL,
        takes=("data", "json"),
    )(renew_keys_)


ALL: Final = (add,)
