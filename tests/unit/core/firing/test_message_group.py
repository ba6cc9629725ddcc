"""Owner and target make a message group; nothing else does."""

import pytest

from delayer.core.firing.message_group import message_group_of
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
def test_one_message_group(one: str, other: str) -> None:
    assert message_group_of(a_schedule(NOW, action=one)) == message_group_of(a_schedule(NOW, action=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"url":"https://a.example/x"}', '{"url":"https://b.example/x"}'),
        ('{"url":"https://a.example/x"}', '{"url":"https://a.example:8443/x"}'),
        ('{"queueUrl":"https://sqs/1/q"}', '{"queueUrl":"https://sqs/1/r"}'),
    ],
)
def test_two_message_groups(one: str, other: str) -> None:
    assert message_group_of(a_schedule(NOW, action=one)) != message_group_of(a_schedule(NOW, action=other))


def test_owners_are_message_groups_of_their_own() -> None:
    assert message_group_of(a_schedule(NOW, owner="a")) != message_group_of(a_schedule(NOW, owner="b"))


def test_the_name_of_a_message_group_is_one_that_sqs_takes() -> None:
    message_group = message_group_of(a_schedule(NOW))
    assert message_group.isalnum()
    assert len(message_group) <= 128
