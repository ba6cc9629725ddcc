"""One schedule on one machine at one moment: its client, the disk, the turn, and the memory of the process."""

from attrs import frozen


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    crashes: int = 0
    fails: int = 0  # commits that do not succeed
    cancels: bool = False  # the client takes it back, at any time


@frozen(kw_only=True, cache_hash=True)
class Disk:
    """What outlives the process."""

    records: int = 0
    made: int = 0  # schedules that the call has made
    row: str = ""  # of the ledger
    message: bool = False  # for the executor
    taken: bool = False  # somebody has it: written only where a rule is broken


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment. A call is none, sent, in the turn, or answered; its answer waits in `held` for the commit."""

    budget: Budget
    disk: Disk = Disk()
    turn: Disk | None = None  # what the disk will have; None: nothing was written since the last commit
    is_committed: bool = False  # that is on the disk, and nobody was told
    held: frozenset[str] = frozenset()  # what is told after the commit
    post: str = ""
    cancel: str = ""
    to_hand_over: bool = False  # claimed, and not handed over: only where a rule is broken
    attempt: str = ""  # of the process: taken up, running, done and not written, in the turn, or lost
    can_write: bool = True
    reached: int = 0  # attempts
    cut: int = 0  # of them, before their outcome was on the disk
    broken: str = ""
