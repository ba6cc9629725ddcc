"""Reads the claims of a request about its signature, in its header Authorization or in its query."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl

from attrs import frozen

ALGORITHM = "AWS4-HMAC-SHA256"
DATE_FORM = "%Y%m%dT%H%M%SZ"
FIELD = re.compile(r"(Credential|SignedHeaders|Signature)=([^,\s]+)")
# By which ministack knows a caller.
QUERY_CREDENTIALS = {"x-amz-algorithm", "x-amz-credential", "x-amz-signature", "awsaccesskeyid"}
SIGNATURE_IN_QUERY = re.compile(r"(^|&)X-Amz-Signature=[^&]*", re.IGNORECASE)


class Refused(Exception):
    """A request that is not let in. `code` is AWS's name of the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@frozen(kw_only=True)
class Received:
    """A request as it arrived."""

    method: str
    path: str  # not decoded
    query: str  # not decoded, without the question mark
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@frozen(kw_only=True)
class Claim:
    """Which key has signed what, and when, as the request says."""

    access_key_id: str
    date: str  # of the credential's scope, YYYYMMDD
    region: str
    service: str  # by the name in the scope, for example dynamodb
    signed_headers: frozenset[str]  # names in lower case
    signature: str
    signed_at: datetime  # UTC, without a time zone
    token: str  # of a session; empty without one
    query: str  # the part of the query that is signed, not decoded
    valid_for: timedelta | None  # of a presigned URL; None for a signature in the header


def claim_of(received: Received) -> Claim:
    """The claim of a request. Raises Refused if there is none, or if it lacks something."""
    authorization = received.headers.get("authorization", "")
    pairs = parse_qsl(received.query, keep_blank_values=True)
    query, fields = dict(pairs), FIELD.findall(authorization)
    named = [name.lower() for name, _ in pairs if name.lower() in QUERY_CREDENTIALS]
    if not received.path.startswith("/"):
        raise Refused("InvalidRequest", "The address has no path.")
    if (authorization and named) or max(map(named.count, named), default=1) > 1 or len(fields) > len(dict(fields)):
        raise Refused("InvalidRequest", "A request has one signature, in the header Authorization or in the query.")
    if authorization.startswith(f"{ALGORITHM} "):
        return claim_in_header(received, dict(fields))
    if query.get("X-Amz-Algorithm") == ALGORITHM and "awsaccesskeyid" not in named:
        return claim_in_query(received, query)
    raise Refused("MissingAuthenticationToken", f"The request is not signed with {ALGORITHM}.")


def claim_in_header(received: Received, fields: Mapping[str, str]) -> Claim:
    """The claim in the header Authorization."""
    return made(fields, date_in(received.headers), received.headers.get("x-amz-security-token", ""), received.query)


def claim_in_query(received: Received, query: Mapping[str, str]) -> Claim:
    """The claim of a presigned URL. Its signature stands in the query and cannot sign itself."""
    fields = {name: query.get(f"X-Amz-{name}", "") for name in ("Credential", "SignedHeaders", "Signature")}
    signed_query = SIGNATURE_IN_QUERY.sub("", received.query).removeprefix("&")
    seconds = query.get("X-Amz-Expires", "")
    if not re.fullmatch(r"[0-9]{1,6}", seconds):
        raise Refused("AuthorizationQueryParametersError", "X-Amz-Expires is not a number of seconds.")
    token = query.get("X-Amz-Security-Token", "")
    return made(fields, query.get("X-Amz-Date", ""), token, signed_query, timedelta(seconds=int(seconds)))


def made(fields: Mapping[str, str], date: str, token: str, query: str, valid_for: timedelta | None = None) -> Claim:
    """The claim of these fields. Raises Refused if one is missing or malformed."""
    scope = fields.get("Credential", "").split("/")
    signed_headers = frozenset(filter(None, fields.get("SignedHeaders", "").split(";")))
    if len(scope) != 5 or "host" not in signed_headers or not fields.get("Signature", "").isascii():
        raise Refused("IncompleteSignature", "The signature lacks its credential, its signed headers, or the host.")
    access_key_id, day, region, service, _ = scope
    return Claim(
        access_key_id=access_key_id,
        date=day,
        region=region,
        service=service,
        signed_headers=signed_headers,
        signature=fields["Signature"],
        signed_at=instant(date),
        token=token,
        query=query,
        valid_for=valid_for,
    )


def date_in(headers: Mapping[str, str]) -> str:
    """When the header says that it was signed: X-Amz-Date, or Date in the form of X-Amz-Date."""
    if "x-amz-date" in headers:
        return headers["x-amz-date"]
    try:
        at = parsedate_to_datetime(headers.get("date", ""))
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC).strftime(DATE_FORM)
    except ValueError:
        return ""


def instant(text: str) -> datetime:
    """YYYYMMDDTHHMMSSZ as an instant. Raises Refused for anything else."""
    try:
        return datetime.strptime(text, DATE_FORM)  # noqa: DTZ007 - botocore's own form has no time zone either
    except ValueError:
        raise Refused("IncompleteSignature", "The signature has no date in the form YYYYMMDDTHHMMSSZ.") from None
