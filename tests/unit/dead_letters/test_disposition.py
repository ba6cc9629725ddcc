"""What becomes of a body that is about to become a dead letter, by the row that is in the ledger."""

import pytest

from delayer.dead_letters.model import Disposition, decide_disposition
from delayer.dead_letters.rules import redriven, settled
from delayer.ledger.model import ENDS, Arrival, LedgerRow, State
from delayer.ledger.rules import contested, taken
from tests.samples import NOW, OWNER, a_claim, an_id

RETRIED = a_claim(nonce="n1", attempt=3, fence="d3", retry_of="d2")
REDRIVEN = redriven(an_id(), OWNER, a_claim(state=State.DEAD_LETTERED), "n5", NOW)
TO_THE_TABLE = redriven(an_id(), OWNER, a_claim(state=State.DEAD_LETTERED), "", NOW)


@pytest.mark.parametrize(
    ("current", "nonce", "fence", "verdict"),
    [
        (None, "", "", Disposition.MARK),
        (None, "n1", "", Disposition.MARK),
        (None, "n1", "d1", Disposition.MARK),
        (a_claim(nonce="n1"), "n1", "", Disposition.MARK),
        (a_claim(nonce="n1"), "n1", "d1", Disposition.MARK),
        (a_claim(nonce="n1"), "n1", "d0", Disposition.MARK),
        (a_claim(nonce="n1"), "n2", "", Disposition.DISCARD),
        (a_claim(nonce="n1"), "", "", Disposition.DISCARD),
        (RETRIED, "n1", "d3", Disposition.MARK),
        (RETRIED, "n1", "d2", Disposition.MARK),
        (RETRIED, "n1", "d1", Disposition.DISCARD),
        (RETRIED, "n1", "", Disposition.DISCARD),
        (contested(RETRIED), "n1", "d9", Disposition.MARK),
        (taken(contested(RETRIED), "d9"), "n1", "d9", Disposition.MARK),
        (taken(contested(RETRIED), "d9"), "n1", "d3", Disposition.DISCARD),
        (taken(a_claim(nonce="n1", arrival=Arrival.CONTESTED), "d9"), "n1", "", Disposition.DISCARD),
        (REDRIVEN, "n5", "", Disposition.MARK),
        (REDRIVEN, "n1", "", Disposition.STORE),
        (settled(TO_THE_TABLE), "n1", "", Disposition.MARK),
        (a_claim(state=State.DEAD_LETTERED), "n1", "", Disposition.STORE),
        (a_claim(state=State.DEAD_LETTERED), "n2", "d7", Disposition.STORE),
        *[(a_claim(state=state), "n1", "", Disposition.DISCARD) for state in sorted(ENDS - {State.DEAD_LETTERED})],
    ],
)
def test_what_becomes_of_a_body(current: LedgerRow | None, nonce: str, fence: str, verdict: Disposition) -> None:
    """What may be the last copy is marked; one that another has overtaken is discarded; an end stays an end."""
    assert decide_disposition(current, nonce, fence) is verdict
