"""Says who calls: by AWS's credentials, by a token, or without either."""

import os
import re
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import httpx
from attrs import define, field, frozen

from delayer_client.errors import NoCredentials, WrongArgument, install
from delayer_client.transport.proxies import is_here

EXECUTE_API: Final = re.compile(r"[a-z0-9-]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?", re.IGNORECASE)


@frozen(kw_only=True)
class Nothing:
    """No credentials: for one machine, where the API asks for none."""


@frozen
class Token:
    """A JWT, for stacks with `ApiAuthorization=JWT`. A function is asked before each request, and so may renew it."""

    value: str | Callable[[], str] = field(repr=False)


@frozen(kw_only=True)
class Aws:
    """AWS's credentials from the standard configuration, for stacks with `ApiAuthorization=AWS_IAM`.

    `region` is needed for a domain of your own only: otherwise it is in the URL. `session` is a boto3.Session.
    """

    profile: str | None = None
    region: str | None = None
    session: Any = field(default=None, repr=False)


Credentials = Nothing | Token | Aws


def by_what_is_there(url: str, environment: Mapping[str, str] = os.environ) -> Credentials:
    """A token if `DELAYER_TOKEN` has one; AWS's if the URL is one of API Gateway; else none."""
    if token := environment.get("DELAYER_TOKEN"):
        return Token(token)
    return Aws() if region_of(url) else Nothing()


def address(url: str) -> str:
    """The URL without a slash at its end. Raises WrongArgument for what is not one."""
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        found = httpx.URL("")
    if found.scheme not in ("http", "https") or not found.host:
        raise WrongArgument(f"The URL of the API is like http://localhost:8080 or https://…; this is {url!r}.")
    return url.rstrip("/")


def owner_header(owner: str | None) -> dict[str, str]:
    """Names the caller, on one machine. Raises WrongArgument if that is no header."""
    if not owner:
        return {}
    if not owner.isascii() or not owner.isprintable():
        raise WrongArgument("An owner is a text of printable ASCII characters.")
    return {"Delayer-Owner": owner}


def region_of(url: str) -> str | None:
    """The region in a URL of API Gateway."""
    found = EXECUTE_API.fullmatch(urlsplit(url).hostname or "")
    return found[1] if found else None


def auth_of(credentials: Credentials, url: str) -> httpx.Auth | None:
    """Makes the object that httpx takes. Raises NoCredentials if there are none to sign with."""
    match credentials:
        case Token(value):
            if urlsplit(url).scheme == "http" and not is_here(url):
                raise NoCredentials("A token is sent over https only: over http everybody on the way could read it.")
            return Bearer(value)
        case Aws(profile=profile, region=region, session=session):
            region = region or region_of(url)
            if not region:
                raise NoCredentials("The URL does not say its region. Give it: Aws(region='eu-west-1').")
            return SigV4(signer(profile, region, session))
        case _:
            return None


@frozen
class Bearer(httpx.Auth):
    """The header Authorization with a token."""

    value: str | Callable[[], str] = field(repr=False)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """As httpx says."""
        token = self.value if isinstance(self.value, str) else self.value()
        request.headers["Authorization"] = f"Bearer {token}"
        yield request


class Signs(Protocol):
    """SigV4 needs these."""

    def __call__(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> Mapping[str, str]:
        """The headers that a signed request has."""
        ...


@define
class SigV4(httpx.Auth):
    """AWS Signature Version 4, service `execute-api`."""

    sign: Signs
    requires_request_body = True

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """As httpx says."""
        kept = {name: request.headers[name] for name in ("content-type",) if name in request.headers}
        for name, value in self.sign(request.method, str(request.url), request.content, kept).items():
            request.headers[name] = value
        yield request


def signer(profile: str | None, region: str, session: Any = None) -> Signs:
    """Signs with botocore. Raises NoCredentials if it is not installed, or finds none."""
    try:
        import boto3
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise NoCredentials(f"AWS's credentials sign with boto3, which is not installed. {install('aws')}") from error
    try:
        found = (session or boto3.Session(profile_name=profile)).get_credentials()
    except BotoCoreError as error:
        raise NoCredentials(f"AWS's credentials cannot be read: {error}") from error
    if found is None:
        raise NoCredentials(
            "There are no AWS credentials. Run `aws configure` or `aws sso login`, or set DELAYER_TOKEN for a stack "
            "with ApiAuthorization=JWT."
        )

    def sign(method: str, url: str, body: bytes, headers: dict[str, str]) -> Mapping[str, str]:
        request = AWSRequest(method=method, url=url, data=body, headers=headers)
        try:
            SigV4Auth(found.get_frozen_credentials(), "execute-api", region).add_auth(request)
        except BotoCoreError as error:
            message = f"AWS's credentials cannot be had: {error} Run `aws sso login` if they come from there."
            raise NoCredentials(message) from error
        return dict(request.headers.items())

    return sign
