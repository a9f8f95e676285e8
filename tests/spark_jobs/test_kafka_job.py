"""The outcome of Spark jobs that fail under injected faults; the scenarios run the jobs."""

import click
import pytest

from fauxka.spark_jobs.kafka_job import in_one_line, options_of

# The message of pyspark 4.2.0.
STREAM_FAILED = """[STREAM_FAILED] Query [id = cb9435f3, runId = 521e251a] terminated with exception: \
Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted before all the data in the
topic was processed. Reason: Partition orders-0 offset was changed from 100 to 60. SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = cb9435f3]
"""


def test_the_reason_of_a_failed_stream_ends_before_its_state() -> None:
    told = in_one_line(STREAM_FAILED)

    assert told.startswith("Some data may have been lost because they are not available in Kafka any more; either the")
    assert told.endswith("Reason: Partition orders-0 offset was changed from 100 to 60.")


def test_the_reason_of_another_failure_is_its_first_line() -> None:
    assert in_one_line("Job aborted.\n\tat org.apache.spark") == "Job aborted."


def test_options_have_a_name_and_a_value() -> None:
    assert options_of(("kafka.acks=1", "a=b=c")) == {"kafka.acks": "1", "a": "b=c"}
    with pytest.raises(click.ClickException, match="option: must be KEY=VALUE, not =1"):
        options_of(("=1",))
