"""The pair of a run: nobody else can read it, and a shell can use it."""

import stat
import subprocess
from pathlib import Path

from local.key_pair import KeyPair, write_exports

PAIR = KeyPair(access_key_id="AKIA1", secret_access_key="sesame")
URL = "http://127.0.0.1:8081"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_two_runs_have_nothing_in_common() -> None:
    one, other = KeyPair.new(), KeyPair.new()
    assert one.access_key_id != other.access_key_id
    assert one.secret_access_key != other.secret_access_key
    assert len(one.secret_access_key) == 40
    assert "test" not in (one.access_key_id, one.secret_access_key)


def test_it_is_for_its_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "8080"
    folder.mkdir(mode=0o755)
    (folder / "aws.env").write_text("export AWS_ACCESS_KEY_ID=old")
    (folder / "aws.env").chmod(0o644)
    file = write_exports(folder, PAIR, URL)
    assert (mode(folder), mode(file)) == (0o700, 0o600)
    assert "old" not in file.read_text()
    assert "sesame" not in repr(PAIR), "no log shows it"


def test_a_shell_reads_it(tmp_path: Path) -> None:
    """And forgets a session token of the user's own, with which the pair would be refused."""
    file = write_exports(tmp_path, PAIR, URL)
    script = (
        f". {file} && printenv AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY; printenv AWS_SESSION_TOKEN"
    )
    environment = {"PATH": "/usr/bin:/bin", "AWS_SESSION_TOKEN": "mine"}
    shown = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert shown.stdout.split() == [URL, "AKIA1", "sesame"]
