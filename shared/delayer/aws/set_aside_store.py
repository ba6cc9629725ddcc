"""The set-aside store in S3: one object for each kept body."""

from typing import Any

from attrs import frozen

from delayer.aws.clients import AWS_ERRORS, error_code
from delayer.core.set_aside import Kept, encode
from delayer.ports import Unavailable


@frozen(kw_only=True)
class S3SetAsideStore:
    """Port SetAsideStore."""

    s3: Any
    bucket: str

    def keep(self, kept: Kept) -> None:
        try:
            self.s3.put_object(Bucket=self.bucket, Key=kept.key, Body=encode(kept), ContentType="application/json")
        except AWS_ERRORS as error:
            raise Unavailable(f"keep {kept.key}: {error}") from error

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        try:
            page = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix, StartAfter=after, MaxKeys=at_most)
        except AWS_ERRORS as error:
            raise Unavailable(f"list: {error}") from error
        return [item["Key"] for item in page.get("Contents", [])]

    def get(self, key: str) -> bytes | None:
        try:
            content: bytes = self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        except AWS_ERRORS as error:
            if error_code(error) in ("NoSuchKey", "404"):
                return None
            raise Unavailable(f"get {key}: {error}") from error
        return content

    def discard(self, key: str) -> None:
        try:
            self.s3.delete_object(Bucket=self.bucket, Key=key)
        except AWS_ERRORS as error:
            raise Unavailable(f"discard {key}: {error}") from error
