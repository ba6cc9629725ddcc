"""Folders of `--actions`: what others have written for this engine. An action, a policy and a subscriber are the same
folder as in a stack (docs/extend).

Each is loaded when the engine starts. What cannot be loaded is a `Refusal`: nothing runs without what it should have.
"""

import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from attrs import field, frozen

from delayer.accept.rules.window import policies
from delayer.actions.rules.foreign import LONGEST_TYPE, TYPE, built_in
from delayer.actions.rules.model import ActionType
from delayer.engines.filter_policy import FilterPolicy
from delayer.extension.executor import LambdaExecutor
from delayer.extension.policy import LambdaPolicy
from delayer.extension.subscriber import Subscriber
from delayer.history.cloud_events import PREFIX
from delayer.serve.refusal import Refusal

APP: Final = "app.py"
KINDS: Final[Mapping[str, type]] = {"executor": LambdaExecutor, "policy": LambdaPolicy, "subscriber": Subscriber}
LOADED: Final = count(1)  # so that each module has a name of its own
# Built-in actions that call AWS, and what must be there for that.
CALL_AWS: Final = ("event-put", "lambda-invoke", "sns-publish", "sqs-send", "step-start")
REGION, ACCOUNT = "AWS_REGION", "AWS_ACCOUNT_ID"
OUR_NAME: Final = "delayer-on-one-machine"  # no stack, and so no queue of one, is called so


@frozen(kw_only=True)
class Extensions:
    """All that was loaded."""

    handlers: Mapping[str, ModuleType] = field(factory=dict)  # by the name of the function, such as `policy-x`
    files: Mapping[str, Path] = field(factory=dict)  # where each is

    def _of(self, kind: str) -> Iterator[tuple[str, Any]]:
        for function, module in self.handlers.items():
            if function.startswith(f"{kind}-"):
                yield function.removeprefix(f"{kind}-"), module.handler

    @property
    def subscribers(self) -> Mapping[str, Subscriber]:
        """By name."""
        return dict(self._of("subscriber"))

    @property
    def policies(self) -> Mapping[str, Any]:
        """By name."""
        return dict(self._of("policy"))

    def actions(self, absent: Mapping[str, str]) -> Mapping[str, ActionType]:
        """The types of action that there are, by name: built-in ones and these."""
        own = {kind: handler.target.action_type for kind, handler in self._of("executor")}
        return {**{kind: one for kind, one in built_in().items() if kind not in absent}, **own}

    def schemas(self) -> Mapping[str, str]:
        """The JSON Schema of each policy, by name: built-in ones and these."""
        return {**policies(), **{name: handler.target.schema for name, handler in self.policies.items()}}

    def filters(self) -> Mapping[str, FilterPolicy]:
        """The events that each subscriber gets, by its name."""
        return {
            name: {"type": [f"{PREFIX}{one}" for one in sorted(reads.events)]} if reads.events else {}
            for name, reads in self.subscribers.items()
        }


def extensions_in(folders: Sequence[Path]) -> Extensions:
    """All that are in these folders. Raises Refusal."""
    found: dict[str, Path] = {}
    for folder in folders:
        for kind, name, file in _listed(folder):
            function = f"{kind}-{name}"
            if function in found:
                what = f"There are two of {function}: the other one is {found[function]}"
                raise Refusal(what=what, where=str(file), do="Give one of them another name, or leave it out")
            _check_name(kind, name, file)
            found[function] = file.resolve()
    return Extensions(handlers={function: loaded_from(function, file) for function, file in found.items()}, files=found)


def _listed(folder: Path) -> list[tuple[str, str, Path]]:
    """Kind, name and file of each."""
    if not folder.is_dir():
        raise Refusal(what="There is no such folder of --actions", where=str(folder), do="Name one that is there")
    if (folder / APP).is_file():
        do = f"Give the folder around it: --actions {folder.parent}"
        raise Refusal(what="The folder of --actions is itself an action", where=str(folder), do=do)
    found = []
    for one in sorted(folder.iterdir()):
        kind, _, name = one.name.partition("-")
        has_prefix = kind in KINDS and bool(name)
        if (one / APP).is_file():
            found.append((kind, name, one / APP) if has_prefix else ("executor", one.name, one / APP))
        elif has_prefix and one.is_dir():
            do = f"Put its function into {APP}, or take the folder away"
            raise Refusal(what=f"There is no {APP} in {one.name}", where=str(one), do=do)
    if not found:
        do = f"Make one with delayer new-action NAME: each has a folder of its own with an {APP}"
        raise Refusal(what="There is nothing in the folder of --actions", where=str(folder), do=do)
    return found


