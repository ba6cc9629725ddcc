"""Requirements are pinned and hashed, name no package index, and agree with each other (ADR 0027, ADR 0136)."""

import re
import tomllib
from collections import defaultdict
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
APART = [ROOT / "bench/peers/requirements.in", *sorted(ROOT.glob("tests/deployment/sam/*.in"))]
WANTED = [*sorted(ROOT.glob("requirements*.in")), ROOT / "shared/requirements.in", *APART]
COMPILED = [file.with_suffix(".txt") for file in WANTED]
# `name==version`, then for which platforms, if not for all.
PIN = re.compile(r"([a-z0-9._\[\],-]+)==(\S+)(?: ; ([^\\]+?))? +\\?(?: +--hash=sha256:[0-9a-f]{64} *\\?)+")


def lines(file: Path) -> list[str]:
    """Each requirement with its hashes in one line."""
    joined = re.sub(r"\\\n", " ", file.read_text())
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def pins(file: Path) -> dict[tuple[str, str], str]:
    """The version of a package on a platform."""
    return {(found[1], found[3] or ""): found[2] for line in lines(file) if (found := PIN.fullmatch(line))}


def test_each_is_pinned_and_hashed() -> None:
    """Whatever is wanted is compiled, and each line names one version and the hashes of its files."""
    assert [file for file in COMPILED if not lines(file)] == []
    assert [(file.name, line) for file in COMPILED for line in lines(file) if not PIN.fullmatch(line)] == []


def test_names_no_index() -> None:
    """Where packages come from is a matter of the machine that installs."""
    index = re.compile(r"--(?:extra-)?index-url|--find-links|--trusted-host|https?://|file://")
    assert [(file, found) for file in COMPILED + WANTED if (found := index.findall(file.read_text()))] == []


def test_all_have_the_same_versions() -> None:
    """What is tested is what `make local` runs and what the layer holds. What lives apart may have others."""
    versions = defaultdict(set)
    for file in COMPILED:
        if file.with_suffix(".in") not in APART:
            for (package, platform), version in pins(file).items():
                versions[package, platform].add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("before", "name"),
    [((), "serve"), (("serve",), "local"), (("serve", "local"), "dev"), (("serve", "local"), "docs")],
)
def test_each_has_all_that_its_packages_need_here(before: tuple[str, ...], name: str) -> None:
    """A file is installed together with those before it, and has no package that these have on all platforms."""
    own = pins(ROOT / f"requirements-{name}.txt")
    others = [key for part in before for key in pins(ROOT / f"requirements-{part}.txt")]
    assert [package for package, platform in own if not platform and (package, "") in others] == []
    here = {package for package, platform in [*others, *own] if not platform or Marker(platform).evaluate()}
    needed = {
        (package, canonicalize_name(needs.name))
        for package in here
        for needs in map(Requirement, metadata.requires(package) or ())
        if not needs.marker or needs.marker.evaluate({"extra": ""})
    }
    assert {(package, needs) for package, needs in needed if needs not in here} == set()


def test_the_stack_has_what_the_client_needs() -> None:
    """The client is installed without its dependencies: its file names ranges, and these have no hashes."""
    project = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    local = pins(ROOT / "requirements-serve.txt") | pins(ROOT / "requirements-local.txt")
    wanted = {(needs.name, ""): needs.specifier for needs in map(Requirement, lines)}
    assert [key for key, versions in wanted.items() if key not in local or local[key] not in versions] == []


def test_the_emulator_is_pinned_exactly() -> None:
    """ADR 0029: it was measured in this version."""
    assert "\nministack==1.5.33\n" in (ROOT / "requirements-local.in").read_text()
