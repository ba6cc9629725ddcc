"""The flags of what is made: of a schedule, and of a series. Each has the type that its reader needs."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypedDict

import typer
from attrs import frozen

from delayer_client.cli.profiles import header
from delayer_client.cli.reading.durations import NotRead, duration, iso
from delayer_client.cli.reading.values import raw_json_of, tags

if TYPE_CHECKING:
    from delayer_client import OnLate, Retry

HOW: Final = "How it is done"
LABELS: Final = "How it is called"


def _choice(*words: str) -> Any:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


Payload = Annotated[
    str | None,
    typer.Option("--payload", "-d", metavar="JSON", help="JSON as text, @file, or - for standard input."),
]
Group = Annotated[str | None, typer.Option("--group", "-g", help="A group it belongs to.", rich_help_panel=LABELS)]
Name = Annotated[str | None, typer.Option("--name", "-n", help="A name that one live one has.", rich_help_panel=LABELS)]
Tag = Annotated[
    list[str] | None,
    typer.Option("--tag", "-t", metavar="KEY=VALUE", help="A text of your own; repeatable.", rich_help_panel=LABELS),
]
Window = Annotated[
    str | None,
    typer.Option("--window", metavar="DURATION", help="It fires within so long after its time.", rich_help_panel=HOW),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="precise, or relaxed: within minutes, and cheaper.",
        rich_help_panel=HOW,
        autocompletion=_choice("precise", "relaxed"),
    ),
]
OnLateFlag = Annotated[
    str | None,
    typer.Option(
        "--on-late", metavar="drop:DURATION", help="drop:10m drops it if it is later; fire:10m.", rich_help_panel=HOW
    ),
]
RetryAttempts = Annotated[
    int | None, typer.Option("--retry-attempts", metavar="N", help="Attempts in all.", rich_help_panel=HOW)
]
RetryFor = Annotated[
    str | None,
    typer.Option("--retry-for", metavar="DURATION", help="No attempt later after the first.", rich_help_panel=HOW),
]
RetryFirst = Annotated[
    str | None,
    typer.Option("--retry-first", metavar="DURATION", help="Before the second attempt.", rich_help_panel=HOW),
]
RetryFactor = Annotated[
    float | None,
    typer.Option("--retry-factor", metavar="NUMBER", help="How much longer each wait is.", rich_help_panel=HOW),
]
RetryMax = Annotated[
    str | None, typer.Option("--retry-max", metavar="DURATION", help="The longest wait.", rich_help_panel=HOW)
]
Key = Annotated[
    str | None,
    typer.Option(
        "--idempotency-key", metavar="TEXT", help="The same key again makes nothing new.", rich_help_panel=HOW
    ),
]


class Common(TypedDict, total=False):
    """Schedules and series have these fields alike, as the library takes them."""

    payload: Any
    group: str | None
    tags: dict[str, str] | None
    window: timedelta | None
    on_late: "OnLate | None"
    retry: "Retry | None"
    precision: Literal["precise", "relaxed"] | None
    idempotency_key: str | None


@frozen(kw_only=True)
class Flags:
    """How it is done, as it was given."""

    payload: Payload = None
    window: Window = None
    precision: Precision = None
    on_late: OnLateFlag = None
    retry_attempts: RetryAttempts = None
    retry_for: RetryFor = None
    retry_first: RetryFirst = None
    retry_factor: RetryFactor = None
    retry_max: RetryMax = None
    idempotency_key: Key = None

    def read(self) -> Common:
        """As the library takes them. Raises NotRead."""
        return Common(
            payload=payload(self.payload),
            window=duration(self.window) if self.window else None,
            on_late=on_late(self.on_late),
            retry=self.retry(),
            precision=precision(self.precision),
            idempotency_key=key(self.idempotency_key),
        )

    def retry(self) -> "Retry | None":
        """None if nothing is said."""
        from delayer_client import Backoff, Retry

        waits = [_whole(self.retry_first, "--retry-first"), _whole(self.retry_max, "--retry-max")]
        has_backoff = any(one is not None for one in (*waits, self.retry_factor))
        backoff = Backoff(first=waits[0], factor=self.retry_factor, max=waits[1]) if has_backoff else None
        if self.retry_attempts is None and self.retry_for is None and backoff is None:
            return None
        return Retry(
            max_attempts=self.retry_attempts, max_age_seconds=_whole(self.retry_for, "--retry-for"), backoff=backoff
        )


@frozen(kw_only=True)
class MadeFlags(Flags):
    """And how it is called: of what is made anew."""

    group: Group = None
    tag: Tag = None

    def read(self) -> Common:
        """As the library takes them. Raises NotRead."""
        return {**super().read(), "group": self.group, "tags": tags(self.tag) if self.tag else None}


def merged(retry: "Retry | None", before: "Retry | None") -> "Retry | None":
    """With what it does not say as it was before."""
    from delayer_client import Backoff, Retry

    if retry is None or before is None:
        return retry
    new, old = retry.backoff or Backoff(), before.backoff or Backoff()
    backoff = Backoff(first=_or(new.first, old.first), factor=_or(new.factor, old.factor), max=_or(new.max, old.max))
    return Retry(
        max_attempts=_or(retry.max_attempts, before.max_attempts),
        max_age_seconds=_or(retry.max_age_seconds, before.max_age_seconds),
        backoff=backoff if retry.backoff or before.backoff else None,
    )


def _or(new: Any, old: Any) -> Any:
    return old if new is None else new


def _whole(text: str | None, flag: str) -> int | None:
    if text is None:
        return None
    seconds = duration(text).total_seconds()
    if seconds != int(seconds):
        raise NotRead(f"{flag} {text!r}: it is a number of whole seconds.")
    return int(seconds)


def payload(text: str | None) -> Any:
    """Reads the JSON text of a payload. Returns NOT_GIVEN if there is none. Raises NotRead."""
    from delayer_client import NOT_GIVEN

    return NOT_GIVEN if text is None else raw_json_of(text, "--payload")


def on_late(text: str | None) -> "OnLate | None":
    """`drop:10m`. Raises NotRead."""
    from delayer_client import OnLate

    if text is None:
        return None
    do, colon, after = text.partition(":")
    if do not in ("drop", "fire") or not colon:
        raise NotRead(f"--on-late {text!r}: write it drop:10m, or fire:10m.")
    return OnLate(after=iso(duration(after)), do=do)


def key(text: str | None) -> str | None:
    """Raises NotRead for what cannot be sent."""
    return None if text is None else header(text, "--idempotency-key")


def precision(text: str | None) -> Literal["precise", "relaxed"] | None:
    """Raises NotRead."""
    match text:
        case None | "precise" | "relaxed":
            return text
        case _:
            raise NotRead(f"--precision {text!r}: it is precise or relaxed.")
