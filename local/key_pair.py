"""The key pair of one run: made at its start, written for its user alone, and of no use afterwards."""

import base64
import os
import secrets
import urllib.request
from pathlib import Path
from typing import Self

from attrs import field, frozen

REGION = "us-east-1"
EXPORTS = "aws.env"  # the file's name


@frozen(kw_only=True)
class KeyPair:
    """An access key id and its secret, in the form that AWS uses."""

    access_key_id: str
    secret_access_key: str = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        """A pair that nobody can guess."""
        random_part = base64.b32encode(secrets.token_bytes(10)).decode()  # 16 characters
        return cls(access_key_id=f"AKIA{random_part}", secret_access_key=secrets.token_urlsafe(30))

    def signed(self, method: str, url: str, body: bytes | None = None) -> urllib.request.Request:
        """A request to the emulator that is signed with this pair."""
        from botocore.auth import SigV4Auth  # late: the command starts the emulator before it imports so much
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        request = AWSRequest(method, url, data=body)
        credentials = Credentials(self.access_key_id, self.secret_access_key)
        SigV4Auth(credentials, "delayer-local", REGION).add_auth(request)
        return urllib.request.Request(url, data=body, method=method, headers=dict(request.headers.items()))


def write_exports(folder: Path, pair: KeyPair, endpoint_url: str) -> Path:
    """Write the pair as shell exports into this folder, for its owner alone; the file. An older file is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    file = folder / EXPORTS
    file.unlink(missing_ok=True)
    # Created with its mode: between writing and a chmod, others could read it.
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as exports:
        exports.write(exports_of(pair, endpoint_url))
    return file


def exports_of(pair: KeyPair, endpoint_url: str) -> str:
    """Writes lines that a shell reads. A profile or a session token of the user's own would not fit to the pair."""
    return f"""\
export AWS_ENDPOINT_URL={endpoint_url}
export AWS_DEFAULT_REGION={REGION}
export AWS_REGION={REGION}
export AWS_ACCESS_KEY_ID={pair.access_key_id}
export AWS_SECRET_ACCESS_KEY={pair.secret_access_key}
unset AWS_PROFILE AWS_SESSION_TOKEN
"""
