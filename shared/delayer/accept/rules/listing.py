"""The query of a call about many schedules becomes a listing or a group, or a list of all that is wrong with it."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from delayer.accept.rules.request import Listing
from delayer.http.field_errors import GROUP, LISTING, errors_of
from delayer.http.json_body import MAX_ERRORS
from delayer.http.problem import FieldError, Invalid
from delayer.ledger.model import State
from delayer.schedule.instants import Millis, parse_instant
from delayer.schedule.json_text import integer
from delayer.schedule.schedule_id import FAR, address_of

DEFAULT_LIMIT: Final = 50


def admit_group(query: Mapping[str, str]) -> str:
    """The group in the query of a call that is about a whole group. Raises Invalid."""
    errors = [*errors_of(GROUP, dict(query))]
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    return query["group"]


def admit_listing(query: Mapping[str, str]) -> Listing:
    """The listing that a query asks for. Raises Invalid."""
    document: dict[str, Any] = {**query}
    if re.fullmatch(r"-?[0-9]+", document.get("limit", ""), re.ASCII):
        document["limit"] = integer(document["limit"])
    errors = [*errors_of(LISTING, document)]
    since, until = (_bound(document, name, errors) for name in ("from", "to"))
    after = after_in(document["cursor"], errors) if "cursor" in document else ""
    if errors:
        raise Invalid(errors[:MAX_ERRORS])
    state = State(document["state"]) if "state" in document else None
    limit = document.get("limit", DEFAULT_LIMIT)
    group = document.get("group", "")
    return Listing(
        group=group, state=state, since=since or 0, until=FAR if until is None else until, limit=limit, after=after
    )


def _bound(document: Mapping[str, Any], name: str, errors: list[FieldError]) -> Millis | None:
    """An instant, rounded up: a schedule's is, too."""
    if name not in document:
        return None
    try:
        return parse_instant(str(document[name]))
    except (ValueError, OverflowError) as error:
        errors.append(
            FieldError(
                field=name,
                problem=str(error) or "not an instant",
                allowed="RFC 3339 with an offset, a + written as %2B",
            )
        )
        return None


def cursor_after(schedule_id: str) -> str:
    """The cursor of the page after this schedule. Clients send it back, and do not read it."""
    return base64.urlsafe_b64encode(f"1{schedule_id}".encode()).decode().rstrip("=")


def after_in(cursor: str, errors: list[FieldError]) -> str:
    """The inverse of cursor_after; adds to `errors` if it is none."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if text[0] == "1" and address_of(text[1:]) and cursor_after(text[1:]) == cursor:
            return text[1:]
    except (ValueError, IndexError):
        pass
    errors.append(FieldError(field="cursor", problem="not one of ours", allowed="the nextCursor of the page before"))
    return ""
