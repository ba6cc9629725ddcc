"""The documentation describes what the code has, and its links lead somewhere."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from docs.hooks.reference.functions.page import pages as pages_of_functions
from docs.hooks.reference.pages import filled
from tests.cfn import resources
from tests.docs.test_actions import PAGES as ACTIONS
from tests.openapi import openapi
from tests.rooms import ROOMS
from tests.running.of_each import of_each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))  # those of adr/ lie behind a link, which rglob does not follow
TEXTS = [
    *PAGES,
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "adr").glob("*.md")),
]
GENERATED = {*ACTIONS, *pages_of_functions()}  # pages that are no files
OUTSIDE_HOSTS = ("fonts.googleapis", "fonts.gstatic", "unpkg", "cdn.", "jsdelivr", "cdnjs")
PATH = re.compile(r"`((?:adr|bench|client|docs|examples|functions|local|operate|shared|tests)/[\w./-]+)`")
FOREIGN = re.compile(r"!\[[^\]]*\]\(https?:[^)]*|<(?:img|script|iframe|link)\b[^>]*https?:[^>]*")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


each_text = of_each(TEXTS)


class AnyTag(yaml.CSafeLoader):
    """Reads CloudFormation's and mkdocs' own tags as plain values."""


def _plain(loader: AnyTag, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node, deep=True)


AnyTag.add_multi_constructor("!", _plain)
AnyTag.add_multi_constructor("tag:yaml.org,2002:python/", _plain)


@cache
def read_yaml(name: str) -> Any:
    return yaml.load((ROOT / name).read_text(), Loader=AnyTag)


def page(name: str) -> str:
    return (DOCS / name).read_text()


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


@cache
def anchors(file: Path) -> set[str]:
    """The ids that the headings of a page get."""
    from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

    whole = file.read_text()
    if file.is_relative_to(DOCS):
        whole = filled(whole, file.relative_to(DOCS).as_posix())
    text = re.sub(r"^```.*?^```", "", whole, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+?)(?: \{ #[\w-]+ \})?$", text, re.MULTILINE)
    given = set(re.findall(r"\{ #([\w-]+) \}", text))
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in headings} | given


def kind_of(name: str) -> str:
    """Executors, subscribers and policies have one row together: a new one is not written down by hand."""
    return re.sub(r"^(executor|subscriber|policy)-.+", r"\1-*", name)


def test_every_function_is_described() -> None:
    folders = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
    assert folders
    table = filled(page("how-it-works/architecture.md"), "how-it-works/architecture.md")
    assert [name for name in folders if f"| `{name}` |" not in table and f"| `{kind_of(name)}` |" not in table] == []
    assert [name for name in folders if not (ROOT / "functions" / name / "README.md").is_file()] == []


def test_no_function_is_described_that_is_not_there() -> None:
    named = re.findall(r"^\| `([a-z0-9-]+)` \| [^|]+ \| [^|]+ \|$", page("how-it-works/architecture.md"), re.MULTILINE)
    assert [name for name in named if not (ROOT / "functions" / name).is_dir()] == []


def test_every_table_is_described() -> None:
    named = re.findall(r"^\| [a-z -]+ \| `(\w+)` \| `", page("how-it-works/architecture.md"), re.MULTILINE)
    assert sorted(named) == sorted([*resources("AWS::DynamoDB::Table"), *resources("AWS::S3::Bucket")])


def test_the_rooms_of_the_package_are_described_in_their_order() -> None:
    [table] = re.findall(
        r"^\| room \| holds \|\n(.*?)\n\n", page("how-it-works/architecture.md"), re.MULTILINE | re.DOTALL
    )
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(ROOMS)


def test_every_field_of_a_request_is_described() -> None:
    """But for those of the actions, which have pages of their own: test_actions.py."""
    schemas = openapi()["components"]["schemas"]
    text = page("use/api.md")
    assert [f for f in schemas["ScheduleRequest"]["properties"] if f"| `{f}` |" not in text] == []


def test_every_error_is_described() -> None:
    responses = openapi()["paths"]["/schedules"]["post"]["responses"]
    text = page("use/api.md")
    assert [status for status in responses if status != "201" and f"\n### {status}: " not in text] == []


def test_every_state_is_described() -> None:
    from delayer.ledger.model import State

    lifecycle, glossary = page("how-it-works/lifecycle.md"), page("project/glossary.md")
    assert [state for state in State if f"| `{state}` |" not in lifecycle or f"`{state}`" not in glossary] == []


@each_text
def test_links_resolve(file: Path) -> None:
    for target in LINK.findall(without_code(file.read_text())):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        aimed = (file.parent / path).resolve() if path else file
        if aimed.is_relative_to(DOCS) and aimed.relative_to(DOCS).as_posix() in GENERATED:
            continue
        assert aimed.exists(), target
        if anchor and aimed.suffix == ".md":  # a picture has that of a theme
            assert anchor in anchors(aimed), target


@each_text
def test_json_examples_are_json(file: Path) -> None:
    for example in re.findall(r"^```json\n(.*?)^```", file.read_text(), re.MULTILINE | re.DOTALL):
        json.loads(example)


@each_text
def test_names_no_outside_host(file: Path) -> None:
    assert [host for host in OUTSIDE_HOSTS if host in file.read_text()] == []


@each_text
def test_shows_nothing_that_lies_outside(file: Path) -> None:
    assert FOREIGN.findall(without_code(file.read_text())) == []


@each_text
def test_the_paths_that_it_names_are_there(file: Path) -> None:
    """But for what a reader makes on the page, and what a team may take out."""
    made = [name.replace("-", "[-_]") for name in re.findall(r"NAME=([a-z-]+)", file.read_text())]
    other = "|".join(["^functions/(?:executor|policy|subscriber)-", *made])
    named = [path for path in PATH.findall(file.read_text()) if not re.search(other, path)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_no_link_leads_to_what_a_team_may_take_out() -> None:
    """`make rm-executor` takes a page out, too, and a link to it would fail the next build. The lists of all stay."""
    gone = re.compile(r"(?:^|/)(?:actions/(?!index\.md)|functions/(?:executor|policy|subscriber)-|executor-.+/README)")
    texts = [*TEXTS, *(ROOT / "functions").glob("*/README.md")]
    linked = {(file.relative_to(ROOT), target) for file in texts for target in LINK.findall(file.read_text())}
    assert [pair for pair in sorted(linked) if gone.search(pair[1]) and "examples/" not in pair[1]] == []


def test_the_site_needs_no_outside_host() -> None:
    configuration = read_yaml("mkdocs.yml")
    assert configuration["theme"]["font"] is False
    assert [script for script in configuration.get("extra_javascript", []) if "//" in script] == []
    for file in (ROOT / "mkdocs.yml", DOCS / "overrides/main.html"):
        assert [host for host in OUTSIDE_HOSTS if host in file.read_text()] == []
    assert (DOCS / "assets/javascripts/mermaid.min.js").is_file()
    assert (DOCS / "assets/javascripts/mermaid.LICENSE.txt").is_file()


def test_every_page_is_in_the_navigation() -> None:
    navigation = json.dumps(read_yaml("mkdocs.yml")["nav"])
    assert [
        path for path in map(str, (file.relative_to(DOCS) for file in PAGES)) if f'"{path}"' not in navigation
    ] == []


def test_home_page_and_readme_say_where_it_stands() -> None:
    version = openapi()["info"]["version"]
    for text in (page("index.md"), (ROOT / "README.md").read_text()):
        flat = " ".join(text.split())
        assert [word for word in (version, "not released", "one machine", "two processors") if word not in flat] == []
        assert re.search(r"not (run on AWS )?yet|not yet on AWS", flat)


def test_what_is_not_there_yet_is_said_in_one_place() -> None:
    assert [file.name for file in [*PAGES, ROOT / "README.md"] if "Not yet there:" in file.read_text()] == ["index.md"]
