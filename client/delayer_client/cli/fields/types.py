"""Commands whose subcommands are the stack's types of action: `delayer schedule http …`."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from delayer_client.cli.exits import Exit
from delayer_client.cli.fields.schema import Field, Kind, fields
from delayer_client.cli.options import CONTEXT, arguments, examples, parameters_of, running, session_in
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.prefixes import by_prefix
from delayer_client.cli.refusals import Failed, reporting
from delayer_client.cli.session import Session
from delayer_client.cli.shared import SHARED, shared
from delayer_client.cli.showing.texts import clean

if TYPE_CHECKING:
    from delayer_client.api.models import ActionType

PANEL: Final = "What is done"
# Flags before which a value of the caller's own decides whose types are asked for.
PEEKED: Final = (
    "api-url",
    *(one.flag.removeprefix("--") for name, one in SHARED.items() if one.metavar and name != "url"),
)

SESSION: Final = inspect.Parameter("session", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Session)

Making = Callable[..., None]  # of a session, an action and the flags of the command


def actions(session: Session) -> "dict[str, ActionType]":
    """By their names."""
    return {one.type: one for one in session.delayer.actions()}


class ByType(TyperGroup):
    """A group whose commands are made from `GET /actions` when they are asked for."""

    making: Making  # set by `by_type`
    lines: tuple[str, ...]

    def _session(self, ctx: Any, args: Sequence[str] = ()) -> Session:
        given = {f"shared_{name.replace('-', '_')}": value for name, value in _peek(args).items()}
        if url := given.pop("shared_api_url", ""):
            given["shared_url"] = url
        session = session_in(ctx, given)
        session.as_json = session.as_json or "--json" in args
        return session

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer's, with a hint for flags that come too early."""
        try:
            parsed: list[str] = super().parse_args(ctx, args)
        except typer.TyperException as error:
            if option := getattr(error, "option_name", ""):
                ctx.fail(f"{option} comes after the type of action: {ctx.command_path} … TYPE … {option} …")
            raise
        return parsed

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer's, with the name that an alias stands for."""
        if ctx.resilient_parsing:
            return self._for_completion(ctx, args)
        session = self._session(ctx, args)
        with reporting(session):
            self.check(ctx.params)
            known = actions(session)
            name = named(args[0], known)
            return name, self._made(known[name]), args[1:]

    def check(self, params: Mapping[str, Any]) -> None:
        """Checks the text before the type. Raises NotRead."""

    def _for_completion(self, ctx: Any, args: list[str]) -> Any:
        found = self.get_command(ctx, args[0])
        return (args[0] if found else None), found, args[1:]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """None if there is none, or if the stack does not say."""
        known = self._known(ctx)
        try:
            return self._made(known[named(cmd_name, known)]) if known else None
        except Failed:
            return None

    def list_commands(self, ctx: Any) -> list[str]:
        """The types of the stack; none, if it does not answer."""
        return list(self._known(ctx))

    def _known(self, ctx: Any) -> "dict[str, ActionType]":
        session = self._session(ctx)
        try:
            return actions(session)
        except Exception:  # noqa: BLE001 - help and completion are shown as far as they are known
            return {}
        finally:
            session.close()

    def _made(self, action: "ActionType") -> Any:
        return made(action, type(self).making, type(self).lines)


def _peek(args: Sequence[str]) -> dict[str, str]:
    """Values of shared flags that come after the type."""
    found = {}
    for at, arg in enumerate(args):
        name, equals, value = arg.removeprefix("--").partition("=")
        if arg.startswith("--") and name in PEEKED:
            found[name] = value if equals else next(iter(args[at + 1 : at + 2]), "")
    return found


def named(word: str, known: "dict[str, ActionType]") -> str:
    """The type that a word stands for. Raises Failed."""
    try:
        name = by_prefix(word, known)
    except LookupError as error:
        raise Failed(f"{word!r} may be any of: {error}.", Exit.USAGE) from error
    if name is None:
        raise Failed(f"This stack has no type of action {word!r}. It has: {', '.join(known)}.", Exit.USAGE)
    return name


