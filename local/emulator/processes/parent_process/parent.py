"""`python -m local.emulator.processes.parent_process.parent FILE`: from it, functions' processes are forked.

It has imported what they need, and it holds nothing that is theirs: no credentials, no client, no thread. It gets its
orders through the socket FILE. An order is for a function's process, or for another parent that has a layer, too.
"""

import gc
import os
import signal
import socket
import sys
import traceback
import zipfile
from collections.abc import Callable
from typing import Any

from local.emulator.processes.parent_process import function, imports, messages, names, sharing

Order = dict[str, Any]  # kind and folders, and for a function's process what function.run needs


def main() -> None:
    """Serve until nobody can give orders any more."""
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: their sockets tell when they end
    sys.path[:] = [entry for entry in sys.path if imports.is_of_libraries(entry)]
    imports.import_libraries()
    sharing.rehearse()
    serve(control)


def serve(control: socket.socket) -> None:
    """Fork for each order, and answer with the number of the process."""
    names.call(names.PARENT)
    gc.collect()
    holes = sharing.fill_holes()
    gc.freeze()  # what is there now is not looked at again, so that its memory stays shared
    while True:
        try:
            order, files = messages.receive_with_files(control)
        except (EOFError, OSError):
            os._exit(0)
        answer: dict[str, Any]
        try:
            number = os.fork()
            answer = {"pid": number}
        except OSError as error:  # the machine has no memory or no process left
            number, answer = -1, {"error": str(error)}
        if not number:
            become(control, order, files, holes)
        for file in files:
            os.close(file)
        messages.send(control, answer)


def become(control: socket.socket, order: Order, files: list[int], _kept: list[bytes]) -> None:
    """The life of a forked process. It does not return to the loop of its parent, and keeps its holes filled."""
    code = 1
    try:
        control.close()
        KINDS[order["kind"]](order, files)
        code = 0
    except BaseException:  # noqa: BLE001 - nobody else would hear why
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def become_parent(order: Order, files: list[int]) -> None:
    """The parent of the functions that have these layers."""
    gc.unfreeze()
    for folder in order["folders"]:
        with zipfile.ZipFile(f"{folder}.zip") as archive:
            archive.extractall(folder)  # which keeps what is in it inside the folder
    imports.import_layers(order["folders"])
    serve(socket.socket(fileno=files[0]))


def become_function(order: Order, files: list[int]) -> None:
    """One execution environment of a function."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.enable()
    function.run(order, *files)


KINDS: dict[str, Callable[[Order, list[int]], None]] = {"parent": become_parent, "function": become_function}

if __name__ == "__main__":
    gc.disable()
    main()
