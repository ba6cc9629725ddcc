"""The template of a stack that brings an action of its own (ADR 0090)."""

from delayer.lambdas.custom_resource import LONGEST_PAUSE, REPEATED_FOR
from operate.deploy.reading import read_template
from tests.cfn import ROOT, deployed, expanded, logical, resources

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
    resources = expanded()["Resources"]
    custom = [one["Properties"] for one in resources.values() if one["Type"].startswith("Custom::")]
    asked = {logical(one["ServiceToken"]): one["ServiceTimeout"] for one in custom}
    assert set(asked) == {"DeployActionRegistrar", "OperatorIdKey"}
    for name, waits in asked.items():
        function = resources[name]["Properties"]
        assert function["Timeout"] >= REPEATED_FOR + LONGEST_PAUSE + 20
        invoked = function["EventInvokeConfig"]
        assert invoked["MaximumEventAgeInSeconds"] + function["Timeout"] < waits <= 600
        assert invoked["MaximumRetryAttempts"] == 0
    assert {one["ServiceTimeout"] for one in (action["Properties"], *custom)} == {420}


def test_layers_of_former_versions_are_kept() -> None:
    """A function of another stack names one of them. A creation that fails takes back what it has made (ADR 0160)."""
    [layer] = [one for one in deployed()["Resources"].values() if one["Type"] == "AWS::Lambda::LayerVersion"]
    assert layer["DeletionPolicy"] == "RetainExceptOnCreate"
