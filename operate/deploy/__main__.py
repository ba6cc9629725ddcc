"""`make deploy`: asks little, says what will happen, and has the SAM CLI build and deploy the expanded template."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local.project import PROJECT
from operate.deploy import answers as kept_answers
from operate.deploy.account import (
    Stack,
    clear_pollers,
    concurrency_of,
    refuse_what_cannot_be_updated,
    said_of_bounds,
    say_concurrency,
    stack_of,
)
from operate.deploy.answers import REGION, allowed, asked
from operate.deploy.errors import TemplateError
from operate.deploy.expand import expand
from operate.deploy.lanes import holds_something, in_steps, refuse_to_take_a_lane, with_lanes
from operate.deploy.reading import read_template
from operate.deploy.settled import names_of_settled
from operate.deploy.values import check, check_environments, check_rules, given_in

OLDEST_SAM: Final = (1, 160)
ANSWERS: Final = "deploy-answers.toml"
WORK: Final = Path(".aws-sam")  # SAM's own folder; it builds into one below it
DEFAULT_REGION: Final = "us-east-1"
CODE: Final = ("CodeUri", "ContentUri")
READ: Final = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3, "mode": "standard"})


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status."""
    try:
        deploy(parser().parse_args(argv))
    except TemplateError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[1]} has failed; see above.", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"AWS cannot be asked: {error}. Are there credentials (AWS_PROFILE, aws sso login)?", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nNothing was deployed.", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    made = argparse.ArgumentParser(
        prog="make deploy",
        description="Deploys the stack of template.yaml with the SAM CLI. On a terminal it asks for the region, who "
        "may call, and where alarms go; Enter takes what stands in brackets. Answers are kept in "
        f"{ANSWERS}. With values, or without a terminal, nothing is asked. What is not named keeps the value that the "
        "stack has.",
    )
    made.add_argument("--stack", default="delayer", metavar="NAME", help="name of the stack (default: delayer)")
    made.add_argument("--tag", action="append", default=[], metavar="KEY=VALUE", help="of all resources; repeatable")
    made.add_argument("values", nargs="*", metavar="PARAMETER=VALUE", help="template parameters")
    return made


def deploy(options: argparse.Namespace, project: Path = PROJECT) -> None:
    """All of it, from the questions to the stack."""
    sam = sam_cli()
    written = read_template(project / "template.yaml")
    declared: Mapping[str, Any] = written["Parameters"]
    settled = names_of_settled(written)
    given = given_in(options.values)
    check(declared, {name: value for name, value in given.items() if name not in settled})
    answers = kept_answers.read(project / ANSWERS, options.stack)
    region, asks = region_of(answers), not given and sys.stdin.isatty()
    if asks:
        region = kept_answers.WHERE.put(region, input, print)
    stack = stack_of(client("cloudformation", region), options.stack)
    refuse_what_cannot_be_updated(stack, options.stack, region)
    # What a stack has, CloudFormation keeps by itself. The answers of a file count for one that is not there yet.
    known = allowed(declared, stack.parameters if stack.is_there else answers)
    values = {**({} if stack.is_there else known), **given}
    if asks:
        values.update(asked(known, input, print))
        kept_answers.write(project / ANSWERS, options.stack, {REGION: region, **values})
    values.update({name: stack.value(name) for name in settled if name not in given and stack.value(name)})
    values = with_lanes(stack, values, given)
    refuse_to_take_a_lane(stack, options.stack, values, partial(holds_something, client("dynamodb", region)))
    template = expand(written, values)
    overrides = {name: value for name, value in values.items() if name not in settled}
    has = {**stack.parameters, **overrides}
    check_environments(template, has)
    check_rules(template, has, hidden=[name for name, one in declared.items() if stack.is_there and "NoEcho" in one])
    does = "is changed" if stack.is_there else "is created"
    print(f"The stack {options.stack} in {region} {does}: {len(template['Resources'])} resources, and what SAM adds.")
    scale = overrides.get("Scale") or stack.value("Scale") or str(declared["Scale"]["Default"])
    needed = int(written["Mappings"]["Scales"][scale]["Concurrency"])
    at_a_time = concurrency_of(client("lambda", region))
    say_concurrency(at_a_time, needed, scale, region, print)
    defaults = {name: str(declared[name]["Default"]) for name in ("RelayConcurrency", "ExecutorConcurrency")}
    bounds = {
        name: (int(overrides.get(name) or stack.value(name) or default), int(default))
        for name, default in defaults.items()
    }
    for line in said_of_bounds(at_a_time, needed, bounds):
        print(line)
    if stack.value("Scale") == "large" and scale == "small":
        cleared = clear_pollers(client("cloudformation", region), client("lambda", region), options.stack)
        print(f"Provisioned pollers are taken from {cleared} mappings: they have a bound instead.")
    # CloudFormation takes away each tag that it is not given again.
    tags = {**stack.tags, **given_in(options.tag, "tag"), "delayer:stack": options.stack}
    if len(steps := in_steps(stack, template)) > 1:
        print("It is done in two steps: the new lane is there before the API accepts anything for it.")
    for step in steps:
        packaged(project, sam, step, overrides, options, region, tags)
    say_what_comes_next(stack, stack_of(client("cloudformation", region), options.stack), options.stack)


