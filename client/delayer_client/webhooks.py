"""Whether a request comes from Delayer: for receivers, by the Standard Webhooks scheme."""

from collections.abc import Mapping

from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook, WebhookVerificationError

from delayer_client.errors import DelayerError

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


class NotVerified(DelayerError):
    """The request is not Delayer's, or is older than five minutes: answer it 401, and do nothing else."""


def verify(body: bytes | str, headers: Mapping[str, str], *secrets: str) -> None:
    """Returns if the request is signed with one of the secrets; raises NotVerified.

    `body` is the body as it came, byte for byte; `secrets` are `whsec_…`, from `Delayer.signing_secret()`. Give the
    current one and the previous one while a rotation is under way.
    """
    if not secrets:
        raise NotVerified("No secret was given. Delayer.signing_secret().current is yours.")
    found = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise NotVerified(f"The request has no header {missing[0]}: it is not signed.")
    try:
        text = body if isinstance(body, str) else body.decode()
    except UnicodeDecodeError as error:
        raise NotVerified("The body is not a text in UTF-8: Delayer sends nothing else.") from error
    reasons = {_refusal(text, found, secret) for secret in secrets}
    if None not in reasons:
        raise NotVerified(f"The signature is not of one of these secrets: {', '.join(sorted(map(str, reasons)))}.")


def _refusal(text: str, headers: dict[str, str], secret: str) -> str | None:
    try:
        webhook = Webhook(secret)
    except (ValueError, EmptyWebhookSecretError):
        return "the secret is not whsec_ and base64"
    try:
        webhook.verify(text, headers, json_parse=False)
    except WebhookVerificationError as error:
        return str(error) or type(error).__name__
    except ValueError:
        return "its signature is not well-formed"
    return None
