"""Whether a request that arrived at the receiver is signed by this stack: verified as any receiver would."""

import json
import time
import urllib.request

from attrs import define, field
from standardwebhooks import Webhook, WebhookVerificationError

from local.receiver import ReceivedRequest

VERIFIED = "signature verified"
WRONG = "signature wrong"
UNSIGNED = "not signed"
UNCHECKED = "signature not checked"  # the secret cannot be fetched: with another ApiAuthorization, the API refuses
FETCH_AGAIN_SECONDS = 1.0  # a flood of wrong ones is no flood of calls


# Of the owner `anonymous`, which is that of the demonstration; and of the events that an engine POSTs itself.
SECRETS = ("/signing-secret", "/events/signing-secret")


@define
class Signatures:
    """Fetches the secrets when a request has a signature that is made with none that it knows."""

    api_url: str
    _secrets: tuple[str, ...] = field(default=(), init=False, repr=False)
    _fetched_at: float = field(default=float("-inf"), init=False)

    def checked(self, request: ReceivedRequest) -> str:
        """Says of a request whether its signature is right."""
        if "webhook-signature" not in request.headers:
            return UNSIGNED
        if self._is_verified(request) or (self._fetch() and self._is_verified(request)):
            return VERIFIED
        return WRONG if self._secrets else UNCHECKED

    def _is_verified(self, request: ReceivedRequest) -> bool:
        return any(_verifies(secret, request) for secret in self._secrets)

    def _fetch(self) -> bool:
        """Whether there is something new to look with."""
        if time.monotonic() - self._fetched_at < FETCH_AGAIN_SECONDS:
            return False
        self._fetched_at = time.monotonic()
        found = [secret for path in SECRETS for secret in self._shown(path)]
        self._secrets = tuple(found) or self._secrets
        return bool(found)

    def _shown(self, path: str) -> list[str]:
        """Those that are in use; none if nobody shows them there."""
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"{self.api_url}{path}", timeout=10) as response:
                shown = json.load(response)
        except (OSError, ValueError):
            return []
        return [shown[name] for name in ("current", "previous") if shown.get(name)]


def _verifies(secret: str, request: ReceivedRequest) -> bool:
    """The body is compared as it came, whether it is JSON or not."""
    try:
        Webhook(secret).verify(request.body, dict(request.headers), json_parse=False)
    except (WebhookVerificationError, ValueError):  # ValueError: not in the form of a signature, or no UTF-8
        return False
    return True
