"""Which topics of the two sides belong together, as columns over the rows of each side."""

from __future__ import annotations

import re
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
        own = _own_column(side)
        return own if side.name == "left" else _mapped(own, self.topic_map)

    def condition(self, side: Side) -> Column:
        """Return whether a row is of a topic that is compared: a table can have others."""
        known = self.left if self.left is not None else self.names
        if self.common is not None or isinstance(side, LogSide):
            return f.lit(True)
        topic = self.column(side)
        # A topic of the right side that is not compared has no name on the left.
        return topic.isin(*known) if known else topic.isNotNull() | _own_column(side).isNull()


def pair_topics(
    left: Side, right: Side, topics: tuple[Iterable[str] | None, Iterable[str] | None], topic_map: TopicMap
) -> TopicPairs:
    """Return the pairs. topics: of each side that is a log, otherwise None. Raises BadOption."""
    lefts, rights = (None if names is None else tuple(sorted(names)) for names in topics)
    if lefts is not None and rights is not None:
        return _of_logs(right, lefts, rights, topic_map)
    rights = None if rights is None else _compared(right, rights, topic_map)
    without = [side for side in (left, right) if not isinstance(side, LogSide) and _topic_column(side) is None]
    if not without:
        return TopicPairs(topic_map, lefts, rights)
    known = lefts if lefts is not None else rights
    if known is None:
        if len(without) == 1:
            raise BadOption(f"{without[0].name}-offset-columns: must have the topic, as those of the other side have")
        return TopicPairs(topic_map, None, None, common=_last_part(left.place))
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
    chosen = tuple(name for name in rights if topic_map.has_right(name) and topic_map.left_of(name) in lefts)
    missing = sorted(set(lefts) - {topic_map.left_of(name) for name in chosen})
    if not chosen:
        raise BadOption(
            f"topic-map: {right.place} has no topic for {', '.join(missing[:3])}; it has {', '.join(rights[:3])}"
        )
    notes = tuple(f"the right side has no topic for {name}" for name in missing)
    return TopicPairs(topic_map, tuple(lefts), chosen, notes=notes)


def _compared(right: Side, rights: Sequence[str], topic_map: TopicMap) -> tuple[str, ...]:
    chosen = tuple(name for name in rights if topic_map.has_right(name))
    if rights and not chosen:
        raise BadOption(f"topic-map: no rule names a topic of {right.place}; it has {', '.join(rights[:3])}")
    return chosen


def _last_part(place: str) -> str:
    """Return the last name of a place, without the parameters of an address, which can be secrets."""
    return re.split("[?;]", place)[0].rstrip("/").rpartition("/")[2]


def _own_column(side: Side) -> Column:
    return f.col("topic") if isinstance(side, LogSide) else f.col(str(_topic_column(side))).cast("string")


def _topic_column(side: Side) -> str | None:
    # Three names are topic, partition and offset.
    return side.columns.offsets[0] if len(side.columns.offsets) == 3 else None


def _mapped(topic: Column, topic_map: TopicMap) -> Column:
    """Return TopicMap.left_of over a column; null for a topic without TopicMap.has_right."""
    is_left = reduce(lambda found, rule: found | _matches(topic, rule.left, rule), topic_map.rules, f.lit(False))
    kept = f.when(~is_left, topic)
    return reduce(lambda otherwise, rule: _by_rule(topic, rule, otherwise), reversed(topic_map.rules), kept)


def _by_rule(topic: Column, rule: TopicRule, otherwise: Column) -> Column:
    before, behind = rule.right
    star = topic.substr(f.lit(len(before) + 1), f.length(topic) - len(before) - len(behind))
    name = f.concat(f.lit(rule.left[0]), star, f.lit(rule.left[1])) if rule.has_star else f.lit(rule.left[0])
    return f.when(_matches(topic, rule.right, rule), name).otherwise(otherwise)


def _matches(topic: Column, pattern: tuple[str, str], rule: TopicRule) -> Column:
    before, behind = pattern
    if not rule.has_star:
        return topic == before
    return topic.startswith(before) & topic.endswith(behind) & (f.length(topic) > len(before) + len(behind))
