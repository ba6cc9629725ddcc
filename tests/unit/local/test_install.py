"""What is installed, by what, and what is said about it. Nothing is fetched: stand-ins record what they are given."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import define

from local.install import __main__ as install

STAND_IN = """#!/bin/sh
echo "$0 $*" >> "{calls}"
case "$*" in
*--version) echo "uv $UV_IS (here)" ;;
"pip install"*) {uv} ;;
*"-c import pip"*) {has_pip} ;;
*"config list"*) echo "global.index-url='https://mirror.example/simple'" ;;
*"install --quiet"*) {brings_uv} ;;
*"-m pip"*) {pip} ;;
esac
"""
FAILS = "echo the index does not answer; exit 1"
PINNED = "0.13.8"


@define
class Place:
    """A folder with requirements, and programs that only write down how they are called."""

    folder: Path

    def programs(self, **does: str) -> None:
        """The interpreter outside, the one inside, and uv."""
        inside = self.folder / ".venv/bin"
        inside.mkdir(parents=True)
        does = {"uv": "echo Installed", "has_pip": ":", "brings_uv": ":", "pip": ":"} | does
        for path in (self.folder / "outside", inside / "python", inside / "uv"):
            path.write_text(STAND_IN.format(calls=self.folder / "calls", **does))
            path.chmod(0o755)
        (self.folder / ".venv/pyvenv.cfg").write_text(f"executable = {self.folder / 'outside'}\n")

    def calls(self) -> list[str]:
        """All that were made, without the folder."""
        return (self.folder / "calls").read_text().replace(f"{self.folder}/", "").splitlines()

    def installing(self) -> list[str]:
        """Those that install."""
        return [call for call in self.calls() if " install " in call]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setenv("UV_IS", PINNED)
    (tmp_path / "requirements-uv.txt").write_text(f"uv=={PINNED} \\\n    --hash=sha256:0\n")
    return Place(tmp_path)


INSIDE = "--python .venv/bin/python"
BRING_UV = (
    f"outside -m pip {INSIDE} install --quiet --only-binary :all: --require-hashes --requirement requirements-uv.txt"
)
ENGINE = "--require-hashes --requirement requirements-serve.txt"
STACK = f"{ENGINE} --requirement requirements-local.txt"
CLIENT = "--no-deps --no-build-isolation --editable client"


def test_uv_installs_the_engine_and_the_client(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Hashes are required, only the client has none; each step is said before it begins, and in the end the time."""
    place.programs()
    assert install.main(["engine"]) == 0
    assert place.installing() == [
        f".venv/bin/uv pip install {INSIDE} {ENGINE}",
        f".venv/bin/uv pip install {INSIDE} {CLIENT}",
    ]
    *steps, last = capsys.readouterr().out.splitlines()
    assert steps == [
        "Setting up .venv, only this once:",
        "  Installing what the engine, the command line and the console need (about 4 s).",
    ]
    assert re.fullmatch(r"Set up \.venv in \d+ s\.", last)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("stack", ()),
        ("checks", ("requirements-dev.txt",)),
        ("site", ("requirements-docs.txt",)),
    ],
)
def test_what_comes_later_completes_what_is_there(place: Place, name: str, files: tuple[str, ...]) -> None:
    """All files at once: a later one has no hashes of what stands in an earlier one. The client is there already."""
    place.programs()
    assert install.main([name]) == 0
    more = "".join(f" --requirement {file}" for file in files)
    assert place.installing() == [f".venv/bin/uv pip install {INSIDE} {STACK}{more}"]


