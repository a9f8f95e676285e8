"""The store of a path: this machine, or an object store for a URI."""

from __future__ import annotations

from .file_store import LOCAL_FILES, LocalFiles
from .object_store import ArrowFiles
from .store_address import local_path_of, parse_uri

Store = LocalFiles | ArrowFiles


def store_of(name: str, path: str) -> tuple[Store, str]:
    """Return the store and the path in it, without parameters. name: of the option, for the BadOption."""
    local = local_path_of(path)
    if local is not None:
        return LOCAL_FILES, local
    address, uri = parse_uri(name, path)
    return ArrowFiles(address), uri
