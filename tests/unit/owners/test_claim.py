"""Which claim names the owner, from one deployment to the next."""

from typing import Any

import pytest

from delayer.actions.rules.registration import CannotRegister, Command, MadeResource
from delayer.engines.ports import Unavailable
from delayer.owners.admission import PER_TOKEN, WAY_BACK, YOUNG, ClaimRefused, OwnerClaim, decide_claim
from delayer.owners.callers import Callers
from delayer.owners.repository import StoredOwnerClaim
from delayer.schedule.instants import DAY, HOUR, minute_of
from delayer.schedule.schedule_id import Shards
from delayer.wiring.build import build
from tests.tables import on_sqlite
from tests.world import START, World


def decided(known: OwnerClaim | None, wanted: str, **more: Any) -> OwnerClaim | ClaimRefused:
    given: dict[str, Any] = {"confirmed": "", "is_jwt": True, "ids_since": None, "now": START, **more}
    return decide_claim(known, wanted, **given)


def claim_of(known: OwnerClaim | None, wanted: str, **more: Any) -> str:
    found = decided(known, wanted, **more)
    return found.claim if isinstance(found, OwnerClaim) else "refused"


SUB = OwnerClaim(claim="sub")
OLD = {"ids_since": START - YOUNG - 1}


def test_a_new_stack_takes_any_claim() -> None:
    """Also one whose canary has been issued while it was being created."""
    assert claim_of(None, "sub") == "sub"
    assert claim_of(None, "org") == "org"
    assert claim_of(None, "org", ids_since=START - YOUNG) == "org"


def test_a_stack_from_before_had_the_subject() -> None:
    assert claim_of(None, "sub", **OLD) == "sub"
    assert claim_of(None, "org", **OLD) == "refused"
    assert claim_of(None, "org", confirmed="org", **OLD) == "org"


def test_a_change_needs_the_name_of_the_new_claim() -> None:
    for confirmed in ("", "sub", "true", "ORG"):
        found = decided(SUB, "org", confirmed=confirmed)
        assert isinstance(found, ClaimRefused)
        assert "AllowOwnerClaimChange" in found.reason
        assert len(found.reason) <= 200, "CloudFormation shows all of it"
    assert claim_of(SUB, "org", confirmed="org") == "org"
    later = OwnerClaim(claim="org", before="sub", changed_at=START - 2 * DAY)
    assert claim_of(later, "email", confirmed="org") == "refused", "a flag that was left on allows no other change"


def test_nothing_is_written_when_nothing_changes() -> None:
    assert decided(SUB, "sub", confirmed="sub") is SUB


def test_the_way_back_is_open_for_a_day() -> None:
    """As for a roll-back, which has the parameters of before: no flag."""
    changed = decided(SUB, "org", confirmed="org")
    assert isinstance(changed, OwnerClaim)
    assert claim_of(changed, "sub", now=START + WAY_BACK - 1) == "sub"
    assert claim_of(changed, "sub", now=START + WAY_BACK) == "refused"
    back = decided(changed, "sub", now=START + HOUR)
    assert isinstance(back, OwnerClaim)
    assert claim_of(back, "org", now=START + 2 * HOUR) == "org", "and forward once more"


A, B = "https://a.example/", "https://b.example/"


def test_a_change_of_the_issuer_needs_its_name() -> None:
    """It is the other half of an owner."""
    known = OwnerClaim(claim="sub", issuer=A)
    for confirmed in ("", "sub", A, B[:-1]):
        found = decided(known, "sub", issuer=B, confirmed=confirmed)
        assert isinstance(found, ClaimRefused)
        assert "JwtIssuer" in found.reason
        assert len(found.reason) <= 200
    changed = decided(known, "sub", issuer=B, confirmed=B)
    assert changed == OwnerClaim(claim="sub", issuer=B, before="sub", issuer_before=A, changed_at=START)
    assert isinstance(changed, OwnerClaim)
    assert claim_of(changed, "sub", issuer=A, now=START + WAY_BACK - 1) == "sub", "the way back"
    assert claim_of(changed, "sub", issuer=A, now=START + WAY_BACK) == "refused"
    assert claim_of(changed, "sub", issuer="https://c.example/", confirmed=B) == "refused"


