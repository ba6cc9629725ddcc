"""How many calls the clients made in which time. No input or output here."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import field, frozen


@frozen(kw_only=True)
class TimedCall:
    """One call that was made."""

    seconds: float
    failure: str | None  # why the response was not the expected one


@frozen(kw_only=True)
class Throughput:
    """The figures of all clients. The speed counts only calls with the expected response."""

    clients: int
    calls: int  # all that were made
    failed: int  # with an unexpected response, or without one
    per_second: float
    p50_ms: float | None  # None: no call had the expected response
    failures: Mapping[str, int] = field(factory=dict)  # what came instead -> how often


def summarise(clients: int, made: Iterable[TimedCall], seconds: float) -> Throughput:
    """The figures of all clients' calls within these seconds."""
    all_calls = list(made)
    good = [call.seconds for call in all_calls if call.failure is None]
    return Throughput(
        clients=clients,
        calls=len(all_calls),
        failed=len(all_calls) - len(good),
        per_second=len(good) / seconds,
        p50_ms=statistics.median(good) * 1000 if good else None,
        failures=dict(Counter(call.failure for call in all_calls if call.failure is not None)),
    )
