"""The same code gives the same archive, and the template loses nothing but its local folders."""

import io
import os
import subprocess
import sys
import zipfile
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from local.deployment.metric_math import without_metric_math
from local.deployment.package import archive_of, package
from local.errors import EmulatorError
from tests.cfn import ROOT

TEMPLATE = """
Transform: AWS::Serverless-2016-10-31
Resources:
  Layer:
    Type: AWS::Serverless::LayerVersion
    Properties: {ContentUri: shared/}
  Post:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/post/, Handler: app.handler, Role: !GetAtt Role.Arn}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    for name, text in {
        "functions/post/app.py": "handler = None",
        "functions/post/__pycache__/app.pyc": "x",
        "shared/requirements.txt": "attrs",
        "shared/delayer/__init__.py": "",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def names_in(archive: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(archive)).namelist()


def test_archives_hold_the_function_and_the_layers_package_only(project: Path) -> None:
    archives = package(project / "template.yaml", "code").archives.values()
    module = "python/delayer/__init__.py"
    assert sorted(names_in(archive) for archive in archives) == [["app.py"], [module, cache_from_source(module)]]


def test_the_layer_is_compiled_and_says_where_its_code_is(project: Path, tmp_path: Path) -> None:
    (project / "shared/delayer/broken.py").write_text("def :")
    (project / "shared/delayer/whole.py").write_text("def where(): return where.__code__.co_filename")
    archives = package(project / "template.yaml", "code").archives.values()
    [layer] = [archive for archive in archives if "python/delayer/whole.py" in names_in(archive)]
    assert cache_from_source("python/delayer/broken.py") not in names_in(layer)
    zipfile.ZipFile(io.BytesIO(layer)).extractall(tmp_path / "layer")
    script = "import delayer.whole as one; print(one.__cached__, one.where(), sep='\\n')"
    environment = {"PYTHONPATH": str(tmp_path / "layer/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-v", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    whole = str(tmp_path / "layer/python/delayer/whole.py")
    assert done.stdout.splitlines() == [cache_from_source(whole), whole]
    assert f"matches {whole}" in done.stderr, "it was compiled anew"


def test_what_runs_on_one_machine_alone_is_in_no_layer(tmp_path: Path) -> None:
    """Neither in that of `make deploy` nor in that of the emulator: both have the same modules. It takes a second.

    No function imports these rooms: tests/unit/test_imports.py has the table.
    """
    pip = tmp_path / "bin/python3"  # which installs nothing
    pip.parent.mkdir()
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    (tmp_path / "layer/python").mkdir(parents=True)
    command = ["make", "--silent", "build-DelayerLayer", f"ARTIFACTS_DIR={tmp_path / 'layer'}"]
    environment = {"PATH": f"{pip.parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(command, cwd=ROOT / "shared", env=environment, check=True, timeout=60)
    built = {str(one.relative_to(tmp_path / "layer")) for one in (tmp_path / "layer").rglob("*") if one.is_file()}
    emulated = {one for one in names_in(archive_of(ROOT / "shared", is_layer=True)) if "__pycache__" not in one}
    assert built == emulated
    assert "python/delayer/engines/aws/__init__.py" in built
    assert not [one for one in built if "/serve/" in one or "/sqlite/" in one]


def test_the_same_code_gives_the_same_bytes_whenever_it_was_written(project: Path) -> None:
    first = package(project / "template.yaml", "code")
    os.utime(project / "functions/post/app.py", (1, 1))
    assert package(project / "template.yaml", "code") == first


def test_folders_become_objects_and_intrinsics_stay(project: Path) -> None:
    packaged = package(project / "template.yaml", "code")
    properties = packaged.template["Resources"]["Post"]["Properties"]
    assert properties["Role"] == {"Fn::GetAtt": ["Role", "Arn"]}
    assert properties["CodeUri"].removeprefix("s3://code/") in packaged.archives


def test_what_a_loop_makes_is_packaged_each_with_its_own_folder(project: Path) -> None:
    function = "{Type: AWS::Serverless::Function, Properties: {CodeUri: !Sub 'functions/${Name}/'}}"
    loop = f"  Fn::ForEach::All: [Name, !Ref Names, {{'Of&{{Name}}': {function}}}]\n"
    parameter = "Parameters: {Names: {Type: CommaDelimitedList, Default: post}}\n"
    (project / "template.yaml").write_text(TEMPLATE + loop + parameter)
    (project / "functions/other-one").mkdir()
    (project / "functions/other-one/app.py").write_text("handler = 1")
    packaged = package(project / "template.yaml", "code", {"Names": "other-one,post"})
    keys = [packaged.template["Resources"][name]["Properties"]["CodeUri"] for name in ("Ofotherone", "Ofpost", "Post")]
    assert keys[0] != keys[1] == keys[2]
    assert {names_in(packaged.archives[key.removeprefix("s3://code/")])[0] for key in keys} == {"app.py"}
    assert packaged.settled == {"Names"}
    assert packaged.template["Parameters"] == {}


def test_a_missing_folder_is_named(project: Path) -> None:
    (project / "functions/post").rename(project / "functions/other")
    with pytest.raises(EmulatorError, match="functions/post, which does not exist"):
        package(project / "template.yaml", "code")


@pytest.mark.parametrize(("text", "message"), [("a: [", "not valid YAML"), ("just text", "does not hold a template")])
def test_a_broken_template_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "template.yaml").write_text(text)
    with pytest.raises(EmulatorError, match=message) as caught:
        package(tmp_path / "template.yaml", "code")
    assert "\n" not in str(caught.value)


def test_no_template_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EmulatorError, match=r"There is no template\.yaml in"):
        package(tmp_path / "template.yaml", "code")


def test_alarms_on_an_expression_are_left_out() -> None:
    """The emulator refuses the whole stack because of one. All else stays, in the same order."""
    plain = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "Late"}}
    math = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Metrics": [{"Id": "late"}]}}
    other = {"Type": "AWS::SQS::Queue"}
    resources = {"Late": math, "Queue": other, "Plain": plain}
    assert without_metric_math({"Transform": "x", "Resources": resources}) == {
        "Transform": "x",
        "Resources": {"Queue": other, "Plain": plain},
    }
