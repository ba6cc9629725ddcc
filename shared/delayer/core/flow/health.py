"""What one function has seen of its targets: how many attempts in a row failed (ADR 0111)."""

from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import MINUTE, Millis

IN_A_ROW: Final = 5  # failures after which a circuit opens
FORGOTTEN: Final[Millis] = MINUTE  # what failed longer ago than this counts no more


@frozen(kw_only=True)
class Health:
    """Of one target of one owner, in the memory of one execution environment."""

    failures: int = 0  # in a row
    last: Millis = 0  # of them

    def failed(self, now: Millis) -> "Health":
        """After another one."""
        before = self.failures if now - self.last < FORGOTTEN else 0
        return Health(failures=before + 1, last=now)

    @property
    def is_dead(self) -> bool:
        """Whether it is time to leave the target alone."""
        return self.failures >= IN_A_ROW
