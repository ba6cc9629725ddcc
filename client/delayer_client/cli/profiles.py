"""Where the stack is and who calls: from flags, the environment, a profile, or the default, in this order."""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import evolve, field, fields, frozen

from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.zones import zone

DEFAULT_URL: Final = "http://localhost:8080"  # of `make local`
DEFAULT_PROFILE: Final = "default"
VARIABLES: Final = {
    "url": "DELAYER_URL",
    "token": "DELAYER_TOKEN",
    "owner": "DELAYER_OWNER",
    "zone": "DELAYER_ZONE",
    "stack": "DELAYER_STACK",
    "data": "DELAYER_DATA",
}


@frozen(kw_only=True)
class Settings:
    """The settings that a profile holds. An empty text stands for what is not said."""

    url: str = ""  # of the API
    token: str = field(default="", repr=False)  # a JWT
    owner: str = ""  # on one machine only
    zone: str = ""  # in which times are read and shown
    stack: str = ""  # its name in CloudFormation, for operators
    data: str = ""  # the folder of an engine on this machine, for operators
    aws_profile: str = ""  # of AWS's own configuration
    aws_region: str = ""  # of the stack, for a domain of your own: its URL does not say it

    def kept_for(self, url: str) -> "Settings":
        """Without what is meant for its own URL alone, if this is that of another API."""
        if url == self.url or origin(url) == _origin_or_none(self.url or DEFAULT_URL):
            return self
        return evolve(self, token="", aws_region="")

    def over(self, other: "Settings") -> "Settings":
        """A setting that this one does not say is said by the other."""
        return evolve(other, **self.said())

    def said(self) -> dict[str, str]:
        """Returns the fields that are not empty."""
        return {name: value for name in NAMES if (value := getattr(self, name))}


def origin(url: str) -> tuple[str, str, int]:
    """Says which server is reached there: the scheme, the host and the port. Raises NotRead if it is no URL of
    an API.
    """
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise NotRead(f"The URL of the API cannot be read: {error}. This is {url!r}.") from error
    if scheme not in ("http", "https") or not host:
        raise NotRead(f"The URL of the API is like http://localhost:8080 or https://…; this is {url!r}.")
    return scheme, host, port or (443 if scheme == "https" else 80)


def _origin_or_none(url: str) -> tuple[str, str, int] | None:
    try:
        return origin(url)
    except NotRead:
        return None


def header(text: str, what: str) -> str:
    """A text that can be sent in a header. Raises NotRead."""
    if not all("!" <= sign <= "~" for sign in text.replace(" ", "")) or text != text.strip():
        raise NotRead(f"{what} {text!r}: it has letters, digits and signs of ASCII only, in one line.")
    return text


def check(settings: Settings) -> None:
    """Raises NotRead for what could not be used."""
    if settings.url:
        origin(settings.url)
    if settings.zone:
        zone(settings.zone, by_city=False)
    header(settings.owner, "--owner")
    header(settings.token, "--token")


NAMES: Final = tuple(one.name for one in fields(Settings))


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """By DELAYER_URL, DELAYER_TOKEN and the like."""
    return Settings(**{name: environment.get(variable, "") for name, variable in VARIABLES.items()})


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The file with the profiles: DELAYER_CONFIG, or in the folder where this system keeps such files."""
    if named := environment.get("DELAYER_CONFIG"):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("delayer", appauthor=False) / "config.toml"


@frozen
class Profiles:
    """The file with the profiles."""

    path: Path

    def read(self) -> dict[str, Any]:
        """As it is; empty if there is none. Raises NotRead."""
        try:
            return tomllib.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise NotRead(f"The file with the profiles, {self.path}, cannot be read: {error}") from error

    def all(self) -> dict[str, Settings]:
        """Each by its name. Raises NotRead."""
        found = self.read().get("profiles", {})
        return {
            name: Settings(**{key: str(value) for key, value in one.items() if key in NAMES})
            for name, one in found.items()
            if isinstance(one, dict)
        }

    def get(self, name: str) -> Settings:
        """One by its name; the default one need not be there. Raises NotRead."""
        known = self.all()
        if name in known:
            return known[name]
        if not name or name == DEFAULT_PROFILE:
            return known.get(DEFAULT_PROFILE, Settings())
        raise NotRead(
            f"There is no profile {name!r} in {self.path}. "
            + (f"There are: {', '.join(sorted(known))}. " if known else "")
            + f"Make it with: delayer configure --profile {name} --url https://…"
        )

    def put(self, name: str, settings: Settings) -> None:
        """Writes a profile, and leaves the others as they are. Nobody but the user can read the file."""
        found = self.read()
        found.setdefault("profiles", {})[name] = settings.said()
        self._write(found)

    def remove(self, name: str) -> None:
        """Takes a profile away. Raises NotRead if there is none."""
        found = self.read()
        if found.get("profiles", {}).pop(name, None) is None:
            raise NotRead(f"There is no profile {name!r} in {self.path}.")
        self._write(found)

    def _write(self, found: dict[str, Any]) -> None:
        """Raises NotRead."""
        import tomli_w

        beside = self.path.with_suffix(f".{os.getpid()}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside.touch(mode=0o600)
            beside.chmod(0o600)
            beside.write_text(tomli_w.dumps(found), encoding="utf-8")
            beside.replace(self.path)
        except OSError as error:
            raise NotRead(f"The file with the profiles, {self.path}, cannot be written: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
