"""The parts of a client's call, and whose it is. All that receives calls makes an `ApiRequest` of each (ADR 0177)."""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final

from attrs import field, frozen

from delayer.engines.process import setting
from delayer.http.json_body import MAX_KEY
from delayer.http.problem import FieldError, Invalid, Problem
from delayer.http.routing import CREATE, access_of
from delayer.schedule.schedule import MAX_KEY as LONGEST_OWNER
from delayer.schedule.schedule import MAX_OWNER, SYSTEM_OWNER

NONE: Final = "-"
NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}")  # as openapi.yaml has it


@frozen(kw_only=True)
class Caller:
    """The sender of a call, as the door that has let it pass says."""

    arn: str = ""  # with AWS_IAM: the user, or the session of a role. Empty: nobody but the owner is known
    claims: Mapping[str, Any] = field(factory=dict)  # with JWT and TOKEN: of the token, which was checked
    address: str = ""  # IP address


@frozen(kw_only=True)
class ApiRequest:
    """A call of the API."""

    route: str = ""  # that was matched, as it is declared: `GET /series/{seriesId}/next`
    path: str = ""  # as it was sent
    parameters: Mapping[str, str] = field(factory=dict)  # of the path, decoded
    query: Mapping[str, str] = field(factory=dict)
    headers: Mapping[str, str] = field(factory=dict)  # by their names in lower case
    body: bytes = b""
    caller: Caller = field(factory=Caller)

    def header(self, name: str) -> str:
        """A header by its name in lower case, empty if it was not sent. Raises Invalid if it is no Unicode text."""
        value = str(self.headers.get(name) or "").strip()
        if _without_halves(value) != value:
            raise Invalid([FieldError(field=name, problem="no Unicode text", allowed="text in UTF-8")])
        return value

    def key(self) -> str:
        """The idempotency key, empty for none. Raises Invalid if it is too long, or was sent and is empty."""
        key = self.header("idempotency-key")
        if not key and "idempotency-key" in self.headers:
            raise Invalid([FieldError(field="Idempotency-Key", problem="empty", allowed=f"1 to {MAX_KEY} characters")])
        if len(key) > MAX_KEY:
            raise Invalid([_too_long("Idempotency-Key", MAX_KEY)])
        return key

    def creates_only(self) -> bool:
        """Whether the call must not replace anything. Raises Invalid for a condition that is not understood."""
        sent = "if-none-match" in self.headers
        if sent and self.header("if-none-match") != "*":
            raise Invalid([FieldError(field="If-None-Match", problem="not understood", allowed="*")])
        return sent

    def parameter(self, name: str) -> str:
        """A parameter of the path; empty if the route has none of this name."""
        return _without_halves(str(self.parameters.get(name) or ""))

    def name(self) -> str:
        """The name in the path, empty for a call by id. Raises Invalid if it cannot be one."""
        name = self.parameter("name")
        if name and not NAME.fullmatch(name):
            raise Invalid(
                [FieldError(field="name", problem="not allowed", allowed="1 to 128 letters, digits and . _ : @ -")]
            )
        return name

    def asked(self) -> str:
        """Returns the parts of a call beside its body: route, parameters of the path, and condition."""
        parameters = sorted(self.parameters.items())
        return _without_halves(f"{self.route} {parameters} {self.header('if-none-match')}")


class Unknown(Problem):
    """The API is not open, and the caller is not known. The gateway should have refused the call."""

    status = 403
    kind = "unknown-caller"
    title = "The caller is not known"


class MissingScope(Problem):
    """The token is good, but does not say that its holder may make this call."""

    status = 403
    kind = "missing-scope"
    title = "The token may not do this"

    def __init__(self, scope: str, access: str) -> None:
        super().__init__(f"The token lacks the scope {scope}, which every call needs that may {access}.")
        self.scope = scope

    @property
    def members(self) -> Mapping[str, object]:
        """The scope that is missing."""
        return {"scope": self.scope}


