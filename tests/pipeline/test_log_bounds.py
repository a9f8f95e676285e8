"""Log start offsets and cleaner offsets: of a Kafka log directory, of files without checkpoints, and of a broker."""

from pathlib import Path

import pytest

from fauxka.pipeline.checks.log_bounds import LogBounds, bounds_of_files, bounds_on_broker
from fauxka.pipeline.decode.row_source import OFFSET_MAX
from fauxka.pipeline.read.fetch_log import FetchLog
from fauxka.pipeline.read.options import parse_options
from fauxka.pipeline.read.segment_files import find_segments
from fauxka.testing import Broker

from .logs_on_disk import GOLDEN, batches, write_segment


def bounds_in(path: Path) -> list[LogBounds]:
    return bounds_of_files(find_segments(str(path), lambda topic: not topic.startswith("__")))


def test_the_checkpoints_of_kafka_give_the_bounds() -> None:
    assert bounds_in(GOLDEN) == [LogBounds("compacted", 0, 0, 5), LogBounds("demo", 0, 2, 0)]


def test_a_partition_s_folder_has_the_checkpoints_beside_it() -> None:
    assert bounds_in(GOLDEN / "demo-0") == [LogBounds("demo", 0, 2, 0)]


@pytest.mark.parametrize("checkpoint", [None, b"", b"no checkpoint"])
def test_without_a_checkpoint_a_log_begins_with_its_first_segment(tmp_path: Path, checkpoint: bytes | None) -> None:
    write_segment(tmp_path / "t-0", batches(40, 3))
    write_segment(tmp_path / "t-0", batches(46, 3))
    if checkpoint is not None:
        (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint)

    assert bounds_in(tmp_path) == [LogBounds("t", 0, 40, 0)]


@pytest.mark.parametrize(
    ("policy", "cleaned_before"), [("delete", 0), ("compact", OFFSET_MAX), ("compact,delete", OFFSET_MAX)]
)
def test_a_broker_reports_log_starts_and_compacted_topics(tmp_path: Path, policy: str, cleaned_before: int) -> None:
    write_segment(tmp_path / "t-0", batches(40, 3))
    with Broker(import_logs=tmp_path, config={"log.cleanup.policy": policy}) as broker:
        options = parse_options({"bootstrap": broker.bootstrap_servers})

        bounds = bounds_on_broker(FetchLog(options), options)

    assert bounds == [LogBounds("t", 0, 40, cleaned_before)]
