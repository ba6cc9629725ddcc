"""What arrives at the target."""

from attrs import frozen


@frozen(kw_only=True)
class Arrival:
    """One request at the receiver."""

    schedule_id: str
    at_ms: int  # epoch milliseconds
