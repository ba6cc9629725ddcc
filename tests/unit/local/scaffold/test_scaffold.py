"""`make new-executor` writes a folder, a test and one name; `make rm-executor` takes them out again."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from delayer.extension.executor import __all__ as author_imports
from local.scaffold.__main__ import main
from local.scaffold.kind import EXECUTOR, SUBSCRIBER, Kind, Refused
from local.scaffold.name_list import WIDTH, found_in
from tests.cfn import ROOT, TEMPLATE

LONGEST = 38
GIT = shutil.which("git") or "git"


def scaffold(root: Path, command: str, name: str, *more: str) -> int:
    return main([command, f"--name={name}", "--longest-stack-name", str(LONGEST), *more], root)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read and write of the project, committed. Nobody changes it: each test has a copy."""
    root = tmp_path_factory.mktemp("scaffold") / "project"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for folder in ("shared", "functions"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    for file in ("template.yaml", "openapi.yaml", "README.md"):
        shutil.copy2(ROOT / file, root / file)
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "--quiet")
    commit(root)
    return root


@pytest.fixture
def project(tmp_path: Path, committed: Path) -> Path:
    """A copy, with the times of its files: git reads none of them again."""
    return Path(shutil.copytree(committed, tmp_path / "project"))


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    return subprocess.run([GIT, *who, *arguments], cwd=root, capture_output=True, text=True, check=True).stdout


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "as it is")


def changed(root: Path) -> list[str]:
    return [line[3:] for line in git(root, "status", "--porcelain", "--untracked-files=all").splitlines()]


# ------------------------------------------------------------ what is written


