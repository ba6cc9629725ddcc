"""Admits what operators and deployments say about owners: a policy, as JSON, and the claim that names them
(ADR 0108).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from delayer.actions.rules import addresses
from delayer.owners import model
from delayer.owners.model import NUMBERS, RESERVED, RULES, OwnerPolicy, Value, to_text
from delayer.schedule.instants import DAY, HOUR, Millis

SUBJECT: Final = "sub"  # the only one there was, before it could be chosen
PER_TOKEN: Final = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "scope", "scp"})
WAY_BACK: Final[Millis] = DAY  # a roll-back must not fail, and CloudFormation does not say that it is one
YOUNG: Final[Millis] = HOUR  # a stack that has issued ids for no longer than that is being created
MOST_ENTRIES: Final = 200  # of one list
MOST_BYTES: Final = 16_384  # of a document: it is read often
SHOWN: Final = 80


@frozen(kw_only=True)
class OwnerClaim:
    """The claim by which owners were named so far, and the issuer of the tokens."""

    claim: str  # empty: no token has named an owner yet
    issuer: str = ""  # empty: not known
    before: str = ""  # the claim before it
    issuer_before: str = ""  # and the issuer then
    changed_at: Millis = 0

    def is_back(self, claim: str, issuer: str, now: Millis) -> bool:
        """Whether that is what was before, a short time ago."""
        was_unknown = not self.issuer_before and self.issuer == issuer  # then only the claim goes back
        is_before = self.before == claim and (self.issuer_before == issuer or was_unknown)
        return is_before and now - self.changed_at < WAY_BACK


@frozen
class ClaimRefused:
    """The deployment fails with this sentence."""

    reason: str


def decide_claim(
    known: OwnerClaim | None,
    wanted: str,
    issuer: str = "",
    *,
    confirmed: str,
    is_jwt: bool,
    ids_since: Millis | None,
    now: Millis,
) -> OwnerClaim | ClaimRefused:
    """The claim and the issuer from now on. `confirmed` is the parameter AllowOwnerClaimChange: one of them, or both.

    `ids_since` is when the stack has issued its first id; None if it has issued none. Without a row a version
    deployed it that knew `sub` only. Without tokens nothing changes, as nobody is named by a claim.
    """
    if not is_jwt:
        return known or OwnerClaim(claim="")
    if wanted in PER_TOKEN:
        return ClaimRefused(f"JwtOwnerClaim: the claim {wanted} does not name a caller; choose one such as sub")
    if known is None:
        is_old = ids_since is not None and now - ids_since > YOUNG
        known = OwnerClaim(claim=SUBJECT if is_old else "")
    changes = _changes(known, wanted, issuer)
    if known.claim == wanted and not changes:
        return known if known.issuer == issuer else evolve(known, issuer=issuer)
    orphaning = [one for one in changes if one[2] not in confirmed.split()]
    if orphaning and not known.is_back(wanted, issuer, now):
        return _refused(*orphaning[0])
    return OwnerClaim(claim=wanted, issuer=issuer, before=known.claim, issuer_before=known.issuer, changed_at=now)


def _changes(known: OwnerClaim, wanted: str, issuer: str) -> list[tuple[str, str, str]]:
    """Of each parameter that is another one: its name, what it was, what it is to be. What was not known is not one."""
    both = (("JwtOwnerClaim", known.claim, wanted), ("JwtIssuer", known.issuer, issuer))
    return [one for one in both if one[1] and one[1] != one[2]]


def _refused(parameter: str, before: str, after: str) -> ClaimRefused:
    return ClaimRefused(
        f"{parameter} {before[:40]} -> {after[:40]} orphans what was created: nobody could call for it. "
        "To do so, set AllowOwnerClaimChange to the new one"
    )


def taken_back(known: OwnerClaim | None, now: Millis) -> OwnerClaim | None:
    """After the resource was deleted, as when its creation is rolled back; None: nothing changes."""
    if known is None or now - known.changed_at >= WAY_BACK:
        return None
    return OwnerClaim(claim=known.before, issuer=known.issuer_before)


class WrongPolicy(ValueError):
    """The command is not carried out. The text says what is wrong, where, and what is allowed."""


def admit(document: Any, actions: Collection[str]) -> OwnerPolicy:
    """The policy in a document. `actions` are the types that are registered. Raises WrongPolicy."""
    if not isinstance(document, Mapping):
        raise WrongPolicy(
            'a policy is a JSON object, such as {"actions": ["http-request"], "hosts": ["api.example.com"]}'
        )
    wrong = [problem for name, value in document.items() for problem in _problems(str(name), value, actions)]
    if wrong:
        raise WrongPolicy("; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""))
    rules: dict[str, Value] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    policy = OwnerPolicy(rules=rules)
    if len(to_text(policy).encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise WrongPolicy(f"the policy is over {MOST_BYTES:,} bytes: use patterns with `*`")
    return policy


def _problems(name: str, value: Any, actions: Collection[str]) -> Iterator[str]:
    if name == RESERVED:
        yield f"{RESERVED}: reserved for limits on targets, which this version does not know"
    elif name not in RULES:
        yield f"{name[:SHOWN]!r}: no such rule; there are {', '.join(RULES)}"
    elif value is None:
        return
    elif name in NUMBERS:
        yield from _of_number(name, value)
    else:
        yield from _of_list(name, value, actions)


def _of_number(name: str, value: Any) -> Iterator[str]:
    least, most = NUMBERS[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        yield f"{name}: a whole number from {least:,} to {most:,}, or null for no rule"


def _of_list(name: str, value: Any, actions: Collection[str]) -> Iterator[str]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES or not all(isinstance(one, str) for one in value):
        yield f"{name}: a list of up to {MOST_ENTRIES} texts, or null for no rule"
        return
    for number, one in enumerate(value):
        if problem := _of_entry(name, one, actions):
            yield f"{name}[{number}] {one[:SHOWN]!r}: {problem}"


def _of_entry(name: str, text: str, actions: Collection[str]) -> str:
    """Empty if nothing is wrong."""
    if name == "actions":
        return "" if text in actions else f"no such type; registered are {', '.join(sorted(actions))}"
    try:
        _ = model.pattern_of(text) if name == "hosts" else addresses.pattern_of(name, text)
    except ValueError as error:
        return str(error)
    return ""
