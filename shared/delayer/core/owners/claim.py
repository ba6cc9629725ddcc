"""Which claim of a token names the owner, and whether that may change (ADR 0108)."""

from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import DAY, HOUR, Millis

SUBJECT: Final = "sub"  # the only one there was, before it could be chosen
PER_TOKEN: Final = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "scope", "scp"})
WAY_BACK: Final[Millis] = DAY  # a roll-back must not fail, and CloudFormation does not say that it is one
YOUNG: Final[Millis] = HOUR  # a stack that has issued ids for no longer than that is being created


@frozen(kw_only=True)
class OwnerClaim:
    """The claim by which owners were named so far."""

    claim: str  # empty: no token has named an owner yet
    before: str = ""  # the one before it
    changed_at: Millis = 0


@frozen
class ClaimRefused:
    """The deployment fails with this sentence."""

    reason: str


def decide_claim(
    known: OwnerClaim | None, wanted: str, *, confirmed: str, is_jwt: bool, ids_since: Millis | None, now: Millis
) -> OwnerClaim | ClaimRefused:
    """The claim from now on. `confirmed` is the parameter AllowOwnerClaimChange.

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
    if known.claim == wanted:
        return known
    may_go_back = known.before == wanted and now - known.changed_at < WAY_BACK
    if known.claim and confirmed != wanted and not may_go_back:
        return ClaimRefused(
            f"JwtOwnerClaim {known.claim[:40]} -> {wanted[:40]} orphans what was created: nobody could call for it. "
            "To do so, set AllowOwnerClaimChange to the new claim"
        )
    return OwnerClaim(claim=wanted, before=known.claim, changed_at=now)


def taken_back(known: OwnerClaim | None, now: Millis) -> OwnerClaim | None:
    """After the resource was deleted, as when its creation is rolled back; None: nothing changes."""
    if known is None or now - known.changed_at >= WAY_BACK:
        return None
    return OwnerClaim(claim=known.before)
