"""A data folder over stops, kills and starts of a broker process."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.kafka_uuid import uuid_text

from ..serving_process import run, serving
from ..storage.logs import batches_in
from .blocking_client import BROKER, TOPIC, BlockingClient, batch
from .data_dir_scene import end, fetched, serving_from

pytestmark = pytest.mark.processes

# A clean shutdown and a crash.
ENDINGS = [signal.SIGTERM, signal.SIGKILL]


@pytest.mark.parametrize("ending", ENDINGS)
def test_topics_ids_and_configs_are_restored(tmp_path: Path, ending: signal.Signals) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        created = client.create_topic("kept", 2, {"retention.ms": "123456789"})
        client.create_topic("deleted", 3)
        assert client.add_partitions("kept", 4) == ErrorCode.NONE
        assert client.delete_topic("deleted") == ErrorCode.NONE
        assert client.set_config(TOPIC, "kept", "max.message.bytes", "4321") == ErrorCode.NONE
        assert client.set_config(BROKER, "1", "log.retention.ms", "777777") == ErrorCode.NONE
        cluster_id = client.metadata().cluster_id
        end(broker, ending)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        assert client.partition_counts() == {"kept": 4}
        assert client.metadata().cluster_id == cluster_id
        assert client.config(TOPIC, "kept", "retention.ms") == "123456789"
        assert client.config(TOPIC, "kept", "max.message.bytes") == "4321"
        assert client.config(BROKER, "1", "log.retention.ms") == "777777"
        assert client.topic_ids() == {"kept": created.topic_id}
        assert client.create_topic("deleted").error_code == ErrorCode.NONE


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_are_served_again(tmp_path: Path, ending: signal.Signals) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        client.create_topic("events")
        for number in range(3):
            client.produce("events", batch(b"%d" % number))
        end(broker, ending)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        records = fetched(client, "events", 0, 3)
        produced = client.produce("events", batch(b"3"))

    assert [(record.offset, record.value) for record in records] == [(0, b"0"), (1, b"1"), (2, b"2")]
    assert produced.base_offset == 3


@pytest.mark.parametrize(("ending", "leader_epoch"), [(signal.SIGTERM, 0), (signal.SIGKILL, 1)])
def test_an_unclean_shutdown_begins_a_leader_epoch(tmp_path: Path, ending: signal.Signals, leader_epoch: int) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        client.create_topic("events")
        client.produce("events", batch(b"0"))
        end(broker, ending)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        client.produce("events", batch(b"1"))
        told = client.metadata().topics[0].partitions[0].leader_epoch
        epochs = [int.from_bytes(each[12:16], "big") for each in batches_in(client.fetch("events").records or b"")]

    assert told == leader_epoch
    assert epochs == [0, leader_epoch]


def test_partition_without_a_leader_epoch_is_led_in_the_first(tmp_path: Path) -> None:
    with serving_from(tmp_path, "--seed-topic", "events") as broker:
        end(broker, signal.SIGTERM)
    (tmp_path / "data" / "events-0" / "leader-epoch-checkpoint").unlink()

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        assert client.metadata().topics[0].partitions[0].leader_epoch == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_batch_that_is_retried_after_a_restart_is_a_duplicate_with_its_offset(
    tmp_path: Path, ending: signal.Signals
) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        client.create_topic("events")
        producer_id = client.producer_id()
        for sequence in range(2):
            client.produce("events", batch(b"%d" % sequence, producer_id=producer_id, sequence=sequence))
        end(broker, ending)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        repeated = client.produce("events", batch(b"1", producer_id=producer_id, sequence=1))
        next_one = client.produce("events", batch(b"2", producer_id=producer_id, sequence=2))
        gap = client.produce("events", batch(b"4", producer_id=producer_id, sequence=4))

    assert (repeated.error_code, repeated.base_offset) == (ErrorCode.NONE, 1)
    assert (next_one.error_code, next_one.base_offset) == (ErrorCode.NONE, 2)
    assert gap.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_producer_id_is_allocated_twice(tmp_path: Path, ending: signal.Signals) -> None:
    given: list[int] = []
    for _ in range(3):
        with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
            given += [client.producer_id() for _ in range(2)]
            end(broker, ending)

    assert given == [0, 1, 1000, 1001, 2000, 2001]


def test_second_block_of_producer_ids_follows_the_first(tmp_path: Path) -> None:
    with serving_from(tmp_path, "--fsync", "always") as broker, BlockingClient(broker.bootstrap) as client:
        given = [client.producer_id() for _ in range(1001)]

        assert given == list(range(1001))
        assert json.loads((tmp_path / "data" / "cluster-metadata.json").read_text())["next_producer_id"] == 2000


def test_second_process_on_the_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        refused = run("serve", "--port", "0", "--data-dir", str(tmp_path / "data"))

        assert refused.exit_code == 2
        assert refused.log.count("\n") == 1
        assert "Failed to acquire lock on file .lock" in refused.log
        assert client.partition_counts() == {}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-c", "node.id=2"], "Stored node id 1 doesn't match previous node id 2"),
        (["--cluster-id", "another"], "Invalid cluster.id in: "),
    ],
)
def test_folder_of_another_node_or_cluster_is_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    with serving_from(tmp_path) as broker:
        end(broker, signal.SIGTERM)

    refused = run("serve", "--port", "0", "--data-dir", str(tmp_path / "data"), *arguments)

    assert refused.exit_code == 2
    assert reason in refused.log


def test_folder_with_other_content_is_refused_and_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "release-2").mkdir(parents=True)
    (folder / "release-2" / "notes.txt").write_text("not a segment")

    refused = run("serve", "--port", "0", "--data-dir", str(folder))

    assert refused.exit_code == 2
    assert refused.log == (
        f"fauxka: {folder} is no data folder: it has 'release-2' and no meta.properties; "
        "--data-dir takes an empty or new folder, or one that fauxka has written\n"
    )
    assert sorted(path.name for path in folder.rglob("*")) == ["notes.txt", "release-2"]


@pytest.mark.parametrize("left", [".lock", "meta.properties.tmp", "lost+found", "exports"])
def test_folder_of_a_first_start_that_was_killed_or_of_a_new_volume_is_empty(tmp_path: Path, left: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / left).touch()

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        assert client.partition_counts() == {}


def test_cluster_id_of_a_new_folder_is_that_of_the_option(tmp_path: Path) -> None:
    with serving_from(tmp_path, "--cluster-id", "the-cluster") as broker:
        end(broker, signal.SIGTERM)

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        assert client.metadata().cluster_id == "the-cluster"


def test_data_folder_may_come_from_the_environment(tmp_path: Path) -> None:
    variables = {"FAUXKA_DATA_DIR": str(tmp_path / "data"), "KAFKA_LOG_DIRS": "/var/lib/kafka/data"}

    with serving(tmp_path, variables=variables) as broker, BlockingClient(broker.bootstrap) as client:
        directory = client.log_directory()
        log = end(broker, signal.SIGTERM)

    assert directory.log_dir == str(tmp_path / "data")
    assert directory.total_bytes >= directory.usable_bytes > 0
    assert f"log.dirs: accepted, and nothing is written there; logs are stored in {tmp_path / 'data'}" in log


def test_kafkas_own_key_for_the_folder_stores_nothing(tmp_path: Path) -> None:
    variables = {"KAFKA_LOG_DIRS": str(tmp_path / "not-there")}

    with serving(tmp_path, "--seed-topic", "events", variables=variables) as broker:
        log = end(broker, signal.SIGTERM)

    assert "log.dirs: accepted, and nothing is written there; nothing is stored on disk" in log
    assert not (tmp_path / "not-there").exists()


def test_fsync_without_a_data_folder_is_refused() -> None:
    refused = run("serve", "--port", "0", "--fsync", "always")

    assert refused.exit_code == 2
    assert "--fsync needs --data-dir" in refused.log


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["--fsync", "always"], "1"),
        (["--fsync", "never"], "9223372036854775807"),
        (["--fsync", "always", "-c", "log.flush.interval.messages=7"], "7"),
    ],
)
def test_fsync_sets_the_key_unless_the_command_line_does(tmp_path: Path, arguments: list[str], messages: str) -> None:
    # The default of Kafka's key, which some images set.
    variables = {"KAFKA_LOG_FLUSH_INTERVAL_MESSAGES": "9223372036854775807"}
    data = str(tmp_path / "data")

    with (
        serving(tmp_path, "--data-dir", data, *arguments, variables=variables) as broker,
        BlockingClient(broker.bootstrap) as client,
    ):
        assert client.config(BROKER, "1", "log.flush.interval.messages") == messages
        client.create_topic("events")
        assert client.produce("events", batch(b"0")).error_code == ErrorCode.NONE


def test_lost_metadata_file_is_rebuilt_from_the_folders(tmp_path: Path) -> None:
    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        topic_id = client.create_topic("events", 2).topic_id
        producer_id = client.producer_id()
        client.produce("events", batch(b"0", producer_id=producer_id, sequence=0))
        end(broker, signal.SIGKILL)
    (tmp_path / "data" / "cluster-metadata.json").write_text('{"version": 1, "topics": [')
    (tmp_path / "data" / "cluster-metadata.json.copy").unlink()

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        counts = client.partition_counts()
        records = fetched(client, "events", 0, 1)
        next_id = client.producer_id()
        log = end(broker, signal.SIGTERM)
    metadata = json.loads((tmp_path / "data" / "cluster-metadata.json").read_text())

    assert counts == {"events": 2}
    assert [record.value for record in records] == [b"0"]
    assert next_id > producer_id
    assert "cluster-metadata.json is not JSON" in log
    assert "its topics are taken from their folders: events" in log
    assert (tmp_path / "data" / "cluster-metadata.json.broken").exists()
    assert metadata["topics"][0]["topic_id"] == uuid_text(topic_id)


def test_unknown_folder_is_set_aside_and_a_missing_one_is_created(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving_from(tmp_path, "--seed-topic", "events:2") as broker, BlockingClient(broker.bootstrap) as client:
        client.produce("events", batch(b"0"))
        end(broker, signal.SIGTERM)
    shutil.copytree(data / "events-0", data / "unknown-0")
    shutil.rmtree(data / "events-1")

    with serving_from(tmp_path) as broker, BlockingClient(broker.bootstrap) as client:
        counts = client.partition_counts()
        produced = client.produce("events", batch(b"1"), partition=1)
        log = end(broker, signal.SIGTERM)

    assert counts == {"events": 2}
    assert produced.base_offset == 0
    assert [path.name for path in data.glob("unknown-0*")] == [path.name for path in data.glob("unknown-0.*-stray")]
    assert len(list(data.glob("unknown-0.*-stray"))) == 1
    assert "events-1 has no folder; an empty log is created" in log
