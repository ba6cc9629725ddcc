"""What CloudFormation or Lambda would refuse in the middle of a deployment is refused before it."""

import pytest

from operate.deploy.errors import TemplateError
from operate.deploy.expand import expand
from operate.deploy.values import check, check_environments, check_rules, given_in
from tests.cfn import written

PARAMETERS = written()["Parameters"]


def test_values_are_those_of_the_command_line() -> None:
    assert given_in(["A=b=c", "D="]) == {"A": "b=c", "D": ""}
    with pytest.raises(TemplateError, match="NAME=VALUE"):
        given_in(["LogLevel"])


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("LogLevle", "INFO", "no parameter LogLevle"),
        ("LogLevel", "LOUD", "one of DEBUG, INFO"),
        ("Shards", "101", "a number from 0 to 100"),
        ("Shards", "eight", "a number from 0 to 100"),
        ("PrivateTargetsAccount", "123", "must match"),
        ("TargetRoleArns", "arn:aws:iam::123456789012:role/x" + "y" * 4000, "the most"),
    ],
)
def test_what_the_template_does_not_allow(name: str, value: str, sentence: str) -> None:
    with pytest.raises(TemplateError, match=sentence):
        check(PARAMETERS, {name: value})


def test_defaults_and_what_is_allowed_pass() -> None:
    check(PARAMETERS, {name: str(one["Default"]) for name, one in PARAMETERS.items() if name != "Actions"})
    check(PARAMETERS, {"JwtIssuer": "https://id.example.com", "Shards": "100", "AlarmEmail": "ops@example.com"})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ApiAuthorization": "JWT"}, "needs JwtIssuer and JwtAudience"),
        ({"ApiAuthorization": "JWT", "JwtIssuer": "https://id.example.com"}, "needs JwtIssuer and JwtAudience"),
        ({"AllowPrivateTargets": "true"}, "set PrivateTargetsAccount"),
        ({"SubnetIds": "subnet-1"}, "SubnetIds needs SecurityGroupIds"),
        ({"MaxLiveSchedules": "10", "Lifecycle": "events"}, "needs Lifecycle=journal"),
        ({"FailedWebhookUrl": "https://a.example", "Lifecycle": "off"}, "needs Lifecycle=journal or events"),
    ],
)
def test_what_a_rule_refuses_is_said_before_anything_is_built(given: dict[str, str], sentence: str) -> None:
    template = expand(written(), {**given, "Subscribers": "failed-webhook"})
    with pytest.raises(TemplateError, match=sentence):
        check_rules(template, given)


def test_what_no_rule_refuses_passes() -> None:
    check_rules(expand(written(), {}), {})
    both = {"JwtIssuer": "https://id.example.com", "JwtAudience": "delayer"}
    check_rules(expand(written(), {}), {"ApiAuthorization": "JWT", **both})


def test_what_only_the_stack_knows_is_left_to_cloudformation() -> None:
    """Its answer hides the URL; it may be empty."""
    template = expand(written(), {"Subscribers": "failed-webhook"})
    check_rules(template, {"Lifecycle": "off"}, hidden=["FailedWebhookUrl"])


def roles(count: int) -> str:
    """So many ARNs."""
    return ",".join(f"arn:aws:iam::123456789012:role/delayer-of-the-team-number-{number:03}" for number in range(count))


def test_the_variables_of_a_function_fit_into_what_lambda_takes() -> None:
    """The longest list of roles that the template takes leaves room for all other variables, however long they are."""
    template = expand(written(), {"Subscribers": "failed-webhook"})
    longest = PARAMETERS["TargetRoleArns"]["MaxLength"]
    regions = ",".join(["ap-southeast-1"] * 34)
    check_environments(template, {"TargetRoleArns": "x" * longest})
    with pytest.raises(TemplateError, match=r"Executor\w+ would have about .* The largest is TARGET_ROLE_ARNS"):
        check_environments(template, {"TargetRoleArns": roles(60)})
    with pytest.raises(TemplateError, match="The largest is SETTING"):
        check_environments(template, {"FailedWebhookUrl": "https://example.com/" + "x" * 5000})
    check_environments(template, {"TargetRoleArns": roles(20), "TargetRegions": regions, "SqsTargetRegions": regions})
