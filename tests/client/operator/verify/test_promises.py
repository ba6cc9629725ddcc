"""Each promise that a stack can break is found broken, and a stack that keeps them all is found so."""

from dataclasses import replace
from typing import Any

import pytest

from delayer_client.operator.verify.account import CanaryAlarm
from delayer_client.operator.verify.api import now
from delayer_client.operator.verify.inbox import Arrival
from delayer_client.operator.verify.promises import cancelling, deciding, failing, firing, repeating
from delayer_client.operator.verify.promises.canary import canary
from delayer_client.operator.verify.promises.relaxed import relaxed
from delayer_client.operator.verify.promises.signing import signing
from delayer_client.operator.verify.promises.surroundings import NEEDED, PROVISIONED, concurrency, events, pollers
from delayer_client.operator.verify.results.findings import Finding, Outcome
from tests.cfn import written
from tests.client.operator.verify.fakes import FakeStack, a_session, the_late_queue

HELD, BROKEN, UNCHECKED = Outcome.HELD, Outcome.BROKEN, Outcome.UNCHECKED


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an instant here."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def look(stack: FakeStack, part: str, **options: Any) -> Finding:
    session: Any = a_session(stack, **options)
    created: firing.Waiting | Finding = getattr(firing, part)(session, stack.inbox)
    return created.look(session, stack.inbox) if isinstance(created, firing.Waiting) else created


@pytest.mark.parametrize("part", ["near", "far", "bulk"])
@pytest.mark.parametrize(
    ("late", "outcome", "said"),
    [
        ((5,), HELD, ""),
        ((-15,), HELD, ""),  # within what two clocks may differ
        ((-21,), BROKEN, "early"),
        ((5001,), BROKEN, "late"),
        ((5, 90), BROKEN, "fired twice"),
        ((), BROKEN, "none of"),
    ],
)
def test_firing(part: str, late: tuple[int, ...], outcome: Outcome, said: str) -> None:
    finding = look(FakeStack(late=late), part)
    assert finding.outcome is outcome
    assert said in finding.detail


def test_one_that_is_lost_among_many_is_counted() -> None:
    stack = FakeStack()
    session: Any = a_session(stack)
    waiting: Any = firing.near(session, stack.inbox)
    stack.inbox.found.pop()
    finding = waiting.look(session, stack.inbox)
    assert (finding.outcome, finding.detail) == (BROKEN, "of 5: 1 never arrived")


def test_far_begins_with_the_first_instant_that_is_left_to_the_minute_task() -> None:
    """With a delayer period of a minute it takes three at most."""
    stack = FakeStack(parameters={"DelayerPeriod": "60"})
    session: Any = a_session(stack)
    waiting: Any = firing.far(session, stack.inbox)
    ahead = min(waiting.due.values()) - now()
    assert 60_000 < ahead <= 60_000 + 60_000 + 10_000
    assert firing.seconds_of_far(60_000) == 190


def test_a_batch_that_is_refused_in_part() -> None:
    class Refusing(FakeStack):
        def post(self, path: str, content: dict[str, Any], key: str = "") -> Any:
            answer = super().post(path, content, key)
            answer.content["results"][3] = {"status": 429, "problem": {"detail": "a quota"}}
            return answer

    finding = look(Refusing(), "bulk", bulk=10)
    assert finding.outcome is BROKEN
    assert finding.detail == "9 of 10 were accepted: a quota"


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, HELD, "12 × 200 and never fired, 12 × 409 and arrived"),
        ({"fires_cancelled": True}, BROKEN, "12 of 12 were answered 200 and fired"),
        ({"loses_claimed": True}, BROKEN, "12 of 12 were answered 409 and did not arrive"),
        ({"cancel": (200, 404)}, BROKEN, "cancels were answered 404"),
    ],
)
def test_races(changed: dict[str, Any], outcome: Outcome, said: str) -> None:
    stack = FakeStack(**changed)
    session: Any = a_session(stack)
    finding = cancelling.races(session, stack.inbox)
    assert (finding.outcome, finding.detail) == (outcome, said)


def test_cancels_are_sent_from_before_the_claim_to_after_it() -> None:
    sent = [cancelling.before(number, lead=500) for number in range(cancelling.RACES)]
    assert (sent[0], sent[-1]) == (1000, -500)
    assert sum(0 <= one <= 500 for one in sent) >= 7, "in the half second in which it is claimed"


