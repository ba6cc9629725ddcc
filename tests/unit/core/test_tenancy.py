"""Owner and target make a tenant; nothing else does."""

import pytest

from delayer.core.tenancy import tenant_of
from tests.samples import NOW, a_schedule


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            '{"type":"http-request","url":"https://a.example/x?y"}',
            '{"type":"http-request","url":"https://a.example/z"}',
        ),
        ('{"url": "https://a.example"}', '{"method":"PUT","url": "https://a.example#f"}'),
        ('{"type":"sqs-send","queueUrl":"https://sqs/1/q"}', '{"queueUrl":"https://sqs/1/q","messageGroupId":"g"}'),
        ('{"type":"later-action"}', '{"type":"another"}'),
    ],
)
def test_one_tenant(one: str, other: str) -> None:
    assert tenant_of(a_schedule(NOW, action=one)) == tenant_of(a_schedule(NOW, action=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"url":"https://a.example/x"}', '{"url":"https://b.example/x"}'),
        ('{"url":"https://a.example/x"}', '{"url":"https://a.example:8443/x"}'),
        ('{"queueUrl":"https://sqs/1/q"}', '{"queueUrl":"https://sqs/1/r"}'),
    ],
)
def test_two_tenants(one: str, other: str) -> None:
    assert tenant_of(a_schedule(NOW, action=one)) != tenant_of(a_schedule(NOW, action=other))


def test_owners_are_tenants_of_their_own() -> None:
    assert tenant_of(a_schedule(NOW, owner="a")) != tenant_of(a_schedule(NOW, owner="b"))


def test_the_name_of_a_tenant_is_one_that_sqs_takes() -> None:
    tenant = tenant_of(a_schedule(NOW))
    assert tenant.isalnum()
    assert len(tenant) <= 128
