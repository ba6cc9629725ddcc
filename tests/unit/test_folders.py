"""A reader finds a file by its folder: none holds so many that they must be searched."""

from collections import Counter

from tests.cfn import ROOT
from tests.of_each import of_each

AT_MOST = 9
EXCEPT = {
    "shared/delayer/ports",  # one file for each port
}


@of_each(["shared/delayer", "client", "local", "bench", "operate", "tests"])
def test_no_folder_has_more_than_nine_python_files(top: str) -> None:
    """Those named `__init__.py` are not counted."""
    paths = [path for path in (ROOT / top).rglob("*.py") if path.name != "__init__.py"]
    assert paths
    counted = Counter(str(path.parent.relative_to(ROOT)) for path in paths)
    assert {folder: number for folder, number in counted.items() if number > AT_MOST and folder not in EXCEPT} == {}
