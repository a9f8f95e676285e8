"""Which topics of the two sides belong together, as columns over the rows of each side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f

from ..bad_option import BadOption
from .sides import LogSide, Side
from .topic_map import TopicMap, TopicRule


@dataclass(frozen=True, slots=True)
class TopicPairs:
    """The topics of both sides. A null name is of a table, whose topics are not known before it is read.

    left, right: the topics to read of a log. common: the topic of all rows, if a table does not name it.
    """

    topic_map: TopicMap
    left: tuple[str, ...] | None
    right: tuple[str, ...] | None
    common: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all topics that are known, as on the left side."""
        if self.left is not None:
            return self.left
        return tuple(sorted({self.topic_map.left_of(name) for name in self.right or ()}))

    def column(self, side: Side) -> Column:
        """Return the name of the topic on the left side over the rows of a side."""
        if self.common is not None:
            return f.lit(self.common)
        own = f.col("topic") if isinstance(side, LogSide) else f.col(str(_topic_column(side))).cast("string")
        return own if side.name == "left" else _mapped(own, self.topic_map)

    def condition(self, side: Side) -> Column:
        """Return whether a row is of a topic that is compared: a table can have others."""
        known = self.left if self.left is not None else self.names
        if self.common is not None or not known or isinstance(side, LogSide):
            return f.lit(True)
        return self.column(side).isin(*known)


def pair_topics(
    left: Side, right: Side, topics: tuple[Iterable[str] | None, Iterable[str] | None], topic_map: TopicMap
) -> TopicPairs:
    """Return the pairs. topics: of each side that is a log, otherwise None. Raises BadOption."""
    lefts, rights = (None if names is None else tuple(sorted(names)) for names in topics)
    if lefts is not None and rights is not None:
        return _of_logs(right, lefts, rights, topic_map)
    without = [side for side in (left, right) if not isinstance(side, LogSide) and _topic_column(side) is None]
    if not without:
        return TopicPairs(topic_map, lefts, rights)
    known = lefts if lefts is not None else rights
    if known is None:
        if len(without) == 1:
            raise BadOption(f"{without[0].name}-offset-columns: must have the topic, as those of the other side have")
        return TopicPairs(topic_map, None, None, common=left.place.rstrip("/").rpartition("/")[2])
    if len(known) != 1:
        side = without[0]
        raise BadOption(
            f"{side.name}-offset-columns: must be TOPIC,PARTITION,OFFSET,"
            f" because the other side has {len(known)} topics"
        )
    name = known[0] if lefts is not None else topic_map.left_of(known[0])
    return TopicPairs(topic_map, lefts, rights, common=name)


def _of_logs(right: Side, lefts: Sequence[str], rights: Sequence[str], topic_map: TopicMap) -> TopicPairs:
    if len(lefts) == len(rights) == 1 and not topic_map.rules:
        rule = TopicRule((lefts[0], ""), (rights[0], ""), has_star=False)
        topic_map = replace(topic_map, rules=(rule,))
    chosen = tuple(name for name in rights if topic_map.left_of(name) in lefts)
    missing = sorted(set(lefts) - {topic_map.left_of(name) for name in chosen})
    if not chosen:
        raise BadOption(
            f"topic-map: {right.place} has no topic for {', '.join(missing[:3])}; it has {', '.join(rights[:3])}"
        )
    notes = tuple(f"the right side has no topic for {name}" for name in missing)
    return TopicPairs(topic_map, tuple(lefts), chosen, notes=notes)


def _topic_column(side: Side) -> str | None:
    # Three names are topic, partition and offset.
    return side.columns.offsets[0] if len(side.columns.offsets) == 3 else None


def _mapped(topic: Column, topic_map: TopicMap) -> Column:
    return reduce(lambda otherwise, rule: _by_rule(topic, rule, otherwise), reversed(topic_map.rules), topic)


def _by_rule(topic: Column, rule: TopicRule, otherwise: Column) -> Column:
    if not rule.has_star:
        return f.when(topic == rule.right[0], f.lit(rule.left[0])).otherwise(otherwise)
    before, behind = rule.right
    fixed = len(before) + len(behind)
    is_match = topic.startswith(before) & topic.endswith(behind) & (f.length(topic) > fixed)
    star = topic.substr(f.lit(len(before) + 1), f.length(topic) - fixed)
    return f.when(is_match, f.concat(f.lit(rule.left[0]), star, f.lit(rule.left[1]))).otherwise(otherwise)
