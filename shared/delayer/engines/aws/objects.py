"""Objects in a bucket of S3."""

from typing import TYPE_CHECKING

from attrs import frozen

from delayer.engines.aws.clients import AWS_ERRORS, error_code
from delayer.engines.ports import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@frozen(kw_only=True)
class S3Objects:
    """Stores objects in a bucket of S3."""

    s3: "S3Client"
    bucket: str

    def put(self, key: str, content: bytes) -> None:
        try:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=content, ContentType="application/json")
        except AWS_ERRORS as error:
            raise Unavailable(f"put {key}: {error}") from error

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