def test_what_fires_long_after_its_cancel_is_found_at_the_end() -> None:
    stack = FakeStack()
    session: Any = a_session(stack)
    cancelling.races(session, stack.inbox)
    assert cancelling.never_fired(session, stack.inbox).outcome is HELD
    late = min(session.must_not_arrive)
    stack.states[late] = "executed"
    assert cancelling.never_fired(session, stack.inbox).outcome is BROKEN


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [({}, HELD), ({"attempt": 3}, BROKEN), ({"parameters": {"AllowPrivateTargets": "true"}}, HELD)],
)
def test_a_refused_target(changed: dict[str, Any], outcome: Outcome) -> None:
    stack = FakeStack(**changed)
    session: Any = a_session(stack)
    assert failing.refused(session).outcome is outcome
    assert session.clean_up() == []
    assert len(stack.discarded) == 1, "its body is not left in the store"


def test_a_private_target_that_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "FAILED_WITHIN", 0)
    session: Any = a_session(FakeStack(state="executed"))
    assert failing.refused(session).outcome is BROKEN


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, HELD, "executed once"),
        ({"outcome": "not redriven: it is claimed"}, BROKEN, "the redrive answered not redriven"),
        ({"late": (5, 9)}, BROKEN, "it arrived 2 times"),
        ({"late": ()}, BROKEN, "it arrived 0 times"),
        ({"state": "executed"}, BROKEN, "it is executed"),
    ],
)
def test_redrive(changed: dict[str, Any], outcome: Outcome, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "FAILED_WITHIN", 0)
    stack = FakeStack(**changed)
    session: Any = a_session(stack)
    finding = failing.redriven(session, the_late_queue(stack))
    assert finding.outcome is outcome
    assert said in finding.detail


def test_a_failed_schedule_whose_body_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "STORED_WITHIN", 0)
    stack = FakeStack(stores=False)
    session: Any = a_session(stack)
    finding = failing.redriven(session, the_late_queue(stack))
    assert (finding.outcome, finding.detail) == (BROKEN, "it failed, but nothing is stored under its id")


NEAR = CanaryAlarm(
    name="near", metric="CanaryNearLateness", state="OK", topics=("arn:t",), is_enabled=True, figures=(12.0, 40.0)
)
FAR = replace(NEAR, name="far", metric="CanaryFarLateness")


@pytest.mark.parametrize(
    ("far", "subscribers", "outcomes", "said"),
    [
        (FAR, 1, [HELD, HELD], "CanaryFarLateness at most 40 ms, CanaryNearLateness at most 40 ms"),
        (FAR, 0, [HELD, BROKEN], "nobody has confirmed a subscription"),
        (replace(FAR, state="ALARM"), 1, [BROKEN, HELD], "far rings"),
        (replace(FAR, figures=()), 1, [BROKEN, HELD], "no figure of CanaryFarLateness"),
        (replace(FAR, is_enabled=False), 1, [HELD, BROKEN], "no action that is enabled"),
        (replace(FAR, topics=()), 1, [HELD, BROKEN], "no action that is enabled"),
    ],
)
def test_the_canary_and_who_hears_it(far: CanaryAlarm, subscribers: int, outcomes: list[Outcome], said: str) -> None:
    """Both ways count: one can fail without the other."""
    stack: Any = FakeStack(alarms=(NEAR, far), subscribers=subscribers)
    findings = canary(a_session(stack, canary_seconds=0), stack, 0)
    assert [finding.outcome for finding in findings] == outcomes
    assert said in " ".join(finding.detail for finding in findings)


def test_the_first_figures_of_a_new_stack_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stack: Any = FakeStack(alarms=(replace(NEAR, figures=(), state="ALARM"),))
    monkeypatch.setattr("time.sleep", lambda seconds: setattr(stack, "alarms", (NEAR,)))
    assert canary(a_session(stack), stack, 7)[0].outcome is HELD


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"alarms": (NEAR,), "parameters": {"Canary": "off"}}, "--skip canary"), ({}, "no alarm whose name begins")],
)
def test_a_canary_that_is_not_there_cannot_be_checked(changed: dict[str, Any], said: str) -> None:
    stack: Any = FakeStack(**changed)
    [finding] = canary(a_session(stack, canary_seconds=0), stack, 0)
    assert finding.outcome is UNCHECKED
    assert said in finding.detail


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, HELD, "2 occurrences"),
        ({"late": (5, 90)}, BROKEN, "fired twice"),
        ({"late": (5001,)}, BROKEN, "late"),
        ({"late": ()}, BROKEN, "none of 2"),
        ({"steps": False}, BROKEN, "second occurrence was not put"),
        ({"cancel": (503,)}, BROKEN, "its DELETE was answered 503"),
        ({"series_status": 409}, UNCHECKED, "no series can be made"),
    ],
)
def test_a_series(changed: dict[str, Any], outcome: Outcome, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "GRACE", 0)
    stack = FakeStack(**changed)
    session: Any = a_session(stack)
    finding = repeating.repeating(session, stack.inbox)
    assert (finding.outcome, said in finding.detail) == (outcome, True)
    is_deleted = outcome is not UNCHECKED and "DELETE /series/a" in stack.calls
    assert session.series == (
        set() if outcome is UNCHECKED or (is_deleted and changed.get("cancel") is None) else {"a"}
    )


