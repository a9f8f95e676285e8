"""Segment files of a remote tier, alone and together with a log directory, as two plug-ins name them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.stored_listing import with_listing
from fauxka.pipeline.read.tier_layouts import tier_offset_of, tier_partition_of, tier_topic_of
from fauxka.storage.log_files import PartitionName

from .logs_on_disk import batches, options_of, read, write_segment

TOPIC_ID = "MWJ6FHTfRYy67jzwZdeqSQ"
# An id can have dashes, and digits at its end.
ODD_ID = "-qimKeZwStOEOwRzT3L5-0"
SEGMENT_IDS = ("bCqX9U--S-6U8XUM9II25Q", "h956soEzTzi9a-NOQ-DvKA", ODD_ID)

Write = Callable[[Path, int, list[bytes], str], Path]


def write_local_tier(folder: Path, partition: int, stored: list[bytes], segment_id: str) -> Path:
    """Write a segment as LocalTieredStorage does."""
    place = folder / f"a-topic-{partition}-{TOPIC_ID}"
    file = write_segment(place, stored, index_every=2)
    for suffix in (".log", ".index"):
        file.with_suffix(suffix).rename(place / f"{file.stem}-{segment_id}{suffix}")
    return place / f"{file.stem}-{segment_id}.log"


def write_aiven_tier(folder: Path, partition: int, stored: list[bytes], segment_id: str) -> Path:
    """Write a segment as Aiven's plug-in does, without compression and encryption."""
    place = folder / f"a-topic-{TOPIC_ID}" / str(partition)
    file = write_segment(place, stored)
    log = file.rename(place / f"{file.stem}-{segment_id}.log")
    log.with_suffix(".indexes").write_bytes(b"index")
    log.with_suffix(".rsm-manifest").write_text(json.dumps({"version": "1", "chunkIndex": {}, "compression": False}))
    return log


BOTH = pytest.mark.parametrize("write", [write_local_tier, write_aiven_tier])


def offsets_of(rows: list[dict[str, object]], partition: int = 0) -> list[object]:
    return [row["offset"] for row in rows if row["partition"] == partition]


def test_names_of_a_tier_are_told_from_others() -> None:
    assert tier_offset_of(f"{17:020d}-{ODD_ID}.log") == 17
    assert tier_offset_of(f"{17:020d}.log") is None
    assert tier_offset_of(f"{17:020d}-{ODD_ID}.index") is None
    assert tier_partition_of(f"a-topic-3-{ODD_ID}") == PartitionName("a-topic", 3)
    assert tier_partition_of(f"a-topic-{TOPIC_ID}") is None
    assert tier_topic_of(f"a-topic-{ODD_ID}") == "a-topic"
    assert tier_topic_of("a-topic") is None


@BOTH
def test_a_tier_has_the_rows_of_its_segments(tmp_path: Path, write: Write) -> None:
    for partition, segment_id in ((0, SEGMENT_IDS[0]), (11, ODD_ID)):
        write(tmp_path, partition, batches(0, 5), segment_id)
        write(tmp_path, partition, batches(10, 5), SEGMENT_IDS[1])

    rows = read(path=tmp_path)

    assert {row["topic"] for row in rows} == {"a-topic"}
    assert offsets_of(rows, 0) == offsets_of(rows, 11) == list(range(20))


@BOTH
def test_each_level_of_a_tier_can_be_the_path(tmp_path: Path, write: Write) -> None:
    file = write(tmp_path, 0, batches(0, 5), SEGMENT_IDS[0])

    for path in (tmp_path, file.parent.parent, file.parent, file, tmp_path / "*"):
        assert offsets_of(read(path=path)) == list(range(10))


@pytest.mark.parametrize("topic_id", [ODD_ID, "MWJ6FHTfRYy67jzwZdeq-7"])
def test_a_topic_id_that_ends_like_a_partition_is_one(tmp_path: Path, topic_id: str) -> None:
    (tmp_path / "local").mkdir()
    (tmp_path / "aiven").mkdir()
    local = write_local_tier(tmp_path / "local", 0, batches(0, 5), ODD_ID)
    aiven = write_aiven_tier(tmp_path / "aiven", 0, batches(0, 5), ODD_ID)
    local.parent.rename(tmp_path / "local" / f"a-topic-0-{topic_id}")
    aiven.parent.parent.rename(tmp_path / "aiven" / f"a-topic-{topic_id}")

    for folder in ("local", "aiven"):
        segments = FileLog(options_of(path=tmp_path / folder)).segments()
        assert [(name, len(found)) for name, found in segments.items()] == [(PartitionName("a-topic", 0), 1)]


