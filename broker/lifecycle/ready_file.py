"""The ready file: it exists while clients can connect, and has the addresses as JSON."""

from __future__ import annotations

import json
import os
from contextlib import suppress


class ReadyFile:
    """Writes the ready file when clients can connect, and removes it before shutdown."""

    def __init__(self, path: str) -> None:
        """path: the file. Nothing is written yet."""
        self._path = path
        self._is_written = False

    def write(self, bootstrap: str, pid: int, *, admin: str | None = None) -> None:
        """Write the file atomically. Raises OSError.

        bootstrap: "host:port" of the first listener. admin: "host:port" of the admin API, or None.
        """
        content = json.dumps({"bootstrap": bootstrap, "admin": admin, "pid": pid}) + "\n"
        # A rename is atomic only within a file system, so the partial file is in the same folder.
        folder, name = os.path.split(self._path)
        partial = os.path.join(folder, f".{name}.{pid}")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(content)
            os.replace(partial, self._path)
        except OSError:
            _remove(partial)
            raise
        self._is_written = True

    def remove(self) -> None:
        """Remove the file if `write` created it; no effect if it does not exist any more."""
        if self._is_written:
            _remove(self._path)
            self._is_written = False


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.remove(path)