@frozen(kw_only=True)
class Authorization:
    """As the deployment has said it."""

    kind: str  # the template's parameter ApiAuthorization; TOKEN on one machine (ADR 0184)
    claim: str = "sub"  # of a token: the one that names the owner
    read_scope: str = ""  # empty: no scope is asked for
    write_scope: str = ""

    def check(self, request: ApiRequest) -> None:
        """Raises NotLoopback: an API that asks for no credentials is open to its own machine only. MissingScope."""
        if self.kind == "NONE":
            refuse_other_machines(request.caller)
        if self.kind not in ("JWT", "TOKEN"):
            return
        access = access_of(request.route)
        wanted = self.read_scope if access == "read" else self.write_scope
        if wanted and wanted not in scopes_in(request.caller.claims):
            raise MissingScope(wanted, access)

    def owner_of(self, request: ApiRequest) -> str:
        """Returns the owner whose schedules the call is about (ADR 0050).

        Raises Unknown; Invalid for a header that cannot be an owner. An owner whose name is over MAX_OWNER may be older
        than this limit: it keeps what it has, and gets nothing new.
        AWS_IAM: the user or role, without a role's session, so that the next session is the same owner. JWT: issuer of
        the token and its `claim`, the parameter JwtOwnerClaim. TOKEN: its `claim` alone, for the
        engine is the only issuer. NONE: the header Delayer-Owner.
        """
        owner = self._authenticated(request)
        if _bytes(owner) > MAX_OWNER and request.route in CREATE:
            allowed = f"a name of at most {MAX_OWNER} bytes"
            raise Invalid([FieldError(field="owner", problem="too long to create anything", allowed=allowed)])
        return owner

    def _authenticated(self, request: ApiRequest) -> str:
        claims = request.caller.claims
        match self.kind:
            case "AWS_IAM":
                return _fitting(_of_iam(request.caller.arn))
            case "JWT":
                return _fitting(_of_jwt(str(claims.get("iss") or ""), claims.get(self.claim), self.claim))
            case "TOKEN":
                return _fitting(_of_token(str(claims.get(self.claim) or "")))
            case "NONE":
                return _of_header(request.header(OWNER_HEADER))
        raise Unknown("no such authorization")


def authorization_from(text: str) -> Authorization:
    """From the words of the setting: the kind, the claim, the scope to read, the scope to write."""
    kind, claim, read, write = [*text.split(" "), *["-"] * 4][:4]
    known = {"claim": claim, "read_scope": read, "write_scope": write}
    return Authorization(kind=kind, **{name: word for name, word in known.items() if word not in ("", NONE)})


def authorization() -> Authorization:
    """Of this stack."""
    return authorization_from(setting("API_AUTHORIZATION"))


def scopes_in(claims: Mapping[str, Any]) -> frozenset[str]:
    """All of them: issuers write `scope` or `scp`, as one text or as a list. API Gateway makes "[a b]" of a list."""
    return frozenset(word for name in ("scope", "scp") for word in _words(claims.get(name)))


def _words(value: object) -> list[str]:
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)]
    if not isinstance(value, str):
        return []
    return (value[1:-1] if is_list(value) else value).split()


def is_list(value: str) -> bool:
    """Whether a claim was a list before API Gateway made a text of it."""
    return value.startswith("[") and value.endswith("]")


class NotLoopback(Unknown):
    """The API is open, and the request does not come from the machine on which it runs."""

    kind = "not-from-loopback"
    title = "The API is open to its own machine only"


def refuse_other_machines(caller: Caller) -> None:
    """Raises NotLoopback unless the request came from a loopback address."""
    if not is_loopback(caller.address):
        raise NotLoopback(
            f"This API asks for no credentials (ApiAuthorization is NONE), so it answers only the machine on which it "
            f"runs. The request came from {caller.address or 'an unknown address'}. To open it to others, deploy it "
            f"with ApiAuthorization=AWS_IAM or JWT."
        )


@lru_cache(maxsize=256)
def is_loopback(address: str) -> bool:
    """Whether an IP address is one of loopback, also an IPv4 address that is written as IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


ANONYMOUS: Final = "anonymous"  # the owner where the API is open and the client names none
OWNER_HEADER: Final = "delayer-owner"  # read only where the API is open, on one machine
MAX_HEADER: Final = 256  # characters of an owner that the client names


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


def _of_token(owner: str) -> str:
    if not owner:
        raise Unknown("no owner of the token")
    return owner


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


def _without_halves(text: str) -> str:
    """Half a surrogate pair cannot be a key of a table."""
    return text.encode("utf-8", "replace").decode()
