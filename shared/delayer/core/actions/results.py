"""What an attempt of an action comes to."""

from attrs import field, frozen

from delayer.core.ledger.detail import detail_of


@frozen
class Done:
    """The target accepted it. `detail` says so to clients and operators, in our words and not in its own (ADR 0065)."""

    detail: str = field(converter=detail_of)
    answer: str = field(default="", kw_only=True)  # what is kept of the target's answer (ADR 0109)


@frozen(kw_only=True)
class Retry:
    """The target may accept it later. `after_seconds` is the delay that it asked for, if it did.

    `is_outage`: the target did not answer, or said that it is broken. Several in a row open its circuit (ADR 0111).
    `reached`: whether the target was asked at all. If not, this says nothing about it.
    """

    detail: str = field(converter=detail_of)
    after_seconds: int | None = None
    answer: str = ""
    is_outage: bool = False
    reached: bool = True


@frozen
class Refused:
    """The target will never accept it; or it may not be asked, and `reached` is False."""

    detail: str = field(converter=detail_of)
    answer: str = field(default="", kw_only=True)
    reached: bool = field(default=True, kw_only=True)


Result = Done | Retry | Refused
