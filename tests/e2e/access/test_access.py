"""Nobody gets in but who holds the keys of the run: not a web page, not with the credentials that everybody knows."""

import io
import json
import socket
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from local.key_pair import EXPORTS, REGION, KeyPair
from tests.e2e.client import StackClient

KNOWN = KeyPair(access_key_id="test", secret_access_key="test")


def aws(client: StackClient, service: str, pair: KeyPair, token: str | None = None) -> Any:
    """A client of the AWS port as a user makes it."""
    make_client: Any = boto3.client
    return make_client(
        service,
        endpoint_url=client.stack.aws_endpoint_url,
        region_name=REGION,
        aws_access_key_id=pair.access_key_id,
        aws_secret_access_key=pair.secret_access_key,
        aws_session_token=token,
    )


SERVICES = {"dynamodb": "list_tables", "s3": "list_buckets", "cloudformation": "list_stacks", "sqs": "list_queues"}


def test_the_pair_of_the_run_may_do_what_the_known_one_may_not(on_aws: StackClient) -> None:
    """It takes more than a second, because the clients of eight services are made."""
    for service, call in SERVICES.items():
        getattr(aws(on_aws, service, on_aws.stack.pair), call)()
        with pytest.raises(ClientError, match=r"aws\.env") as caught:
            getattr(aws(on_aws, service, KNOWN), call)()
        assert caught.value.response["Error"]["Code"] == "InvalidClientTokenId"


def test_s3_takes_bodies_of_every_kind(on_aws: StackClient) -> None:
    """It may take a second: nine megabytes."""
    s3 = aws(on_aws, "s3", on_aws.stack.pair)
    s3.create_bucket(Bucket="access")
    s3.put_object(Bucket="access", Key="a b/\u00e4~", Body=b"whole", ChecksumAlgorithm="SHA256")
    s3.upload_fileobj(io.BytesIO(bytes(9 << 20)), "access", "in parts")
    assert s3.get_object(Bucket="access", Key="a b/\u00e4~")["Body"].read() == b"whole"
    assert s3.head_object(Bucket="access", Key="in parts")["ContentLength"] == 9 << 20


def test_a_role_gets_keys_of_its_own(on_aws: StackClient) -> None:
    """As a function does; and it may do no more than its role.

    It takes more than a second, because clients are made.
    """
    iam = aws(on_aws, "iam", on_aws.stack.pair)
    trust = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(
        RoleName="visitor", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    )["Role"]
    sts = aws(on_aws, "sts", on_aws.stack.pair)
    given = sts.assume_role(RoleArn=role["Arn"], RoleSessionName="visit")["Credentials"]
    pair = KeyPair(access_key_id=given["AccessKeyId"], secret_access_key=given["SecretAccessKey"])
    visitor = aws(on_aws, "sts", pair, given["SessionToken"])
    assert ":assumed-role/visitor/" in visitor.get_caller_identity()["Arn"]
    with pytest.raises(ClientError, match="not authorized"):
        aws(on_aws, "dynamodb", pair, given["SessionToken"]).list_tables()
    with pytest.raises(ClientError, match=r"aws\.env"):
        aws(on_aws, "sts", pair).get_caller_identity()


def test_a_form_on_a_web_page_schedules_nothing(on_aws: StackClient) -> None:
    body = {"delaySeconds": 1, "action": {"type": "http-request", "url": f"{on_aws.receiver.url}/from-a-page"}}
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        page = {"Content-Type": "text/plain", **headers}
        status, answered, problem = on_aws.call("POST", "/schedules", body, page)
        assert (status, answered["content-type"]) == (403, "application/problem+json")
        assert problem["detail"].startswith("This address accepts")


def test_a_web_page_opens_no_websocket(on_aws: StackClient) -> None:
    for port in (on_aws.stack.port, on_aws.stack.aws_port):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(
                f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: https://evil.example\r\nConnection: Upgrade\r\n"
                "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            )
            assert connection.recv(64).startswith(b"HTTP/1.1 403")


def test_the_keys_are_for_their_user_alone(on_aws: StackClient) -> None:
    file = on_aws.stack.folder / EXPORTS
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