def test_a_series_that_goes_on_after_its_delete_is_found_at_the_end() -> None:
    stack = FakeStack(fires_cancelled=True)
    session: Any = a_session(stack)
    assert repeating.repeating(session, stack.inbox).outcome is HELD
    assert cancelling.never_fired(session, stack.inbox).outcome is BROKEN


def test_what_is_left_of_a_series_is_deleted() -> None:
    stack = FakeStack(cancel=(200,))
    session: Any = a_session(stack)
    session.series.add("a")
    assert session.clean_up() == []
    assert stack.calls == ["DELETE /series/a"]
    stack.cancel = (503,)
    assert "the series a" in session.clean_up()[0]


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, HELD, "T12:00:00.000Z, then cancelled"),
        ({"when_status": 422}, UNCHECKED, "the policy is not there"),
        ({"decided": {"state": "undecided"}}, BROKEN, "no time was decided"),
        ({"decided": {"state": "failed", "detail": "no hour"}}, BROKEN, "it is failed: no hour"),
        ({"decided": {"pointInTime": "2026-11-02T12:00:00.000Z"}}, BROKEN, "it is due 2026-11-02T12:00:00.000Z, and"),
        ({"cancel": (409,)}, BROKEN, "its cancel was answered 409"),
    ],
)
def test_a_time_that_is_decided(
    changed: dict[str, Any], outcome: Outcome, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "GRACE", 0)
    stack = FakeStack(**{"cancel": (200,), **changed})
    session: Any = a_session(stack)
    finding = deciding.deciding(session, stack.inbox)
    assert (finding.outcome, said in finding.detail) == (outcome, True)
    if outcome is not UNCHECKED:
        assert (session.live, "u" in session.must_not_arrive) == (
            ({"u"}, False) if "cancel" in changed else (set(), True)
        )


def test_a_decided_schedule_that_fires_after_its_cancel_is_found_at_the_end() -> None:
    """It arrives by the id that it was decided as."""
    stack = FakeStack(cancel=(200,))
    session: Any = a_session(stack)
    assert deciding.deciding(session, stack.inbox).outcome is HELD
    assert cancelling.never_fired(session, stack.inbox).outcome is HELD
    stack.inbox.found.append(Arrival(schedule_id="d", at=now()))
    assert cancelling.never_fired(session, stack.inbox).outcome is BROKEN


@pytest.mark.parametrize(
    ("stack", "outcomes"),
    [
        (FakeStack(cancel=(200,)), [HELD, HELD]),
        (FakeStack(cancel=(409,)), [BROKEN, HELD]),
        (FakeStack(cancel=(200,), lane="precise"), [BROKEN, HELD]),
        (FakeStack(cancel=(200,), ttl="DISABLED"), [HELD, BROKEN]),
        (FakeStack(cancel=(200,), ttl="ENABLED due"), [HELD, BROKEN]),
    ],
)
def test_the_relaxed_lane(stack: FakeStack, outcomes: list[Outcome]) -> None:
    """Without its TTL nothing there would ever fire."""
    session: Any = a_session(stack, url="https://abc.execute-api.eu-west-1.amazonaws.com")
    assert [one.outcome for one in relaxed(session, stack.inbox)] == outcomes
    assert len(session.live) + len(session.must_not_arrive) == 1


def test_on_one_machine_the_emulator_plays_the_ttl() -> None:
    stack = FakeStack(cancel=(200,), ttl="DISABLED")
    session: Any = a_session(stack)
    assert [one.outcome for one in relaxed(session, stack.inbox)] == [HELD]


def test_without_an_account_nobody_knows_of_the_ttl() -> None:
    stack = FakeStack(cancel=(200,))
    session: Any = a_session(stack, with_account=False, url="https://api.example")
    assert [one.outcome for one in relaxed(session, stack.inbox)] == [HELD, UNCHECKED]


