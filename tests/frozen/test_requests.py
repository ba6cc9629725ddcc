"""What goes to AWS is what went to AWS before: each method of each adapter, with its parameters in full (ADR 0142)."""

import json

import pytest
from typing_extensions import get_protocol_members

from tests.contract.aws_calls import PORTS
from tests.contract.recorder import record_calls
from tests.frozen.files import WRITE_ANEW, difference, read, text_of
from tests.frozen.recorded import Subject
from tests.frozen.requests.files import REQUESTS, SUBJECTS, all_files, file_of, port_of, requests_of


def changed(subject: Subject) -> list[str]:
    """Each method that asks for something else, and how."""
    stored, current = json.loads(read(file_of(subject)) or "{}"), requests_of(subject)
    return [
        f"{name}:\n{difference(text_of(stored.get(name, [])), text_of(current.get(name, [])))}"
        for name in sorted({*stored, *current})
        if stored.get(name) != current.get(name)
    ]


def test_each_request_is_the_one_on_file() -> None:
    """A refactoring changes none. Whoever means to change one writes the files anew, and shows the difference.

    It takes some seconds: botocore reads AWS's models of six services.
    """
    found = [text for subject in SUBJECTS for text in changed(subject)]
    assert not found, f"what is asked of AWS has changed; if that is meant: {WRITE_ANEW}\n" + "\n".join(found)


def test_no_file_is_of_an_adapter_that_is_gone() -> None:
    """And each is written as the command writes it."""
    written = dict(all_files())
    assert set(REQUESTS.rglob("*.json")) == set(written)
    assert [path.name for path, text in written.items() if read(path) != text] == []


def test_each_method_of_each_adapter_has_its_requests() -> None:
    """Those of the table of AWS calls, which is complete (`test_each_adapter_has_its_port`)."""
    wanted = {f"{port.__name__}.{method}" for port in PORTS.values() for method in get_protocol_members(port)}
    cases = {f"{port_of(subject)}.{name}" for subject in SUBJECTS for name in subject.cases}
    assert {name.partition(":")[0] for name in cases} == wanted


def test_each_declared_call_is_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """So no branch that needs a permission of its own is left out, nor a row of the control table.

    It takes a second, in which each case is gone through once more, with the recorder.
    """
    calls = record_calls(monkeypatch)
    for subject in SUBJECTS:
        for name in subject.cases:
            subject.requests(name)
    assert [line for subject in SUBJECTS for line in calls.missing(subject.adapter)] == []


def test_each_case_asks_for_something_else() -> None:
    """One that asks for nothing, or for the same as another of its method, would be for nothing."""
    silent = [name for subject in SUBJECTS for name, asked in requests_of(subject).items() if not asked]
    assert silent == []
    by_method = [(name.partition(":")[0], text_of(one)) for it in SUBJECTS for name, one in requests_of(it).items()]
    assert [name for name, asked in by_method if by_method.count((name, asked)) > 1] == []
