"""A set of prefixes that finds those of a name.

A node of the tree stands for the first characters of names, as many as a multiple of CHUNK. It has the prefixes that
are longer by less than CHUNK, by how much, and the nodes for one more chunk. A search takes a look at one node for each
chunk of the name, and there a look into one dictionary for each length. It takes at most as many looks as the name has
characters, and hashes at most CHUNK characters for each. Prefixes that begin otherwise than the name cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

# Longer than the longest name of a topic: the prefixes of topics are all in the first node.
CHUNK = 512


class _Node:
    """prefixes: by their length in this node, and by their characters in it. children: by the next chunk."""

    __slots__ = ("children", "prefixes")

    def __init__(self) -> None:
        self.prefixes: dict[int, dict[str, str]] = {}
        self.children: dict[str, _Node] = {}


class PrefixTree:
    """A set of prefixes."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        """Create it without prefixes."""
        self._root = _Node()

    def add(self, prefix: str) -> None:
        """Add a prefix, unless it is there."""
        node = self._root
        *chunks, rest = _chunks(prefix)
        for chunk in chunks:
            child = node.children.get(chunk)
            if child is None:
                child = node.children[chunk] = _Node()
            node = child
        node.prefixes.setdefault(len(rest), {})[rest] = prefix

    def remove(self, prefix: str) -> None:
        """Remove a prefix, which must be there."""
        way = [self._root]
        *chunks, rest = _chunks(prefix)
        for chunk in chunks:
            way.append(way[-1].children[chunk])
        prefixes = way[-1].prefixes
        del prefixes[len(rest)][rest]
        if not prefixes[len(rest)]:
            del prefixes[len(rest)]
        while chunks and not way[-1].prefixes and not way[-1].children:
            way.pop()
            del way[-1].children[chunks.pop()]

    def prefixes_of(self, name: str) -> Iterator[str]:
        """Yield the prefixes that the name begins with."""
        node: _Node | None = self._root
        position = 0
        while node is not None:
            chunk = name[position : position + CHUNK]
            for length, prefixes in node.prefixes.items():
                prefix = prefixes.get(chunk[:length])
                if prefix is not None:
                    yield prefix
            # What is left at the end of the name is shorter than the keys.
            node = node.children.get(chunk)
            position += CHUNK


def _chunks(prefix: str) -> list[str]:
    """Return the whole chunks of a prefix and the rest, which may be empty."""
    return [prefix[position : position + CHUNK] for position in range(0, len(prefix) + 1, CHUNK)]
