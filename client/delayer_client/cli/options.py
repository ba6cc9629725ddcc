"""How a command is made: its own flags, the flags that all have, its examples, and what is said if it fails."""

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.refusals import reporting
from delayer_client.cli.session import Session, session_of

PANEL: Final = "Where, who and how"
PROFILE_HELP: Final = "A profile of `delayer configure`."


def profile_names(incomplete: str) -> list[str]:
    """For completion."""
    try:
        return [name for name in Session().profiles.all() if name.startswith(incomplete)]
    except ValueError:
        return []


def zone_names(incomplete: str) -> list[str]:
    """For completion."""
    from zoneinfo import available_timezones

    return sorted(name for name in available_timezones() if name.startswith(incomplete))


def _option(name: str, annotation: Any, default: Any, *names: str, **how: Any) -> inspect.Parameter:
    return inspect.Parameter(
        f"shared_{name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, typer.Option(*names, rich_help_panel=PANEL, show_default=False, **how)],
    )


def shared(url_names: tuple[str, ...] = ("--url", "--api-url")) -> list[inspect.Parameter]:
    """The flags that all commands have, before and after the command."""
    return [
        _option("json", bool, False, "--json", help="For scripts: JSON Lines in the API's own words."),
        _option("url", str, "", *url_names, metavar="URL", help="The URL of the API (DELAYER_URL)."),
        _option("profile", str, "", "--profile", metavar="NAME", help=PROFILE_HELP, autocompletion=profile_names),
        _option("owner", str, "", "--owner", metavar="NAME", help="Who calls, on one machine (DELAYER_OWNER)."),
        _option("token", str, "", "--token", metavar="JWT", help="A token; DELAYER_TOKEN is seen by fewer."),
        _option(
            "zone",
            str,
            "",
            "--zone",
            metavar="ZONE",
            help="The zone of times, as Europe/Lisbon (DELAYER_ZONE).",
            autocompletion=zone_names,
        ),
        _option("stack", str, "", "--stack", hidden=True, help="The stack's name, for operators (DELAYER_STACK)."),
        _option("aws_profile", str, "", "--aws-profile", hidden=True, help="A profile of AWS's configuration."),
        _option("aws_region", str, "", "--aws-region", hidden=True, help="Of the stack, if the URL does not say it."),
    ]


OPERATORS_PANEL: Final = "Whose AWS"


def operators_shared() -> list[inspect.Parameter]:
    """Those of an operator's commands: two more are shown."""
    kept = [one for one in shared() if one.name not in ("shared_stack", "shared_aws_profile")]
    stack = _option("stack", str, "", "--stack", metavar="NAME", help="The stack's name (DELAYER_STACK), or delayer.")
    profile = _option("aws_profile", str, "", "--aws-profile", metavar="NAME", help="A profile of AWS's configuration.")
    return [*kept, stack, profile]


CONTEXT: Final = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)


def chain(ctx: Any) -> Iterator[dict[str, Any]]:
    """The values of a command and of those above it, the nearest first."""
    while ctx is not None:
        yield ctx.params
        ctx = ctx.parent


def session_in(ctx: Any, given: dict[str, Any] | None = None) -> Session:
    """The session of a command."""
    read = ctx.find_root().meta.setdefault("delayer.tokens", {})
    return session_of(ctx.obj, [given or {}, *chain(ctx)], read)


def with_signature(run: Callable[..., Any], parameters: list[inspect.Parameter], like: Any) -> Callable[..., Any]:
    """What typer reads of a function is its signature."""
    kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters if one.name != "ctx"]
    run.__signature__ = inspect.Signature([CONTEXT, *kept])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [CONTEXT, *kept]}
    run.__name__, run.__doc__, run.__module__ = like.__name__, like.__doc__, like.__module__
    return run


def running(
    function: Callable[..., Any],
    others: list[inspect.Parameter] | None = None,
    further: list[inspect.Parameter] | None = None,
) -> Callable[..., Any]:
    """A function of a session and its own flags, as a function of all flags. `others` are the shared ones."""
    others = shared() if others is None else others
    own = [one for one in inspect.signature(function).parameters.values() if one.name not in LEFT_OUT]
    takes_context = "ctx" in inspect.signature(function).parameters

    def run(ctx: typer.Context, **given: Any) -> None:
        session = session_in(ctx, {one.name: given.pop(one.name) for one in others})
        with reporting(session):
            _check(given)
            function(session, **({"ctx": ctx} if takes_context else {}), **given)

    return with_signature(run, [*own, *(further or []), *others], function)


def _check(given: dict[str, Any]) -> None:
    """Raises NotRead for an argument whose bytes are no text: it could not be sent."""
    for value in given.values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise NotRead(f"{text!a} is no text in UTF-8.")


LEFT_OUT: Final = frozenset({"session", "ctx", "more"})


def examples(lines: tuple[str, ...]) -> str:
    """What stands under the help of a command."""
    plain = (line.replace("[", r"\[") for line in lines)
    return "[bold]For example[/bold]\n\n" + "\n\n".join(f"  {line}" for line in plain)


def command(
    app: typer.Typer, name: str, *lines: str, panel: str | None = None, for_operators: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a function as a command; `lines` are its examples."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        others = operators_shared() if for_operators else shared()
        how: dict[str, Any] = {"epilog": examples(lines)} | ({"rich_help_panel": panel} if panel else {})
        app.command(name, **how)(running(function, others))
        return function

    return add


FIRST: Final = ("schedule", "create", "get", "list", "watch", "cancel", "move", "replace", "stop", "series")


class InOrder(TyperGroup):
    """Lists what is used most first."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer's
        """Those in FIRST, then the others as they were added."""
        return sorted(self.commands, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def group(name: str, text: str, **how: Any) -> typer.Typer:
    """A group of commands."""
    made = typer.Typer(name=name, cls=InOrder, help=text, no_args_is_help=True, rich_markup_mode="rich", **how)

    def callback(ctx: typer.Context, **given: Any) -> None:
        """Its flags are read by the command."""

    callback.__doc__ = text
    made.callback()(with_signature(callback, shared(), callback))
    return made
