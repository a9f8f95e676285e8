"""The option --topic-map: which topic of the right side has the records of a topic of the left side.

A rule is LEFT=RIGHT, or has one * on each side, which stands for the same text: *=source.* for a MirrorMaker 2 with its
default names. The first rule that matches applies, and a topic that no rule matches keeps its name. This module does
not use Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..bad_option import BadOption

_STAR = "*"


@dataclass(frozen=True, slots=True)
class TopicRule:
    """A rule of the option. Each side is a text in front of the star and one behind it; without a star only the first.

    has_star: whether the sides have a star.
    """

    left: tuple[str, str]
    right: tuple[str, str]
    has_star: bool

    def left_of(self, topic: str) -> str | None:
        """Return the topic of the left side for one of the right side; None if the rule does not match."""
        star = self._star_of(self.right, topic)
        return None if star is None else star.join(self.left)

    def has_left(self, topic: str) -> bool:
        """Whether the rule matches a topic of the left side."""
        return self._star_of(self.left, topic) is not None

    def _star_of(self, pattern: tuple[str, str], topic: str) -> str | None:
        """Return the text that the star stands for, empty without a star; None if the pattern does not match."""
        before, behind = pattern
        if not self.has_star:
            return "" if topic == before else None
        is_match = topic.startswith(before) and topic.endswith(behind) and len(topic) > len(before) + len(behind)
        return topic[len(before) : len(topic) - len(behind)] if is_match else None


@dataclass(frozen=True, slots=True)
class TopicMap:
    """The rules of --topic-map, in order."""

    rules: tuple[TopicRule, ...] = ()

    def left_of(self, topic: str) -> str:
        """Return the topic of the left side for a topic of the right side."""
        found = (rule.left_of(topic) for rule in self.rules)
        return next((name for name in found if name is not None), topic)

    def has_right(self, topic: str) -> bool:
        """Whether a topic of the right side is compared.

        A topic whose name a rule has on the left is another one, unless a rule has it on the right too: with *=source.*
        the topic orders of a target cluster is not the mirrored orders.
        """
        is_mapped = any(rule.left_of(topic) is not None for rule in self.rules)
        return is_mapped or not any(rule.has_left(topic) for rule in self.rules)


def parse_topic_map(texts: Sequence[str]) -> TopicMap:
    """Return the rules. texts: one rule each. Raises BadOption."""
    return TopicMap(tuple(_parse_rule(text) for text in texts))


def _parse_rule(text: str) -> TopicRule:
    left, separator, right = text.partition("=")
    stars = (left.count(_STAR), right.count(_STAR))
    if not separator or not left or not right or stars not in ((0, 0), (1, 1)):
        raise BadOption(f"topic-map: must be LEFT=RIGHT, each with one * or none, such as *=source.*, not {text}")
    return TopicRule(_parts(left), _parts(right), has_star=stars == (1, 1))


def _parts(pattern: str) -> tuple[str, str]:
    before, _, behind = pattern.partition(_STAR)
    return before, behind
