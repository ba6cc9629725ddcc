"""What the emulator takes for a safe transport: the stack refuses requests without TLS."""

import importlib
from types import SimpleNamespace

import pytest

from local.emulator.patches.permissions import trust_loopback


@pytest.mark.parametrize(
    ("source", "is_tls", "counts"),
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1", True, True),
        ("192.0.2.1", True, True),
        ("192.0.2.1", False, False),
    ],
)
def test_a_call_from_this_machine_counts_as_one_over_tls(source: str, is_tls: bool, counts: bool) -> None:
    pinned: list[tuple[str, bool]] = []
    evaluator = SimpleNamespace(pin_request_origin=lambda *origin: pinned.append(origin))
    trust_loopback(evaluator)
    evaluator.pin_request_origin(source, is_tls)
    assert pinned == [(source, counts)]


def test_ministack_has_the_name_that_is_replaced() -> None:
    assert callable(importlib.import_module("ministack.core.iam_evaluator").pin_request_origin)