def made(action: "ActionType", making: Making, lines: tuple[str, ...]) -> Any:
    """The command of one type."""
    others = shared(url_names=("--api-url",))
    own = _own(making)
    found = fields(action.schema, frozenset(_flags([*own, *others])))
    first = next((one for one in found if one.is_required and one.kind is Kind.TEXT), None)
    parameters = [*([_positional(first)] if first else []), *(_parameter(one) for one in found)]

    takes_context = "ctx" in inspect.signature(making).parameters

    def run(session: Session, ctx: Any, **given: Any) -> None:
        values = {one: given.pop(one.parameter) for one in found}
        at_first = given.pop("first", None)
        if first and at_first is not None:
            if values[first] is not None:
                hint = " The URL of the API is --api-url here." if first.flags[0] == "--url" else ""
                raise NotRead(f"{first.flags[0]} is given twice: once without the flag.{hint}")
            values[first] = at_first
        context = {"ctx": ctx} if takes_context else {}
        making(session, action_of(action.type, values), **context, **arguments(making, given))

    run.__doc__ = _text(action)
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    function = running(_like(run, own, action), further=parameters, others=others)
    kept = tuple(line for line in lines if _is_of(line, action.type)) or (_example(making, action.type, found),)
    app.command(action.type, epilog=examples(kept))(function)
    return typer.main.get_command(app)


def _own(making: Making) -> list[inspect.Parameter]:
    return [one for one in parameters_of(making) if one.name != "action"]


def _like(run: Callable[..., None], own: list[inspect.Parameter], action: "ActionType") -> Callable[..., None]:
    """With the flags of the command in its signature, for `running`."""
    kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    run.__signature__ = inspect.Signature([SESSION, CONTEXT, *kept])  # type: ignore[attr-defined]
    run.__name__ = action.type.replace("-", "_")
    return run


def _text(action: "ActionType") -> str:
    said = clean(str(action.schema.get("description", ""))).strip().replace("[", r"\[")
    brought = "" if action.stack == "delayer" else f" The stack {action.stack} brings it."
    return f"{said or action.type}{brought}\n\nThe payload may have {action.largest_payload:,} bytes."


def _flags(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """As they are written."""
    found = []
    for one in parameters:
        for info in getattr(one.annotation, "__metadata__", ()):
            names = [getattr(info, "default", None), *(getattr(info, "param_decls", None) or ())]
            found += [part for name in names if isinstance(name, str) for part in name.split("/")]
    return found


def _positional(field: Field) -> inspect.Parameter:
    metavar = field.flags[0].removeprefix("--").upper().replace("-", "_")
    info = typer.Argument(metavar=metavar, help=f"The same as {field.flags[0]}.", show_default=False)
    return inspect.Parameter(
        "first", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, info]
    )


_ANNOTATIONS: Final[dict[Kind, Any]] = {
    Kind.SWITCH: bool,
    Kind.TEXTS: list[str] | None,
    Kind.PAIRS: list[str] | None,
}
_METAVARS: Final = {Kind.WHOLE: "N", Kind.NUMBER: "NUMBER", Kind.PAIRS: "'NAME: VALUE'", Kind.JSON: "JSON"}


def _parameter(field: Field) -> inspect.Parameter:
    how: dict[str, Any] = {"metavar": _METAVARS.get(field.kind, "TEXT")} if field.kind is not Kind.SWITCH else {}
    if field.choices:
        how["autocompletion"] = lambda incomplete: [one for one in field.choices if one.startswith(incomplete)]
    if field.name == "connection":
        how["autocompletion"] = connection_names
    text = clean(field.help).replace("[", r"\[")
    info = typer.Option(*field.flags, help=text, rich_help_panel=PANEL, show_default=False, **how)
    annotation = Annotated[_ANNOTATIONS.get(field.kind, str | None), info]  # type: ignore[valid-type]
    default = False if field.kind is Kind.SWITCH else None
    return inspect.Parameter(field.parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def connection_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """For completion."""
    session = session_in(ctx)
    try:
        return [one.name for one in session.delayer.connections.list() if one.name.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - there is nothing to propose
        return []
    finally:
        session.close()


def action_of(kind: str, values: dict[Field, Any]) -> Any:
    """The action. Raises NotRead if a required field is missing."""
    from delayer_client import Action

    given = {one.name: one.read(value) for one, value in values.items() if value not in (None, [], False)}
    missing = [one for one in values if one.is_required and one.name not in given]
    if missing:
        names = ", ".join(one.flags[0] for one in missing)
        raise NotRead(f"{kind} needs {names}. `--help` after the type says what they are.")
    return Action(kind, **given)


def _is_of(line: str, kind: str) -> bool:
    return any(by == kind or (len(by) > 2 and kind.startswith(by)) for by in line.split())


def _example(making: Making, kind: str, found: Sequence[Field]) -> str:
    required = " ".join(f"{one.flags[0]} …" for one in found if one.is_required)
    return f"delayer {making.__name__.replace('_', ' ')} {kind} {required}".rstrip()
