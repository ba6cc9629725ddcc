"""Where data lies: each place of the template is on the page, with its encryption and its retention."""

import re
from fnmatch import fnmatchcase
from typing import Any

import yaml

from tests.cfn import ROOT, expanded, resources, variables, written
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/decide/data.md").read_text()
KINDS = {
    "tables, their streams and backups": "AWS::DynamoDB::Table",
    "queues": "AWS::SQS::Queue",
    "`DeadLetterBucket`": "AWS::S3::Bucket",
    "secrets": "AWS::SecretsManager::Secret",
    "log groups": "AWS::Logs::LogGroup",
    "functions: variables and code": "AWS::Serverless::Function",
}
OF_A_KEY = re.compile(r"kms|sse|encrypt", re.IGNORECASE)  # properties about encryption


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the tables below a heading, by their first cell."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: others for first, *others in cells if set(first) != {"-"}}


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def first_cells(heading: str) -> list[str]:
    """What stands as code in the first cells."""
    return [name for cell in rows(heading) for name in code(cell)]


# ------------------------------------------------------------ the places


def test_all_tables_are_there_and_say_whether_they_expire() -> None:
    tables = resources("AWS::DynamoDB::Table")
    assert sorted(first_cells("Tables")) == sorted(tables)
    for name, table in tables.items():
        does_not = "Nothing in it expires" in rows("Tables")[f"`{name}`"][1]
        assert does_not == ("TimeToLiveSpecification" not in table), name
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}  # 35 days, if not said


def test_all_queues_are_there_with_their_days() -> None:
    days = {name: int(cells[1]) for first, cells in rows("Queues").items() for name in code(first)}
    for queue, properties in resources("AWS::SQS::Queue").items():
        [stated] = {days[name] for name in (queue, *days) if name in days and fits(queue, name)}
        assert stated == properties["MessageRetentionPeriod"] / 86_400, queue
    assert [name for name in days if not [one for one in resources("AWS::SQS::Queue") if fits(one, name)]] == []


def fits(queue: str, name: str) -> bool:
    """`Executor*Queue` stands for the queues of all executors."""
    return fnmatchcase(queue, name)


def test_the_bucket_and_how_long_it_keeps_what_was_deleted() -> None:
    [(name, bucket)] = resources("AWS::S3::Bucket").items()
    [rule] = bucket["LifecycleConfiguration"]["Rules"]
    assert f"`{name}`" in section("Bucket")
    assert set(rule) == {"Id", "Status", "NoncurrentVersionExpiration", "ExpiredObjectDeleteMarker"}  # no end of others
    assert f"for {rule['NoncurrentVersionExpiration']['NoncurrentDays']} days" in section("Bucket")
    [granted] = {
        prefix
        for policy in resources("AWS::IAM::Role").values()
        for prefix in [tuple(sorted(set(re.findall(r"\$\{DeadLetterBucket\.Arn\}/([a-z/-]+)/\*", str(policy)))))]
        if "waiting" in prefix and "dead-lettered" in prefix
    }
    assert {f"{prefix}/" for prefix in granted} | {"failed/"} == set(first_cells("Bucket"))


def test_all_secrets_and_topics_are_there() -> None:
    assert resources("AWS::SecretsManager::Secret") == {}, "connections make them"
    places = first_cells("Topics, logs and figures")
    assert set(resources("AWS::SNS::Topic")) == {name for name in places if name.endswith("Topic")}


def test_all_log_groups_are_there_with_their_retention() -> None:
    stated = [re.escape(name) for name in first_cells("Topics, logs and figures") if name.startswith("/aws/")]
    default = written()["Parameters"]["LogRetentionDays"]["Default"]
    for group in resources("AWS::Logs::LogGroup").values():
        name = group["LogGroupName"]["Fn::Sub"].replace("${AWS::StackName}", "<stack>")
        assert any(re.fullmatch(one.replace(r"\*", ".+"), name) for one in stated), name
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    assert section("Topics, logs and figures").count(f"`LogRetentionDays` ({default})") == 2


