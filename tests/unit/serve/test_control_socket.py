"""The socket of operators: in the folder, for one user, and never in the way of the engine."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from delayer.serve.operators import control_socket
from delayer.serve.operators.control_socket import CONNECTIONS, ELSEWHERE, SOCKET, ControlSocket, is_too_long

SECONDS = 10.0


def echo(line: bytes) -> bytes:
    return b"heard " + line


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ControlSocket]:
    folder = tmp_path if not is_too_long(tmp_path / SOCKET) else Path(tmp_path.drive)
    made = ControlSocket(folder=folder, answer=echo)
    made.open()
    yield made
    made.close()


def connected(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(SECONDS)
    made.connect(str(path))
    return made


def say(client: socket.socket, *lines: bytes) -> list[bytes]:
    with client.makefile("rb") as answers:
        heard = []
        for line in lines:
            client.sendall(line)
            heard.append(answers.readline())
        return heard


def test_a_client_gives_one_command_after_the_other(served: ControlSocket) -> None:
    with connected(served.path) as client:
        assert say(client, b"one\n", b"two\n") == [b"heard one\n", b"heard two\n"]


def test_it_is_for_its_user_alone(served: ControlSocket) -> None:
    assert served.path == served.folder / SOCKET
    assert stat.S_IMODE(served.path.stat().st_mode) == 0o600


def test_a_client_that_says_nothing_or_goes_away_keeps_nobody(served: ControlSocket) -> None:
    with connected(served.path), connected(served.path) as gone, connected(served.path) as client:
        gone.sendall(b"half a li")
        gone.close()
        assert say(client, b"one\n") == [b"heard one\n"]


def test_a_line_that_is_too_long_ends_the_conversation(served: ControlSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "LINE", 10)
    with connected(served.path) as client:
        assert say(client, b"0123456789abc\n") == [b""]


def test_there_is_a_limit_of_clients(tmp_path: Path) -> None:
    go_on = Event()

    def slow(line: bytes) -> bytes:
        go_on.wait(SECONDS)
        return line

    served = ControlSocket(folder=tmp_path, answer=slow)
    served.open()
    clients = [connected(served.path) for _ in range(CONNECTIONS)]
    for client in clients:
        client.sendall(b"x\n")
    with connected(served.path) as one_more, one_more.makefile("rb") as answers:
        assert b"as many operators as it can" in answers.readline()
    go_on.set()
    for client in clients:
        with client, client.makefile("rb") as answers:
            assert answers.readline() == b"x\n"
    served.close()


def test_what_a_former_life_has_left_is_replaced(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    dead.bind(str(tmp_path / SOCKET))
    dead.close()
    served = ControlSocket(folder=tmp_path, answer=echo)
    served.open()
    with connected(served.path) as client:
        assert say(client, b"one\n") == [b"heard one\n"]
    served.close()
    assert list(tmp_path.iterdir()) == []


def test_below_a_long_path_the_folder_says_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    served = ControlSocket(folder=folder, answer=echo)
    served.open()
    place = Path((folder / ELSEWHERE).read_text().strip())
    assert place == served.path
    assert [stat.S_IMODE(one.stat().st_mode) for one in (place, place.parent)] == [0o600, 0o700]
    with connected(place) as client:
        assert say(client, b"one\n") == [b"heard one\n"]
    # A life that was killed leaves both: the next one removes them.
    following = ControlSocket(folder=folder, answer=echo)
    following.open()
    assert not place.exists()
    assert not place.parent.exists()
    following.close()
    assert list(folder.iterdir()) == []
    assert not following.path.parent.exists()
    served.close()


def test_a_file_that_names_something_else_removes_nothing(tmp_path: Path) -> None:
    other = tmp_path / "other" / SOCKET
    other.parent.mkdir()
    other.touch()
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / ELSEWHERE).write_text(f"{other}\n")
    served = ControlSocket(folder=folder, answer=echo)
    served.open()
    served.close()
    assert other.exists()


def test_a_place_where_no_socket_can_be_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(OSError, match="too long"):
        ControlSocket(folder=folder, answer=echo).open()
    assert list(folder.iterdir()) == []
