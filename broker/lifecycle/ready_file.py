"""The file that tells whoever started the broker that clients can connect, and where."""

from __future__ import annotations

import json
import os
from contextlib import suppress


class ReadyFile:
    """One JSON object in a file that is there, whole, from the moment clients can connect until the broker stops."""

    def __init__(self, path: str) -> None:
        """Name the file; nothing is written yet."""
        self._path = path
        self._is_written = False

    def write(self, bootstrap: str, pid: int, *, admin: str | None = None) -> None:
        """Write it in one step, so that a reader finds all of it or none. Raises OSError.

        bootstrap: "host:port" of the first listener. admin: that of the admin API; null where there is none.
        """
        content = json.dumps({"bootstrap": bootstrap, "admin": admin, "pid": pid}) + "\n"
        # Beside the file, as a rename is one step only within a file system.
        folder, name = os.path.split(self._path)
        partial = os.path.join(folder, f".{name}.{pid}")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                file.write(content)
            os.replace(partial, self._path)
        except OSError:
            remove_if_there(partial)
            raise
        self._is_written = True

    def remove(self) -> None:
        """Remove the file if write made it; without effect where somebody else removed it."""
        if self._is_written:
            remove_if_there(self._path)
            self._is_written = False


def remove_if_there(path: str) -> None:
    """Remove the file; without effect where there is none."""
    with suppress(FileNotFoundError):
        os.remove(path)
