"""Findings that files deleted during an audit leave unjudged: of the log, and of a replica."""

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.deleted_files import without_unjudged
from fauxka.pipeline.read.stored_listing import DeletedFiles

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

KINDS = ("missing_offsets", "truncated_log", "replica_divergence", "unreplicated_records", "duplicate")
OF_GROUPS = ("offset_beyond_end", "offset_in_hole", "commit_regression")


def test_what_deleted_files_can_cause_is_left_out(spark: SparkSession) -> None:
    rows = [(topic, 0, kind) for topic in ("log", "replica", "whole") for kind in (*KINDS, *OF_GROUPS)]
    findings = spark.createDataFrame(rows, "topic string, partition int, kind string")
    deleted = [DeletedFiles("log", 0, 1, 0, None), DeletedFiles("replica", 0, 1, 0, None, replica="/b")]

    left = [(row["topic"], row["kind"]) for row in without_unjudged(findings, deleted).collect()]

    assert [kind for topic, kind in left if topic == "log"] == ["duplicate", "commit_regression"]
    assert [kind for topic, kind in left if topic == "replica"] == [
        kind for kind in (*KINDS, *OF_GROUPS) if kind not in ("replica_divergence", "unreplicated_records")
    ]
    assert [kind for topic, kind in left if topic == "whole"] == [*KINDS, *OF_GROUPS]
