"""Points in time and durations, as the API takes them."""

from datetime import UTC, datetime, timedelta

from delayer_client.errors import WrongArgument

Seconds = float


def instant(at: datetime | str, name: str = "at") -> str:
    """An instant in RFC 3339. A text is passed on as it is. Raises WrongArgument for a time without a zone."""
    if isinstance(at, str):
        return at
    if not isinstance(at, datetime):
        raise WrongArgument(f"{name} is a datetime with a time zone, or a text in RFC 3339; not {at!r}.")
    if at.utcoffset() is None:
        raise WrongArgument(
            f"{name} has no time zone. Give it one: datetime(…, tzinfo=ZoneInfo('Europe/Lisbon')) or datetime.now(UTC)."
        )
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def seconds(delay: timedelta | Seconds) -> Seconds:
    """A duration in seconds."""
    return delay.total_seconds() if isinstance(delay, timedelta) else delay


def iso_duration(after: timedelta | str) -> str:
    """A duration in ISO 8601, with whole seconds. Raises WrongArgument for fractions."""
    if isinstance(after, str):
        return after
    whole, fraction = divmod(after, timedelta(seconds=1))
    if fraction or whole < 0:
        raise WrongArgument("This duration has to be a number of whole seconds, 0 or more.")
    return f"PT{whole}S"
