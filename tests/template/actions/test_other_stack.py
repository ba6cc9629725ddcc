"""The template of a stack that brings an action of its own (ADR 0090)."""

from delayer.aws.deployment.custom_resource import LONGEST_PAUSE, REPEATED_FOR
from operate.deploy.reading import read_template
from tests.cfn import ROOT, expanded, resources

FILE = ROOT / "examples/executor-in-its-own-stack/template.yaml"
EXAMPLE = read_template(FILE)
RESOURCES = EXAMPLE["Resources"]


def test_it_is_short() -> None:
    assert len(FILE.read_text().splitlines()) <= 60


def test_what_it_needs_of_delayer_is_there() -> None:
    """The names of the parameters are those that Delayer's own template gives them."""
    offered = {one["Name"]["Fn::Sub"] for one in resources("AWS::SSM::Parameter").values()}
    wanted = {one["Default"] for one in EXAMPLE["Parameters"].values() if one["Type"].startswith("AWS::SSM")}
    assert wanted == {name.replace("${AWS::StackName}", "delayer") for name in offered}
    assert not any("Export" in one for one in expanded()["Outputs"].values()), "an export in use blocks deployments"


def test_its_function_admits_executor_remote_and_nobody_else() -> None:
    permissions = [one["Properties"] for one in RESOURCES.values() if one["Type"] == "AWS::Lambda::Permission"]
    assert [one["Principal"] for one in permissions] == [{"Ref": "RemoteRole"}]
    assert "Policies" not in RESOURCES["NoteWrite"]["Properties"]


def test_its_type_is_taken_out_before_its_function() -> None:
    """CloudFormation waits for as long as an event may wait for its turn, and the registrar may take; not an hour."""
    action = RESOURCES["NoteWriteAction"]
    assert action["DependsOn"] == "NoteWritePermission"
    registrar = expanded()["Resources"]["DeployActionRegistrar"]["Properties"]
    assert registrar["Timeout"] >= REPEATED_FOR + LONGEST_PAUSE + 20
    age = registrar["EventInvokeConfig"]["MaximumEventAgeInSeconds"]
    custom = [one for one in expanded()["Resources"].values() if one["Type"].startswith("Custom::")]
    for one in (action, *custom):
        assert age + registrar["Timeout"] < one["Properties"]["ServiceTimeout"] <= 600
    assert registrar["EventInvokeConfig"]["MaximumRetryAttempts"] == 0


def test_layers_of_former_versions_are_kept() -> None:
    """A function of another stack names one of them."""
    assert expanded()["Resources"]["DelayerLayer"]["Properties"]["RetentionPolicy"] == "Retain"
