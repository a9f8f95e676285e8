"""The store of a path: this machine, or an object store for a URI."""

from __future__ import annotations

from .file_store import LOCAL_FILES, LocalFiles
from .object_store import ArrowFiles
from .store_address import local_path_of, parse_uri
from .store_attempts import attempts_of_environment

Store = LocalFiles | ArrowFiles


def store_of(name: str, path: str, attempts_max: int | None = None) -> tuple[Store, str]:
    """Return the store and the path in it, without parameters. name: of the option, for the BadOption.

    attempts_max: of each request; default: of the environment.
    """
    local = local_path_of(path)
    if local is not None:
        return LOCAL_FILES, local
    address, uri = parse_uri(name, path)
    return ArrowFiles(address, attempts_max=attempts_max or attempts_of_environment()), uri
