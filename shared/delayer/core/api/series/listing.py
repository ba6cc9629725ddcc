"""The query of a call about many series, or about the occurrences of one, becomes what it asks for."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from delayer.core.api.field_errors import MAX_ERRORS, NEXT, OCCURRENCES, SERIES_LISTING, errors_of
from delayer.core.api.listing import after_in
from delayer.core.api.problem import FieldError, Invalid
from delayer.core.api.series.request import OccurrenceListing, SeriesListing
from delayer.core.ledger.lifecycle import State
from delayer.core.schemas.json_text import integer
from delayer.core.series.series import SeriesState

DEFAULT_LIMIT: Final = 50
DEFAULT_COUNT: Final = 10
OURS: Final = re.compile(r"1([A-Za-z0-9._:@-]{0,128})#([0-9a-z]{1,64})")


def admit_series_listing(query: Mapping[str, str]) -> SeriesListing:
    """The listing that a query asks for. Raises Invalid."""
    document, errors = _checked(query, SERIES_LISTING, "limit")
    group = document.get("group")
    after = _place_in(document["cursor"], group, errors) if "cursor" in document else None
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = SeriesState(document["state"]) if "state" in document else None
    return SeriesListing(group=group, state=state, limit=document.get("limit", DEFAULT_LIMIT), after=after)


def admit_occurrences(query: Mapping[str, str]) -> OccurrenceListing:
    """The occurrences that a query asks for. Raises Invalid."""
    document, errors = _checked(query, OCCURRENCES, "limit")
    after = after_in(document["cursor"], errors) if "cursor" in document else ""
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = State(document["state"]) if "state" in document else None
    return OccurrenceListing(state=state, limit=document.get("limit", DEFAULT_LIMIT), after=after)


def admit_count(query: Mapping[str, str]) -> int:
    """How many of the next times a query asks for. Raises Invalid."""
    document, errors = _checked(query, NEXT, "count")
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    count: int = document.get("count", DEFAULT_COUNT)
    return count


def _checked(query: Mapping[str, str], schema: Any, number: str) -> tuple[dict[str, Any], list[FieldError]]:
    document: dict[str, Any] = {**query}
    if re.fullmatch(r"-?[0-9]+", document.get(number, ""), re.ASCII):
        document[number] = integer(document[number])
    return document, [*errors_of(schema, document)]


def cursor_of(group: str, series: str) -> str:
    """The cursor of the page after this series. Clients send it back, and do not read it."""
    return base64.urlsafe_b64encode(f"1{group}#{series}".encode()).decode().rstrip("=")


def _place_in(cursor: str, group: str | None, errors: list[FieldError]) -> tuple[str, str] | None:
    """The inverse of cursor_of. A list of a group begins within it."""
    try:
        found = OURS.fullmatch(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode())
    except ValueError:
        found = None
    if found and group in (None, found[1]) and cursor_of(found[1], found[2]) == cursor:
        return found[1], found[2]
    allowed = "the nextCursor of the page before, of the same group"
    errors.append(FieldError(field="cursor", problem="not one of ours", allowed=allowed))
    return None
