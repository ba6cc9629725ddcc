"""These tests reach nothing but this machine, and find no AWS account by chance."""

from tests.unit.conftest import _no_account, _no_network

__all__ = ["_no_account", "_no_network"]
