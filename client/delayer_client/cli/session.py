"""Every command has these at hand: where the stack is, its client, the clock, and where to write."""

import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from attrs import define, evolve, field, frozen

from delayer_client.cli.profiles import DEFAULT_URL, NAMES, Profiles, Settings, check, config_path, from_environment
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.moments import Moment, moment
from delayer_client.cli.reading.values import text_of
from delayer_client.cli.reading.zones import local_zone, zone

if TYPE_CHECKING:
    import httpx
    from rich.console import Console

    from delayer_client import Delayer
    from delayer_client.cli.showing.output import Output
    from delayer_client.operator import OperatorEngine, OperatorStack
    from delayer_client.transport.credentials import Credentials


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


@frozen(kw_only=True)
class Surroundings:
    """Has what a command needs of its surroundings; in tests these are other things."""

    transport: "httpx.BaseTransport | None" = None
    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], None] = time.sleep
    is_terminal: Callable[[], bool] = lambda: sys.stdin.isatty() and sys.stderr.isatty()
    operators: "Callable[[Session], Any] | None" = None  # instead of an OperatorStack


@define(kw_only=True, slots=False)
class Session:
    """Of one run of `delayer`. What costs time is made when it is asked for."""

    surroundings: Surroundings = field(factory=Surroundings)
    flags: Settings = field(factory=Settings)
    profile: str = ""
    as_json: bool = False
    by_name: bool = False  # whether operators mean the stack of a name, whatever its URL
    read: dict[str, str] = field(factory=dict, repr=False)  # tokens, by what names them
    withheld: bool = field(default=False, init=False)  # the profile's token, which is for another URL

    @cached_property
    def profiles(self) -> Profiles:
        """The file with the profiles."""
        return Profiles(config_path())

    @cached_property
    def given(self) -> Settings:
        """The flags; a token is read from its file. Raises NotRead."""
        token = self.flags.token
        if not token:
            return self.flags
        if token not in self.read:  # standard input is read but once, though a command may have two sessions
            self.read[token] = text_of(token, "--token").strip()
        if not self.read[token]:
            raise NotRead("--token: what was read is empty.")
        return evolve(self.flags, token=self.read[token])

    @cached_property
    def settings(self) -> Settings:
        """From flags, the environment, the profile and the default. Raises NotRead, before anything is sent.

        The token of a profile is for the URL of that profile alone.
        """
        said = self.given.over(from_environment())
        profile = self.profiles.get(self.profile)
        url = said.url or profile.url or DEFAULT_URL
        found = said.over(profile.kept_for(url)).over(Settings(url=url))
        self.withheld = bool(profile.token and not found.token)
        check(found)
        return found

    @property
    def url(self) -> str:
        """Of the API. Raises NotRead."""
        return self.settings.url

    @cached_property
    def credentials(self) -> "Credentials | None":
        """A token, a profile of AWS's, or None for what the library finds by itself."""
        from delayer_client.transport.credentials import Aws, Token, region_of

        if self.settings.token:
            return Token(self.settings.token)
        if self.settings.aws_region or (self.settings.aws_profile and region_of(self.url)):
            return Aws(profile=self.settings.aws_profile or None, region=self.settings.aws_region or None)
        return None

    @cached_property
    def delayer(self) -> "Delayer":
        """The client."""
        from delayer_client import Delayer, Retrying

        return Delayer(
            self.url,
            credentials=self.credentials,
            owner=self.settings.owner or None,
            # Somebody looks on: a stack that is not there is said so within a second.
            retrying=Retrying(times=4, first_wait=0.1),
            transport=self.surroundings.transport,
            sleep=self.surroundings.sleep,
            now=self.surroundings.now,
        )

    @property
    def data(self) -> str:
        """The folder of the engine that operators mean; empty if they mean a stack. Raises NotRead for both."""
        of_stack = ("url", "stack", "aws_profile", "aws_region")
        said = [name for name in of_stack if getattr(self.flags, name)] + ["by_name"] * self.by_name
        if said and self.flags.data:
            raise NotRead(f"--data is an engine on this machine: leave out --{said[0].replace('_', '-')}, or --data.")
        return "" if said else self.settings.data

    @cached_property
    def operators(self) -> "OperatorStack | OperatorEngine":
        """The stack, or the engine, as operators see it. Raises OperatorError, Missing, NotRead."""
        if self.by_name and self.flags.url:
            raise NotRead("--by-name asks no URL: give --url or --by-name, not both.")
        if self.surroundings.operators:
            return cast("OperatorStack", self.surroundings.operators(self))
        if data := self.data:
            from delayer_client.operator import OperatorEngine

            return OperatorEngine(Path(data))
        from delayer_client.cli.extras import needing

        with needing("aws"):
            from delayer_client.operator import OperatorStack

        said = self.settings
        url = "" if self.by_name else self.url
        return OperatorStack.find(url, said.stack or "delayer", region=said.aws_region, profile=said.aws_profile)

    @cached_property
    def zone(self) -> tzinfo:
        """In which times are read and shown. Raises NotRead."""
        return zone(self.settings.zone, by_city=False) if self.settings.zone else local_zone()

    @property
    def now(self) -> datetime:
        """The time, with its zone."""
        return self.surroundings.now()

    @cached_property
    def output(self) -> "Output":
        """Where answers go."""
        from delayer_client.cli.showing.output import Output

        return Output(as_json=self.as_json)

    @property
    def console(self) -> "Console":
        """For people, on standard output."""
        return self.output.console

    def moment(self, text: str) -> datetime:
        """The instant that a text names; a choice that was made is said. Raises NotRead."""
        return self.written(text).at

    def written(self, text: str) -> "Moment":
        """As `moment`, with what was written, if the clocks leave it out."""
        found: Moment = moment(text, self.now, self.zone)
        if found.note:
            self.output.note(found.note)
        return found

    def words(self, at: datetime | None) -> str:
        """A point in time in words: in 3 min."""
        from delayer_client.cli.showing.words import relative

        return relative(at, self.now) if at else ""

    def clock(self, at: datetime | None) -> str:
        """A point in time by the clock: tomorrow 09:00 Lisbon."""
        from delayer_client.cli.showing.words import absolute

        return absolute(at, self.now, self.zone) if at else ""

    def both(self, at: datetime | None) -> str:
        """`tomorrow 09:00 Lisbon (in 19 h)`."""
        return f"{self.clock(at)} ({self.words(at)})" if at else ""

    def agreed(self, question: str, yes: bool) -> None:
        """Asks, unless --yes was given. Raises Declined, or NotRead if nobody can be asked."""
        if yes:
            return
        if not self.surroundings.is_terminal():
            raise NotRead(f"{question} Nobody can be asked here: say so with --yes.")
        import typer

        from delayer_client.cli.showing.texts import clean

        if not typer.confirm(clean(question), err=True):
            raise Declined

    def close(self) -> None:
        """Closes what was opened."""
        if "delayer" in vars(self):
            self.delayer.close()


class Declined(Exception):
    """The answer to a question was no."""


def session_of(surroundings: object, chain: list[Mapping[str, Any]], read: dict[str, str] | None = None) -> Session:
    """From the shared flags of a command and of those above it, the nearest first."""

    def given(name: str) -> Any:
        return next((one[name] for one in chain if one.get(name)), "")

    return Session(
        surroundings=surroundings if isinstance(surroundings, Surroundings) else Surroundings(),
        flags=Settings(**{name: given(f"shared_{name}") for name in NAMES}),
        profile=given("shared_profile"),
        as_json=bool(given("shared_json")),
        by_name=bool(given("shared_by_name")),
        read={} if read is None else read,
    )