@BOTH
def test_a_log_and_its_tier_have_each_record_once(tmp_path: Path, write: Write) -> None:
    # The tier has the first two segments, and the log directory the last two, one of them in both.
    write(tmp_path / "tier", 0, batches(0, 5), SEGMENT_IDS[0])
    write(tmp_path / "tier", 0, batches(10, 5), SEGMENT_IDS[1])
    for base in (10, 20):
        write_segment(tmp_path / "log" / "a-topic-0", batches(base, 5), index_every=2)
    places = {"path": str(tmp_path / "log"), "tier": str(tmp_path / "tier")}

    assert offsets_of(read(**places)) == list(range(30))
    assert offsets_of(read(path=tmp_path / "*")) == list(range(30))
    assert offsets_of(read(**with_listing(places))) == list(range(30))


@BOTH
def test_segments_of_other_brokers_overlap_and_have_each_record_once(tmp_path: Path, write: Write) -> None:
    stored = batches(0, 20)
    for first, last, number in ((0, 8, 0), (4, 12, 1), (4, 6, 2), (12, 16, 0)):
        write(tmp_path / "tier", 0, stored[first:last], SEGMENT_IDS[number])
    write_segment(tmp_path / "log" / "a-topic-0", stored[10:15])
    write_segment(tmp_path / "log" / "a-topic-0", stored[15:])

    for view, name in (("records", "offset"), ("batches", "base_offset")):
        rows = read(path=tmp_path / "log", tier=tmp_path / "tier", view=view)
        assert [row[name] for row in rows] == list(range(0, 40, 1 if view == "records" else 2))


def test_a_regression_of_offsets_in_a_log_directory_is_still_read(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 10))
    write_segment(tmp_path / "t-0", batches(10, 5))

    assert offsets_of(read(path=tmp_path)) == [*range(20), *range(10, 20)]


def test_a_segment_without_its_manifest_is_not_whole(tmp_path: Path) -> None:
    write_aiven_tier(tmp_path, 0, batches(0, 5), SEGMENT_IDS[0])
    write_aiven_tier(tmp_path, 0, batches(10, 5), SEGMENT_IDS[1]).with_suffix(".rsm-manifest").unlink()

    assert offsets_of(read(path=tmp_path)) == list(range(10))


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"compression": True}, "is compressed by the plug-in of the tier"),
        ({"compression": False, "encryption": {"dataKey": "x"}}, "is encrypted by the plug-in of the tier"),
        ({"compression": True, "encryption": {"dataKey": "x"}}, "is compressed and encrypted by"),
        ({}, "is not a manifest of a segment"),
        ([], "is not a manifest of a segment"),
    ],
)
def test_a_transformed_segment_is_refused_in_one_line(tmp_path: Path, manifest: object, words: str) -> None:
    log = write_aiven_tier(tmp_path, 0, batches(0, 5), SEGMENT_IDS[0])
    log.with_suffix(".rsm-manifest").write_text(json.dumps(manifest))

    with pytest.raises(BadOption) as raised:
        read(path=tmp_path)

    assert str(raised.value).startswith("path: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_transactions_of_a_tier_are_not_resolved(tmp_path: Path) -> None:
    write_local_tier(tmp_path, 0, batches(0, 5), SEGMENT_IDS[0])

    with pytest.raises(BadOption, match=r"^isolationLevel: must be read_uncommitted for a remote tier"):
        read(path=tmp_path, isolationLevel="read_committed")


def test_a_tier_needs_a_path() -> None:
    with pytest.raises(BadOption, match=r"^tier: needs the option path"):
        options_of(bootstrap="127.0.0.1:1", tier="/x")


def test_a_missing_tier_is_named(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 5))

    with pytest.raises(BadOption, match=r"^tier: there is no /nowhere$"):
        read(path=tmp_path, tier="/nowhere")
