"""Asks before something is done that cannot be undone: which one, from when to when."""

from datetime import datetime

from attrs import frozen
from starlette.requests import Request
from starlette.responses import Response

from delayer_client.console.rendering import page


@frozen(kw_only=True)
class Question:
    """A form that was sent without the field `sure` is answered with it; its button sends the same with `sure`."""

    what: str  # the last part of the path
    verb: str  # Cancel
    button: str  # Cancel it
    name: str  # of the schedule or the series, or its id in short
    id: str
    back: str  # its page
    effect: str  # a sentence or two
    old: datetime | None = None  # when it is due
    new: datetime | None = None  # when it will be
    is_danger: bool = False

    @property
    def title(self) -> str:
        """Cancel invoice-20?"""
        return f"{self.verb} {self.name}?"


def asked(request: Request, question: Question, here: str) -> Response:
    """The page that asks."""
    return page(request, "sure.html", {"question": question}, here=here)
