"""What happened in a story, in sixteen letters: two stories with the same digest are the same, step by step."""

from hashlib import blake2b

from tests.simulation.story.story import Played


def digest(played: Played) -> str:
    """Of each event, when and where it was, and of all that was surprising. The story must have been played aloud."""
    seen = blake2b(digest_size=16)
    for line in played.log:
        seen.update(f"{line!r}\n".encode())
    seen.update(repr(sorted(played.story.surprises or ())).encode())
    return seen.hexdigest()[:16]
