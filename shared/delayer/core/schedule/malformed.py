"""The two names for what cannot be read: what is malformed never can be; what is of an unknown version waits."""


class UnknownVersion(ValueError):
    """A format version that this code does not know. It waits for the code that does (ADR 0081).

    It is raised as an exception, and it is also used as a value, in the place of the record that cannot be read.
    """


class Malformed(ValueError):
    """A bad shape in a format version that this code knows. Its text is the reason.

    It is raised as an exception, and it is also used as a value, in the place of the record that cannot be read.
    """

    @property
    def reason(self) -> str:
        """Why it cannot be read."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Malformed) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(self.reason)
