"""A series of one minute, which the tests of this folder have in common: a minute passes while others work."""

from attrs import frozen

from delayer.core.schedule.instants import Millis


@frozen
class EachMinute:
    """Its id, where it arrives, and its first instant."""

    id: str
    path: str
    first: Millis
