"""Who may call, and what: the setting API_AUTHORIZATION, and the scopes of a token (ADR 0108)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from delayer.aws.runtime.environment import setting
from delayer.core.api.problem import Problem
from delayer.core.api.routes import access_of

NONE: Final = "-"


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

    kind: str  # the template's parameter ApiAuthorization
    claim: str = "sub"  # of a token: the one that names the owner
    read_scope: str = ""  # empty: no scope is asked for
    write_scope: str = ""

    def check(self, event: Mapping[str, Any]) -> None:
        """Raises MissingScope."""
        if self.kind != "JWT":
            return
        access = access_of(str(event.get("routeKey") or ""))
        wanted = self.read_scope if access == "read" else self.write_scope
        if wanted and wanted not in scopes_in(claims_of(event)):
            raise MissingScope(wanted, access)


def authorization_from(text: str) -> Authorization:
    """From the words of the setting: the kind, the claim, the scope to read, the scope to write."""
    kind, claim, read, write = [*text.split(" "), *["-"] * 4][:4]
    known = {"claim": claim, "read_scope": read, "write_scope": write}
    return Authorization(kind=kind, **{name: word for name, word in known.items() if word not in ("", NONE)})


def authorization() -> Authorization:
    """Of this stack."""
    return authorization_from(setting("API_AUTHORIZATION"))


def scope_check() -> Callable[[Mapping[str, Any]], None]:
    """The check of each request: raises MissingScope."""
    return authorization().check


def claims_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the token, which API Gateway has checked."""
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    claims = (authorizer.get("jwt") or {}).get("claims") or {}
    return claims if isinstance(claims, Mapping) else {}


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
