"""All models beside that of one schedule: the spaces that are searched by the tests, and the rules that are removed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from tests.model.batches import guards as batch_guards
from tests.model.batches import search as batches
from tests.model.circuit import guards as circuit_guards
from tests.model.circuit import search as circuit
from tests.model.connections import guards as connection_guards
from tests.model.connections import search as connections
from tests.model.guard import Guard
from tests.model.keys import guards as key_guards
from tests.model.keys import search as keys
from tests.model.limits import guards as limit_guards
from tests.model.limits import search as limits
from tests.model.net import configurations as net_choices
from tests.model.net import guards as net_guards
from tests.model.net import search as net
from tests.model.relaxed import guards as relaxed_guards
from tests.model.relaxed import search as relaxed
from tests.model.repeats import guards as repeat_guards
from tests.model.repeats import search as repeats
from tests.model.search import Found
from tests.model.seats import guards as seat_guards
from tests.model.seats import search as seats
from tests.model.series import configurations as series_choices
from tests.model.series import guards as series_guards
from tests.model.series import search as series
from tests.model.suspects import guards as suspect_guards
from tests.model.suspects import search as suspects
from tests.model.timing import guards as timing_guards
from tests.model.timing import search as timing
from tests.model.turns import guards as turn_guards
from tests.model.turns import search as turns


@frozen(kw_only=True)
class Model:
    """One of them."""

    of: str  # what it is a model of
    spaces: Mapping[str, Any]  # each choice of what is possible at the same time
    big: Mapping[str, Any] = {}  # choices that only `make model` searches
    search: Callable[..., Found[Any]]  # the whole space of a choice; by other rules, if they are given
    guards: Sequence[Guard[Any, Any]]

    @property
    def whole(self) -> Mapping[str, Any]:
        """All choices."""
        return {**self.spaces, **self.big}


MODELS: Final = {
    "series": Model(
        of="a series",
        spaces=series_choices.SMALL,
        big=series_choices.BIG,
        search=series.search,
        guards=series_guards.GUARDS,
    ),
    "net": Model(
        of="the net", spaces=net_choices.SMALL, big=net_choices.BIG, search=net.search, guards=net_guards.GUARDS
    ),
    "relaxed": Model(
        of="a relaxed schedule", spaces=relaxed.CHOICES, search=relaxed.search, guards=relaxed_guards.GUARDS
    ),
    "timing": Model(
        of="a time that is decided", spaces=timing.WHOLE, search=timing.search, guards=timing_guards.GUARDS
    ),
    "batches": Model(of="a batch", spaces=batches.WHOLE, search=batches.search, guards=batch_guards.GUARDS),
    "circuit": Model(of="a circuit", spaces=circuit.WHOLE, search=circuit.search, guards=circuit_guards.GUARDS),
    "limits": Model(of="a limit", spaces=limits.WHOLE, search=limits.search, guards=limit_guards.GUARDS),
    "seats": Model(of="seats", spaces=seats.WHOLE, search=seats.search, guards=seat_guards.GUARDS),
    "keys": Model(of="an idempotency key", spaces=keys.WHOLE, search=keys.search, guards=key_guards.GUARDS),
    "repeats": Model(
        of="a call that the client repeats", spaces=repeats.WHOLE, search=repeats.search, guards=repeat_guards.GUARDS
    ),
    "suspects": Model(
        of="messages that come back", spaces=suspects.WHOLE, search=suspects.search, guards=suspect_guards.GUARDS
    ),
    "connections": Model(
        of="a connection", spaces=connections.WHOLE, search=connections.search, guards=connection_guards.GUARDS
    ),
    "turns": Model(of="the turns of one machine", spaces=turns.WHOLE, search=turns.search, guards=turn_guards.GUARDS),
}
