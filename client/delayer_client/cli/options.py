"""How a command is made: its own flags, the flags that all have, its examples, and what is said if it fails."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import attrs
import typer
from typer.core import TyperCommand, TyperGroup

from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.refusals import reporting
from delayer_client.cli.session import Session, session_of
from delayer_client.cli.shared import OF_API, OF_FUNCTIONS, shared, untaken

CONTEXT: Final = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)


def chain(ctx: Any) -> Iterator[Any]:
    """The contexts of a command and of those above it, the nearest first."""
    while ctx is not None:
        yield ctx
        ctx = ctx.parent


def typed(ctx: Any) -> list[tuple[Any, Any]]:
    """The parameters that somebody typed, with their values: of a command, and of those above it."""
    return [
        (one, level.params.get(one.name))
        for level in chain(ctx)
        for one in level.command.params
        if getattr(level.get_parameter_source(one.name), "name", "") == "COMMANDLINE"
    ]


def session_in(ctx: Any, given: dict[str, Any] | None = None) -> Session:
    """The session of a command."""
    read = ctx.find_root().meta.setdefault("delayer.tokens", {})
    return session_of(ctx.obj, [given or {}, *(one.params for one in chain(ctx))], read)


def with_signature(run: Callable[..., Any], parameters: list[inspect.Parameter], like: Any) -> Callable[..., Any]:
    """Gives a function another signature, which is all that typer reads of it."""
    kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters if one.name != "ctx"]
    run.__signature__ = inspect.Signature([CONTEXT, *kept])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [CONTEXT, *kept]}
    run.__name__, run.__module__ = like.__name__, like.__module__
    # A terminal has lines of its own; a paragraph stays one.
    run.__doc__ = "\n\n".join(" ".join(part.split()) for part in (like.__doc__ or "").split("\n\n"))
    return run


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Its own flags. A parameter that is a class of options stands for each of its fields."""
    own = [one for one in inspect.signature(function).parameters.values() if one.name not in LEFT_OUT]
    return [each for one in own for each in (_fields(one.annotation) if attrs.has(one.annotation) else [one])]


def _fields(kind: Any) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is attrs.NOTHING else one.default,
            annotation=one.type,
        )
        for one in attrs.fields(kind)
    ]