def region_of(answers: Mapping[str, str]) -> str:
    """Takes the Region of the shell, or the answer of last time, or the one in the profile of the credentials."""
    named = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return named or answers.get(REGION) or boto3.Session().region_name or DEFAULT_REGION


def client(service: str, region: str) -> Any:
    """A client of AWS."""
    make: Any = boto3.client  # boto3's stubs know a client only by a literal name
    return make(service, region_name=region, config=READ)


def say_what_comes_next(before: Stack, after: Stack, name: str) -> None:
    """Says the next steps, which nobody else says."""
    email = after.value("AlarmEmail")
    if email and email != before.value("AlarmEmail"):
        print(f"SNS sends {email} a mail with a link. Until somebody has followed it, no alarm arrives there.")
    url = after.value("ApiUrl")
    print(f"Check that it keeps its promises: make verify URL={url} STACK={name} (docs/operate/verify.md)")


def sam_cli() -> str:
    """Its path. Errors: TemplateError if it is not there, or too old."""
    found = shutil.which("sam")
    if not found:
        raise TemplateError("make deploy needs the AWS SAM CLI, which is not on the PATH.")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    if not version or (int(version[1]), int(version[2])) < OLDEST_SAM:
        raise TemplateError(f"make deploy needs the AWS SAM CLI 1.160 or later; here is: {said.strip() or 'none'}.")
    return found


def packaged(
    project: Path,
    sam: str,
    template: Mapping[str, Any],
    overrides: Mapping[str, str],
    options: argparse.Namespace,
    region: str,
    tags: Mapping[str, str],
) -> None:
    """Has SAM build and deploy it. Values go by a file: a command line is seen by everybody on the machine."""
    work = project / WORK
    work.mkdir(exist_ok=True)
    file, values = work / "delayer.json", work / "values.yaml"  # JSON is YAML, too
    file.write_text(json.dumps(beside(template, WORK), indent=1, default=str))
    values.touch(mode=0o600)
    values.write_text(json.dumps({name: quoted(value) for name, value in overrides.items()}))
    config = ["--config-file", str(project / "samconfig.toml")]
    try:
        run([sam, "build", "--template-file", str(file), "--build-dir", str(work / "build"), *config], project)
        run(
            [
                *(sam, "deploy", "--template-file", str(work / "build/template.yaml"), *config),
                *("--stack-name", options.stack, "--region", region, "--s3-prefix", options.stack),
                *(("--parameter-overrides", f"file://{values}") if overrides else ()),
                *("--tags", *(f"{name}={value}" for name, value in tags.items())),
            ],
            project,
        )
    finally:
        values.unlink()


def run(command: Sequence[str], folder: Path) -> None:
    """Shows it, and does it. Errors: CalledProcessError."""
    print("+", " ".join(["sam", *command[1:]]), flush=True)
    subprocess.run(command, cwd=folder, check=True)


def beside(template: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The template for a file in this folder: the paths of code begin there."""
    up = "/".join([".."] * len(folder.parts))
    resources = {
        name: {
            **resource,
            "Properties": {
                key: f"{up}/{value}" if key in CODE and isinstance(value, str) else value
                for key, value in resource.get("Properties", {}).items()
            },
        }
        for name, resource in template["Resources"].items()
    }
    return {**template, "Resources": resources}


def quoted(value: str) -> str:
    """SAM takes quotes around a value away, and one backslash before each quote."""
    return '"' + value.replace('"', '\\"') + '"'


if __name__ == "__main__":
    sys.exit(main())
