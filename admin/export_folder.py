"""The folder for exports over HTTP: a path of a request is always inside it.

The path is resolved with all its symbolic links, and only the resolved path is used. Another process can replace a
folder of the path by a link after that. So KafkaFolder resolves the path again after it has created the folder, and the
export creates each file exclusively, which fails at a link.
"""

from __future__ import annotations

import os
from pathlib import Path

from .errors import CallError


class ExportFolder:
    """A folder that is created with the first export."""

    def __init__(self, folder: str) -> None:
        """folder: --export-dir; relative to the working directory of this moment."""
        self._folder = os.path.abspath(folder)

    @property
    def path(self) -> Path:
        """The folder, with its symbolic links resolved."""
        return Path(os.path.realpath(self._folder))

    def resolve(self, path: str) -> Path:
        """Return the target of an export; a relative path is relative to the folder. Blocks for the file system.

        Raises CallError 400 if the target is the folder itself or outside of it, and OSError if the folder
        cannot be created.
        """
        folder = self.path
        target = Path(os.path.realpath(folder / path))
        if target == folder or not target.is_relative_to(folder):
            problem = "is" if target == folder else "is outside of"
            raise CallError(
                400,
                f"{path} {problem} {folder}, the folder for exports over HTTP; --export-dir DIR sets another one",
                field="dir",
                value=path,
                allowed=f"a path inside {folder}",
            )
        # If this were left to the export, one that fails would delete the folder with the exports of others.
        folder.mkdir(parents=True, exist_ok=True)
        return target