def test_what_is_deleted_with_the_stack() -> None:
    for kind in ("AWS::Logs::LogGroup", "AWS::SNS::Topic", "AWS::SecretsManager::Secret"):
        for name in resources(kind):
            assert "DeletionPolicy" not in written()["Resources"].get(name, {}), name


def test_the_days_of_the_journal() -> None:
    small, large = (written()["Mappings"]["Scales"][scale]["JournalDays"] for scale in ("small", "large"))
    assert (
        f"`JournalDays` ({small} with `Scale=small`, {large} with `large`) after" in rows("Tables")["`JournalTable`"][1]
    )


def test_what_the_functions_hold() -> None:
    """One rule, three names in SSM, one setting that is a secret; what reaches targets may be in a VPC."""
    assert list(resources("AWS::Events::Rule")) == ["EveryMinute"]
    assert len(resources("AWS::SSM::Parameter")) == 3
    hidden = [name for name, parameter in written()["Parameters"].items() if parameter.get("NoEcho")]
    assert hidden == ["FailedWebhookUrl"]
    assert variables("subscriber-failed-webhook")["SETTING"] == {"Ref": "FailedWebhookUrl"}
    reaching = [name for name, one in resources("AWS::Serverless::Function").items() if "VpcConfig" in one]
    assert all(name.startswith(("Executor", "Subscriber", "ApiConnectionTest")) for name in reaching)
    assert expanded()["Parameters"]["SubnetIds"]["Default"] == ""


def test_no_function_writes_a_file() -> None:
    """The engine of one machine does: it is in no layer."""
    sources = [*(ROOT / "shared/delayer").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    deployed = [path for path in sources if ROOT / "shared/delayer/serve" not in path.parents]
    assert [path for path in deployed if re.search(r"/tmp|tempfile|\.write_(text|bytes)\(", path.read_text())] == []


# ------------------------------------------------------------ encryption


def about_encryption(value: Any) -> dict[str, Any]:
    """The properties about keys and encryption, at any depth."""
    found: dict[str, Any] = {}
    for name, inner in value.items() if isinstance(value, dict) else ():
        found |= {name: inner} if OF_A_KEY.search(name) else about_encryption(inner)
    return found


@of_each(rows("Encryption"))
def test_the_template_says_about_encryption_what_the_page_says(where: str) -> None:
    if where == "where" or (where not in KINDS and not where.endswith("Topic`")):
        return  # the heading, and what is no resource of the template
    said = code(rows("Encryption")[where][1])
    topic = {name: one for name, one in resources("AWS::SNS::Topic").items() if f"`{name}`" == where}
    for name, properties in (topic or resources(KINDS.get(where, ""))).items():
        found = about_encryption({key: one for key, one in properties.items() if key != "Environment"})
        assert bool(said) == bool(found), name
        for text in said:
            [(key, value)] = yaml.safe_load(text).items()
            assert innermost(found, key) == value, name


def innermost(found: Any, key: str) -> Any:
    """The value of a property at any depth, in lists too."""
    if isinstance(found, list):
        return next((value for one in found if (value := innermost(one, key)) is not None), None)
    if not isinstance(found, dict):
        return None
    return found[key] if key in found else innermost([*found.values()], key)


def test_every_kind_that_can_be_encrypted_has_a_row() -> None:
    stated = set(rows("Encryption"))
    assert set(KINDS) <= stated
    assert {f"`{name}`" for name in resources("AWS::SNS::Topic")} <= stated


def test_no_key_of_the_customer_is_possible_by_a_parameter() -> None:
    named = [name for name in written()["Parameters"] if re.search("Key|Kms", name)]
    assert named == ["SqsTargetKeyArns"]
    assert "`SqsTargetKeyArns` names keys of queues that `sqs-send` sends to" in PAGE
    assert not resources("AWS::KMS::Key")


def test_the_date_of_what_aws_says() -> None:
    """Each default of AWS has the page on which it stands."""
    assert re.search(r"looked up on \d{4}-\d\d-\d\d", PAGE)
    for where, [with_what, *_] in rows("Encryption").items():
        assert where == "where" or "](https://docs.aws.amazon.com/" in with_what, where
