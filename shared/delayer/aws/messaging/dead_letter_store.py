"""The dead-letter store in S3: one object for each body."""

from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.recovery import waiting as waiting_records
from delayer.core.recovery.dead_letter import DeadLetter, encode
from delayer.core.recovery.waiting import WaitingRecords
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@frozen(kw_only=True)
class S3DeadLetterStore:
    """Port DeadLetterStore."""

    s3: "S3Client"
    bucket: str

    def put(self, letter: DeadLetter) -> None:
        try:
            self.s3.put_object(Bucket=self.bucket, Key=letter.key, Body=encode(letter), ContentType="application/json")
        except AWS_ERRORS as error:
            raise Unavailable(f"put {letter.key}: {error}") from error

    def set_aside(self, waiting: WaitingRecords) -> None:
        content = waiting_records.encode(waiting)
        try:
            self.s3.put_object(Bucket=self.bucket, Key=waiting.key, Body=content, ContentType="application/json")
        except AWS_ERRORS as error:
            raise Unavailable(f"set aside {waiting.key}: {error}") from error

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        try:
            page = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix, StartAfter=after, MaxKeys=at_most)
        except AWS_ERRORS as error:
            raise Unavailable(f"list: {error}") from error
        return [item["Key"] for item in page.get("Contents", [])]

    def get(self, key: str) -> bytes | None:
        try:
            return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        except AWS_ERRORS as error:
            if error_code(error) in ("NoSuchKey", "404"):
                return None
            raise Unavailable(f"get {key}: {error}") from error

    def remove(self, key: str) -> None:
        try:
            self.s3.delete_object(Bucket=self.bucket, Key=key)
        except AWS_ERRORS as error:
            raise Unavailable(f"remove {key}: {error}") from error
