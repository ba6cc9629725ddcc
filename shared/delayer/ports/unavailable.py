"""What a port raises when AWS did not do what was asked."""


class Unavailable(Exception):
    """AWS failed, throttled or timed out; the effect may or may not have taken place."""


class RowMissing(Unavailable):
    """The ledger row to be changed has expired. A new read finds none."""
