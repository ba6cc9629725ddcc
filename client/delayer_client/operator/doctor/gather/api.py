"""The API, asked as its owner asks it."""

import base64
import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from delayer_client.calls.times import http_date
from delayer_client.errors import WrongArgument
from delayer_client.operator.calls import asking
from delayer_client.operator.credentials import without_user_info
from delayer_client.operator.doctor.facts import Answer, ApiFacts, Caller, Unseen
from delayer_client.operator.doctor.gather.seeing import seen
from delayer_client.operator.errors import OperatorError
from delayer_client.operator.stack import OperatorStack
from delayer_client.transport.proxies import httpx_proxy_of, is_here

PATH: Final = "/schedules?limit=1"
CONNECTIONS: Final = "/connections?limit=100"  # an owner has no more
TIMEOUT: Final = httpx.Timeout(20, connect=5)


def look(url: str, stack: OperatorStack | None, token: str, owner: str) -> ApiFacts:
    """Two calls, and what is known of the caller."""
    authorization, claim = _authorization(stack)

    def asked(path: str) -> Answer:
        headers, shown_with = _shown(url, path, stack, token, authorization)
        return _asked(url, path, headers | ({"Delayer-Owner": owner} if owner else {}), shown_with)

    answer = asked(PATH)
    return ApiFacts(
        answer=answer,
        caller=Caller(owner=_owner(stack, token, owner, authorization, claim), authorization=authorization),
        for_any_host=_for_any_host(asked(CONNECTIONS)) if answer.status == HTTPStatus.OK else (),
    )


def _for_any_host(answer: Answer) -> tuple[str, ...]:
    """None are named if the stack cannot say which: an answer that is no list is judged nowhere."""
    listed = answer.body.get("connections") if answer.status == HTTPStatus.OK else None
    rows = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return tuple(str(one.get("name", "")) for one in rows if not one.get("hosts"))


def _authorization(stack: OperatorStack | None) -> tuple[str, str]:
    """Of the stack, and the claim that names owners; empty if the stack cannot be read."""
    try:
        parameters = stack.parameters if stack else {}
    except OperatorError:
        parameters = {}
    return parameters.get("ApiAuthorization", ""), parameters.get("JwtOwnerClaim", "sub")


def _shown(
    url: str, path: str, stack: OperatorStack | None, token: str, authorization: str
) -> tuple[dict[str, str], str]:
    """The headers that say who calls: a token if there is one; signed if the stack wants it, or may want it."""
    if token and not url.lower().startswith("https://") and not is_here(url):
        raise OperatorError(
            f"the token was not sent, for {without_user_info(url)} is not encrypted and anybody on the way could read "
            "it. Give the address that begins with https://"
        )
    if token:
        return {"Authorization": f"Bearer {token}"}, "token"
    credentials = stack.aws.session.get_credentials() if stack else None
    if stack is None or credentials is None or stack.is_local or authorization in ("NONE", "JWT"):
        return {}, "nothing"
    request = AWSRequest(method="GET", url=url + path)
    with asking("execute-api:Invoke"):  # a login is read now, and may have expired
        SigV4Auth(credentials.get_frozen_credentials(), "execute-api", stack.region).add_auth(request)
    return dict(request.headers.items()), "signature"


def _asked(url: str, path: str, headers: Mapping[str, str], shown_with: str) -> Answer:
    began, wall, shown_url = time.monotonic(), time.time(), without_user_info(url)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(proxy=httpx_proxy_of(url)), timeout=TIMEOUT) as client:
            response = client.get(url + path, headers=headers, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL, WrongArgument) as error:
        return Answer(url=shown_url, status=0, shown_with=shown_with, error=str(error) or type(error).__name__)
    took = time.monotonic() - began
    return Answer(
        url=shown_url,
        status=response.status_code,
        shown_with=shown_with,
        body=_object(response.content),
        milliseconds=round(took * 1000),
        ahead_seconds=_ahead(response.headers.get("date", ""), wall + took / 2),
    )


def _ahead(date: str, now: float) -> float | None:
    """The header shows whole seconds: on average it is half a second behind."""
    try:
        return round(http_date(date).timestamp() + 0.5 - now, 1) if date else None
    except ValueError:
        return None


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _owner(stack: OperatorStack | None, token: str, owner: str, authorization: str, claim: str) -> str:
    """As the stack makes it of the caller (docs/use/api.md#owners); empty if that cannot be known from here."""
    if authorization == "NONE":
        return owner or "anonymous"
    if authorization == "JWT":
        claims = _claims(token)
        return f"{claims.get('iss', '')} {claims[claim]}" if claim in claims else ""
    if authorization == "AWS_IAM" and stack:
        arn = seen("sts:GetCallerIdentity", lambda: str(stack.client("sts").get_caller_identity()["Arn"]))
        if isinstance(arn, Unseen):
            return ""
        return arn.rpartition("/")[0] if ":assumed-role/" in arn else arn
    return ""


def _claims(token: str) -> dict[str, Any]:
    """Reads the claims of the token; nobody checks them here."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        return _object(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}
