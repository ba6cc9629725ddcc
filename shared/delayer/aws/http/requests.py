"""What a client sent: the caller, the body, headers and parameters."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from delayer.aws.http.authorization import authorization, claims_of, is_list
from delayer.core.api.json_body import MAX_KEY
from delayer.core.api.problem import FieldError, Invalid, Problem
from delayer.core.schedule.schedule import MAX_KEY as LONGEST_OWNER
from delayer.core.schedule.schedule import MAX_OWNER, SYSTEM_OWNER

ANONYMOUS: Final = "anonymous"  # the owner where the API is open and the client names none
OWNER_HEADER: Final = "delayer-owner"  # read only where the API is open, on one machine
MAX_HEADER: Final = 256  # characters of an owner that the client names
CREATE: Final = frozenset(  # the routes by which an owner gets something new (ADR 0147)
    {
        "POST /schedules",
        "POST /schedules/batch",
        "PUT /schedules/by-name/{name}",
        "POST /series",
        "PUT /series/by-name/{name}",
        "PUT /connections/{name}",
    }
)
NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}")  # as openapi.yaml has it

Event = Mapping[str, Any]


class Unknown(Problem):
    """The API is not open, and the caller is not known. The gateway should have refused the call."""

    status = 403
    kind = "unknown-caller"
    title = "The caller is not known"


def body_of(event: Event) -> bytes:
    """The body as the client sent it. What is no text comes in base64; half a surrogate pair is no JSON either way."""
    body = str(event.get("body") or "")
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")


def owner_reader() -> Callable[[Event], str]:
    """`owner_of`, with what API_AUTHORIZATION says."""
    known = authorization()
    return lambda event: owner_of(event, known.kind, known.claim)


def owner_of(event: Event, authorization: str, claim: str = "sub") -> str:
    """Whose schedules the call is about (ADR 0050). Raises Unknown, or Invalid for a header that cannot be an owner.

    An owner whose name is over MAX_OWNER may be older than this limit: it keeps what it has, and gets nothing new.
    `authorization` is the template's parameter ApiAuthorization. AWS_IAM: the user or role, without a role's session,
    so that the next session is the same owner. JWT: issuer of the token and its `claim`, the parameter JwtOwnerClaim.
    NONE: the header Delayer-Owner.
    """
    owner = _authenticated(event, authorization, claim)
    if _bytes(owner) > MAX_OWNER and route_of(event) in CREATE:
        allowed = f"a name of at most {MAX_OWNER} bytes"
        raise Invalid([FieldError(field="owner", problem="too long to create anything", allowed=allowed)])
    return owner


def _authenticated(event: Event, authorization: str, claim: str) -> str:
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    match authorization:
        case "AWS_IAM":
            return _fitting(_of_iam(str((authorizer.get("iam") or {}).get("userArn") or "")))
        case "JWT":
            claims = claims_of(event)
            return _fitting(_of_jwt(str(claims.get("iss") or ""), claims.get(claim), claim))
        case "NONE":
            return _of_header(header_of(event, OWNER_HEADER))
    raise Unknown("no such authorization")


def _of_iam(arn: str) -> str:
    if not arn:
        raise Unknown("no caller in the request")
    return arn.rpartition("/")[0] if ":assumed-role/" in arn else arn


def _of_jwt(issuer: str, named: object, claim: str) -> str:
    """A list names several: none of them is the owner. API Gateway makes a text of it."""
    if not issuer:
        raise Unknown("no issuer in the token")
    if named in (None, ""):
        raise Unknown(f"no claim {claim} in the token, which names the owner here")
    if not isinstance(named, str) or is_list(named):
        raise Unknown(f"the claim {claim} of the token, which names the owner here, is not one text")
    return f"{issuer} {named}"


def caller_of(event: Event) -> str:
    """Who makes the call, for the records: with AWS_IAM the session, too. Empty: nobody but the owner is known."""
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    return str((authorizer.get("iam") or {}).get("userArn") or "")


def _fitting(owner: str) -> str:
    if _bytes(owner) > LONGEST_OWNER:
        raise Unknown(f"its name is over {LONGEST_OWNER:,} bytes")
    if _without_halves(owner) != owner:
        raise Unknown("its name is no Unicode text")
    return owner


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _of_header(owner: str) -> str:
    if len(owner) > MAX_HEADER:
        raise Invalid([_too_long("Delayer-Owner", MAX_HEADER)])
    if owner == SYSTEM_OWNER:
        raise Invalid([FieldError(field="Delayer-Owner", problem="reserved", allowed="any other owner")])
    return owner or ANONYMOUS


def _too_long(header: str, at_most: int) -> FieldError:
    return FieldError(field=header, problem="too long", allowed=f"at most {at_most} characters")


def header_of(event: Event, name: str) -> str:
    """A header by its name in lower case, empty if it was not sent. Raises Invalid if it is no Unicode text."""
    value = str((event.get("headers") or {}).get(name) or "").strip()
    if _without_halves(value) != value:
        raise Invalid([FieldError(field=name, problem="no Unicode text", allowed="text in UTF-8")])
    return value


def _without_halves(text: str) -> str:
    """Half a surrogate pair cannot be a key of a table."""
    return text.encode("utf-8", "replace").decode()


def key_of(event: Event) -> str:
    """The idempotency key, empty for none. Raises Invalid if it is too long, or was sent and is empty."""
    key = header_of(event, "idempotency-key")
    if not key and "idempotency-key" in (event.get("headers") or {}):
        raise Invalid([FieldError(field="Idempotency-Key", problem="empty", allowed=f"1 to {MAX_KEY} characters")])
    if len(key) > MAX_KEY:
        raise Invalid([_too_long("Idempotency-Key", MAX_KEY)])
    return key


def parameter(event: Event, name: str) -> str:
    """A parameter of the path, decoded."""
    return _without_halves(str((event.get("pathParameters") or {}).get(name) or ""))


def name_of(event: Event) -> str:
    """The name in the path, empty for a call by id. Raises Invalid if it cannot be one."""
    name = parameter(event, "name")
    if name and not NAME.fullmatch(name):
        raise Invalid(
            [FieldError(field="name", problem="not allowed", allowed="1 to 128 letters, digits and . _ : @ -")]
        )
    return name


def route_of(event: Event) -> str:
    """The route that was matched, as it is declared: `GET /series/{seriesId}/next`."""
    return str(event.get("routeKey") or "")


def asked_of(event: Event) -> str:
    """What a call asks for beside its body: route, parameters of the path, and condition."""
    parameters = sorted((event.get("pathParameters") or {}).items())
    return _without_halves(f"{route_of(event)} {parameters} {header_of(event, 'if-none-match')}")


def query(event: Event) -> dict[str, str]:
    """The parameters of the query."""
    return dict(event.get("queryStringParameters") or {})


def creates_only(event: Event) -> bool:
    """Whether the call must not replace anything. Raises Invalid for a condition that is not understood."""
    sent = "if-none-match" in (event.get("headers") or {})
    if sent and header_of(event, "if-none-match") != "*":
        raise Invalid([FieldError(field="If-None-Match", problem="not understood", allowed="*")])
    return sent
