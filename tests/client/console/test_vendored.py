"""What comes from others is what its list says: name, version and hash of each file, with its licence beside it."""

import hashlib
import json
from pathlib import Path

import delayer_client.console

FOLDER = Path(delayer_client.console.__file__).parent / "static" / "vendored"
LIST = json.loads((FOLDER / "versions.json").read_text())


def test_each_file_is_as_it_was_published() -> None:
    listed = {f"{package['folder']}/{name}": digest for package in LIST for name, digest in package["sha256"].items()}
    found = {
        path.relative_to(FOLDER).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in FOLDER.glob("*/*")
    }
    assert found == listed


def test_each_package_has_its_version_and_its_licence() -> None:
    for package in LIST:
        assert package["version"]
        assert "LICENSE" in package["sha256"]


def test_nothing_of_the_console_names_another_host() -> None:
    folder = FOLDER.parents[1]
    for path in [*folder.glob("templates/*.html"), folder / "static" / "console.css", folder / "static" / "console.js"]:
        text = path.read_text()
        for outside in ('src="http', 'href="http', "url(http", "@import", "//cdn"):
            assert outside not in text, path.name
