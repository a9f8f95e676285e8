"""Exported folders for a real Kafka, and refused exports. tests/reference starts Kafka on them."""

import errno
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.export.kafka_folder import ExportError, KafkaFolder
from fauxka.broker.lifecycle.export.log_export import BrokerSource, export
from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from fauxka.protocol.stored_records.metadata_records import (
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
)
from fauxka.storage.checkpoints.checkpoint_files import decode_meta_properties, decode_partition_metadata
from fauxka.storage.checkpoints.properties_file import parse_properties
from fauxka.testing import Broker

from ...golden.raw_batches import batch
from ...reference.log_client import LogClient, log_client
from ...serving_process import run, serving, stop
from ...storage.metadata_files import decode_bootstrap_checkpoint
from ..transactional_client import TransactionalClient

SEGMENT_BYTES = 1024 * 1024
RECORD_BYTES = SEGMENT_BYTES * 2 // 5


def export_from(broker: Broker, folder: Path) -> list[str]:
    said: list[str] = []
    export(str(folder), data_folder=None, broker=BrokerSource(broker.bootstrap_servers), report=said.append)
    return said


def exported(
    folder: Path, *, config: Mapping[str, str] | None = None, topic_configs: Mapping[str, str] | None = None
) -> Path:
    """Export a broker whose one topic, t, has three batches of two records of producer 4242."""
    with Broker(config) as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t", configs=topic_configs)
        fill(client)
        export_from(broker, folder)
    return folder


def fill(client: LogClient) -> None:
    now_ms = int(time.time() * 1000)
    for base_sequence in (0, 2, 4):
        client.append("t", batch(2, now_ms, producer_id=4242, producer_epoch=0, base_sequence=base_sequence))


def records_in(folder: Path) -> list[MetadataRecord]:
    return list(decode_bootstrap_checkpoint((folder / "bootstrap.checkpoint").read_bytes()).records)


def records_of(folder: Path, kind: type[MetadataRecord]) -> list[MetadataRecord]:
    return [record for record in records_in(folder) if isinstance(record, kind)]


def settings_in(folder: Path) -> dict[str, str]:
    return parse_properties((folder / "server.properties").read_text())


