"""Texts of clients as they are kept and shown: a long one has its beginning and its length."""

from __future__ import annotations

# As many as the longest name of a topic has: what is longer names nothing that exists, or is no name.
TEXT_CHARACTERS_MAX = 249


def shortened(text: str, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Return the text, or its first characters and its length: "aaa… (32000 characters)"."""
    if len(text) <= characters_max:
        return text
    return f"{text[:characters_max]}… ({len(text)} characters)"
