"""The keys that this run has issued: its own pair, and those that ministack has made for functions, roles and users."""

import hmac
import importlib
from typing import Any

from local.key_pair import KeyPair


class IssuedKeys:
    """Knows the secret of each. ministack's modules have no types."""

    def __init__(self, own: KeyPair) -> None:
        self.own = own
        self.evaluator: Any = importlib.import_module("ministack.core.iam_evaluator")
        self.responses: Any = importlib.import_module("ministack.core.responses")

    def secret_of(self, access_key_id: str, token: str) -> str | None:
        """The secret of a key, or None if it was not issued, is not active, or has another session token.

        For ministack, `test` and every number of an account are keys of its root user, too. They are known to everyone.
        """
        if hmac.compare_digest(access_key_id.encode(), self.own.access_key_id.encode()):
            return None if token else self.own.secret_access_key
        if self.evaluator.is_root_access_key(access_key_id):
            return None
        account = (
            self.responses._account_from_sts_session(access_key_id)
            or self.evaluator.find_iam_access_key_account(access_key_id)
            or self.responses.get_account_id()
        )
        found = self.evaluator.resolve_credential(access_key_id, account, token)
        secret: str | None = getattr(found, "secret_access_key", None)
        return secret
