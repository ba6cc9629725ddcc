"""What ends `delayer serve` is a clear sentence."""

import pytest

from delayer.serve.refusal import Refusal


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (
            Refusal(what="The port is in use", where="8080", do="Choose another"),
            "The port is in use (8080). Choose another.",
        ),
        (Refusal(what="Python is too old.", do="Take 3.11."), "Python is too old. Take 3.11."),
    ],
)
def test_it_says_what_where_and_what_to_do(refusal: Refusal, text: str) -> None:
    assert str(refusal) == text
    assert refusal.status == 2