@pytest.mark.parametrize(
    ("changes", "outcome", "said"),
    [
        ({}, HELD, "32 bytes"),
        ({"secret_status": 403}, UNCHECKED, "may not have it"),
        ({"secret_status": 404}, BROKEN, "404"),
        ({"secrets": ("whsec_" + "A" * 43 + "=", "whsec_" + "B" * 43 + "=")}, BROKEN, "two secrets"),
        ({"secrets": (None,)}, BROKEN, "whsec_"),
        ({"secrets": ("A" * 43 + "=",)}, BROKEN, "whsec_"),
        ({"secrets": ("whsec_",)}, BROKEN, "32 bytes"),
        ({"secrets": ("whsec_AAAA",)}, BROKEN, "32 bytes"),
        ({"secrets": ("whsec_" + "\u00e9" * 44,)}, BROKEN, "32 bytes"),
    ],
)
def test_the_secret_that_signs(changes: dict[str, Any], outcome: Outcome, said: str) -> None:
    stack = FakeStack(**changes)
    session: Any = a_session(stack)
    finding = signing(session)
    assert finding.outcome is outcome
    assert said in finding.detail
    texts = [one.removeprefix("whsec_") for one in stack.secrets if one]
    assert not [one for one in texts if one and one in finding.detail]


@pytest.mark.parametrize(
    ("scale", "allowed", "outcome"),
    [("small", 1_000, HELD), ("small", 10, BROKEN), ("large", 1_000, BROKEN), ("large", 3_000, HELD)],
)
def test_the_account_allows_what_the_stack_is_made_for(scale: str, allowed: int, outcome: Outcome) -> None:
    """A new account may have as few as ten."""
    stack = FakeStack(parameters={"Scale": scale}, concurrency=allowed)
    found = concurrency(a_session(stack), stack)  # type: ignore[arg-type]
    assert found.outcome == outcome
    assert (f"ask AWS for {NEEDED[scale]:,}" in found.detail) == (outcome == BROKEN)


def test_what_is_needed_is_what_the_template_says() -> None:
    assert {name: row["Concurrency"] for name, row in written()["Mappings"]["Scales"].items()} == NEEDED


def test_whether_pollers_are_provisioned_is_what_the_template_says() -> None:
    scales = written()["Mappings"]["Scales"]
    assert {name: "RelayPollers" in row for name, row in scales.items()} == PROVISIONED


@pytest.mark.parametrize(
    ("region", "publishes", "said"),
    [
        ("us-east-1", 0, "30,000 messages a second by default in us-east-1: those of 7,500 schedules a second"),
        ("eu-central-1", 0, "1,500 messages a second by default in eu-central-1: those of 375 "),
        ("eu-south-2", 0, "300 messages a second by default in eu-south-2: those of 75 "),
        ("eu-south-2", 12_000, "12,000 messages a second of this account: those of 3,000 "),
    ],
)
def test_how_many_events_the_region_publishes(region: str, publishes: int, said: str) -> None:
    stack = FakeStack(region=region, publishes=publishes)
    found = events(a_session(stack), stack)  # type: ignore[arg-type]
    assert found.outcome == HELD
    assert found.detail.startswith(said)


def test_a_stack_without_events_publishes_none() -> None:
    stack = FakeStack(parameters={"Lifecycle": "off"})
    assert "Lifecycle=off" in events(a_session(stack), stack).detail  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scale", "provisioned", "outcome", "said"),
    [
        ("small", {}, HELD, "none, and Scale=small"),
        ("small", {"delayer-delayer-relay": 30}, BROKEN, "30 are provisioned and paid for, at delayer-delayer-relay"),
        ("large", {"delayer-delayer-relay": 30, "delayer-executor-canary": 2}, HELD, "32 provisioned, as Scale=large"),
        ("large", {}, BROKEN, "no queue has provisioned pollers"),
        ("small", None, UNCHECKED, "no mappings"),
    ],
)
def test_what_the_scale_does_not_have_is_not_paid_for(
    scale: str, provisioned: dict[str, int] | None, outcome: Outcome, said: str
) -> None:
    """A stack that goes from `large` back to `small` must not keep its pollers."""
    stack = FakeStack(parameters={"Scale": scale}, provisioned=provisioned)
    found = pollers(a_session(stack), stack)  # type: ignore[arg-type]
    assert found.outcome == outcome
    assert said in found.detail
