"""The wheel is all that a user needs: it is installed alone, and the fake runs from it."""

import subprocess
import sys
from collections.abc import Iterator
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.cfn import ROOT

PROGRAM = """
import sys
from datetime import timedelta

from delayer_client import HttpRequest, Spread
from delayer_client.testing import FakeDelayer

with FakeDelayer() as fake:
    delayer = fake.client()
    schedule = delayer.schedule(HttpRequest(url="https://example.com/hook"), delay=timedelta(minutes=5))
    decided = delayer.schedule(HttpRequest(url="https://example.com/hook"), when=Spread(seconds=60))
    fake.advance(timedelta(minutes=5))
    assert fake.handed_over[-1].schedule_id == schedule.id, fake.handed_over
    assert delayer.get(decided.id).state == "executed"
found = {name.partition(".")[0] for name in sys.modules}
assert not found & {"boto3", "botocore", "aws_lambda_powertools", "cryptography", "pydantic", "yaml"}, found
print(sys.modules["delayer"].__file__, sys.modules["delayer_client"].__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the checkout, with what builds it already there."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT / "client"))
    [built] = folder.glob("*.whl")
    return built


def pip(*arguments: str) -> None:
    """It reaches no index."""
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fake_runs_from_its_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """With what its metadata ask for, and with nothing else: neither the checkout nor boto3.

    It takes some seconds: the wheel is built and used.
    """
    installed, others = tmp_path / "installed", tmp_path / "others"
    pip("install", "--no-deps", "--target", str(installed), str(wheel))
    link(sorted(set(required(wheel))), others)
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", PROGRAM],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{installed}:{others}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [one.startswith(str(installed)) for one in done.stdout.split()] == [True, True]


def required(wheel: Path) -> Iterator[str]:
    """The distributions that `./client[testing]` needs, and what those need."""
    with ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        asked = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist", [])
    yield from closure(asked, "testing", set())


def closure(requirements: list[str], extra: str, seen: set[str]) -> Iterator[str]:
    for one in map(Requirement, requirements):
        if one.name in seen or (one.marker and not one.marker.evaluate({"extra": extra})):
            continue
        seen.add(one.name)
        try:
            needs = distribution(one.name).requires or []
        except PackageNotFoundError as error:
            raise AssertionError(f"{one.name} is not in .venv") from error
        yield one.name
        yield from closure(needs, "", seen)


def link(names: list[str], folder: Path) -> None:
    """Each distribution of .venv, and no other."""
    folder.mkdir()
    for name in names:
        found = distribution(name)
        tops = {path.parts[0] for path in found.files or () if path.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            target = folder / top
            if not target.exists():
                target.symlink_to(Path(str(found.locate_file(top))))


def test_the_wheel_has_each_function_of_the_api(wheel: Path) -> None:
    """And those that `delayer serve` runs beside them; no test, and no template."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    bundled = {Path(name).stem for name in names if "/bundled/" in name}
    functions = {path.parent.name for path in ROOT.glob("functions/*/app.py")}
    assert bundled == {name for name in functions if name.startswith(("api-", "policy-", "executor-", "operator-"))}
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"delayer", "delayer_client"}
    assert not [name for name in names if "__pycache__" in name]


def test_a_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """As `uv build` does. It takes some seconds: both are built."""
    build = "from hatchling.build import build_sdist; print(build_sdist(__import__('sys').argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT / "client", check=True, capture_output=True)
    [source] = tmp_path.glob("*.tar.gz")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source))
    [again] = tmp_path.glob("*.whl")
    with ZipFile(wheel) as one, ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
