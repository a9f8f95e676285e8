"""The requests of the matrix whose answers differ on purpose, each with the reason."""

from __future__ import annotations

# By the start of the name of a request.
ON_PURPOSE = {
    "StreamsGroup": "Streams groups are not supported; docs/differences.md",
}


def is_known(name: str) -> bool:
    """Return whether fauxka's answer to a request may differ."""
    return name.startswith(tuple(ON_PURPOSE))
