"""Drawn sides have the findings of a model in plain Python. All sides of a run are topics of one comparison."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from random import Random

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.log_bounds import LogBounds
from fauxka.pipeline.compare.compare_job import ReadSides, find_differences
from fauxka.pipeline.compare.coverage import SideBounds
from fauxka.pipeline.compare.entries import ENTRY_KINDS
from fauxka.pipeline.compare.matching import Matching

from ..model.compare_model import Row, findings_by_id, findings_by_position

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

CASES = int(os.environ.get("FAUXKA_COMPARE_CASES", "400"))
RECORDS_MAX = 8
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in ENTRY_KINDS.items())
Case = tuple[list[Row], list[Row]]


def drawn(random: Random, has_ids: bool) -> Case:
    """Return two sides: the right one is mostly what a pipeline with faults makes of the left one."""
    left = [_row(random, at, has_ids) for at in range(random.randrange(RECORDS_MAX))]
    right: list[Row] = []
    for row in left:
        fault = random.choice(["none", "none", "none", "lost", "twice", "other", "changed"])
        if fault != "lost":
            right += [row] * (2 if fault == "twice" else 1)
        if fault == "other":
            right.append(_row(random, 0, has_ids))
        if fault == "changed":
            right[-1] = Row(0, row.event_id, row.key, random.randrange(4))
    if random.random() < 0.3:
        random.shuffle(right)
    return left, [Row(at, row.event_id, row.key, row.content) for at, row in enumerate(right)]


def _row(random: Random, at: int, has_ids: bool) -> Row:
    # With ids the key is that of the id, as an entity has one.
    number = random.randrange(6)
    event_id = f"e{number}" if has_ids and random.random() < 0.95 else None
    key = random.choice([None, 0, 1]) if not has_ids else number % 3 or None
    return Row(at, event_id, key, random.randrange(4))


def entry(topic: str, row: Row, is_left: bool) -> tuple[object, ...]:
    values: Mapping[str, object] = {
        "is_left": is_left,
        "topic": topic,
        "id": row.event_id,
        "content": row.content,
        "key_hash": row.key,
        "partition": 0,
        "offset": row.at,
        "position": row.at,
        "timestamp": datetime(2026, 1, 1),
        "is_optional": False,
        "is_tombstone": False,
        "is_superseded": False,
    }
    return tuple(values.get(name) for name in ENTRY_KINDS)


def compared(spark: SparkSession, cases: list[Case], matching: Matching) -> list[Counter[str]]:
    """Return the number of records of each kind of finding, of each case."""
    topics = [f"case-{number:04d}" for number in range(len(cases))]
    left, right = (
        spark.createDataFrame(
            [entry(topic, row, side == 0) for topic, case in zip(topics, cases, strict=True) for row in case[side]],
            SCHEMA,
        )
        for side in (0, 1)
    )
    bounds = SideBounds(tuple(LogBounds(topic, 0, 0, 0) for topic in topics), {(topic, 0): 100 for topic in topics})
    sides = ReadSides(left, right, bounds, bounds, tuple(topics), is_right_log=True, has_content=True)
    findings, _ = find_differences(spark, sides, matching)
    found = {topic: Counter[str]() for topic in topics}
    for row in findings.groupBy("topic", "kind").sum("count").collect():
        found[row["topic"]][row["kind"]] = row["sum(count)"]
    return list(found.values())


@pytest.mark.parametrize(
    ("matching", "model"),
    [
        (Matching("event-id", is_caught_up=True), findings_by_id),
        (
            Matching("event-id", "one-to-many", is_caught_up=True),
            partial(findings_by_id, is_one_to_many=True),
        ),
        (Matching("position", is_caught_up=True), findings_by_position),
    ],
    ids=["by id", "one to many", "by position"],
)
def test_drawn_sides_have_the_findings_of_the_model(
    spark: SparkSession, matching: Matching, model: Callable[[list[Row], list[Row]], Counter[str]]
) -> None:
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    random = Random(seed)
    cases = [drawn(random, has_ids=matching.by == "event-id") for _ in range(CASES)]

    results = compared(spark, cases, matching)

    differing = [
        (case, dict(model(*case)), dict(result))
        for case, result in zip(cases, results, strict=True)
        if model(*case) != result
    ]
    assert differing[:3] == []
    kinds = {kind for result in results for kind in result}
    assert kinds >= {"lost", "extra", "duplicated", "reordered"}
