"""The action note-write: writes a note into the log of this function."""

from typing import Annotated

from delayer.extension.executor import Action, Done, Message, Meta, Refused, Result, executor


class NoteWrite(Action, frozen=True):
    """A note in the log of a team."""

    topic: Annotated[str, Meta(pattern="^[a-z]+(-[a-z]+)*$", max_length=40, description="What it is about.")]


@executor("note-write", fair_by="topic", largest_payload=1_000)
def handler(message: Message[NoteWrite]) -> Result:
    """One attempt. `message.schedule_id` is the same at each: it tells whether the note is there already."""
    if not message.payload:
        return Refused("the note has no text: the payload is missing")
    print(f"{message.schedule_id}, {message.action.topic}: {message.payload}")
    return Done("written")
