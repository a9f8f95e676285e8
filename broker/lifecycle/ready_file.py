"""Ready files: how other processes find a running broker and its admin API.

A ready file is one JSON object, {"bootstrap": "host:port", "admin": "host:port" or null, "pid": ...}. With HTTPS
"admin" is "https://host:port". With several nodes "bootstrap" has the addresses of all nodes, joined by commas, and
"nodes" has each one. The file is complete whenever it exists, and it exists while clients can connect. A broker without
--ready-file writes one to a folder of its user, where the commands of fauxka look for running brokers. The files of
brokers that were killed stay in that folder until the next look.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import EPERM
from typing import NamedTuple

from ...protocol.host_and_port import without_brackets
from ...storage.file_systems.own_folder import identity_of, replace_file
from ...storage.file_systems.path_problems import find_file_in_the_way

if sys.platform == "win32":
    import tempfile

logger = logging.getLogger(__name__)

_SUFFIX = ".json"
# A ready file has about a hundred bytes.
_BYTES_MAX = 64 * 1024
# Windows repeats a refused connection for two seconds.
_CONNECT_SECONDS_MAX = 5.0


class ReadyFileError(Exception):
    """The file is no ready file. The message is one line for the user."""


class RunningBroker(NamedTuple):
    """The content of a ready file. admin: None for a broker without an admin API."""

    bootstrap: str
    admin: str | None
    pid: int


class NodeAddress(NamedTuple):
    """A node in a ready file. bootstrap: "host:port" of its first listener."""

    node: int
    bootstrap: str
    rack: str | None


class ReadyFile:
    """Writes the ready file when clients can connect, and removes it before shutdown."""

    def __init__(self, path: str) -> None:
        """path: the file. Nothing is written yet."""
        self._path = path
        self._identity: int | None = None

    def write(
        self,
        bootstrap: str,
        pid: int,
        *,
        admin: str | None = None,
        nodes: Sequence[NodeAddress] = (),
        tls_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the file atomically. Raises OSError.

        bootstrap: "host:port" of the first listener, of each node. admin: the URL of the admin API, or None.
        nodes: written only if there are several. tls_dir: the folder of throw-away certificates; None without it.
        """
        # Without HTTPS the address alone, which readers have from the beginning.
        address = None if admin is None else admin.removeprefix("http://")
        fields: dict[str, object] = {"bootstrap": bootstrap, "admin": address, "pid": pid}
        if len(nodes) > 1:
            fields["nodes"] = [node._asdict() for node in nodes]
        if tls_dir is not None:
            fields["tls_dir"] = os.fspath(tls_dir)
        content = json.dumps(fields) + "\n"
        # Whoever waits for the file may delete it before this returns.
        self._identity = replace_file(self._path, content.encode())

    def remove(self) -> None:
        """Remove the file that `write` created; no effect if it does not exist any more, or another one does."""
        with suppress(FileNotFoundError):
            if self._identity == identity_of(os.stat(self._path, follow_symlinks=False)):
                os.remove(self._path)
        self._identity = None


class RegisteredFile(ReadyFile):
    """A ready file in the folder of running brokers, which is removed with the last file."""

    def remove(self) -> None:
        """Remove the file as ReadyFile does, and then the folder if it is empty."""
        super().remove()
        with suppress(OSError):
            os.rmdir(os.path.dirname(self._path))


def find_ready_file_problem(path: str) -> str | None:
    """Return why a ready file cannot be written to the path; None if nothing is in the way."""
    if os.path.isdir(path):
        return f"{path} is a folder, not a file"
    folder = os.path.dirname(path) or os.curdir
    if os.path.isdir(folder):
        return None
    return find_file_in_the_way(folder) or f"there is no folder {folder}"


def read_ready_file(path: str) -> RunningBroker:
    """Return the content of a ready file. Raises OSError and ReadyFileError."""
    with open(path, "rb") as file:
        content = file.read(_BYTES_MAX)
    try:
        fields = json.loads(content)
        return RunningBroker(fields["bootstrap"], fields["admin"], int(fields["pid"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ReadyFileError(f"{path} is not a ready file of fauxka serve") from error


def register_broker(bootstrap: str, pid: int, admin: str) -> ReadyFile | None:
    """Write a ready file to the folder of running brokers, and return it; None if the folder cannot be used."""
    folder = running_brokers_folder()
    ready_file = RegisteredFile(os.path.join(folder, f"{pid}{_SUFFIX}"))
    try:
        os.makedirs(folder, mode=stat.S_IRWXU, exist_ok=True)
        _check_owner(folder)
        try:
            ready_file.write(bootstrap, pid, admin=admin)
        except FileNotFoundError:
            # Another broker has just removed the folder as the last one.
            os.makedirs(folder, mode=stat.S_IRWXU, exist_ok=True)
            ready_file.write(bootstrap, pid, admin=admin)
    except OSError as error:
        logger.info("fauxka fault, verdict, journal and reset need --admin %s: cannot write to %s", admin, error)
        return None
    return ready_file


def registered_brokers() -> list[RunningBroker]:
    """Return the running brokers in the folder of running brokers, and delete the files of those that were killed."""
    folder = running_brokers_folder()
    try:
        _check_owner(folder)
        names = sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIX) and not name.startswith("."))
    except OSError:
        return []
    found: list[RunningBroker] = []
    for name in names:
        path = os.path.join(folder, name)
        with suppress(OSError, ReadyFileError):
            broker = read_ready_file(path)
            if _is_running(broker):
                found.append(broker)
            else:
                os.remove(path)
    return found


def running_brokers_folder() -> str:
    """Return the folder of the user's running brokers; it may not exist."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return os.path.join(runtime, "fauxka")
    if sys.platform == "win32":
        # A folder of the user.
        return os.path.join(tempfile.gettempdir(), "fauxka")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"fauxka-{os.getuid()}")


def _check_owner(folder: str) -> None:
    """Raise OSError unless the folder is the user's own: in a shared folder another user could name other brokers."""
    found = os.lstat(folder)
    if sys.platform == "win32":
        return
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(EPERM, "not a folder of this user", folder)


def _is_running(broker: RunningBroker) -> bool:
    if sys.platform == "win32":
        # os.kill would end the process there.
        return _accepts_connections(broker.admin or broker.bootstrap)
    try:
        os.kill(broker.pid, 0)
    except (ProcessLookupError, PermissionError):
        # A process of another user has got the id since.
        return False
    return True


def _accepts_connections(address: str) -> bool:
    """Return False if nothing listens on an address of a ready file, True if something does or another error occurs."""
    host, _, port = address.removeprefix("https://").rpartition(":")
    try:
        socket.create_connection((without_brackets(host), int(port)), _CONNECT_SECONDS_MAX).close()
    except ConnectionRefusedError:
        return False
    except (OSError, ValueError):
        return True
    return True