def test_partition_has_its_segments_and_the_topics_id(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out")

    (topic,) = records_of(folder, TopicRecord)
    assert isinstance(topic, TopicRecord)
    assert sorted(file.name for file in (folder / "t-0").iterdir()) == [f"{0:020d}.log", "partition.metadata"]
    assert decode_partition_metadata((folder / "t-0" / "partition.metadata").read_bytes()) == topic.topic_id


def test_partition_lies_in_the_folder_that_meta_properties_names(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out")

    identity = decode_meta_properties((folder / "meta.properties").read_bytes())
    (partition,) = records_of(folder, PartitionRecord)
    assert isinstance(partition, PartitionRecord)
    assert partition.directories == [identity.directory_id]
    assert partition.replicas == partition.isr == [identity.node_id] == [partition.leader]


def test_topic_configs_are_exported(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out", topic_configs={"retention.ms": "-1"})

    assert records_of(folder, ConfigRecord) == [ConfigRecord(resource_name="t", name="retention.ms", value="-1")]


def test_replicas_that_a_batch_needs_are_not_exported_to_a_broker_without_followers(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out", topic_configs={"min.insync.replicas": "2", "retention.ms": "-1"})

    assert records_of(folder, ConfigRecord) == [ConfigRecord(resource_name="t", name="retention.ms", value="-1")]


def test_configs_of_the_broker_are_in_server_properties(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out", config={"log.retention.hours": "5", "fauxka.busy.poll.us": "0"})

    settings = settings_in(folder)
    assert settings["log.retention.hours"] == "5"
    assert settings["log.dirs"] == str(folder)
    assert not any(name.startswith("fauxka.") for name in settings)


def test_next_producer_id_is_in_a_block_above_all_in_the_logs(tmp_path: Path) -> None:
    folder = exported(tmp_path / "out")

    assert records_of(folder, ProducerIdsRecord) == [ProducerIdsRecord(broker_id=1, next_producer_id=5000)]


def test_next_producer_id_is_above_that_of_a_transactional_id_without_batches(tmp_path: Path) -> None:
    with Broker() as broker, TransactionalClient(broker.bootstrap_servers) as client:
        client.find_coordinator()
        client.init()
        export_from(broker, tmp_path / "out")

    assert records_of(tmp_path / "out", ProducerIdsRecord) == [ProducerIdsRecord(broker_id=1, next_producer_id=1000)]


@pytest.mark.parametrize(("config", "level"), [({}, 2), ({"fauxka.transaction.version": "1"}, 1)])
def test_level_of_transaction_version_is_exported(tmp_path: Path, config: dict[str, str], level: int) -> None:
    folder = exported(tmp_path / "out", config=config)

    assert FeatureLevelRecord(name="transaction.version", feature_level=level) in records_in(folder)


@pytest.mark.parametrize("how", ["running broker", "data folder"])
def test_updated_levels_of_features_are_exported(tmp_path: Path, how: str) -> None:
    updates = {"transaction.version": 0, "group.version": 0}
    with Broker(data_dir=tmp_path / "data") as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t")
        updated = [
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=2) for name, level in updates.items()
        ]
        host, port = broker.bootstrap_servers.rsplit(":", 1)
        connection = BrokerConnection(host, int(port), timeout_seconds=20.0, response_bytes_max=100_000)
        request = UpdateFeaturesRequest(feature_updates=updated)
        assert connection.send_request(ApiKey.UPDATE_FEATURES, 2, request, UpdateFeaturesResponse.read).error_code == 0
        connection.close()
        if how == "running broker":
            export_from(broker, tmp_path / "out")
    if how == "data folder":
        export(str(tmp_path / "out"), data_folder=str(tmp_path / "data"), broker=None, report=lambda _: None)

    levels = {
        record.name: record.feature_level
        for record in records_in(tmp_path / "out")
        if isinstance(record, FeatureLevelRecord)
    }
    assert levels == {
        "metadata.version": 30,
        "eligible.leader.replicas.version": 1,
        "group.version": 0,
        "share.version": 1,
        "streams.version": 1,
        "transaction.version": 0,
    }


def test_segments_are_rolled_at_segment_bytes(tmp_path: Path) -> None:
    with Broker() as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t", configs={"segment.bytes": str(SEGMENT_BYTES)})
        for _ in range(5):
            client.append("t", batch(1, int(time.time() * 1000), value=bytes(RECORD_BYTES)))
        export_from(broker, tmp_path / "out")

    segments = sorted((tmp_path / "out" / "t-0").glob("*.log"))
    assert [int(segment.stem) for segment in segments] == [0, 2, 4]


def test_log_start_within_a_batch_is_in_its_checkpoint(tmp_path: Path) -> None:
    with Broker() as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t")
        fill(client)
        client.delete_records("t", 3)
        export_from(broker, tmp_path / "out")

    assert (tmp_path / "out" / "log-start-offset-checkpoint").read_text() == "0\n1\nt 0 3\n"
    assert [int(file.stem) for file in (tmp_path / "out" / "t-0").glob("*.log")] == [2]


def test_log_without_records_begins_at_its_end_offset(tmp_path: Path) -> None:
    with Broker() as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t")
        fill(client)
        client.delete_records("t", 6)
        export_from(broker, tmp_path / "out")

    (segment,) = (tmp_path / "out" / "t-0").glob("*.log")
    assert (int(segment.stem), segment.stat().st_size) == (6, 0)


def test_output_has_each_topic_and_the_command_to_start_kafka(tmp_path: Path) -> None:
    with Broker() as broker, log_client(broker.bootstrap_servers) as client:
        client.create_topic("t", 3)
        said = export_from(broker, tmp_path / "out")

    assert said[0] == "t: partitions 3, offsets 0, bytes 0"
    assert said[-1].endswith(f"kafka-server-start.sh {tmp_path / 'out' / 'server.properties'}")


def test_folder_that_is_not_empty_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")

    with Broker() as broker, pytest.raises(ExportError, match="not an empty folder"):
        export_from(broker, tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_folder_of_a_stopped_broker_is_exported_like_the_broker_itself(tmp_path: Path) -> None:
    with serving(tmp_path, "--data-dir", str(tmp_path / "data")) as broker:
        with log_client(broker.bootstrap) as client:
            client.create_topic("t", 2, {"retention.ms": "-1"})
            fill(client)
        export(str(tmp_path / "asked"), data_folder=None, broker=BrokerSource(broker.bootstrap), report=lambda _: None)
        stop(broker, signal.SIGTERM)

    export(str(tmp_path / "read"), data_folder=str(tmp_path / "data"), broker=None, report=lambda _: None)

    asked, read = tmp_path / "asked", tmp_path / "read"
    assert records_of(read, TopicRecord) == records_of(asked, TopicRecord)
    assert records_of(read, ConfigRecord) == records_of(asked, ConfigRecord)
    assert records_of(read, ProducerIdsRecord) == records_of(asked, ProducerIdsRecord)
    segment = Path("t-0") / f"{0:020d}.log"
    assert (read / segment).read_bytes() == (asked / segment).read_bytes()


def test_folder_of_several_nodes_is_exported_from_the_leader_of_each_partition(tmp_path: Path) -> None:
    with Broker(nodes=3, data_dir=tmp_path / "data") as broker:
        broker.topics.create("t", partitions=3)
        leaders = [each.leader for each in broker.partitions("t")]
        for index, leader in enumerate(leaders):
            with log_client(broker.bootstrap_servers.split(",")[leader - 1]) as client:
                client.append("t", batch(2, int(time.time() * 1000), producer_id=4242 + index, base_sequence=0), index)
        export_from(broker, tmp_path / "asked")

    export(str(tmp_path / "read"), data_folder=str(tmp_path / "data"), broker=None, report=lambda _: None)

    asked, read = tmp_path / "asked", tmp_path / "read"
    assert sorted(leaders) == [1, 2, 3]
    for kind in (TopicRecord, ConfigRecord, ProducerIdsRecord):
        assert records_of(read, kind) == records_of(asked, kind)
    segments = [Path(f"t-{index}") / f"{0:020d}.log" for index in range(3)]
    assert [(read / each).read_bytes() for each in segments] == [(asked / each).read_bytes() for each in segments]
    assert all((read / each).stat().st_size for each in segments)


def test_export_of_several_nodes_takes_the_log_of_the_leader_and_not_of_a_node_that_was_down(tmp_path: Path) -> None:
    with Broker({"default.replication.factor": 3}, nodes=3, data_dir=tmp_path / "data") as broker:
        broker.topics.create("t", partitions=1)
        (before,) = broker.partitions("t")
        broker.stop_node(before.leader)
        (after,) = broker.partitions("t")
        with log_client(broker.bootstrap_servers.split(",")[after.leader - 1]) as client:
            fill(client)

    export(str(tmp_path / "read"), data_folder=str(tmp_path / "data"), broker=None, report=lambda _: None)

    segment = Path("t-0") / f"{0:020d}.log"
    of_leader = (tmp_path / "data" / f"node-{after.leader}" / segment).read_bytes()
    assert (tmp_path / "read" / segment).read_bytes() == of_leader != b""


def test_folder_of_several_nodes_that_a_broker_uses_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "--nodes", "3", "--data-dir", str(tmp_path / "data")):
        ended = run("export", str(tmp_path / "out"), "--data-dir", str(tmp_path / "data"))

    assert (ended.exit_code, ended.output) == (2, "")
    assert "a broker is using" in ended.log


def test_folder_with_a_damaged_metadata_file_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--data-dir", str(tmp_path / "data"), "--seed-topic", "t") as broker:
        stop(broker, signal.SIGTERM)
    file = tmp_path / "data" / "cluster-metadata.json"
    file.write_bytes(file.read_bytes().replace(b'"name": "t"', b'"name": "u"'))

    refused = run("export", str(tmp_path / "out"), "--data-dir", str(tmp_path / "data"))

    assert refused.exit_code == 2
    assert refused.log.count("\n") == 1
    assert "cluster-metadata.json: the checksum is " in refused.log
    assert f"`fauxka serve --data-dir {tmp_path / 'data'}` mends the file from its copy" in refused.log


def test_folder_that_a_broker_uses_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "--data-dir", str(tmp_path / "data")):
        ended = run("export", str(tmp_path / "out"), "--data-dir", str(tmp_path / "data"))

    assert (ended.exit_code, ended.output) == (2, "")
    assert "a broker is using" in ended.log


@pytest.mark.processes
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "either --data-dir or --from"),
        (("--data-dir", "d", "--from", "127.0.0.1:1"), "either --data-dir or --from"),
        (("--from", "nowhere"), "must be host:port"),
        (("--from", "127.0.0.1:1"), "refused"),
        (("--data-dir", "/nonexistent"), "there is no folder /nonexistent"),
        (("--data-dir", "/"), "not a data folder of fauxka"),
    ],
)
def test_mistake_is_one_line_and_exit_code_2(tmp_path: Path, options: tuple[str, ...], reason: str) -> None:
    ended = run("export", str(tmp_path / "new" / "out"), *options)

    assert (ended.exit_code, ended.output) == (2, "")
    assert len(ended.log.splitlines()) == 1
    assert reason in ended.log
    assert list(tmp_path.iterdir()) == []


