"""Finds the name that a misspelled name probably means: the one source of every "did you mean" in an error."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

# A comparison takes some microseconds, on the event loop. More names than these are those of topics.
NAMES_MAX = 1000
# Compared as one separator: `lost-ack`, `lost_ack` and `lost.ack` differ in nothing that a reader sees.
_SEPARATORS = str.maketrans("-. ", "___")


def find_similar(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to `name`, or None. Case and the kind of separator make no difference.

    names: at most NAMES_MAX of them are compared, in their order.
    """
    by_folded = {_folded(each): each for each in islice(names, NAMES_MAX)}
    found = get_close_matches(_folded(name), by_folded, n=1)
    return by_folded[found[0]] if found else None


def suggestion(name: object, names: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for the most similar name, or "" if there is none or `name` is not a text."""
    similar = find_similar(name, names) if isinstance(name, str) else None
    return "" if similar is None or similar == name else f"; did you mean {similar}?"


def unknown_name(kind: str, name: str, names: Iterable[str]) -> str:
    """Return the message for a name that is none of names, with the most similar one. kind: what they are names of."""
    known = list(names)
    return f"unknown {kind} {name!r}{suggestion(name, known)}; known are {', '.join(known)}"


def _folded(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)
