"""The one name for what cannot be read."""


class Malformed(ValueError):
    """A record or message that this version of the code cannot read. Its text is the reason.

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
