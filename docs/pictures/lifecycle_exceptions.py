"""The exceptions: all transitions of the table of the lifecycle that are not on the normal path."""

from delayer.ledger.model import EventType, State
from docs.pictures.state_shapes import fan, makers, panels, transitions

WORDS: dict[tuple[EventType, State], str] = {  # in this order
    (EventType.ATTEMPT_FAILED, State.CLAIMED): "An attempt failed, another follows",
    (EventType.CLAIMED_AGAIN, State.CLAIMED): "Who claimed it died: claimed again",
    (EventType.STOP_REQUESTED, State.CLAIMED): "Its owner stops the attempts",
    (EventType.FAILED, State.FAILED): "It is refused, or no attempt is left",
    (EventType.DROPPED, State.DROPPED): "It is dropped",
    (EventType.DEAD_LETTERED, State.DEAD_LETTERED): "It is given up",
    (EventType.REDRIVEN, State.ENQUEUED): "An operator redrives it",
    (EventType.REDRIVEN, State.SCHEDULED): "An operator redrives it, due far ahead",
    (EventType.EXECUTED, State.EXECUTED): "The target had accepted it after all",
    (EventType.CANCELLED, State.CANCELLED): "Its owner cancels the dead letter",
    (EventType.REPLACED, State.REPLACED): "Its owner replaces what had ended",
}


def draw() -> str:
    """A panel for each event and the state that it leads to."""
    exceptions = transitions(normal=False)
    missing = {(one.event, one.target) for one in exceptions} - WORDS.keys()
    if missing:
        raise KeyError(f"docs/pictures/lifecycle_exceptions.py has no words for {missing}")
    drawn = []
    for (event, target), words in WORDS.items():
        found = [one for one in exceptions if (one.event, one.target) == (event, target)]
        drawn.append(fan(words, event, target, makers(found)))
    return panels(drawn)