def test_a_new_executor_is_three_files_and_one_name(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And what `make contract` makes of the class. It takes a second: a process makes the contract anew."""
    assert scaffold(project, "new-executor", "slack-post") == 0
    assert changed(project) == [
        "openapi.yaml",
        "shared/delayer/actions/rules/built_in.json",
        "template.yaml",
        "functions/executor-slack-post/README.md",
        "functions/executor-slack-post/app.py",
        "tests/functions/test_executor_slack_post.py",
    ]
    names = found_in((project / "template.yaml").read_text(), EXECUTOR).names
    assert set(names) - set(found_in(TEMPLATE.read_text(), EXECUTOR).names) == {"slack-post"}
    assert names[-2:] == ("remote", "canary")
    text = (project / "template.yaml").read_text()
    assert "    Default: http-request,slack-post,sqs-send,remote,canary\n" in text, "what a team adds, its stack has"
    assert f"[{', '.join(names)}]" in text
    assert "SlackPostAction:" in (project / "openapi.yaml").read_text()
    assert "make contract" in capfd.readouterr().out


def test_a_new_subscriber_is_three_files_and_one_name(project: Path) -> None:
    assert scaffold(project, "new-subscriber", "big-spenders") == 0
    assert changed(project) == [
        "template.yaml",
        "functions/subscriber-big-spenders/README.md",
        "functions/subscriber-big-spenders/app.py",
        "tests/functions/test_subscriber_big_spenders.py",
    ]
    assert "big-spenders" in found_in((project / "template.yaml").read_text(), SUBSCRIBER).names


@pytest.mark.parametrize(("word", "name"), [("executor", "slack-post"), ("subscriber", "big-spenders")])
def test_what_is_taken_out_leaves_nothing_behind(
    project: Path, word: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """It takes some seconds: processes make the contract anew, twice."""
    scaffold(project, f"new-{word}", name)
    commit(project)
    assert scaffold(project, f"rm-{word}", name) == 0
    commit(project)
    assert git(project, "diff", "HEAD~2") == ""
    said = capfd.readouterr().out
    assert "is kept" in said or "are kept" in said, "it says what happens to what is in flight"


def test_only_what_git_can_bring_back_is_deleted(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scaffold(project, "new-subscriber", "big-spenders")
    app = project / "functions/subscriber-big-spenders/app.py"
    assert scaffold(project, "rm-subscriber", "big-spenders") == 1
    assert "functions/subscriber-big-spenders/app.py" in capfd.readouterr().err
    commit(project)
    app.write_text("# a day of work\n")
    assert scaffold(project, "rm-subscriber", "big-spenders") == 1
    assert app.read_text() == "# a day of work\n"
    assert scaffold(project, "rm-subscriber", "big-spenders", "--force") == 0
    assert not app.parent.exists()


def written_by_hand(root: Path, kind: Kind, name: str) -> None:
    """What one may need besides: a line in the table, with a setting, and a policy."""
    template = root / "template.yaml"
    before, mappings, text = template.read_text().partition("\nMappings:\n")
    rows = f"\n  {kind.table}:\n    {name}:\n      {{Setting: ItsUrl}}\n    {name}-too: {{}}\n"
    text = before + mappings + text.replace(f"\n  {kind.table}:\n", rows)
    template.write_text(f"{text}# {kind.word.capitalize()}{name.replace('-', '')}Policy\n# !Ref ItsUrl\n")


@pytest.mark.parametrize(("kind", "name"), [(EXECUTOR, "slack-post"), (SUBSCRIBER, "big-spenders")])
def test_the_line_of_its_table_is_taken_out_and_what_else_names_it_is_listed(
    project: Path, kind: Kind, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Such as its permission, without whose role the template would be refused, and the parameter of its setting.

    It takes some seconds: processes make the contract anew, twice.
    """
    scaffold(project, f"new-{kind.word}", name)
    written_by_hand(project, kind, name)
    others = f"{kind.word}-{name}-too\n{kind.word.capitalize()}{name.replace('-', '')}tooPolicy\n"
    (project / "README.md").write_text(others)
    commit(project)
    scaffold(project, f"rm-{kind.word}", name)
    lines = (project / "template.yaml").read_text().splitlines()
    assert not [line for line in lines if line.startswith((f"    {name}:", "      {Setting: ItsUrl}"))]
    assert f"    {name}-too: {{}}" in lines
    said = capfd.readouterr().out
    assert f"Took its line out of the table {kind.table} in template.yaml.\n" in said
    assert f"It is still named in template.yaml, line {len(lines) - 1}.\n" in said
    assert f"Its setting ItsUrl is still in template.yaml, line {len(lines)}." in said
    assert "README.md, line" not in said, "that is another one, whose name begins like it"


def test_a_table_is_never_left_without_a_line(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CloudFormation takes none. What the setting of the one that is shipped was is named."""
    assert scaffold(project, "rm-subscriber", "failed-webhook") == 0
    mappings = (project / "template.yaml").read_text().partition("\nMappings:\n")[2].partition("\nResources:\n")[0]
    assert yaml.safe_load(mappings)["Subscribers"] == {"none": {"Needs": "nothing"}}
    assert "Its setting FailedWebhookUrl is still in template.yaml, line " in capfd.readouterr().out


@pytest.mark.parametrize(
    ("file", "before", "after", "behind"),
    [
        ("functions/executor-sns-publish/app.py", "class SnsPublish(Action):\n", '    """Another."""\n', 2),
        ("openapi.yaml", "    ScheduleRequest:\n", "      minProperties: 2\n", 1),
    ],
)
def test_a_forgotten_make_contract_is_noticed(project: Path, file: str, before: str, after: str, behind: int) -> None:
    """`make lint` says so, and writes nothing. It takes some seconds: two processes read the contract."""
    command = [sys.executable, "shared/contract.py", "--check"]
    assert subprocess.run(command, cwd=project, check=False).returncode == 0
    changed_file = project / file
    assert changed_file.read_text().count(before) == 1
    changed_file.write_text(changed_file.read_text().replace(before, before + after))
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("is out of date; run: make contract\n") == behind
    assert changed(project) == [file]
    assert " ".join(["$(BIN)/python", *command[1:]]) in (ROOT / "Makefile").read_text()


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Give a name"),
        ("SlackPost", "cannot be a name"),
        ("slack_post", "cannot be a name"),
        ("slack--post", "cannot be a name"),
        ("-slack", "cannot be a name"),
        ("9-lives", "cannot be a name"),
        ("../../etc", "cannot be a name"),
        ("http-request", "already executor-http-request"),
        ("httprequest", "in its hyphens alone"),
        ("remote", "Delayer's own"),
        ("canary", "Delayer's own"),
        ("seventeen-letters", "17 characters, and 16 are the most"),
        ("message", "would be Message, and this name has a meaning"),
        ("none", "the word for a list without a name"),
        ("exception", "would be Exception, and this name has a meaning"),
        ("value-error", "has a meaning"),
        *((name, "has a meaning") for name in map(str.lower, author_imports)),
    ],
)
def test_a_bad_name_is_refused_with_the_reason(
    tmp_path: Path, name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy2(TEMPLATE, tmp_path)
    assert scaffold(tmp_path, "new-executor", name) == 1
    assert why in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["template.yaml"]


def test_no_class_hides_what_its_author_imports() -> None:
    """A subscriber has no class."""
    assert {name.capitalize() for name in author_imports} <= set(EXECUTOR.imported)
    SUBSCRIBER.check("exception", set(), LONGEST)


@pytest.mark.parametrize(("command", "name"), [("new-executor", "slack-post"), ("rm-executor", "event-put")])
def test_a_command_that_fails_in_the_middle_changes_nothing(
    project: Path, command: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is made of the classes cannot be made while one of them cannot be imported."""
    (project / "functions/executor-sqs-send/app.py").write_text("1 / 0\n")
    commit(project)
    assert scaffold(project, command, name) == 1
    assert changed(project) == []
    said = capfd.readouterr()
    assert "ZeroDivisionError" in said.err
    assert "Everything is as it was before." in said.err
    assert said.out == ""


def test_the_longest_names_fit() -> None:
    EXECUTOR.check("sixteen-letter-s", set(), LONGEST)
    with pytest.raises(Refused, match="14 are the most"):
        SUBSCRIBER.check("fifteen-letters", set(), LONGEST)


def test_what_lies_in_its_place_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy2(TEMPLATE, tmp_path)
    (tmp_path / "functions/executor-slack-post").mkdir(parents=True)
    assert scaffold(tmp_path, "new-executor", "slack-post") == 1
    assert "functions/executor-slack-post is there already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["slack-post", "remote", "canary"])
def test_what_is_not_there_or_not_theirs_is_not_taken_out(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy2(TEMPLATE, tmp_path)
    assert scaffold(tmp_path, "rm-executor", name) == 1
    assert "There are: event-put, http-request" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "example"), [("executor", "slack-post"), ("subscriber", "big-spenders")])
def test_a_command_without_a_name_asks_for_one(
    tmp_path: Path, word: str, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an example of this kind."""
    shutil.copy2(TEMPLATE, tmp_path)
    for name, shown in (("", f"Give a name: make new-{word} NAME={example}"), ("Foo_x", f"first: {example}")):
        assert scaffold(tmp_path, f"new-{word}", name) == 1
        assert shown in capsys.readouterr().err
    assert scaffold(tmp_path, f"rm-{word}", "") == 1
    assert f"Give a name: make rm-{word} NAME=… There are: " in capsys.readouterr().err


# ------------------------------------------------------------ the list


@pytest.mark.parametrize("target", ["new-executor", "rm-executor", "new-policy", "rm-policy"])
def test_the_classes_of_the_client_follow(target: str) -> None:
    """`make` writes them after the contract. Else `make lint` would be red, and say that it was forgotten."""
    make = shutil.which("make")
    assert make
    command = [make, "--dry-run", "--no-print-directory", target, "NAME=slack-post"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.index("local.scaffold") < shown.index("client/generate/models.py")


def test_the_list_is_found_and_written_again_as_it_was() -> None:
    text = TEMPLATE.read_text()
    for kind in (EXECUTOR, SUBSCRIBER):
        assert found_in(text, kind).text == text


def test_a_long_list_has_several_lines() -> None:
    """But for the default of a parameter, which is one text."""
    listed = found_in(TEMPLATE.read_text(), EXECUTOR)
    for number in range(10, 40):
        listed = listed.having(f"number-{number}", EXECUTOR.last)
    assert found_in(listed.text, EXECUTOR).names == listed.names
    lines = [line for line in listed.text.splitlines() if "number-" in line]
    assert [line.split(":")[0].strip() for line in lines if len(line) > WIDTH] == ["Default"]


def test_a_template_without_the_list_is_refused() -> None:
    with pytest.raises(Refused, match="in the default of Subscribers"):
        found_in("Resources: {}\n", SUBSCRIBER)
    with pytest.raises(Refused, match="in the default of Actions"):
        found_in("Resources: {}\n", EXECUTOR)


def test_a_rule_that_lacks_a_name_of_the_default_is_refused() -> None:
    """No stack could have it."""
    text = TEMPLATE.read_text()
    with pytest.raises(Refused, match="the rule lacks some"):
        found_in(text.replace("Default: http-request,", "Default: another,http-request,"), EXECUTOR)
