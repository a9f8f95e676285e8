"""What a broker answers to the APIs of classic groups.

python -m tests.golden.capture_groups HOST:PORT > FILE   asks that broker, which must be fresh and have GROUP_CONFIG
python -m tests.golden.capture_groups                    writes groups-4.3.0.jsonl anew from a real Kafka
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from ..reference.kafka_process import running_kafka
from .group_recorder import GroupRecorder
from .group_scenes import administration, joining, members, offsets, static_members

GOLDEN = Path(__file__).parent / "groups-4.3.0.jsonl"

# Small enough that scenes can wait for a session to end, and that a group can be full.
GROUP_CONFIG = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "3",
    "group.min.session.timeout.ms": "500",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
}

# In this order: the first one needs a broker without a coordinator, the third one without groups.
SCENES: dict[str, Callable[[GroupRecorder], None]] = {
    "first coordinator": administration.first_coordinator,
    "coordinator": administration.coordinators,
    "list": administration.listed,
    "describe": administration.described,
    "delete": administration.deleted,
    "refused": joining.refused,
    "whole life": joining.whole_life,
    "protocols": joining.protocols,
    "vote": joining.votes,
    "rejoin": joining.rejoining,
    "pending": joining.pending,
    "full": joining.full,
    "timeout": joining.timeouts,
    "leader leaves": joining.leader_leaves,
    "waiting member leaves": joining.waiting_member_leaves,
    "restart": static_members.restarts,
    "fencing": static_members.fencing,
    "restart in a rebalance": static_members.in_the_middle,
    "restart with other protocols": static_members.other_protocol,
    "static member": static_members.known_ids,
    "sync refused": members.sync_refused,
    "sync": members.syncing,
    "heartbeat": members.heartbeat_refused,
    "leave": members.leaving,
    "leave together": members.leaving_together,
    "commit": offsets.simple_commits,
    "metadata": offsets.large_metadata,
    "commit of a member": offsets.member_commits,
    "fetch": offsets.fetches,
    "delete offsets": offsets.deletes,
    "topic deleted": administration.topic_deleted,
    "share coordinator": administration.share_coordinator,
    "internal topic": administration.internal_topic_configs,
}


def capture(bootstrap: str, output: TextIO) -> None:
    """Ask the broker at "host:port"; lines go to output."""
    recorder = GroupRecorder(bootstrap, output)
    recorder.create_topic(offsets.TOPIC, offsets.PARTITION_COUNT)
    recorder.create_topic("group-other")
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
        running_kafka(Path(folder) / "kafka.log", GROUP_CONFIG) as bootstrap,
        GOLDEN.open("w") as output,
    ):
        capture(bootstrap, output)


if __name__ == "__main__":
    main()
