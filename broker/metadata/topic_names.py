"""Which topic names are allowed, with Kafka's words for those that are not.

Source: org.apache.kafka.common.internals.Topic, Kafka 4.3.0; tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

import re

# A partition's folder is the topic's name and "-" and a number, in file systems that allow 255 bytes.
TOPIC_NAME_LENGTH_MAX = 249
ALLOWED_CHARACTERS = re.compile(r"[a-zA-Z0-9._-]+")


def find_topic_name_error(name: str) -> str | None:
    """Return why a topic may not have that name, None if it may."""
    reason = _find_reason(name)
    return None if reason is None else f"Topic name is invalid: {reason}"


def _find_reason(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LENGTH_MAX}"
    if ALLOWED_CHARACTERS.fullmatch(name) is None:
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def collision_key_of(name: str) -> str:
    """Return what two names have in common that may not both exist: metrics write '.' as '_'."""
    return name.replace(".", "_")