def test_a_change_of_both_needs_both() -> None:
    known = OwnerClaim(claim="sub", issuer=A)
    for confirmed in ("org", B):
        assert claim_of(known, "org", issuer=B, confirmed=confirmed) == "refused"
    changed = decided(known, "org", issuer=B, confirmed=f"org {B}")
    assert isinstance(changed, OwnerClaim)
    assert (changed.claim, changed.issuer) == ("org", B)
    assert claim_of(changed, "sub", issuer=A, now=START + 1) == "sub"
    assert claim_of(changed, "sub", issuer=B, now=START + 1) == "refused", "that was never so"


def test_an_issuer_that_was_not_known_is_noted() -> None:
    """The row of a stack from before has none."""
    noted = decided(OwnerClaim(claim="org", before="sub", changed_at=START - HOUR), "org", issuer=A)
    assert noted == OwnerClaim(claim="org", issuer=A, before="sub", changed_at=START - HOUR)
    assert claim_of(OwnerClaim(claim="sub", issuer=A), "sub", issuer=B, is_jwt=False) == "sub"


def test_without_tokens_nothing_is_refused_and_nothing_forgotten() -> None:
    assert decided(None, "org", is_jwt=False, **OLD) == OwnerClaim(claim="")
    assert decided(SUB, "org", is_jwt=False) is SUB
    assert claim_of(OwnerClaim(claim=""), "org", **OLD) == "org"


@pytest.mark.parametrize("claim", sorted(PER_TOKEN))
def test_a_claim_that_is_another_in_each_token_is_refused(claim: str) -> None:
    assert claim_of(None, claim, confirmed=claim) == "refused"


# ------------------------------------------------------------ the custom resource


def asked(world: World, request: str, claim: str, allow: str = "", **more: str) -> str | MadeResource:
    callers = build(Callers, world.ports("deploy-action-registrar"), otherwise=lambda command: "something else")
    properties = {"Authorization": "JWT", "OwnerClaim": claim, "AllowOwnerClaimChange": allow, **more}
    return callers(
        Command(
            request=request,
            request_id="1",
            stack=world.settings.stack_id,
            resource="ApiCallers",
            physical_id="callers",
            properties=properties,
        )
    )


def test_what_the_functions_get() -> None:
    world = World()
    scopes = {"ReadScope": "d/read", "WriteScope": "d/write"}
    assert asked(world, "Create", "org", **scopes) == MadeResource(
        physical_id="callers", data={"Setting": "JWT org d/read d/write"}
    )
    assert asked(world, "Update", "org") == MadeResource(physical_id="callers", data={"Setting": "JWT org - -"})


def test_a_deployment_fails_and_is_rolled_back() -> None:
    world = World()
    world.control.raise_shards(Shards(highest=1, since=minute_of(START - DAY)))
    with pytest.raises(CannotRegister, match="sub -> org orphans"):
        asked(world, "Create", "org")
    asked(world, "Create", "org", "org")
    asked(world, "Delete", "org", "org")  # the deployment failed elsewhere, and its resource goes
    asked(world, "Create", "sub")
    asked(world, "Update", "org", "org")
    asked(world, "Update", "sub")  # a roll-back
    assert world.owner_claim.owner_claim().claim == "sub"  # type: ignore[union-attr] # it is there


def test_what_could_not_be_kept_is_not_noted() -> None:
    """The log of a deployment says what is, not what was to be."""

    class Full(StoredOwnerClaim):
        def write_owner_claim(self, claim: OwnerClaim) -> None:
            raise Unavailable("write the owner claim")

    world = World()
    world.owner_claim = on_sqlite(Full)
    with pytest.raises(Unavailable):
        asked(world, "Create", "sub")
    assert [event for event, _, _ in world.observer.lines if event == "owner claim"] == []


def test_another_stack_says_nothing_about_the_callers() -> None:
    world = World()
    callers = build(Callers, world.ports("deploy-action-registrar"), otherwise=lambda command: "something else")
    foreign = Command(
        request="Create", request_id="1", stack="arn:other", resource="x", properties={"OwnerClaim": "org"}
    )
    with pytest.raises(CannotRegister, match="own stack"):
        callers(foreign)
    registration = Command(request="Create", request_id="1", stack="arn:other", resource="x", properties={"Type": "y"})
    assert callers(registration) == "something else"


def test_the_way_back_of_a_claim_is_none_for_the_issuer() -> None:
    """An issuer that was not known before is not any issuer."""
    known = OwnerClaim(claim="org", issuer=A, before="sub", changed_at=START)
    assert claim_of(known, "sub", issuer=A, now=START + HOUR) == "sub"
    for wanted in ("sub", "org"):
        found = decided(known, wanted, issuer=B, now=START + HOUR)
        assert isinstance(found, ClaimRefused)
