"""Names of partition files and folders: valid, renamed, and foreign ones."""

from __future__ import annotations

import pytest

from fauxka.storage.log_files import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    base_offset_of,
    deleted_folder,
    partition_folder,
    partition_of,
    segment_path,
    stray_folder,
)

UNIQUE_ID = bytes.fromhex("47e98eea0c16460aa15cf6956950a799")

SUFFIXES = [LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX, SNAPSHOT_SUFFIX]


@pytest.mark.parametrize("topic_name", ["demo", "a-b", "a.b-1", "a-0.b", "-", "-0", "__consumer_offsets", "x" * 249])
@pytest.mark.parametrize("partition", [0, 9, 10, 2**31 - 1])
def test_folder_name_contains_topic_and_partition(topic_name: str, partition: int) -> None:
    assert partition_of(partition_folder(topic_name, partition)) == (topic_name, partition)


@pytest.mark.parametrize(
    "folder",
    [
        "",
        "demo",
        "-0",
        "demo-",
        "demo-x",
        "demo-00",
        "demo-01",
        "demo-+1",
        "demo-2147483648",
        "demo-99999999999",
        "demo-1\n",
        "demo-\u0661",
        "d mo-0",
        "d\u00e9mo-0",
        ".-0",
        "..-0",
        "x" * 250 + "-0",
        "lost+found",
    ],
)
def test_folder_with_a_name_that_kafka_does_not_write_is_not_a_partition(folder: str) -> None:
    assert partition_of(folder) is None


def test_stray_folder_has_the_name_of_a_real_kafka() -> None:
    assert stray_folder("surv-x", 0, UNIQUE_ID) == "surv-x-0.47e98eea0c16460aa15cf6956950a799-stray"


@pytest.mark.parametrize("topic_name", ["demo", "a.b-0", "x" * 249])
def test_deleted_or_stray_folder_is_not_a_partition(topic_name: str) -> None:
    deleted, stray = deleted_folder(topic_name, 3, UNIQUE_ID), stray_folder(topic_name, 3, UNIQUE_ID)

    assert (partition_of(deleted), partition_of(stray)) == (None, None)


@pytest.mark.parametrize("topic_length", [200, 211, 212, 213, 249])
def test_name_of_a_deleted_folder_is_cut_at_255_characters(topic_length: int) -> None:
    ending = "-10.47e98eea0c16460aa15cf6956950a799-delete"

    folder = deleted_folder("x" * topic_length, 10, UNIQUE_ID)

    assert folder == "x" * min(topic_length, 255 - len(ending)) + ending


def test_topic_named_like_a_deleted_folder_keeps_its_partition() -> None:
    topic_name = deleted_folder("demo", 0, UNIQUE_ID)
    folder = partition_folder(topic_name, 5)

    assert partition_of(folder) == (topic_name, 5)


@pytest.mark.parametrize("base_offset", [0, 13, 2**63 - 1])
@pytest.mark.parametrize("suffix", [*SUFFIXES, LOG_SUFFIX + SWAP_SUFFIX, INDEX_SUFFIX + CLEANED_SUFFIX])
def test_file_name_contains_the_base_offset(base_offset: int, suffix: str) -> None:
    folder, _, name = segment_path("demo-0", base_offset, suffix).partition("/")

    assert folder == "demo-0"
    assert base_offset_of(name, suffix) == base_offset
    assert [other for other in SUFFIXES if base_offset_of(name, other) is not None] == [suffix][: suffix in SUFFIXES]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".log",
        "0.log",
        "0000000000000000000.log",
        "000000000000000000000.log",
        "0000000000000000000x.log",
        "-0000000000000000001.log",
        "0000000000000000000\u0661.log",
        "09223372036854775808.log",
        "00000000000000000000",
        "00000000000000000000.LOG",
        "00000000000000000000.log" + DELETED_SUFFIX,
        "00000000000000000000.log\n",
        "leader-epoch-checkpoint",
    ],
)
def test_file_of_another_name_has_no_base_offset(name: str) -> None:
    assert base_offset_of(name, LOG_SUFFIX) is None
