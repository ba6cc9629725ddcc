"""The policy next-business-hour."""

from datetime import date
from typing import Annotated, Final

from msgspec import field

from delayer.extension.policy import Asked, At, Chosen, Meta, Policy, Refused, policy
from delayer.recurrence.business_hours import DAYS, BusinessHours, hours_of
from delayer.recurrence.zones import zone_info, zone_names

Span = Annotated[str, Meta(extra_json_schema={"format": "hours"})]
Holiday = Annotated[str, Meta(extra_json_schema={"format": "date"})]
WORKDAYS: Final = {day: ["09:00-17:00"] for day in DAYS[:5]}


class NextBusinessHour(Policy):
    """At once within business hours, otherwise when they begin next."""

    time_zone: Annotated[
        str,
        Meta(
            max_length=64,
            description="Of the IANA database. UTC if it is left out.",
            examples=["Europe/Lisbon"],
            extra_json_schema={"format": "time-zone"},
        ),
    ] = "UTC"
    hours: Annotated[
        dict[str, Annotated[list[Span], Meta(max_length=8)]],
        Meta(
            max_length=7,
            description="By day, MON to SUN; a day that is not there is closed. Monday to Friday, 09:00-17:00, if it "
            "is left out.",
            examples=[{"MON": ["09:00-12:00", "13:00-17:30"], "SAT": ["10:00-14:00"]}],
            extra_json_schema={"propertyNames": {"enum": list(DAYS)}, "minProperties": 1},
        ),
    ] = field(default_factory=lambda: dict(WORKDAYS))
    holidays: Annotated[
        list[Holiday], Meta(max_length=400, description="Dates that are closed.", examples=[["2026-12-25"]])
    ] = []  # noqa: RUF012 - msgspec copies it


@policy("next-business-hour")
def handler(asked: Asked[NextBusinessHour]) -> Chosen:
    """Counted from the decision: if that is late, it must not fire outside business hours."""
    if asked.policy.time_zone not in zone_names():
        return Refused("there is no such time zone in the IANA database")
    try:
        calendar = _calendar(asked.policy)
    except ValueError as error:
        return Refused(f"its hours or holidays cannot be read: {error}")
    opens = calendar.next_open(asked.now)
    return Refused("there is no business hour in the next 400 days") if opens is None else At(opens)


def _calendar(asked: NextBusinessHour) -> BusinessHours:
    """Raises ValueError for hours or dates that there are not."""
    return BusinessHours(
        zone=zone_info(asked.time_zone),
        week={day: [hours_of(span) for span in spans] for day, spans in asked.hours.items()},
        holidays=frozenset(date.fromisoformat(one) for one in asked.holidays),
    )
