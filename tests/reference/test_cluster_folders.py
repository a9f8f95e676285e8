"""Three real brokers start on the folders of three nodes: the same records, and the same responses to producers.

fauxka writes no metadata log, so the test writes the metadata to the controller's bootstrap.checkpoint.
"""

import shutil
import signal
import time
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path

import pytest

from fauxka.broker.metadata.cluster_metadata import ClusterMetadata, decode_metadata
from fauxka.protocol.stored_records.metadata_records import (
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
)
from fauxka.storage.checkpoints.bootstrap_checkpoint import (
    BOOTSTRAP_CHECKPOINT,
    FEATURES_OF_4_3,
    BootstrapCheckpoint,
    encode_bootstrap_checkpoint,
)
from fauxka.storage.checkpoints.checkpoint_files import META_PROPERTIES, decode_meta_properties

from ..serving_process import serving, stop
from .cluster_scene import GROUPS, NODES, PARTITIONS, TRANSACTIONAL_IDS, ClusterScene, name_of
from .kafka_cluster import CLUSTER_ID, kafka_cluster
from .log_scene import QUIET
from .test_export_cluster import INTERNAL_TOPICS, RACKS, HandedOver

pytestmark = pytest.mark.reference

NAMES = [name_of(*each) for each in PARTITIONS]
SIGNALS = {"stopped cleanly": signal.SIGTERM, "killed": signal.SIGKILL}


def hand_over(data: Path, folder: Path) -> None:
    """Give the folders of the nodes to the brokers, and the metadata to their controller."""
    directories: dict[int, bytes] = {}
    for node in NODES:
        shutil.rmtree(folder / f"node-{node}")
        shutil.copytree(data / f"node-{node}", folder / f"node-{node}")
        properties = decode_meta_properties((data / f"node-{node}" / META_PROPERTIES).read_bytes())
        assert properties.directory_id is not None
        directories[node] = properties.directory_id
    metadata = decode_metadata((data / "controller/cluster-metadata.json").read_bytes())
    now_ms = int(time.time() * 1000)
    checkpoint = BootstrapCheckpoint(
        records=list(records_of(metadata, directories)),
        header_timestamp=now_ms,
        records_timestamp=now_ms,
        footer_timestamp=now_ms,
    )
    (folder / "controller" / BOOTSTRAP_CHECKPOINT).write_bytes(encode_bootstrap_checkpoint(checkpoint))


def records_of(metadata: ClusterMetadata, directories: dict[int, bytes]) -> Iterator[MetadataRecord]:
    """Return the records of Kafka's metadata log for the content of cluster-metadata.json."""
    yield from FEATURES_OF_4_3
    for topic in metadata.topics:
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
        for partition in topic.partitions:
            yield PartitionRecord(
                partition_id=partition.index,
                topic_id=topic.topic_id,
                replicas=partition.replicas,
                isr=partition.isr,
                leader=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                partition_epoch=partition.partition_epoch,
                directories=[directories[node] for node in partition.replicas],
            )
        for name, value in topic.configs.items():
            yield ConfigRecord(resource_name=topic.name, name=name, value=value)
    yield ProducerIdsRecord(broker_id=NODES[0], next_producer_id=metadata.next_producer_id)


@pytest.fixture(scope="module", params=SIGNALS)
def handed_over(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[HandedOver, None, None]:
    folder, scene = tmp_path_factory.mktemp("folders"), ClusterScene()
    data = folder / "data"
    options = ("--nodes", "3", "--data-dir", str(data), "--cluster-id", CLUSTER_ID, *INTERNAL_TOPICS, *QUIET)
    with serving(folder, *options) as fauxka:
        scene.fill(fauxka.bootstrap)
        stop(fauxka, SIGNALS[request.param])
    (folder / "ready.json").unlink(missing_ok=True)
    shutil.copytree(data, folder / "copy")
    with serving(folder, *options) as fauxka:
        of_nodes = scene.observe(fauxka.bootstrap)
    with kafka_cluster(folder / "kafka", {}, RACKS, partial(hand_over, folder / "copy")) as cluster:
        of_kafka = scene.observe(",".join(cluster.address(node) for node in NODES))
    yield HandedOver(of_nodes, of_kafka)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", NAMES)
def test_brokers_serve_the_batches_that_the_nodes_serve(handed_over: HandedOver, name: str) -> None:
    assert handed_over.of_kafka.logs[name] == handed_over.of_cluster.logs[name]
    assert handed_over.of_kafka.logs[name].log_end_offset > 0


@pytest.mark.parametrize("name", NAMES)
def test_consumers_of_committed_records_read_the_same(handed_over: HandedOver, name: str) -> None:
    assert handed_over.of_kafka.committed_values[name] == handed_over.of_cluster.committed_values[name]


@pytest.mark.parametrize("group", GROUPS)
def test_groups_have_their_committed_offsets(handed_over: HandedOver, group: str) -> None:
    assert handed_over.of_kafka.committed_offsets[group] == handed_over.of_cluster.committed_offsets[group]


def test_producers_get_the_answers_that_the_nodes_give_after_their_restart(handed_over: HandedOver) -> None:
    assert handed_over.of_kafka.answers == handed_over.of_cluster.answers


@pytest.mark.parametrize("transactional_id", TRANSACTIONAL_IDS)
def test_transactional_producers_continue_with_the_id_and_epoch_that_the_nodes_give(
    handed_over: HandedOver, transactional_id: str
) -> None:
    assert handed_over.of_kafka.initialized[transactional_id] == handed_over.of_cluster.initialized[transactional_id]


def test_logs_end_where_they_end_on_the_nodes_after_the_producers_continued(handed_over: HandedOver) -> None:
    assert handed_over.of_kafka.ends == handed_over.of_cluster.ends
