"""What happened in a story, in sixteen letters: two stories with the same digest are the same, step by step."""

from hashlib import blake2b

from tests.simulation.story.story import Played


def digest(played: Played) -> str:
    """Of each event, when and where it was, and of all that was surprising. The story must have been played aloud."""
    told = blake2b(digest_size=16)
    for line in played.log:
        told.update(f"{line!r}\n".encode())
    told.update(repr(sorted(played.story.surprises or ())).encode())
    return told.hexdigest()[:16]
