"""A damaged metadata file is mended from its copy: the same topics, ids and configs, and no folder set aside."""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.cluster_loader import load_cluster
from fauxka.broker.lifecycle.data_directory import DataDirectoryError
from fauxka.broker.lifecycle.metadata_files import (
    BROKEN_METADATA_FILE,
    METADATA_COPY,
    NUMBERS_SKIPPED,
    read_metadata_files,
)
from fauxka.broker.lifecycle.metadata_store import COPY_DELAY_MS, MetadataFileStore
from fauxka.broker.lifecycle.storage_options import StorageOptions
from fauxka.broker.lifecycle.stored_topics import belongs_to
from fauxka.broker.metadata.cluster_metadata import ClusterMetadata, decode_metadata, encode_metadata
from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.protocol.kafka_uuid import new_uuid
from fauxka.storage.checkpoints.checkpoint_files import decode_partition_metadata, encode_partition_metadata
from fauxka.storage.corrupt_file import CorruptFileError
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_manager import StoredPartition

from ..manual_clock import manual_clock
from ..serving_process import run
from .test_metadata_store import FLUSHED, Scene

CONFIGS = {"retention.ms": "123456", "cleanup.policy": "compact"}
BOTH = (METADATA_FILE, METADATA_COPY)

# Topics by name: id, number of partitions, configs.
Topics = dict[str, tuple[bytes, int, dict[str, str]]]
Damage = Callable[[bytes], bytes]


def start(folder: Path) -> Cluster:
    return load_cluster(BrokerConfig.from_entries({}), StorageOptions(data_dir=str(folder)), clock=manual_clock())


def topics_of(cluster: Cluster) -> Topics:
    topics = cluster.image.topics.values()
    return {topic.name: (topic.topic_id, len(topic.partitions), topic.configs) for topic in topics}


