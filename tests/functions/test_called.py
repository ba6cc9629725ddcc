"""What a use case calls is found wherever what it holds is handed to; where it cannot be followed, that is said."""

from typing import Final

import pytest

from tests.functions.called import Flow, Unseen, calls, read
from tests.functions.syntax import package
from tests.running.of_each import of_each

HEAD: Final = """
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol
from attrs import evolve, frozen
import somewhere

KEPT: Any = []

class Rows(Protocol):
    def read(self, key: str) -> str: ...
    def write(self, key: str) -> None: ...
    def remove(self, key: str) -> None: ...

@frozen
class Other:
    rows: Rows
    def __call__(self) -> None:
        self.rows.write("a")

class Reader(Protocol):
    def look(self, rows: Rows) -> None: ...

@frozen
class Looks:
    def look(self, rows: Rows) -> None:
        rows.remove("a")

def helps(rows: Rows, key: str) -> None:
    rows.remove(key)

def knows_nothing(one: Any) -> None:
    one.remove("a")

def picks(use: "Use") -> None:
    use.rows.write("a")

def first(ones: Sequence[Any]) -> Any:
    return ones[0]

@contextmanager
def lends(rows: Rows):
    yield rows
"""
FRAME: Final = """
@frozen
class Use:
    rows: Rows
    other: Other
    reader: Reader
    several: Mapping[str, Rows]
    function: Callable[[Rows], None]

    @property
    def same(self) -> Rows:
        return self.rows

    def one(self) -> Rows:
        return self.rows

    def run(self, keys: Sequence[str]) -> None:
"""


TWO: Final = """
from delayer.one import Rows, helps
Port = Rows | None
Again = Port
helping = helps
def reads(one):
    one.read('a')
"""


def flow_of(body: str, more: str = "") -> Flow:
    text = HEAD + FRAME + "\n".join(f"        {line}" for line in body.splitlines()) + "\n" + more
    return read(package({"delayer.one": text, "delayer.two": TWO}))


def found(body: str, name: str = "rows", more: str = "") -> list[str]:
    """`write` is called by `picks` in each case."""
    return [one for one in flow_of(body, more).methods("delayer.one.Use", name) if one != "write" or name != "rows"]


@of_each(
    [
        ("pass", []),
        ("self.rows.read('a')", ["read"]),
        ("self.rows.read('a'); self.rows.remove('a')", ["read", "remove"]),
        ("list(map(self.rows.read, keys))", ["read"]),
        ("rows = self.rows\nrows.read('a')", ["read"]),
        ("for key in keys:\n    if known:\n        known.read(key)\n    known = self.rows", ["read"]),
        ("if (rows := self.rows) is not None:\n    rows.read('a')", ["read"]),
        ("a, b = self.rows, keys\na.read('a')", ["read"]),
        ("[one.read('a') for one in (self.rows,)]", ["read"]),
        ("held = []\nheld.append(self.rows)\nheld[0].read('a')", ["read"]),
        ("(lambda: self.rows.read('a'))()", ["read"]),
        ("def inner() -> None:\n    self.rows.read('a')\ninner()", ["read"]),
        ("match self.rows:\n    case None:\n        pass\n    case rows:\n        rows.read('a')", ["read"]),
        ("self.same.read('a')", ["read"]),
        ("self.one().read('a')", ["read"]),
        ("with lends(self.rows) as rows:\n    rows.read('a')", ["__enter__", "__exit__", "read"]),
        ("helps(self.rows, 'a')", ["remove"]),
        ("helps(key='a', rows=self.rows)", ["remove"]),
        ("helps(*(self.rows, 'a'))", ["remove"]),
        ("partial(helps, self.rows)('a')", ["remove"]),
        ("self.reader.look(self.rows)", ["remove"]),
        ("rows: Rows = first([self.rows])\nrows.read('a')", ["read"]),
        ("evolve(self, rows=self.rows).rows.read('a')", ["read"]),
        ("(lambda key=self.rows.read('a'): key)()", ["read"]),
        ("(lambda rows=self.rows: rows.read('a'))()", ["read"]),
        ("def inner(key=self.rows.read('a')) -> None:\n    pass", ["read"]),
        ("def inner(*, rows=self.rows) -> None:\n    rows.read('a')", ["read"]),
        ("@somewhere.times(self.rows.read('a'))\ndef inner() -> None:\n    pass", ["read"]),
        ("a = b = c = None\nfor _ in keys:\n    c.read('a')\n    c = b\n    b = a\n    a = self.rows", ["read"]),
        ("held = []\nfor _ in keys:\n    held.append(self.rows)\nheld[0].read('a')", ["read"]),
        ("held = []\nsame = held\nheld.append(self.rows)\nsame[0].read('a')", ["read"]),
        ("held = []\nheld += [self.rows]\nheld[0].read('a')", ["read"]),
        ("first_of([self.rows])", ["read"]),
    ],
    unpacked=True,
)
def test_what_is_called_is_found(body: str, expected: list[str]) -> None:
    more = "def first_of(ones: Sequence[Any]) -> None:\n    ones[0].read('a')\n"
    assert found(body, more=more) == expected


