"""What a person is asked: little, each answered by Enter, and remembered."""

from pathlib import Path

import pytest

from operate.deploy.answers import ALARMS, WHERE, WHO, Question, allowed, asked, read, write
from operate.deploy.errors import TemplateError


def answers_to(*lines: str, **kept: str) -> tuple[dict[str, str], list[str]]:
    """With what was said of wrong ones."""
    said: list[str] = []
    left = iter(lines)
    found = asked(kept, lambda _: next(left), lambda one: said.append(str(one)))
    assert list(left) == []
    return found, said


def test_enter_answers_everything() -> None:
    assert answers_to("", "") == ({"ApiAuthorization": "AWS_IAM", "AlarmEmail": ""}, [])


def test_tokens_need_an_issuer_and_an_audience_and_no_one_else_is_asked_for_them() -> None:
    found, said = answers_to("jwt", "", "https://id.example.com", "delayer", "ops@example.com")
    assert found == {
        "ApiAuthorization": "JWT",
        "JwtIssuer": "https://id.example.com",
        "JwtAudience": "delayer",
        "AlarmEmail": "ops@example.com",
    }
    assert said == ["It begins with https://"]


def test_what_a_stack_has_is_kept_by_enter_and_can_be_taken_back() -> None:
    has = {"ApiAuthorization": "AWS_IAM", "AlarmEmail": "ops@example.com"}
    assert answers_to("", "", **has)[0] == has
    assert answers_to("", "nowhere", **has)[0]["AlarmEmail"] == ""


@pytest.mark.parametrize(
    ("question", "wrong"), [(WHERE, "Ireland"), (WHO, "NONE"), (ALARMS, "ops"), (ALARMS, "ops@example")]
)
def test_a_wrong_answer_is_said_and_asked_again(question: Question, wrong: str) -> None:
    said: list[object] = []
    lines = iter([wrong, ""])
    kept = "eu-west-1" if question is WHERE else ""
    assert question.put(kept, lambda _: next(lines), said.append) == (kept or question.default)
    assert said == [question.wrong]


@pytest.mark.parametrize(("question", "kept"), [(WHO, "NONE"), (ALARMS, "ops@localhost"), (WHERE, "somewhere")])
def test_enter_never_asks_again_for_what_a_stack_has(question: Question, kept: str) -> None:
    """What was set otherwise may be none of its answers. Then Enter is the default, if there is one."""
    said: list[object] = []
    lines = iter(["", "eu-west-1"] if question is WHERE else [""])
    found = question.put(kept, lambda _: next(lines), said.append)
    assert found == ("eu-west-1" if question is WHERE else question.default)
    assert len(said) == (question is WHERE)


@pytest.mark.parametrize("region", ["eu-west-1", "eusc-de-east-1", "us-gov-east-1", "ap-southeast-7", "cn-north-1"])
def test_a_region_may_be_any(region: str) -> None:
    assert WHERE.put("us-east-1", lambda _: region, print) == region


def test_answers_are_kept_for_each_stack(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    assert read(file, "delayer") == {}
    write(file, "delayer", {"region": "eu-west-1", "AlarmEmail": 'a"b\\c@example.com'})
    write(file, "a.b", {"region": "us-east-1"})
    assert read(file, "delayer") == {"region": "eu-west-1", "AlarmEmail": 'a"b\\c@example.com'}
    assert read(file, "a.b") == {"region": "us-east-1"}


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text("region = eu")
    with pytest.raises(TemplateError, match=r"answers\.toml cannot be read"):
        read(tmp_path / "answers.toml", "delayer")


def test_of_a_file_only_what_the_template_takes_counts() -> None:
    declared = {"LogLevel": {"Type": "String", "AllowedValues": ["INFO"]}}
    assert allowed(declared, {"LogLevel": "INFO", "Gone": "x"}) == {"LogLevel": "INFO"}
    assert allowed(declared, {"LogLevel": "LOUD"}) == {}
