"""What a Spark job that was broken on purpose says of itself; the jobs are run by the scenarios."""

import click
import pytest

from fauxka.pipeline.kafka_job import in_one_line, options_of

# As pyspark 4.2.0 says it.
STREAM_FAILED = """[STREAM_FAILED] Query [id = cb9435f3, runId = 521e251a] terminated with exception: \
Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted before all the data in the
topic was processed. Reason: Partition orders-0 offset was changed from 100 to 60. SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = cb9435f3]
"""


def test_of_a_failed_stream_all_is_told_but_its_state() -> None:
    told = in_one_line(STREAM_FAILED)

    assert told.startswith("Some data may have been lost because they are not available in Kafka any more; either the")
    assert told.endswith("Reason: Partition orders-0 offset was changed from 100 to 60.")


def test_of_another_failure_the_first_line_is_told() -> None:
    assert in_one_line("Job aborted.\n\tat org.apache.spark") == "Job aborted."


def test_options_have_a_name_and_a_value() -> None:
    assert options_of(("kafka.acks=1", "a=b=c")) == {"kafka.acks": "1", "a": "b=c"}
    with pytest.raises(click.ClickException, match="option: must be KEY=VALUE, not =1"):
        options_of(("=1",))
