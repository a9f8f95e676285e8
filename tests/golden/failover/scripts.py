"""Which script writes which golden file, and the cluster that it needs."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from ...reference.kafka_cluster import kafka_cluster
from . import (
    acknowledgement_scenes,
    controller_scenes,
    election_scenes,
    epoch_scenes,
    group_scenes,
    metadata_scenes,
    moving_scenes,
    producer_scenes,
    stable_offset_scenes,
    topic_scenes,
    transaction_scenes,
)
from .recorder import FailoverRecorder

SCRIPTS: dict[str, Callable[[FailoverRecorder], None]] = {
    "failover_acknowledgement": acknowledgement_scenes.script,
    "failover_controller": controller_scenes.script,
    "failover_elections": election_scenes.script,
    "failover_epochs": epoch_scenes.script,
    "failover_groups": group_scenes.script,
    "failover_metadata": metadata_scenes.script,
    "failover_moving": moving_scenes.script,
    "failover_producers": producer_scenes.script,
    "failover_stable_offsets": stable_offset_scenes.script,
    "failover_topics": topic_scenes.script,
    "failover_transactions": transaction_scenes.script,
}
RACKS = ("rack-1", "rack-2", "rack-3")
CONFIG = {
    # So that a death is noticed soon, and a busy machine does not look like one.
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
    "replica.lag.time.max.ms": "4000",
    # The batches of the scripts are from 2023.
    "log.retention.ms": "-1",
    # Leaders move when a script says so.
    "auto.leader.rebalance.enable": "false",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}


def capture_from_kafka(name: str, target: Path) -> None:
    """Run the script of that name against three fresh Kafka brokers and write its lines to target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kafka_cluster(Path(folder) / "nodes", CONFIG, RACKS) as cluster,
        target.open("w") as output,
    ):
        SCRIPTS[name](FailoverRecorder(cluster, output))
