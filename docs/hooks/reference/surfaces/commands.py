"""Every command of `delayer`, as its own help has it."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import typer.main

from delayer_client.api.models import ActionType
from delayer_client.cli.app import app
from delayer_client.cli.fields.types import ByType, made
from delayer_client.cli.shared import PANEL
from docs.hooks.reference.text import cell, plain, table

HEADING = "[bold]For example[/bold]"


@cache
def panels() -> dict[str, dict[str, Any]]:
    """All commands that do something, by what is typed, in the groups of the help."""
    root: Any = typer.main.get_command(app)
    found: dict[str, dict[str, Any]] = {}
    for name in root.list_commands(None):
        command = root.commands[name]
        found.setdefault(command.rich_help_panel, {}).update(_below(command, f"{root.name} {name}"))
    return found


def commands_by_path() -> dict[str, Any]:
    """In the order of the help."""
    return {path: command for inside in panels().values() for path, command in inside.items()}


def _below(command: Any, path: str) -> list[tuple[str, Any]]:
    inside = {} if isinstance(command, ByType) else getattr(command, "commands", {})
    if not inside:
        return [(path, command)]
    return [found for name in command.list_commands(None) for found in _below(inside[name], f"{path} {name}")]


def commands() -> str:
    """A section for each, in the groups of the help."""
    parts = [
        f"## {title}\n\n" + "\n".join(section(path, command) for path, command in inside.items())
        for title, inside in panels().items()
    ]
    return "\n".join(parts)


def command_table() -> str:
    """All of them with what they do, for the page that introduces them."""
    return "\n".join(
        f"**{title}**\n\n" + table(("command", "what it does"), [brief(path, one) for path, one in inside.items()])
        for title, inside in panels().items()
    )


def brief(path: str, command: Any) -> tuple[str, str]:
    """The first paragraph of its help."""
    link = f"[`{path.removeprefix('delayer ')}`](docs:reference/commands.md#{path.replace(' ', '-')})"
    return link, cell(paragraphs(command.help).partition("\n\n")[0])


def section(path: str, command: Any) -> str:
    """What it does, how it is called, its flags, an example."""
    own = [one for one in parameters(command) if not is_shared(one)]
    arguments = [one for one in own if one.param_type_name == "argument"]
    flags = [one for one in own if one.param_type_name == "option" and not one.hidden]
    usage = " ".join([path, *map(placeholder, arguments), *(["TYPE [FIELDS]…"] if isinstance(command, ByType) else [])])
    rows = [*((f"`{one.metavar}`", said(one)) for one in arguments), *((names(one), said(one)) for one in flags)]
    parts = [
        f"### `{path}`",
        paragraphs(command.help),
        f"```text\n{usage}{' [FLAGS]' if flags else ''}\n```",
        table(("argument or flag", "meaning"), rows).strip(),
        examples(command),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def parameters(command: Any) -> list[Any]:
    """Its own; of one whose commands are the types of action, those that all types have as well."""
    if not isinstance(command, ByType):
        return list(command.params)
    any_type = ActionType(type="any", stack="delayer", schema={}, largest_payload=0)
    return [*command.params, *made(any_type, type(command).making, type(command).lines).params]


def is_shared(parameter: Any) -> bool:
    """Whether all commands have it."""
    return getattr(parameter, "rich_help_panel", None) == PANEL


def placeholder(argument: Any) -> str:
    """As it is typed."""
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def names(option: Any) -> str:
    """`--group`, `-g` TEXT."""
    written = ", ".join(f"`{one}`" for one in [*option.opts, *option.secondary_opts])
    return cell(written if option.is_flag else f"{written} {option.metavar or 'TEXT'}")


def said(parameter: Any) -> str:
    """Its help, and its default."""
    text = plain((parameter.help or "").replace("\\[", "["))
    needed = " Required." if parameter.required and parameter.param_type_name == "option" else ""
    several = " It may be given several times." if getattr(parameter, "multiple", False) else ""
    return cell(f"{text.removesuffix('.')}.{needed}{several}{default(parameter)}")


def default(parameter: Any) -> str:
    """What counts otherwise, if that is more than nothing. What a function finds out, the help says."""
    value = parameter.default
    if value in (None, "", False, [], ()) or value is True or callable(value):
        return ""
    return f" `{value}` by default."


def paragraphs(text: str | None) -> str:
    """Its lines are broken for a terminal."""
    return "\n\n".join(plain(" ".join(part.split()).replace("\\[", "[")) for part in (text or "").split("\n\n"))


def examples(command: Any) -> str:
    """Those of its help."""
    lines = (command.epilog or "").removeprefix(HEADING).replace("\\[", "[").split("\n\n")
    shown = "\n".join(line.strip() for line in lines if line.strip())
    return f"```sh\n{shown}\n```" if shown else ""


def shared_flags() -> str:
    """Those that all commands have, and those that are shown with an operator's."""
    rows: dict[str, tuple[str, str]] = {}
    for command in commands_by_path().values():
        for one in shared_of(command):
            rows.setdefault(one.opts[0], (names(one), said(one)))
    return table(("flag", "meaning"), rows.values())


def shared_of(command: Any) -> Iterable[Any]:
    """Those that its help shows."""
    return (one for one in command.params if is_shared(one) and not one.hidden)
