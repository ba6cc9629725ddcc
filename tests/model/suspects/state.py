"""All there is of the messages of one queue, and of the function that receives them, at one moment."""

from attrs import frozen

from tests.model.state import Moving

KILLER = "k"  # the name of the message of which its function dies
MOST_RECEIVES = 3  # more are not told apart


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    killer: bool = False  # one of the messages is one
    good: int = 2  # messages that are none
    throttled: int = 0  # batches that SQS gave out and no function ever saw
    deaths: int = 0  # of the function, whatever it has before it: in a bad deploy, which is over after them
    failures: int = 0  # batches that cannot be handled: what they need does not answer
    unread: int = 0  # calls for the notes that fail
    environments: int = 2  # of the function, at the same time


@frozen(kw_only=True, cache_hash=True)
class Message:
    """One that has not come to its end."""

    name: str
    receives: int = 0
    is_free: bool = True  # in its queue, for anybody to receive
    has_died: bool = False  # a run that had it in its hands came to no end
    harmed: int = 0  # runs that another message of their batch has killed


@frozen(kw_only=True, cache_hash=True)
class Note:
    """Of a run that has begun, and whose end is not noted."""

    name: str
    proofs: int = 0
    has_passed: bool = False  # the function has come to the end of something else since


@frozen(kw_only=True, cache_hash=True)
class Run:
    """A function at work, between two of its steps."""

    names: tuple[str, ...]
    at: str = "looking"
    noted: tuple[str, ...] = ()  # those of which it has noted that it begins
    failed: bool = False


@frozen(kw_only=True, cache_hash=True)
class World(Moving):
    """One moment."""

    budget: Budget
    messages: tuple[Message, ...]
    notes: tuple[Note, ...] = ()
    runs: frozenset[Run] = frozenset()
    broken: str = ""

    def note(self, name: str) -> Note | None:
        """The one of this message."""
        return next((note for note in self.notes if note.name == name), None)

    def message(self, name: str) -> Message:
        """The one of this name."""
        return next(message for message in self.messages if message.name == name)
