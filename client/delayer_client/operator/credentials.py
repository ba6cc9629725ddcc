"""With which credentials a stack is operated: those that `make local-aws` has written, or boto3's own."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from delayer_client.operator.errors import NoCredentials, WrongSetting
from delayer_client.transport.proxies import is_here

REGION: Final = re.compile(r"https://[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?(/.*)?")
USER_INFO: Final = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#]*@")
EXPORT: Final = re.compile(r"export ([A-Z_]+)=(\S+)")
# A profile or a proxy of the user must neither break a run on one machine nor send its requests to a real account.
WITHOUT_USER_SETTINGS: Final[dict[str, Any]] = {
    "profile": (None, [], None, None),
    "config_file": (None, [], os.devnull, None),
    "credentials_file": (None, [], os.devnull, None),
}
# A call of an operator's function may take 40 s or more. A second call of botocore's own, while the first still runs,
# would double the pace.
ONCE: Final = Config(read_timeout=90, connect_timeout=5, retries={"total_max_attempts": 1, "mode": "standard"})
RETRIED: Final = Config(read_timeout=70, connect_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"})


@dataclass(kw_only=True)
class Aws:
    """boto3 clients of one account and region, each made once."""

    session: boto3.Session
    region: str
    endpoint_url: str = ""  # of the emulator; empty for AWS, or for what boto3's configuration says
    clients: dict[tuple[str, bool], Any] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether this is the emulator of one machine."""
        return bool(self.endpoint_url)

    def client(self, service: str, *, retried: bool = True) -> Any:
        """A client by boto3's name of the service."""
        if (service, retried) not in self.clients:
            config = RETRIED if retried else ONCE
            if self.is_local:
                config = config.merge(Config(proxies={}))
            make: Any = self.session.client  # boto3's stubs know a client only by a literal name
            more = {"endpoint_url": self.endpoint_url} if self.is_local else {}
            try:
                made = make(service, region_name=self.region, config=config, **more)
            except (ValueError, BotoCoreError) as error:
                raise WrongSetting(
                    f"The AWS configuration cannot be used: {error} Look at the region ({self.region}: --aws-region, "
                    "AWS_REGION, the profile) and at AWS_ENDPOINT_URL."
                ) from error
            if not self.is_local and is_here(made.meta.endpoint_url):
                raise NoCredentials(
                    f"The AWS configuration leads {service} to {made.meta.endpoint_url}, which is of this machine: the "
                    "credentials of an account are not used there. Take the endpoint out of it (AWS_ENDPOINT_URL…)."
                )
            self.clients[service, retried] = made
        return self.clients[service, retried]


def find_credentials(url: str = "", *, folder: Path | None = None, region: str = "", profile: str = "") -> Aws:
    """For the stack that serves this URL; without one, what boto3 finds. Raises NoCredentials.

    For http://localhost:8080 that is `.local/8080/aws.env`, in `folder` (that of the process) or in one above it, or
    what a shell was told by `. .local/8080/aws.env`: never a profile, and never an emulator of another port.
    """
    if port := local_port(url):
        return _local(exports_of(port, folder or Path.cwd()) or _exports_of_environment(port, profile))
    if endpoint := endpoint_of_environment():
        if url:
            raise NoCredentials(
                f"AWS_ENDPOINT_URL is {endpoint}, of this machine, but {without_user_info(url)} is not of this "
                "machine. Take it out of the environment (unset AWS_ENDPOINT_URL), and use credentials of the account. "
                f"{ADVICE}"
            )
        return _local(_keys_of_environment(endpoint, profile))
    return _account(url, region, profile)


def _account(url: str, region: str, profile: str) -> Aws:
    """As boto3 finds it."""
    try:
        session = boto3.Session(profile_name=profile or None)
        found = session.get_credentials()
    except Exception as error:
        raise NoCredentials(f"The AWS configuration cannot be used: {error}. {ADVICE}") from error
    if found is None:
        raise NoCredentials(f"boto3 finds no AWS credentials. {ADVICE}")
    region = region or region_in(url) or os.environ.get("AWS_REGION") or session.region_name or ""
    if not region:
        raise NoCredentials("The region is not known. Give the URL of the API, or set AWS_REGION.")
    return Aws(session=session, region=region)


