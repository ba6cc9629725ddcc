"""A reader finds a file by its folder: none holds so many that they must be searched."""

from collections import Counter

from tests.cfn import ROOT
from tests.running.of_each import of_each

AT_MOST = 9
NOT_COUNTED = ("__init__.py", "conftest.py")  # nobody looks for them
EXCEPT = {
    "shared/delayer/ports",  # one file for each port
    "tests/model",  # what its nine spaces have in common
}


@of_each(["shared/delayer", "client", "local", "bench", "operate", "tests"])
def test_no_folder_has_more_than_nine_python_files(top: str) -> None:
    """Python and pytest find those two by themselves."""
    paths = [path for path in (ROOT / top).rglob("*.py") if path.name not in NOT_COUNTED]
    assert paths
    counted = Counter(str(path.parent.relative_to(ROOT)) for path in paths)
    assert {folder: number for folder, number in counted.items() if number > AT_MOST and folder not in EXCEPT} == {}
