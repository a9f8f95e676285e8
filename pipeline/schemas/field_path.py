"""The path of a field: names of nested records or messages, joined by dots."""

from __future__ import annotations

import re
from typing import TypeAlias

FieldPath: TypeAlias = tuple[str, ...]

# The names of fields in Avro and Protobuf.
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


def is_field_path(text: str) -> bool:
    """Whether text is a path such as id or order.id."""
    return _PATH.fullmatch(text) is not None


def text_of_path(path: FieldPath) -> str:
    """Return the path with dots."""
    return ".".join(path)
