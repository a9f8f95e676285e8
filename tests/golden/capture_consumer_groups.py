"""What a broker answers to the APIs of groups of the consumer protocol (KIP-848), and what it keeps of them.

python -m tests.golden.capture_consumer_groups HOST:PORT > FILE   asks that broker, fresh and with CONSUMER_GROUP_CONFIG
python -m tests.golden.capture_consumer_groups                    writes consumer_groups-4.3.0.jsonl from a real Kafka
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from ..reference.kafka_process import running_kafka
from .capture_groups import GROUP_CONFIG
from .consumer_group_recorder import ConsumerGroupRecorder
from .consumer_group_scenes import heartbeats, migration, offsets, regexes, static_members, streams

GOLDEN = Path(__file__).parent / "consumer_groups-4.3.0.jsonl"

# Partitions are assigned at once, and scenes can wait for a session to end.
CONSUMER_GROUP_CONFIG = {
    **GROUP_CONFIG,
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.size": "3",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "500",
    "group.coordinator.rebalance.protocols": "classic,consumer",
}

SCENES: dict[str, Callable[[ConsumerGroupRecorder], None]] = {
    "refused": heartbeats.refused,
    "life": heartbeats.life,
    "epochs": heartbeats.epochs,
    "reconciling": heartbeats.reconciling,
    "assignors": heartbeats.assignors,
    "subscriptions": heartbeats.subscriptions,
    "interval": heartbeats.assignment_interval,
    "timeouts": heartbeats.timeouts,
    "restart": static_members.restarts,
    "removed": static_members.removed,
    "offsets": offsets.offsets,
    "simple": offsets.simple,
    "regex": regexes.regexes,
    "upgrade": migration.upgrade,
    "upgrade refused": migration.upgrade_refused,
    "static": migration.static,
    "empty": migration.empty_groups,
    "streams": streams.streams,
    "changes": heartbeats.changes_in_interval,
}


def capture(bootstrap: str, output: TextIO) -> None:
    """Ask the broker at "host:port"; lines go to output."""
    recorder = ConsumerGroupRecorder(bootstrap, output)
    recorder.create_topic(heartbeats.TOPIC, heartbeats.PARTITION_COUNT)
    recorder.create_topic(heartbeats.SECOND, 2)
    recorder.settle()
    recorder.expect_coordinator(0, "group")
    recorder.expect_loaded()
    for scene, play in SCENES.items():
        recorder.scene = scene
        play(recorder)
        recorder.close_others()
    recorder.connection.close()


def main() -> None:
    """Ask the broker that is named, or a real Kafka."""
    if len(sys.argv) > 1:
        capture(sys.argv[1], sys.stdout)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running_kafka(Path(folder) / "kafka.log", CONSUMER_GROUP_CONFIG) as bootstrap,
        GOLDEN.open("w") as output,
    ):
        capture(bootstrap, output)


if __name__ == "__main__":
    main()
