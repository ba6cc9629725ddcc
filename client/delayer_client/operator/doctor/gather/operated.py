"""What the operator functions know: dead letters, and what waits although it is due."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Final

from delayer_client.operator.doctor.facts import StoredFacts
from delayer_client.operator.stack import OperatorStack

AT_MOST: Final = 1000  # dead letters that are looked at
PREFIXES: Final = ("dead-lettered/", "failed/", "waiting/", "aws/lambda/")


def look_at_dead_letters(stack: OperatorStack, _: datetime) -> StoredFacts:
    """How many there are, by the beginning of their keys and by reason."""
    letters = list(islice(stack.dead_letters.list(), AT_MOST + 1))
    reasons: dict[str, Counter[str]] = {prefix: Counter() for prefix in PREFIXES}
    for letter in letters[:AT_MOST]:
        prefix = next((one for one in PREFIXES if letter.key.startswith(one)), PREFIXES[0])
        reasons[prefix][letter.reason] += 1
    return StoredFacts(
        reasons={prefix: dict(counted) for prefix, counted in reasons.items()}, is_whole=len(letters) <= AT_MOST
    )


def look_at_flow(stack: OperatorStack, _: datetime) -> Mapping[str, Any]:
    """As the function answers it."""
    return stack.flow.list()