def test_another_uv_than_the_pinned_is_replaced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pip outside brings it: nothing is installed into the environment for this."""
    place.programs()
    monkeypatch.setenv("UV_IS", "0.1.0")
    assert install.main(["site"]) == 0
    assert place.installing()[0] == BRING_UV


def test_pip_does_what_uv_cannot(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    """What uv said is shown, and pip installs all, the client too; it is slower, and that is said."""
    place.programs(uv=FAILS)
    assert install.main(["engine"]) == 0
    assert place.installing()[1:] == [
        f"outside -m pip {INSIDE} install {ENGINE}",
        f"outside -m pip {INSIDE} install {CLIENT}",
    ]
    shown = capfd.readouterr()
    assert shown.err == "the index does not answer\nuv could not install them; see above.\n"
    assert "  pip installs them, which takes minutes and not seconds.\n" in shown.out


def test_pip_does_all_where_there_is_no_uv(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A mirror may not have it, or not for this platform."""
    place.programs(brings_uv=FAILS)
    monkeypatch.setenv("UV_IS", "0.1.0")
    assert install.main(["checks"]) == 0
    assert place.installing() == [
        BRING_UV,
        f"outside -m pip {INSIDE} install {STACK} --requirement requirements-dev.txt",
    ]
    assert capfd.readouterr().err == "the index does not answer\nuv could not be fetched; see above.\n"


def test_an_index_that_cannot_be_reached_is_named(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    """A sentence with the remedy, and an exit code that ends make."""
    place.programs(uv=FAILS, pip=FAILS)
    assert install.main(["engine"]) == 1
    assert capfd.readouterr().err.endswith(f"{install.NO_NETWORK}\n")


def test_without_a_pip_the_package_is_named(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    """Debian's Python has neither pip nor ensurepip."""
    place.programs(has_pip="exit 1")
    inside = place.folder / ".venv/bin/python"
    inside.write_text('#!/bin/sh\n[ "$1$2" = -c ]\n')
    assert install.main(["engine"]) == 1
    assert "python3-venv" in capfd.readouterr().err


def test_the_environment_is_made_without_pip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To install pip takes longer than all the rest. One that works is kept, and one that does not is made anew."""
    environment = install.Environment(tmp_path / "environment")
    environment.make()
    assert environment.python.exists()
    assert not list(environment.folder.glob("lib/*/site-packages/*"))
    assert "Making" in capsys.readouterr().out
    environment.make()
    assert capsys.readouterr().out == ""
    environment.python.unlink()
    environment.make()
    assert "Making" in capsys.readouterr().out


LISTED = """\
:env:.find-links='/wheels /more'
:env:.disable-pip-version-check='1'
global.cert='/etc/ssl/own.pem'
global.extra-index-url='\\nhttps://one.example/simple\\nhttps://two.example/simple'
global.find-links='/old'
install.index-url='https://mirror.example/simple'
global.index-url='https://other.example/simple'
freeze.timeout='10'
"""


def test_uv_is_given_what_pip_is_configured_with() -> None:
    """The variables of pip go before its section `install`, and this before `global`."""
    assert install.given_to_uv(LISTED.splitlines()) == {
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "SSL_CERT_FILE": "/etc/ssl/own.pem",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_SYSTEM_CERTS": "1",
    }


def test_what_the_caller_says_to_uv_has_the_last_word(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever configures uv itself means it."""
    place.programs()
    environment = install.Environment(place.folder / ".venv")
    assert environment.settings["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://own.example/simple")
    again = install.Environment(place.folder / ".venv")
    assert again.settings["UV_DEFAULT_INDEX"] == "https://own.example/simple"


def test_only_downloads_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """uv names each package that it has installed; a reader waits for the large ones only."""
    said = "Resolved 2 packages in 1s\nDownloading botocore (15.2MiB)\nInstalled 2 packages in 1ms\n + six==1.17.0\n"
    assert install.run_uv(["printf", "%s", said], os.environ)
    assert capsys.readouterr().out == "    Downloading botocore (15.2MiB)\n"


def test_nothing_but_the_standard_library_is_imported() -> None:
    """It runs before anything is installed: with `-S`, no package is on the path."""
    run = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            "import local.install.__main__, sys, json; print(json.dumps(sorted(sys.modules)))",
        ],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "local.install.__main__" in json.loads(run.stdout)


def test_an_unknown_word_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    assert install.main(["all"]) == 2
    assert "engine|stack|checks|site" in capsys.readouterr().err
