"""The detail of a row is short and printable, whatever was put into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.actions.rules.model import Done, Refused, Retry
from delayer.ledger.model import MAX_DETAIL, LedgerRow, State, detail_of
from delayer.ledger.rules import ended, retried
from tests.samples import NOW, a_claim

any_text = st.text(st.characters()) | st.text().map(lambda text: text * 500)


@given(any_text)
def test_a_detail_is_short_printable_and_in_ascii(text: str) -> None:
    """Also with lone surrogates, which cannot be stored. What is a detail already stays as it is."""
    detail = detail_of(text)
    assert len(detail.encode("ascii")) == len(detail) <= MAX_DETAIL
    assert detail.isprintable()
    assert detail_of(detail) == detail


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", ""),
        ("HTTP 204", "HTTP 204"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 197 + "..."),
        ("\x1b[2Jgone\r\n", "?[2Jgone??"),
        ("\u202eevil \ud800", "?evil ?"),
    ],
)
def test_how_it_is_cut(text: str, detail: str) -> None:
    assert detail_of(text) == detail


def details(text: str) -> list[str]:
    """Everything that carries one, made of this text."""
    row: LedgerRow = a_claim()
    return [
        Done(text).detail,
        Refused(text).detail,
        Retry(detail=text).detail,
        ended(row, State.FAILED, NOW, text).detail,
        retried(row, "f", NOW, text).detail,
        a_claim(detail=text).detail,
    ]


def test_no_result_and_no_row_holds_more() -> None:
    """One place for all actions, also those that a team adds."""
    assert details("\n" + "x" * 60_000) == ["?" + "x" * 196 + "..."] * 6