ADVICE: Final = (
    "Set AWS_PROFILE, sign in (aws sso login), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as for the AWS CLI."
)


def endpoint_of_environment() -> str:
    """The emulator that a shell was told about by `. .local/8080/aws.env`; empty if there is none on this machine.

    Raises WrongSetting for what is no address.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    try:
        return endpoint if is_here(endpoint) and urlsplit(endpoint).port != 0 else ""
    except ValueError as error:
        raise WrongSetting(f"AWS_ENDPOINT_URL is {endpoint!r}, which is no address: {error}.") from error


def _exports_of_environment(port: int, profile: str) -> Mapping[str, str]:
    """As a shell has them after `. .local/<port>/aws.env`. Raises NoCredentials if it has not, or those of another."""
    endpoint = endpoint_of_environment()
    if urlsplit(endpoint).port == port + 1:  # where `make local-aws` serves AWS
        return _keys_of_environment(endpoint, profile)
    other = f" AWS_ENDPOINT_URL is {endpoint}, which is not of this port." if endpoint else ""
    raise NoCredentials(
        f"There is no file .local/{port}/aws.env in this folder or above it, which `make local-aws` writes while "
        f"it runs.{other} Start it (make local-aws PORT={port}), and call from its folder. For an engine "
        "(delayer serve), give its folder with --data."
    )


def _keys_of_environment(endpoint: str, profile: str) -> Mapping[str, str]:
    """The keys beside AWS_ENDPOINT_URL. Raises NoCredentials if something shows that they are not the emulator's."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    found = {name: os.environ.get(name, "") for name in names}
    of_an_account = [name for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN") if os.environ.get(name)]
    if profile:
        of_an_account.append("a profile")
    if of_an_account or not all(found.values()):
        why = f"{' and '.join(of_an_account)} was given" if of_an_account else "there are no keys beside it"
        raise NoCredentials(
            f"AWS_ENDPOINT_URL is {endpoint}, of this machine, and {why}: the credentials of an account are not used "
            "there. Read all that `make local-aws` has written into this shell: . .local/<port>/aws.env"
        )
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    return {**found, "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region}


def without_user_info(url: str) -> str:
    """To be shown: https://user:password@host is a secret."""
    return USER_INFO.sub(r"\1", url)


def region_in(url: str) -> str:
    """The region in an address of API Gateway; empty for any other address."""
    found = REGION.fullmatch(url)
    return found[1] if found else ""


def local_port(url: str) -> int:
    """The port of an address on this machine; 0 for any other."""
    parts = urlsplit(url)
    if not is_here(url):
        return 0
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)


def exports_of(port: int, folder: Path) -> Mapping[str, str]:
    """Reads the lines that `make local-aws` has written for this port; empty if it has not, or if they lead away
    from this machine.
    """
    for place in (folder, *folder.parents):
        try:
            text = (place / ".local" / str(port) / "aws.env").read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        found = {match[1]: match[2] for match in map(EXPORT.fullmatch, text.splitlines()) if match}
        return found if is_here(found.get("AWS_ENDPOINT_URL", "")) else {}
    return {}


def _local(exports: Mapping[str, str]) -> Aws:
    session = boto3.Session(
        aws_access_key_id=exports.get("AWS_ACCESS_KEY_ID"),
        aws_secret_access_key=exports.get("AWS_SECRET_ACCESS_KEY"),
        region_name=exports.get("AWS_REGION", "us-east-1"),
        botocore_session=botocore.session.Session(session_vars=WITHOUT_USER_SETTINGS),
    )
    return Aws(session=session, region=str(session.region_name), endpoint_url=exports["AWS_ENDPOINT_URL"])
