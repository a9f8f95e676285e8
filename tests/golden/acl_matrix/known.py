"""The requests of the matrix whose answers differ, each with the reason."""

from __future__ import annotations

# By the start of the name of a request.
ON_PURPOSE = {
    "StreamsGroup": "Streams groups are not supported; docs/differences.md",
}
# To be mended.
KNOWN = {
    **{f"Fetch v{version} as a follower": "A follower needs CLUSTER_ACTION" for version in (15, 18)},
}


def is_known(name: str) -> bool:
    """Return whether fauxka's answer to a request may differ."""
    return name.startswith((*ON_PURPOSE, *KNOWN))
