"""All models beside that of one schedule: the spaces that are searched by the tests, and the rules that are removed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from tests.model.circuit import guards as circuit_guards
from tests.model.circuit import search as circuit
from tests.model.connections import guards as connection_guards
from tests.model.connections import search as connections
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
from tests.model.tables import Guard
from tests.model.timing import guards as timing_guards
from tests.model.timing import search as timing


@frozen
class Model:
    """One of them."""

    spaces: Mapping[str, Any]  # each choice of what is possible at the same time
    search: Callable[[Any], Found[Any]]  # the whole space of a choice
    guards: Sequence[Guard]


MODELS: Final = {
    "series": Model(series_choices.SMALL, series.search, series_guards.GUARDS),
    "net": Model(net_choices.SMALL, net.search, net_guards.GUARDS),
    "relaxed": Model(relaxed.CHOICES, relaxed.search, relaxed_guards.GUARDS),
    "timing": Model(timing.WHOLE, timing.search, timing_guards.GUARDS),
    "circuit": Model(circuit.WHOLE, circuit.search, circuit_guards.GUARDS),
    "limits": Model(limits.WHOLE, limits.search, limit_guards.GUARDS),
    "seats": Model(seats.WHOLE, seats.search, seat_guards.GUARDS),
    "keys": Model(keys.WHOLE, keys.search, key_guards.GUARDS),
    "repeats": Model(repeats.WHOLE, repeats.search, repeat_guards.GUARDS),
    "suspects": Model(suspects.WHOLE, suspects.search, suspect_guards.GUARDS),
    "connections": Model(connections.WHOLE, connections.search, connection_guards.GUARDS),
}
