"""What an executor reads to sign, how often, and what it does when it cannot."""

import pytest
from attrs import define

from delayer.actions.ports import NotAttempted
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.schedule.instants import MINUTE
from delayer.signing.repository import KEYS, StoredSigningRows
from delayer.signing.rules import FRESH, USABLE, Rotation, SigningKeys
from delayer.signing.sign import MOST_OWNERS, Sign
from delayer.wiring.build import build
from tests.looking import take_row
from tests.samples import NOW
from tests.unit.signing.receivers import OWNER, Scene, a_message
from tests.world import World


@define
class Counted:
    """Counts what is read, and may be out of reach."""

    rows: StoredSigningRows
    reads: int = 0
    is_down: bool = False

    def signing_keys(self) -> SigningKeys:
        self._count()
        return self.rows.signing_keys()

    def rotation(self, owner: str) -> Rotation:
        self._count()
        return self.rows.rotation(owner)

    def _count(self) -> None:
        self.reads += 1
        if self.is_down:
            raise Unavailable("read what signs: down")


def a_sign() -> tuple[Sign, Counted, ManualClock]:
    clock, rows = ManualClock(NOW), Counted(Scene().rows)
    return Sign(clock=clock, signing_rows=rows), rows, clock  # type: ignore[arg-type] # it has what is called


def test_the_headers_of_an_attempt() -> None:
    sign, _, clock = a_sign()
    first = sign(a_message())
    clock.move(1_500)
    second = sign(a_message())
    assert first["Webhook-Id"] == second["Webhook-Id"] == a_message().schedule_id, "all attempts have one id"
    assert int(second["Webhook-Timestamp"]) == int(first["Webhook-Timestamp"]) + 1 == clock.now() // 1000
    assert first["Webhook-Signature"] != second["Webhook-Signature"]
    assert [one[:3] for one in first["Webhook-Signature"].split(" ")] == ["v1,", "v1,"], "the current one, and the next"


def test_an_attempt_costs_no_read_within_a_minute() -> None:
    sign, rows, clock = a_sign()
    for _ in range(60):
        sign(a_message())
        clock.move(FRESH // 60)
    assert rows.reads == 2, "the keys, and the row of the owner"
    sign(a_message())
    assert rows.reads == 4
    sign(a_message("urn:owner:two"))
    assert rows.reads == 5, "of another owner, the row alone"


def test_nothing_goes_out_unsigned() -> None:
    """Whatever cannot be read: the message waits."""
    sign, rows, _ = a_sign()
    rows.is_down = True
    with pytest.raises(NotAttempted, match="what signs it cannot be read"):
        sign(a_message())
    rows.is_down = False
    take_row(rows.rows, KEYS)
    with pytest.raises(NotAttempted, match="no signing key yet; operator-id-key makes it within a minute"):
        sign(a_message())
    rows.rows = Scene().rows
    assert sign(a_message())["Webhook-Signature"]


def test_what_is_known_serves_for_five_minutes() -> None:
    sign, rows, clock = a_sign()
    sign(a_message())
    rows.is_down = True
    clock.move(USABLE - 1)
    assert sign(a_message())["Webhook-Signature"]
    clock.move(1)
    with pytest.raises(NotAttempted):
        sign(a_message())
    rows.is_down = False
    assert sign(a_message())["Webhook-Signature"]


def test_a_clock_that_goes_backwards_trusts_nothing_from_later() -> None:
    sign, rows, clock = a_sign()
    sign(a_message())
    clock.move(-MINUTE)
    rows.is_down = True
    with pytest.raises(NotAttempted):
        sign(a_message())


def test_an_environment_knows_a_bounded_number_of_owners() -> None:
    """Those that were met last."""
    sign, rows, _ = a_sign()
    for number in range(MOST_OWNERS + 1):
        sign(a_message(f"urn:owner:{number}"))
        sign(a_message("urn:owner:0"))
    reads = rows.reads
    sign(a_message("urn:owner:0"))
    sign(a_message(f"urn:owner:{MOST_OWNERS}"))
    assert rows.reads == reads
    sign(a_message("urn:owner:1"))
    assert rows.reads == reads + 1


def test_a_schedule_whose_request_cannot_be_signed_waits() -> None:
    """No attempt is used up, and it is executed as soon as there is a key."""
    world = World()
    take_row(world.signing_rows, KEYS)
    sign = build(Sign, world.ports("executor-http-request"))
    with pytest.raises(NotAttempted):
        sign(a_message(OWNER))