def _check_name(kind: str, name: str, file: Path) -> None:
    if not TYPE.fullmatch(name) or len(name) > LONGEST_TYPE:
        do = f"Use up to {LONGEST_TYPE} small letters and digits, with single hyphens between, and a letter first"
        raise Refusal(what=f"{name!r} cannot be a name", where=str(file), do=do)
    if name in {"executor": built_in(), "policy": policies()}.get(kind, {}):
        what = f"There is a built-in {'action' if kind == 'executor' else kind} {name}"
        raise Refusal(what=what, where=str(file), do="Choose another name")


def loaded_from(function: str, file: Path) -> ModuleType:
    """One of them, by its name and its file. Raises Refusal."""
    module = _module(file)
    kind, _, name = function.partition("-")
    handler = getattr(module, "handler", None)
    if not isinstance(handler, KINDS[kind]):
        is_there = "its handler is none" if handler is not None else "it has no handler"
        what = f"{function} cannot be used: {is_there}"
        raise Refusal(what=what, where=str(file), do=f'Write @{kind}("{name}") above def handler')
    try:
        own = _name_of(handler)
    except TypeError as error:  # a policy with a secret
        raise Refusal(what=f"{function} cannot be used: {error}", where=str(file), do="Take it out") from None
    if own != name:
        what = f"The folder says {name}, and its handler {own}"
        raise Refusal(what=what, where=str(file), do=f'Write @{kind}("{name}"), or rename the folder')
    return module


def _name_of(handler: Any) -> str:
    match handler:
        case LambdaExecutor():
            return str(handler.target.kind)
        case LambdaPolicy():
            _ = handler.target.schema
            return str(handler.target.name)
    return str(handler.name)


def _module(file: Path) -> ModuleType:
    """Executed once. What it imports from beside it is its own: two folders may have a module of the same name."""
    spec = spec_from_file_location(f"delayer_actions_{next(LOADED)}", file)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # the names in its annotations are looked up there
    try:
        with _beside(file.parent.resolve()):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever its author has written
        raise _refusal(file, error) from None
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            found = getattr(sys.modules[name], "__file__", None)
            if found and Path(found).resolve().is_relative_to(folder):
                del sys.modules[name]


def _refusal(file: Path, error: BaseException) -> Refusal:
    """The last line of the traceback, and the last line of the author's own that led to it."""
    said = traceback.format_exception_only(error)[-1].strip()
    own = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == str(file)]
    line = error.lineno if isinstance(error, SyntaxError) else next(iter(reversed(own)), None)
    do = "Mend it, or take the folder away"
    if isinstance(error, ModuleNotFoundError) and error.name:
        do = f"Install the package that has {error.name} where delayer is installed, or take the folder away"
    where = f"{file}, line {line}" if line else str(file)
    return Refusal(what=f"{file.parent.name} cannot be loaded: {said}", where=where, do=do)


# ------------------------------------------------------------ built-in actions that call AWS


def absent_in(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Built-in actions that cannot run here, each with the end of a sentence that says why: it "needs …".

    Nothing of AWS is imported, and no account is asked: credentials are looked for by boto3 at each attempt.
    """
    if find_spec("boto3") is None:
        why = "needs the package boto3 where the engine runs: pip install boto3"
    elif missing := [one for one in (REGION, ACCOUNT) if not environment.get(one)]:
        why = f"needs {' and '.join(missing)} in the environment of the engine: where its targets are"
    else:
        return {}
    return dict.fromkeys(CALL_AWS, why)


def aws_settings(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The variables that these actions read, as the template would set them: targets in one account and region."""
    if absent_in(environment):
        return {}
    set_by_hand = {
        one: environment.get(one, "") for one in ("TARGET_REGIONS", "SQS_TARGET_REGIONS", "TARGET_ROLE_ARNS")
    }
    return {"ACCOUNT": environment[ACCOUNT], "STACK": OUR_NAME, "OWN_QUEUE": "", "OWN_TOPICS": "", **set_by_hand}