def arguments(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Returns what it takes, by its own parameters: classes of options are made of their fields."""
    kinds = {one.name: one.annotation for one in inspect.signature(function).parameters.values()}
    kinds = {name: kind for name, kind in kinds.items() if name not in LEFT_OUT and attrs.has(kind)}
    of_kinds = {one.name for kind in kinds.values() for one in attrs.fields(kind)}
    return {name: value for name, value in given.items() if name not in of_kinds} | {
        name: kind(**{one.name: given[one.name] for one in attrs.fields(kind)}) for name, kind in kinds.items()
    }


def running(
    function: Callable[..., Any],
    takes: tuple[str, ...] = OF_API,
    further: list[inspect.Parameter] | None = None,
    others: list[inspect.Parameter] | None = None,
) -> Callable[..., Any]:
    """A function of a session and its own flags, as a function of all flags.

    `takes` names the shared ones that it takes; `others` are these, if they are not written as ever. The value of
    one in `further` is sent as it was typed, though it is empty.
    """
    own = parameters_of(function)
    taken = {name for one in own for name in _names(one)} - {...}
    others = [one for one in others or shared(takes) if taken.isdisjoint(_names(one))]
    takes_context = "ctx" in inspect.signature(function).parameters

    def run(ctx: typer.Context, **given: Any) -> None:
        session = session_in(ctx, {one.name: given.pop(one.name) for one in others})
        with reporting(session):
            said = typed(ctx)
            for flag in untaken(takes, {one.name for one, _ in said}):
                raise NotRead(_refusal(ctx, flag, flag in taken))
            _check(said, {one.name for one in further or ()})
            given |= _said_to_group(ctx, given)
            function(session, **({"ctx": ctx} if takes_context else {}), **arguments(function, given))

    return with_signature(run, [*own, *(further or []), *others], function)


def _refusal(ctx: Any, flag: str, is_own: bool) -> str:
    """Each flag that was typed counts, or nothing is done: without --owner a command may be about everybody."""
    if is_own:  # of --owner alone
        behind = f"`{ctx.command_path} {flag} NAME`"
        return f"`{flag}` before `{ctx.info_name}` means who calls. Whose it is about stands behind: {behind}."
    return f"`{ctx.command_path}` does not take {flag}: leave it out."


def _said_to_group(ctx: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Its part that counts here: what the command itself was told stays. Raises NotRead for what it does not take."""
    said: dict[str, Any] = ctx.meta.get(SAID, {})
    for name in said.keys() - given.keys():
        raise NotRead(f"`{ctx.command_path}` does not take --{name}: leave it out.")
    return {name: one for name, one in said.items() if _is_unsaid(given[name])}


def _is_unsaid(value: Any) -> bool:
    return value is None or value is False


def _names(parameter: inspect.Parameter) -> Iterator[Any]:
    """How it is written: `--group`, `-g`. What a command has of its own is not the flag that all have."""
    for how in getattr(parameter.annotation, "__metadata__", ()):
        yield from (getattr(how, "default", ...), *(getattr(how, "param_decls", None) or ()))  # typer keeps them so


def _check(said: list[tuple[Any, Any]], may_be_empty: set[str]) -> None:
    """Raises NotRead for what was typed and is no text: it could not be sent. And for an empty one.

    A variable of a shell may be empty, and what is done without a flag is often done for all.
    """
    for one, value in said:
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise NotRead(f"{text!a} is no text in UTF-8.")
            if text == "" and one.name not in may_be_empty:
                name = f"`{one.opts[0]}`" if one.param_type_name == "option" else one.metavar.rstrip("…")
                raise NotRead(f"{name} is empty: give it a value{'' if one.required else ', or leave it out'}.")


LEFT_OUT: Final = frozenset({"session", "ctx"})
SAID: Final = "delayer.said"  # in click's context: what was said to a group for its commands


def examples(lines: tuple[str, ...]) -> str:
    """Writes the examples that stand under the help of a command."""
    plain = (line.replace("[", r"\[") for line in lines)
    return "[bold]For example[/bold]\n\n" + "\n\n".join(f"  {line}" for line in plain)


def command(
    app: typer.Typer,
    name: str,
    *lines: str,
    panel: str | None = None,
    takes: tuple[str, ...] = OF_API,
    cls: type[TyperCommand] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a function as a command; `lines` are its examples, `takes` the shared flags that it takes."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        how: dict[str, Any] = {"epilog": examples(lines)} | ({"rich_help_panel": panel} if panel else {})
        app.command(name, cls=cls, **how)(running(function, takes))
        return function

    return add


FIRST: Final = ("schedule", "create", "get", "list", "watch", "cancel", "move", "replace", "stop", "series")


class InOrder(TyperGroup):
    """Lists what is used most first."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer's
        """Lists the commands in FIRST, then the others as they were added."""
        return sorted(self.commands, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def group(
    name: str, text: str, further: Sequence[inspect.Parameter] = (), takes: tuple[str, ...] = OF_API, **how: Any
) -> typer.Typer:
    """A group of commands. What is said to it in `further` is meant for each of them that has the same flag."""
    made = typer.Typer(name=name, cls=InOrder, help=text, no_args_is_help=True, rich_markup_mode="rich", **how)

    def callback(ctx: typer.Context, **given: Any) -> None:
        """Its shared flags are read by the command."""
        said = {one.name: given[one.name] for one in further}
        ctx.meta[SAID] = {name: value for name, value in said.items() if not _is_unsaid(value)}

    callback.__doc__ = text
    made.callback()(with_signature(callback, [*further, *shared(takes)], callback))
    return made


def functions_group(name: str, text: str, function: str, further: Sequence[inspect.Parameter] = ()) -> typer.Typer:
    """A group of commands that call one function of the stack."""
    needs = (
        f"It needs the permission lambda:InvokeFunction on STACK-{function}; with --data it is about an engine on this "
        "machine, and needs none."
    )
    return group(name, f"{text} For operators.\n\n{needs}", further, OF_FUNCTIONS)
