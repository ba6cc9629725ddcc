"""Checks AWS Signature Version 4 of requests that were received: ministack takes any for its own account.

botocore's own signer computes the signature again, over what was received. Sources: AWS's guide "Create a signed AWS
API request", and botocore/auth.py.
"""

import hashlib
import hmac
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest, HTTPHeaders
from botocore.credentials import Credentials

from local.emulator.access.claims import DATE_FORM, Claim, Received, Refused, claim_of

SKEW = timedelta(minutes=15)  # between the clock of a client and ours, as on AWS
LONGEST_PRESIGNED = timedelta(days=7)
UNSIGNED_BODY = "UNSIGNED-PAYLOAD"
# What S3 clients sign in place of a body: it may be a stream that they have not read yet. The signature proves all the
# same that they know the secret.
PLACEHOLDERS = (
    UNSIGNED_BODY,
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
)
SecretOf = Callable[[str, str], str | None]  # access key id, session token or "" -> secret; None: never issued


class Signatures:
    """Lets in what was signed with an issued key. `secret_of` knows these; `now` is the time in UTC."""

    def __init__(self, secret_of: SecretOf, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.secret_of = secret_of
        self.now = now

    def check(self, received: Received) -> None:
        """Raises Refused unless the request has a valid signature."""
        claim = claim_of(received)
        self.check_time(claim)
        secret = self.secret_of(claim.access_key_id, claim.token)
        if secret is None:
            raise Refused("InvalidClientTokenId", "The access key, or its session token, was not issued in this run.")
        if not hmac.compare_digest(signature_of(received, claim, secret), claim.signature):
            raise Refused("SignatureDoesNotMatch", "The signature does not fit to this request and this key.")

    def check_time(self, claim: Claim) -> None:
        """Raises Refused for a signature of another time: one that somebody has kept is of no use later."""
        signed_at = claim.signed_at.replace(tzinfo=UTC)
        lasting = SKEW if claim.valid_for is None else min(claim.valid_for, LONGEST_PRESIGNED)
        if not signed_at - SKEW <= self.now() <= signed_at + lasting:
            raise Refused("RequestExpired", "The signature is too old, or the clock of the client is wrong.")
        if claim.signed_at.strftime("%Y%m%d") != claim.date:
            raise Refused("SignatureDoesNotMatch", "The credential is of another day than the signature.")


def signature_of(received: Received, claim: Claim, secret: str) -> str:
    """The signature that the request has to have, in hexadecimal. Raises Refused if its body is not the signed one."""
    signer = signer_of(claim, secret)
    url = f"http://received{received.path}?{claim.query}"
    request = AWSRequest(received.method, url, {**received.headers, "x-amz-content-sha256": body_hash(received, claim)})
    request.context["timestamp"] = claim.signed_at.strftime(DATE_FORM)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signature: str = signer.signature(text, request)
    return signature


def signer_of(claim: Claim, secret: str) -> SigV4Auth:
    """botocore's signer of this service: S3 signs a path as it is, others in a normal form."""
    kind = S3SignerAgain if claim.service == "s3" else SignerAgain
    signer = kind(Credentials(claim.access_key_id, secret), claim.service, claim.region)
    signer.signed_headers_given = claim.signed_headers
    return signer


def body_hash(received: Received, claim: Claim) -> str:
    """The hash that the client has signed for the body. Raises Refused if it is that of another body."""
    stated = received.headers.get("x-amz-content-sha256", "")
    real = hashlib.sha256(received.body).hexdigest()
    if claim.service == "s3" and not stated and claim.valid_for is not None:
        return UNSIGNED_BODY  # a presigned URL is made before there is a body
    if stated in ("", real) or (claim.service == "s3" and stated in PLACEHOLDERS):
        return stated or real
    raise Refused("XAmzContentSHA256Mismatch", "The body is not the one that was signed.")


class SignerAgain(SigV4Auth):
    """Signs the headers that somebody else has signed, and no others."""

    signed_headers_given: frozenset[str] = frozenset()

    def headers_to_sign(self, request: AWSRequest) -> HTTPHeaders:
        """Of all that arrived: those that the claim names."""
        chosen = HTTPHeaders()
        for name in self.signed_headers_given & {name.lower() for name in request.headers}:
            chosen[name] = request.headers[name]
        return chosen


class S3SignerAgain(SignerAgain, S3SigV4Auth):
    """The same for S3."""
