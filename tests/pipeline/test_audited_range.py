"""The audited range: what the options select, fixed as offsets before the first pass over the log."""

import json
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audited_range import AuditedRange, find_range, range_words
from fauxka.pipeline.read.log_splits import open_log
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.log_files import PartitionName
from fauxka.testing import Broker

from .logs_on_disk import options_of, write_segment
from .test_fetch_log import delete_records_before, produce_one_topic

START_MS = 1_700_000_000_000
NAME = PartitionName("t", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten records, a second apart, two a batch."""
    stored = [
        build_batch(
            [Record(b"v", timestamp=START_MS + 1000 * offset), Record(b"v", timestamp=START_MS + 1000 * offset + 1000)],
            BatchOptions(base_offset=offset),
        )
        for offset in range(0, 10, 2)
    ]
    write_segment(tmp_path / "t-0", stored)
    return tmp_path


def range_of(**options: object) -> AuditedRange:
    parsed = options_of(**options)
    return find_range(open_log(parsed), parsed)


def test_the_whole_log_of_files_is_read_by_the_same_options(folder: Path) -> None:
    found = range_of(path=folder)

    assert (found.starts, found.ends, found.is_cut) == ({NAME: 0}, {NAME: 10}, False)
    assert found.reading_options({"path": "p"}) == {"path": "p"}


def test_times_become_offsets(folder: Path) -> None:
    times = {"startingTimestamp": str(START_MS + 2500), "endingTimestamp": str(START_MS + 7000)}

    found = range_of(path=folder, **times)

    assert (found.starts, found.ends) == ({NAME: 3}, {NAME: 7})
    assert (found.cut_starts, found.cut_ends) == (frozenset({NAME}), frozenset({NAME}))
    assert found.reading_options({"path": "p", **times}) == {
        "path": "p",
        "startingOffsets": json.dumps({"t": {"0": 3}}),
        "endingOffsets": json.dumps({"t": {"0": 7}}),
    }


def test_a_partition_with_no_record_since_then_has_an_empty_range(folder: Path) -> None:
    latest = {"startingTimestamp": START_MS + 9_999, "startingOffsetsByTimestampStrategy": "latest"}

    found = range_of(path=folder, **latest)

    assert (found.starts, found.ends, found.cut_ends) == ({NAME: 10}, {NAME: 10}, frozenset())


def test_a_start_behind_the_end_of_the_log_is_an_error(folder: Path) -> None:
    with pytest.raises(BadOption, match=r"since: t-0 ends at offset 10, in front of 11: its log was truncated, or "):
        range_of(path=folder, startingOffsets='{"t": {"0": 11}}')


def test_wanted_offsets_that_the_log_has_deleted_are_a_note() -> None:
    with Broker(config={"num.partitions": "1"}) as broker:
        produce_one_topic(broker)
        delete_records_before(broker, 12)

        place = {"bootstrap": broker.bootstrap_servers, "topics": "t"}
        found = range_of(**place, startingOffsets='{"t": {"0": 3}}')

    assert (found.starts, found.ends, found.is_cut) == ({NAME: 12}, {NAME: 20}, False)
    assert list(found.notes()) == ["t-0: 9 offsets in front of 12 were deleted before this audit"]
    assert found.reading_options(place)["endingOffsets"] == json.dumps({"t": {"0": 20}})


def test_the_range_in_words() -> None:
    assert range_words(options_of(path="p")) is None
    assert range_words(options_of(path="p", startingTimestamp=START_MS, endingOffsets='{"t": {"0": 1}}')) == (
        "since 2023-11-14T22:13:20.000Z, until the given offsets"
    )


def test_a_topic_of_the_offsets_that_the_log_does_not_have_is_told(folder: Path) -> None:
    found = range_of(path=folder, startingOffsets=json.dumps({"t": {"0": 2}, "tt": {"0": 5, "1": 5}}))

    assert list(found.notes()) == ["tt has offsets to start from, and the log has no such topic"]


def test_a_topic_of_the_offsets_that_is_not_audited_is_not_told(folder: Path) -> None:
    found = range_of(path=folder, topics="t", startingOffsets=json.dumps({"t": {"0": 2}, "tt": {"0": 5}}))

    assert list(found.notes()) == []