def started_again(folder: Path) -> Topics:
    cluster = start(folder)
    try:
        return topics_of(cluster)
    finally:
        cluster.close()


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with two topics, after a clean shutdown."""
    cluster = start(tmp_path / "data")
    cluster.controller.create_topic("orders", 3, configs=CONFIGS)
    cluster.controller.create_topic("events", 1)
    cluster.close()
    return tmp_path / "data"


def flipped(data: bytes, bit: int) -> bytes:
    return data[: bit // 8] + bytes((data[bit // 8] ^ 1 << bit % 8,)) + data[bit // 8 + 1 :]


# What crashes and power losses leave, and bits of all parts of a file. The files have more than 450 bytes.
DAMAGES: dict[str, Damage] = {
    "empty": lambda _: b"",
    "zeros": lambda data: bytes(len(data)),
    "first byte": lambda data: data[:1],
    "cut in the middle": lambda data: data[: len(data) // 2],
    "without the last byte": lambda data: data[:-1],
    **{f"bit {bit}": partial(flipped, bit=bit) for bit in range(3, 450 * 8, 457)},
}


@pytest.mark.parametrize("damaged", BOTH)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_of_one_file_leaves_topics_ids_and_configs(folder: Path, damaged: str, damage: Damage) -> None:
    topics = started_again(folder)
    before = (folder / damaged).read_bytes()
    (folder / damaged).write_bytes(damage(before))

    assert (folder / damaged).read_bytes() != before
    assert started_again(folder) == topics
    assert (folder / METADATA_FILE).read_bytes() == (folder / METADATA_COPY).read_bytes()
    assert not list(folder.glob("*-stray"))


@pytest.mark.parametrize("damaged", BOTH)
def test_any_bit_of_one_file_leaves_the_metadata(folder: Path, damaged: str) -> None:
    content = (folder / METADATA_FILE).read_bytes()
    for bit in range(8 * len(content)):
        files = MemoryFileSystem()
        for name in BOTH:
            files.replace(name, flipped(content, bit) if name == damaged else content)

        stored = read_metadata_files(files)

        fault = stored.file_fault if damaged == METADATA_FILE else stored.copy_fault
        assert stored.metadata == decode_metadata(content), f"bit {bit}"
        assert fault is not None and fault.startswith(damaged), f"bit {bit}"


@pytest.mark.parametrize(
    ("damaged", "expected"),
    [
        (
            METADATA_FILE,
            "cluster-metadata.json is not JSON: Expecting value: line 1 column 1 (char 0) in {folder}; it is kept as "
            "cluster-metadata.json.broken, and its copy cluster-metadata.json.copy is used",
        ),
        (
            METADATA_COPY,
            "cluster-metadata.json.copy is not JSON: Expecting value: line 1 column 1 (char 0) in {folder}; "
            "the copy is written again",
        ),
    ],
)
def test_damage_is_one_line_with_the_name_of_the_file(
    folder: Path, damaged: str, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / damaged).write_bytes(b"")

    started_again(folder)

    assert warnings_in(caplog) == [expected.format(folder=folder)]
    assert (folder / BROKEN_METADATA_FILE).exists() == (damaged == METADATA_FILE)


def test_missing_file_is_replaced_by_its_copy(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    topics = started_again(folder)
    (folder / METADATA_FILE).unlink()

    assert started_again(folder) == topics
    assert [line.partition(" in ")[0] for line in warnings_in(caplog)] == ["cluster-metadata.json is missing"]


def test_missing_copy_is_written_again_without_a_word(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / METADATA_COPY).unlink()

    started_again(folder)

    assert (folder / METADATA_COPY).read_bytes() == (folder / METADATA_FILE).read_bytes()
    assert not warnings_in(caplog)


def test_file_counts_before_a_copy_with_other_content(folder: Path) -> None:
    topics = started_again(folder)
    cluster_id = decode_metadata((folder / METADATA_FILE).read_bytes()).cluster_id
    (folder / METADATA_COPY).write_bytes(encode_metadata(ClusterMetadata(cluster_id)))

    assert started_again(folder) == topics


@pytest.mark.parametrize("is_file_missing", [False, True], ids=["damaged", "missing"])
def test_both_damaged_is_an_error_of_one_line_and_nothing_is_written(folder: Path, is_file_missing: bool) -> None:
    for name in BOTH:
        (folder / name).write_bytes(b"\0" * 500)
    if is_file_missing:
        (folder / METADATA_FILE).unlink()
    before = contents(folder)

    refused = run("serve", "--port", "0", "--data-dir", str(folder))

    assert refused.exit_code == 2
    assert refused.log.count("\n") == 1
    assert "cluster-metadata.json " in refused.log
    assert "cluster-metadata.json.copy is not JSON" in refused.log
    assert contents(folder) == before


def test_file_without_a_checksum_gets_one_with_the_next_write(folder: Path) -> None:
    topics = started_again(folder)
    lines = (folder / METADATA_FILE).read_text().replace('"version": 3', '"version": 2').splitlines()
    old = "\n".join(lines[:-1]).removesuffix(",") + "}\n"
    (folder / METADATA_FILE).write_text(old)
    (folder / METADATA_COPY).unlink()

    cluster = start(folder)
    read, unchanged = topics_of(cluster), (folder / METADATA_FILE).read_text()
    cluster.controller.create_topic("more", 1)
    cluster.close()

    assert (read, unchanged) == (topics, old)
    assert '"checksum": ' in (folder / METADATA_FILE).read_text()


# -- a copy that lacks the last changes


def changed_since_the_copy(folder: Path, change: Callable[[Cluster], object]) -> Topics:
    """Change the cluster, damage the file, and leave the copy as it was. Return the topics after the change."""
    older = (folder / METADATA_COPY).read_bytes()
    cluster = start(folder)
    change(cluster)
    topics = topics_of(cluster)
    cluster.close()
    (folder / METADATA_COPY).write_bytes(older)
    (folder / METADATA_FILE).write_bytes(b"")
    return topics


def test_topic_that_the_copy_lacks_is_taken_from_its_folders(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    topics = changed_since_the_copy(folder, lambda cluster: cluster.controller.create_topic("new", 2, configs=CONFIGS))
    keep_all = {"retention.ms": "-1", "retention.bytes": "-1"}

    found = started_again(folder)

    assert found == {**topics, "new": (topics["new"][0], 2, keep_all)}
    assert not list(folder.glob("*-stray"))
    assert any("the copy of the metadata lacks these topics" in line and "new" in line for line in warnings_in(caplog))


def test_topic_that_was_deleted_since_the_copy_stays_deleted(folder: Path) -> None:
    topics = changed_since_the_copy(
        folder, lambda cluster: cluster.controller.delete_topics([cluster.image.topics["orders"]])
    )

    assert started_again(folder) == topics


def test_topic_that_was_created_again_since_the_copy_has_its_new_id(folder: Path) -> None:
    def change(cluster: Cluster) -> None:
        cluster.controller.delete_topics([cluster.image.topics["orders"]])
        cluster.controller.create_topic("orders", 5)

    topics = changed_since_the_copy(folder, change)

    topic_id, partition_count, _ = started_again(folder)["orders"]
    assert (topic_id, partition_count) == topics["orders"][:2]
    assert not list(folder.glob("*-stray"))


def test_partitions_that_were_added_since_the_copy_are_kept(folder: Path) -> None:
    topics = changed_since_the_copy(
        folder, lambda cluster: cluster.controller.create_partitions(cluster.image.topics["orders"], 7)
    )

    assert started_again(folder) == topics
    assert not list(folder.glob("*-stray"))


def test_numbers_after_a_start_from_the_copy_are_above_those_that_it_lacks(folder: Path) -> None:
    before = decode_metadata((folder / METADATA_FILE).read_bytes())
    (folder / METADATA_FILE).write_bytes(b"")

    started_again(folder)

    after = decode_metadata((folder / METADATA_FILE).read_bytes())
    assert after.next_producer_id == before.next_producer_id + NUMBERS_SKIPPED
    assert after.metadata_offset == before.metadata_offset + NUMBERS_SKIPPED


# -- writes of the copy


@pytest.mark.parametrize("config", [{}, FLUSHED], ids=["unsynced", "synced"])
def test_copy_is_written_once_after_many_changes_and_no_response_waits_for_it(
    tmp_path: Path, config: dict[str, str]
) -> None:
    scene = Scene(tmp_path, config)
    for number in range(5):
        scene.cluster.controller.create_topic(f"events-{number}", 1)
        scene.saved()
        while len(scene.steps):
            scene.steps.run_next()
    before = list(scene.disk.replaced)

    scene.clock.advance(COPY_DELAY_MS)
    scene.steps.run_next()

    assert before == [METADATA_FILE] * 5
    assert scene.disk.replaced[5:] == [METADATA_COPY]
    assert (tmp_path / METADATA_COPY).read_bytes() == (tmp_path / METADATA_FILE).read_bytes()
    assert scene.disk.syncs == (6 if config else 0)


def test_change_during_the_copy_is_copied_after_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("first", 1)
    scene.saved()
    scene.clock.advance(COPY_DELAY_MS)
    scene.cluster.controller.create_topic("second", 1)
    scene.saved()

    scene.steps.run_next()
    scene.clock.advance(COPY_DELAY_MS)
    scene.steps.run_next()

    assert (tmp_path / METADATA_COPY).read_bytes() == (tmp_path / METADATA_FILE).read_bytes()
    assert len(scene.steps) == 0


def test_copy_that_cannot_be_written_is_retried_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)
    scene.saved()
    scene.clock.advance(COPY_DELAY_MS)
    scene.disk.is_full = True

    for _ in range(3):
        scene.steps.run_next()
        scene.clock.advance(1000)
    scene.disk.is_full = False
    scene.steps.run_next()

    assert [line for line in warnings_in(caplog) if "cannot write" in line] == [
        "cannot write cluster-metadata.json.copy: [Errno 28] No space left on device; trying again every 1000 ms"
    ]
    assert (tmp_path / METADATA_COPY).read_bytes() == (tmp_path / METADATA_FILE).read_bytes()


def test_shutdown_with_a_copy_that_cannot_be_written_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)
    scene.saved()
    write = scene.disk.replace

    def fail_for_the_copy(path: str, content: bytes, *, is_synced: bool = False) -> None:
        if path == METADATA_COPY:
            raise OSError(errno.EIO, "Input/output error")
        write(path, content, is_synced=is_synced)

    monkeypatch.setattr(scene.disk, "replace", fail_for_the_copy)
    scene.cluster.close()

    assert (tmp_path / ".kafka_cleanshutdown").exists()
    assert warnings_in(caplog) == ["cannot write cluster-metadata.json.copy: [Errno 5] Input/output error"]


def test_shutdown_writes_a_pending_copy(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.cluster.controller.create_topic("events", 1)
    scene.saved()

    scene.cluster.close()

    assert (tmp_path / METADATA_COPY).read_bytes() == (tmp_path / METADATA_FILE).read_bytes()
    assert isinstance(scene.cluster.controller.store, MetadataFileStore)


# -- other small files without a checksum


def test_any_wrong_bit_in_partition_metadata_leaves_the_folder_to_its_topic() -> None:
    topic_id = new_uuid()
    content = encode_partition_metadata(topic_id)
    for bit in range(8 * len(content)):
        try:
            found = decode_partition_metadata(flipped(content, bit))
        except CorruptFileError:
            continue

        assert belongs_to(StoredPartition("events", 0, found), topic_id), f"bit {bit}"


def test_wrong_topic_id_in_partition_metadata_is_mended(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    topics = started_again(folder)
    path = folder / "events-0" / "partition.metadata"
    content = path.read_bytes()
    damaged = content[:-3] + (b"A" if content[-3:-2] == b"B" else b"B") + content[-2:]
    path.write_bytes(damaged)

    assert started_again(folder) == topics
    assert path.read_bytes() == content
    assert warnings_in(caplog) == ["events-0 has no readable partition.metadata; a new one is written"]
    assert not list(folder.glob("*-stray"))


def test_folder_of_another_topic_id_is_set_aside(folder: Path) -> None:
    (folder / "events-0" / "partition.metadata").write_bytes(encode_partition_metadata(new_uuid()))

    started_again(folder)

    assert len(list(folder.glob("events-0.*-stray"))) == 1


def test_other_cluster_id_in_meta_properties_is_refused(folder: Path, tmp_path: Path) -> None:
    path = folder / "meta.properties"
    cluster_id = decode_metadata((folder / METADATA_FILE).read_bytes()).cluster_id
    path.write_text(path.read_text().replace(cluster_id, "another"))
    shutil.copytree(folder, tmp_path / "before")

    with pytest.raises(
        DataDirectoryError, match=f"Expected {cluster_id}, as in cluster-metadata.json, but read another"
    ):
        start(folder)

    assert contents(folder) == contents(tmp_path / "before")
