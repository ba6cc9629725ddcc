"""`PYTHONPATH=shared:client:. python -m tests.docs.journey` writes the files of the journey anew."""

from tests.docs.journey.stack import journey_stack
from tests.docs.journey.story import FOLDER, Story

if __name__ == "__main__":
    with journey_stack() as stack:
        for name, text in Story(stack).tell().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
