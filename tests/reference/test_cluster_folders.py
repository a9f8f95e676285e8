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
from .cluster_scene import NODES, ClusterScene
from .handed_over import INTERNAL_TOPICS, RACKS, HandedOver, HandedOverContract
from .kafka_cluster import CLUSTER_ID, kafka_cluster
from .log_scene import QUIET

pytestmark = pytest.mark.reference

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


class TestFoldersOfNodes(HandedOverContract):
    pass
