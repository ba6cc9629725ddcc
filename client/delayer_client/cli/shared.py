"""The flags of several commands: where a stack is, who calls, whose it is, how much is listed."""

import getpass
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
from attrs import frozen

from delayer_client.cli.session import Session

PANEL: Final = "Where, who and how"


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


@frozen
class Shared:
    """An option that stands before or after any command."""

    flag: str
    help: str
    metavar: str = ""  # empty for a switch
    completion: Callable[[str], list[str]] | None = None


SHARED: Final = {
    "json": Shared("--json", "For scripts: JSON Lines in the API's own words."),
    "url": Shared("--url", "The URL of the API (DELAYER_URL).", "URL"),
    "profile": Shared("--profile", "A profile of `delayer configure`.", "NAME", profile_names),
    "owner": Shared("--owner", "Who calls, on one machine (DELAYER_OWNER).", "NAME"),
    "token": Shared("--token", "A token; DELAYER_TOKEN is seen by fewer.", "JWT"),
    "zone": Shared("--zone", "The zone of times, as Europe/Lisbon (DELAYER_ZONE).", "ZONE", zone_names),
    "stack": Shared("--stack", "The stack's name (DELAYER_STACK), or delayer.", "NAME"),
    "data": Shared("--data", "The folder of an engine on this machine (DELAYER_DATA).", "DIR"),
    "aws_profile": Shared("--aws-profile", "A profile of AWS's configuration.", "NAME"),
    "aws_region": Shared("--aws-region", "Of the stack, if the URL does not say it.", "REGION"),
    "by_name": Shared(
        "--by-name", "Ask no URL: the stack of this name, in the account and the region of the AWS settings."
    ),
}
AWS: Final = ("aws_profile", "aws_region")  # every command takes them; those of operators show them
# What commands take, by what they call.
OF_API: Final = ("json", "url", "profile", "owner", "token", "zone")
OF_BOTH: Final = (*OF_API, "stack", *AWS)  # the API, and the account of the stack
OF_FUNCTIONS: Final = (
    "json",
    "url",
    "profile",
    "zone",
    "stack",
    *AWS,
    "by_name",
    "data",
)  # of the stack, never the API


def shared(takes: tuple[str, ...] = OF_API, url_names: tuple[str, ...] = ("--url", "--api-url")) -> list[Any]:
    """All of them as parameters. What a command does not take is hidden, and refused in a sentence: see `untaken`."""
    return [
        inspect.Parameter(
            f"shared_{name}",
            inspect.Parameter.KEYWORD_ONLY,
            default="" if one.metavar else False,
            annotation=Annotated[
                str if one.metavar else bool,
                typer.Option(
                    *(url_names if name == "url" else (one.flag,)),
                    help=one.help,
                    metavar=one.metavar or None,
                    autocompletion=one.completion,
                    hidden=name not in takes,
                    rich_help_panel=PANEL,
                    show_default=False,
                ),
            ],
        )
        for name, one in SHARED.items()
    ]


def untaken(takes: tuple[str, ...], typed: set[str]) -> list[str]:
    """The flags of the parameters that somebody typed, here or before the command, and that it does not take."""
    return [one.flag for name, one in SHARED.items() if name not in (*takes, *AWS) and f"shared_{name}" in typed]


def user() -> str:
    """Returns the user who gives a command, for the record."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Who you are, for the record; otherwise your user name.",
        default_factory=user,
        show_default=False,
    ),
]
Of = Annotated[str, typer.Option("--of", "--owner", metavar="OWNER", help="Whose; without it those of all.")]
OfGroup = Annotated[str | None, typer.Option("--group", "-g", help="Only those of this group.")]


def up_to(otherwise: str) -> Any:
    """The option --limit."""
    return typer.Option("--limit", "-l", metavar="N", min=1, help=f"At most so many; otherwise {otherwise}.")


Limit = Annotated[int | None, up_to("50, with --json all")]
SHOWN: Final = 50  # of a list, for people
ByName = Annotated[str | None, typer.Option("--name", "-n", help="It is a name, also if it looks like an id.")]


@frozen(kw_only=True)
class Which:
    """One schedule, or one series."""

    id: Annotated[str | None, typer.Argument(metavar="ID", help="Its id, or its name.", show_default=False)] = None
    name: ByName = None