def test_failed_export_leaves_what_others_wrote_into_a_folder_that_it_created(tmp_path: Path) -> None:
    failed = KafkaFolder(tmp_path / "new" / "folder" / "failed")
    failed.create_partition("t", bytes(16), 0)
    other = KafkaFolder(tmp_path / "new" / "other")

    failed.discard()

    assert list((tmp_path / "new").iterdir()) == [other.path]


def test_failed_export_deletes_its_own_files_only(tmp_path: Path) -> None:
    important = tmp_path / "important"
    important.mkdir()
    (important / "00000000000000000000.log").write_text("important")
    failed = KafkaFolder(tmp_path / "failed")
    kept = failed.create_partition("t", bytes(16), 0)
    (kept / "notes.txt").touch()
    swapped = failed.create_partition("t", bytes(16), 1)
    swapped.rename(tmp_path / "moved")
    swapped.symlink_to(important)
    failed.create_partition("t", bytes(16), 2)
    (failed.path / "meta.properties").touch()

    failed.discard()

    names = sorted(str(path.relative_to(failed.path)) for path in failed.path.rglob("*"))
    assert names == ["meta.properties", "t-0", "t-0/notes.txt", "t-1"]
    assert (important / "00000000000000000000.log").read_text() == "important"


def test_failed_export_leaves_an_empty_folder_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_folder: KafkaFolder, _cluster: object, _now_ms: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(KafkaFolder, "finish", fail)
    folder = tmp_path / "out"
    folder.mkdir()

    with Broker() as broker:
        with log_client(broker.bootstrap_servers) as client:
            client.create_topic("t", 2, {})
            fill(client)
        with pytest.raises(ExportError, match="No space left"):
            export_from(broker, folder)

    assert list(folder.iterdir()) == []
