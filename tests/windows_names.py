"""Runs `fauxka` as on Windows: without the names and modules that Windows lacks.

    python tests/windows_names.py ARGUMENTS

The standard library and the packages are imported first, because they have parts for Windows that do not run here. What
fauxka imports and calls from then on must exist on Windows. Two calls behave as there, too: a folder cannot be opened,
and a signal does not interrupt a call of the main thread, because another thread receives it.
"""

import asyncio
import importlib.abc
import os
import select
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

# Of the packages, what a command, the admin API and the codecs import.
PACKAGES = (
    "anyio._backends._asyncio",
    "click.shell_completion",
    "cramjam",
    "fastcrc",
    "h11",
    "msgspec",
    "re2",
)
SERVERS = (
    "prometheus_client",
    "starlette.applications",
    "starlette.responses",
    "starlette.routing",
    "uvicorn",
    "xxhash",
)
LIBRARY = (
    "encodings.idna",
    "http.client",
    "inspect",
    "shutil",
    "subprocess",
    "tempfile",
    "tomllib",
    "urllib.request",
    "uuid",
    "zoneinfo",
)
MODULES = frozenset({"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "uvloop"})
# By module: names that Windows lacks.
NAMES: dict[ModuleType, Sequence[str]] = {
    os: (
        *(
            "O_CLOEXEC",
            "O_DIRECTORY",
            "sysconf",
            "O_NOFOLLOW",
            "chown",
            "fchmod",
            "fork",
            "geteuid",
            "getuid",
            "getgid",
            "killpg",
            "mkfifo",
        ),
        *("posix_fadvise", "posix_fallocate", "pread", "preadv", "pwrite", "pwritev", "sched_getaffinity", "sendfile"),
        *("setsid", "sysconf", "uname", "wait4"),
    ),
    select: ("PIPE_BUF", "POLLOUT", "epoll", "poll"),
    signal: ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2"),
    # AF_UNIX is left: the event loops of other systems need it.
    socket: ("SO_REUSEPORT", "TCP_KEEPIDLE", "sendmsg"),
}


class Missing(importlib.abc.MetaPathFinder):
    """Finds none of the modules that Windows lacks."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def refuse_handler(*arguments: object) -> NoReturn:
    """Raise, as add_signal_handler of asyncio does."""
    raise NotImplementedError


def refuse_folders(open_file: Callable[..., int]) -> Callable[..., int]:
    """Return os.open for files, relative to no folder."""

    def open_as_there(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        descriptor = open_file(path, flags, mode)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PermissionError(13, "Permission denied", path)
        return descriptor

    return open_as_there


def receive_signals_elsewhere() -> None:
    """Have another thread receive the signals. Python runs their handlers in this one, once its call returns."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


def remove_names() -> None:
    """Remove what Windows lacks."""
    # Selectors other than select have been chosen at import.
    loop_class: Any = asyncio.SelectorEventLoop
    loop_class.add_signal_handler = refuse_handler
    for module, names in NAMES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Missing())
    socket.SO_EXCLUSIVEADDRUSE = socket.SO_REUSEADDR  # type: ignore[attr-defined]
    os.open = refuse_folders(os.open)
    sys.platform = "win32"


def main() -> None:
    """Remove the names, and run the command line."""
    for imported in (*LIBRARY, *PACKAGES, *SERVERS):
        __import__(imported)
    remove_names()
    receive_signals_elsewhere()
    from fauxka.__main__ import main as run

    run()


main()
