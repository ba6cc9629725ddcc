"""Which issuer and which claim of its tokens name the owner, and whether these may change (ADR 0108)."""

from typing import Final

from attrs import evolve, frozen

from delayer.core.schedule.instants import DAY, HOUR, Millis

SUBJECT: Final = "sub"  # the only one there was, before it could be chosen
PER_TOKEN: Final = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "scope", "scp"})
WAY_BACK: Final[Millis] = DAY  # a roll-back must not fail, and CloudFormation does not say that it is one
YOUNG: Final[Millis] = HOUR  # a stack that has issued ids for no longer than that is being created


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