@of_each(
    [
        ("Same(rows=self.rows).rows.remove('a')", "Same = Other\n", ["remove"]),
        ("takes(self.rows)", "Mine = Rows\ndef takes(rows: Mine) -> None:\n    rows.read('a')\n", ["read"]),
        (
            "Has(self.rows).run()",
            "from delayer.two import Again as P\n@frozen\nclass Has:\n    rows: P\n"
            "    def run(self) -> None:\n        self.rows.read('a')\n",
            ["read"],
        ),
        ("also(self.rows, 'a')", "from delayer.two import helping as also\n", ["remove"]),
        ("two.reads(self.rows)", "import delayer.two as two\n", ["read"]),
        ("delayer.two.reads(self.rows)", "import delayer.two\n", ["read"]),
    ],
    unpacked=True,
)
def test_another_name_is_what_it_is_a_name_of(body: str, more: str, expected: list[str]) -> None:
    assert found(body, more=more) == expected


def test_of_a_class_that_is_no_protocol_the_calls_are_found() -> None:
    more = "@frozen\nclass Holds:\n    looks: Looks\n    def run(self) -> None:\n        self.looks.look(None)\n"
    assert flow_of("pass", more).methods("delayer.one.Holds", "looks") == ["look"]


OOPS: Final = """
class Oops(Exception):
    def __init__(self, rows: Any) -> None:
        self.rows = rows
def fails(rows: Any) -> None:
    raise Oops(rows)
"""


def test_what_an_exception_takes_along_is_followed_to_who_catches_it() -> None:
    for kind in ("Oops", "(ValueError, Oops)"):
        assert found(f"try:\n    fails(self.rows)\nexcept {kind} as e:\n    e.rows.read('a')", more=OOPS) == ["read"]
    with pytest.raises(Unseen, match="whoever catches it"):
        found("try:\n    fails(self.rows)\nexcept Exception as e:\n    e.rows.read('a')", more=OOPS)


def test_of_all_that_a_mapping_holds_it_is_found() -> None:
    assert found("self.several['a'].read('a')\nself.several.get('b').remove('b')", "several") == ["read", "remove"]
    assert found("for one in self.several.values():\n    one.read('a')", "several") == ["read"]


def test_what_is_given_to_an_object_is_what_that_calls_of_it() -> None:
    flow = flow_of("Other(rows=self.rows)()", "def more(use: Use) -> None:\n    use.other.rows.remove('a')\n")
    assert flow.methods("delayer.one.Other", "rows") == ["remove", "write"]
    assert flow.methods("delayer.one.Use", "rows") == ["remove", "write"]


def test_what_a_stranger_reads_of_a_use_case_counts() -> None:
    assert flow_of("pass").methods("delayer.one.Use", "rows") == ["write"]


def test_a_derived_class_calls_what_its_base_calls() -> None:
    more = "@frozen\nclass Derived(Use):\n    def two(self) -> None:\n        self.rows.remove('a')\n"
    flow = flow_of("self.rows.read('a')", more)
    assert flow.methods("delayer.one.Derived", "rows") == ["read", "remove", "write"]
    assert flow.methods("delayer.one.Use", "rows") == ["read", "write"]


def test_what_has_no_type_is_taken_to_be_what_it_was_given() -> None:
    assert found("knows_nothing(self.rows)") == ["remove"]


@of_each(
    [
        "somewhere.keep(self.rows)",
        "self.function(self.rows)",
        "keys.extend_by(self.rows)",
        "getattr(self.rows, keys[0])('a')",
        "rows = [self.rows]\nsomewhere.keep(rows)",
        "helps(self.rows, 'a', self.rows)",
        "global KEPT\nKEPT = self.rows",
        "KEPT['a'] = self.rows",
        "KEPT.append(self.rows)",
        "KEPT += [self.rows]",
        "Rows.read(self.rows, 'a')",
        "Looks.look(Looks(), rows=self.rows)",
        "max([self.rows], key=Rows.read)",
        "sorted([self.rows], key=lambda one: one.read('a'))",
        "nobody_knows.append(self.rows)",
        "held = somewhere.held()\nheld.append(self.rows)",
        "keys.append(self.rows)",
        "held = []\ndef inner() -> None:\n    held.append(self.rows)\ninner()",
        "raise ValueError(self.rows)",
    ]
)
def test_where_it_cannot_be_followed_is_an_error(body: str) -> None:
    with pytest.raises(Unseen, match=r"delayer\.one\.Use\.rows .*delayer/one\.py:\d+"):
        flow_of(body).methods("delayer.one.Use", "rows")


def test_an_object_of_which_a_port_is_read_without_its_type_is_an_error() -> None:
    more = "def asks(one: Any) -> None:\n    one.rows.remove('a')\n"
    with pytest.raises(Unseen, match=r"delayer\.one\.asks, one"):
        flow_of("asks(self)", more).methods("delayer.one.Use", "rows")
    assert flow_of("asks(self)", more).methods("delayer.one.Use", "other") == []
    more = "@frozen\nclass Has:\n    use: Use\ndef asks(one: Any) -> None:\n    one.use.rows.remove('a')\n"
    with pytest.raises(Unseen, match=r"delayer\.one\.asks, one"):
        flow_of("asks(Has(self))", more).methods("delayer.one.Use", "rows")


def test_a_class_within_a_function_is_an_error() -> None:
    with pytest.raises(Unseen, match=r"delayer\.one\.Inner is a class within a function"):
        flow_of("class Inner:\n    pass")


def test_the_code_is_read() -> None:
    """It takes seconds: all of the package is parsed."""
    used = calls().methods
    assert used("delayer.enqueue.sweep.SweepBuckets", "schedules") == ["delete", "page"]
    assert used("delayer.timing.decide.Decide", "registry") == ["decide"]
    assert used("delayer.execute.execute.Execute", "ledger_in_batches") == ["read_each", "write"]
