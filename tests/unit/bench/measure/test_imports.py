"""The functions are imported as the template sets them up."""

from bench.measure.imports import environment, functions_of, value_of
from local.project import PROJECT
from operate.deploy.expand import expand
from operate.deploy.reading import read_template
from operate.deploy.settled import everything


def test_values_are_taken_from_the_parameters_defaults() -> None:
    parameters = {"Period": {"Default": 840}}
    assert value_of({"Ref": "Period"}, parameters) == "840"
    assert value_of({"Ref": "SomeQueue"}, parameters) == "SomeQueue"
    assert value_of({"Fn::If": ["IsTraced", "false", "true"]}, parameters) == "true"
    assert value_of({"Fn::Sub": "${A}"}, parameters) == "value"
    assert value_of(10, parameters) == "10"


def test_every_function_folder_has_its_environment() -> None:
    written = read_template(PROJECT / "template.yaml")
    functions = functions_of(expand(written, everything(written)))
    assert set(functions) == {folder.parent.name for folder in (PROJECT / "functions").glob("*/app.py")}
    assert functions["stream-enqueuer"]["DELAYER_PERIOD"].isdecimal()
    assert "POWERTOOLS_SERVICE_NAME" in functions["delayer-relay"]


def test_a_value_of_a_mapping() -> None:
    """By the default of the parameter that chooses its row."""
    found = environment(
        {"HEARTBEATS": {"Fn::FindInMap": ["Scales", {"Ref": "Scale"}, "Heartbeats"]}},
        {"Scale": {"Default": "small"}},
        {"Scales": {"small": {"Heartbeats": "2"}}},
    )
    assert found == {"HEARTBEATS": "2"}
